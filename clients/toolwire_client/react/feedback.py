"""Something to be said to a model in its language: what is wrong with a reply, what was done to a result."""

from __future__ import annotations

import msgspec


class Remark(msgspec.Struct, frozen=True):
    """A sentence not yet in any language: `kind` names it, `details` fill it. `Language.say` makes it words."""

    kind: str
    details: dict[str, Detail] = {}


Detail = str | int | Remark
"""What fills a sentence may be one itself."""


def remark(kind: str, **details: Detail) -> Remark:
    """Return a remark with these details."""
    return Remark(kind, details)


class Unreadable(ValueError):
    """A reply, or a part of one, that cannot be taken for what it should be. `remark` says why, in any language."""

    def __init__(self, kind: str, **details: Detail) -> None:
        super().__init__(kind, details)
        self.remark = Remark(kind, details)

    def __str__(self) -> str:
        from .prompts import language

        return language("en").tell(self.remark)
