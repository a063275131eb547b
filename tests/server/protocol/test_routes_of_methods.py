"""What `ServerProtocol` decides where no single call shows it: refusals under overload, frames that
are no message, changes of the catalog, elicitations, and what waits for mounted servers.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

import pytest
from support.server_process import MODERN, NoHost, answers, call, protocol_of, request
from toolwire.protocol.batch import Batch
from toolwire.protocol.call import (
    Call,
    Cancel,
    ElicitationReply,
    Origin,
    Request,
    Send,
)
from toolwire.protocol.catalog import ALL_CAPABILITIES, Catalog
from toolwire.protocol.elicitation import PendingElicitation
from toolwire.protocol.server_protocol import META_CALL_ID, ServerProtocol
from toolwire.protocol.unlisted_tools import CallableTools
from toolwire_schemas.wire.codec import decode
from toolwire_schemas.wire.messages import OVERLOADED, Fault
from toolwire_tools import ArgumentsError, Tool, find_tools, make_tool, prompt

FORM = {"type": "object", "properties": {"answer": {"type": "boolean"}}}
CAN_ASK = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
}


def add(a: int = 1) -> int:
    """Add nothing."""
    return a


def send(protocol: ServerProtocol, message: Any) -> Any:
    return protocol.receive(json.dumps(message).encode())


def sent_by(decisions: Any) -> list[Any]:
    """Return the messages of *decisions*, all of which send one."""
    messages = []
    for decision in decisions:
        assert isinstance(decision, Send)
        messages.append(decode(decision.message))
    return messages


def initialize(protocol: ServerProtocol, **capabilities: Any) -> dict[str, Any]:
    params = {"protocolVersion": "2025-11-25", "capabilities": capabilities}
    [answer] = answers(protocol, request("initialize", params))
    return answer["result"]  # type: ignore[no-any-return]


def modern(method: str, id: Any, **params: Any) -> dict[str, Any]:
    return request(method, {"_meta": CAN_ASK, **params}, id)


def is_overloaded(decisions: Any) -> bool:
    for decision in decisions:
        if not isinstance(decision, Send):
            continue
        error = decode(decision.message).get("error", {})
        if error.get("code") == OVERLOADED:
            return True
    return False


# Methods


def test_the_methods_of_both_eras_exist() -> None:
    assert sorted(protocol_of().methods) == [
        "$/cancelRequest",
        "completion/complete",
        "initialize",
        "logging/setLevel",
        "notifications/cancelled",
        "notifications/initialized",
        "ping",
        "prompts/get",
        "prompts/list",
        "resources/list",
        "resources/read",
        "resources/subscribe",
        "resources/templates/list",
        "resources/unsubscribe",
        "server/discover",
        "subscriptions/listen",
        "tasks/cancel",
        "tasks/get",
        "tasks/list",
        "tasks/result",
        "tasks/update",
        "tools/call",
        "tools/list",
    ]


@pytest.mark.parametrize("method", sorted(protocol_of().methods))
def test_under_overload_only_pings_and_ends_of_calls_are_served(method: str) -> None:
    protocol = protocol_of(add)
    is_served = method == "ping" or method.startswith(("notifications/", "$/"))
    id = ... if method.startswith(("notifications/", "$/")) else 1

    protocol.refuse_requests(True)
    refused = send(protocol, request(method, {"name": "add"}, id))
    protocol.refuse_requests(False)
    served = send(protocol, request(method, {"name": "add"}, id))

    assert is_overloaded(refused) is not is_served
    assert not is_overloaded(served)


def test_the_error_for_an_unknown_method_repeats_two_hundred_characters_of_it() -> None:
    [answer] = answers(protocol_of(), request("x" * 300))

    assert answer["error"]["message"] == f"Method not found: {'x' * 200}"


def test_the_log_level_of_a_legacy_client_is_set_and_confirmed() -> None:
    protocol = protocol_of(add)

    assert answers(protocol, request("logging/setLevel", {"level": "error"})) == [
        {"jsonrpc": "2.0", "id": 1, "result": {}}
    ]
    assert protocol._host.log_level is not None


# Frames that are no message


def test_bytes_out_of_frame_are_a_parse_error_and_a_message_too_long_has_its_id() -> None:
    protocol = protocol_of(add)
    too_long = Fault("the message is too long", too_large=True, head=b'{"id": 5, "x": "')

    [unframed] = sent_by(protocol.receive(Fault("no header")))
    [oversize] = sent_by(protocol.receive(too_long))

    assert (unframed["id"], unframed["error"]["code"]) == (None, -32700)
    assert (oversize["id"], oversize["error"]["code"]) == (5, -32600)


def test_a_fault_of_toolwire_in_the_slow_path_is_logged_and_answered(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def fail() -> NoReturn:
        raise ZeroDivisionError("by Toolwire")

    protocol = protocol_of(add)
    monkeypatch.setattr(protocol, "get_slow_path", fail)

    [answer] = sent_by(protocol.receive(b"[1]"))

    assert answer == {
        "jsonrpc": "2.0",
        "id": None,
        "error": {"code": -32603, "message": "Internal error"},
    }
    log = capfd.readouterr().err
    assert "a message could not be handled; please report this" in log
    assert "by Toolwire" in log


# Calls


@pytest.mark.parametrize("sent", ["c7", 7, True, 1.5, None, [7], {}])
def test_the_host_s_id_of_a_call_is_logged_if_it_is_a_text_or_an_integer(sent: Any) -> None:
    [started] = send(protocol_of(add), call("add", **{META_CALL_ID: sent}))

    is_id = type(sent) is str or type(sent) is int
    assert started.id_in_log == (sent if is_id else None)


def test_the_capabilities_of_a_legacy_client_go_with_its_calls() -> None:
    protocol = protocol_of(add)
    initialize(protocol, elicitation={"form": {}})

    [started] = send(protocol, call("add"))

    assert started.capabilities == {"elicitation": {"form": {}}}


def test_a_cancelled_call_is_given_up_and_counts_until_its_tool_has_returned() -> None:
    protocol = protocol_of(add)
    [started] = send(protocol, call("add", id=5))

    decisions = send(protocol, request("notifications/cancelled", {"requestId": 5}, ...))

    assert decisions == (Cancel(started),)
    assert started.given_up
    assert protocol.in_flight.list_running() == [started]


@pytest.mark.parametrize(
    ("method", "member", "expected"),
    [("notifications/cancelled", "requestId", []), ("$/cancelRequest", "id", [-32800])],
)
def test_a_cancelled_subscription_is_answered_only_in_the_way_of_editors(
    method: str, member: str, expected: list[int]
) -> None:
    protocol = protocol_of(add)
    listen = request(
        "subscriptions/listen", {"notifications": {"toolsListChanged": True}, "_meta": MODERN}, 5
    )
    send(protocol, listen)

    found = sent_by(send(protocol, request(method, {member: 5}, ...)))

    assert [(answer["id"], answer["error"]["code"]) for answer in found] == [
        (5, code) for code in expected
    ]
    assert protocol.end_subscriptions() == []


# The list within a batch


@pytest.mark.parametrize(("room", "is_sent"), [(0, True), (-1, False)])
def test_a_list_of_the_most_bytes_of_a_batch_is_sent_and_one_beyond_is_not(
    room: int, is_sent: bool
) -> None:
    [whole] = answers(protocol_of(add), request("tools/list"))
    page_bytes = len(json.dumps(whole["result"], separators=(",", ":")).encode())
    taken = 100
    protocol = protocol_of(add, max_result_bytes=page_bytes + taken + room)
    batch = Batch(2, lambda _: None)
    batch.size = taken

    def list_tools() -> Any:
        return protocol.handle_request(Request("2.0", "tools/list", 1), 10, batch)

    if is_sent:
        list_tools()
        assert batch.size > taken
        return
    with pytest.raises(Exception, match="responses of this batch take more than") as refused:
        list_tools()
    assert refused.value.code == OVERLOADED  # type: ignore[attr-defined]


# Changes of the catalog


def test_a_catalog_that_replaces_another_declares_what_it_has() -> None:
    @prompt
    def greet() -> str:
        """Greet."""
        return "Hello"

    protocol = protocol_of(add)
    before = initialize(protocol)["capabilities"]

    protocol.replace(Catalog(find_tools(greet)))

    assert "prompts" not in before
    assert "prompts" in initialize(protocol)["capabilities"]


def test_a_new_catalog_declares_what_it_has_or_all_lists_from_then_on() -> None:
    protocol = protocol_of(add)
    protocol.replace(Catalog(find_tools(add)))
    before = initialize(protocol)["capabilities"]

    protocol.declare(ALL_CAPABILITIES)
    declared = initialize(protocol)["capabilities"]
    protocol.replace(Catalog([]))
    after = initialize(protocol)["capabilities"]

    assert "resources" not in before
    assert {"tools", "resources", "prompts", "completions"} <= declared.keys()
    assert after.keys() == declared.keys()


@pytest.mark.parametrize("notifies", [True, False])
@pytest.mark.parametrize("has_initialized", [True, False])
def test_a_new_list_is_announced_only_to_a_client_that_has_initialized(
    notifies: bool, has_initialized: bool
) -> None:
    protocol = protocol_of(add)
    if has_initialized:
        initialize(protocol)

    news = protocol.replace(Catalog([]), notifies=notifies)

    expected = ["notifications/tools/list_changed"] if notifies and has_initialized else []
    assert [decode(one)["method"] for one in news] == expected


def test_subscriptions_are_answered_when_the_server_ends_them() -> None:
    protocol = protocol_of(add)
    for id in (1, "two"):
        wanted = {"notifications": {"toolsListChanged": True}, "_meta": MODERN}
        send(protocol, request("subscriptions/listen", wanted, id))

    ended = [decode(message) for message in protocol.end_subscriptions()]

    assert [answer["id"] for answer in ended] == [1, "two"]
    assert all(answer["result"]["resultType"] == "complete" for answer in ended)
    assert protocol.end_subscriptions() == []


# Elicitations


def ask(protocol: ServerProtocol, started: Call) -> tuple[PendingElicitation, Any, list[Any]]:
    """Ask the client for *started*: return the elicitation, its message and the replies."""
    replies: list[Any] = []
    params = {"message": "Sure?", "requestedSchema": FORM}
    pending = PendingElicitation(started, params, replies.append)
    message = protocol.get_elicitations().request(pending)
    assert message is not None
    return pending, decode(message), replies


def test_only_the_response_to_an_open_elicitation_is_a_reply() -> None:
    protocol = protocol_of(add)
    initialize(protocol, elicitation={})
    [started] = send(protocol, call("add", id=5))
    result = {"action": "accept", "content": {"answer": True}}
    assert send(protocol, {"jsonrpc": "2.0", "id": "unknown", "result": result}) == ()
    pending, asked, _ = ask(protocol, started)

    unknown = send(protocol, {"jsonrpc": "2.0", "id": "unknown", "result": result})
    reply = send(protocol, {"jsonrpc": "2.0", "id": asked["id"], "result": result})
    again = send(protocol, {"jsonrpc": "2.0", "id": asked["id"], "result": result})

    assert unknown == again == ()
    assert reply == (ElicitationReply(pending.wake, result, pending.call),)


def test_a_modern_call_that_is_repeated_with_a_reply_continues_under_the_new_id() -> None:
    protocol = protocol_of(add)
    [started] = send(protocol, modern("tools/call", 1, name="add"))
    pending, asked, _ = ask(protocol, started)
    key = asked["result"]["requestState"]
    reply = {"action": "accept", "content": {"answer": True}}

    [without] = sent_by(send(protocol, modern("tools/call", 2, name="add", requestState=key)))
    key = without["result"]["requestState"]
    answered = modern(
        "tools/call", 3, name="add", requestState=key, inputResponses={"answer": reply}
    )
    continued = send(protocol, answered)

    assert without["id"] == 2
    assert without["result"]["resultType"] == "input_required"
    assert continued == (ElicitationReply(pending.wake, reply, pending.call),)
    assert protocol.in_flight.get(3) is started


def test_a_repeated_call_without_id_and_reply_is_not_answered() -> None:
    protocol = protocol_of(add)
    [started] = send(protocol, modern("tools/call", 1, name="add"))
    _, asked, _ = ask(protocol, started)
    key = asked["result"]["requestState"]

    assert send(protocol, modern("tools/call", ..., name="add", requestState=key)) == ()


def test_the_elicitations_of_a_protocol_are_one_object() -> None:
    protocol = protocol_of(add)

    assert protocol.get_elicitations() is protocol.get_elicitations()


# What waits for mounted servers, and calls through a search


class LateLists:
    """Answers when the lists are complete, which those of the methods in *listed* are."""

    def __init__(self, *listed: str) -> None:
        self._listed = listed

        def wait(method: str, params: dict[str, Any]) -> str:
            return method

        tool = make_tool(wait)
        self.entry, self.handler = tool.entry, tool.handler

    def has_listed(self, method: str, params: dict[str, Any], host: Any) -> bool:
        return method in self._listed

    def select_news(self, host: Any, changed: list[str]) -> list[str]:
        return changed


class Doorway:
    """The tool `call_tool`, whose argument `name` is the tool to call."""

    def __init__(self) -> None:
        def call_tool(name: str) -> str:
            """Call the tool *name*."""
            return name

        self.tool = make_tool(call_tool)
        self.name = self.tool.name

    def explain_unknown(self, name: str) -> str:
        return f"no {name}"

    def open(self, arguments: Any, catalog: CallableTools) -> dict[str, Any] | None:
        if arguments.get("name") not in catalog.by_name:
            return None
        return {"name": arguments["name"], "arguments": {}}


def protocol_with(tools: list[Tool], **catalog: Any) -> ServerProtocol:
    protocol = protocol_of()
    protocol.replace(Catalog(tools, **catalog))
    return protocol


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/list", {}),
        ("tools/list", {"cursor": "beyond"}),
        ("tools/call", {"name": "unknown"}),
        ("prompts/get", {"name": "unknown"}),
        ("resources/read", {"uri": "file:///unknown"}),
    ],
)
def test_a_list_and_what_has_an_unknown_name_wait_for_mounted_servers(
    method: str, params: Any
) -> None:
    late = LateLists()
    protocol = protocol_with(find_tools(add), late=late)
    protocol.declare(ALL_CAPABILITIES)

    [started] = send(protocol, request(method, params))

    assert (started.entry, started.handler) == (late.entry, late.handler)
    assert started.arguments == {"method": method, "params": params}
    assert protocol.in_flight.get(1) is started


def test_a_list_that_is_complete_is_answered_at_once() -> None:
    protocol = protocol_with(find_tools(add), late=LateLists("tools/list"))

    [answer] = sent_by(send(protocol, request("tools/list")))

    assert [tool["name"] for tool in answer["result"]["tools"]] == ["add"]


def test_a_tool_of_this_server_does_not_wait_for_mounted_servers() -> None:
    late = LateLists()
    protocol = protocol_with(find_tools(add), late=late)

    [started] = send(protocol, call("add"))

    assert started.entry.name == "add"


def test_a_call_of_call_tool_is_a_call_of_the_tool_that_it_names() -> None:
    door = Doorway()
    protocol = protocol_with([door.tool], hidden=find_tools(add), door=door)

    [meant] = send(protocol, call("call_tool", {"name": "add"}, id=1))
    [direct] = send(protocol, call("add", id=2))
    [refused] = send(protocol, call("call_tool", {"tool": "add"}, id=3))
    [unknown] = send(protocol, call("call_tool", {"name": "subtract"}, id=4))

    assert meant.entry is direct.entry
    assert refused.entry is door.tool.entry
    with pytest.raises(ArgumentsError):
        refused.handler.call(refused.arguments, refused, strict_arguments=False)
    assert unknown.entry is door.tool.entry


def test_an_unknown_tool_is_not_taken_for_call_tool() -> None:
    door = Doorway()
    protocol = protocol_with([door.tool], hidden=find_tools(add), door=door)

    [unknown] = sent_by(send(protocol, call("unknown", {"name": "add"})))

    assert unknown["error"]["code"] == -32602


def test_a_call_without_an_id_has_no_id() -> None:
    [started] = send(protocol_of(add), call("add", id=...))

    assert started.id is None
    assert started.origin == Origin(started.origin.size, None, False)
    assert isinstance(started.host, NoHost)
