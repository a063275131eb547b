"""Models with prepared replies, for tests and demonstrations: scripted ones, and ones recorded in a
file.

A record has lines of JSON, `{"messages": […], "reply": {…}}`, or is an agent's transcript. Other
lines are ignored.
"""

from __future__ import annotations

import copy
import os
from collections import deque
from itertools import takewhile
from operator import eq
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

_SHOWN = 200


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
        line = self._next(asked) if self._next else self._line(len(self.asked) - 1)
        if isinstance(line, Exception):
            raise line
        if isinstance(line, dict):
            line = codec.encode(line).decode()
        reply = read_reply(line, "the script")
        await emit_text(options.get("on_text"), reply.text)
        return reply

    def _line(self, number: int) -> Line:
        if number < len(self._lines):
            return self._lines[number]
        asked = self.asked[-1].messages
        last = (
            f"the last message is {str(asked[-1].get('content'))[:200]!r}"
            if asked
            else "with no message"
        )
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
            self._name, self.name = str(record), f"replay:{record}"
        lines = _lines(Path(record)) if isinstance(record, str | os.PathLike) else record
        self._recorded: dict[bytes, tuple[list[Message], deque[ModelReply]]] = {}
        for messages, reply in _exchanges(lines):
            try:
                made = (
                    ModelReply(text=reply)
                    if isinstance(reply, str)
                    else msgspec.convert(reply, ModelReply)
                )
            except msgspec.ValidationError as error:
                raise NoReplyLeft(f"a reply in {self._name} is invalid: {error}") from None
            self._recorded.setdefault(codec.encode(messages), (messages, deque()))[1].append(made)
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
        found = self._recorded.get(codec.encode(messages))
        if found is None:  # a transcript has no secrets
            found = next(
                (each for each in self._recorded.values() if stands_for(each[0], messages)), None
            )
        if found is None:
            raise NoReplyLeft(f"{self._name} has no reply to this: {self._difference(messages)}")
        replies = found[1]
        reply = replies.popleft() if len(replies) > 1 else replies[0]
        await emit_text(options.get("on_text"), reply.text)
        return reply

    def _difference(self, asked: list[Message]) -> str:
        """Return where *asked* first differs from the most similar recorded messages."""
        known = [messages for messages, _ in self._recorded.values()]
        same = [len(list(takewhile(bool, map(eq, messages, asked)))) for messages in known]
        place = max(same)
        recorded = known[same.index(place)]
        return (
            f"message {place + 1} is\n  asked:    {_shown(asked, place)}\n  recorded:"
            f" {_shown(recorded, place)}"
        )


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


def _exchanges(lines: Iterable[dict[str, Any]]) -> Iterable[tuple[list[Message], Any]]:
    sent: list[Message] = []
    for line in lines:
        match line:
            case {"type": "ModelAsked", "kept": int(kept), "messages": list(messages)}:
                sent = [*sent[:kept], *messages]
            case {"type": "ModelReplied", "reply": reply}:
                yield sent, reply
            case {"messages": list(messages), "reply": reply}:
                yield messages, reply


def _lines(path: Path) -> Iterable[Any]:
    *lines, rest = path.read_bytes().split(b"\n")
    for number, line in enumerate((*lines, rest), start=1):
        if line.strip():
            try:
                yield codec.decode(line)
            except codec.DecodingError as error:
                if line is rest and number > 1:  # a crash has cut it off
                    return
                raise NoReplyLeft(f"{path}, line {number}, is not JSON: {error}") from None


def _shown(messages: list[Message], place: int) -> str:
    if place >= len(messages):
        return "(no message)"
    message = messages[place]
    return f"{message.get('role')}: {str(message.get('content'))[:_SHOWN]!r}"
