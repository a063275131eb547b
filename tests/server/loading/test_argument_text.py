from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire.errors import UsageError
from toolwire.loading import argument_text
from toolwire.loading.argument_text import find_unencoded, read
from toolwire_schemas.wire.codec import encode

if TYPE_CHECKING:
    from pathlib import Path

POINT = {"type": "object", "properties": {"x": {"type": "number"}, "label": {"type": "string"}}}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "ratio": {"type": "number"},
        "sure": {"type": "boolean"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "sizes": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
        "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        "price": {"anyOf": [{"type": "string", "pattern": "^[0-9.]+$"}, {"type": "number"}]},
        "odd": {"anyOf": [{"type": "string", "pattern": "(?<a>["}, {"type": "number"}]},
        "wrong": {"anyOf": [{"type": "string", "pattern": 5}, {"type": "number"}]},
        "where": {"$ref": "#/$defs/Point"},
        "mode": {"enum": ["fast", "5"]},
        "anything": {},
        "data": {"type": "string", "contentEncoding": "base64"},
        "byte": {"anyOf": [{"type": "string", "format": "byte"}, {"type": "null"}]},
        "parts": {"type": "array", "items": {"type": "string", "contentEncoding": "base64"}},
        "textual": {"anyOf": [{"type": "string"}, {"type": "string", "contentEncoding": "base64"}]},
    },
    "$defs": {"Point": POINT},
}


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ([], {}),
        (["text=5"], {"text": "5"}),
        (["text=true"], {"text": "true"}),
        (["text="], {"text": ""}),
        (["text=a=b"], {"text": "a=b"}),
        (["text=@@me"], {"text": "@me"}),
        (["count=5"], {"count": 5}),
        ([f"count={2**70}"], {"count": 2**70}),
        (["count=5.0"], {"count": 5.0}),
        (["count=many"], {"count": "many"}),
        (["ratio=1"], {"ratio": 1}),
        (["sure=true"], {"sure": True}),
        (["sure=yes"], {"sure": "yes"}),
        (["tags=a"], {"tags": ["a"]}),
        (["tags=a", "tags=5"], {"tags": ["a", "5"]}),
        (['tags=["a","b"]', "tags=c"], {"tags": ["a", "b", "c"]}),
        (["sizes=1", "sizes=2"], {"sizes": [1, 2]}),
        (["sizes=null"], {"sizes": None}),
        (["maybe=null"], {"maybe": None}),
        (["maybe=5"], {"maybe": "5"}),
        (["either=5"], {"either": 5}),
        (["either=five"], {"either": "five"}),
        (["price=1.50"], {"price": "1.50"}),
        (["price=0.12345678901234567890123"], {"price": "0.12345678901234567890123"}),
        (["price=1e3"], {"price": 1000.0}),
        (["odd=1.50"], {"odd": 1.5}),
        (["wrong=1.50"], {"wrong": 1.5}),
        (["where.x=1.5", "where.label=7"], {"where": {"x": 1.5, "label": "7"}}),
        (['where={"x":1}'], {"where": {"x": 1}}),
        (["mode=5"], {"mode": "5"}),
        (["anything=[1]"], {"anything": [1]}),
        (["anything=word"], {"anything": "word"}),
        (['{"text": "5", "count": 1}'], {"text": "5", "count": 1}),
    ],
)
def test_values_are_read_as_the_schema_wants_them(
    words: list[str], arguments: dict[str, Any]
) -> None:
    assert read(words, SCHEMA) == arguments


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["5"], "not as '5'; the tool takes text, count"),
        (["text=a", "b"], "quotes around a value that has spaces, .* not as 'b'"),
        (["count", "=", "5"], "without spaces around = .* not as 'count'"),
        (["=5"], "not as '=5'; the tool takes"),
        (["cuont=5"], "did you mean 'count'"),
        (["count=1", "count=2"], "twice"),
        (["where=1", "where.x=1"], "already has a value"),
        (["{"], "not JSON"),
        (["text=@no/such/file"], "cannot read no/such/file"),
    ],
)
def test_a_mistake_is_named_with_its_remedy(words: list[str], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        read(words, SCHEMA)


def test_a_tool_that_takes_nothing_says_so() -> None:
    with pytest.raises(UsageError, match="takes no arguments"):
        read(["a=1"], {"type": "object", "properties": {}, "additionalProperties": False})


def test_unknown_names_are_fine_where_the_schema_leaves_it_open() -> None:
    assert read(["a=1", "b=x"], {"type": "object"}) == {"a": 1, "b": "x"}


def test_text_may_come_from_a_file_and_from_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "note.txt").write_text("four minutes", "utf-8")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"no longer")))
    assert read([f"text=@{tmp_path / 'note.txt'}", "maybe=@-"], SCHEMA) == {
        "text": "four minutes",
        "maybe": "no longer",
    }
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"count": 3}')))
    assert read(["-"], SCHEMA) == {"count": 3}


def test_data_of_a_file_is_sent_in_base64_where_the_tool_takes_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "photo"
    path.write_bytes(b"\xff\x00\r\n")
    words = [f"data=@{path}", f"byte=@{path}", f"parts=@{path}", f"parts=@{path}"]
    assert read(words, SCHEMA) == {
        "data": "/wANCg==",
        "byte": "/wANCg==",
        "parts": ["/wANCg==", "/wANCg=="],
    }
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"\xff")))
    assert read(["data=@-"], SCHEMA) == {"data": "/w=="}
    path.write_bytes(b"tea")
    assert read([f"textual=@{path}", "data=@@x", "byte=dGVh"], SCHEMA) == {
        "textual": "tea",
        "data": "@x",
        "byte": "dGVh",
    }


def test_a_file_that_cannot_be_sent_is_named_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "photo").write_bytes(b"\xff")
    (tmp_path / "large").write_bytes(bytes(9))
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setattr(argument_text, "_MAX_FILE_BYTES", 8)
    reasons = {
        "photo": "it is not text in UTF-8, and the tool takes no data",
        "large": "is too large for an argument",
        "pipe": "it is a pipe or a device; write @- and pipe it into standard input",
        ".": "Is a directory",
        "none": "No such file or directory",
    }
    for name, reason in reasons.items():
        with pytest.raises(UsageError) as caught:
            read([f"text=@{tmp_path / name}"], SCHEMA)
        assert reason in str(caught.value)
    with pytest.raises(UsageError, match="only one argument can be read from standard input"):
        read(["text=@-", "data=@-"], SCHEMA)


def test_arguments_that_are_not_in_base64_are_found() -> None:
    arguments = {"data": "photo.jpg", "byte": "dGVh", "text": "photo.jpg", "textual": "photo.jpg"}
    assert find_unencoded(arguments, SCHEMA) == ["data"]


def test_a_schema_that_runs_in_a_circle_ends_the_search_not_the_program() -> None:
    circle = {"properties": {"a": {"$ref": "#/properties/a"}}}
    assert read(["a=1"], circle) == {"a": 1}


def test_members_of_all_parts_of_a_schema_are_arguments() -> None:
    number, text = {"type": "integer"}, {"type": "string"}
    parts = [{"$ref": "#/$defs/Part"}, {"properties": {"b": number}}]
    schema = {
        "type": "object",
        "allOf": parts,
        "additionalProperties": False,
        "$defs": {"Part": {"properties": {"a": text}}},
    }
    assert read(["a=1", "b=2"], schema) == {"a": "1", "b": 2}
    with pytest.raises(UsageError, match="c"):
        read(["c=3"], schema)


@given(st.integers() | st.booleans() | st.none() | st.floats(allow_nan=False, allow_infinity=False))
def test_whatever_json_says_arrives_where_anything_is_wanted(value: object) -> None:
    assert read([f"anything={encode(value).decode()}"], SCHEMA) == {"anything": value}


@given(st.text().filter(lambda text: not text.startswith("@")))
def test_any_text_arrives_as_it_is_where_text_is_wanted(text: str) -> None:
    assert read([f"text={text}"], SCHEMA) == {"text": text}
