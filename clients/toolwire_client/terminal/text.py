"""Text for a person at a terminal: harmless, and no longer than is read. What tools and models say may be anything."""

from __future__ import annotations

from typing import Any

from toolwire_schemas.output import printable
from toolwire_schemas.wire import codec

_MAX_VALUE = 80
_MAX_CHARS = 600
_MAX_LINES = 8


def called(tool: str, params: dict[str, Any]) -> str:
    """A call, as one line: `add(a=2, b=3)`."""
    return f"{_one_line(tool)}({arguments(params)})"


def arguments(params: dict[str, Any]) -> str:
    """Parameters, as one line."""
    return ", ".join(f"{_one_line(name)}={_one_line(as_json(value))}" for name, value in params.items())


def excerpt(value: Any) -> str:
    """The beginning of what a tool returned, and how long it is if that is not all."""
    text = value if isinstance(value, str) else as_json(value)
    lines = text[:_MAX_CHARS].rstrip("\n").split("\n")
    if len(text) <= _MAX_CHARS and len(lines) <= _MAX_LINES:
        return printable("\n".join(lines))
    return printable("\n".join(lines[:_MAX_LINES])) + f" … ({len(text):,} characters)"


def as_json(value: Any) -> str:
    """*value* as JSON, in one line; as well as that can be said, if JSON has no form for it."""
    try:
        return codec.encode(value).decode()
    except (codec.EncodingError, RecursionError):
        return str(value)


def is_cut(params: dict[str, Any]) -> bool:
    """Whether `called` does not show all of *params*."""
    return any(len(text) > _MAX_VALUE for name, value in params.items() for text in (name, as_json(value)))


def _one_line(text: str) -> str:
    cut = text if len(text) <= _MAX_VALUE else f"{text[: _MAX_VALUE - 1]}…"
    return printable(cut).translate(_SPACES)


_SPACES = str.maketrans("\n\t", "  ")
