"""A model that says what it is told to: for tests, and for showing what an agent does."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import anyio
import msgspec
from toolwire_schemas.wire import codec

from ...react.model_reply import ModelReply
from ..errors import NoReplyLeft
from ..model import OnText, reply_from, tell

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ..model import Message


class AskedFor(msgspec.Struct, frozen=True, kw_only=True):
    """What a model was asked, as it was at that moment."""

    messages: list[Message]
    tools: list[dict[str, Any]] | None = None
    reply_schema: dict[str, Any] | None = None


Line = str | ModelReply | dict[str, Any] | Exception
"""What is said next: text, a whole reply, an object that is said as its JSON, or an error that is raised instead."""


class ScriptedModel:
    """A model whose replies are written beforehand: *script* is the list of them, or a function of what is asked.

    `asked` holds what it was sent, in order.
    """

    def __init__(self, script: Iterable[Line] | Callable[[AskedFor], Line]) -> None:
        self.asked: list[AskedFor] = []
        self._next = script if callable(script) else None
        self._lines = [] if callable(script) else list(script)

    async def reply(
        self,
        messages: list[Message],
        *,
        tools: list[dict[str, Any]] | None = None,
        reply_schema: dict[str, Any] | None = None,
        on_text: OnText | None = None,
    ) -> ModelReply:
        """As `Model.reply`.

        Raises:
            NoReplyLeft: if the script has come to its end.
        """
        await anyio.lowlevel.checkpoint()
        asked = AskedFor(messages=copy.deepcopy(messages), tools=copy.deepcopy(tools), reply_schema=reply_schema)
        self.asked.append(asked)
        line = self._next(asked) if self._next else self._line(len(self.asked) - 1)
        if isinstance(line, Exception):
            raise line
        if isinstance(line, dict):
            line = codec.encode(line).decode()
        said = reply_from(line, "the script")
        await tell(on_text, said.text)
        return said

    def _line(self, number: int) -> Line:
        if number < len(self._lines):
            return self._lines[number]
        asked = self.asked[-1].messages
        last = f"the last message is {str(asked[-1].get('content'))[:200]!r}" if asked else "with no message"
        raise NoReplyLeft(f"the script has {len(self._lines)} replies, and is asked for reply {number + 1}; {last}")

    def __repr__(self) -> str:
        return f"<ScriptedModel, asked {len(self.asked)} times{'' if self._next else f' of {len(self._lines)}'}>"
