"""Copies of recordings for bug reports: what stays of them, and what does not."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from support.server_process import request
from support.tool_entry_strategies import JSON
from toolwire.wrapping.exchanges import read_exchanges
from toolwire.wrapping.recording import RecordedLine
from toolwire.wrapping.replaying import Replay
from toolwire.wrapping.shapes import Shapes, copy_shapes
from toolwire_schemas.published import load_validator

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": ["string", "null"], "default": "Paris", "maxLength": 80}},
    "required": ["city"],
}


def copy(*messages: Any) -> list[Any]:
    """The messages in a copy of a recording of *messages*."""
    entries = [
        RecordedLine(type="Message", sender="client", message=message) for message in messages
    ]
    return [entry.message for entry in Shapes().copy(entries)]


def forms(value: Any) -> Any:
    """*value*, the digests of its shapes left out."""
    text = re.sub(r"(<\w+ \d+) [0-9a-f]{12}>", r"\1>", json.dumps(value))
    return json.loads(text)


def test_a_call_keeps_the_words_of_the_protocol_and_shapes_of_the_rest() -> None:
    sent = request(
        "tools/call",
        {"name": "weather", "arguments": {"city": "Paris", "days": 12, "now": True}},
        id=1,
    )
    (copied,) = copy(sent)
    (city, days, now) = copied["params"].pop("arguments").items()
    assert forms([city, days, now]) == [
        ["<string 4>", "<string 5>"],
        ["<string 4>", "<integer 2>"],
        ["<string 3>", True],
    ]
    assert forms(copied) == {
        "jsonrpc": "2.0",
        "id": "<integer 1>",
        "method": "tools/call",
        "params": {"name": "<string 7>"},
    }


def test_a_schema_keeps_its_keywords_and_types() -> None:
    (copied,) = copy({"result": {"tools": [{"name": "weather", "inputSchema": SCHEMA}]}})
    (tool,) = copied["result"]["tools"]
    assert forms(tool["inputSchema"]) == {
        "type": "object",
        "properties": {
            "<string 4>": {
                "type": ["string", "null"],
                "default": "<string 5>",
                "maxLength": "<integer 2>",
            },
        },
        "required": ["<string 4>"],
    }
    assert [*tool["inputSchema"]["properties"]] == tool["inputSchema"]["required"]


def test_equal_values_have_equal_shapes_in_one_copy_alone() -> None:
    first, second, other = copy({"id": "a"}, {"id": "a"}, {"id": "b"})
    assert first == second != other
    assert copy({"id": "a"}) != [first]


def test_words_of_the_protocol_in_arguments_are_data() -> None:
    (copied,) = copy(
        {"params": {"arguments": {"name": "text", "type": "text", "method": "tools/call"}}}
    )
    assert not re.search("name|type|text|method|tools", json.dumps(copied["params"]["arguments"]))


def test_codes_of_json_rpc_stay_and_those_of_applications_do_not() -> None:
    (known,) = copy({"error": {"code": -32602, "message": "no such city"}})
    (own,) = copy({"error": {"code": 4711, "message": "no such city"}})
    assert known["error"]["code"] == -32602
    assert forms(own["error"]["code"]) == "<integer 4>"
    assert forms(known["error"]["message"]) == "<string 12>"


def test_times_count_from_the_first_entry() -> None:
    at = datetime(2026, 11, 27, 13, 0, tzinfo=UTC)
    entries = [
        RecordedLine(type="Noise", at=at + timedelta(seconds=seconds), text="x")
        for seconds in (0, 7)
    ]
    assert [entry.at.timestamp() for entry in Shapes().copy(entries)] == [0, 7]


def test_a_copy_can_be_replayed_to_who_has_it() -> None:
    sent = RecordedLine(type="Message", sender="client", message=request("tools/list", id=1))
    received = RecordedLine(
        type="Message",
        sender="server",
        message={"jsonrpc": "2.0", "id": 1, "result": {"tools": []}},
    )
    entries = enumerate(Shapes().copy([sent, received]), start=1)
    replay = Replay(read_exchanges(entries), strictly=False, report=lambda _: None)
    (answer,) = replay.receive(json.dumps(request("tools/list", id=9)).encode())
    assert json.loads(answer)["result"] == {"tools": []}


# --- for any recording ---

MARK = "q7Zq"
MARKED = st.text(max_size=5).map(lambda text: f"{text}{MARK}")
NUMBERS = st.integers(min_value=0).map(lambda number: int(f"7319{number}"))
WORDS = st.sampled_from(
    [
        "name",
        "type",
        "text",
        "content",
        "arguments",
        "_meta",
        "uri",
        "properties",
        "enum",
        "action",
        "inputSchema",
    ]
)
VALUES = st.recursive(
    MARKED | NUMBERS | JSON,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS | MARKED, inner, max_size=3),
    max_leaves=8,
)
MEMBERS = st.sampled_from(["jsonrpc", "id", "method", "params", "result", "error"]) | MARKED
MESSAGES = st.dictionaries(MEMBERS, VALUES, max_size=4)
ENTRIES = st.one_of(
    st.builds(
        RecordedLine,
        type=st.just("Message"),
        sender=st.just("server"),
        message=MESSAGES | st.lists(MESSAGES),
    ),
    st.builds(
        RecordedLine,
        type=st.just("Started"),
        version=st.just(1),
        command=st.lists(MARKED),
        environment=st.lists(MARKED),
        note=MARKED,
    ),
    st.builds(RecordedLine, type=st.just("Noise"), text=MARKED),
    st.builds(RecordedLine, type=st.just("Ended"), reason=MARKED, stderr=MARKED),
)


@given(st.lists(ENTRIES, min_size=1, max_size=4))
def test_no_text_and_no_number_of_a_recording_is_in_its_copy(entries: list[RecordedLine]) -> None:
    lines = copy_shapes(entries).splitlines()
    judge = load_validator("recording-entry")
    for line in lines:
        copied = json.loads(line)
        assert MARK not in line.decode()
        assert judge.is_valid(copied)
        assert msgspec.convert(copied, RecordedLine)
        assert not [
            number for number in numbers(copied.get("message")) if str(number).startswith("7319")
        ]


def numbers(value: Any) -> list[int | float]:
    """The numbers in a JSON value."""
    if isinstance(value, bool):
        return []
    if isinstance(value, int | float):
        return [value]
    inner = (
        [*value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
    )
    return [number for item in inner for number in numbers(item)]
