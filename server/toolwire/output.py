"""What commands write for whoever typed them."""

from __future__ import annotations

import sys
from typing import Any, TextIO

import msgspec


def say(text: str) -> None:
    """Write *text*, which was asked for, to standard output."""
    write(sys.stdout, text)


def remark(sentence: str) -> None:
    """Write *sentence* about what was asked for to standard error. Nothing is written of an empty one."""
    if sentence:
        write(sys.stderr, f"toolwire: {sentence}")


def write(stream: TextIO, text: str) -> None:
    """Write *text* as a line, or several."""
    # A server may answer with letters that the terminal's encoding lacks.
    encoding = stream.encoding or "utf-8"
    stream.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")


def as_json(value: Any) -> str:
    """Return *value* as JSON that is laid out for reading."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
