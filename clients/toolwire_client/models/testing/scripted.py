"""A model with prepared replies, for tests and demonstrations."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Unpack

import anyio
import msgspec
from toolwire_schemas.wire import codec

from ...react.messages import ModelReply
from ..errors import NoReplyLeft
from ..model import emit_text, reply_from

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..model import Message, ReplyOptions


class AskedFor(msgspec.Struct, frozen=True, kw_only=True):
    """A request, as it was at that moment."""

    messages: list[Message]
    tools: list[dict[str, Any]] | None = None
    reply_schema: dict[str, Any] | None = None


Line = str | ModelReply | dict[str, Any] | Exception
"""The next reply: text, a whole reply, an object to send as JSON, or an error to raise."""


class ScriptedModel:
    """A model with the replies of *script*: a list, or a function of the request. `asked` holds all requests."""

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
        reply = reply_from(line, "the script")
        await emit_text(options.get("on_text"), reply.text)
        return reply

    def _line(self, number: int) -> Line:
        if number < len(self._lines):
            return self._lines[number]
        asked = self.asked[-1].messages
        last = f"the last message is {str(asked[-1].get('content'))[:200]!r}" if asked else "with no message"
        raise NoReplyLeft(f"the script has {len(self._lines)} replies, and is asked for reply {number + 1}; {last}")
