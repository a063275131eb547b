"""Tools that ask the user, in both eras: one tool, one code path, run once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.server_process import MODERN, Process, call, protocol_of, request, served
from toolwire.protocol.elicitation import PendingElicitation, to_older_form
from toolwire_schemas.wire.codec import decode
from toolwire_tools import Cancelled

pytestmark = pytest.mark.process

TOOLS = '''
import anyio
from dataclasses import dataclass
from enum import Enum
from typing import Any
from toolwire import AsyncContext, Context, ToolError
from toolwire_tools import Declined, Dismissed

runs = []

def order(what: str, context: Context) -> str:
    """Order something, if the user wants it."""
    runs.append(what)
    try:
        count = context.ask(f"How many {what}?", int)
    except Declined:
        return "declined"
    except Dismissed:
        return "dismissed"
    return f"{count} {what}, run {runs.count(what)}"

async def order_async(what: str, context: AsyncContext) -> str:
    """Order something, if the user wants it."""
    runs.append(what)
    try:
        count = await context.ask(f"How many {what}?", int)
    except Declined:
        return "declined"
    except Dismissed:
        return "dismissed"
    return f"{count} {what}, run {runs.count(what)}"

def twice(context: Context) -> bool:
    """Ask two questions, and report between them."""
    first = context.ask("First?")
    context.progress(1, 2, "half way")
    return first and context.ask("Second?")

def careful(context: Context) -> bool:
    """Ask, or assume the worst."""
    return context.ask("Sure?", default=False)

def change(items: list[int], context: Context) -> int:
    """Change its own arguments before it asks."""
    items.clear()
    return context.ask("How many?", int)

async def hang() -> None:
    """Never end."""
    await anyio.sleep_forever()

went_on = anyio.Event()

async def impatient(times: int, context: AsyncContext) -> str:
    """Ask, but not for long."""
    try:
        for _ in range(times):
            with anyio.move_on_after(0.01):
                await context.ask("Quick?")
            context.progress(1)
    finally:
        went_on.set()
    return "nobody was quick"

async def has_gone_on() -> bool:
    """Tell whether the impatient tool has gone on."""
    await went_on.wait()
    return True

class Size(Enum):
    SMALL = 1
    VERY_LARGE = 2

    __repr__ = Enum.__str__

def choose(context: Context, several: bool = False) -> str:
    """Ask the user to choose."""
    return str(context.ask("Which?", list[Size] if several else Size))

def take(anything: Any, context: Context) -> bool:
    """Take anything."""
    return context.ask("Sure?")
'''

FORM = {
    "type": "object",
    "properties": {"answer": {"type": "integer", "title": "Answer"}},
    "required": ["answer"],
}
ASKING = {**MODERN, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}}


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    with served(tmp_path, TOOLS) as process:
        yield process


def greet(process: Process, version: str = "2025-11-25", capabilities: Any = None) -> None:
    params = {
        "protocolVersion": version,
        "capabilities": {"elicitation": {}} if capabilities is None else capabilities,
    }
    assert "result" in process.ask(request("initialize", params, id=0))


def modern(name: str, arguments: Any, id: Any, **more: Any) -> dict[str, Any]:
    return request(
        "tools/call", {"name": name, "arguments": arguments, "_meta": ASKING, **more}, id
    )


def text_of(answer: Any) -> str:
    return str(answer["result"]["content"][0]["text"])


def accept(content: Any) -> dict[str, Any]:
    return {"action": "accept", "content": content}


REPLIES = [
    (accept({"answer": 3}), "3 tea, run 1"),
    ({"action": "decline"}, "declined"),
    ({"action": "cancel"}, "dismissed"),
    (accept({"answer": "many"}), "The answer is invalid"),
]


@pytest.mark.parametrize("name", ["order", "order_async"])
@pytest.mark.parametrize(("reply", "text"), REPLIES)
def test_a_legacy_client_is_sent_a_request_and_answers_it(
    process: Process, name: str, reply: Any, text: str
) -> None:
    greet(process)

    asked = process.ask(call(name, {"what": "tea"}, id=1))
    params = {"mode": "form", "message": "How many tea?", "requestedSchema": FORM}
    assert (asked["method"], asked["params"]) == ("elicitation/create", params)
    answer = process.ask({"jsonrpc": "2.0", "id": asked["id"], "result": reply})

    assert answer["id"] == 1
    assert text_of(answer).startswith(text)


@pytest.mark.parametrize("name", ["order", "order_async"])
@pytest.mark.parametrize(("reply", "text"), REPLIES)
def test_a_modern_client_is_answered_with_a_question_and_calls_again(
    process: Process, name: str, reply: Any, text: str
) -> None:
    asked = process.ask(modern(name, {"what": "tea"}, 1))["result"]
    params = {"mode": "form", "message": "How many tea?", "requestedSchema": FORM}
    assert asked["resultType"] == "input_required"
    assert asked["inputRequests"] == {"answer": {"method": "elicitation/create", "params": params}}

    again = modern(
        name,
        {"what": "tea"},
        2,
        inputResponses={"answer": reply},
        requestState=asked["requestState"],
    )
    answer = process.ask(again)

    assert answer["id"] == 2
    assert answer["result"]["resultType"] == "complete"
    assert text_of(answer).startswith(text)


def test_older_clients_do_not_get_the_mode(process: Process) -> None:
    greet(process, "2025-06-18")

    asked = process.ask(call("order", {"what": "tea"}, id=1))

    assert asked["params"].keys() == {"message", "requestedSchema"}


@pytest.mark.parametrize(
    ("version", "field"),
    [
        (
            "2025-11-25",
            {"oneOf": [{"const": "1", "title": "Small"}, {"const": "2", "title": "Very large"}]},
        ),
        ("2025-06-18", {"enum": ["1", "2"], "enumNames": ["Small", "Very large"]}),
    ],
)
def test_a_choice_has_names_in_the_form_that_the_client_knows(
    process: Process, version: str, field: Any
) -> None:
    greet(process, version)

    asked = process.ask(call("choose", id=1))
    form = asked["params"]["requestedSchema"]["properties"]["answer"]
    chosen = {
        "jsonrpc": "2.0",
        "id": asked["id"],
        "result": {"action": "accept", "content": {"answer": "2"}},
    }

    assert form == {
        "type": "string",
        "title": "Answer",
        "description": "1 = SMALL, 2 = VERY_LARGE.",
        **field,
    }
    assert process.ask(chosen)["result"]["content"][0]["text"] == "Size.VERY_LARGE"


@pytest.mark.parametrize(
    ("field", "older"),
    [
        (True, True),
        ({"oneOf": [{"const": "1"}]}, {"enum": ["1"], "enumNames": ["1"]}),
        ({"oneOf": [{"type": "string"}, {"type": "null"}]},) * 2,
    ],
)
def test_any_field_of_a_mounted_server_reaches_an_older_client(field: Any, older: Any) -> None:
    params = {"message": "Which?", "requestedSchema": {"properties": {"a": field}}}
    expected = {"message": "Which?", "requestedSchema": {"properties": {"a": older}}}
    assert to_older_form(params, "2025-06-18") == expected
    assert to_older_form(params, "2025-11-25") is params


@pytest.mark.parametrize("form", [{}, {"properties": None}, None])
def test_a_form_without_fields_stays_as_it_is(form: Any) -> None:
    params = {"message": "Which?", "requestedSchema": form}
    assert to_older_form(params, "2025-06-18") == params


def test_several_choices_at_once_are_for_clients_that_can_show_them(process: Process) -> None:
    greet(process, "2025-06-18")
    refused = process.ask(call("choose", {"several": True}, id=1))
    assert refused["result"]["isError"] is True
    assert "since MCP 2025-11-25" in refused["result"]["content"][0]["text"]

    greet(process, "2025-11-25")
    asked = process.ask(call("choose", {"several": True}, id=2))
    chosen = {
        "jsonrpc": "2.0",
        "id": asked["id"],
        "result": {"action": "accept", "content": {"answer": ["1", "2"]}},
    }
    assert process.ask(chosen)["result"]["content"][0]["text"] == "[Size.SMALL, Size.VERY_LARGE]"


def test_a_client_that_refuses_to_ask_makes_the_tool_fail(process: Process) -> None:
    greet(process)
    asked = process.ask(call("order", {"what": "tea"}, id=1))

    error = {"code": -32601, "message": "no such method"}
    answer = process.ask({"jsonrpc": "2.0", "id": asked["id"], "error": error})

    assert answer["result"]["isError"] is True
    assert "no such method" in text_of(answer)


@pytest.mark.parametrize("capabilities", [{}, {"elicitation": {"url": {}}}, {"elicitation": None}])
def test_a_client_that_cannot_ask_gets_the_default_or_a_clear_error(
    process: Process, capabilities: Any
) -> None:
    greet(process, capabilities=capabilities)

    without = process.ask(call("order", {"what": "tea"}, id=1))
    default = process.ask(call("careful", id=2))

    assert without["result"]["isError"] is True
    assert "does not support elicitation" in text_of(without)
    assert default["result"]["structuredContent"] == {"result": False}


def test_a_plain_host_cannot_ask(process: Process) -> None:
    assert "does not support elicitation" in text_of(
        process.ask(call("order_async", {"what": "tea"}))
    )


def test_several_questions_each_take_a_round_and_progress_goes_to_the_call_under_way(
    process: Process,
) -> None:
    first = process.ask(modern("twice", {}, 1))["result"]
    again = modern(
        "twice",
        {},
        2,
        inputResponses={"answer": accept({"answer": True})},
        requestState=first["requestState"],
    )
    again["params"]["_meta"] = {**ASKING, "progressToken": "second"}
    progress = process.ask(again)
    second = process.receive()["result"]

    assert progress["params"] == {
        "progressToken": "second",
        "progress": 1,
        "total": 2,
        "message": "half way",
    }
    assert second["requestState"] != first["requestState"]
    last = modern(
        "twice",
        {},
        3,
        inputResponses={"answer": accept({"answer": True})},
        requestState=second["requestState"],
    )
    assert process.ask(last)["result"]["structuredContent"] == {"result": True}


class TestKeys:
    """The key of a parked call: used once, bound to tool and arguments, not to be guessed."""

    def park(self, process: Process) -> str:
        return str(process.ask(modern("order", {"what": "tea"}, 1))["result"]["requestState"])

    def answered(
        self, key: Any, id: Any = 2, name: str = "order", **arguments: Any
    ) -> dict[str, Any]:
        reply = {"answer": accept({"answer": 1})}
        return modern(
            name, arguments or {"what": "tea"}, id, inputResponses=reply, requestState=key
        )

    def test_it_is_used_once(self, process: Process) -> None:
        key = self.park(process)

        assert "result" in process.ask(self.answered(key))
        assert process.ask(self.answered(key, id=3))["error"]["code"] == -32602

    @pytest.mark.parametrize("key", ["", "made up", 5, None])
    def test_a_foreign_one_is_a_clear_error(self, process: Process, key: Any) -> None:
        self.park(process)

        error = process.ask(self.answered(key))["error"]

        assert error["code"] == -32602
        assert "requestState" in error["message"]

    def test_another_call_cannot_use_it_and_its_own_still_can(self, process: Process) -> None:
        key = self.park(process)

        assert process.ask(self.answered(key, what="coffee"))["error"]["code"] == -32602
        assert process.ask(self.answered(key, name="order_async"))["error"]["code"] == -32602
        assert text_of(process.ask(self.answered(key))) == "1 tea, run 1"

    def test_without_an_answer_it_is_asked_again(self, process: Process) -> None:
        key = self.park(process)

        again = process.ask(modern("order", {"what": "tea"}, 2, requestState=key))["result"]

        assert again["resultType"] == "input_required"
        assert again["requestState"] != key
        assert text_of(process.ask(self.answered(again["requestState"], id=3))) == "1 tea, run 1"

    def test_without_an_answer_a_client_that_cannot_ask_is_refused_and_the_call_goes_on_waiting(
        self, process: Process
    ) -> None:
        key = self.park(process)
        refused = {
            "name": "order",
            "arguments": {"what": "tea"},
            "_meta": MODERN,
            "requestState": key,
        }

        error = process.ask(request("tools/call", refused, 2))["error"]

        assert error["code"] == -32602
        assert "inputResponses" in error["message"]
        assert text_of(process.ask(self.answered(key))) == "1 tea, run 1"
        assert process.hang_up() == []
        assert process.stderr() == ""

    def test_without_an_answer_an_id_in_use_is_refused_and_the_key_stays(
        self, process: Process
    ) -> None:
        key = self.park(process)
        process.send(modern("hang", {}, 2))

        error = process.ask(modern("order", {"what": "tea"}, 2, requestState=key))["error"]

        assert error["code"] == -32600
        assert text_of(process.ask(self.answered(key, id=3))) == "1 tea, run 1"

    def test_in_a_batch_it_is_asked_again_too(self, process: Process) -> None:
        key = self.park(process)

        [again] = process.ask([modern("order", {"what": "tea"}, 2, requestState=key)])

        assert again["result"]["resultType"] == "input_required"

    def test_a_tool_that_changes_its_arguments_is_found_again(self, process: Process) -> None:
        key = process.ask(modern("change", {"items": [1, 2]}, 1))["result"]["requestState"]

        answer = process.ask(self.answered(key, name="change", items=[1, 2]))

        assert answer["result"]["structuredContent"] == {"result": 1}


@pytest.mark.parametrize("times", [1, 2])
def test_a_modern_call_whose_tool_stops_waiting_by_itself_is_answered_only_by_its_question(
    process: Process, times: int
) -> None:
    called = modern("impatient", {"times": times}, 1)
    called["params"]["_meta"] = {**ASKING, "progressToken": "t"}
    asked = process.ask(called)["result"]
    assert asked["resultType"] == "input_required"

    assert process.ask(modern("has_gone_on", {}, 2))["id"] == 2
    again = modern("impatient", {"times": times}, 3, requestState=asked["requestState"])
    again["params"]["inputResponses"] = {"answer": accept({"answer": True})}
    assert process.ask(again)["error"]["code"] == -32602

    assert process.hang_up() == []
    assert process.stderr() == ""


def test_a_parked_call_that_ends_is_not_answered_and_cannot_be_resumed_or_parked_again() -> None:
    """A thread of the tool's may ask while the tool itself returns; then no request waits for what
    it returns.
    """

    def tool() -> None: ...

    def send(message: Any) -> Any:
        return protocol.receive(json.dumps(message).encode())

    protocol = protocol_of(tool)
    [started] = send(modern("tool", {}, 1))
    woken: list[Any] = []
    asked = PendingElicitation(started, {"message": "Sure?", "requestedSchema": FORM}, woken.append)
    question = protocol.get_elicitations().request(asked)
    assert question is not None
    key = decode(question)["result"]["requestState"]

    assert protocol.in_flight.finish(started, {"content": []}) is None

    assert [type(reply) for reply in woken] == [Cancelled]
    again = modern(
        "tool", {}, 2, requestState=key, inputResponses={"answer": accept({"answer": 1})}
    )
    [refused] = send(again)
    assert decode(refused.message)["error"]["code"] == -32602
    with pytest.raises(Cancelled):
        protocol.get_elicitations().request(asked)


def test_a_legacy_call_whose_tool_stops_waiting_by_itself_is_answered_by_the_tool(
    process: Process,
) -> None:
    greet(process)

    process.send(call("impatient", {"times": 2}, id=1))
    received = [process.receive() for _ in range(5)]

    asked = [m["id"] for m in received if m.get("method") == "elicitation/create"]
    told = [
        message["params"]["requestId"]
        for message in received
        if message.get("method") == "notifications/cancelled"
    ]
    assert asked == told
    assert text_of(received[-1]) == "nobody was quick"


def test_arguments_nested_deeper_than_answers_may_be_can_belong_to_a_call_that_asks(
    process: Process,
) -> None:
    deep: Any = 1
    for _ in range(500):
        deep = [deep]
    asked = process.ask(modern("take", {"anything": deep}, 1))["result"]

    again = modern("take", {"anything": deep}, 2, requestState=asked["requestState"])
    again["params"]["inputResponses"] = {"answer": accept({"answer": True})}

    assert process.ask(again)["result"]["structuredContent"] == {"result": True}


@pytest.mark.parametrize("name", ["order", "order_async"])
def test_waiting_counts_towards_neither_the_time_limit_nor_the_workers(
    tmp_path: Path, name: str
) -> None:
    with served(tmp_path, TOOLS, "--timeout", "0.1", "--limit", "max_workers=1") as process:
        greet(process)
        asked = [process.ask(call(name, {"what": "tea"}, id=number)) for number in range(3)]
        # A call that is begun later and runs out of time: theirs would have passed by then.
        assert "within 0.1 seconds" in text_of(process.ask(call("hang", id="late")))
        for question in asked:
            answer = process.ask(
                {"jsonrpc": "2.0", "id": question["id"], "result": accept({"answer": 2})}
            )
            assert text_of(answer).startswith("2 tea")


@pytest.mark.parametrize("name", ["order", "order_async"])
def test_a_call_that_waits_can_be_cancelled(process: Process, name: str) -> None:
    greet(process)
    asked = process.ask(call(name, {"what": "tea"}, id=1))

    process.send(request("notifications/cancelled", {"requestId": 1}, id=...))
    told = process.receive()
    process.send({"jsonrpc": "2.0", "id": asked["id"], "result": accept({"answer": 3})})

    assert (told["method"], told["params"]) == (
        "notifications/cancelled",
        {"requestId": asked["id"]},
    )
    assert process.ask(request("ping", id=2))["id"] == 2
    assert process.hang_up() == []


@pytest.mark.parametrize("name", ["order", "order_async"])
def test_waiting_ends_when_the_client_goes(process: Process, name: str) -> None:
    greet(process)
    process.ask(call(name, {"what": "tea"}, id=1))

    [answer] = process.hang_up()

    assert answer["result"]["isError"] is True
    assert process.wait() == 0


@pytest.mark.parametrize("name", ["order", "order_async"])
def test_a_parked_call_does_not_keep_the_process(process: Process, name: str) -> None:
    process.ask(modern(name, {"what": "tea"}, 1))

    assert process.hang_up() == []
    assert process.wait() == 0
    assert process.stderr() == ""


def test_a_question_is_part_of_the_batch_its_call_came_in(process: Process) -> None:
    batch = [modern("order", {"what": "tea"}, 1), request("tools/list", {"_meta": MODERN}, id=2)]

    types = {answer["id"]: answer["result"]["resultType"] for answer in process.ask(batch)}

    assert types == {1: "input_required", 2: "complete"}
