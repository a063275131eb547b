"""Judging a conversation by the expectations of a case, without a server."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from toolwire_check.judging.conversation import CaseConversation
from toolwire_check.judging.expectations import Breach, Scene, judge
from toolwire_schemas.cases import load_cases
from toolwire_schemas.json_schema.bounded_validator import MAX_STEPS
from toolwire_schemas.wire import codec

_KINDS = ("answer", "refused", "unanswered", "order", "some", "none", "every", "quiet", "rule")
EXPECTATIONS = [step for case in load_cases() for step in case.steps if set(_KINDS) & set(step)]
"""Every expectation of every case."""

OK = {"jsonrpc": "2.0", "id": 1, "result": {"a": 1}}
ERROR = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}}
TOOL_ERROR = {
    "jsonrpc": "2.0",
    "id": 1,
    "result": {"isError": True, "content": [{"type": "text", "text": "no"}]},
}
NEWS = {"jsonrpc": "2.0", "method": "notifications/x"}


def make_scene(
    *messages: Any, sent: Any = None, lists: dict[str, list[Any]] | None = None
) -> Scene:
    """Return a conversation in which the server sent *messages*: values, or bytes as they are.

    *sent* are the messages to the server.
    """
    conversation = CaseConversation()
    for message in sent or ():
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


def tool_with_header(kind: str) -> dict[str, Any]:
    properties = {"a": {"type": kind, "x-mcp-header": "A"}}
    return {"name": "z", "inputSchema": {"type": "object", "properties": properties}}


def call(name: str, identity: Any = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": identity, "method": "tools/call", "params": {"name": name}}


PAIR_OF_DRAFT_7 = {
    "$schema": "http://json-schema.org/draft-07/schema#",
    "properties": {"pair": {"items": [{"type": "integer"}, {"type": "string"}]}},
}

MET: list[tuple[dict[str, Any], Scene]] = [
    ({"answer": 1}, make_scene(OK)),
    ({"answer": 1}, make_scene(NEWS, ERROR)),
    ({"answer": 1, "result": True}, make_scene(OK)),
    ({"answer": 1, "result": {"required": ["a"]}}, make_scene(OK)),
    ({"answer": 1, "error": True}, make_scene(ERROR)),
    ({"answer": 1, "error": [-32600, -32601]}, make_scene(ERROR)),
    ({"answer": 1, "error": [-32602], "tool_error": True}, make_scene(TOOL_ERROR)),
    ({"answer": 1, "result": True}, make_scene([OK, {"jsonrpc": "2.0", "id": 2, "result": {}}])),
    (
        {"answer": None, "error": True},
        make_scene({"jsonrpc": "2.0", "error": {"code": -32700, "message": ""}}),
    ),
    (
        {"answer": 1, "error": [-1], "data": {"type": "string"}},
        make_scene({"id": 1, "error": {"code": -1, "data": "x"}}),
    ),
    ({"refused": [-32601]}, make_scene(ERROR)),
    ({"refused": True}, make_scene(NEWS, ERROR)),
    ({"unanswered": 2}, make_scene(OK)),
    ({"unanswered": "1"}, make_scene(OK)),
    ({"order": [1, "1"]}, make_scene(OK, NEWS, {**OK, "id": 2}, {**OK, "id": "1"})),
    ({"some": {"required": ["method"], "type": "object"}}, make_scene(OK, NEWS)),
    ({"some": {"type": "array", "minItems": 2}}, make_scene([OK, ERROR])),
    ({"none": {"required": ["error"]}}, make_scene(OK, [OK, OK])),
    ({"every": {"required": ["result"]}}, make_scene(OK, [OK])),
    ({"every": {"required": ["result"]}, "among": {"required": ["id"]}}, make_scene(OK, NEWS)),
    ({"quiet": True}, make_scene(OK, b"\n", b"\r\n")),
    (
        {"rule": "answered-once"},
        make_scene(OK, {**OK, "id": "1"}, {**ERROR, "id": None}, {**ERROR, "id": None}),
    ),
    ({"rule": "answers-asked"}, make_scene(OK, {**ERROR, "id": None}, sent=[call("a")])),
    (
        {"rule": "progress-asked"},
        make_scene(progress(0, 1), sent=[{"params": {"_meta": {"progressToken": 0}}}]),
    ),
    (
        {"rule": "progress-increases"},
        make_scene(progress("a", 1), progress("b", 1), progress("a", 1.5)),
    ),
    ({"rule": "progress-before-answer"}, make_scene(progress(1, 1), OK, progress(2, 1))),
    ({"rule": "unique-names", "lists": ["a"]}, make_scene(lists={"a": [tool("x"), tool("X")]})),
    (
        {"rule": "same-list", "lists": ["a", "b"]},
        make_scene(lists={"a": [tool("x")], "b": [tool("x")]}),
    ),
    ({"rule": "portable", "lists": ["a"]}, make_scene(lists={"a": [tool("x")]})),
    (
        {"rule": "destructive-asks", "lists": ["a"]},
        make_scene(lists={"a": [tool("x"), ASKS, "no tool"]}),
    ),
    (
        {"rule": "parameter-headers", "lists": ["a"]},
        make_scene(lists={"a": [tool_with_header("string"), {}, "no tool"]}),
    ),
    (
        {"rule": "output-schema", "lists": ["tools"]},
        make_scene(
            {"id": 1, "result": {"content": [], "structuredContent": {"n": 1}}},
            {"id": 2, "result": {"content": [], "isError": True}},
            {"id": 3, "result": {"content": []}},
            sent=[call("x", 1), call("x", 2), call("without", 3)],
            lists={"tools": [tool("x", outputSchema={"required": ["n"]}), tool("without")]},
        ),
    ),
    (
        {"rule": "output-schema", "lists": ["tools"]},
        make_scene(
            {"id": 1, "result": {"content": [], "structuredContent": {"pair": [1, "a"]}}},
            sent=[call("x")],
            lists={"tools": [tool("x", outputSchema=PAIR_OF_DRAFT_7)]},
        ),
    ),
    (  # too large to be checked, which is no fault of the server
        {"rule": "output-schema", "lists": ["tools"]},
        make_scene(
            {"id": 1, "result": {"content": [], "structuredContent": [1] * MAX_STEPS}},
            sent=[call("x")],
            lists={"tools": [tool("x", outputSchema={"items": {"type": "integer"}})]},
        ),
    ),
    (
        {"rule": "unique-names", "lists": ["a"]},
        make_scene(lists={"a": [{"inputSchema": {}}, {"inputSchema": {}}]}),
    ),
]


@pytest.mark.parametrize(
    ("step", "scene"), MET, ids=lambda value: str(value)[:60] if isinstance(value, dict) else ""
)
def test_expectation_that_the_events_meet_has_no_breach(step: dict[str, Any], scene: Scene) -> None:
    assert judge(step, scene) is None


UNMET: list[tuple[dict[str, Any], Scene]] = [
    ({"answer": 1, "result": True}, make_scene(ERROR)),
    ({"answer": 1, "result": {"required": ["b"]}}, make_scene(OK)),
    ({"answer": 1, "error": True}, make_scene(OK)),
    ({"answer": 1, "error": [-32602]}, make_scene(ERROR)),
    ({"answer": 1, "error": [-32602], "tool_error": True}, make_scene(OK)),
    (
        {"answer": 1, "tool_error": True},
        make_scene({"id": 1, "result": {"isError": True, "content": []}}),
    ),
    (
        {"answer": 1, "error": [-1], "data": {"type": "string"}},
        make_scene({"id": 1, "error": {"code": -1, "data": 7}}),
    ),
    (
        {"answer": 1, "error": [-1], "data": {"type": "string"}},
        make_scene({"id": 1, "error": {"code": -1}}),
    ),
    ({"unanswered": 1}, make_scene(OK)),
    ({"order": [1, "1"]}, make_scene({**OK, "id": "1"}, OK)),
    ({"order": [1, "1"]}, make_scene(OK)),
    ({"none": {"required": ["error"]}}, make_scene(OK, [OK, ERROR])),
    ({"every": {"required": ["result"]}}, make_scene(OK, NEWS)),
    ({"every": {"required": ["result"]}, "among": {"required": ["id"]}}, make_scene(OK, [ERROR])),
    ({"quiet": True}, make_scene(b"Listening on stdio\n")),
    ({"quiet": True}, make_scene(b'{"level": "info"}\n')),
    ({"quiet": True}, make_scene(b"\xef\xbb\xbf", OK)),
    ({"quiet": True}, make_scene(b'{"jsonrpc":"2.0","id":1,"result":{"a":NaN}}\n')),
    ({"rule": "answered-once"}, make_scene(OK, OK)),
    ({"rule": "answers-asked"}, make_scene({**OK, "id": "1"}, sent=[call("a")])),
    (
        {"rule": "progress-asked"},
        make_scene(progress("0", 1), sent=[{"params": {"_meta": {"progressToken": 0}}}]),
    ),
    ({"rule": "progress-increases"}, make_scene(progress("a", 1), progress("a", 1))),
    ({"rule": "progress-before-answer"}, make_scene(OK, progress(1, 1))),
    ({"rule": "unique-names", "lists": ["a"]}, make_scene(lists={"a": [tool("x"), tool("x")]})),
    (
        {"rule": "same-list", "lists": ["a", "b"]},
        make_scene(lists={"a": [tool("x")], "b": [tool("y")]}),
    ),
    (
        {"rule": "same-list", "lists": ["a", "b"]},
        make_scene(lists={"a": [tool("x", title="1")], "b": [tool("x")]}),
    ),
    (
        {"rule": "portable", "lists": ["a"]},
        make_scene(lists={"a": [{"name": "x", "inputSchema": {"type": 7}}]}),
    ),
    ({"rule": "portable-everywhere", "lists": ["a"]}, make_scene(lists={"a": [tool("x.y")]})),
    (
        {"rule": "destructive-asks", "lists": ["a"]},
        make_scene(lists={"a": [tool("x"), {**ASKS, "_meta": {}}]}),
    ),
    (
        {"rule": "parameter-headers", "lists": ["a"]},
        make_scene(lists={"a": [tool("x"), tool_with_header("number")]}),
    ),
    (
        {"rule": "output-schema", "lists": ["tools"]},
        make_scene(
            {"id": 1, "result": {"content": []}},
            sent=[call("x")],
            lists={"tools": [tool("x", outputSchema={})]},
        ),
    ),
    (
        {"rule": "output-schema", "lists": ["tools"]},
        make_scene(
            {"id": 1, "result": {"content": [], "structuredContent": {}}},
            sent=[call("x")],
            lists={"tools": [tool("x", outputSchema={"required": ["n"]})]},
        ),
    ),
    (
        {"rule": "output-schema", "lists": ["tools"]},
        make_scene(
            {"id": 1, "result": {"content": [], "structuredContent": {"pair": ["a", 1]}}},
            sent=[call("x")],
            lists={"tools": [tool("x", outputSchema=PAIR_OF_DRAFT_7)]},
        ),
    ),
]


@pytest.mark.parametrize(
    ("step", "scene"), UNMET, ids=lambda value: str(value)[:60] if isinstance(value, dict) else ""
)
def test_breach_that_no_later_event_can_repair_is_final(step: dict[str, Any], scene: Scene) -> None:
    breach = judge(step, scene)
    assert isinstance(breach, Breach)
    assert not breach.may_come
    assert breach.expected
    assert breach.came


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
def test_missing_message_may_still_come(step: dict[str, Any]) -> None:
    breach = judge(step, make_scene(OK, ERROR))
    assert breach is not None
    assert breach.may_come


def test_breach_says_what_is_wrong_with_an_answer() -> None:
    breach = judge(
        {"answer": 1, "result": {"required": ["b"], "description": "it has a b"}}, make_scene(OK)
    )
    assert breach is not None
    assert breach.expected == "as the answer to 1 a result: it has a b"
    assert breach.came == '{"jsonrpc":"2.0","id":1,"result":{"a":1}} (result.b is missing)'


def test_breach_quotes_the_first_lines_of_noise() -> None:
    breach = judge({"quiet": True}, make_scene(*(b"line %d\n" % number for number in range(5))))
    assert breach is not None
    assert breach.came.startswith("noise on stdout: 'line 0' (no JSON")
    assert "'line 2'" in breach.came
    assert breach.came.endswith("and 2 more")


def test_output_of_a_flooding_server_is_ignored() -> None:
    conversation = CaseConversation()
    for _ in range(40):
        conversation.record_output(b"y\n" * 100_000)
    assert "not messages" in conversation.flood
    assert len(conversation.events) < 100_000


# --- any output of a server ---

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
def test_every_message_of_a_server_can_be_judged(messages: list[Any], tools: list[Any]) -> None:
    scene = make_scene(
        *messages, sent=[call("x")], lists=dict.fromkeys(("tools", "all", "first", "second"), tools)
    )
    for step in EXPECTATIONS:
        judge(step, scene)


def test_messages_nested_too_deeply_to_encode_are_judged() -> None:
    deep = b'{"jsonrpc":"2.0","id":' + b"[" * 500 + b"]" * 500 + b',"result":{}}\n'
    token = deep.replace(
        b'"id":', b'"method":"notifications/progress","params":{"progressToken":'
    ).replace(b',"result":{}', b',"progress":1}')
    for step in EXPECTATIONS:
        judge(step, make_scene(deep, token, sent=[call("x")], lists={"tools": []}))


def test_faults_of_a_schema_are_those_of_its_own_dialect() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "strin"}}, "required": "a"}
    listed = {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {"tools": [{"name": "t", "inputSchema": schema}]},
    }
    breach = judge(
        {"answer": 1, "result": {"$ref": "urn:toolwire:v1:tools-list-result"}}, make_scene(listed)
    )
    assert breach is not None
    assert "inputSchema.required" in breach.came
    assert "inputSchema.properties.a.type" in breach.came
    assert "$schema" not in breach.came


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
def test_notification_is_not_reported_in_place_of_a_response(
    step: dict[str, Any], came: str
) -> None:
    breach = judge(step, make_scene(NEWS))
    assert breach is not None
    assert breach.came == came
