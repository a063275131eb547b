"""Words for a name that is not among the known ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolwire_schemas.language import say

if TYPE_CHECKING:
    from collections.abc import Iterable


_MAX_NAME = 200
"""Characters of a name that are repeated: what a model writes may be of any length."""


def unknown(what: str, name: object, known: Iterable[str]) -> str:
    """A clause that says *name* is unknown, proposes the closest known one, and lists them all.

    It reads `no level 'warn', did you mean 'warning'? Known: debug, info, warning, error`.
    """
    import difflib  # only a mistake needs it

    if len(said := str(name)) > _MAX_NAME:
        name = said = said[: _MAX_NAME - 1] + "…"
    names = list(known)
    if not names:
        return say("no {what} {name!r}; there is none at all", what=say(what), name=name)
    close = difflib.get_close_matches(said, names, n=1)
    question = say(", did you mean {name!r}?", name=close[0]) if close else say(".")
    known = ", ".join(names)
    return say("no {what} {name!r}{question} Known: {known}", what=say(what), name=name, question=question, known=known)
