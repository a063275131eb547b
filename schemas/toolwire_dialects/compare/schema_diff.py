"""Where two schemas differ, and which of them takes what at each such place.

Strategy. Both schemas are walked side by side as far as they are built alike: members by name,
elements of arrays, what may be null. Parts that are not built alike are one difference at their
place, whose meaning `subset.py` decides. No part breaks a whole that takes everything, and what no
part explains is a difference of the whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.json_schema.bounded_validator import identity
from toolwire_schemas.json_schema.error_text import place as written
from toolwire_schemas.json_schema.error_text import shown

from .nodes import ASSERTIONS, ComparedSchema, Node, equal
from .subset import UNKNOWN, YES, Comparison, SubsetVerdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolwire_schemas.json_schema.linear_regex import Budget

_TEXTS = ("title", "description", "examples", "deprecated")

# The keywords of objects and arrays whose parts are compared one by one.
_OF_OBJECTS = {"type", "properties", "required", "additionalProperties", "propertyNames"}
_OF_OBJECTS |= {"minProperties", "maxProperties", "dependentRequired"}
_OF_ARRAYS = {"type", "items", "minItems", "maxItems", "uniqueItems"}

_KINDS = {("yes", "no"): "widened", ("no", "yes"): "narrowed", ("no", "no"): "changed"}


class Difference(msgspec.Struct, frozen=True):
    """One difference at one *place*: does the new schema take all that the old one did, and the
    other way round?
    """

    place: str
    kind: str
    text: str
    new_takes_old: SubsetVerdict = YES
    old_takes_new: SubsetVerdict = YES

    def within(self, whole: Difference) -> Difference | None:
        """Return what it means for the *whole*, `None` if nothing."""
        ahead = YES if whole.new_takes_old == YES else self.new_takes_old
        back = YES if whole.old_takes_new == YES else self.old_takes_new
        found = msgspec.structs.replace(self, new_takes_old=ahead, old_takes_new=back)
        is_explained = found != self and (ahead, back) == (YES, YES)
        return None if is_explained and self.kind in ("undecided", *_KINDS.values()) else found


def differences(old: Any, new: Any, place: str, budget: Budget) -> list[Difference]:
    """Return where the schemas *old* and *new*, of what is called *place*, differ; an empty list if
    nowhere.
    """
    if equal(old, new):
        return []
    try:
        before, after = ComparedSchema(old), ComparedSchema(new)
        if before.is_readable and after.is_readable:
            return _between(before.top, after.top, place, budget)
    except RecursionError:
        pass
    return [Difference(place, "undecided", "it changed, but cannot be compared", UNKNOWN, UNKNOWN)]


def _between(old: Node, new: Node, place: str, budget: Budget) -> list[Difference]:
    walk = _Walk(budget)
    whole = walk.values(old.resolved(), new.resolved(), place) or Difference(place, "same", "")
    found = [
        part for below in walk.below(old, new, place) if (part := below.within(whole)) is not None
    ]
    ahead = YES if any(part.new_takes_old != YES for part in found) else whole.new_takes_old
    back = YES if any(part.old_takes_new != YES for part in found) else whole.old_takes_new
    if "no" in (ahead.answer, back.answer) or ((ahead, back) != (YES, YES) and not budget.is_spent):
        found.insert(0, Difference(place, _kind(ahead, back), whole.text, ahead, back))
    if budget.is_spent:
        text = "more of it may have changed: to compare all of it takes too many steps"
        found.insert(0, Difference(place, "undecided", text, UNKNOWN, UNKNOWN))
    return found if found or whole.kind == "same" else [whole]


class _Walk:
    """Once the *budget* is spent, the walk goes nowhere else, and only what is certain by then is
    found.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._described, self._any = (Comparison(budget, mode) for mode in (True, False))
        self._within: list[tuple[Node, Node]] = []

    def values(self, old: Node, new: Node, place: str) -> Difference | None:
        """Return the difference between the values of two schemas, or `None`.

        If it is only one of values that are not described, users do not notice it, and it says so.
        """
        if self._described.same(old, new):
            return None
        for comparison in (self._described, self._any):
            ahead, back = comparison.verdict(old, new), comparison.verdict(new, old)
            if (ahead, back) != (YES, YES):
                text = self._about_null(old, new) or _in_words(old, new)
                is_noticed = comparison is self._described
                return Difference(
                    place, _kind(ahead, back), text, *((ahead, back) if is_noticed else ())
                )
        return None

    def _about_null(self, old: Node, new: Node) -> str:
        for one, other, text in (
            (old, new, "may be null now"),
            (new, old, "may not be null any more"),
        ):
            nullable = _besides_null(other)
            if nullable and not _besides_null(one) and self._described.same(one, nullable):
                return text
        return ""

    def below(self, old: Node, new: Node, place: str) -> Iterator[Difference]:
        """Yield the differences at *place*, and at all places below it."""
        if self._budget.is_spent:
            return
        remarks = _remarks(old, new, place)
        old, new = old.resolved(), new.resolved()
        yield from dict.fromkeys([*remarks, *_remarks(old, new, place)])
        if (old, new) in self._within:  # a schema that contains itself
            return
        self._within.append((old, new))
        if (inner := _besides_null(old)) and (inner_now := _besides_null(new)):
            yield from self.below(inner, inner_now, place)
        else:
            parts = _walked(old, new)
            if found := self.values(old, _with_parts_of(old, new, parts), place):
                yield found
            if "properties" in parts:
                yield from self._members(old, new, place)
            for word, where in (("additionalProperties", ".*"), ("items", "[]")):
                if word in parts:
                    yield from self.below(
                        old.at(old.words[word]), new.at(new.words[word]), place + where
                    )
        self._within.pop()

    def _members(self, old: Node, new: Node, place: str) -> Iterator[Difference]:
        mine, theirs = (node.parts("properties") for node in (old, new))
        needed, needed_now = (set(node.words.get("required", ())) for node in (old, new))
        for name in [*mine, *(name for name in theirs if name not in mine)]:
            if self._budget.is_spent:
                return
            where = written(place, [name])
            if name not in theirs:
                ahead = self._takes_among_others(new, mine[name])
                text = (
                    "removed"
                    if ahead != YES
                    else "removed; values are still accepted, but may be ignored"
                )
                back = self._needs(new, name) if name in needed else YES
                yield Difference(where, "member-removed", text, ahead, back)
            elif name not in mine:
                text = "new, required" if name in needed_now else "new, optional"
                ahead = self._needs(old, name) if name in needed_now else YES
                back = self._takes_among_others(old, theirs[name])
                yield Difference(where, "member-added", text, ahead, back)
            else:
                if name in needed_now - needed:
                    yield Difference(
                        where, "member-required", "required now", self._needs(old, name)
                    )
                elif name in needed - needed_now:
                    yield Difference(
                        where, "member-optional", "optional now", YES, self._needs(new, name)
                    )
                yield from self.below(mine[name], theirs[name], where)

    def _needs(self, node: Node, name: str) -> SubsetVerdict:
        """Whether all that *node* describes has a member called *name*."""
        return self._described.verdict(node, node.at({"required": [name]}))

    def _takes_among_others(self, node: Node, member: Node) -> SubsetVerdict:
        """Whether a member with a name that *node* does not know may be any *member*."""
        others = node.words.get("additionalProperties")
        return YES if others is None else self._described.verdict(member, node.at(others))


def _kind(ahead: SubsetVerdict, back: SubsetVerdict) -> str:
    return _KINDS.get((ahead.answer, back.answer), "undecided")


# --- how schemas are built ---


def _walked(old: Node, new: Node) -> tuple[str, ...]:
    """Return the keywords whose schemas are compared one by one."""
    used = old.words.keys() | new.words.keys()
    both = (old.words, new.words)
    parts: tuple[str, ...] = ()
    if used <= _OF_OBJECTS and all(
        "properties" in words or words.get("type") == "object" for words in both
    ):
        are_maps = all(isinstance(words.get("additionalProperties"), dict) for words in both)
        parts = ("properties", "required", *(("additionalProperties",) if are_maps else ()))
    elif used <= _OF_ARRAYS and all("items" in words for words in both):
        parts = ("items",)
    # The other keywords are compared within the other document, where their references would lead
    # elsewhere.
    besides = [
        new.words.get(word)
        for word in ("additionalProperties", "propertyNames")
        if word not in parts
    ]
    return () if "$ref" in str(besides) else parts


def _besides_null(node: Node) -> Node | None:
    """The schema of the values that are not null, if *node* says that and only that."""
    if list(node.words) not in (["anyOf"], ["oneOf"]):
        return None
    branches = [*node.parts("anyOf").values(), *node.parts("oneOf").values()]
    others = [branch for branch in branches if branch.words != {"type": "null"}]
    return others[0] if len(branches) == 2 and len(others) == 1 else None


def _with_parts_of(old: Node, new: Node, parts: tuple[str, ...]) -> Node:
    """Return what *new* says of the whole, together with what *old* says of the *parts*."""
    own = {word: value for word, value in new.words.items() if word not in parts}
    return (
        old.at({**own, **{word: value for word, value in old.words.items() if word in parts}})
        if parts
        else new
    )


# --- in words ---


def _remarks(old: Node, new: Node, place: str) -> list[Difference]:
    before, after = (node.schema if isinstance(node.schema, dict) else {} for node in (old, new))
    texts = [word for word in _TEXTS if _differs(before, after, word)]
    found = [Difference(place, "text-changed", f"{', '.join(texts)} changed")] if texts else []
    if _differs(before, after, "default"):
        found.append(Difference(place, "default-changed", _word("default", before, after)))
    return found


def _differs(old: dict[str, Any], new: dict[str, Any], word: str) -> bool:
    return (word in old) != (word in new) or (word in old and not equal(old[word], new[word]))


def _in_words(old: Node, new: Node) -> str:
    words = [
        word
        for word in ASSERTIONS
        if word not in _walked(old, new) and _differs(old.words, new.words, word)
    ]
    return (
        "; ".join(_word(word, old.words, new.words) for word in words) or "its definitions changed"
    )


def _word(word: str, old: dict[str, Any], new: dict[str, Any]) -> str:
    if word not in old or word not in new:
        return (
            f"{word} {shown(old[word])} removed"
            if word in old
            else f"{word} {shown(new[word])} added"
        )
    if word == "enum":
        return _listed(old[word], new[word])
    return f"{word} {shown(old[word])} -> {shown(new[word])}"


def _listed(old: list[Any], new: list[Any]) -> str:
    mine, theirs = ({identity(value) for value in values} for values in (old, new))
    lost = [shown(value) for value in old if identity(value) not in theirs]
    more = [shown(value) for value in new if identity(value) not in mine]
    changes = ((lost, "removed"), (more, "added"))
    return "; ".join(f"enum {', '.join(values)} {what}" for values, what in changes if values)
