"""Texts as they are recorded: secrets hidden, and without lone surrogates."""

from __future__ import annotations

from typing import Any


def repair_surrogates(text: str) -> str:
    """Return *text* with lone surrogates, which UTF-8 cannot represent, joined or replaced by
    U+FFFD.
    """
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


HIDDEN = "[hidden]"
"""The text recorded in place of a secret."""


def stands_for(recorded: Any, value: Any) -> bool:
    """Return whether *recorded* may be the record of *value*, where `HIDDEN` matches any text, and
    alone any number.
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    match recorded:
        case str() if recorded == HIDDEN and is_number:
            return True  # a PIN
        case str() if HIDDEN in recorded:
            first, *_, last = recorded.split(HIDDEN)
            return isinstance(value, str) and value.startswith(first) and value.endswith(last)
        case list():
            return (
                isinstance(value, list)
                and len(recorded) == len(value)
                and all(map(stands_for, recorded, value))
            )
        case dict() if isinstance(value, dict) and len(recorded) == len(value):
            plain = {name: item for name, item in recorded.items() if HIDDEN not in name}
            return all(
                name in value and stands_for(item, value[name]) for name, item in plain.items()
            )
    return bool(recorded == value)
