"""Where two schemas differ, and which of them takes what at each such place.

Strategy. Both schemas are walked side by side as far as they are built alike: members by name, elements of arrays, what
may be null. Parts that are not built alike are one difference at their place. What a difference means is
asked of the schemas there (`subset.py`), and no part may claim more than is true of the whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from ..json_schema.bounded_validator import TooExpensive, identity
from ..json_schema.error_text import place as written
from ..json_schema.error_text import shown
from .nodes import ASSERTIONS, Document, Node, equal
from .subset import UNKNOWN, YES, Comparison, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..json_schema.linear_regex import Budget

_TEXTS = ("title", "description", "examples", "deprecated")

# The keywords of objects and arrays whose parts are compared one by one.
_OF_OBJECTS = {"type", "properties", "required", "additionalProperties", "propertyNames"}
_OF_OBJECTS |= {"minProperties", "maxProperties", "dependentRequired"}
_OF_ARRAYS = {"type", "items", "minItems", "maxItems", "uniqueItems"}


class Difference(msgspec.Struct, frozen=True):
    """One difference at one *place*: does the new schema take all that the old one did, and the other way round?"""

    place: str
    kind: str
    text: str
    new_takes_old: Verdict = YES
    old_takes_new: Verdict = YES
    is_silent: bool = False
    """The schemas take the same: the verdict says that a value may be ignored which was not."""

    @property
    def matters(self) -> bool:
        """Whether one of the schemas may reject a value of the other."""
        return (self.new_takes_old.answer, self.old_takes_new.answer) != ("yes", "yes")


def differences(old: Any, new: Any, place: str, budget: Budget) -> list[Difference]:
    """Return where the schemas *old* and *new*, of what is called *place*, differ; an empty list if nowhere."""
    if equal(old, new):
        return []
    try:
        before, after = Document(old), Document(new)
        if before.is_readable and after.is_readable:
            found = _Walk(budget).between(before.top, after.top, place)
            if budget.is_spent:
                text = "more of it may have changed: to compare all of it takes too many steps"
                found.insert(0, Difference(place, "undecided", text, UNKNOWN, UNKNOWN))
            return [difference for difference in found if difference.kind != "reported-above"]
    except RecursionError:
        pass
    return [Difference(place, "undecided", "it changed, but cannot be compared", UNKNOWN, UNKNOWN)]


class _Walk:
    """Once the *budget* is spent, the walk goes nowhere else, and only what is certain by then is found."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._comparison = Comparison(budget)
        self._within: list[tuple[Node, Node]] = []

    def _same(self, one: Node, other: Node) -> bool:
        try:
            return self._comparison.same(one, other)
        except TooExpensive:
            return False

    def _takes(self, new: Node, old: Node) -> Verdict:
        return self._comparison.verdict(old, new, is_described=True)

    def between(self, old: Node, new: Node, place: str) -> list[Difference]:
        """The differences at *place* and below."""
        if self._budget.is_spent:
            return []
        remarks = _remarks(old, new, place)
        old, new = old.resolved(), new.resolved()
        remarks += [found for found in _remarks(old, new, place) if found not in remarks]
        return [*remarks, *self._meaningful(old, new, place)]

    def _meaningful(self, old: Node, new: Node, place: str) -> list[Difference]:
        if (old, new) in self._within:
            whole = Verdict("no")  # or the verdict about the schema that contains itself here
            return [Difference(place, "reported-above", "", whole, whole)]
        self._within.append((old, new))
        is_same = self._same(old, new)
        ahead, back = (YES, YES) if is_same else (self._takes(new, old), self._takes(old, new))
        parts = [_within_bounds(found, ahead, back) for found in self._below(old, new, place)]
        below = [found for found in parts if found is not None]
        self._within.pop()
        return below if is_same else [*self._here(old, new, place, below, ahead, back), *below]

    def _below(self, old: Node, new: Node, place: str) -> Iterator[Difference]:
        walked = _walked(old, new)
        if "properties" in walked:
            yield from self._members(old, new, place)
        if "additionalProperties" in walked:
            mine, theirs = (node.at(node.words["additionalProperties"]) for node in (old, new))
            yield from self.between(mine, theirs, f"{place}.*")
        if "items" in walked:
            yield from self.between(old.at(old.words["items"]), new.at(new.words["items"]), f"{place}[]")
        elif (inner := _besides_null(old)) and (inner_now := _besides_null(new)):
            yield from self.between(inner, inner_now, place)

    def _members(self, old: Node, new: Node, place: str) -> Iterator[Difference]:
        mine, theirs = (node.words.get("properties", {}) for node in (old, new))
        needed, needed_now = (set(node.words.get("required", ())) for node in (old, new))
        for name in mine:
            if self._budget.is_spent:
                return
            where, member = written(place, [name]), old.at(mine[name])
            if name not in theirs:
                back = self._needs(new, name) if name in needed else YES
                ahead = self._takes_among_others(new, member)
                # To what effect is it taken? Most tools drop what they do not know.
                if ahead.answer == "yes" and member.schema is not False:
                    text = "removed; values are still accepted, but may be ignored"
                    yield Difference(where, "member-removed", text, UNKNOWN, back, is_silent=True)
                else:
                    yield Difference(where, "member-removed", "removed", ahead, back)
                continue
            if name in needed_now - needed:
                yield Difference(where, "member-required", "required now", self._needs(old, name))
            elif name in needed - needed_now:
                yield Difference(where, "member-optional", "optional now", YES, self._needs(new, name))
            yield from self.between(member, new.at(theirs[name]), where)
        for name in theirs:
            if name not in mine and not self._budget.is_spent:
                where, member = written(place, [name]), new.at(theirs[name])
                is_needed = name in needed_now
                ahead = self._needs(old, name) if is_needed else YES
                text = "new, required" if is_needed else "new, optional"
                yield Difference(where, "member-added", text, ahead, self._takes_among_others(old, member))

    def _needs(self, node: Node, name: str) -> Verdict:
        """Whether all that *node* describes has a member called *name*."""
        return self._takes(node.at({"required": [name]}), node)

    def _takes_among_others(self, node: Node, member: Node) -> Verdict:
        """Whether a member with a name that *node* does not know may be any *member*."""
        others = node.words.get("additionalProperties")
        return YES if others is None else self._takes(node.at(others), member)

    def _here(
        self, old: Node, new: Node, place: str, below: list[Difference], ahead: Verdict, back: Verdict
    ) -> Iterator[Difference]:
        """Yield the differences at the place itself that its parts do not explain."""
        if self._budget.is_spent and "no" not in (ahead.answer, back.answer):
            return
        if (mixed := _mixed(old, new)) is not None and not self._same(old, mixed):
            own = self._difference(old, new, place, self._takes(mixed, old), self._takes(old, mixed))
            if (found := _within_bounds(own, ahead, back)) is not None and own.matters:
                yield found
                return
        # A difference that no part explains belongs to the whole.
        loud = [found for found in below if not found.is_silent]
        ahead = YES if any(found.new_takes_old.answer != "yes" for found in loud) else ahead
        back = YES if any(found.old_takes_new.answer != "yes" for found in below) else back
        found = self._difference(old, new, place, ahead, back)
        if found.matters:
            yield found
        elif not below:  # users notice nothing, and yet it is not the same
            verdict = self._comparison.verdict
            found = self._difference(old, new, place, verdict(old, new), verdict(new, old))
            if found.matters:
                yield msgspec.structs.replace(found, new_takes_old=YES, old_takes_new=YES)

    def _difference(self, old: Node, new: Node, place: str, ahead: Verdict, back: Verdict) -> Difference:
        text = self._about_null(old, new) or _in_words(old, new)
        return Difference(place, _KINDS.get((ahead.answer, back.answer), "undecided"), text, ahead, back)

    def _about_null(self, old: Node, new: Node) -> str:
        for one, other, text in ((old, new, "may be null now"), (new, old, "may not be null any more")):
            nullable = _besides_null(other)
            if nullable and not _besides_null(one) and self._same(one, nullable):
                return text
        return ""


def _within_bounds(part: Difference, ahead: Verdict, back: Verdict) -> Difference | None:
    """Return what a part's difference means for the whole, `None` if nothing."""
    mine = part.new_takes_old if part.is_silent else _bounded(part.new_takes_old, ahead)
    bounded = msgspec.structs.replace(part, new_takes_old=mine, old_takes_new=_bounded(part.old_takes_new, back))
    is_of_values = part.kind in ("narrowed", "widened", "changed", "undecided")
    return None if is_of_values and part.matters and not bounded.matters else bounded


def _bounded(part: Verdict, whole: Verdict) -> Verdict:
    """Return what a part means for the whole: nothing if the whole takes all; unknown if that is unknown."""
    if "yes" in (part.answer, whole.answer):
        return YES
    return part if whole.answer == "no" else UNKNOWN


_KINDS = {("yes", "no"): "widened", ("no", "yes"): "narrowed", ("no", "no"): "changed"}


# --- how schemas are built ---


def _walked(old: Node, new: Node) -> tuple[str, ...]:
    """Return the keywords whose schemas are compared one by one."""
    used = old.words.keys() | new.words.keys()
    both = (old.words, new.words)
    if used <= _OF_OBJECTS and all("properties" in words or words.get("type") == "object" for words in both):
        are_maps = all(isinstance(words.get("additionalProperties"), dict) for words in both)
        return ("properties", "required", *(("additionalProperties",) if are_maps else ()))
    are_arrays = used <= _OF_ARRAYS and all("items" in words for words in both)
    return ("items",) if are_arrays else ()


def _besides_null(node: Node) -> Node | None:
    """The schema of the values that are not null, if *node* says that and only that."""
    if list(node.words) not in (["anyOf"], ["oneOf"]):
        return None
    branches = [*node.parts("anyOf").values(), *node.parts("oneOf").values()]
    others = [branch for branch in branches if branch.words != {"type": "null"}]
    return others[0] if len(branches) == 2 and len(others) == 1 else None


def _mixed(old: Node, new: Node) -> Node | None:
    """What *new* says of the whole, together with what *old* says of the parts that are walked."""
    if not (parts := _walked(old, new)):
        return None
    own = {word: value for word, value in new.words.items() if word not in parts}
    if "$ref" in str(own):  # which would lead elsewhere from there
        return None
    return old.at({**own, **{word: value for word, value in old.words.items() if word in parts}})


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
    words = [word for word in ASSERTIONS if word not in _walked(old, new) and _differs(old.words, new.words, word)]
    return "; ".join(_word(word, old.words, new.words) for word in words) or "its definitions changed"


def _word(word: str, old: dict[str, Any], new: dict[str, Any]) -> str:
    if word not in old or word not in new:
        return f"{word} {shown(old[word])} removed" if word in old else f"{word} {shown(new[word])} added"
    if word == "enum":
        return _listed(old[word], new[word])
    return f"{word} {shown(old[word])} -> {shown(new[word])}"


def _listed(old: list[Any], new: list[Any]) -> str:
    mine, theirs = ({identity(value) for value in values} for values in (old, new))
    lost = [shown(value) for value in old if identity(value) not in theirs]
    more = [shown(value) for value in new if identity(value) not in mine]
    changes = ((lost, "removed"), (more, "added"))
    return "; ".join(f"enum {', '.join(values)} {what}" for values, what in changes if values)
