"""Messages about unknown names, with the closest known one."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from .language import say, use_language

if TYPE_CHECKING:
    from collections.abc import Iterable

_MAX_NAME = 200
"""Characters of a name that are compared and repeated: a model may write names of any length."""
_MAX_COMPARED = 1000


def find_closest(name: str, known: Iterable[str], most: int = 1) -> list[str]:
    """Return at most *most* of the *known* names that resemble *name*, the most similar first."""
    import difflib  # only a mistake needs it

    short = (other for other in islice(known, _MAX_COMPARED) if len(other) <= _MAX_NAME)
    return difflib.get_close_matches(name[:_MAX_NAME], short, n=most)


def sort_closest_first(name: str, known: Iterable[str], most: int = 1) -> list[str]:
    """Return all *known* names, those first that `closest` returns."""
    names = list(known)
    close = find_closest(name, names, most)
    return [*close, *(other for other in names if other not in close)]


def explain_unknown_name(what: str, name: object, known: Iterable[str]) -> str:
    """Return a clause that says *name* is unknown, proposes the closest known one, and lists them
    all.

    It reads `no level 'warn', did you mean 'warning'? Known: debug, info, warning, error`. It is
    English, as is all that people read of errors; models read `say_unknown_name`.
    """
    with use_language("en"):
        return say_unknown_name(what, name, known)


def say_unknown_name(what: str, name: object, known: Iterable[str]) -> str:
    """Return the clause of `explain_unknown_name` in the language spoken here."""
    if len(given := str(name)) > _MAX_NAME:
        name = given = given[: _MAX_NAME - 1] + "…"
    names = list(known)
    if not names:
        return say("no {what} {name!r}; no names are known", what=say(what), name=name)
    close = find_closest(given, names)
    question = say(", did you mean {name!r}?", name=close[0]) if close else say(".")
    listed = ", ".join(names)
    return say(
        "no {what} {name!r}{question} Known: {known}",
        what=say(what),
        name=name,
        question=question,
        known=listed,
    )
