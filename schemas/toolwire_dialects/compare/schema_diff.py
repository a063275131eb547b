"""Where two schemas differ, and which of them takes what at each such place.

Strategy. Both schemas are walked side by side as far as they are built alike: members by name,
elements of arrays, what may be null. Parts that are not built alike are one difference at their
place, whose meaning `subset.py` decides. No part breaks a whole that takes everything, and what no
part explains is a difference of the whole.

Verdicts are about the values that the schemas describe: those without members that only the other
one knows, and without unsafe integers (`ValueCase`). Others do not occur in practice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.json_schema.bounded_validator import make_identity
from toolwire_schemas.json_schema.error_text import format_place as place_text
from toolwire_schemas.json_schema.error_text import format_value
from toolwire_schemas.json_schema.subschemas import ASSERTIONS

from .nodes import ComparedSchema, equal
from .subset import UNKNOWN, YES, Comparison, SubsetVerdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolwire_schemas.json_schema.graph import SchemaNode
    from toolwire_schemas.json_schema.linear_regex import Budget

_TEXTS = ("title", "description", "examples", "deprecated")

# The keywords of objects and arrays whose parts are compared one by one.
_OF_OBJECTS = {"type", "properties", "required", "additionalProperties", "propertyNames"}
_OF_OBJECTS |= {"minProperties", "maxProperties", "dependentRequired"}
_OF_ARRAYS = {"type", "items", "minItems", "maxItems", "uniqueItems"}

_STEPS = {"additionalProperties": ".*", "items": "[]"}
"""How a place goes on below a keyword whose schema is that of all members or elements."""

_KINDS = {("yes", "no"): "widened", ("no", "yes"): "narrowed", ("no", "no"): "changed"}
"""The kind of a difference, by whether the new schema takes all old values, and the other way
round.
"""

_WHOLE_CHANGED = "more of it may have changed: to compare all of it takes too many steps"


class SchemaDifference(msgspec.Struct, frozen=True):
    """One difference at one *place*: does the new schema take all that the old one did, and the
    other way round?
    """

    place: str
    kind: str
    text: str
    new_takes_old: SubsetVerdict = YES
    old_takes_new: SubsetVerdict = YES

    def find_meaning_for(self, whole: SchemaDifference) -> SchemaDifference | None:
        """Return what it means for the *whole*, `None` if nothing.

        Where the whole of the new schema takes all that the old one took, or the other way round,
        so does the part. A difference of values which that makes harmless is moot.
        """
        found = self
        if whole.new_takes_old == YES:
            found = msgspec.structs.replace(found, new_takes_old=YES)
        if whole.old_takes_new == YES:
            found = msgspec.structs.replace(found, old_takes_new=YES)
        is_moot = found != self and found.is_harmless
        is_about_values = self.kind in ("undecided", *_KINDS.values())
        if is_moot and is_about_values:
            return None
        return found

    @property
    def is_harmless(self) -> bool:
        """Whether each schema takes all that the other one takes."""
        return self.new_takes_old == YES and self.old_takes_new == YES


def find_differences(old: Any, new: Any, place: str, budget: Budget) -> list[SchemaDifference]:
    """Return where the schemas *old* and *new*, of what is called *place*, differ; an empty list if
    nowhere.
    """
    if equal(old, new):
        return []
    try:
        before, after = ComparedSchema(old), ComparedSchema(new)
        if before.is_readable and after.is_readable:
            return _find_differences_between(before.root, after.root, place, budget)
    except RecursionError:
        pass
    return [
        SchemaDifference(place, "undecided", "it changed, but cannot be compared", UNKNOWN, UNKNOWN)
    ]


def _find_differences_between(
    old: SchemaNode, new: SchemaNode, place: str, budget: Budget
) -> list[SchemaDifference]:
    walk = _Walk(budget)
    whole = walk.compare_values(old.target, new.target, place) or SchemaDifference(
        place, "same", ""
    )
    parts = []
    for below in walk.compare_below(old, new, place):
        part = below.find_meaning_for(whole)
        if part is not None:
            parts.append(part)
    found = []
    if budget.is_spent:
        found.append(SchemaDifference(place, "undecided", _WHOLE_CHANGED, UNKNOWN, UNKNOWN))
    rest = _subtract_parts(whole, parts)
    answers = (rest.new_takes_old.answer, rest.old_takes_new.answer)
    # Without budget, only what is refuted is certain.
    if "no" in answers or ("unknown" in answers and not budget.is_spent):
        found.append(rest)
    found += parts
    if not found and whole.kind != "same":
        return [whole]
    return found


def _subtract_parts(whole: SchemaDifference, parts: list[SchemaDifference]) -> SchemaDifference:
    """Return the difference of the *whole* without what its *parts* explain."""
    new_takes_old, old_takes_new = whole.new_takes_old, whole.old_takes_new
    for part in parts:
        if part.new_takes_old != YES:
            new_takes_old = YES
        if part.old_takes_new != YES:
            old_takes_new = YES
    kind = _name_kind(new_takes_old, old_takes_new)
    return SchemaDifference(whole.place, kind, whole.text, new_takes_old, old_takes_new)


class _Walk:
    """Once the *budget* is spent, the walk goes nowhere else, and only what is certain by then is
    found.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._described = Comparison(budget, is_described=True)
        self._any = Comparison(budget, is_described=False)
        self._open: list[tuple[SchemaNode, SchemaNode]] = []

    def compare_values(
        self, old: SchemaNode, new: SchemaNode, place: str
    ) -> SchemaDifference | None:
        """Return the difference between the values of two schemas, or `None`.

        If the schemas differ only in values that they do not describe, users do not notice it: the
        difference has its kind and text, but is harmless.
        """
        if self._described.are_same(old, new):
            return None
        for comparison in (self._described, self._any):
            new_takes_old = comparison.judge(old, new)
            old_takes_new = comparison.judge(new, old)
            if (new_takes_old, old_takes_new) == (YES, YES):
                continue
            kind = _name_kind(new_takes_old, old_takes_new)
            text = self._explain_null(old, new) or _list_changed_keywords(old, new)
            if comparison is self._any:
                return SchemaDifference(place, kind, text)
            return SchemaDifference(place, kind, text, new_takes_old, old_takes_new)
        return None

    def _explain_null(self, old: SchemaNode, new: SchemaNode) -> str:
        if self._is_nullable_form(old, new):
            return "may be null now"
        if self._is_nullable_form(new, old):
            return "may not be null any more"
        return ""

    def _is_nullable_form(self, one: SchemaNode, other: SchemaNode) -> bool:
        """Return whether *other* is *one* or null."""
        inner = _strip_null(other)
        if inner is None or _strip_null(one) is not None:
            return False
        return self._described.are_same(one, inner)

    def compare_below(
        self, old: SchemaNode, new: SchemaNode, place: str
    ) -> Iterator[SchemaDifference]:
        """Yield the differences at *place*, and at all places below it."""
        if self._budget.is_spent:
            return
        remarks = _compare_texts(old, new, place)
        old, new = old.target, new.target
        yield from dict.fromkeys([*remarks, *_compare_texts(old, new, place)])
        if (old, new) in self._open:  # a schema that contains itself
            return
        self._open.append((old, new))
        inner, inner_now = _strip_null(old), _strip_null(new)
        if inner is not None and inner_now is not None:
            yield from self.compare_below(inner, inner_now, place)
        else:
            yield from self._compare_parts(old, new, place)
        self._open.pop()

    def _compare_parts(
        self, old: SchemaNode, new: SchemaNode, place: str
    ) -> Iterator[SchemaDifference]:
        words = _list_keywords_of_parts(old, new)
        rest = self.compare_values(old, _with_parts_of(old, new, words), place)
        if rest is not None:
            yield rest
        if "properties" in words:
            yield from self._compare_members(old, new, place)
        for word, step in _STEPS.items():
            if word in words:
                (inner,) = old.find_under(word).values()
                (inner_now,) = new.find_under(word).values()
                yield from self.compare_below(inner, inner_now, place + step)

    def _compare_members(
        self, old: SchemaNode, new: SchemaNode, place: str
    ) -> Iterator[SchemaDifference]:
        before, after = old.find_under("properties"), new.find_under("properties")
        for name in dict.fromkeys([*before, *after]):
            if self._budget.is_spent:
                return
            where = place_text(place, [name])
            if name not in after:
                yield self._report_removed_member(old, new, name, where)
            elif name not in before:
                yield self._report_added_member(old, new, name, where)
            else:
                yield from self._compare_presence(old, new, name, where)
                yield from self.compare_below(before[name], after[name], where)

    def _report_removed_member(
        self, old: SchemaNode, new: SchemaNode, name: str, where: str
    ) -> SchemaDifference:
        new_takes_old = self._takes_among_others(new, old.find_under("properties")[name])
        text = "removed"
        if new_takes_old == YES:
            text = "removed; values are still accepted, but may be ignored"
        old_takes_new = YES
        if name in old.required:
            old_takes_new = self._requires(new, name)
        return SchemaDifference(where, "member-removed", text, new_takes_old, old_takes_new)

    def _report_added_member(
        self, old: SchemaNode, new: SchemaNode, name: str, where: str
    ) -> SchemaDifference:
        text, new_takes_old = "new, optional", YES
        if name in new.required:
            text, new_takes_old = "new, required", self._requires(old, name)
        old_takes_new = self._takes_among_others(old, new.find_under("properties")[name])
        return SchemaDifference(where, "member-added", text, new_takes_old, old_takes_new)

    def _compare_presence(
        self, old: SchemaNode, new: SchemaNode, name: str, where: str
    ) -> Iterator[SchemaDifference]:
        was_required, is_required = name in old.required, name in new.required
        if is_required and not was_required:
            yield SchemaDifference(
                where, "member-required", "required now", self._requires(old, name)
            )
        elif was_required and not is_required:
            old_takes_new = self._requires(new, name)
            yield SchemaDifference(where, "member-optional", "optional now", YES, old_takes_new)

    def _requires(self, node: SchemaNode, name: str) -> SubsetVerdict:
        """Return whether all values that *node* describes have a member called *name*."""
        with_member = node.graph.get_node({"required": [name]})
        return self._described.judge(node, with_member)

    def _takes_among_others(self, node: SchemaNode, member: SchemaNode) -> SubsetVerdict:
        """Return whether a member with a name that *node* does not know may be any *member*."""
        if node.additional is None:
            return YES
        return self._described.judge(member, node.additional)


def _name_kind(new_takes_old: SubsetVerdict, old_takes_new: SubsetVerdict) -> str:
    return _KINDS.get((new_takes_old.answer, old_takes_new.answer), "undecided")


# --- how schemas are built ------------------------------------------------------------------------


def _list_keywords_of_parts(old: SchemaNode, new: SchemaNode) -> tuple[str, ...]:
    """Return the keywords whose schemas are compared one by one."""
    words = _list_keywords_of_objects(old, new) or _list_keywords_of_arrays(old, new)
    # The other keywords are compared within the other document, where their references would lead
    # elsewhere.
    for word in ("additionalProperties", "propertyNames"):
        if word in words:
            continue
        if any(map(_has_reference, new.find_under(word).values())):
            return ()
    return words


def _list_keywords_of_objects(old: SchemaNode, new: SchemaNode) -> tuple[str, ...]:
    used = old.assertions.keys() | new.assertions.keys()
    if not used <= _OF_OBJECTS:
        return ()
    for node in (old, new):
        if "properties" not in node.assertions and node.types != ("object",):
            return ()
    if _is_map(old) and _is_map(new):
        return ("properties", "required", "additionalProperties")
    return ("properties", "required")


def _is_map(node: SchemaNode) -> bool:
    return isinstance(node.assertions.get("additionalProperties"), dict)


def _list_keywords_of_arrays(old: SchemaNode, new: SchemaNode) -> tuple[str, ...]:
    used = old.assertions.keys() | new.assertions.keys()
    if not used <= _OF_ARRAYS:
        return ()
    if "items" not in old.assertions or "items" not in new.assertions:
        return ()
    return ("items",)


def _has_reference(node: SchemaNode) -> bool:
    seen: set[SchemaNode] = set()
    waiting = [node]
    while waiting:
        inner = waiting.pop()
        if inner.pointer:
            return True
        if inner not in seen:
            seen.add(inner)
            waiting += inner.list_inside()
    return False


def _strip_null(node: SchemaNode) -> SchemaNode | None:
    """Return the schema of the values that are not null, if *node* says that and only that."""
    if list(node.assertions) not in (["anyOf"], ["oneOf"]):
        return None
    others = [branch for branch in node.variants if branch.assertions != {"type": "null"}]
    if len(node.variants) != 2 or len(others) != 1:
        return None
    return others[0]


def _with_parts_of(old: SchemaNode, new: SchemaNode, words: tuple[str, ...]) -> SchemaNode:
    """Return what *new* says of the whole, together with what *old* says under *words*."""
    if not words:
        return new
    made = {word: value for word, value in new.assertions.items() if word not in words}
    for word, value in old.assertions.items():
        if word in words:
            made[word] = value
    return old.graph.get_node(made)


# --- in words -------------------------------------------------------------------------------------


def _compare_texts(old: SchemaNode, new: SchemaNode, place: str) -> list[SchemaDifference]:
    """Return the differences of texts and defaults."""
    before, after = old.keywords, new.keywords
    found = []
    texts = [word for word in _TEXTS if _differs(before, after, word)]
    if texts:
        text = ", ".join(texts)
        found.append(SchemaDifference(place, "text-changed", f"{text} changed"))
    if _differs(before, after, "default"):
        text = _change_of_word("default", before, after)
        found.append(SchemaDifference(place, "default-changed", text))
    return found


def _differs(old: dict[str, Any], new: dict[str, Any], word: str) -> bool:
    if word not in old or word not in new:
        return word in old or word in new
    return not equal(old[word], new[word])


def _list_changed_keywords(old: SchemaNode, new: SchemaNode) -> str:
    before, after = old.assertions, new.assertions
    of_parts = _list_keywords_of_parts(old, new)
    changes = []
    for word in ASSERTIONS:
        if word not in of_parts and _differs(before, after, word):
            changes.append(_change_of_word(word, before, after))
    return "; ".join(changes) or "its definitions changed"


def _change_of_word(word: str, old: dict[str, Any], new: dict[str, Any]) -> str:
    if word not in new:
        return f"{word} {format_value(old[word])} removed"
    if word not in old:
        return f"{word} {format_value(new[word])} added"
    if word == "enum":
        return _change_of_values(old[word], new[word])
    return f"{word} {format_value(old[word])} -> {format_value(new[word])}"


def _change_of_values(old: list[Any], new: list[Any]) -> str:
    removed = _list_values_without(old, new)
    added = _list_values_without(new, old)
    changes = []
    if removed:
        changes.append(f"enum {removed} removed")
    if added:
        changes.append(f"enum {added} added")
    return "; ".join(changes)


def _list_values_without(values: list[Any], others: list[Any]) -> str:
    known = set(map(make_identity, others))
    left = [format_value(value) for value in values if make_identity(value) not in known]
    return ", ".join(left)
