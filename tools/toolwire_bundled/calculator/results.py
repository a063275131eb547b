"""The type of the calculator's results."""

from __future__ import annotations

from typing import TypedDict


class Calculated(TypedDict):
    """The value of an expression: the `result`, the same as a `decimal`, and whether the result is
    exact.
    """

    result: str
    decimal: str
    exact: bool
