"""What a tool returns, as the MCP result of its call."""

from __future__ import annotations

import base64
import datetime as dt
import enum
import json
import math
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypedDict

import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.recording_caller import RecordingCaller
from toolwire_schemas.wire.codec import encode
from toolwire_tools import (
    Audio,
    Content,
    File,
    Image,
    OutputError,
    ResourceLink,
    Text,
    make_tool,
    tool_api,
)

PNG = b"\x89PNG\r\n\x1a\n" + bytes(8)
WAV = b"RIFF\x04\0\0\0WAVE"
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def result_of(value: Any, hint: Any = None) -> dict[str, Any]:
    """The result of a tool that returns *value*, annotated *hint* unless None."""

    def tool():  # type: ignore[no-untyped-def]
        return value

    if hint is not None:
        tool.__annotations__["return"] = hint
    result = make_tool(tool).call({}, RecordingCaller())
    encode(result)  # whatever comes out can be sent
    return result


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


@pytest.mark.parametrize("hint", [dict[str, int], list[int], dict, list, int, None])
@pytest.mark.parametrize("by_option", [True, False])
def test_a_tool_without_structured_content_gives_the_same_text(
    hint: Any, *, by_option: bool
) -> None:
    value = {dict[str, int]: {"x": 1}, dict: {"x": 1}, int: 3}.get(hint, [1, 2])

    def tool():  # type: ignore[no-untyped-def]
        return value

    if hint is not None:
        tool.__annotations__["return"] = hint
    both = make_tool(tool)
    made = make_tool(tool_api(structured=False)(tool)) if by_option else both.without_structured()

    result = made.call({}, RecordingCaller())

    assert made.describe() == {
        member: said for member, said in both.describe().items() if member != "outputSchema"
    }
    assert result == {"content": both.call({}, RecordingCaller())["content"], "isError": False}


def test_a_result_without_structured_content_is_checked_all_the_same() -> None:
    @tool_api(structured=False)
    def tool() -> list[int]:
        return ["one"]  # type: ignore[list-item]

    with pytest.raises(OutputError):
        make_tool(tool).call({}, RecordingCaller())


# Data


class Point(msgspec.Struct):
    x: int
    y: int | None = None


@dataclass
class Spot:
    x: int
    y: int | None = None


class Place(TypedDict):
    x: int
    y: int | None


class Model(pydantic.BaseModel):
    x: int
    y: int | None = None


class Pair(NamedTuple):
    x: int
    y: int


class Colour(enum.Enum):
    RED = "red"


class Size(enum.StrEnum):
    BIG = "big"


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (Point, Point(1)),
        (Spot, Spot(1)),
        (Place, {"x": 1, "y": None}),
        (Model, Model(x=1)),
        (dict[str, int | None], {"x": 1, "y": None}),
    ],
)
@pytest.mark.parametrize("annotated", [True, False])
def test_an_object_is_structured_content_and_the_same_as_text(
    hint: Any, value: Any, annotated: bool
) -> None:
    assert result_of(value, hint if annotated else None) == {
        "content": [text('{"x":1,"y":null}')],
        "structuredContent": {"x": 1, "y": None},
        "isError": False,
    }


@pytest.mark.parametrize(
    ("hint", "value", "data", "words"),
    [
        (int, 3, 3, "3"),
        (int, 2**70, 2**70, str(2**70)),
        (float, 0.5, 0.5, "0.5"),
        (bool, True, True, "true"),
        (list[int], [1, 2], [1, 2], "[1,2]"),
        (list[str], ["a"], ["a"], '["a"]'),
        (list[int], [], [], "[]"),
        (tuple[int, str], (1, "a"), [1, "a"], '[1,"a"]'),
        (set[int], {1}, [1], "[1]"),
        (Colour, Colour.RED, "red", "red"),
        (int | None, None, None, "null"),
        (str | None, "a", "a", "a"),
    ],
)
def test_what_is_no_object_is_wrapped_and_its_text_is_bare(
    hint: Any, value: Any, data: Any, words: str
) -> None:
    wrapped = {"content": [text(words)], "structuredContent": {"result": data}, "isError": False}
    assert result_of(value, hint) == wrapped
    if not isinstance(value, str):
        assert result_of(value) == wrapped


def test_a_tool_that_returns_nothing_says_null() -> None:
    def quiet() -> None:
        pass

    tool = make_tool(quiet)
    assert tool.describe()["outputSchema"]["properties"] == {"result": {"type": "null"}}
    assert tool.call({}, RecordingCaller()) == result_of(None)
    assert result_of(None) == {
        "content": [text("null")],
        "structuredContent": {"result": None},
        "isError": False,
    }


@pytest.mark.parametrize("hint", [str, None, Any])
@pytest.mark.parametrize("value", ["", "a", '{"a": 1}', "\ud800", "\0"])
def test_a_str_is_text_alone(hint: Any, value: str) -> None:
    assert result_of(value, hint) == {"content": [text(value)], "isError": False}


def test_a_str_of_a_subclass_is_text_too() -> None:
    assert result_of(Size.BIG) == {"content": [text("big")], "isError": False}


def test_a_named_tuple_is_data_whatever_it_holds() -> None:
    assert (
        result_of(Pair(1, 2))["structuredContent"]
        == result_of(Pair(1, 2), Pair)["structuredContent"]
    )


@given(JSON)
def test_any_json_value_of_an_unannotated_tool_comes_back_equal(value: Any) -> None:
    result = result_of(value)
    if isinstance(value, str):
        assert result == {"content": [text(value)], "isError": False}
        return
    data = value if isinstance(value, dict) else {"result": value}
    assert result["structuredContent"] == data
    assert json.loads(result["content"][0]["text"]) == value
    assert len(result["content"]) == 1


@given(JSON)
def test_any_json_value_of_a_tool_that_promises_a_mapping_or_list_comes_back_equal(
    value: Any,
) -> None:
    assert result_of({"a": value}, dict[str, Any])["structuredContent"] == {"a": value}
    assert result_of([value], list[Any])["structuredContent"] == {"result": [value]}


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    ("hint", "wrap", "place"),
    [
        (float, lambda number: number, "result"),
        (list[float], lambda number: [0.5, number], "result[1]"),
        (dict[str, Any], lambda number: {"a": [{"b": number}]}, "result.a[0].b"),
        (Any, lambda number: {"a": [number]}, "result.a[0]"),
        (None, lambda number: {"a": (1, number)}, "result.a[1]"),
    ],
)
def test_a_number_json_does_not_have_is_refused_with_its_place(
    number: float, hint: Any, wrap: Callable[[float], Any], place: str
) -> None:
    with pytest.raises(OutputError) as caught:
        result_of(wrap(number), hint)
    assert [where for where, _ in caught.value.faults] == [place]


@pytest.mark.parametrize("value", [object(), [object()], {"a": print}, 1j])
@pytest.mark.parametrize("hint", [None, Any])
def test_what_has_no_form_in_json_is_refused(value: Any, hint: Any) -> None:
    with pytest.raises(OutputError):
        result_of(value, hint)


@pytest.mark.parametrize(
    ("hint", "value"), [(int, "3"), (dict[str, int], {"a": "b"}), (Point, {"x": "y"}), (int, None)]
)
def test_a_result_that_breaks_the_promise_is_refused(hint: Any, value: Any) -> None:
    with pytest.raises(OutputError):
        result_of(value, hint)


def test_a_schema_written_by_hand_is_kept_too() -> None:
    from toolwire_tools import tool_api

    @tool_api(output_schema={"type": "array", "items": {"type": "integer"}})
    def numbers(good: bool) -> Any:
        return [1] if good else ["1"]

    tool = make_tool(numbers)
    assert tool.call({"good": True}, RecordingCaller())["structuredContent"] == {"result": [1]}
    with pytest.raises(OutputError):
        tool.call({"good": False}, RecordingCaller())


# Content blocks


@pytest.mark.parametrize(
    ("content", "block"),
    [
        (Text("a"), text("a")),
        (
            Text("a", audience="user", priority=1),
            {**text("a"), "annotations": {"audience": ["user"], "priority": 1}},
        ),
        (
            Image(PNG),
            {"type": "image", "data": base64.b64encode(PNG).decode(), "mimeType": "image/png"},
        ),
        (
            Image(b"x", media_type="image/x-own"),
            {"type": "image", "data": "eA==", "mimeType": "image/x-own"},
        ),
        (
            Audio(WAV),
            {"type": "audio", "data": base64.b64encode(WAV).decode(), "mimeType": "audio/wav"},
        ),
        (
            File("a", name="a b.md"),
            {
                "type": "resource",
                "resource": {
                    "uri": "attachment:///a%20b.md",
                    "mimeType": "text/markdown",
                    "text": "a",
                },
            },
        ),
        (
            File(b"\xfb\xff", uri="own:1"),
            {"type": "resource", "resource": {"uri": "own:1", "blob": "+/8="}},
        ),
        (
            ResourceLink("https://a.org/b/c"),
            {"type": "resource_link", "uri": "https://a.org/b/c", "name": "c"},
        ),
        (
            ResourceLink(
                "file:///a", name="n", title="t", description="d", media_type="a/b", size=0
            ),
            {"type": "resource_link", "uri": "file:///a", "name": "n", "title": "t"}
            | {"description": "d", "mimeType": "a/b", "size": 0},
        ),
    ],
)
@pytest.mark.parametrize("annotated", [True, False])
def test_each_kind_of_content_is_one_block(
    content: Content, block: dict[str, Any], annotated: bool
) -> None:
    assert result_of(content, type(content) if annotated else None) == {
        "content": [block],
        "isError": False,
    }
    assert "outputSchema" not in make_tool(_returning(type(content))).describe()


def _returning(hint: Any) -> Callable[[], Any]:
    def tool() -> Any:
        raise NotImplementedError

    tool.__annotations__["return"] = hint
    return tool


def test_a_list_with_content_becomes_several_blocks() -> None:
    blocks = result_of(["see:", Image(PNG), {"a": None}, 3, Text("end"), None])["content"]
    assert [block["type"] for block in blocks] == ["text", "image", "text", "text", "text", "text"]
    assert [block.get("text") for block in blocks] == [
        "see:",
        None,
        '{"a":null}',
        "3",
        "end",
        "null",
    ]


def test_a_list_of_strings_is_data_and_not_several_blocks() -> None:
    assert result_of(["a", "b"])["structuredContent"] == {"result": ["a", "b"]}


def test_a_tool_that_returns_content_or_nothing_has_no_output_schema() -> None:
    assert "outputSchema" not in make_tool(_returning(Image | None)).describe()
    assert result_of(None, Image | None)["content"] == [text("null")]


@pytest.mark.parametrize("cast", [bytes, bytearray, memoryview])
def test_bytes_are_what_their_first_bytes_say(cast: Callable[[bytes], Any]) -> None:
    assert result_of(cast(PNG), bytes)["content"][0]["mimeType"] == "image/png"
    assert result_of(cast(WAV))["content"][0]["type"] == "audio"
    assert result_of(cast(b"%PDF-1.7"))["content"][0]["resource"]["mimeType"] == "application/pdf"
    assert result_of(cast(b"\0"))["content"] == [
        {
            "type": "resource",
            "resource": {
                "uri": "attachment:///data",
                "mimeType": "application/octet-stream",
                "blob": "AA==",
            },
        }
    ]


@pytest.mark.parametrize(
    "block",
    [
        text("a"),
        {**text("a"), "annotations": {"priority": 0.5}, "_meta": {}},
        {"type": "image", "data": "", "mimeType": "image/png"},
        {"type": "audio", "data": "", "mimeType": "audio/wav"},
        {"type": "resource", "resource": {"uri": "a:b", "text": ""}},
        {"type": "resource", "resource": {"uri": "a:b", "blob": ""}},
        {"type": "resource_link", "uri": "a:b", "name": "c", "size": 3},
    ],
)
def test_a_dict_that_can_only_be_a_block_passes_through(block: dict[str, Any]) -> None:
    assert result_of(block) == {"content": [block], "isError": False}
    assert result_of(["a", block])["content"] == [text("a"), block]
    assert result_of(block, dict[str, Any])["structuredContent"] == block


@pytest.mark.parametrize(
    "data",
    [
        {"type": "text"},
        {"type": "text", "text": 3},
        {"type": "text", "text": "a", "lang": "en"},
        {"type": "image", "data": ""},
        {"type": "image", "data": "no base64", "mimeType": "image/png"},
        {"type": "text", "text": "a", "annotations": {"priority": 2}},
        {"type": "text", "text": "a", "annotations": {"audience": "user"}},
        {"type": "text", "text": "a", "annotations": None},
        {"type": "resource", "resource": {"uri": "a:b", "blob": "-_-_"}},
        {"type": "video", "data": "", "mimeType": "video/mp4"},
        {"type": "resource", "resource": {"uri": "a:b"}},
        {"type": "resource_link", "uri": "a:b"},
        {"type": ["text"], "text": ""},
        {"text": "a"},
    ],
)
def test_a_dict_that_is_nearly_a_block_is_data(data: dict[str, Any]) -> None:
    assert result_of(data)["structuredContent"] == data


class FakePicture:
    """What PIL's images look like: PNG cannot hold every mode."""

    size = (1, 1)

    def __init__(self, mode: str) -> None:
        self.mode = mode

    def save(self, file: Any, format: str) -> None:  # noqa: A002 - PIL's name
        if self.mode == "CMYK":
            file.write(b"half a header")
            raise OSError("cannot write mode CMYK as PNG")
        file.write(PNG + format.encode())

    def convert(self, mode: str) -> FakePicture:
        return FakePicture(mode)


class FakeFigure:
    """What matplotlib's figures look like."""

    def savefig(self, file: Any, *, format: str) -> None:  # noqa: A002 - matplotlib's name
        file.write(PNG + format.encode())


@pytest.mark.parametrize(
    ("picture", "ending"),
    [(FakePicture("RGB"), b"PNG"), (FakePicture("CMYK"), b"PNG"), (FakeFigure(), b"png")],
)
def test_pictures_of_other_libraries_become_png(picture: Any, ending: bytes) -> None:
    block = {
        "type": "image",
        "data": base64.b64encode(PNG + ending).decode(),
        "mimeType": "image/png",
    }
    assert result_of(picture)["content"] == [block]
    assert result_of(["see", picture])["content"] == [text("see"), block]


def test_a_record_with_the_members_of_a_picture_is_data() -> None:
    @dataclass
    class Job:
        mode: str
        size: int

        def save(self) -> None: ...

    assert result_of(Job("a", 1))["structuredContent"] == {"mode": "a", "size": 1}


def test_an_object_may_know_how_to_show_itself() -> None:
    class Chart:
        def to_content(self) -> list[Any]:
            return ["a chart", Image(PNG)]

    assert [block["type"] for block in result_of(Chart())["content"]] == ["text", "image"]
    assert [block["type"] for block in result_of([Chart(), 3], list[Chart])["content"]] == [
        "text",
        "image",
        "text",
    ]


# The helpers themselves


def test_files_are_read_when_the_content_is_made() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "notes.txt")
        path.write_text("grüße", encoding="utf-8")
        note, blob = File(path=path), File(path=path, media_type="application/x-own")
        uri = path.resolve().as_uri()
    assert note.make_block()["resource"] == {"uri": uri, "mimeType": "text/plain", "text": "grüße"}
    assert base64.b64decode(blob.make_block()["resource"]["blob"]).decode() == "grüße"


def test_a_text_file_that_is_no_utf8_travels_as_bytes(tmp_path: Path) -> None:
    (tmp_path / "old.txt").write_bytes(b"\xff\xfe\0")
    assert "blob" in File(path=tmp_path / "old.txt").make_block()["resource"]


def test_an_image_file_has_the_type_of_its_bytes_or_else_of_its_name(tmp_path: Path) -> None:
    (tmp_path / "wrong.gif").write_bytes(PNG)
    (tmp_path / "drawing.svg").write_text("<svg/>")
    assert Image(path=tmp_path / "wrong.gif").media_type == "image/png"
    assert Image(path=tmp_path / "drawing.svg").media_type == "image/svg+xml"


@pytest.mark.parametrize(
    "make",
    [
        lambda: Image(),
        lambda: Image(PNG, path="a.png"),
        lambda: Image("iVBOR"),  # type: ignore[arg-type]
        lambda: Image(b"unknown"),
        lambda: Image(WAV),
        lambda: Image(PNG, media_type="audio/wav"),
        lambda: Image(PNG, media_type="image/"),
        lambda: Audio(PNG),
        lambda: Audio(None),
        lambda: File(),
        lambda: File("a", path="b"),
        lambda: File(3),  # type: ignore[arg-type]
        lambda: File(b"", uri="no-scheme"),
        lambda: File(b"", media_type="pdf"),
        lambda: ResourceLink("c:"),
        lambda: ResourceLink("a:b", size=-1),
        lambda: ResourceLink("a:b", media_type="x"),
        lambda: Text(3),  # type: ignore[arg-type]
        lambda: Text("a", audience="everyone"),  # type: ignore[arg-type]
        lambda: Text("a", audience=[]),
        lambda: Text("a", priority=1.1),
        lambda: Text("a", priority=True),
        lambda: Text("a", priority=math.nan),
    ],
)
def test_content_that_no_client_would_take_is_refused_when_it_is_made(
    make: Callable[[], Content],
) -> None:
    with pytest.raises((TypeError, ValueError)):
        make()


@given(st.binary(max_size=40))
def test_any_bytes_come_back_from_standard_base64(data: bytes) -> None:
    block = Image(data, media_type="image/png").make_block()
    assert base64.b64decode(block["data"], validate=True) == data


def test_a_result_says_of_itself_in_one_line_what_it_is() -> None:
    assert repr(Image(PNG)) == f"Image(image/png, {len(PNG)} bytes)"
    assert repr(File("abc", name="a.txt")) == "File(attachment:///a.txt, 3 characters)"


def test_annotated_results_are_as_their_type() -> None:
    assert result_of(3, Annotated[int, "three"])["structuredContent"] == {"result": 3}


class Stamp(dt.datetime):
    """As pandas and pendulum have them: a moment of a class that msgspec does not know."""


class NoTime(dt.datetime):
    """As pandas.NaT: no moment, and not even equal to itself."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return False

    def __ne__(self, other: object) -> bool:
        return True


class Span(dt.timedelta):
    pass


class Blob(bytes):
    pass


def test_moments_durations_and_bytes_of_other_classes_are_written_as_pythons_own() -> None:
    data = {"at": Stamp(2026, 3, 1, 9, tzinfo=dt.UTC), "for": Span(hours=2), "raw": Blob(b"abc")}
    expected = {"at": "2026-03-01T09:00:00+00:00", "for": "PT7200S", "raw": "YWJj"}
    assert result_of(data)["structuredContent"] == expected
    assert result_of(data, dict[str, Any])["structuredContent"] == expected
    assert result_of(data["at"], dt.datetime)["structuredContent"] == {"result": expected["at"]}
    assert result_of(data["for"], dt.timedelta)["structuredContent"] == {"result": expected["for"]}


def test_an_invalid_moment_is_refused() -> None:
    with pytest.raises(OutputError, match=r"^result\.at: .* has no form in JSON$"):
        result_of({"at": NoTime(2026, 3, 1)})


@pytest.mark.parametrize("hint", [None, dict, dict[str, Any]])
def test_keys_that_are_equal_in_json_lose_no_value_unsaid(hint: Any) -> None:
    with pytest.raises(OutputError, match=r"^result: two of its keys are the same in JSON$"):
        result_of({1: "one", "1": "uno"}, hint)


@pytest.mark.parametrize("hint", [None, dict, dict[str, Any]])
def test_content_inside_of_data_is_refused_and_not_taken_apart(hint: Any) -> None:
    with pytest.raises(OutputError, match=r"^result\.plot: Image is content .* list\[Image\]$"):
        result_of({"plot": Image(PNG)}, hint)


def test_what_holds_itself_is_refused_in_a_short_sentence() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(OutputError) as caught:
        result_of(endless)
    assert caught.value.faults == [
        ("result" + "[0]" * 20 + "…", "nested more than 200 levels deep")
    ]


def test_an_object_that_has_any_attribute_is_no_iterator() -> None:
    class Proxy:
        def __getattr__(self, name: str) -> Any:
            return lambda *_: self

    with pytest.raises(OutputError, match=r"^result: Proxy has no form in JSON$"):
        result_of(Proxy())


@pytest.mark.parametrize("value", [1, -(2**70), 10**400, 2.5, None, "text"])
def test_a_scalar_of_a_union_is_its_result_unchanged(value: Any) -> None:
    structured = result_of(value, float | str | None)["structuredContent"]
    assert structured == {"result": value}
    assert type(structured["result"]) is type(value)


@pytest.mark.parametrize("value", [True, math.nan, math.inf, [1], {"a": 1}])
def test_a_value_that_the_union_does_not_take_is_refused(value: Any) -> None:
    with pytest.raises(OutputError):
        result_of(value, float | str | None)
