"""The named types that stand above the functions of a language: each is written once, and has a name of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .name_mapping import Rule


class Definitions:
    """Collects them. *taken* are the names that functions, and the language itself, have already."""

    def __init__(self, rule: Rule, taken: Iterable[str]) -> None:
        self._rule = rule
        self._taken = set(taken)
        self._names: dict[str, str] = {}
        self._waiting: list[str] = []

    def known(self, meaning: str) -> str | None:
        """The name of the type with this *meaning*, any text that another type has not, if it has a name already."""
        return self._names.get(meaning)

    def name(self, meaning: str, hint: str) -> str:
        """Give the type with this *meaning* a name like *hint*; who asks for it has to `add` the type."""
        words = "".join(letter if letter.isalnum() else " " for letter in hint).split()
        wanted = self._rule.mended("".join(word[0].upper() + word[1:] for word in words) or "Type")
        name, number = wanted, 1
        while name in self._taken:
            number += 1
            name = f"{wanted}{number}"
        self._taken.add(name)
        self._names[meaning] = name
        return name

    def add(self, written: str) -> None:
        """Take in a type as it is to be *written*."""
        self._waiting.append(written)

    def take(self) -> list[str]:
        """The types that were added since the last time."""
        written, self._waiting = self._waiting, []
        return written
