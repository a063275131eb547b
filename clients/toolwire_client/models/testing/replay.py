"""Models that record replies in a file of JSON lines, and repeat them by the messages of the request.

Each line is `{"messages": […], "reply": {…}}`, or the file is an agent's transcript. Other lines are ignored.
"""

from __future__ import annotations

import os
from collections import deque
from itertools import takewhile
from operator import eq
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import anyio.lowlevel
import msgspec
from toolwire_schemas.wire import codec

from ...react.messages import ModelReply, stands_for
from ..errors import NoReplyLeft
from ..model import Model, as_model, emit_text, kept_open

if TYPE_CHECKING:
    from collections.abc import Iterable
    from contextlib import AbstractAsyncContextManager

    from ..model import Message, ReplyOptions

Line = dict[str, Any]
_SHOWN = 200


class ReplayModel:
    """A model that repeats a record: the path of a file, or its lines as objects.

    The record is from a `RecordingModel` or a transcript. The same messages get their recorded reply; if they were
    recorded several times, the next one, and the last one from then on. So a run can be repeated in any order. Only
    messages are compared.

    Raises:
        NoReplyLeft: if the record has no reply at all.
    """

    def __init__(self, record: str | os.PathLike[str] | Iterable[Line]) -> None:
        self._name = "the record"
        if isinstance(record, str | os.PathLike):
            self._name = str(record)
            self.name = f"replay:{record}"
            lines: Iterable[Line] = _lines(Path(record))
        else:
            lines = record
        self._known: list[tuple[list[Message], bytes]] = []
        self._replies: dict[bytes, deque[ModelReply]] = {}
        for messages, reply in _exchanges(lines):
            key = codec.encode(messages)
            try:
                made = ModelReply(text=reply) if isinstance(reply, str) else msgspec.convert(reply, ModelReply)
            except msgspec.ValidationError as error:
                raise NoReplyLeft(f"a reply in {self._name} is invalid: {error}") from None
            self._known.append((messages, key))
            self._replies.setdefault(key, deque()).append(made)
        if not self._replies:
            raise NoReplyLeft(f"there is no reply in {self._name}: it has no line with messages and a reply")

    async def reply(self, messages: list[Message], **options: Unpack[ReplyOptions]) -> ModelReply:
        """As `Model.reply`.

        Raises:
            NoReplyLeft: if the messages are not recorded; the text shows the first difference.
        """
        await anyio.lowlevel.checkpoint()
        replies = self._replies.get(codec.encode(messages))
        if replies is None:  # a transcript has no secrets
            replies = next((self._replies[key] for known, key in self._known if stands_for(known, messages)), None)
        if replies is None:
            raise NoReplyLeft(f"{self._name} has no reply to this: {self._difference(messages)}")
        reply = replies.popleft() if len(replies) > 1 else replies[0]
        await emit_text(options.get("on_text"), reply.text)
        return reply

    def _difference(self, asked: list[Message]) -> str:
        """Return where *asked* first differs from the most similar recorded messages."""
        same = [len(list(takewhile(bool, map(eq, known, asked)))) for known, _ in self._known]
        place = max(same)
        recorded, _ = self._known[same.index(place)]
        return f"message {place + 1} is\n  asked:    {_shown(asked, place)}\n  recorded: {_shown(recorded, place)}"


class RecordingModel:
    """A model that asks *model* and adds every reply, unchanged, to the file *path*, for `ReplayModel`."""

    def __init__(self, model: object, path: str | os.PathLike[str]) -> None:
        self._model: Model = as_model(model)
        self._path = Path(path)

    @property
    def strict_schemas(self) -> bool:
        return bool(getattr(self._model, "strict_schemas", False))

    def kept_open(self) -> AbstractAsyncContextManager[None]:
        return kept_open(self._model)

    async def reply(self, messages: list[Message], **options: Unpack[ReplyOptions]) -> ModelReply:
        reply = await self._model.reply(messages, **options)
        line = codec.encode({"messages": messages, "reply": msgspec.to_builtins(reply)}) + b"\n"
        with self._path.open("ab") as file:  # one write, so that several may record to one file
            file.write(line)
        return reply


def _exchanges(lines: Iterable[Line]) -> Iterable[tuple[list[Message], Any]]:
    """Yield the messages of each request with its reply."""
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
