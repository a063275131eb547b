"""Models with prepared replies, for tests and demonstrations: scripted ones, and ones recorded in a
file.

A record has lines of JSON, `{"messages": […], "reply": {…}}`, or is an agent's transcript. Other
lines are ignored.
"""

from __future__ import annotations

import copy
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import anyio.lowlevel
import msgspec
from toolwire_client.redaction.hidden import stands_for
from toolwire_schemas.wire import codec

from ..react.messages import ModelReply
from .errors import NoReplyLeft
from .model import Model, as_model, emit_text, keep_open, read_reply

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from contextlib import AbstractAsyncContextManager

    from .model import Message, ReplyOptions

_MAX_EXCERPT_CHARS = 200


class AskedFor(msgspec.Struct, frozen=True, kw_only=True):
    """A request, as it was at that moment."""

    messages: list[Message]
    tools: list[dict[str, Any]] | None = None
    reply_schema: dict[str, Any] | None = None


Line = str | ModelReply | dict[str, Any] | Exception
"""The next reply: text, a whole reply, an object to send as JSON, or an error to raise."""


class ScriptedModel:
    """A model with the replies of *script*: a list, or a function of the request. `asked` holds all
    requests.
    """

    def __init__(self, script: Iterable[Line] | Callable[[AskedFor], Line]) -> None:
        self.asked: list[AskedFor] = []
        self._next = script if callable(script) else None
        self._lines = [] if callable(script) else list(script)

    async def reply(self, messages: list[Message], **options: Unpack[ReplyOptions]) -> ModelReply:
        """As `Model.reply`.

        Raises:
            NoReplyLeft: at the end of the script.
        """
        await anyio.lowlevel.checkpoint()
        tools, schema = copy.deepcopy(options.get("tools")), options.get("reply_schema")
        asked = AskedFor(messages=copy.deepcopy(messages), tools=tools, reply_schema=schema)
        self.asked.append(asked)
        line = self._next(asked) if self._next else self._find_line(len(self.asked) - 1)
        if isinstance(line, Exception):
            raise line
        if isinstance(line, dict):
            line = codec.encode(line).decode()
        reply = read_reply(line, "the script")
        await emit_text(options.get("on_text"), reply.text)
        return reply

    def _find_line(self, number: int) -> Line:
        if number < len(self._lines):
            return self._lines[number]
        asked = self.asked[-1].messages
        last = "with no message"
        if asked:
            last = f"the last message is {str(asked[-1].get('content'))[:_MAX_EXCERPT_CHARS]!r}"
        raise NoReplyLeft(
            f"the script has {len(self._lines)} replies, and is asked for reply {number + 1};"
            f" {last}"
        )


class ReplayModel:
    """A model that repeats a record: the path of a file, or its lines as objects.

    The record is from a `RecordingModel` or a transcript. The same messages get their recorded
    reply; if they were recorded several times, the next one, and the last one from then on. So a
    run can be repeated in any order. Only messages are compared.

    Raises:
        NoReplyLeft: if the record has no reply at all.
    """

    def __init__(self, record: str | os.PathLike[str] | Iterable[dict[str, Any]]) -> None:
        self._name = "the record"
        if isinstance(record, str | os.PathLike):
            self._name = str(record)
            self.name = f"replay:{record}"
            lines: Iterable[dict[str, Any]] = _read_lines(Path(record))
        else:
            lines = record
        self._recorded: dict[bytes, _Recorded] = {}
        for messages, reply in _find_replies(lines):
            recorded = self._recorded.setdefault(codec.encode(messages), _Recorded(messages))
            try:
                recorded.add(reply)
            except msgspec.ValidationError as error:
                raise NoReplyLeft(f"a reply in {self._name} is invalid: {error}") from None
        if not self._recorded:
            raise NoReplyLeft(
                f"there is no reply in {self._name}: it has no line with messages and a reply"
            )

    async def reply(self, messages: list[Message], **options: Unpack[ReplyOptions]) -> ModelReply:
        """As `Model.reply`.

        Raises:
            NoReplyLeft: if the messages are not recorded; the text shows the first difference.
        """
        await anyio.lowlevel.checkpoint()
        recorded = self._find(messages)
        if recorded is None:
            difference = self._describe_difference(messages)
            raise NoReplyLeft(f"{self._name} has no reply to this: {difference}")
        reply = recorded.take_reply()
        await emit_text(options.get("on_text"), reply.text)
        return reply

    def _find(self, messages: list[Message]) -> _Recorded | None:
        recorded = self._recorded.get(codec.encode(messages))
        if recorded is not None:
            return recorded
        for recorded in self._recorded.values():  # a transcript has no secrets
            if stands_for(recorded.messages, messages):
                return recorded
        return None

    def _describe_difference(self, asked: list[Message]) -> str:
        """Return where *asked* first differs from the most similar recorded messages."""
        place, most_similar = -1, asked
        for recorded in self._recorded.values():
            same = _count_same(recorded.messages, asked)
            if same > place:
                place, most_similar = same, recorded.messages
        return (
            f"message {place + 1} is\n  asked:    {_make_excerpt(asked, place)}\n  recorded:"
            f" {_make_excerpt(most_similar, place)}"
        )


class _Recorded:
    """Messages that were sent, and the replies to them."""

    def __init__(self, messages: list[Message]) -> None:
        self.messages = messages
        self._replies: list[ModelReply] = []

    def add(self, reply: Any) -> None:
        if isinstance(reply, str):
            self._replies.append(ModelReply(text=reply))
        else:
            self._replies.append(msgspec.convert(reply, ModelReply))

    def take_reply(self) -> ModelReply:
        """Return the next reply; the last one again and again."""
        if len(self._replies) > 1:
            return self._replies.pop(0)
        return self._replies[0]


class RecordingModel:
    """A model that asks *model* and adds every reply, unchanged, to the file *path*, for
    `ReplayModel`.
    """

    def __init__(self, model: object, path: str | os.PathLike[str]) -> None:
        self._model: Model = as_model(model)
        self._path = Path(path)

    @property
    def strict_schemas(self) -> bool:
        return bool(getattr(self._model, "strict_schemas", False))

    def keep_open(self) -> AbstractAsyncContextManager[None]:
        return keep_open(self._model)

    async def reply(self, messages: list[Message], **options: Unpack[ReplyOptions]) -> ModelReply:
        reply = await self._model.reply(messages, **options)
        line = codec.encode({"messages": messages, "reply": msgspec.to_builtins(reply)}) + b"\n"
        with self._path.open("ab") as file:  # one write, so that several may record to one file
            file.write(line)
        return reply


def _find_replies(lines: Iterable[dict[str, Any]]) -> Iterable[tuple[list[Message], Any]]:
    sent: list[Message] = []
    for line in lines:
        match line:
            case {"type": "ModelAsked", "kept": int(kept), "messages": list(messages)}:
                sent = [*sent[:kept], *messages]
            case {"type": "ModelReplied", "reply": reply}:
                yield sent, reply
            case {"messages": list(messages), "reply": reply}:
                yield messages, reply


def _read_lines(path: Path) -> Iterable[Any]:
    *lines, rest = path.read_bytes().split(b"\n")
    for number, line in enumerate((*lines, rest), start=1):
        if not line.strip():
            continue
        try:
            yield codec.decode(line)
        except codec.DecodingError as error:
            if line is rest and number > 1:  # a crash has cut it off
                return
            raise NoReplyLeft(f"{path}, line {number}, is not JSON: {error}") from None


def _count_same(messages: list[Message], others: list[Message]) -> int:
    """Return how many messages at the start of both are the same."""
    count = 0
    for message, other in zip(messages, others, strict=False):
        if message != other:
            break
        count += 1
    return count


def _make_excerpt(messages: list[Message], place: int) -> str:
    if place >= len(messages):
        return "(no message)"
    message = messages[place]
    return f"{message.get('role')}: {str(message.get('content'))[:_MAX_EXCERPT_CHARS]!r}"
