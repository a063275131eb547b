"""What each message leads to, decided without threads or I/O."""

from __future__ import annotations

import datetime as dt
import json
import math
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import Any

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.server_process import MODERN, answers, call, protocol_of, request
from toolwire import Server, ToolError
from toolwire.protocol.call import Call, Cancel, Send
from toolwire.protocol.server_protocol import ServerProtocol
from toolwire.runtime.heartbeat import make_heartbeat
from toolwire_schemas.wire.codec import decode
from toolwire_tools import Text, make_tool, tool_api


class Notes:
    """Some notes."""

    @tool_api
    def read(self, path: str) -> str:
        """Read a note."""
        return f"contents of {path}"


def add(a: int, b: int) -> int:
    """Add two whole numbers."""
    return a + b


def fail() -> str:
    raise ToolError("no such customer")


def crash() -> str:
    raise ZeroDivisionError("by the tool")


def error_of(answer: Any) -> tuple[Any, int]:
    return answer["id"], answer["error"]["code"]


def result_text(answer: Any) -> str:
    return str(answer["result"]["content"][0]["text"])


SUM = {
    "content": [{"type": "text", "text": "3"}],
    "structuredContent": {"result": 3},
    "isError": False,
}


def test_a_plain_host_needs_no_handshake() -> None:
    protocol = protocol_of(add)

    assert answers(protocol, call("add", {"a": 1, "b": 2})) == [
        {"jsonrpc": "2.0", "id": 1, "result": SUM}
    ]


@pytest.mark.parametrize("id", [0, -1, 2**63, 10**30, "", "a", "é\u2028", "0"])
def test_ids_come_back_exactly_as_sent(id: Any) -> None:
    [answer] = answers(protocol_of(add), request("ping", id=id))

    assert answer == {"jsonrpc": "2.0", "id": id, "result": {}}
    assert type(answer["id"]) is type(id)


@pytest.mark.parametrize("params", [{"a": 1, "b": 2}, [1, 2], None])
def test_the_name_of_a_tool_as_a_method_is_an_error_that_says_how_to_call_it(params: Any) -> None:
    [answer] = answers(protocol_of(add), request("add", params))

    assert error_of(answer) == (1, -32601)
    assert answer["error"]["message"] == (
        'Method not found: add; it is a tool: the method is tools/call, with params {"name": "add"}'
    )


def test_a_message_on_several_lines_is_an_error_that_says_so() -> None:
    [answer] = answers(protocol_of(add), b'{"jsonrpc": "2.0", "id": 7,')

    assert error_of(answer) == (7, -32700)
    assert "a message is one line" in answer["error"]["message"]


@pytest.mark.parametrize("id", [None, 1.5, 1.0, True, [], {}])
def test_other_ids_are_refused(id: Any) -> None:
    assert [error_of(answer) for answer in answers(protocol_of(), request("ping", id=id))] == [
        (None, -32600)
    ]


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({"method": "ping", "id": 1}, -32600),
        ({"jsonrpc": "1.0", "method": "ping", "id": 1}, -32600),
        ({"jsonrpc": 2.0, "method": "ping", "id": 1}, -32600),
        ({"jsonrpc": "2.0", "method": 5, "id": 1}, -32600),
        ({"jsonrpc": "2.0", "id": 1}, -32600),
        ({"jsonrpc": "2.0", "method": "ping", "params": "text", "id": 1}, -32600),
        (request("no/such/method"), -32601),
        (request("tools/call", ["add"]), -32602),
        (request("tools/call", {}), -32602),
        (request("tools/call", {"name": 5}), -32602),
        (request("tools/call", {"name": "add", "arguments": [1, 2]}), -32602),
        (request("tools/call", {"name": "ad"}), -32602),
        (request("tools/list", {"cursor": 5}), -32602),
        (request("tools/list", {"cursor": "beyond"}), -32602),
        (request("notifications/initialized"), -32601),
        (request("$/cancelRequest", {"id": 5}), -32601),
        (request("initialize", {"protocolVersion": 5}), -32602),
    ],
)
def test_a_broken_request_gets_an_error_with_its_id(message: Any, code: int) -> None:
    protocol = protocol_of(add)

    assert [error_of(answer) for answer in answers(protocol, message)] == [(1, code)]
    assert answers(protocol, request("ping", id=2)) == [{"jsonrpc": "2.0", "id": 2, "result": {}}]


@pytest.mark.parametrize("message", [5, "text", None, True, 1.5, []])
def test_what_is_no_object_is_an_invalid_request(message: Any) -> None:
    assert [error_of(answer) for answer in answers(protocol_of(), message)] == [(None, -32600)]


@pytest.mark.parametrize(
    ("text", "id"),
    [
        (b"{", None),
        (b"\xff", None),
        (b"\x00", None),
        (b'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"a":NaN}}', 7),
        (b'{"jsonrpc":"2.0","id":"x","method":"tools/call","params":{"a":"\\ud800"}}', "x"),
        (b'{"method":"tools/call","params":{"a":1e999},"jsonrpc":"2.0","id":8}', 8),
        (b'{"params":{"id":7},"method":"tools/call","x":NaN}', None),
        (b'{"jsonrpc":"2.0","id":1.5,"x":NaN}', None),
        (b'{"jsonrpc":"2.0","id":9,' + b'"params":' + b"[" * 100_000 + b"]" * 100_000 + b"}", 9),
    ],
)
def test_text_that_is_no_json_is_a_parse_error_with_the_id_if_it_is_certain(
    text: bytes, id: Any
) -> None:
    assert [error_of(answer) for answer in answers(protocol_of(), text)] == [(id, -32700)]


def test_positional_params_are_an_error_that_names_the_members() -> None:
    [answer] = answers(protocol_of(add), request("tools/call", ["add", {"a": 1}]))

    assert "name, arguments and _meta" in answer["error"]["message"]


def test_null_params_and_extra_members_are_accepted() -> None:
    sent = {**request("tools/list"), "params": None, "trace": "abc"}

    [answer] = answers(protocol_of(add), sent)

    assert answer["result"]["tools"][0]["name"] == "add"


@pytest.mark.parametrize(
    "message",
    [
        {"jsonrpc": "2.0", "id": 5, "result": {}},
        {"jsonrpc": "2.0", "id": 5, "error": {"code": 1, "message": "no"}},
        request("ping", id=...),
        request("no/such/method", id=...),
        request("tools/call", {"name": "ad"}, id=...),
        request("tools/call", ["positional"], id=...),
        request("notifications/initialized", id=...),
        request("notifications/cancelled", {"requestId": 99}, id=...),
        request("notifications/cancelled", {"requestId": [1]}, id=...),
        request("$/cancelRequest", {}, id=...),
        request("notifications/roots/list_changed", id=...),
    ],
)
def test_responses_and_notifications_are_never_answered(message: Any) -> None:
    assert answers(protocol_of(add), message) == []


def test_a_call_sent_as_a_notification_runs_and_is_not_answered() -> None:
    seen = []

    def note(text: str) -> None:
        seen.append(text)

    assert answers(protocol_of(note), call("note", {"text": "hello"}, id=...)) == []
    assert seen == ["hello"]


def test_a_tool_that_fails_is_an_answer_and_its_error_arrives_word_for_word() -> None:
    [answer] = answers(protocol_of(fail), call("fail"))

    assert answer["result"] == {
        "content": [{"type": "text", "text": "no such customer"}],
        "isError": True,
    }


def test_an_unexpected_exception_is_reported_with_its_type_unless_masked(
    capfd: pytest.CaptureFixture[str],
) -> None:
    [told] = answers(protocol_of(crash), call("crash"))
    [masked] = answers(protocol_of(crash, mask_errors=True), call("crash"))

    assert result_text(told) == "ZeroDivisionError: by the tool"
    assert "by the tool" not in json.dumps(masked)
    assert masked["result"]["isError"] is True
    assert capfd.readouterr().err.count("Traceback") == 2


@dataclass
class Checked:
    """Refuses everything, as do a model's validator and a subclass of str."""

    a: int

    def __post_init__(self) -> None:
        raise ValueError("secret")


class Word(str):
    def __new__(cls, text: str) -> Word:
        raise ValueError("secret")


class Model(pydantic.BaseModel):
    a: int

    @pydantic.field_validator("a")
    @classmethod
    def _check(cls, value: int) -> int:
        raise ValueError("secret")


def takes_checked(value: list[Checked]) -> None:
    """Takes a dataclass."""


def takes_word(value: list[Word]) -> None:
    """Takes a subclass of str."""


def takes_model(value: list[Model]) -> None:
    """Takes a model."""


@pytest.mark.parametrize(
    ("tool", "value", "place"),
    [
        (takes_checked, {"a": 1}, "arguments.value[0]"),
        (takes_word, "a", "arguments.value[0]"),
        (takes_model, {"a": 1}, "arguments.value[0].a"),
    ],
)
def test_what_the_authors_own_check_of_an_argument_says_is_masked_too(
    capfd: pytest.CaptureFixture[str], tool: Any, value: Any, place: str
) -> None:
    [told] = answers(protocol_of(tool), call(tool.__name__, {"value": [value]}))
    [masked] = answers(protocol_of(tool, mask_errors=True), call(tool.__name__, {"value": [value]}))

    assert "secret" in result_text(told)
    assert result_text(masked) == f"{place}: the tool refuses this value"
    assert "secret" in capfd.readouterr().err


def test_what_a_type_of_pythons_says_of_an_argument_is_not_masked() -> None:
    def at(when: dt.time, model: Model) -> None:
        """Takes a time."""

    [masked] = answers(
        protocol_of(at, mask_errors=True), call("at", {"when": "25:00:00Z", "model": {"a": "x"}})
    )

    assert '"25:00:00Z"' in result_text(masked)
    assert '"x" is not an integer' in result_text(masked)


def test_half_a_character_in_a_result_is_replaced_and_the_log_says_where(
    capfd: pytest.CaptureFixture[str],
) -> None:
    def halves(blocks: bool) -> Any:
        return [Text("a"), {"b": "x\ud800"}] if blocks else {"b": ["x\ud800"]}

    [structured, mixed] = answers(
        protocol_of(halves),
        call("halves", {"blocks": False}, id=1),
        call("halves", {"blocks": True}, id=2),
    )

    assert structured["result"]["structuredContent"] == {"b": ["x\ufffd"]}
    assert mixed["result"]["content"][1]["text"] == '{"b":"x\ufffd"}'
    said = "halves returned a lone surrogate (half a character), replaced by U+FFFD: result."
    log = capfd.readouterr().err
    assert f"{said}structuredContent.b[0] (id=1)" in log
    assert f"{said}content[1].text (id=2)" in log


def test_an_integer_too_long_for_json_is_an_error_that_names_the_limit() -> None:
    def power(exponent: int) -> int:
        return 10**exponent

    [exact, refused] = answers(
        protocol_of(power), call("power", {"exponent": 4299}), call("power", {"exponent": 4300})
    )

    assert exact["result"]["structuredContent"] == {"result": 10**4299}
    assert "has more than 4,300 digits, the limit for integers; send it as text" in result_text(
        refused
    )


def test_bad_arguments_are_an_answer_so_that_a_model_can_try_again() -> None:
    [answer] = answers(protocol_of(add), call("add", {"a": "x", "c": 1}))

    assert answer["result"]["isError"] is True
    assert '"x" is not an integer' in result_text(answer)


def test_an_unknown_tool_is_an_error_with_the_closest_names() -> None:
    [answer] = answers(protocol_of(add), call("addd"))

    assert answer["error"] == {"code": -32602, "message": "Unknown tool: addd; did you mean add?"}


def test_a_result_with_no_json_form_becomes_an_error_answer() -> None:
    def ratio() -> Any:
        return {"share": math.nan}

    [answer] = answers(protocol_of(ratio), call("ratio"))

    assert answer["result"]["isError"] is True
    assert "share" in result_text(answer)


def test_a_result_beyond_the_limit_becomes_an_error_answer_that_says_so() -> None:
    def text(size: int) -> str:
        return "x" * size

    protocol = protocol_of(text, max_result_bytes=1000)
    [small, large] = answers(protocol, call("text", {"size": 800}), call("text", {"size": 5000}))

    assert small["result"]["isError"] is False
    assert large["result"]["isError"] is True
    assert "at most 1,000 bytes" in result_text(large)


def test_arguments_sent_as_text_are_decoded_unless_they_have_to_be_strict() -> None:
    sent = request("tools/call", {"name": "add", "arguments": '{"a": "1", "b": 2}'})

    assert error_of(answers(protocol_of(add, strict_arguments=True), sent)[0]) == (1, -32602)
    assert answers(protocol_of(add), sent)[0]["result"] == SUM


class TestCalls:
    """Calls that are under way while other messages come."""

    def start(self, protocol: ServerProtocol, message: Any) -> Any:
        [decision] = protocol.receive(json.dumps(message).encode())
        assert isinstance(decision, Call)
        return decision

    def tell(self, protocol: ServerProtocol, method: str, params: Any) -> list[Any]:
        decisions = protocol.receive(json.dumps(request(method, params, id=...)).encode())
        return [decode(d.message) if isinstance(d, Send) else d for d in decisions]

    def test_a_call_cancelled_as_in_mcp_is_not_answered(self) -> None:
        protocol = protocol_of(add)
        started = self.start(protocol, call("add", {"a": 1, "b": 2}))

        assert self.tell(protocol, "notifications/cancelled", {"requestId": 1}) == [Cancel(started)]
        assert started.cancelled
        assert protocol.in_flight.finish(started, SUM) is None

    def test_a_call_cancelled_as_in_lsp_is_answered_with_an_error(self) -> None:
        protocol = protocol_of(add)
        started = self.start(protocol, call("add", {"a": 1, "b": 2}))

        [stop, answer] = self.tell(protocol, "$/cancelRequest", {"id": 1})

        assert stop == Cancel(started)
        assert error_of(answer) == (1, -32800)
        assert protocol.in_flight.finish(started, SUM) is None

    def test_an_id_of_the_other_type_cancels_nothing(self) -> None:
        protocol = protocol_of(add)
        started = self.start(protocol, call("add", {"a": 1, "b": 2}))

        assert self.tell(protocol, "notifications/cancelled", {"requestId": "1"}) == []
        assert self.tell(protocol, "notifications/cancelled", {"requestId": 1.0}) == []
        assert self.tell(protocol, "notifications/cancelled", {"requestId": True}) == []
        assert protocol.in_flight.finish(started, SUM) is not None

    def test_an_id_under_way_cannot_be_used_twice_and_can_afterwards(self) -> None:
        protocol = protocol_of(add)
        started = self.start(protocol, call("add", {"a": 1, "b": 2}))

        [decision] = protocol.receive(json.dumps(call("add", {"a": 3, "b": 4})).encode())
        assert isinstance(decision, Send)
        assert error_of(decode(decision.message)) == (1, -32600)
        assert protocol.in_flight.finish(started, SUM) is not None
        assert answers(protocol, call("add", {"a": 1, "b": 2}))[0]["result"] == SUM

    def test_a_cancelled_id_can_be_used_again_while_the_old_tool_still_runs(self) -> None:
        protocol = protocol_of(add)
        old = self.start(protocol, call("add", {"a": 1, "b": 2}))
        self.tell(protocol, "notifications/cancelled", {"requestId": 1})
        new = self.start(protocol, call("add", {"a": 1, "b": 2}))

        assert protocol.in_flight.finish(old, SUM) is None
        assert protocol.in_flight.finish(new, SUM) is not None

    def test_a_call_ends_once(self) -> None:
        protocol = protocol_of(add)
        started = self.start(protocol, call("add", {"a": 1, "b": 2}))

        assert protocol.in_flight.fail(started, ToolError("too late")) is not None
        assert protocol.in_flight.finish(started, SUM) is None

    def test_calls_beyond_the_limit_of_pending_input_are_refused_until_some_end(self) -> None:
        protocol = protocol_of(add, max_pending_bytes=250)
        first = self.start(protocol, call("add", {"a": 1, "b": 2}, id=1))
        self.start(protocol, call("add", {"a": 1, "b": 2}, id=2))

        [refusal] = protocol.receive(json.dumps(call("add", {"a": 1, "b": 2}, id=3)).encode())
        assert isinstance(refusal, Send)
        assert error_of(decode(refusal.message)) == (3, -31001)
        protocol.in_flight.finish(first, SUM)
        self.start(protocol, call("add", {"a": 1, "b": 2}, id=3))

    @given(st.lists(st.none() | st.floats(allow_nan=False, allow_infinity=False) | st.integers()))
    def test_values_of_heartbeats_and_of_the_tool_increase_in_any_order(
        self, reports: list[float | None]
    ) -> None:
        started = self.start(protocol_of(add), call("add", {"a": 1, "b": 2}, progressToken="t"))

        made = [
            make_heartbeat(started) if done is None else started.progress_message(done, 9, "now")
            for done in reports
        ]

        sent = [decode(message)["params"] for message in made]
        assert all(earlier["progress"] < later["progress"] for earlier, later in pairwise(sent))
        silent = len(list(takewhile(lambda done: done is None, reports)))
        assert ["total" in params for params in sent] == [False] * silent + [True] * (
            len(sent) - silent
        )
        after = zip(reports[silent:], sent[silent:], strict=True)
        assert all(
            params.get("message") == (None if done is None else "now") for done, params in after
        )

    def test_progress_values_increase_whatever_the_tool_reports(self) -> None:
        protocol = protocol_of(add)
        started = self.start(protocol, call("add", {"a": 1, "b": 2}, progressToken=0))

        sent = [
            decode(started.progress_message(done, 3, "now"))["params"] for done in (1, 1, 0.5, 2)
        ]

        values = [params["progress"] for params in sent]
        assert sent[0] == {"progressToken": 0, "progress": 1, "total": 3, "message": "now"}
        assert values == sorted(set(values))
        assert values[-1] == 2


class TestBatches:
    """Arrays of messages (JSON-RPC 2.0, section 6)."""

    def test_a_batch_is_answered_by_one_array(self) -> None:
        batch = [
            call("add", {"a": 1, "b": 2}),
            5,
            request("ping", id=2),
            request("x", id=3),
            request("ping", id=...),
        ]

        [array] = answers(protocol_of(add), batch)

        by_id = {answer["id"]: answer for answer in array}
        assert by_id[1]["result"] == SUM
        assert by_id[2]["result"] == {}
        assert error_of(by_id[3]) == (3, -32601)
        assert error_of(by_id[None]) == (None, -32600)
        assert len(array) == 4

    @pytest.mark.parametrize(
        "batch",
        [
            [request("ping", id=...)],
            [request("notifications/cancelled", {"requestId": 5}, id=...), request("x", id=...)],
            [{"jsonrpc": "2.0", "id": 5, "result": {}}],
            [request("tools/call", {"name": "nobody"}, id=...)],
        ],
    )
    def test_a_batch_without_requests_is_answered_by_nothing(self, batch: Any) -> None:
        assert answers(protocol_of(add), batch) == []

    def test_a_batch_waits_for_its_last_call_and_leaves_out_cancelled_ones(self) -> None:
        protocol = protocol_of(add)
        members = [call("add", {"a": 1, "b": 2}, id=number) for number in (1, 2, 3)]
        first, second, third = protocol.receive(json.dumps(members).encode())

        assert protocol.in_flight.finish(third, SUM) is None
        cancelled = json.dumps(
            request("notifications/cancelled", {"requestId": 1}, id=...)
        ).encode()
        assert protocol.receive(cancelled) == (Cancel(first),)
        array = protocol.in_flight.finish(second, SUM)

        assert array is not None
        assert [answer["id"] for answer in decode(array)] == [3, 2]

    def test_a_batch_whose_last_open_member_is_cancelled_is_answered_then(self) -> None:
        protocol = protocol_of(add)
        batch = json.dumps([call("add", {"a": 1, "b": 2}), request("ping", id=2)]).encode()
        [started] = [d for d in protocol.receive(batch) if isinstance(d, Call)]

        stop, array = protocol.receive(
            json.dumps(request("notifications/cancelled", {"requestId": 1}, id=...)).encode()
        )

        assert stop == Cancel(started)
        assert isinstance(array, Send)
        assert decode(array.message) == [{"jsonrpc": "2.0", "id": 2, "result": {}}]


class TestEras:
    """MCP's two ways of introducing oneself, decided for each request."""

    @pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
    def test_every_legacy_version_is_echoed(self, version: str) -> None:
        [answer] = answers(
            protocol_of(add), request("initialize", {"protocolVersion": version}, id=0)
        )

        tasks = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
        has_tasks = {"tasks": tasks} if version == "2025-11-25" else {}
        assert answer["result"] == {
            "protocolVersion": version,
            "capabilities": {"tools": {"listChanged": True}, "logging": {}, **has_tasks},
            "serverInfo": {"name": "test", "version": "1"},
        }

    @pytest.mark.parametrize("version", ["2024-10-07", "2026-07-28", "2099-01-01", ""])
    def test_an_unknown_version_is_answered_with_the_newest_legacy_one(self, version: str) -> None:
        [answer] = answers(protocol_of(), request("initialize", {"protocolVersion": version}))

        assert answer["result"]["protocolVersion"] == "2025-11-25"

    def test_a_modern_client_discovers_lists_and_calls(self) -> None:
        protocol = protocol_of(add)
        protocol.declare({"tasks": {}})  # as a wrap does for a server of 2025-11-25
        meta = {"io.modelcontextprotocol/serverInfo": {"name": "test", "version": "1"}}

        discovered, listed, called = answers(
            protocol,
            request("server/discover", {"_meta": MODERN}, id="a"),
            request("tools/list", {"_meta": MODERN}),
            request("tools/call", {"name": "add", "arguments": {"a": 1, "b": 2}, "_meta": MODERN}),
        )

        assert discovered["result"] == {
            "resultType": "complete",
            "supportedVersions": [
                "2026-07-28",
                "2025-11-25",
                "2025-06-18",
                "2025-03-26",
                "2024-11-05",
            ],
            "capabilities": {
                "tools": {"listChanged": True},
                "logging": {},
                "extensions": {"io.modelcontextprotocol/tasks": {}},
            },
            "ttlMs": 0,
            "cacheScope": "private",
            "_meta": meta,
        }
        assert listed["result"].keys() == {"resultType", "tools", "ttlMs", "cacheScope", "_meta"}
        assert called["result"] == {"resultType": "complete", **SUM, "_meta": meta}

    @pytest.mark.parametrize(
        ("meta", "code"),
        [
            ({**MODERN, "io.modelcontextprotocol/protocolVersion": "2030-01-01"}, -32022),
            ({**MODERN, "io.modelcontextprotocol/protocolVersion": 5}, -32602),
            ({"io.modelcontextprotocol/protocolVersion": "2026-07-28"}, -32602),
            ({**MODERN, "io.modelcontextprotocol/clientCapabilities": None}, -32602),
        ],
    )
    def test_a_modern_request_must_be_complete(self, meta: Any, code: int) -> None:
        [answer] = answers(protocol_of(), request("tools/list", {"_meta": meta}))

        assert error_of(answer) == (1, code)
        if code == -32022:
            assert answer["error"]["data"]["requested"] == "2030-01-01"
            assert "2026-07-28" in answer["error"]["data"]["supported"]

    @pytest.mark.parametrize("method", ["initialize", "ping"])
    def test_methods_that_the_modern_revision_removed_do_not_exist_in_it(self, method: str) -> None:
        sent = request(method, {"_meta": MODERN, "protocolVersion": "2025-11-25"})

        assert [error_of(answer) for answer in answers(protocol_of(), sent)] == [(1, -32601)]

    def test_both_eras_are_served_by_one_process(self) -> None:
        protocol = protocol_of(add)

        modern, hello, legacy, again = answers(
            protocol,
            request("tools/list", {"_meta": MODERN}),
            request("initialize", {"protocolVersion": "2025-11-25"}),
            request("tools/list"),
            request("tools/list", {"_meta": MODERN}),
        )

        assert "resultType" in modern["result"]
        assert "protocolVersion" in hello["result"]
        assert legacy["result"].keys() == {"tools"}
        assert "resultType" in again["result"]

    def test_a_modern_client_without_a_version_gets_an_error(self) -> None:
        protocol = protocol_of(add)

        _, forgot = answers(
            protocol, request("tools/list", {"_meta": MODERN}), request("tools/list")
        )

        assert error_of(forgot) == (1, -32602)


class TestLists:
    """`tools/list`, and the names tools are called by."""

    def test_all_tools_are_on_one_page_by_default(self) -> None:
        [answer] = answers(protocol_of(add, fail, crash), request("tools/list"))

        assert [tool["name"] for tool in answer["result"]["tools"]] == ["add", "fail", "crash"]
        assert "nextCursor" not in answer["result"]

    @pytest.mark.parametrize("meta", [None, MODERN])
    def test_pages_lead_through_all_tools(self, meta: Any) -> None:
        protocol = protocol_of(add, fail, crash, page_size=2)
        params = {} if meta is None else {"_meta": meta}

        [first] = answers(protocol, request("tools/list", params))
        [second] = answers(
            protocol, request("tools/list", {**params, "cursor": first["result"]["nextCursor"]})
        )

        names = [tool["name"] for page in (first, second) for tool in page["result"]["tools"]]
        assert names == ["add", "fail", "crash"]
        assert "nextCursor" not in second["result"]

    @pytest.mark.parametrize("cursor", ["", "1", "-2", "3", "4", "x", "²"])
    def test_a_cursor_that_was_never_given_out_is_refused(self, cursor: str) -> None:
        protocol = protocol_of(add, fail, crash, page_size=2)

        assert error_of(answers(protocol, request("tools/list", {"cursor": cursor}))[0]) == (
            1,
            -32602,
        )

    @pytest.mark.parametrize(
        ("settings", "name"),
        [
            ({}, "Notes_read"),
            ({"separator": "."}, "Notes.read"),
            ({"separator": "-"}, "Notes-read"),
        ],
    )
    def test_a_toolkit_can_be_called_by_either_separator(
        self, settings: dict[str, str], name: str
    ) -> None:
        protocol = protocol_of(Notes, **settings)

        [listed, dotted, shown] = answers(
            protocol,
            request("tools/list"),
            call("Notes.read", {"path": "a"}),
            call("Notes_read", {"path": "a"}),
        )

        assert [tool["name"] for tool in listed["result"]["tools"]] == [name]
        assert result_text(dotted) == result_text(shown) == "contents of a"

    def test_a_dot_in_a_name_of_one_s_own_stays(self) -> None:
        [listed] = answers(protocol_of(make_tool(add, name="v1.add")), request("tools/list"))
        assert [tool["name"] for tool in listed["result"]["tools"]] == ["v1.add"]

    def test_two_tools_of_one_name_are_refused(self) -> None:
        with pytest.raises(ValueError, match="add"):
            protocol_of(add, add)

    def test_a_clash_because_of_the_separator_names_both_tools_and_the_remedies(self) -> None:
        @tool_api(name="Notes_read")
        def other_read() -> str:
            return ""

        with pytest.raises(
            ValueError, match=r"Notes\.read and .*other_read; rename one: .*separator='\.'"
        ):
            protocol_of(Notes, other_read)
        [dotted, other] = answers(
            protocol_of(Notes, other_read, separator="."),
            call("Notes.read", {"path": "a"}),
            call("Notes_read"),
        )
        assert (result_text(dotted), result_text(other)) == ("contents of a", "")


def test_a_traceback_on_stderr_begins_in_the_user_s_own_code(
    capfd: pytest.CaptureFixture[str],
) -> None:
    Server([crash]).call("crash")

    lines = capfd.readouterr().err.splitlines()
    assert lines[0] == "toolwire: error: crash failed (id=1)"
    assert lines[1] == "Traceback (most recent call last):"
    assert __file__ in lines[2]


def test_a_result_that_does_not_fit_is_reported_on_stderr_without_lines_of_toolwire(
    capfd: pytest.CaptureFixture[str],
) -> None:
    def count() -> int:
        return "three"  # type: ignore[return-value]

    Server([count]).call("count")

    lines = capfd.readouterr().err.splitlines()
    assert lines == [
        "toolwire: error: count failed (id=1)",
        'OutputError: result: "three" is not an integer',
    ]
