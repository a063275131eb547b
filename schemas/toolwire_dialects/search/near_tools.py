"""Finds the tools that may be meant by a name that no tool has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolwire_schemas.did_you_mean import find_closest

from .found_tools import write_stubs
from .search_index import NoSearch

if TYPE_CHECKING:
    from .search_index import SearchIndex

MAX_NEAR = 3
"""How many tools an error about an unknown name shows."""

_MAX_CHARS = 2000
"""Characters of their stubs: one tool may have any number of parameters."""


def write_near_tools(name: str, index: SearchIndex) -> str:
    """Return stubs of the tools in *index* that are spelled as *name* or have its words; "" without
    such tools.
    """
    entries = {tool.name: tool.entry for tool in index.tools}
    near = find_closest(name, entries, MAX_NEAR)
    try:
        found = index.search(name, MAX_NEAR)
    except NoSearch:
        found = []
    names = list(dict.fromkeys([*near, *(tool.name for tool in found)]))[:MAX_NEAR]
    while names:
        stubs = write_stubs([entries[each] for each in names])
        if len(stubs) <= _MAX_CHARS:
            return stubs
        names.pop()
    return ""
