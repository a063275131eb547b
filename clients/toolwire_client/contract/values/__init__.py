"""Values of a JSON Schema for property tests: such that fit it, and such that break it in one known place.

    from hypothesis import given
    from toolwire_client.contract.values import invalid_values, valid_values

    @given(valid_values({"type": "array", "items": {"type": "integer"}}))
    def test_sorting(items): ...

The schemas are JSON Schema 2020-12 and draft-07, as tools use them. Where the schema allows it, values are nasty: huge
integers, -0.0, text from right to left, a member named `__proto__`. What values are not made for is said, not guessed.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec
from hypothesis import strategies as st

from .document import Document, NoValues, Schema, Unsatisfiable, Unsupported
from .generate import Maker, drawn
from .negation import Denial, Denials, Place, denial_with

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn

__all__ = ["Broken", "NoValues", "Unsatisfiable", "Unsupported", "invalid_values", "valid_values"]

_LEVELS_MORE = 3  # than the least that fits: enough to reach what is optional, and trees stay small
_MAX_DENIALS = 500


class Broken(msgspec.Struct, frozen=True):
    """A *value* that breaks a schema: what *keyword* says of what is, or should be, at *place*."""

    value: Any
    place: Place
    keyword: str


def valid_values(schema: Schema) -> st.SearchStrategy[Any]:
    """Return a strategy for values that fit *schema*. Formats that JSON Schema names are kept to.

    Raises:
        Unsupported: if values are not made for something in it, such as a pattern that Python and JavaScript read
            differently.
        Unsatisfiable: if nothing fits, as far as that can be told without trying.
    """
    maker = Maker(Document(schema))
    return drawn(maker, (schema,), _depth(maker, (schema,)))


def invalid_values(schema: Schema, *, within: Schema = True) -> st.SearchStrategy[Broken]:
    """Return a strategy for values that break *schema* in one place and fit it otherwise, where that is possible.

    All of them fit *within*. A format is never broken, since it is no rule but a remark to validators.

    Raises:
        Unsupported: as `valid_values`.
        Unsatisfiable: if everything fits, as far as that can be told.
    """
    document = Document(schema)
    maker = Maker(document)
    found = Denials(document, lambda schemas: maker.least_depth(schemas) is not None).of(schema)
    wanted = (denial_with(denial, within) for denial in islice(found, _MAX_DENIALS))
    denials = [denial for denial in wanted if maker.least_depth(denial.schemas) is not None]
    if not denials:
        raise Unsatisfiable("everything fits the schema, as far as can be told")
    return _broken(maker, denials)


@st.composite
def _broken(draw: DrawFn, maker: Maker, denials: list[Denial]) -> Broken:
    denial = draw(st.sampled_from(denials))
    value = maker.value(draw, denial.schemas, _depth(maker, denial.schemas))
    return Broken(value, denial.place, denial.keyword)


def _depth(maker: Maker, schemas: tuple[Schema, ...]) -> int:
    least = maker.least_depth(schemas)
    if least is None:
        raise Unsatisfiable("nothing fits the schema, or only what is nested very deeply")
    return least + _LEVELS_MORE
