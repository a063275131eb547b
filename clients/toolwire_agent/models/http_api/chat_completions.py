"""OpenAI's chat completions, and the variants of its imitators. No I/O.

Strategy. Requests are the plainest that all servers take. Replies are read as liberally as servers
are known to write: a missing index or id, arguments as an object, content in parts, thoughts under
three names, an error during a stream, usage in the last piece or in every one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_dialects import openai
from toolwire_schemas.wire import codec

from ...react.messages import ModelReply, ToolCall, Usage
from .reasoning import ReasoningSplitter
from .wire_format import (
    CutOff,
    HttpRequest,
    StreamFailed,
    calls_of,
    content_of,
    count_in,
    role_of,
    text_or_empty,
)

if TYPE_CHECKING:
    from ..model import Message
    from .vendors import Key, Preset

_FINISHED = {"function_call": "tool_calls", "max_tokens": "length", "error": "error"}
# DeepSeek and those who follow it; vLLM and OpenRouter. Both at once are the same text.
_THOUGHTS = ("reasoning_content", "reasoning")


# --- what is sent ---------------------------------------------------------------------------------


def _message(message: Message, request: HttpRequest) -> dict[str, Any]:
    role = role_of(message)
    made: dict[str, Any] = {"role": role, "content": content_of(message)}
    if role == "tool":
        made["tool_call_id"] = message["tool_call_id"]
    if role == "assistant" and (calls := calls_of(message)):
        made["tool_calls"] = [
            _call_entry(id, request.names.theirs.get(name, name), text) for id, name, text in calls
        ]
    return made | (message.get("echo") or {}) if role == "assistant" else made


def _response_format(
    schema: dict[str, Any], form: Preset, messages: list[dict[str, Any]]
) -> dict[str, Any]:
    if form.formats[0] == "json_schema":
        wanted = {"name": "reply", "schema": schema, "strict": _is_strict(schema)}
        return {"response_format": {"type": "json_schema", "json_schema": wanted}}
    # OpenAI, and Qwen even for a schema: "'messages' must contain the word 'json' in some form".
    if form.formats[0] == "json_object" and re.search("json", str(messages), re.IGNORECASE):
        return {"response_format": {"type": "json_object"}}
    return {}


def _is_strict(schema: dict[str, Any]) -> bool:
    from toolwire_dialects.lint.vendors import about_strict

    return not list(about_strict(schema))


# --- what comes -----------------------------------------------------------------------------------


class _Call(msgspec.Struct):
    """A tool call in progress."""

    id: str = ""
    name: str = ""
    arguments: str | dict[str, Any] = ""
    more: dict[str, Any] = {}

    def goes_on(self, delta: dict[str, Any]) -> bool:
        """Whether *delta*, at the same index, belongs to this call. Gemini gives all calls 0,
        others have no ids.
        """
        function = _object(delta.get("function"))
        id, name = text_or_empty(delta.get("id")), text_or_empty(function.get("name"))
        if (id and self.id and id != self.id) or (name and self.name and name != self.name):
            return False
        return bool(id) or not (self.arguments and isinstance(function.get("arguments"), dict))

    def add(self, delta: dict[str, Any]) -> None:
        function = _object(delta.get("function"))
        self.id = self.id or text_or_empty(delta.get("id"))
        self.name = self.name or text_or_empty(function.get("name"))
        arguments = function.get("arguments")
        if isinstance(arguments, dict):
            self.arguments = arguments
        elif isinstance(self.arguments, str):
            self.arguments += text_or_empty(arguments)
        self.more |= {
            name: value
            for name, value in delta.items()
            if name not in ("id", "index", "type", "function")
        }

    def as_sent(self) -> dict[str, Any]:
        written = (
            self.arguments
            if isinstance(self.arguments, str)
            else codec.encode(self.arguments).decode()
        )
        return _call_entry(self.id, self.name, written) | self.more


class ChatCompletions:
    """The wire format of OpenAI's chat completions. An object assembles one reply, from events or
    one value.

    Raises `StreamFailed` for errors in place of a reply, `ValueError` for violations of the API.
    """

    path = "/chat/completions"
    dialect = "openai"

    def __init__(self, request: HttpRequest, preset: Preset) -> None:
        self.is_complete = False
        self._request = request
        self._echoes = preset.echoes
        self._thoughts = ReasoningSplitter()
        self._reasoning: list[str] = []
        self._refusal: list[str] = []
        self._calls: list[_Call] = []
        self._at: dict[str, _Call] = {}
        self._echo: dict[str, Any] = {}
        self._finish_reason: str | None = None
        self._usage: Usage | None = None

    @staticmethod
    def headers(key: Key | None) -> dict[str, str]:
        return {} if key is None else {"authorization": f"Bearer {key.reveal()}"}

    @staticmethod
    def body(request: HttpRequest, form: Preset) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": request.model,
            "messages": [_message(message, request) for message in request.messages],
        }
        if request.tools:
            body["tools"] = [openai.from_entry(entry) for entry in request.named_tools()]
            body |= {"parallel_tool_calls": False} if form.takes_parallel else {}
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if request.max_tokens is not None:
            body[form.limit] = request.max_tokens
        if request.schema is not None:
            body |= _response_format(request.schema, form, body["messages"])
        if request.stream:
            body |= {
                "stream": True,
                **({"stream_options": {"include_usage": True}} if form.tells_usage else {}),
            }
        return body | request.body

    def event(self, data: bytes) -> str:
        if data.strip() in (b"", b"[DONE]"):
            self.is_complete = bool(data.strip())
            return ""
        return self._take(codec.decode(data), "delta")

    def whole(self, value: Any) -> str:
        self.is_complete = True
        if isinstance(value, dict) and "error" not in value and not value.get("choices"):
            raise ValueError("it has no choices")
        return self._take(value, "message")

    def reply(self) -> ModelReply:
        if not self.is_complete and self._finish_reason is None:
            raise CutOff
        text, thoughts = self._thoughts.finish()
        finish_reason = self._finish_reason
        if self._refusal and not text:
            text, finish_reason = "".join(self._refusal), "content_filter"
        calls = tuple(
            self._finished(number, call) for number, call in enumerate(self._calls, start=1)
        )
        return ModelReply(
            text=text,
            tool_calls=calls,
            finish_reason="tool_calls" if calls and finish_reason == "stop" else finish_reason,
            usage=self._usage,
            reasoning="\n".join(filter(None, ["".join(self._reasoning), thoughts])),
            echo=self._to_echo() if calls else {},
        )

    def _take(self, value: Any, member: str) -> str:
        if not isinstance(value, dict):
            raise ValueError(f"not an object: {str(value)[:80]}")
        if error := value.get("error"):
            raise StreamFailed(error)
        self._count(value.get("usage"))
        # The last piece may have no choice, or only usage. No request asks for more than one
        # choice.
        choice = next(map(_object, _list(value.get("choices"))), {})
        if error := choice.get("error"):
            raise StreamFailed(error)
        self._count(choice.get("usage"))  # Moonshot's place for it
        if reason := choice.get("finish_reason"):
            self._finish_reason = _FINISHED.get(str(reason), str(reason))
        return self._add(_object(choice.get(member)), is_whole=member == "message")

    def _add(self, delta: dict[str, Any], *, is_whole: bool) -> str:
        self._reasoning.append(
            next((text_or_empty(delta[name]) for name in _THOUGHTS if delta.get(name)), "")
        )
        self._refusal += [refusal] if (refusal := text_or_empty(delta.get("refusal"))) else []
        for place, call in enumerate(map(_object, _list(delta.get("tool_calls")))):
            self._call(call, place if is_whole else call.get("index", 0))
        for name in self._echoes:
            if (value := delta.get(name)) is not None:
                before = self._echo.get(name)
                is_piece = type(before) is type(value) and isinstance(value, str | list)
                self._echo[name] = before + value if is_piece else value
        return self._content(delta.get("content"))

    def _content(self, content: Any) -> str:
        text = ""
        # Mistral's models that think answer in parts.
        for part in map(_object, content if isinstance(content, list) else [{"text": content}]):
            if isinstance(thinking := part.get("thinking"), list):
                self._reasoning += [text_or_empty(_object(inner).get("text")) for inner in thinking]
            else:
                text += self._thoughts.feed(text_or_empty(part.get("text")))
        return text

    def _call(self, delta: dict[str, Any], index: Any) -> None:
        call = self._at.get(str(index))
        if call is None or not call.goes_on(delta):
            call = self._at[str(index)] = _Call()
            self._calls.append(call)
        call.add(delta)

    def _count(self, usage: Any) -> None:
        if isinstance(usage, dict):
            self._usage = Usage(
                input_tokens=count_in(usage, "prompt_tokens"),
                output_tokens=count_in(usage, "completion_tokens"),
                # DeepSeek's own name for it is the second.
                cached_tokens=count_in(usage, "prompt_tokens_details", "cached_tokens")
                or count_in(usage, "prompt_cache_hit_tokens"),
                reasoning_tokens=count_in(usage, "completion_tokens_details", "reasoning_tokens"),
            )

    def _finished(self, number: int, call: _Call) -> ToolCall:
        # Mistral wants nine letters and digits for an id; servers that give none, or one twice,
        # take any.
        is_used = any(call.id == other.id for other in self._calls[: number - 1])
        call.id = f"call{number:05}" if is_used or not call.id else call.id
        name = self._request.names.ours.get(call.name, call.name)
        return ToolCall(id=call.id, name=name, arguments=call.arguments)

    def _to_echo(self) -> dict[str, Any]:
        """Return what the vendor expects back, including unknown members of calls (Gemini:
        signatures).
        """
        if not any(call.more for call in self._calls):
            return self._echo
        return {**self._echo, "tool_calls": [call.as_sent() for call in self._calls]}


def _call_entry(id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _object(value: Any) -> dict[str, Any]:
    if value is not None and not isinstance(value, dict):
        raise ValueError(f"there is {str(value)[:80]!r} where an object should be")
    return value or {}


def _list(value: Any) -> list[Any]:
    if value is not None and not isinstance(value, list):
        raise ValueError(f"there is {str(value)[:80]!r} where a list should be")
    return value or []
