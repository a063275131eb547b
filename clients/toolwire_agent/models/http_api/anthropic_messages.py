"""Anthropic's messages API. No I/O.

It differs from OpenAI's: the system prompt is separate, turns alternate, results of tools are the
user's, and every request limits the tokens. Thoughts are signed blocks; a reply with tool calls is
sent back with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_dialects import anthropic
from toolwire_schemas.wire import codec

from ...react.messages import ModelReply, ToolCall, Usage
from .wire_format import (
    CutOff,
    HttpRequest,
    StreamFailed,
    count_in,
    get_text,
    read_calls,
    read_content,
    read_role,
)

if TYPE_CHECKING:
    from ..model import Message
    from .vendors import Key, Preset

VERSION = "2023-06-01"
# The API requires a limit; this is Toolwire's default for `max_tokens`.
_MAX_TOKENS = 8192

_FINISHED = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}
_TEXTS = ("text", "thinking", "signature")
Block = dict[str, Any]


# --- what is sent ---------------------------------------------------------------------------------


def _make_turns(request: HttpRequest) -> tuple[str, list[dict[str, Any]]]:
    """Return the system prompt, and the other messages as alternating turns."""
    system: list[str] = []
    turns: list[dict[str, Any]] = []
    for message in request.messages:
        role = read_role(message)
        if role == "system" and not turns:
            system.append(_read_system_text(read_content(message)))
            continue
        speaker = "assistant" if role == "assistant" else "user"
        blocks = _make_blocks(message, role, request)
        if turns and turns[-1]["role"] == speaker:
            turns[-1]["content"] += blocks
        elif blocks:
            turns.append({"role": speaker, "content": blocks})
    for turn in turns:  # results of tools come first, or the API refuses the turn
        turn["content"].sort(key=lambda block: block.get("type") != "tool_result")
    return "\n\n".join(filter(None, system)), turns


def _read_system_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content)


def _make_blocks(message: Message, role: str, request: HttpRequest) -> list[Block]:
    echo = message.get("echo") or {}
    if role == "assistant" and echo.get("content"):
        return list(echo["content"])
    content = read_content(message)
    if role == "tool":
        return [{"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": content}]
    if isinstance(content, str):  # an empty text is refused
        content = [{"type": "text", "text": content}] if content.strip() else []
    blocks = list(content)
    if role == "assistant":
        for id, name, arguments in read_calls(message):
            blocks.append(_make_tool_use(id, name, arguments, request))
    return blocks


def _make_tool_use(id: str, name: str, arguments: str, request: HttpRequest) -> Block:
    try:
        given = codec.decode(arguments)
    except codec.DecodingError:  # not JSON, and the API takes only objects
        given = None
    return {
        "type": "tool_use",
        "id": id,
        "name": request.names.theirs.get(name, name),
        "input": given if isinstance(given, dict) else {},
    }


# --- what comes -----------------------------------------------------------------------------------


class Messages:
    """The wire format of Anthropic's messages API. An object assembles one reply, from events or
    one value.

    Raises `StreamFailed` for errors in place of a reply, `ValueError` for violations of the API.
    """

    path = "/messages"
    dialect = "anthropic"

    def __init__(self, request: HttpRequest, preset: Preset) -> None:
        self.is_complete = False
        self._request = request
        self._blocks: dict[int, Block] = {}
        self._inputs: dict[int, list[str]] = {}
        self._stop_reason: str | None = None
        self._usage: dict[str, Any] = {}

    @staticmethod
    def make_headers(key: Key | None) -> dict[str, str]:
        headers = {"anthropic-version": VERSION}
        if key is not None:
            headers["x-api-key"] = key.reveal()
        return headers

    @staticmethod
    def make_body(request: HttpRequest, form: Preset) -> dict[str, Any]:
        system, turns = _make_turns(request)
        body: dict[str, Any] = {
            "model": request.model,
            "max_tokens": _MAX_TOKENS if request.max_tokens is None else request.max_tokens,
            "messages": turns,
        }
        if system:
            # Every turn repeats the system prompt and tools; the API caches only what is marked.
            body["system"] = [
                {"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}
            ]
        if request.tools:
            body["tools"] = [anthropic.from_entry(entry) for entry in request.rename_tools()]
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.schema is not None and form.formats[0] == "json_schema":
            body["output_config"] = {"format": {"type": "json_schema", "schema": request.schema}}
        if request.stream:
            body["stream"] = True
        return body | request.body

    def read_event(self, data: bytes) -> str:
        value = codec.decode(data)
        if not isinstance(value, dict):
            raise ValueError(f"not an object: {str(value)[:80]}")
        match value:
            case {"type": "error"}:
                raise StreamFailed(value.get("error"))
            case {"type": "message_start", "message": dict(message)}:
                self._count(message.get("usage"))
            case {"type": "content_block_start", "index": int(index), "content_block": dict(block)}:
                return self._start(index, block)
            case {"type": "content_block_delta", "index": int(index), "delta": dict(delta)}:
                return self._add(index, delta)
            case {"type": "message_delta", "delta": dict(delta)}:
                self._stop_reason = get_text(delta.get("stop_reason")) or self._stop_reason
                self._count(value.get("usage"))
            case {"type": "message_stop"}:
                self.is_complete = True
        return ""  # a ping, the end of a block, or a future event

    def read_whole(self, value: Any) -> str:
        if isinstance(value, dict) and value.get("type") == "error":
            raise StreamFailed(value.get("error"))
        if not isinstance(value, dict) or not isinstance(value.get("content"), list):
            raise ValueError("it has no content")
        self.is_complete = True
        self._stop_reason = get_text(value.get("stop_reason")) or None
        self._count(value.get("usage"))
        return "".join(self._start(index, block) for index, block in enumerate(value["content"]))

    def reply(self) -> ModelReply:
        if not self.is_complete and self._stop_reason is None:
            raise CutOff
        texts, thoughts, calls, blocks_to_echo = [], [], [], []
        has_thoughts = False
        for index in sorted(self._blocks):
            block = self._finish_block(index)
            match block.get("type"):
                case "text":
                    texts.append(block.get("text", ""))
                case "tool_use":
                    calls.append(self._read_call(block))
                case "thinking" | "redacted_thinking":
                    has_thoughts = True
                    thoughts.append(block.get("thinking", ""))
            if isinstance(block.get("input"), str):  # cut off: the API would refuse it
                block = {**block, "input": {}}
            blocks_to_echo.append(block)
        # Signed thoughts must come back with the calls that they led to.
        must_echo = has_thoughts and calls
        return ModelReply(
            text="".join(texts),
            tool_calls=tuple(calls),
            finish_reason=_FINISHED.get(self._stop_reason or "", self._stop_reason),
            usage=self._make_usage(),
            reasoning="\n".join(filter(None, thoughts)),
            echo={"content": blocks_to_echo} if must_echo else {},
        )

    def _start(self, index: int, block: Any) -> str:
        if not isinstance(block, dict):
            raise ValueError(f"there is {str(block)[:80]!r} where a block of content should be")
        made = block | {name: get_text(block[name]) for name in _TEXTS if name in block}
        self._blocks[index] = made
        if made.get("type") == "text":
            return str(made.get("text", ""))
        return ""

    def _add(self, index: int, delta: dict[str, Any]) -> str:
        block = self._blocks.setdefault(index, {"type": "text", "text": ""})
        match delta:
            case {"type": "text_delta", "text": str(text)}:
                block["text"] = block.get("text", "") + text
                return text
            case {"type": "input_json_delta", "partial_json": str(piece)}:
                self._inputs.setdefault(index, []).append(piece)
            case {"type": "thinking_delta", "thinking": str(text)}:
                block["thinking"] = block.get("thinking", "") + text
            case {"type": "signature_delta", "signature": str(signature)}:
                block["signature"] = block.get("signature", "") + signature
        return ""

    def _finish_block(self, index: int) -> Block:
        block = self._blocks[index]
        written = "".join(self._inputs.get(index, ()))
        if block.get("type") != "tool_use" or not written.strip():
            return block
        try:
            given = codec.decode(written)
        except codec.DecodingError:  # cut off, or not JSON: the protocol reports that to the model
            given = written
        return {**block, "input": given}

    def _read_call(self, block: Block) -> ToolCall:
        name = self._request.names.ours.get(str(block.get("name")), str(block.get("name")))
        given = block.get("input")
        if isinstance(given, dict):
            entry = next((entry for entry in self._request.tools if entry["name"] == name), {})
            given = anthropic.restore_arguments(given, entry)
        elif not isinstance(given, str):
            given = codec.encode(given).decode()
        return ToolCall(id=str(block.get("id", "")), name=name, arguments=given)

    def _count(self, usage: Any) -> None:
        if isinstance(usage, dict):  # counts are cumulative
            self._usage |= {name: value for name, value in usage.items() if value is not None}

    def _make_usage(self) -> Usage | None:
        if not self._usage:
            return None
        cached = count_in(self._usage, "cache_read_input_tokens")
        stored = count_in(self._usage, "cache_creation_input_tokens")
        return Usage(
            input_tokens=count_in(self._usage, "input_tokens") + stored + cached,
            output_tokens=count_in(self._usage, "output_tokens"),
            cached_tokens=cached,
            reasoning_tokens=count_in(self._usage, "output_tokens_details", "thinking_tokens"),
        )
