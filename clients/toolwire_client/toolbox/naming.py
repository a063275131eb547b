"""One list of names out of several: what each is offered as, and what that stands for."""

from __future__ import annotations

import re
from collections import Counter
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_UNUSUAL = re.compile(r"[^A-Za-z0-9_-]+")


def offered(lists: Sequence[tuple[str, Sequence[str]]]) -> dict[str, tuple[int, str]]:
    """Return, by the name it is offered as, the list that a name is from and what it is called there; in their order.

    *lists* are the names of sources, each with the names to be found there. A name that only one list has stays. One
    that several have gets its source in front, as in `files_read`, and a number behind if there is such a name already.
    """
    found = list(dict.fromkeys((place, name) for place, (_, names) in enumerate(lists) for name in names))
    times = Counter(name for _, name in found)
    taken = {name for name in times if times[name] == 1}
    made: dict[str, tuple[int, str]] = {}
    for place, name in found:
        if times[name] == 1:
            made[name] = (place, name)
        else:
            free = next(wanted for wanted in _prefixed(lists[place][0], name) if wanted not in taken)
            taken.add(free)
            made[free] = (place, name)
    return made


def _prefixed(source: str, name: str) -> Iterator[str]:
    prefixed = f"{_UNUSUAL.sub('_', source)}_{name}"
    yield prefixed
    for number in count(2):
        yield f"{prefixed}_{number}"
