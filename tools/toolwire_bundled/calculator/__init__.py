"""Calculator: arithmetic that is exact where it can be.

An expression is parsed into a list of steps (parsing.py), which are done one after the other on a
stack (running.py): nothing is evaluated as code, and nothing recurses deeper than the parser
allows. Tables say what each name and operator does (functions.py, running.py); limits.py says how
far it may go.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_compat.lagent.base import BaseAction
from toolwire_compat.lagent.parsers import BaseParser, JsonParser
from toolwire_tools.decorator import tool_api
from toolwire_tools.errors import ToolError

from .results import Calculated

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Calculator"]


class Calculator(BaseAction):
    """Calculates, exactly where that is possible.

    Numbers have up to 30,000 digits, an expression up to 10,000 characters and brackets 100 deep;
    what is beyond that is refused before it is begun. An integer is shown exactly up to 4,000
    digits, a fraction up to 300. An error shows its place in the expression.
    """

    def __init__(
        self,
        description: dict[str, Any] | None = None,
        parser: Callable[..., BaseParser] = JsonParser,
        enable: bool = True,
        *,
        lang: str | None = None,
    ) -> None:
        super().__init__(description, parser, enable, lang=lang)

    @tool_api(read_only=True, open_world=False, idempotent=True)
    def run(self, expression: str) -> Calculated:
        """Calculate the value of an expression.

        Integers, fractions and decimals are exact: 1/3 + 1/6 is 1/2, 0.1 + 0.2 is 0.3. Inexact
        results, such as sqrt(2), are rounded to 15 digits, and `exact` is false.

        Operators: + - * / // (rounded down) % (remainder, with the sign of the divisor) ^ or **
        (power) ! == != < <= > >=. A % behind a number is percent: 15% of 80 is 12, 100 + 10% is
        100.1; before a minus, spaces tell: 7% - 3 is percent, 7 % -3 is the remainder.
        Multiplications are written: 2*pi.

        Functions: abs acos acosh asin asinh atan atan2(y, x) atanh cbrt ceil comb(n, k) cos cosd
        cosh degrees exp factorial floor gcd hypot lcm ln log(x, base) log10 log2 max mean median
        min mod perm(n, k) powmod(x, n, m) product pstdev pvariance radians root(x, n) round(x,
        digits) sign sin sind sinh sqrt stdev sum tan tand tanh trunc variance. log(x) is natural;
        sind, cosd and tand take degrees, the others radians; round takes halves away from zero.
        Those of many numbers also take a [list].

        Constants: pi e tau phi.

        Args:
            expression: what to calculate, such as `(1 + 2/3) * sqrt(16)`
        """
        from .evaluate import run
        from .format import format_value
        from .parsing import Fault, parse

        try:
            return format_value(run(parse(expression)))
        except Fault as fault:
            raise ToolError(fault.explain(expression)) from None
