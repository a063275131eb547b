"""A model that is none: a planner for arithmetic, which needs no network and no account.

It reads the tools and the messages that it is sent, as a language model would, and solves arithmetic step by step with
whatever tools there are for it; in Chinese and English. It knows nothing else, and says so. It is for trying agents,
prompts and tools offline, and for tests that want a model with a mind of its own.

    words.py, numerals.py   what is written in a question?
    questions.py            which expressions does it ask for?
    abilities.py            which tool does which operation, and how is it called?
    solver.py, speech.py    what is to be done next, and how is it said?
    exchange.py             how is that told in messages?
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anyio.lowlevel import checkpoint

from ..model import OnText, tell
from .exchange import Exchange

if TYPE_CHECKING:
    from ...react.replies import ModelReply
    from ..model import Message


class ArithmeticModel:
    """The offline planner. It remembers nothing: each reply follows from the messages alone."""

    async def reply(
        self,
        messages: list[Message],
        *,
        tools: list[dict[str, Any]] | None = None,
        reply_schema: dict[str, Any] | None = None,
        on_text: OnText | None = None,
    ) -> ModelReply:
        """As `Model.reply`."""
        await checkpoint()
        made = Exchange(messages, tools, reply_schema).reply()
        await tell(on_text, made.text)
        return made

    def __repr__(self) -> str:
        return "<ArithmeticModel: an offline planner for arithmetic, not a language model>"
