"""The named types of a text in one language.

Strategy. A type has a meaning, a text that is equal for equal types, and a hint, which is what it
is within and what it is called there. Types of one meaning have one name, like the last part of the
hint. If several types want one name, each gets a number.

The names in a client must last: a tool that is added may not rename the types of others. So there,
a type that the server does not name is one of its tool alone, and called by all of its hint. A type
that the server names has that name; if two tools mean different types by it, the name is contested,
and each type is called by all of its hint.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .shapes import Definition, ObjectShape, ScalarShape, Shape, UnionShape, ValuesShape
from .tool_entry import describe

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from .name_mapping import NameRule
    from .shapes import ShapeMember

_WITHIN = "\0"
_MAX_HINT = 80
"""Letters of a name that are used in the names of types."""
_MAX_NAME = 100
"""Letters of a name by all of a hint, which is as long as the schema is deep."""
_DIGITS = 8
"""Of the digest that ends a name which is too long, or contested."""


class Definitions:
    """Collects the named types of a text in a language with this *rule* for names, or else of a
    page.

    *taken* are names that functions, or the language itself, have already. With *of_objects*,
    objects have to be named. With *of_unions*, unions and lists of texts too; what remains without
    a name is `T | null`, and values that are no texts are read as their kinds. An object of up to
    *short_members* plain members, without descriptions, stands in its place. *text_types*
    are the types that texts are read as, by their formats; `base64` is also an encoding.
    """

    def __init__(
        self,
        rule: NameRule | None = None,
        taken: Iterable[str] = (),
        *,
        of_objects: bool = False,
        of_unions: bool = False,
        short_members: int = 0,
        text_types: Mapping[str, str] | None = None,
    ) -> None:
        self.text_types = text_types or {}
        self.of_objects, self.of_unions = of_objects, of_unions
        self._short_members = short_members
        self.scope = ""
        """The tool, or the type that the server names, whose parts are being named."""
        self._rule = rule
        self._taken = set(taken)
        self._names: dict[str, str] = {}
        self._numbers: dict[str, int] = {}
        self._new: list[Definition] = []

    def name(self, meaning: str, hint: str) -> tuple[str, bool]:
        """Return the name of the type with this *meaning*, which the server names, and whether it
        is new and has to be added.
        """
        return self._name(meaning, self._write(_take_last_part(hint)))

    def name_part(self, meaning: str, hint: str) -> tuple[str, bool]:
        """Return the same for a type without a name in the schema."""
        return self.name(meaning, hint)

    def _name(self, meaning: str, likely: str) -> tuple[str, bool]:
        if meaning in self._names:
            return self._names[meaning], False
        name = self._make_unique(likely)
        self._taken.add(name)
        self._names[meaning] = name
        return name, True

    def _make_unique(self, likely: str) -> str:
        name = likely
        # Thousands of objects may have one hint, so counting goes on where it ended.
        number = self._numbers.get(likely, 1)
        while name in self._taken:
            number += 1
            name = f"{likely}{number}"
        self._numbers[likely] = number
        return name

    def _write(self, hint: str) -> str:
        if not self._rule:
            return hint
        spaced = "".join(letter if letter.isalnum() else " " for letter in hint)
        name = "".join(word[0].upper() + word[1:] for word in spaced.split())
        return self._rule.find_nearest(name or "Type")

    def add(self, name: str, shape: Shape, description: str) -> None:
        """Add the definition of a new *name*."""
        self._new.append(Definition(name, shape, description))

    def wants_name(self, shape: Shape) -> bool:
        """Return whether *shape* cannot stand within another without a name."""
        match shape:
            case ObjectShape():
                return self.of_objects and bool(shape.members) and not self._is_short(shape)
            case ValuesShape():
                return self.of_unions and bool(shape.values)
            case UnionShape():
                return self.of_unions
        return False

    def _is_short(self, shape: ObjectShape) -> bool:
        if len(shape.members) > self._short_members or shape.rest is not None:
            return False
        return all(map(self._is_plain, shape.members))

    def _is_plain(self, member: ShapeMember) -> bool:
        if not member.is_required or describe(member.schema):
            return False
        has_plain_name = self._rule is None or self._rule.allows(member.name)
        return has_plain_name and isinstance(member.shape, ScalarShape)

    def take(self) -> list[Definition]:
        """Return the definitions that were added since the last time."""
        new, self._new = self._new, []
        return new


class LastingDefinitions(Definitions):
    """The named types of a client, in another reading of the tools without the *contested* names.

    `clashes` are the names to contest in the next reading.
    """

    def __init__(
        self,
        rule: NameRule,
        taken: Iterable[str],
        *,
        of_objects: bool,
        of_unions: bool,
        text_types: Mapping[str, str],
        contested: Collection[str],
    ) -> None:
        super().__init__(
            rule,
            taken,
            of_objects=of_objects,
            of_unions=of_unions,
            text_types=text_types,
        )
        self.clashes: set[str] = set()
        self._longest = min(rule.max_length, _MAX_NAME)
        self._contested = contested

    def name(self, meaning: str, hint: str) -> tuple[str, bool]:
        """Return the server's own name, unless it is contested."""
        return self._find_uncontested(meaning, self._write(_take_last_part(hint)), hint)

    def name_part(self, meaning: str, hint: str) -> tuple[str, bool]:
        """Return a name by all of *hint*; equal types of different tools, or of different types of
        the server, have different names.
        """
        own_meaning = f"{self.scope}{_WITHIN}{meaning}"
        return self._find_uncontested(own_meaning, self._write_all(hint), hint)

    def name_arguments(self, tool: str) -> str:
        """Return the name for the arguments of *tool*, to which all others give way."""
        name, _ = self._name(f"arguments of {tool}", self._write(f"{tool} arguments"))
        return name

    def _find_uncontested(self, meaning: str, likely: str, hint: str) -> tuple[str, bool]:
        for name in (likely, self._write_all(hint)):
            if name not in self._contested:
                return self._name(meaning, name)
        return self._name(meaning, self._with_digest(hint))

    def _write_all(self, hint: str) -> str:
        name = self._write(hint.replace(_WITHIN, " "))
        if len(name) < self._longest:
            return name
        return self._with_digest(hint)  # what was cut off may tell it from another

    def _with_digest(self, hint: str) -> str:
        name = self._write(hint.replace(_WITHIN, " "))
        from hashlib import sha256  # takes milliseconds, and few names need it

        digest = sha256(hint.encode("utf-8", "surrogatepass")).hexdigest()
        ending = f"_{digest[:_DIGITS]}"
        return name[: self._longest - len(ending)] + ending

    def _make_unique(self, likely: str) -> str:
        if likely in self._taken:
            self.clashes.add(likely)
        return super()._make_unique(likely)


def _take_last_part(hint: str) -> str:
    return hint.rpartition(_WITHIN)[2]


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
