"""`confirm`: a tool that asks first never runs without the user's consent, and a question cannot be
forged.
"""

from __future__ import annotations

import asyncio
import json
import unicodedata
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.recording_caller import RecordingCaller
from toolwire_compat.groot import Env
from toolwire_compat.lagent import (
    ActionExecutor,
    AsyncActionExecutor,
    AsyncActionMixin,
    BaseAction,
    Hook,
)
from toolwire_compat.mas.yaml_tool import make_config_tool
from toolwire_compat.yaml import load_tool_config
from toolwire_tools import (
    CannotAsk,
    Context,
    Declined,
    Dismissed,
    NotAnswered,
    RegistrationError,
    Tool,
    ToolError,
    find_tools,
    make_tool,
    tool_api,
)
from toolwire_tools.confirmation import MAX_VALUE, show

YES = {"action": "accept", "content": {"answer": True}}
REFUSALS = [
    ({"action": "accept", "content": {"answer": False}}, Declined),
    ({"action": "decline"}, Declined),
    ({"action": "cancel"}, Dismissed),
    ({"action": "accept"}, NotAnswered),
    ({"action": "accept", "content": {}}, NotAnswered),
    ({"action": "accept", "content": {"answer": "true please"}}, NotAnswered),
    ({}, NotAnswered),
    (CannotAsk("The client cannot ask."), CannotAsk),
    (NotAnswered("The user did not answer within 3 seconds."), NotAnswered),
]
ASKS = tool_api(destructive=True, confirm="Really remove {path}?")
REMOVED: list[str] = []


@pytest.fixture(autouse=True)
def nothing_removed() -> None:
    REMOVED.clear()


class Loud(Hook):
    """Sees each call."""


class Files(BaseAction):
    """Files."""

    @ASKS
    def remove(self, path: str) -> str:
        """Remove a file."""
        REMOVED.append(path)
        return "removed"


class OwnCall(Files):
    """Goes past the API, as an action with a `__call__` of its own may."""

    def __call__(self, inputs: Any, name: str = "run") -> Any:
        return self.remove(**inputs)


class AsyncFiles(AsyncActionMixin, Files):
    """Files, awaited."""

    @ASKS
    async def remove(self, path: str) -> str:  # type: ignore[override]
        """Remove a file."""
        REMOVED.append(path)
        return "removed"


class Named:
    """A toolkit."""

    @ASKS
    def remove(self, path: str) -> str:
        REMOVED.append(path)
        return "removed"


def forms(folder: Path) -> Iterator[tuple[str, Tool]]:
    """The same tool in every form that there is."""

    @ASKS
    def remove(path: str) -> str:
        REMOVED.append(path)
        return "removed"

    @ASKS
    async def remove_async(path: str) -> str:
        REMOVED.append(path)
        return "removed"

    @ASKS
    def remove_slowly(path: str) -> Iterator[str]:
        REMOVED.append(path)
        yield "removed"

    @ASKS
    async def remove_slowly_async(path: str) -> AsyncIterator[str]:
        REMOVED.append(path)
        yield "removed"

    @ASKS
    def by_place(path: str, /, more: int = 1) -> str:
        REMOVED.append(path)
        return "removed"

    @tool_api(
        confirm="Really remove {path}?", input_schema={"type": "object", "properties": {"path": {}}}
    )
    def by_schema(**arguments: Any) -> str:
        REMOVED.append(arguments["path"])
        return "removed"

    for function in (remove, remove_async, remove_slowly, remove_slowly_async, by_place, by_schema):
        yield function.__name__, make_tool(function)
    yield "partial", make_tool(partial(remove))
    yield "renamed", make_tool(remove).with_separator(".").with_name("other").without_structured()
    yield "toolkit", find_tools(Named())[0]
    yield "action", find_tools(Files())[0]
    yield "action with its own call", find_tools(OwnCall())[0]
    yield "async action", find_tools(AsyncFiles())[0]
    yield "hooks", find_tools(ActionExecutor(Files(), hooks=[Loud()]))[0]
    yield "async hooks", find_tools(AsyncActionExecutor(AsyncFiles(), hooks=[Loud()]))[0]
    file = folder / "remove.yaml"
    note = folder / "removed"
    file.write_text(
        "name: remove\ndescription: Remove.\nparameters: {path: string}\n"
        f"command: [touch, {json.dumps(str(note))}, '{{path}}']\ncwd: {json.dumps(str(folder))}\n"
        "confirm: Really remove {path}?\n"
    )
    yield "command", make_config_tool(load_tool_config(file))


def run(tool: Tool, caller: RecordingCaller, arguments: dict[str, Any]) -> dict[str, Any]:
    if tool.is_async:
        return asyncio.run(tool.call_async(arguments, caller))
    return tool.call(arguments, caller)


FORMS = (
    *(
        "remove",
        "remove_async",
        "remove_slowly",
        "remove_slowly_async",
        "by_place",
        "by_schema",
        "partial",
        "renamed",
    ),
    *(
        "toolkit",
        "action",
        "action with its own call",
        "async action",
        "hooks",
        "async hooks",
        "command",
    ),
)


def test_the_table_has_all_forms(tmp_path: Path) -> None:
    assert tuple(name for name, _ in forms(tmp_path)) == FORMS


@pytest.mark.parametrize("form", FORMS)
def test_without_consent_no_form_of_a_tool_runs_and_the_error_says_so(
    tmp_path: Path, form: str
) -> None:
    tool = dict(forms(tmp_path))[form]
    for reply, error in REFUSALS:
        caller = RecordingCaller()
        caller.answers = [reply]

        with pytest.raises(error, match="did not run, since it needs the user's consent") as failed:
            run(tool, caller, {"path": "notes"})

        assert tool.name in str(failed.value), reply
        assert [message for message, _ in caller.asked] == ['Really remove "notes"?'], reply
        assert not REMOVED, reply
        assert not (tmp_path / "removed").exists(), reply


@pytest.mark.parametrize(
    "form",
    [
        pytest.param(form, marks=[pytest.mark.process] if form == "command" else [])
        for form in FORMS
    ],
)
def test_with_consent_every_form_of_a_tool_runs_once_and_asks_once(
    tmp_path: Path, form: str
) -> None:
    tool, caller = dict(forms(tmp_path))[form], RecordingCaller()
    caller.answers = [YES]

    result = run(tool, caller, {"path": "notes"})

    assert result["isError"] is False, result
    assert len(caller.asked) == 1
    assert REMOVED == ["notes"] or (tmp_path / "notes").exists()


@pytest.mark.parametrize("form", FORMS)
def test_arguments_that_do_not_fit_are_refused_before_the_user_is_asked(
    tmp_path: Path, form: str
) -> None:
    tool, caller = dict(forms(tmp_path))[form], RecordingCaller()
    if form == "by_schema":
        return  # its schema takes anything
    with pytest.raises(ToolError, match=r"arguments\.path"):
        run(tool, caller, {})
    assert caller.asked == []


def test_each_form_of_a_tool_shows_in_its_description_that_it_asks(tmp_path: Path) -> None:
    shown = {form: tool.describe()["_meta"] for form, tool in forms(tmp_path)}
    assert shown == {form: {"toolwire/confirm": "Really remove {path}?"} for form in FORMS}


def test_a_program_that_calls_the_tool_without_a_user_gets_an_error() -> None:
    executed = ActionExecutor(Files())("Files.remove", {"path": "notes"})
    assert "did not run" in str(executed.result or executed.errmsg)
    with pytest.raises(CannotAsk, match="did not run"):
        Env([Named()])("Named.remove", {"path": "notes"})
    assert not REMOVED


def test_a_hook_that_changes_what_the_user_agreed_to_makes_the_call_fail() -> None:
    class Changes(Hook):
        def before_action(self, executor: Any, message: Any, session_id: Any = None) -> Any:
            message.content["parameters"] = {"path": "everything"}
            return message

    (tool,) = find_tools(ActionExecutor(Files(), hooks=[Changes()]))
    caller = RecordingCaller()
    caller.answers = [YES]
    with pytest.raises(ToolError, match="did not run"):
        run(tool, caller, {"path": "notes"})
    assert REMOVED == []


# The text of the question


class Level(Enum):
    LOW = 1
    HIGH = 2


@dataclass
class Point:
    x: int
    name: str = "here"


SHOWN: list[tuple[Any, str]] = [
    ("notes", '"notes"'),
    ("", '""'),
    ('a"b\\c', '"a\\"b\\\\c"'),
    ("two\nlines\ttab", '"two\\nlines\\ttab"'),
    ("\u202egpj.exe", '"\\u202egpj.exe"'),
    ("a\u00a0b\u3000c\u200b", '"a\\u00a0b\\u3000c\\u200b"'),
    ("\u3164\ufe0f\U000e0041", '"\\u3164\\ufe0f\\udb40\\udc41"'),
    ("\ud800", '"\\ud800"'),
    ("Größe 大", '"Größe 大"'),
    (True, "true"),
    (None, "null"),
    (1.5, "1.5"),
    (Level.HIGH, "HIGH"),
    (Path("/etc/hosts"), '"/etc/hosts"'),
    (b"1234", "(4 bytes)"),
    ([1, "a\n"], '[1, "a\\n"]'),
    (Point(1), '{"x": 1, "name": "here"}'),
    ("x" * 200, '"' + "x" * 200 + '"'),
    ("a" * 300 + "z" * 300, '"' + "a" * 50 + '" … "' + "z" * 50 + '" (600 characters)'),
]


@pytest.mark.parametrize(("value", "text"), SHOWN)
def test_values_are_shown_as_one_line_of_json(value: Any, text: str) -> None:
    assert show(value) == text


@given(st.text() | st.text(alphabet='"\\\n\u202e?{} …', min_size=1).map(lambda text: text * 40))
def test_no_text_can_end_its_quotes_or_its_line_or_hide(text: str) -> None:
    shown = show(text)
    value, end = json.JSONDecoder().raw_decode(shown)
    assert value == text if end == len(shown) else text.startswith(value) and len(text) > 50
    assert not {unicodedata.category(letter) for letter in shown} & {
        "Cc",
        "Cf",
        "Cs",
        "Co",
        "Cn",
        "Zl",
        "Zp",
    }
    assert len(shown) <= 12 * MAX_VALUE // 2 + 100


@given(st.recursive(st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(), st.lists))
def test_data_of_any_size_is_shown_in_a_limited_length(value: Any) -> None:
    assert len(show([value] * 50)) <= 12 * MAX_VALUE // 2 + 100


def asked(tool: Tool, arguments: dict[str, Any]) -> str:
    caller = RecordingCaller()
    caller.answers = [YES]
    run(tool, caller, arguments)
    return caller.asked[0][0]


def test_defaults_that_the_caller_leaves_out_are_shown() -> None:
    @tool_api(
        confirm="Remove {path} with {recursive}, {level}, {at}, {extra} {{so}}?",
        exclude_arguments="hidden",
    )
    def remove(
        path: Path,
        /,
        at: Point,
        *,
        recursive: bool = False,
        level: Level = Level.LOW,
        extra: Any = None,
        hidden: int = 1,
    ) -> None: ...

    text = asked(make_tool(remove), {"path": "/a", "at": {"x": 2}})
    assert text == 'Remove "/a" with false, LOW, {"x": 2, "name": "here"}, null {so}?'


def test_a_function_gets_the_values_that_the_tool_gets() -> None:
    seen: list[Any] = []

    def question(path: Path, level: Level) -> str:
        seen.extend((path, level))
        return f"Remove\n{path}\x1b[2J with {level.name}?"

    @tool_api(confirm=question)
    def remove(path: Path, other: int = 0, level: Level = Level.LOW) -> None: ...

    tool = make_tool(remove)
    assert asked(tool, {"path": "/a"}) == "Remove\n/a\\u001b[2J with LOW?"
    assert seen == [Path("/a"), Level.LOW]
    assert tool.describe()["_meta"] == {"toolwire/confirm": True}


@pytest.mark.parametrize("returned", [None, "", "  \n", 7, False, True, b"Really?"])
def test_a_function_that_returns_no_question_makes_the_call_fail(returned: Any) -> None:
    @tool_api(confirm=lambda path: returned)
    def remove(path: str) -> None:
        REMOVED.append(path)

    with pytest.raises(TypeError, match="instead of a question"):
        run(make_tool(remove), RecordingCaller(), {"path": "a"})
    assert not REMOVED


def test_a_function_that_raises_makes_the_call_fail() -> None:
    def question(path: str) -> str:
        raise ValueError(path)

    @tool_api(confirm=question)
    async def remove(path: str) -> None:
        REMOVED.append(path)

    with pytest.raises(ValueError, match="a"):
        run(make_tool(remove), RecordingCaller(), {"path": "a"})
    assert not REMOVED


async def asynchronous(path: str) -> str:
    return path


REFUSED: list[tuple[Any, str]] = [
    ("", "0 characters"),
    ("  ", "2 characters"),
    ("x" * 2001, "2001 characters"),
    ("Remove {paht}?", "did you mean 'path'"),
    ("Remove {}?", "argument ''"),
    ("Remove {0}?", "argument '0'"),
    ("Remove {path.__class__}?", "part of an argument"),
    ("Remove {path[0]}?", "part of an argument"),
    ("Remove {path!r}?", "has a format"),
    ("Remove {path:>99999999}?", "has a format"),
    ("Remove {path:{hidden}}?", "has a format"),
    ("Remove {hidden}?", "argument 'hidden'"),
    ("Remove {context}?", "argument 'context'"),
    ("Remove {path?", "no template"),
    ("Remove path}?", "no template"),
    (lambda paht: "", "did you mean 'path'"),
    (lambda **arguments: "", "name the arguments"),
    (lambda *arguments: "", "name the arguments"),
    (lambda path, /: "", "by position"),
    (asynchronous, "asynchronous"),
    (partial(asynchronous), "asynchronous"),
]


@pytest.mark.parametrize(("confirm", "problem"), REFUSED)
def test_a_question_that_cannot_be_asked_is_refused_when_the_tool_is_made(
    confirm: Any, problem: str
) -> None:
    @tool_api(confirm=confirm, exclude_arguments="hidden")
    def remove(path: Annotated[str, "a file"], context: Context, hidden: str = "") -> None: ...

    with pytest.raises(RegistrationError) as refused:
        make_tool(remove)
    assert refused.value.parameter == "option confirm"
    assert problem in str(refused.value)


@pytest.mark.parametrize("confirm", [True, 7, b"Really?", ["Really?"], str])
def test_a_question_of_another_type_is_refused_by_the_decorator(confirm: Any) -> None:
    with pytest.raises(TypeError, match="confirm must be a text or a function"):
        tool_api(confirm=confirm)


def test_resources_and_prompts_have_no_question() -> None:
    from toolwire_tools import prompt, resource

    ways: list[Callable[[], Any]] = [
        lambda: resource("a://b", confirm="?"),
        lambda: prompt(confirm="?"),
    ]  # type: ignore[call-overload, call-arg]
    for way in ways:
        with pytest.raises(TypeError, match="no option 'confirm'"):
            way()
