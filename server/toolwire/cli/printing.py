"""What commands write for whoever typed them."""

from __future__ import annotations

import sys
from typing import Any

import msgspec
from toolwire_schemas.output import Output


def say(text: str) -> None:
    """Write *text*, which was asked for, to standard output."""
    Output(sys.stdout).data(text)


def remark(sentence: str) -> None:
    """Write *sentence* about what was asked for to standard error. Nothing is written of an empty one."""
    if sentence:
        complain(f"toolwire: {sentence}")


def complain(text: str) -> None:
    """Write *text* to standard error."""
    Output(sys.stderr).line(text)


def as_json(value: Any) -> str:
    """Return *value* as JSON that is laid out for reading."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
