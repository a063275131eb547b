"""Numbers of bytes as people write them."""

from __future__ import annotations

_UNITS = (("KiB", 1024), ("MiB", 1024**2), ("GiB", 1024**3))


def parse_size(text: str) -> int:
    """Return a number of bytes, as in `500000` or `64 MiB`; raises a ValueError that says what was
    expected.
    """
    number, factor = text, 1
    for unit, bytes_ in _UNITS:
        if text.endswith(unit):
            number, factor = text.removesuffix(unit).rstrip(), bytes_
    if not (number.isascii() and number.isdigit() and int(number) > 0):
        raise ValueError("a number of bytes such as 500000 or 64MiB")
    return int(number) * factor


def format_size(number: int) -> str:
    """Return *number* with the largest unit in which it is whole: `512 MiB`."""
    for unit, bytes_ in reversed(_UNITS):
        if number % bytes_ == 0:
            return f"{number // bytes_} {unit}"
    return f"{number} bytes"
