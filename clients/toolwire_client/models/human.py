"""A model that is a person: to learn the protocol, or to try a prompt without an account."""

from __future__ import annotations

import copy
import os
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Unpack

from toolwire_schemas.wire import codec

from ..react.messages import ModelReply
from ..waiting.event_loop import in_thread
from .errors import NoReplyLeft, NotReady

if TYPE_CHECKING:
    from collections.abc import Callable

    from .model import Message, ReplyOptions

_HOW = "Reply as the model. JSON ends where it is complete, anything else with an empty line."


class HumanModel:
    """The person at the terminal is the model.

    It reads and writes the terminal, never standard output, which may carry a protocol. Without a terminal it uses
    standard input and standard error. *read* returns the next line, empty at the end; *write* shows a text.
    """

    name = "human"

    def __init__(self, *, read: Callable[[], str] | None = None, write: Callable[[str], object] | None = None) -> None:
        self._read = read
        self._write = write
        self._seen: list[Message] = []

    async def reply(self, messages: list[Message], **options: Unpack[ReplyOptions]) -> ModelReply:
        """As `Model.reply`: shows the messages since the last reply."""
        text = await in_thread(partial(self._ask, messages, options.get("tools") or []))
        return ModelReply(text=text, finish_reason="stop")

    def _ask(self, messages: list[Message], tools: list[dict[str, Any]]) -> str:
        is_going_on = messages[: len(self._seen)] == self._seen
        shown = _presented(messages, tools, since=len(self._seen) if is_going_on else 0)
        with ExitStack() as stack:
            read, write = self._read, self._write
            if read is None or write is None:
                theirs_in, theirs_out = _terminal(stack)
                read, write = read or theirs_in.readline, write or partial(print, end="", file=theirs_out, flush=True)
            write(shown)
            self._seen = copy.deepcopy(messages)
            return _typed(read)


def _presented(messages: list[Message], tools: list[dict[str, Any]], *, since: int) -> str:
    new = messages[since:] or messages[-1:]
    if since:  # the person knows what they reply
        new = [message for message in new if message.get("role") != "assistant"]
    parts = [f"--- {message.get('role')}\n{message.get('content') or ''}" for message in new]
    if tools and not since:
        parts.insert(0, "--- tools\n" + "\n".join(codec.encode(tool).decode() for tool in tools))
    return "\n".join([*parts, f"--- {_HOW}\n"])


def _typed(read: Callable[[], str]) -> str:
    """Return what is typed: up to the end of a JSON value, or to an empty line."""
    lines: list[str] = []
    while line := read():
        if not line.strip():
            if lines:
                break
            continue
        lines.append(line.rstrip("\r\n"))
        if _is_whole("\n".join(lines)):
            break
    if not lines:
        raise NoReplyLeft("the person who is the model has closed the input")
    return "\n".join(lines)


def _is_whole(text: str) -> bool:
    if not text.lstrip().startswith(("{", "[")):
        return False
    try:
        codec.decode(text)
    except codec.DecodingError:
        return False
    return True


def _terminal(stack: ExitStack) -> tuple[IO[str], IO[str]]:
    """Return the terminal's input and output, which *stack* closes."""
    reading, writing = map(Path, ("CONIN$", "CONOUT$") if os.name == "nt" else ("/dev/tty", "/dev/tty"))
    try:
        theirs_in = stack.enter_context(reading.open(encoding="utf-8", errors="replace"))
        return theirs_in, stack.enter_context(writing.open("w", encoding="utf-8", errors="replace"))
    except OSError:  # a job of a scheduler, a container
        if sys.stdin is None or sys.stdin.closed or sys.stderr is None:
            raise NotReady("there is neither a terminal nor a standard input to ask a person") from None
        return sys.stdin, sys.stderr
