"""A value as it is shown: exactly, and as a decimal."""

from __future__ import annotations

from decimal import Context, Decimal
from typing import TYPE_CHECKING

from toolwire_tools.errors import ToolError

from .limits import MAX_DIGITS

if TYPE_CHECKING:
    from fractions import Fraction

    from . import Calculated

_DIGITS = 30
"""Of a decimal that is rounded."""

_FLOAT_DIGITS = 15
"""Those of a float that are certain."""


def shown(value: Fraction | float | bool) -> Calculated:
    """*value* in text.

    Raises:
        ToolError: if it has more digits than can be shown.
    """
    if isinstance(value, bool):
        word = "true" if value else "false"
        return {"result": word, "decimal": word, "exact": True}
    if isinstance(value, float):
        text = format(value, f".{_FLOAT_DIGITS}g")
        return {"result": text, "decimal": text, "exact": False}
    bits = max(value.numerator.bit_length(), value.denominator.bit_length())
    if bits > MAX_DIGITS / 0.30103:
        digits = int(bits * 0.30103) + 1
        remedy = "round it, take its logarithm, or a remainder"
        raise ToolError(f"the result has about {digits:,} digits, and at most {MAX_DIGITS:,} are shown: {remedy}")
    return {"result": str(value), "decimal": _decimal(value), "exact": True}


def _decimal(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value)
    quotient = Context(prec=_DIGITS).divide(Decimal(value.numerator), Decimal(value.denominator))
    plain = -10 < quotient.adjusted() < _DIGITS
    text = format(quotient, "f") if plain else str(quotient)
    return text.rstrip("0").rstrip(".") if plain and "." in text else text
