"""Functions as resources: what they are described as, what they get, and what their values
become.
"""

from __future__ import annotations

import base64
import datetime as dt
import ntpath
import posixpath
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.recording_caller import RecordingCaller
from toolwire_tools import (
    ArgumentsError,
    Context,
    File,
    Image,
    OutputError,
    RegistrationError,
    ResourceLink,
    ResourceNotFound,
    Text,
    Tool,
    find_tools,
    resource,
    tool_api,
)
from toolwire_tools.resources.resource import make_contents, may_leave_folder

PIXEL = b"\x89PNG\r\n\x1a\n"


def make_resource_of(function: Any) -> Tool:
    [found] = find_tools(function)
    assert found.kind in ("resources", "resourceTemplates")
    return found


def read(function: Any, uri: str) -> Any:
    return make_resource_of(function).call({"uri": uri}, RecordingCaller())["contents"]


def test_a_resource_is_described_by_its_docstring_and_options() -> None:
    @resource(
        "config://app", title="Settings", annotations={"priority": 1}, meta={"example.com/a": 1}
    )
    def config() -> str:
        """The settings."""
        return ""

    assert make_resource_of(config).describe() == {
        "uri": "config://app",
        "name": "config",
        "title": "Settings",
        "description": "The settings.",
        "mimeType": "text/plain",
        "annotations": {"priority": 1},
        "_meta": {"example.com/a": 1},
    }
    assert make_resource_of(config).kind == "resources"


def test_a_template_names_a_media_type_only_if_all_its_resources_have_it() -> None:
    @resource("notes://{name}")
    def note(name: str) -> str:
        return name

    @resource("pages://{name}.md")
    def page(name: str) -> str:
        return name

    assert make_resource_of(note).describe() == {"uriTemplate": "notes://{name}", "name": "note"}
    assert make_resource_of(page).describe()["mimeType"] == "text/markdown"
    assert read(note, "notes://a.html")[0]["mimeType"] == "text/html"


def test_variables_arrive_as_the_hints_say() -> None:
    seen: list[Any] = []

    @resource("logs://{day}/{path*}{?limit,on}")
    def log(
        day: int, path: str, context: Context, limit: float = 1.5, on: dt.date | None = None
    ) -> str:
        context.progress(1)
        seen.append((day, path, limit, on))
        return "x"

    read(log, "logs://3/a/b%20c")
    read(log, "logs://3/a?limit=2.5&on=2026-01-02")

    assert seen == [(3, "a/b c", 1.5, None), (3, "a", 2.5, dt.date(2026, 1, 2))]
    with pytest.raises(ArgumentsError, match="day"):
        read(log, "logs://monday/a")
    with pytest.raises(ArgumentsError) as caught:
        read(log, "logs://1/a?limit=x")
    assert caught.value.faults == [("arguments.limit", '"x" is not a number')]


@dataclass
class Point:
    x: int


VALUES: list[tuple[Any, list[dict[str, Any]]]] = [
    ("text", [{"uri": "a://b", "mimeType": "text/plain", "text": "text"}]),
    (b"\x00", [{"uri": "a://b", "mimeType": "application/octet-stream", "blob": "AA=="}]),
    (PIXEL, [{"uri": "a://b", "mimeType": "image/png", "blob": base64.b64encode(PIXEL).decode()}]),
    ({"a": [1]}, [{"uri": "a://b", "mimeType": "application/json", "text": '{"a":[1]}'}]),
    (Point(3), [{"uri": "a://b", "mimeType": "application/json", "text": '{"x":3}'}]),
    (["a", "b"], [{"uri": "a://b", "mimeType": "application/json", "text": '["a","b"]'}]),
    (7, [{"uri": "a://b", "mimeType": "application/json", "text": "7"}]),
    (
        File("t", name="t.md"),
        [{"uri": "attachment:///t.md", "mimeType": "text/markdown", "text": "t"}],
    ),
    (
        [Text("a"), b"\x00"],
        [
            {"uri": "a://b", "mimeType": "text/plain", "text": "a"},
            {"uri": "a://b", "mimeType": "application/octet-stream", "blob": "AA=="},
        ],
    ),
    (
        [{"text": "a"}, {"uri": "a://c", "text": "c"}],
        [{"uri": "a://b", "text": "a"}, {"uri": "a://c", "text": "c"}],
    ),
]


@pytest.mark.parametrize(("value", "contents"), VALUES)
def test_a_value_becomes_contents(value: Any, contents: list[dict[str, Any]]) -> None:
    assert make_contents(value, "a://b") == contents


def test_the_media_type_of_the_decorator_wins_over_that_of_the_value() -> None:
    @resource("style://main", media_type="text/css")
    def style() -> bytes:
        return b"a {}"

    assert read(style, "style://main") == [
        {"uri": "style://main", "mimeType": "text/css", "text": "a {}"}
    ]


@pytest.mark.parametrize("value", [object(), float("nan"), ResourceLink("a://c")])
def test_what_has_no_contents_is_an_error(value: Any) -> None:
    with pytest.raises(OutputError):
        make_contents(value, "a://b")


def test_none_means_that_there_is_no_such_resource() -> None:
    @resource("notes://{name}")
    def note(name: str) -> str | None:
        return None

    with pytest.raises(ResourceNotFound, match="notes://tea"):
        read(note, "notes://tea")


async def _async_note() -> Image:
    return Image(PIXEL)


@pytest.mark.anyio
async def test_an_async_function_is_a_resource_too() -> None:
    [found] = find_tools(resource("pixel://one")(_async_note))

    result = await found.call_async({"uri": "pixel://one"}, RecordingCaller())

    assert result["contents"][0]["mimeType"] == "image/png"


def wrong_uri() -> Any:
    return resource("notes")(lambda: "")


def a_parameter_that_is_not_in_the_uri() -> Any:
    @resource("notes://all")
    def note(name: str) -> str:
        return name

    return note


def a_variable_without_a_parameter() -> Any:
    @resource("notes://{name}/{page}")
    def note(name: str) -> str:
        return name

    return note


def a_query_without_a_default() -> Any:
    @resource("notes://all{?name}")
    def note(name: str) -> str:
        return name

    return note


def no_media_type() -> Any:
    @resource("notes://all", media_type="markdown")
    def note() -> str:
        return ""

    return note


@pytest.mark.parametrize(
    "make",
    [
        wrong_uri,
        a_parameter_that_is_not_in_the_uri,
        a_variable_without_a_parameter,
        a_query_without_a_default,
        no_media_type,
    ],
)
def test_what_cannot_be_a_resource_is_refused_when_it_is_loaded(make: Any) -> None:
    with pytest.raises(RegistrationError, match=r"^resource '"):
        find_tools(make())


def test_a_parameter_without_a_form_in_json_is_one_of_a_resource() -> None:
    @resource("notes://{name}")
    def note(name: type) -> str:
        return ""

    with pytest.raises(
        RegistrationError, match=r"^resource 'notes://\{name\}', parameter 'name': "
    ):
        find_tools(note)


@pytest.mark.parametrize(
    ("annotations", "error"),
    [
        ({"audience": "user"}, TypeError),
        ({"audience": ["model"]}, ValueError),
        ({"priority": 2}, ValueError),
        ({"lastModified": 2026}, TypeError),
    ],
)
def test_annotations_that_clients_refuse_are_refused(
    annotations: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error, match=f"^resource: {next(iter(annotations))}"):
        resource("notes://all", annotations=annotations)


def test_annotations_may_have_members_of_other_packages() -> None:
    annotations = {"audience": ["user"], "priority": 0.5, "readOnlyHint": True}

    @resource("notes://all", annotations=annotations)
    def notes() -> str:
        return ""

    assert find_tools(notes)[0].describe()["annotations"] == annotations


def test_a_decorator_without_its_uri_says_what_to_write() -> None:
    with pytest.raises(RegistrationError, match=r"it has no URI; write .*notes://"):
        resource(lambda: "")  # type: ignore[arg-type]


def test_a_function_cannot_be_a_tool_and_a_resource() -> None:
    with pytest.raises(RegistrationError, match="two of"):

        @tool_api
        @resource("notes://all")
        def note() -> str:
            return ""


def test_a_toolkit_may_have_resources() -> None:
    class Notes:
        def __init__(self) -> None:
            self.text = "tea"

        @tool_api
        def add(self, text: str) -> None:
            self.text = text

        @resource("notes://last")
        def last(self) -> str:
            return self.text

    add, last = find_tools(Notes())
    add.call({"text": "milk"}, RecordingCaller())

    assert last.describe()["name"] == "Notes_last"
    assert last.call({"uri": "notes://last"}, RecordingCaller())["contents"][0]["text"] == "milk"


PATHS = [
    ("a/b.md", True),
    ("a/../b", True),
    ("HEAD~3..HEAD", True),
    ("%252e%252e", True),  # decoded once: it is the name %2e%2e
    ("..", False),
    ("../b", False),
    ("a/../../b", False),
    ("%2e%2e/b", False),
    ("%2E%2E%5Cb", False),
    ("..%2fb", False),
    ("/etc/passwd", False),
    ("%2Fetc/passwd", False),
    ("%5Cb", False),
    ("%5C%5Chost%5Cshare", False),
    ("c:b", False),
    ("C%3A%5Cb", False),
    ("a%00", False),
]


@pytest.mark.parametrize(("path", "is_served"), PATHS)
@pytest.mark.parametrize(
    ("uri", "form"),
    [("files://{path*}", "files://{}"), ("files://all{?path}", "files://all?path={}")],
)
def test_a_template_takes_no_path_that_leaves_its_folder(
    uri: str, form: str, path: str, is_served: bool
) -> None:
    @resource(uri)
    def file(path: str = "") -> str:
        return "read"

    @resource(uri, any_path=True)
    def any_file(path: str = "") -> str:
        return "read"

    if is_served:
        assert read(file, form.format(path))[0]["text"] == "read"
    else:
        with pytest.raises(ResourceNotFound, match="'path' is a path out of its folder"):
            read(file, form.format(path))
    assert read(any_file, form.format(path))[0]["text"] == "read"


@given(
    st.lists(st.sampled_from(["..", ".", "/", "\\", "a", "C:", "\0", "~"]), max_size=9).map("".join)
)
def test_a_path_that_is_served_stays_within_its_folder_on_every_platform(path: str) -> None:
    if may_leave_folder(path):
        return
    for joined, folder in ((posixpath, "/srv/files"), (ntpath, "C:\\srv\\files")):
        whole = joined.normpath(joined.join(folder, path))
        assert whole == folder or whole.startswith(folder + joined.sep)
