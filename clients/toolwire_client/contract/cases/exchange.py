"""The exchange that led to a verdict, as lines that can be read, and sent again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from .conversation import Did, Ended, Heard, Noise, Said

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .conversation import Event

_MAX_LINES = 40
_MAX_LETTERS = 2000


def lines(events: Sequence[Event], *, is_whole: bool = False) -> list[str]:
    """Return *events* as lines: `-> ` before what was sent, `<- ` before what came, `-- ` before what happened.

    The middle of a long exchange is left out, unless it has to be *is_whole*.
    """
    found = [line for event in events for line in _lines(event)]
    if is_whole or len(found) <= _MAX_LINES:
        return found
    half = _MAX_LINES // 2
    return [*found[:half], f"-- {len(found) - 2 * half} lines are left out here", *found[-half:]]


def _lines(event: Event) -> Iterator[str]:
    match event:
        case Said(data=data, size=size):
            yield f"-> {_text(data, size)}"
        case Heard(data=data):
            yield f"<- {_text(data, len(data))}"
        case Noise(data=data, why=why):
            yield f"<- {_text(data, len(data))}   (noise on stdout: {why})"
        case Did(what=what):
            yield f"-- {what}"
        case Ended(how=how, stderr=stderr):
            yield f"-- it {how}"
            for line in stderr.splitlines()[-5:]:
                yield f"-- stderr: {line[:_MAX_LETTERS]}"


def _text(data: bytes, size: int) -> str:
    """*data* as it can be put into `printf '%b'` or a JSON file: what cannot be printed, as escapes of JSON."""
    text = data.rstrip(b"\n").decode(errors="backslashreplace")
    text = "".join(letter if letter.isprintable() else json.dumps(letter)[1:-1] for letter in text)
    return text if len(text) <= _MAX_LETTERS else f"{text[:_MAX_LETTERS]}… ({size:,} bytes)"
