"""A model that is a person: to learn the protocol, or to try a prompt without an account."""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Unpack

from toolwire_client.waiting.event_loop import run_in_thread
from toolwire_schemas.wire import codec

from ..react.messages import ModelReply
from .errors import NoReplyLeft, NotReady

if TYPE_CHECKING:
    from collections.abc import Callable

    from .model import Message, ReplyOptions

_HOW = "Reply as the model. JSON ends where it is complete, anything else with an empty line."


class HumanModel:
    """The person at the terminal is the model.

    It reads and writes the terminal, never standard output, which may carry a protocol. Without a
    terminal it uses standard input and standard error. *read*, which returns the next line or "" at
    the end, and *write* replace both.
    """

    name = "human"

    def __init__(
        self, *, read: Callable[[], str] | None = None, write: Callable[[str], object] | None = None
    ) -> None:
        self._read = read
        self._write = write

    async def reply(self, messages: list[Message], **options: Unpack[ReplyOptions]) -> ModelReply:
        """As `Model.reply`: shows the messages since the last reply."""
        text = await run_in_thread(
            partial(self._ask, _format_messages(messages, options.get("tools") or []))
        )
        return ModelReply(text=text, finish_reason="stop")

    def _ask(self, shown: str) -> str:
        if self._read and self._write:
            self._write(shown)
            return _read_typed(self._read)
        with ExitStack() as stack:
            theirs_in, theirs_out = _open_terminal(stack)
            theirs_out.write(shown)
            theirs_out.flush()
            return _read_typed(theirs_in.readline)


def _format_messages(messages: list[Message], tools: list[dict[str, Any]]) -> str:
    parts = (
        ["--- tools\n" + "\n".join(codec.encode(tool).decode() for tool in tools)] if tools else []
    )
    for message in messages:
        if (
            message.get("role") == "assistant"
        ):  # the person has seen everything up to their own reply
            parts = []
        else:
            parts.append(f"--- {message.get('role')}\n{message.get('content') or ''}")
    return "\n".join([*parts, f"--- {_HOW}\n"])


def _read_typed(read: Callable[[], str]) -> str:
    """Return the typed text: up to the end of a JSON value, or to an empty line."""
    text = ""
    while (line := read()) and (line.strip() or not text):
        text += line if line.strip() else ""
        if _is_whole(text):
            break
    if not text:
        raise NoReplyLeft("the person who is the model has closed the input")
    return text.rstrip("\r\n")


def _is_whole(text: str) -> bool:
    try:
        return text.lstrip().startswith(("{", "[")) and codec.decode(text) is not None
    except codec.DecodingError:
        return False


def _open_terminal(stack: ExitStack) -> tuple[IO[str], IO[str]]:
    """Return the terminal's input and output, which *stack* closes."""
    reading, writing = map(
        Path, ("CONIN$", "CONOUT$") if os.name == "nt" else ("/dev/tty", "/dev/tty")
    )
    try:
        theirs_in = stack.enter_context(reading.open(encoding="utf-8", errors="replace"))
        return theirs_in, stack.enter_context(writing.open("w", encoding="utf-8", errors="replace"))
    except OSError:  # a job of a scheduler, a container
        if sys.stdin is None or sys.stdin.closed or sys.stderr is None:
            raise NotReady(
                "there is neither a terminal nor a standard input to ask a person"
            ) from None
        return sys.stdin, sys.stderr
