"""Answers that a service should never give, for Hypothesis."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

_SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=4)
)
ANYTHING = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
"""Any JSON."""


def much_like(shape: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects that have some of the members of *shape*, and some of these as they should be."""
    members = {name: st.one_of(st.just(value), ANYTHING) for name, value in shape.items()}
    return st.fixed_dictionaries({}, optional=members)
