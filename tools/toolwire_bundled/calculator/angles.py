"""Sines, cosines and tangents of angles in degrees, exact where the value is rational."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from toolwire_schemas.language import say

from .exact import is_exact

if TYPE_CHECKING:
    from collections.abc import Callable

    from .exact import Number


def _convert_to_degrees(
    function: Callable[[float], float], known: dict[int, Fraction | None]
) -> Callable[[Number], Number]:
    """Return *function* of an angle in degrees; *known* has its exact values, None where it has no
    value.
    """

    def compute(angle: Number) -> Number:
        turned = angle % 360
        if is_exact(angle) and turned in known:
            value = known[int(turned)]
            if value is None:
                raise ValueError(say("the tangent of 90 or 270 degrees is infinite"))
            return value
        return function(math.radians(turned))

    return compute


_HALF = Fraction(1, 2)
_SINES: dict[int, Fraction | None] = {
    0: Fraction(0),
    30: _HALF,
    90: Fraction(1),
    150: _HALF,
    180: Fraction(0),
    210: -_HALF,
    270: Fraction(-1),
    330: -_HALF,
}
_COSINES = {(90 - angle) % 360: sine for angle, sine in _SINES.items()}
_TANGENTS: dict[int, Fraction | None] = {
    0: Fraction(0),
    45: Fraction(1),
    90: None,
    135: Fraction(-1),
    180: Fraction(0),
    225: Fraction(1),
    270: None,
    315: Fraction(-1),
}

sind = _convert_to_degrees(math.sin, _SINES)
cosd = _convert_to_degrees(math.cos, _COSINES)
tand = _convert_to_degrees(math.tan, _TANGENTS)
