"""Text for a terminal: safe to print and short, because tools and models may write anything."""

from __future__ import annotations

from typing import Any

from toolwire_schemas.output import printable
from toolwire_schemas.wire import codec

_MAX_VALUE = 80
_MAX_CHARS = 600
_MAX_LINES = 8


def called(tool: str, params: dict[str, Any]) -> str:
    """Return a call as one line: `add(a=2, b=3)`."""
    return f"{_one_line(tool)}({arguments(params)})"


def arguments(params: dict[str, Any]) -> str:
    """Return parameters as one line."""
    return ", ".join(f"{_one_line(name)}={_one_line(as_json(value))}" for name, value in params.items())


def excerpt(value: Any) -> str:
    """Return the start of a tool's result, and its length if that is not all."""
    text = value if isinstance(value, str) else as_json(value)
    lines = text[:_MAX_CHARS].rstrip("\n").split("\n")
    if len(text) <= _MAX_CHARS and len(lines) <= _MAX_LINES:
        return printable("\n".join(lines))
    return printable("\n".join(lines[:_MAX_LINES])) + f" … ({len(text):,} characters)"


def as_json(value: Any) -> str:
    """Return *value* as JSON in one line, or as text if JSON cannot represent it."""
    try:
        return codec.encode(value).decode()
    except (codec.EncodingError, RecursionError):
        return str(value)


def is_cut(params: dict[str, Any]) -> bool:
    """Whether `called` shortens *params*."""
    return any(len(text) > _MAX_VALUE for name, value in params.items() for text in (name, as_json(value)))


def _one_line(text: str) -> str:
    cut = text if len(text) <= _MAX_VALUE else f"{text[: _MAX_VALUE - 1]}…"
    return printable(cut).translate(_SPACES)


_SPACES = str.maketrans("\n\t", "  ")
