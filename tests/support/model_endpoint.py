"""An endpoint on this machine that speaks OpenAI's chat completions and Anthropic's messages, with
every fault.

    with StandIn(answer="Hello.") as server:
        server.then(refused(429, "slow down", **{"retry-after": "1"}))   # the next request meets it; the others do not
        model = OpenAIModel("some-model", base_url=server.url, key="any")

Its shapes are its own, taken from the vendors' references and checked with their SDKs
(tests/interop/test_models.py); it shares no code with what it tests. `requests` holds the received
requests. It listens on the loopback interface only.
"""  # noqa: E501

from __future__ import annotations

import json
import socket
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from toolwire_agent.react.messages import ModelReply, ToolCall, Usage

Body = dict[str, Any]


@dataclass(frozen=True)
class Received:
    """One request."""

    path: str
    headers: dict[str, str]
    body: Body


Fault = Callable[["Exchange"], None]
Answer = ModelReply | str | Callable[[Body], ModelReply | str]


class StandIn:
    """The server. *answer* is what it replies, or a function of the request's body that returns it.

    *rule* is asked about every request and may return a fault for it. With a *key*, requests
    without it get a 401.
    """

    def __init__(
        self,
        answer: Answer = "Hello.",
        *,
        rule: Callable[[Body], Fault | None] | None = None,
        key: str | None = None,
        pages: dict[str, bytes] | None = None,
    ) -> None:
        self.pages = pages or {}
        """What there is to get, by its path."""
        self.fetched: list[str] = []
        self.answer = answer
        self.rule = rule
        self.key = key
        self.requests: list[Received] = []
        self.peers: list[int] = []
        """The port that each request came from, which is the same where a connection is used again.
        """
        self.arrived = threading.Event()
        """Set when there is a request."""
        self.faults: deque[Fault] = deque()
        self.released = threading.Event()
        """Set when the server ends: faults that keep a client waiting wait for it."""
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.stand_in = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        """The base URL for OpenAI's API. Anthropic's SDK puts `/v1` behind its base URL itself."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def then(self, *faults: Fault) -> Self:
        """Let the next requests meet these *faults*, one each."""
        self.faults.extend(faults)
        return self

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()  # waits for the threads of its requests
        self._thread.join()


# --- faults ---------------------------------------------------------------------------------------


def refused(status: int, message: str = "no", body: Any = None, **headers: str) -> Fault:
    """An error of this *status*, in the shape of the API unless there is a *body* of another
    one.
    """
    return lambda exchange: exchange.refuse(status, message, body, headers)


def answered(answer: ModelReply | str) -> Fault:
    """No fault at all: another answer."""
    return lambda exchange: exchange.send(exchange.payload(answer))


def reset(exchange: Exchange) -> None:
    """The connection is torn down before anything is answered."""
    exchange.tear_down()


def reset_midway(exchange: Exchange) -> None:
    """The connection is torn down in the midst of the reply."""
    payload = exchange.payload()
    exchange.head(200)
    exchange.write(payload[: len(payload) // 2])
    exchange.tear_down()


def ends_midway(exchange: Exchange) -> None:
    """The reply ends, as far as HTTP is concerned, before it is complete."""
    payload = exchange.payload()
    cut = (
        payload.rindex(b"\n\n", 0, len(payload) // 2) + 2 if exchange.streams else len(payload) // 2
    )
    exchange.send(payload[:cut])


def error_midway(error: Any) -> Fault:
    """An error comes where a piece of the reply was to come."""

    def fault(exchange: Exchange) -> None:
        events = exchange.payload().split(b"\n\n")
        exchange.send(b"\n\n".join([*events[:2], exchange.error_event(error), b""]))

    return fault


def in_pieces(size: int) -> Fault:
    """The reply comes in pieces of *size* bytes, each in a packet of its own."""

    def fault(exchange: Exchange) -> None:
        payload = exchange.payload()
        exchange.head(200)
        for start in range(0, len(payload), size):
            exchange.write(payload[start : start + size])
        exchange.end()

    return fault


def with_line_ends(ends: bytes) -> Fault:
    """The lines of the stream end with *ends*."""
    return lambda exchange: exchange.send(exchange.payload().replace(b"\n", ends))


def with_comments(exchange: Exchange) -> None:
    """Comments, pings and unknown fields are between the events, as OpenRouter and many proxies
    send them.
    """
    noise = b": OPENROUTER PROCESSING\n\nid: 7\nretry: 10\n: \n"
    exchange.send(noise + exchange.payload().replace(b"\n\n", b"\n\n" + noise))


def without_last_blank_line(exchange: Exchange) -> None:
    """The stream ends right after the data of its last event."""
    exchange.send(exchange.payload().rstrip(b"\n"))


def without_done(exchange: Exchange) -> None:
    """The stream lacks its last event."""
    events = exchange.payload().rstrip(b"\n").split(b"\n\n")
    exchange.send(b"\n\n".join([*events[:-1], b""]))


def silent(exchange: Exchange) -> None:
    """Nothing is answered at all."""
    exchange.wait()


def silent_midway(exchange: Exchange) -> None:
    """Half of the reply comes, and then nothing."""
    payload = exchange.payload()
    exchange.head(200)
    exchange.write(payload[: len(payload) // 2])
    exchange.wait()


def endless(exchange: Exchange) -> None:
    """The reply has no end."""
    exchange.head(200)
    events = (
        exchange.payload().split(b"\n\n")
        if exchange.streams
        else [b'{"choices": ', b"[" + b" " * 2**20, b""]
    )
    exchange.write(events[0] + b"\n\n")
    for _ in range(1_000_000):
        exchange.write(events[1] + b"\n\n")


def endless_line(exchange: Exchange) -> None:
    """A line of the stream has no end."""
    exchange.head(200)
    exchange.write(b"data: ")
    for _ in range(1_000_000):
        exchange.write(b"x" * 2**20)


def of_type(content_type: str, payload: bytes) -> Fault:
    """Something else comes, with status 200: the page of a proxy, for instance."""
    return lambda exchange: exchange.send(payload, content_type=content_type)


def truncated_json(exchange: Exchange) -> None:
    """A reply in one piece of which the end is missing."""
    exchange.streams = False
    payload = exchange.payload()
    exchange.send(payload[: len(payload) // 2])


def in_one_piece(exchange: Exchange) -> None:
    """A reply in one piece, whatever was asked for."""
    exchange.streams = False
    exchange.send(exchange.payload())


# --- what it does ---------------------------------------------------------------------------------


@dataclass
class Exchange:
    """One request and the ways to answer it."""

    stand_in: StandIn
    handler: _Handler
    received: Received
    streams: bool = field(init=False)

    def __post_init__(self) -> None:
        self.streams = bool(self.received.body.get("stream"))

    @property
    def is_anthropic(self) -> bool:
        return self.received.path.partition("?")[0].endswith("/messages")

    def payload(self, answer: ModelReply | str | None = None) -> bytes:
        """The whole answer as it would be sent."""
        if answer is None:
            answer = self.stand_in.answer
        made = answer(self.received.body) if callable(answer) else answer
        reply = ModelReply(text=made, finish_reason="stop") if isinstance(made, str) else made
        usage = reply.usage or Usage(input_tokens=11, output_tokens=7)
        write = (
            (_stream_message, _message) if self.is_anthropic else (_stream_completion, _completion)
        )
        if not self.streams:
            return json.dumps(write[1](self.received.body, reply, usage)).encode()
        return b"".join(write[0](self.received.body, reply, usage))

    def error_event(self, error: Any) -> bytes:
        if self.is_anthropic:
            return (
                b"event: error\ndata: "
                + json.dumps({"type": "error", "error": error}).encode()
                + b"\n\n"
            )
        return b"data: " + json.dumps({"error": error}).encode() + b"\n\n"

    def refuse(self, status: int, message: str, body: Any, headers: dict[str, str]) -> None:
        if body is None:
            inner = {"message": message, "type": "invalid_request_error"}
            body = (
                {"type": "error", "error": inner}
                if self.is_anthropic
                else {"error": {**inner, "code": None}}
            )
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.handler.send_response(status)
        for name, value in {
            "content-type": "application/json",
            "content-length": str(len(data)),
            **headers,
        }.items():
            self.handler.send_header(name.replace("_", "-"), value)
        self.handler.end_headers()
        self.handler.wfile.write(data)

    def send(self, payload: bytes, content_type: str | None = None) -> None:
        self.head(200, content_type)
        self.write(payload)
        self.end()

    def head(self, status: int, content_type: str | None = None) -> None:
        own = "text/event-stream" if self.streams else "application/json"
        self.handler.send_response(status)
        self.handler.send_header("content-type", own if content_type is None else content_type)
        self.handler.send_header("transfer-encoding", "chunked")
        self.handler.send_header("x-request-id", "req_1")
        self.handler.end_headers()

    def write(self, data: bytes) -> None:
        if data:
            self.handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def end(self) -> None:
        self.handler.wfile.write(b"0\r\n\r\n")

    def tear_down(self) -> None:
        connection = self.handler.connection
        connection.setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
        )  # a reset, no farewell
        self.handler.close_connection = True
        connection.close()

    def wait(self) -> None:
        self.stand_in.released.wait()
        self.handler.close_connection = True


class _Server(ThreadingHTTPServer):
    stand_in: StandIn
    daemon_threads = False
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away in the midst is what many tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 20  # for a connection that is kept open: the server waits for its threads
    server: _Server

    def do_GET(self) -> None:
        self.server.stand_in.fetched.append(self.path)
        page = self.server.stand_in.pages.get(self.path)
        with suppress(ConnectionError):
            self.send_response(404 if page is None else 200)
            self.send_header("content-length", str(len(page or b"")))
            self.end_headers()
            self.wfile.write(page or b"")

    def do_POST(self) -> None:
        stand_in = self.server.stand_in
        data = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        exchange = Exchange(stand_in, self, Received(self.path, headers, json.loads(data)))
        stand_in.peers.append(self.client_address[1])
        stand_in.requests.append(exchange.received)
        stand_in.arrived.set()
        # A client that gives up goes away; who waits for it on this connection waits in vain.
        with suppress(ConnectionError, ValueError):
            _answer(exchange)

    def log_message(self, *arguments: Any) -> None:
        """Tests are quiet."""


def _answer(exchange: Exchange) -> None:
    stand_in, received = exchange.stand_in, exchange.received
    fault = (
        stand_in.faults.popleft()
        if stand_in.faults
        else (stand_in.rule or (lambda body: None))(received.body)
    )
    if fault is not None:
        fault(exchange)
    elif problem := _problem(exchange):
        refused(*problem)(exchange)
    else:
        exchange.send(exchange.payload())


def _problem(exchange: Exchange) -> tuple[int, str] | None:
    """Return the error with which the real APIs would refuse a request."""
    body, headers = exchange.received.body, exchange.received.headers
    given = (
        headers.get("x-api-key")
        if exchange.is_anthropic
        else headers.get("authorization", "").partition(" ")[2]
    )
    if exchange.stand_in.key not in (None, given):
        return (
            401,
            f"Incorrect API key provided: {given}. You can find your API key in the settings.",
        )
    if not body.get("model") or not body.get("messages"):
        return 400, "model and messages are required"
    roles = [message["role"] for message in body["messages"]]
    if exchange.is_anthropic:
        if "anthropic-version" not in headers or "max_tokens" not in body:
            return 400, "anthropic-version: header is required; max_tokens: Field required"
        if set(roles) - {"user", "assistant"} or roles[0] != "user":
            return (
                400,
                (
                    'messages: Unexpected role. Allowed are "user" and "assistant", and the first'
                    ' is "user"'
                ),
            )
        return None
    unknown = sorted(set(body) - _KNOWN)
    if unknown:
        return 400, f"Unrecognized request argument supplied: {unknown[0]}"
    if any(
        message["role"] == "tool" and "tool_call_id" not in message for message in body["messages"]
    ):
        return (
            400,
            (
                "Missing parameter 'tool_call_id': messages with role 'tool' must have a"
                " 'tool_call_id'."
            ),
        )
    return None


_KNOWN = {
    *(
        "model",
        "messages",
        "stream",
        "stream_options",
        "tools",
        "response_format",
        "temperature",
        "top_p",
        "n",
    ),
    *(
        "max_tokens",
        "max_completion_tokens",
        "stop",
        "frequency_penalty",
        "presence_penalty",
        "reasoning_effort",
    ),
    "parallel_tool_calls",
}


# --- OpenAI's shapes ------------------------------------------------------------------------------


def _completion(body: Body, reply: ModelReply, usage: Usage) -> Body:
    message: Body = {
        "role": "assistant",
        "content": reply.text or None,
        "refusal": None,
        **_thoughts(reply),
    }
    if reply.tool_calls:
        message["tool_calls"] = [_call(call) for call in reply.tool_calls]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _reason(reply)}
    return {**_envelope(body, "chat.completion"), "choices": [choice], "usage": _usage(usage)}


def _stream_completion(body: Body, reply: ModelReply, usage: Usage) -> Iterator[bytes]:
    def chunk(choices: list[Body], **more: Any) -> bytes:
        return (
            b"data: "
            + json.dumps(
                {**_envelope(body, "chat.completion.chunk"), "choices": choices, **more},
                ensure_ascii=False,
            ).encode()
            + b"\n\n"
        )

    def delta(value: Body, reason: str | None = None) -> bytes:
        return chunk([{"index": 0, "delta": value, "logprobs": None, "finish_reason": reason}])

    yield delta({"role": "assistant", "content": "", "refusal": None})
    for piece in _pieces(reply.reasoning):
        yield delta({"reasoning_content": piece})
    for piece in _pieces(reply.text):
        yield delta({"content": piece})
    for index, call in enumerate(map(_call, reply.tool_calls)):
        written = call["function"]["arguments"]
        yield delta(
            {
                "tool_calls": [
                    {"index": index, **call, "function": {**call["function"], "arguments": ""}}
                ]
            }
        )
        for piece in _pieces(written):
            yield delta({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield delta({}, _reason(reply))
    if (body.get("stream_options") or {}).get("include_usage"):
        yield chunk([], usage=_usage(usage))
    yield b"data: [DONE]\n\n"


def _envelope(body: Body, kind: str) -> Body:
    return {"id": "chatcmpl-1", "object": kind, "created": 1_700_000_000, "model": body["model"]}


def _thoughts(reply: ModelReply) -> Body:
    return {"reasoning_content": reply.reasoning} if reply.reasoning else {}


def _call(call: ToolCall) -> Body:
    arguments = (
        call.arguments
        if isinstance(call.arguments, str)
        else json.dumps(call.arguments, ensure_ascii=False)
    )
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": arguments},
    }


def _reason(reply: ModelReply) -> str:
    return reply.finish_reason or ("tool_calls" if reply.tool_calls else "stop")


def _usage(usage: Usage) -> Body:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
    }


# --- Anthropic's shapes ---------------------------------------------------------------------------

_STOP_REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "content_filter": "refusal",
}


def _message(body: Body, reply: ModelReply, usage: Usage) -> Body:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body["model"],
        "content": _blocks(reply),
        "stop_reason": _STOP_REASONS.get(_reason(reply), _reason(reply)),
        "stop_sequence": None,
        "usage": {
            "input_tokens": usage.input_tokens - usage.cached_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": usage.cached_tokens,
            "output_tokens": usage.output_tokens,
            "output_tokens_details": {"thinking_tokens": usage.reasoning_tokens},
        },
    }


def _blocks(reply: ModelReply) -> list[Body]:
    blocks: list[Body] = []
    if reply.reasoning:
        blocks.append({"type": "thinking", "thinking": reply.reasoning, "signature": "c2lnbmVk"})
    if reply.text:
        blocks.append({"type": "text", "text": reply.text, "citations": None})
    for call in reply.tool_calls:
        given = json.loads(call.arguments) if isinstance(call.arguments, str) else call.arguments
        blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": given})
    return blocks


def _stream_message(body: Body, reply: ModelReply, usage: Usage) -> Iterator[bytes]:
    def event(value: Body) -> bytes:
        return f"event: {value['type']}\ndata: {json.dumps(value, ensure_ascii=False)}\n\n".encode()

    whole = _message(body, reply, usage)
    begun = {**whole["usage"], "output_tokens": 1}
    yield event(
        {
            "type": "message_start",
            "message": {**whole, "content": [], "stop_reason": None, "usage": begun},
        }
    )
    yield event({"type": "ping"})
    for index, block in enumerate(whole["content"]):
        empty = {**block, **{name: value for name, value in _EMPTY.items() if name in block}}
        yield event({"type": "content_block_start", "index": index, "content_block": empty})
        for delta in _deltas(block):
            yield event({"type": "content_block_delta", "index": index, "delta": delta})
        yield event({"type": "content_block_stop", "index": index})
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield event({"type": "message_delta", "delta": ended, "usage": whole["usage"]})
    yield event({"type": "message_stop"})


_EMPTY: Body = {"text": "", "thinking": "", "signature": "", "input": {}}


def _deltas(block: Body) -> Iterator[Body]:
    match block:
        case {"type": "text", "text": text}:
            yield from ({"type": "text_delta", "text": piece} for piece in _pieces(text))
        case {"type": "thinking", "thinking": thought, "signature": signature}:
            yield from ({"type": "thinking_delta", "thinking": piece} for piece in _pieces(thought))
            yield {"type": "signature_delta", "signature": signature}
        case {"type": "tool_use", "input": given}:
            written = json.dumps(given, ensure_ascii=False)
            yield from (
                {"type": "input_json_delta", "partial_json": piece}
                for piece in ["", *_pieces(written)]
            )


def _pieces(text: str) -> list[str]:
    return [text[start : start + 3] for start in range(0, len(text), 3)]
