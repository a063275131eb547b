"""Checks of a tool's settings."""

from __future__ import annotations

import math
from typing import TypeVar

Number = TypeVar("Number", int, float)


def check_positive(setting: str, number: Number) -> Number:
    """The *number*, if it can be a limit.

    Raises:
        ValueError: if it is zero, negative or endless, by the name of the *setting*.
    """
    if not 0 < number < math.inf:
        raise ValueError(f"{setting}: a positive number, not {number!r}")
    return number
