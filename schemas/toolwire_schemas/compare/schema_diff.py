"""Where two schemas differ, and which of them takes what at each such place.

Strategy. Both schemas are walked side by side as far as they are built alike: members by name, elements of arrays, what
may be null. Parts that are not built alike are one difference at their place. What a difference means is
asked of the schemas there (`verdict.py`), and no part may claim more than is true of the whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from ..json_schema.bounded_validator import identity
from ..json_schema.error_text import place as written
from ..json_schema.error_text import shown
from .closed_world import described
from .nodes import SAYING, Document, Key, Node, Sameness, equal, limited
from .subset import UNKNOWN, YES, Verdict, compared

if TYPE_CHECKING:
    from collections.abc import Iterator

Kind = Literal[
    "member-added",
    "member-removed",
    "member-required",
    "member-optional",
    "narrowed",
    "widened",
    "changed",
    "undecided",
    "default-changed",
    "text-changed",
    "reported-above",
]

_TEXTS = ("title", "description", "examples", "deprecated")

# What an object and an array may say if their parts are to be compared one by one.
_OF_OBJECTS = {"type", "properties", "required", "additionalProperties", "propertyNames"}
_OF_OBJECTS |= {"minProperties", "maxProperties", "dependentRequired"}
_OF_ARRAYS = {"type", "items", "minItems", "maxItems", "uniqueItems"}


class Difference(msgspec.Struct, frozen=True):
    """One difference at one *place*: does the new schema take all that the old one did, and the other way round?"""

    place: str
    kind: Kind
    text: str
    new_takes_old: Verdict = YES
    old_takes_new: Verdict = YES
    is_plain: bool = False
    """The verdicts are about all values that the schemas take, also members that these do not describe."""
    is_silent: bool = False
    """The schemas take the same: the verdict says that a value may be ignored which was not."""


class Side(msgspec.Struct, frozen=True):
    """A schema as written, and `closed`: as its senders understand it."""

    plain: Node
    closed: Node

    def resolved(self) -> Side:
        """What it refers to, if it only refers."""
        return Side(self.plain.resolved(), self.closed.resolved())

    def part(self, *path: str | int) -> Side:
        """A schema inside it."""
        return Side(_part(self.plain, path), _part(self.closed, path))

    def takes_all_of(self, other: Side) -> Verdict:
        """Whether it takes all that *other* describes."""
        return compared(other.closed, self.plain)

    def needs(self, name: str) -> Verdict:
        """Whether all that it describes has a member of this *name*."""
        words = self.plain.words
        needing = self.plain.document.made({**words, "required": [*words.get("required", ()), name]})
        return compared(self.closed, needing)

    def takes_among_others(self, member: Side) -> Verdict:
        """Whether a member of a name that it does not know may be any *member*."""
        others = self.plain.words.get("additionalProperties")
        return YES if others is None else compared(member.closed, self.plain.at(others))


def _part(node: Node, path: tuple[str | int, ...]) -> Node:
    schema = node.schema
    for step in path:
        schema = schema[step]
    return node.at(schema)


def differences(old: Any, new: Any, place: str) -> list[Difference]:
    """Return where the schemas *old* and *new*, of what is called *place*, differ; an empty list if nowhere."""
    try:
        before, after = (Side(Document(schema).top, Document(described(schema)).top) for schema in (old, new))
        with limited():
            found = _Walk().between(before, after, place)
    except RecursionError:
        if equal(old, new):
            return []
        return [Difference(place, "undecided", "it is nested too deeply to be compared", UNKNOWN, UNKNOWN)]
    return [difference for difference in found if difference.kind != "reported-above"]


class _Walk:
    def __init__(self) -> None:
        self._same = Sameness()
        self._within: list[tuple[Key, Key]] = []

    def between(self, old: Side, new: Side, place: str) -> list[Difference]:
        """The differences at *place* and below."""
        remarks = {found.text: found for found in _remarks(old, new, place)}
        old, new = old.resolved(), new.resolved()
        remarks |= {found.text: found for found in _remarks(old, new, place)}
        return [*remarks.values(), *self._meaningful(old, new, place)]

    def _meaningful(self, old: Side, new: Side, place: str) -> list[Difference]:
        pair = (old.plain.key, new.plain.key)
        if pair in self._within:
            whole = Verdict("no")  # or whatever is true of what contains itself here
            return [Difference(place, "reported-above", "", whole, whole)]
        self._within.append(pair)
        is_same = self._same(old.plain, new.plain)
        ahead, back = (YES, YES) if is_same else (new.takes_all_of(old), old.takes_all_of(new))
        plain: tuple[Verdict, Verdict] | None = (YES, YES) if is_same else None
        below = []
        for found in self._below(old, new, place):
            if found.is_plain and plain is None:
                plain = compared(old.plain, new.plain), compared(new.plain, old.plain)
            bounds = plain if found.is_plain and plain is not None else (ahead, back)
            if (bounded := _within_bounds(found, *bounds)) is not None:
                below.append(bounded)
        self._within.pop()
        return below if is_same else [*self._here(old, new, place, below, ahead, back), *below]

    def _below(self, old: Side, new: Side, place: str) -> Iterator[Difference]:
        if _is_plain(old.plain, new.plain, "properties", _OF_OBJECTS):
            yield from self._members(old, new, place)
            if _are_maps(old.plain, new.plain):
                mine, theirs = (side.part("additionalProperties") for side in (old, new))
                yield from self.between(mine, theirs, f"{place}.*")
        elif _is_plain(old.plain, new.plain, "items", _OF_ARRAYS):
            yield from self.between(old.part("items"), new.part("items"), f"{place}[]")
        elif (where := _besides_null(old.plain)) and (there := _besides_null(new.plain)):
            yield from self.between(old.part(*where), new.part(*there), place)

    def _members(self, old: Side, new: Side, place: str) -> Iterator[Difference]:
        mine, theirs = (side.plain.words.get("properties", {}) for side in (old, new))
        needed, needed_now = (set(side.plain.words.get("required", ())) for side in (old, new))
        for name in mine:
            where, member = written(place, [name]), old.part("properties", name)
            if name not in theirs:
                back = new.needs(name) if name in needed else YES
                ahead = new.takes_among_others(member)
                # To what effect is it taken? Most tools drop what they do not know.
                if ahead.answer == "yes" and member.plain.schema is not False:
                    text = "removed; values are still accepted, but may be ignored"
                    yield Difference(where, "member-removed", text, UNKNOWN, back, is_silent=True)
                else:
                    yield Difference(where, "member-removed", "removed", ahead, back)
                continue
            if name in needed_now - needed:
                yield Difference(where, "member-required", "required now", old.needs(name), YES)
            elif name in needed - needed_now:
                yield Difference(where, "member-optional", "optional now", YES, new.needs(name))
            yield from self.between(member, new.part("properties", name), where)
        for name in theirs:
            if name not in mine:
                where, member = written(place, [name]), new.part("properties", name)
                is_needed = name in needed_now
                ahead = old.needs(name) if is_needed else YES
                text = "new, required" if is_needed else "new, optional"
                yield Difference(where, "member-added", text, ahead, old.takes_among_others(member))

    def _here(
        self, old: Side, new: Side, place: str, below: list[Difference], ahead: Verdict, back: Verdict
    ) -> Iterator[Difference]:
        """Yield the differences at the place itself that its parts do not explain."""
        mixed = _mixed(old.plain, new.plain)
        if mixed is not None and not self._same(old.plain, mixed):
            own_ahead, own_back = compared(old.plain, mixed), compared(mixed, old.plain)
            if (own_ahead.answer, own_back.answer) != ("yes", "yes"):
                yield msgspec.structs.replace(self._difference(old, new, place, own_ahead, own_back), is_plain=True)
                return
        # What no part explains belongs to the whole.
        loud = [found for found in below if not found.is_silent]
        ahead = YES if any(found.new_takes_old.answer != "yes" for found in loud) else ahead
        back = YES if any(found.old_takes_new.answer != "yes" for found in below) else back
        if (ahead.answer, back.answer) != ("yes", "yes"):
            yield self._difference(old, new, place, ahead, back)
        elif not below:  # users notice nothing, and yet it is not the same
            ahead, back = compared(old.plain, new.plain), compared(new.plain, old.plain)
            if (ahead.answer, back.answer) != ("yes", "yes"):
                found = self._difference(old, new, place, ahead, back)
                yield msgspec.structs.replace(found, new_takes_old=YES, old_takes_new=YES)

    def _difference(self, old: Side, new: Side, place: str, ahead: Verdict, back: Verdict) -> Difference:
        text = self._about_null(old.plain, new.plain) or _in_words(old.plain, new.plain)
        return Difference(place, _kind(ahead, back), text, ahead, back)

    def _about_null(self, old: Node, new: Node) -> str:
        for one, other, text in ((old, new, "may be null now"), (new, old, "may not be null any more")):
            path = _besides_null(other)
            if path and not _besides_null(one) and self._same(one, _part(other, path)):
                return text
        return ""


def _within_bounds(part: Difference, ahead: Verdict, back: Verdict) -> Difference | None:
    """What a part's difference means for the whole, `None` if nothing."""
    mine = part.new_takes_old if part.is_silent else _bounded(part.new_takes_old, ahead)
    theirs = _bounded(part.old_takes_new, back)
    means_nothing = (mine.answer, theirs.answer) == ("yes", "yes")
    if part.kind in _OF_VALUES and means_nothing and (mine, theirs) != (part.new_takes_old, part.old_takes_new):
        return None
    return msgspec.structs.replace(part, new_takes_old=mine, old_takes_new=theirs)


_OF_VALUES = ("narrowed", "widened", "changed", "undecided")


def _bounded(part: Verdict, whole: Verdict) -> Verdict:
    """Return what a part means for the whole: nothing if the whole takes all; unknown if that is unknown."""
    if "yes" in (part.answer, whole.answer):
        return YES
    return part if whole.answer == "no" else UNKNOWN


def _kind(ahead: Verdict, back: Verdict) -> Kind:
    match ahead.answer, back.answer:
        case "yes", "no":
            return "widened"
        case "no", "yes":
            return "narrowed"
        case "no", "no":
            return "changed"
    return "undecided"


# --- how schemas are built ---


def _is_plain(old: Node, new: Node, word: str, words: set[str]) -> bool:
    """Whether both say nothing but these *words*, and the *word* with what is inside, or can do without."""
    return all(
        isinstance(node.schema, dict)
        and node.is_clear
        and node.words.keys() <= words
        and (isinstance(node.words.get(word), dict) or (word == "properties" and node.words.get("type") == "object"))
        for node in (old, new)
    )


def _walked(old: Node, new: Node) -> tuple[str, ...]:
    """The words whose schemas are compared one by one."""
    if _is_plain(old, new, "properties", _OF_OBJECTS):
        return ("properties", "required", *(("additionalProperties",) if _are_maps(old, new) else ()))
    return ("items",) if _is_plain(old, new, "items", _OF_ARRAYS) else ()


def _are_maps(old: Node, new: Node) -> bool:
    return all(isinstance(node.words.get("additionalProperties"), dict) for node in (old, new))


def _besides_null(node: Node) -> tuple[str, int] | None:
    """Where the schema is of what is not null, if *node* says that and only that."""
    for word in ("anyOf", "oneOf"):
        branches = node.words.get(word, ())
        if node.is_clear and list(node.words) == [word] and len(branches) == 2:
            nulls = [node.at(branch).words == {"type": "null"} for branch in branches]
            if nulls.count(True) == 1:
                return word, nulls.index(False)
    return None


def _mixed(old: Node, new: Node) -> Node | None:
    """What *new* says of the whole, together with what *old* says of the parts that are walked."""
    if not (parts := _walked(old, new)):
        return None
    own = {word: value for word, value in new.words.items() if word not in parts}
    if "$ref" in str(own):  # which would lead elsewhere from there
        return None
    return old.document.made({**own, **{word: value for word, value in old.words.items() if word in parts}})


# --- in words ---


def _remarks(old: Side, new: Side, place: str) -> Iterator[Difference]:
    if not (isinstance(old.plain.schema, dict) and isinstance(new.plain.schema, dict)):
        return
    texts = [word for word in _TEXTS if _differs(old.plain.schema, new.plain.schema, word)]
    if texts:
        yield Difference(place, "text-changed", f"{', '.join(texts)} changed")
    if _differs(old.plain.schema, new.plain.schema, "default"):
        yield Difference(place, "default-changed", _word("default", old.plain.schema, new.plain.schema))


def _differs(old: dict[str, Any], new: dict[str, Any], word: str) -> bool:
    return (word in old) != (word in new) or (word in old and not equal(old[word], new[word]))


def _in_words(old: Node, new: Node) -> str:
    one, other = ({word: value for word, value in _said(node).items() if word in SAYING} for node in (old, new))
    walked = _walked(old, new)
    changed = [word for word in SAYING if word not in walked and _differs(one, other, word)]
    return "; ".join(_word(word, one, other) for word in changed) or "its definitions changed"


def _said(node: Node) -> dict[str, Any]:
    return node.schema if isinstance(node.schema, dict) else {"enum": []} if node.schema is False else {}


def _word(word: str, old: dict[str, Any], new: dict[str, Any]) -> str:
    if word not in old or word not in new:
        return f"{word} {shown(old[word])} removed" if word in old else f"{word} {shown(new[word])} added"
    if word == "enum" and isinstance(old[word], list) and isinstance(new[word], list):
        return _listed(old[word], new[word])
    return f"{word} {shown(old[word])} -> {shown(new[word])}"


def _listed(old: list[Any], new: list[Any]) -> str:
    mine, theirs = ({identity(value) for value in values} for values in (old, new))
    lost = [shown(value) for value in old if identity(value) not in theirs]
    more = [shown(value) for value in new if identity(value) not in mine]
    changes = ((lost, "removed"), (more, "added"))
    return "; ".join(f"enum {', '.join(values)} {what}" for values, what in changes if values)
