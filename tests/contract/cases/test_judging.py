"""Whether a conversation is as a case expects: decided without a server."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from toolwire_check.cases.conversation import CaseConversation
from toolwire_check.cases.expectations import Breach, Scene, judge
from toolwire_schemas.cases import cases
from toolwire_schemas.wire import codec

_KINDS = ("answer", "refused", "unanswered", "order", "some", "none", "every", "quiet", "rule")
EXPECTATIONS = [step for case in cases() for step in case.steps if set(_KINDS) & set(step)]
"""Every expectation of every case."""

OK = {"jsonrpc": "2.0", "id": 1, "result": {"a": 1}}
ERROR = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}}
TOOL_ERROR = {
    "jsonrpc": "2.0",
    "id": 1,
    "result": {"isError": True, "content": [{"type": "text", "text": "no"}]},
}
NEWS = {"jsonrpc": "2.0", "method": "notifications/x"}


def heard(*messages: Any, said: Any = None, lists: dict[str, list[Any]] | None = None) -> Scene:
    """A conversation in which the server said *messages*: values, or bytes as they are."""
    conversation = CaseConversation()
    for message in said or ():
        conversation.record_input(codec.encode(message) + b"\n")
    for message in messages:
        conversation.record_output(
            message if isinstance(message, bytes) else codec.encode(message) + b"\n"
        )
    return Scene(conversation.events, lists or {})


def progress(token: Any, number: float) -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "method": "notifications/progress",
        "params": {"progressToken": token, "progress": number},
    }


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object"}, **more}


ASKS = tool("y", annotations={"destructiveHint": True}, _meta={"toolwire/confirm": "Really?"})


def call(name: str, identity: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "method": "tools/call", "params": {"name": name}}


PAIR_OF_DRAFT_7 = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "properties": {"pair": {"items": [{"type": "integer"}, {"type": "string"}]}},
}

MET: list[tuple[dict[str, Any], Scene]] = [
    ({"answer": 1}, heard(OK)),
    ({"answer": 1}, heard(NEWS, ERROR)),
    ({"answer": 1, "result": True}, heard(OK)),
    ({"answer": 1, "result": {"required": ["a"]}}, heard(OK)),
    ({"answer": 1, "error": True}, heard(ERROR)),
    ({"answer": 1, "error": [-32600, -32601]}, heard(ERROR)),
    ({"answer": 1, "error": [-32602], "tool_error": True}, heard(TOOL_ERROR)),
    ({"answer": 1, "result": True}, heard([OK, {"jsonrpc": "2.0", "id": 2, "result": {}}])),
    (
        {"answer": None, "error": True},
        heard({"jsonrpc": "2.0", "error": {"code": -32700, "message": ""}}),
    ),
    (
        {"answer": 1, "error": [-1], "data": {"type": "string"}},
        heard({"id": 1, "error": {"code": -1, "data": "x"}}),
    ),
    ({"refused": [-32601]}, heard(ERROR)),
    ({"refused": True}, heard(NEWS, ERROR)),
    ({"unanswered": 2}, heard(OK)),
    ({"unanswered": "1"}, heard(OK)),
    ({"order": [1, "1"]}, heard(OK, NEWS, {**OK, "id": 2}, {**OK, "id": "1"})),
    ({"some": {"required": ["method"], "type": "object"}}, heard(OK, NEWS)),
    ({"some": {"type": "array", "minItems": 2}}, heard([OK, ERROR])),
    ({"none": {"required": ["error"]}}, heard(OK, [OK, OK])),
    ({"every": {"required": ["result"]}}, heard(OK, [OK])),
    ({"every": {"required": ["result"]}, "among": {"required": ["id"]}}, heard(OK, NEWS)),
    ({"quiet": True}, heard(OK, b"\n", b"\r\n")),
    (
        {"rule": "answered-once"},
        heard(OK, {**OK, "id": "1"}, {**ERROR, "id": None}, {**ERROR, "id": None}),
    ),
    ({"rule": "answers-asked"}, heard(OK, {**ERROR, "id": None}, said=[call("a")])),
    (
        {"rule": "progress-asked"},
        heard(progress(0, 1), said=[{"params": {"_meta": {"progressToken": 0}}}]),
    ),
    ({"rule": "progress-increases"}, heard(progress("a", 1), progress("b", 1), progress("a", 1.5))),
    ({"rule": "progress-before-answer"}, heard(progress(1, 1), OK, progress(2, 1))),
    ({"rule": "unique-names", "lists": ["a"]}, heard(lists={"a": [tool("x"), tool("X")]})),
    ({"rule": "same-list", "lists": ["a", "b"]}, heard(lists={"a": [tool("x")], "b": [tool("x")]})),
    ({"rule": "portable", "lists": ["a"]}, heard(lists={"a": [tool("x")]})),
    (
        {"rule": "destructive-asks", "lists": ["a"]},
        heard(lists={"a": [tool("x"), ASKS, "no tool"]}),
    ),
    (
        {"rule": "output-schema", "lists": ["tools"]},
        heard(
            {"id": 1, "result": {"content": [], "structuredContent": {"n": 1}}},
            {"id": 2, "result": {"content": [], "isError": True}},
            {"id": 3, "result": {"content": []}},
            said=[call("x", 1), call("x", 2), call("without", 3)],
            lists={"tools": [tool("x", outputSchema={"required": ["n"]}), tool("without")]},
        ),
    ),
    (
        {"rule": "output-schema", "lists": ["tools"]},
        heard(
            {"id": 1, "result": {"content": [], "structuredContent": {"pair": [1, "a"]}}},
            said=[call("x")],
            lists={"tools": [tool("x", outputSchema=PAIR_OF_DRAFT_7)]},
        ),
    ),
    (
        {"rule": "unique-names", "lists": ["a"]},
        heard(lists={"a": [{"inputSchema": {}}, {"inputSchema": {}}]}),
    ),
]


@pytest.mark.parametrize(
    ("step", "scene"), MET, ids=lambda value: str(value)[:60] if isinstance(value, dict) else ""
)
def test_what_is_as_expected_is_met(step: dict[str, Any], scene: Scene) -> None:
    assert judge(step, scene) is None


UNMET: list[tuple[dict[str, Any], Scene]] = [
    ({"answer": 1, "result": True}, heard(ERROR)),
    ({"answer": 1, "result": {"required": ["b"]}}, heard(OK)),
    ({"answer": 1, "error": True}, heard(OK)),
    ({"answer": 1, "error": [-32602]}, heard(ERROR)),
    ({"answer": 1, "error": [-32602], "tool_error": True}, heard(OK)),
    (
        {"answer": 1, "tool_error": True},
        heard({"id": 1, "result": {"isError": True, "content": []}}),
    ),
    (
        {"answer": 1, "error": [-1], "data": {"type": "string"}},
        heard({"id": 1, "error": {"code": -1, "data": 7}}),
    ),
    (
        {"answer": 1, "error": [-1], "data": {"type": "string"}},
        heard({"id": 1, "error": {"code": -1}}),
    ),
    ({"unanswered": 1}, heard(OK)),
    ({"order": [1, "1"]}, heard({**OK, "id": "1"}, OK)),
    ({"order": [1, "1"]}, heard(OK)),
    ({"none": {"required": ["error"]}}, heard(OK, [OK, ERROR])),
    ({"every": {"required": ["result"]}}, heard(OK, NEWS)),
    ({"every": {"required": ["result"]}, "among": {"required": ["id"]}}, heard(OK, [ERROR])),
    ({"quiet": True}, heard(b"Listening on stdio\n")),
    ({"quiet": True}, heard(b'{"level": "info"}\n')),
    ({"quiet": True}, heard(b"\xef\xbb\xbf", OK)),
    ({"quiet": True}, heard(b'{"jsonrpc":"2.0","id":1,"result":{"a":NaN}}\n')),
    ({"rule": "answered-once"}, heard(OK, OK)),
    ({"rule": "answers-asked"}, heard({**OK, "id": "1"}, said=[call("a")])),
    (
        {"rule": "progress-asked"},
        heard(progress("0", 1), said=[{"params": {"_meta": {"progressToken": 0}}}]),
    ),
    ({"rule": "progress-increases"}, heard(progress("a", 1), progress("a", 1))),
    ({"rule": "progress-before-answer"}, heard(OK, progress(1, 1))),
    ({"rule": "unique-names", "lists": ["a"]}, heard(lists={"a": [tool("x"), tool("x")]})),
    ({"rule": "same-list", "lists": ["a", "b"]}, heard(lists={"a": [tool("x")], "b": [tool("y")]})),
    (
        {"rule": "same-list", "lists": ["a", "b"]},
        heard(lists={"a": [tool("x", title="1")], "b": [tool("x")]}),
    ),
    (
        {"rule": "portable", "lists": ["a"]},
        heard(lists={"a": [{"name": "x", "inputSchema": {"type": 7}}]}),
    ),
    ({"rule": "portable-everywhere", "lists": ["a"]}, heard(lists={"a": [tool("x.y")]})),
    (
        {"rule": "destructive-asks", "lists": ["a"]},
        heard(lists={"a": [tool("x"), {**ASKS, "_meta": {}}]}),
    ),
    (
        {"rule": "output-schema", "lists": ["tools"]},
        heard(
            {"id": 1, "result": {"content": []}},
            said=[call("x")],
            lists={"tools": [tool("x", outputSchema={})]},
        ),
    ),
    (
        {"rule": "output-schema", "lists": ["tools"]},
        heard(
            {"id": 1, "result": {"content": [], "structuredContent": {}}},
            said=[call("x")],
            lists={"tools": [tool("x", outputSchema={"required": ["n"]})]},
        ),
    ),
    (
        {"rule": "output-schema", "lists": ["tools"]},
        heard(
            {"id": 1, "result": {"content": [], "structuredContent": {"pair": ["a", 1]}}},
            said=[call("x")],
            lists={"tools": [tool("x", outputSchema=PAIR_OF_DRAFT_7)]},
        ),
    ),
]


@pytest.mark.parametrize(
    ("step", "scene"), UNMET, ids=lambda value: str(value)[:60] if isinstance(value, dict) else ""
)
def test_what_is_otherwise_is_unmet_at_once(step: dict[str, Any], scene: Scene) -> None:
    unmet = judge(step, scene)
    assert isinstance(unmet, Breach)
    assert not unmet.may_come
    assert unmet.expected
    assert unmet.came


@pytest.mark.parametrize(
    "step",
    [
        {"answer": 2},
        {"answer": "1"},
        {"answer": 1.0},
        {"refused": [-1]},
        {"some": {"type": "array"}},
    ],
)
def test_what_is_not_there_may_still_come(step: dict[str, Any]) -> None:
    unmet = judge(step, heard(OK, ERROR))
    assert unmet is not None
    assert unmet.may_come


def test_what_came_says_what_is_wrong_with_it() -> None:
    unmet = judge(
        {"answer": 1, "result": {"required": ["b"], "description": "it has a b"}}, heard(OK)
    )
    assert unmet is not None
    assert unmet.expected == "as the answer to 1 a result: it has a b"
    assert unmet.came == '{"jsonrpc":"2.0","id":1,"result":{"a":1}} (result.b is missing)'


def test_noise_is_reported_with_its_first_lines() -> None:
    unmet = judge({"quiet": True}, heard(*(b"line %d\n" % number for number in range(5))))
    assert unmet is not None
    assert unmet.came.startswith("noise on stdout: 'line 0' (no JSON")
    assert "'line 2'" in unmet.came
    assert unmet.came.endswith("and 2 more")


def test_a_server_that_floods_its_output_is_not_listened_to_for_ever() -> None:
    conversation = CaseConversation()
    for _ in range(40):
        conversation.record_output(b"y\n" * 100_000)
    assert "not messages" in conversation.flood
    assert len(conversation.events) < 100_000


# --- servers say anything ---

_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2)
    ),
    max_leaves=4,
)
_SCHEMA = (
    st.sampled_from(
        [{"type": 7}, {"pattern": "("}, {"$ref": "#/nowhere"}, {"$ref": "#"}, {"required": 7}]
    )
    | _JSON
)
_TOOL = st.fixed_dictionaries(
    {},
    optional={
        "name": st.just("x") | _JSON,
        "inputSchema": _SCHEMA,
        "outputSchema": _SCHEMA,
        "annotations": _JSON,
    },
)
_PROGRESS = st.fixed_dictionaries({}, optional={"progressToken": _JSON, "progress": _JSON})
_RESULT = (
    st.fixed_dictionaries(
        {}, optional={"content": _JSON, "structuredContent": _JSON, "isError": _JSON}
    )
    | _JSON
)
_MESSAGE = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | _JSON,
        "id": st.just(1) | _JSON,
        "method": st.just("notifications/progress") | _JSON,
        "params": _PROGRESS | _JSON,
        "result": _RESULT,
        "error": st.fixed_dictionaries({}, optional={"code": _JSON, "data": _JSON}) | _JSON,
    },
)


@settings(max_examples=examples(40))
@given(
    st.lists(_MESSAGE | _JSON | st.lists(_MESSAGE), max_size=4), st.lists(_TOOL | _JSON, max_size=2)
)
def test_whatever_a_server_says_is_judged(said: list[Any], tools: list[Any]) -> None:
    scene = heard(
        *said, said=[call("x")], lists=dict.fromkeys(("tools", "all", "first", "second"), tools)
    )
    for step in EXPECTATIONS:
        judge(step, scene)


def test_what_nests_too_deeply_to_be_written_is_judged() -> None:
    deep = b'{"jsonrpc":"2.0","id":' + b"[" * 500 + b"]" * 500 + b',"result":{}}\n'
    token = deep.replace(
        b'"id":', b'"method":"notifications/progress","params":{"progressToken":'
    ).replace(b',"result":{}', b',"progress":1}')
    for step in EXPECTATIONS:
        judge(step, heard(deep, token, said=[call("x")], lists={"tools": []}))


def test_each_fault_of_a_schema_is_named_and_not_that_of_another_dialect() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "strin"}}, "required": "a"}
    listed = {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {"tools": [{"name": "t", "inputSchema": schema}]},
    }
    unmet = judge(
        {"answer": 1, "result": {"$ref": "urn:toolwire:v1:tools-list-result"}}, heard(listed)
    )
    assert unmet is not None
    assert "inputSchema.required" in unmet.came
    assert "inputSchema.properties.a.type" in unmet.came
    assert "$schema" not in unmet.came


@pytest.mark.parametrize(
    ("step", "came"),
    [
        ({"some": {"type": "array"}}, "nothing"),
        (
            {"some": {"anyOf": [{"type": "object", "required": ["error"]}, {"type": "array"}]}},
            "nothing",
        ),
        ({"some": {"required": ["method", "id"]}}, codec.encode(NEWS).decode()),
    ],
)
def test_a_notification_is_not_what_came_instead_of_a_response(
    step: dict[str, Any], came: str
) -> None:
    unmet = judge(step, heard(NEWS))
    assert unmet is not None
    assert unmet.came == came
