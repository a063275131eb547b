"""A value as it is shown: exactly, and as a decimal."""

from __future__ import annotations

from decimal import Context, Decimal
from typing import TYPE_CHECKING

from .limits import MAX_DIGITS, MAX_FRACTION_DIGITS

if TYPE_CHECKING:
    from fractions import Fraction

    from .results import Calculated

_DIGITS = 30
"""Of a decimal that is rounded."""

_FLOAT_DIGITS = 15
"""Those of a float that are certain."""


def format_value(value: Fraction | float | bool) -> Calculated:
    """*value* in text; what would be too long as an integer or a fraction, rounded."""
    if isinstance(value, bool):
        word = "true" if value else "false"
        return {"result": word, "decimal": word, "exact": True}
    if isinstance(value, float):
        text = format(value, f".{_FLOAT_DIGITS}g")
        return {"result": text, "decimal": text, "exact": False}
    digits = max(value.numerator.bit_length(), value.denominator.bit_length()) * 0.30103
    if digits > (MAX_DIGITS if value.denominator == 1 else MAX_FRACTION_DIGITS):
        rounded = _round(value)
        return {"result": rounded, "decimal": rounded, "exact": False}
    decimal = str(value) if value.denominator == 1 else _round(value)
    return {"result": str(value), "decimal": decimal, "exact": True}


def _round(value: Fraction) -> str:
    quotient = Context(prec=_DIGITS).divide(Decimal(value.numerator), Decimal(value.denominator))
    plain = -10 < quotient.adjusted() < _DIGITS
    text = format(quotient, "f") if plain else str(quotient)
    return text.rstrip("0").rstrip(".") if plain and "." in text else text
