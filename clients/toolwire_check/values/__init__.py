"""Values of a JSON Schema for property tests: values that fit it, and values that break it.

    from hypothesis import given
    from toolwire_check.values import invalid_values, valid_values

    @given(valid_values({"type": "array", "items": {"type": "integer"}}))
    def test_sorting(items): ...

The schemas are JSON Schema 2020-12 and draft-07, as tools use them. Where the schema allows it,
values are nasty: huge integers, -0.0, text from right to left, a member named `__proto__`. Words
such as `not` and `if` only filter what is made: Hypothesis raises `Unsatisfiable` for a schema that
accepts hardly any of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .document import NoValues, ValueJudge
from .generate import Maker
from .negation import generate_broken_values

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from .document import Schema

__all__ = ["NoValues", "invalid_values", "valid_values"]


def valid_values(schema: Schema) -> SearchStrategy[Any]:
    """Return a strategy for values that fit *schema*, including common formats.

    Raises:
        NoValues: if it has something that values are not made for, such as a pattern that Python
            and JavaScript read differently, or only accepts values that are nested very deeply.
    """
    return Maker(ValueJudge(schema)).make_strategy()


def invalid_values(schema: Schema, *, within: Schema = True) -> SearchStrategy[Any]:
    """Return a strategy for values that break *schema*: valid ones with one change.

    All of them fit *within*. Formats are not broken, since validators need not check them.

    Raises:
        NoValues: as `valid_values`, and if every value fits *schema*.
    """
    return generate_broken_values(Maker(ValueJudge(schema)), within)
