"""The named types of a text in one language.

Strategy. A type has a meaning, a text that is equal for equal types, and a hint, which is what it
is within and what it is called there. Types of one meaning have one name, like the last part of the
hint. Several types may want one name. Then each gets a number; or, if a reader contests the name,
one that begins with what the type is within.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .shapes import Definition, ObjectShape, Shape, UnionShape, ValuesShape

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from .name_mapping import NameRule

_WITHIN = "\0"
_MAX_HINT = 80
"""Letters of a name that are used in the names of types."""


class Definitions:
    """Collects the named types of a text in a language with this *rule* for names, or else of a
    page.

    *taken* are names that functions, or the language itself, have already. With *of_objects*,
    objects have to be named. With *of_unions*, unions and lists of texts too; what remains without
    a name is `T | null`, and values that are no texts are read as their kinds. With
    *tells_texts_apart*, a text in Base64 is one of `bytes`, and so on.

    No type has a *contested* name. `clashes` are the names to contest in another reading.
    """

    def __init__(
        self,
        rule: NameRule | None = None,
        taken: Iterable[str] = (),
        *,
        of_objects: bool = False,
        of_unions: bool = False,
        tells_texts_apart: bool = False,
        contested: Collection[str] = (),
    ) -> None:
        self.tells_texts_apart = tells_texts_apart
        self.of_objects, self.of_unions = of_objects, of_unions
        self.clashes: set[str] = set()
        self._contested = contested
        self._rule = rule
        self._taken = set(taken)
        self._names: dict[str, str] = {}
        self._numbers: dict[str, int] = {}
        self._new: list[Definition] = []

    def name(self, meaning: str, hint: str) -> tuple[str, bool]:
        """Return the name of the type with this *meaning*, and whether it is new and has to be
        added.
        """
        if meaning in self._names:
            return self._names[meaning], False
        name = self._make_unique(self._choose_likely(hint))
        self._taken.add(name)
        self._names[meaning] = name
        return name, True

    def _choose_likely(self, hint: str) -> str:
        """Return the shortest name by *hint* that is not contested; the longest if all are."""
        parts = hint.split(_WITHIN)
        for start in range(len(parts) - 1, 0, -1):
            name = self._write(" ".join(parts[start:]))
            if name not in self._contested:
                return name
        return self._write(" ".join(parts))

    def _make_unique(self, likely: str) -> str:
        name = likely
        # Thousands of objects may have one hint, so counting goes on where it ended.
        number = self._numbers.get(likely, 1)
        if name in self._taken:
            self.clashes.add(likely)
        while name in self._taken:
            number += 1
            name = f"{likely}{number}"
        self._numbers[likely] = number
        return name

    def _write(self, hint: str) -> str:
        if not self._rule:
            return hint
        words = "".join(letter if letter.isalnum() else " " for letter in hint).split()
        capitalized = "".join(word[0].upper() + word[1:] for word in words)
        return self._rule.find_nearest(capitalized or "Type")

    def add(self, name: str, shape: Shape, description: str) -> None:
        """Add the definition of a new *name*."""
        self._new.append(Definition(name, shape, description))

    def wants_name(self, shape: Shape) -> bool:
        """Return whether *shape* cannot stand within another without a name."""
        match shape:
            case ObjectShape():
                return self.of_objects and bool(shape.members)
            case ValuesShape():
                return self.of_unions and bool(shape.values)
            case UnionShape():
                return self.of_unions
        return False

    def take(self) -> list[Definition]:
        """Return the definitions that were added since the last time."""
        new, self._new = self._new, []
        return new


def hint_within(hint: str, name: str) -> str:
    """Return the hint at a type that is called *name* within another."""
    if hint:
        return f"{hint}{_WITHIN}{name[:_MAX_HINT]}"
    return name[:_MAX_HINT]


def hint_with_title(hint: str, title: str) -> str:
    """Return the hint at a type with a *title* where *hint* would be; *hint* without a title."""
    if title:
        return hint_within(hint.rpartition(_WITHIN)[0], title)
    return hint
