"""The calls that cases need: found by trial and from input schemas, of tools that may be called."""

from __future__ import annotations

from typing import Any, cast

import pytest
from support.scripted_server import Message, ScriptedServer, error, result
from toolwire_check import CheckSettings
from toolwire_check.facts.server_process import ServerUnderTest
from toolwire_check.facts.trial_calls import Needs, find_calls

TEXT = [{"type": "text", "text": "a"}]
TYPED = {
    "type": "object",
    "properties": {"n": {"type": "integer"}},
    "required": ["n"],
    "additionalProperties": False,
}
OPEN = {"type": "object"}


def make_tool(name: str, schema: Any = OPEN, *, is_read_only: bool = True) -> dict[str, Any]:
    annotations = {"readOnlyHint": is_read_only}
    return {"name": name, "inputSchema": schema, "annotations": annotations}


def answer(request: Message, _: list[Message]) -> list[Message]:
    """Answer as the name of the called tool says."""
    params = request["params"]
    if params["name"] == "fails":
        return [result(request, content=TEXT, isError=True)]
    if params["name"] == "refuses":
        return [error(request)]
    if params["name"] == "reports":
        progress = {"progressToken": params["_meta"]["progressToken"], "progress": 1}
        notification = {"jsonrpc": "2.0", "method": "notifications/progress", "params": progress}
        return [notification, result(request, content=TEXT)]
    return [result(request, content=TEXT)]


def find(*tools: Any, **settings: Any) -> Needs:
    server = cast("ServerUnderTest", ScriptedServer(answer))
    return find_calls(server, "2025-11-25", tools, CheckSettings(**settings))


@pytest.mark.parametrize(
    ("names", "call", "progress"),
    [
        (["works"], "works", None),
        (["fails", "works"], "works", None),
        (["refuses", "works"], "works", None),
        (["fails"], None, None),
        (["works", "reports"], "works", "reports"),
        (["reports", "works"], "reports", "reports"),
    ],
)
def test_first_call_of_each_kind_is_taken(
    names: list[str], call: str | None, progress: str | None
) -> None:
    needs = find(*map(make_tool, names))
    for kind, name in {"call": call, "progress": progress}.items():
        expected = None if name is None else {"name": name, "arguments": {}}
        assert needs.values.get(kind) == expected
        assert (kind in needs.lacks) == (name is None)


def test_invalid_calls_are_made_from_the_input_schema() -> None:
    needs = find(make_tool("open"), make_tool("typed", TYPED))
    assert needs.values["wrong"] == {"name": "typed", "arguments": {"n": {"not": "this"}}}
    assert needs.values["missing"] == {"name": "typed", "arguments": {}}
    assert needs.values["extra"] == {
        "name": "typed",
        "arguments": {"n": 1, "toolwire_contract_unknown": 1},
    }


def test_schema_that_accepts_everything_has_no_invalid_calls() -> None:
    assert {"wrong", "missing", "extra"} <= find(make_tool("open")).lacks.keys()


@pytest.mark.parametrize(
    ("tools", "settings", "called"),
    [
        ([make_tool("a", is_read_only=False)], {}, None),
        ([make_tool("a", is_read_only=False)], {"any_tool": True}, "a"),
        ([make_tool("a", is_read_only=False)], {"calls": {"a": None}}, "a"),
        ([make_tool("a"), make_tool("b")], {"calls": {"b": None}}, "b"),
        ([{"name": "a"}, {"inputSchema": OPEN}, "no tool", make_tool("c")], {}, "c"),
        ([make_tool("a", {"type": 7})], {}, None),
    ],
)
def test_only_tools_that_the_settings_allow_are_called(
    tools: list[Any], settings: dict[str, Any], called: str | None
) -> None:
    call = find(*tools, **settings).values.get("call")
    assert (None if call is None else call["name"]) == called


def test_named_arguments_replace_the_sample_arguments() -> None:
    needs = find(make_tool("typed", TYPED), calls={"typed": {"n": 7}})
    assert needs.values["call"] == {"name": "typed", "arguments": {"n": 7}}


@pytest.mark.parametrize(
    ("tools", "reason"),
    [
        ([], "no tool says that it is read-only"),
        ([make_tool("a", {"type": 7})], "no arguments were found that a would take"),
    ],
)
def test_reason_why_no_call_is_found_holds_for_each_kind(tools: list[Any], reason: str) -> None:
    needs = find(*tools)
    assert needs.values == {}
    assert {text[: len(reason)] for text in needs.lacks.values()} == {reason}
    assert len(needs.lacks) == 7
