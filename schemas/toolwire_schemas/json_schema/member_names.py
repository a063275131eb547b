"""The names of the members of an enumeration, in the description of its schema:
`1 = LOW, 2 = HIGH.`

JSON Schema has no keyword for them that hosts and models' APIs know. This notation is for models,
and names of every value are read from it: from the schemas of Toolwire's servers, and from any that
writes them so.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_MOST_VALUES = 100
"""More are no choice that a person or model looks through."""


def write_listing(named: Iterable[tuple[Any, str]]) -> str:
    """Return the sentence that names values: pairs of a value and its name."""
    return ", ".join(f"{value} = {name}" for value, name in named) + "."


def read_names(schema: Any) -> dict[str, Any]:
    """Return the values of an enumeration by their names; empty unless the description of *schema*
    names each.
    """
    if not isinstance(schema, dict) or not isinstance(schema.get("description"), str):
        return {}
    values = schema.get("enum")
    if not isinstance(values, list) or not 1 <= len(values) <= _MOST_VALUES:
        return {}
    pattern = ", ".join(rf"{re.escape(str(value))} = (\w+)" for value in values)
    found = re.search(rf"(?:^|\s){pattern}\.$", schema["description"])
    if found is None:
        return {}
    names = dict(zip(found.groups(), values, strict=True))
    if len(names) != len(values):
        return {}
    return names


def with_names(values: Sequence[Any], names: dict[str, Any]) -> list[tuple[Any, str]]:
    """Return each of *values* with its name: pairs as for `listing`; without those that have
    none.
    """
    pairs = []
    for value in values:
        for name, named in names.items():
            if type(named) is type(value) and named == value:
                pairs.append((value, name))
                break
    return pairs
