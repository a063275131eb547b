"""Any bytes at all, in both framings: nothing stops the server, and all it says is JSON-RPC."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.server_process import MODERN, PATIENCE_SECONDS, Process, call, request, served
from toolwire.protocol.catalog import Catalog
from toolwire.protocol.lifecycle import Identity
from toolwire.runtime.session import Session
from toolwire.settings import Settings
from toolwire_schemas.wire.codec import decode
from toolwire_schemas.wire.content_length import wrap_with_header
from toolwire_schemas.wire.framing import AutoFraming, wrap_line
from toolwire_tools import find_tools


def add(a: int, b: int) -> int:
    return a + b


def echo(value: Any) -> Any:
    return value


def fail() -> None:
    raise ValueError("on purpose")


def steps() -> Any:
    yield from ("one", "two")


async def echo_async(value: Any) -> Any:
    return value


IDS = st.integers(-(2**70), 2**70) | st.text(max_size=8) | st.sampled_from([0, "0", -1, 10**40])
ODD = (
    st.none()
    | st.booleans()
    | st.floats()
    | st.integers()
    | st.text(max_size=5)
    | st.lists(st.integers(), max_size=2)
)
META = st.sampled_from([None, {}, {"progressToken": 1}, {"progressToken": "t"}, MODERN, 5])
VALUES = st.recursive(
    ODD, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner)
)
PARAMS = {
    "tools/call": st.fixed_dictionaries(
        {"name": st.sampled_from(["add", "echo", "fail", "steps", "echo_async", "none", ""]) | ODD},
        optional={
            "arguments": st.fixed_dictionaries(
                {}, optional={"a": VALUES, "b": VALUES, "value": VALUES}
            )
            | ODD,
            "_meta": META,
        },
    ),
    "tools/list": st.fixed_dictionaries(
        {}, optional={"cursor": ODD | st.sampled_from(["0", "1", "9" * 5000])}
    ),
    "initialize": st.fixed_dictionaries({}, optional={"protocolVersion": ODD, "_meta": META}),
    "notifications/cancelled": st.fixed_dictionaries({}, optional={"requestId": IDS | ODD}),
    "$/cancelRequest": st.fixed_dictionaries({}, optional={"id": IDS | ODD}),
    "server/discover": st.fixed_dictionaries({}, optional={"_meta": META}),
    "ping": st.fixed_dictionaries({}) | ODD,
    "no/such/method": VALUES,
}


def messages_with(ids: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.sampled_from(sorted(PARAMS)).flatmap(
        lambda method: st.fixed_dictionaries(
            {"jsonrpc": st.just("2.0"), "method": st.just(method)},
            optional={"id": ids, "params": PARAMS[method], "extra": VALUES},
        )
    )


MESSAGES = messages_with(IDS | ODD) | st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": ODD,
        "method": ODD,
        "id": IDS | ODD,
        "params": VALUES,
        "result": ODD,
        "error": ODD,
    },
)


def as_bytes(message: Any) -> bytes:
    """JSON as a careless host writes it: NaN, lone surrogates and all."""
    return json.dumps(message, ensure_ascii=True).encode()


def mutated(text: bytes) -> st.SearchStrategy[bytes]:
    """*text* with a few bytes removed, repeated, or put in."""
    place = st.integers(0, len(text))
    piece = st.binary(max_size=4) | st.sampled_from(
        [
            b'"',
            b"{",
            b"}",
            b"[",
            b"]",
            b",",
            b"\xff",
            b"\x00",
            b"\r\n",
            b"\xef\xbb\xbf",
            b"\\ud800",
            b"1" * 4301,
            b"[" * 2000,
        ]
    )
    return st.tuples(place, place, piece).map(
        lambda cut: text[: min(cut[:2])] + cut[2] + text[max(cut[:2]) :]
    )


TEXTS = (MESSAGES | st.lists(MESSAGES, max_size=4)).map(as_bytes)
CHUNKS = st.lists(TEXTS | TEXTS.flatmap(mutated) | st.binary(max_size=40), max_size=6)
HEADERS = st.sampled_from(
    [
        b"Content-Length: 5\r\n\r\n",
        b"Content-Length: x\r\n\r\n",
        b"Content-Length: 99999\r\n\r\n",
        b"Content-",
        b"\r\n",
    ]
)


class Conversation:
    """A session in this process, and what it has written."""

    def __init__(self, **options: Any) -> None:
        self._written: SimpleQueue[bytes] = SimpleQueue()
        tools = [
            tool for thing in (add, echo, fail, steps, echo_async) for tool in find_tools(thing)
        ]
        options = {"max_message_bytes": 100_000, "grace_seconds": PATIENCE_SECONDS, **options}
        self.session = Session(
            Catalog(tools), Identity("t", "1"), Settings(**options), self._written.put
        )
        self._framing = AutoFraming()

    def messages(self) -> list[Any]:
        """End the session and return all that it has sent, taken apart as a host does."""
        self.session.end()
        data = b"".join(self._written.get() for _ in range(self._written.qsize()))
        frames = self._framing.feed(data) + self._framing.close()
        assert all(isinstance(frame, bytes) for frame in frames)
        return [decode(frame) for frame in frames]  # type: ignore[arg-type]


def check(message: Any) -> None:
    """Fail unless *message* is what JSON-RPC allows a server to send."""
    if isinstance(message, list):
        assert message
        for member in message:
            assert "method" not in member
            check(member)
        return
    assert message["jsonrpc"] == "2.0"
    if "method" in message:
        assert message["method"] == "notifications/progress"
        assert message.keys() == {"jsonrpc", "method", "params"}
        return
    [outcome] = message.keys() - {"jsonrpc", "id"}
    if outcome == "error":
        assert message["id"] is None or type(message["id"]) in (str, int)
        assert message["error"].keys() <= {"code", "message", "data"}
        assert type(message["error"]["code"]) is int
        assert type(message["error"]["message"]) is str
    else:
        assert outcome == "result"
        assert type(message["id"]) in (str, int)
        assert type(message["result"]) is dict


@pytest.fixture(autouse=True)
def _no_log(monkeypatch: pytest.MonkeyPatch) -> None:
    from toolwire import log

    monkeypatch.setattr(log, "_threshold", 99)


slow = settings(max_examples=examples(160), suppress_health_check=list(HealthCheck))


@slow
@given(CHUNKS, st.integers(1, 50))
def test_any_lines_are_survived_and_a_ping_is_answered_after_them(
    chunks: list[bytes], cut: int
) -> None:
    conversation = Conversation()
    data = (
        b"{\n" + b"\n".join(chunks) + b"\n" + as_bytes(request("ping", id="the last one")) + b"\n"
    )

    for start in range(0, len(data), cut * 100):
        conversation.session.feed(data[start : start + cut * 100])

    messages = conversation.messages()
    for message in messages:
        check(message)
    # A mutation may have made the last line part of nothing else: lines end at newlines, whatever
    # is in them.
    answers = [m for m in messages if isinstance(m, dict) and m.get("id") == "the last one"]
    assert len(answers) == 1
    assert (
        "result" in answers[0] or answers[0]["error"]["code"] == -32602
    )  # modern clients must say their version


@slow
@given(
    st.lists(TEXTS | TEXTS.flatmap(mutated) | HEADERS | st.binary(max_size=20), max_size=6),
    st.integers(1, 50),
)
def test_any_bytes_between_headers_are_survived_too(chunks: list[bytes], cut: int) -> None:
    conversation = Conversation()
    first, last = (
        wrap_with_header(as_bytes(request("ping", id=name))) for name in ("first", "last")
    )
    data = first + b"".join(
        chunk if b"Content" in chunk else wrap_with_header(chunk) for chunk in chunks
    )
    # A header that announced too much takes in what follows it, up to the next header: hence twice.
    data += last + last

    for start in range(0, len(data), cut * 100):
        conversation.session.feed(data[start : start + cut * 100])

    messages = conversation.messages()
    for message in messages:
        check(message)
    assert any(isinstance(message, dict) and message.get("id") == "last" for message in messages)


@slow
@given(st.lists(messages_with(st.just(0)), min_size=1, max_size=12), st.booleans(), st.data())
def test_every_request_with_a_readable_id_is_answered_exactly_once(
    messages: list[Any], headers: bool, data: st.DataObject
) -> None:
    """Cancellations go to ids that nobody has, so that every request is owed an answer."""
    requests = []
    for number, message in enumerate(messages):
        if "id" in message:
            message = {
                **message,
                "id": data.draw(st.sampled_from([number, f"n{number}", 10**30 + number])),
            }
            requests.append(message["id"])
        elif "cancel" in message["method"].lower():
            message = {**message, "params": {"id": "nobody", "requestId": "nobody"}}
        messages[number] = message
    batch = data.draw(st.booleans())
    conversation = Conversation()
    wrap = wrap_with_header if headers else wrap_line
    texts = [as_bytes(messages)] if batch else [as_bytes(message) for message in messages]

    conversation.session.feed(b"".join(map(wrap, texts)))

    received = conversation.messages()
    answers = [
        answer
        for message in received
        for answer in (message if isinstance(message, list) else [message])
    ]
    unreadable = [
        text for text in texts if b"NaN" in text or b"Infinity" in text or b"\\ud" in text
    ]
    if not unreadable:
        assert Counter(a["id"] for a in answers if a.get("id") is not None) == Counter(requests)
    assert sum(isinstance(message, list) for message in received) <= 1


@pytest.mark.parametrize("cut", [1, 7, 65536])
@pytest.mark.parametrize("wrap", [wrap_line, wrap_with_header])
def test_a_conversation_may_arrive_byte_by_byte(wrap: Any, cut: int) -> None:
    conversation = Conversation()
    data = b"".join(
        wrap(as_bytes(call("add", {"a": number, "b": 1}, id=number))) for number in range(40)
    )

    for start in range(0, len(data), cut):
        conversation.session.feed(data[start : start + cut])

    assert sorted(answer["id"] for answer in conversation.messages()) == list(range(40))


ODDITIES = {
    "BOM": (b"\xef\xbb\xbf%b", None),
    "CRLF": (b"%b\r", None),
    "blank lines": (b"\n\r\n  \n\t\n%b", None),
    "NUL": (b"%b\x00", -32700),
    "two on a line": (b"%b%b", -32700),
    "invalid UTF-8": (b"\xff%b", -32700),
    "UTF-16": (b"\xff\xfe{\x00%b", -32700),
}


@pytest.mark.parametrize("name", ODDITIES)
def test_each_oddity_has_its_stated_answer_and_the_next_request_is_served(name: str) -> None:
    pattern, code = ODDITIES[name]
    conversation = Conversation()
    text = as_bytes(request("ping"))

    conversation.session.feed(
        pattern.replace(b"%b", text) + b"\n" + as_bytes(request("ping", id="next")) + b"\n"
    )

    first, last = conversation.messages()
    assert first.get("error", {}).get("code") == code
    assert last == {"jsonrpc": "2.0", "id": "next", "result": {}}


@pytest.mark.parametrize("blank", [b" ", b"\n", b"\r\n"])
def test_megabytes_of_nothing_before_the_first_message_cost_little(blank: bytes) -> None:
    conversation = Conversation()

    for _ in range(100):
        conversation.session.feed(blank * (65536 // len(blank)))
    held = len(conversation.session._framing._start)
    conversation.session.feed(b"\n" + as_bytes(request("ping")) + b"\n")

    assert held < 100_000
    assert conversation.messages()[-1]["id"] == 1


def test_a_batch_of_a_hundred_thousand_is_answered_by_one_array() -> None:
    conversation = Conversation(max_message_bytes=2**26, max_batch_elements=100_000)
    batch = (
        b"["
        + b",".join(
            b'{"jsonrpc":"2.0","id":%d,"method":"ping"}' % number for number in range(100_000)
        )
        + b"]"
    )

    conversation.session.feed(batch + b"\n")

    [array] = conversation.messages()
    assert sorted(answer["id"] for answer in array) == list(range(100_000))


LIMITS = [
    (b'{"jsonrpc":"2.0","id":"x","method":"ping","pad":"' + b"x" * 3000 + b'"}', "x", -32600),
    (b'{"pad":"' + b"x" * 3000 + b'","jsonrpc":"2.0","method":"ping","id":7}', 7, -32600),
    (b"[" + b"1," * 2000 + b"1]", None, -32600),
    (b"x" * 100_000, None, -32600),
]


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Any:
    source = "from typing import Any\ndef echo(value: Any) -> Any:\n    return value\n"
    options = (
        "--limit",
        "max_message_bytes=2000",
        "--limit",
        "max_result_bytes=3000",
        "--log-level",
        "off",
    )
    with served(Path(tmp_path_factory.mktemp("limits")), source, *options) as process:
        yield process
        assert process.hang_up() == []
        assert process.wait() == 0


@pytest.mark.process
@pytest.mark.parametrize(("text", "id", "code"), LIMITS)
def test_a_message_beyond_the_limit_is_refused_with_its_id(
    process: Process, text: bytes, id: Any, code: int
) -> None:
    answer = process.ask(text + b"\n")

    assert (answer["id"], answer["error"]["code"]) == (id, code)
    assert process.ask(request("ping", id="next"))["id"] == "next"


@pytest.mark.process
@settings(max_examples=examples(160), suppress_health_check=list(HealthCheck))
@given(st.lists(TEXTS.flatmap(mutated) | TEXTS | st.binary(max_size=200), max_size=8))
def test_a_real_process_survives_any_lines(process: Process, lines: list[bytes]) -> None:
    """It goes on from one example to the next, so that whatever has been left behind is met
    again.
    """
    process.send(*(line.replace(b"\n", b" ") + b"\n" for line in lines))
    process.send(call("echo", {"value": "done"}, id="the last one", **MODERN))

    while True:
        message = process.receive()
        check(message)
        if isinstance(message, dict) and message.get("id") == "the last one":
            break
    assert message["result"]["content"][0]["text"] == "done"
