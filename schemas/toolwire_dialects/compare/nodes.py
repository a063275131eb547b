"""Schemas that are compared: nodes of the schema graph, read exactly, as JSON Schema 2020-12.

A proof holds for every value, so it needs what a schema says, no more and no less. It reads a
node's own keywords (`assertions`, `under`, `target`), never the merged ones of `resolved`, which
may accept more.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.json_schema.bounded_validator import (
    CannotJudge,
    SchemaValidator,
    TooExpensive,
    find_faults_of_schema,
    make_identity,
)
from toolwire_schemas.json_schema.graph import SchemaGraph, SchemaNode
from toolwire_schemas.json_schema.subschemas import ASSERTIONS, map_subschemas, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from toolwire_schemas.json_schema.linear_regex import Budget

KINDS = ("null", "boolean", "integer", "fraction", "string", "array", "object")
"""The types of JSON values, with numbers divided into integers and others."""
NUMBERS = ("integer", "fraction")

_KINDS_OF_TYPES = {"any": KINDS, "number": NUMBERS}

_CONDITIONS = ("anyOf", "oneOf", "not", "if", "then", "else")
"""Keywords whose schemas may apply to the same value."""

_DIALECTS = ("2020-12", "draft-07")
_NOT_READ = ("$dynamicRef", "$recursiveRef", "dependencies")
"""Keywords whose meaning depends on the draft, or on how validation arrived there."""
_NOT_IN_DRAFT_07 = (
    *("prefixItems", "minContains", "maxContains", "dependentRequired", "dependentSchemas"),
    *("unevaluatedItems", "unevaluatedProperties"),
)


def list_kinds_judged(word: str) -> tuple[str, ...]:
    """Return the kinds of values that the keyword *word* may refuse."""
    about = ASSERTIONS[word]
    return _KINDS_OF_TYPES.get(about, (about,))


class ComparedSchema(SchemaGraph):
    """A whole schema, in which references are resolved.

    It is readable if it is a JSON Schema of a known draft, without references out of it and without
    keywords that other drafts read differently. All verdicts about others are unknown.
    """

    def __init__(self, root: Any) -> None:
        dialect = _find_dialect(root)
        ignored = _NOT_IN_DRAFT_07 if dialect == "draft-07" else ()
        super().__init__(_as_2020_12(root, ignored))
        inner = [self.get_node(schema) for _, schema in walk(self.root.keywords, "")]
        self._has_formats = any("format" in node.keywords for node in inner)
        is_known = dialect is not None
        self.is_readable = is_known and _is_schema(self.document) and self._is_common(inner)

    def _is_common(self, inner: list[SchemaNode]) -> bool:
        """Return whether all drafts and validators read the nodes of the document alike."""
        written = set(inner)
        for node in inner:
            if not node.keywords.keys().isdisjoint(_NOT_READ):
                return False
            # References below an `$id` lead into another document.
            if "$id" in node.keywords and node is not self.root:
                return False
            if node.pointer and not self._is_common_reference(node, written):
                return False
        return True

    def _is_common_reference(self, node: SchemaNode, written: set[SchemaNode]) -> bool:
        target = node.reference
        if target is None or (isinstance(target.schema, dict) and target not in written):
            return False
        is_circle = target.target.is_reference_alone
        # Next to a reference, draft 7 ignores all keywords.
        return not is_circle and (node.is_reference_alone or not self.is_draft_07)

    def judge(self, schema: Any, value: Any, budget: Budget) -> bool | None:
        """Return whether *value* fits *schema* by jsonschema; `None` if it has no answer, or if
        formats decide.

        Raises:
            TooExpensive: if that takes more steps than the *budget* has.
        """
        verdicts = set()
        try:
            for validator in self._validators:
                verdicts.add(validator.is_valid(value, schema, total=budget))
        except TooExpensive:
            raise
        except CannotJudge:
            return None
        if len(verdicts) != 1:
            return None
        return verdicts.pop()

    @cached_property
    def _validators(self) -> list[SchemaValidator]:
        """One without formats and, if the schema has some, one with them."""
        from jsonschema import Draft202012Validator as Dialect

        checkers = (None, Dialect.FORMAT_CHECKER) if self._has_formats else (None,)
        return [
            SchemaValidator(
                self.document,
                dialect=Dialect,
                checks=False,
                format_checker=checker,
                exact_multiples=False,
            )
            for checker in checkers
        ]


def judge(node: SchemaNode, schema: Any, value: Any, budget: Budget) -> bool | None:
    """Return whether *value* fits *schema*, a part of the document of *node*; see
    `ComparedSchema.judge`.
    """
    assert isinstance(node.graph, ComparedSchema)
    return node.graph.judge(schema, value, budget)


def _find_dialect(root: Any) -> str | None:
    """Return the draft that *root* names, the latest one if it names none; `None` for others."""
    named = root.get("$schema") if isinstance(root, dict) else None
    if named is None:
        return _DIALECTS[0]
    for known in _DIALECTS:
        if known in str(named):
            return known
    return None


def _is_schema(root: Any) -> bool:
    from jsonschema import Draft202012Validator

    try:
        return not find_faults_of_schema(root, dialect=Draft202012Validator)
    except CannotJudge:
        return False


def _as_2020_12(schema: Any, ignored: tuple[str, ...]) -> Any:
    """Return *schema* with the tuples of older drafts as `prefixItems`. Many schemas have them but
    name no draft.
    """
    if isinstance(schema, list):
        return [_as_2020_12(item, ignored) for item in schema]
    if not isinstance(schema, dict):
        return schema
    known = {word: value for word, value in schema.items() if word not in ignored}
    made = map_subschemas(known, lambda inner: _as_2020_12(inner, ignored))
    rest = made.pop("additionalItems", None)
    if isinstance(made.get("items"), list) and "prefixItems" not in made:
        made["prefixItems"] = made.pop("items")
        if rest is not None:
            made["items"] = _as_2020_12(rest, ignored)
    return made


def iterate_applied_nodes(start: SchemaNode) -> Iterator[SchemaNode]:
    """Yield *start* and all nodes that apply to the same value: references, alternatives and
    conditions.
    """
    seen = set[SchemaNode]()
    waiting = [start]
    while waiting:
        node = waiting.pop(0)
        if node in seen:
            continue
        seen.add(node)
        yield node
        waiting += node.list_applied()
        for word in _CONDITIONS:
            waiting += node.find_under(word).values()


class Claims:
    """Remembers which claims hold and which do not.

    Schemas may contain themselves, so a claim that is being proved may be used by the proofs about
    parts of the values: parts are smaller than the whole, so that this ends, at values without
    parts.
    """

    def __init__(self) -> None:
        # In the order of their proofs: those after a claim may depend on it.
        self._holding: dict[Any, None] = {}
        self._failed: set[Any] = set()

    def holds(self, claim: Any, prove: Callable[[], bool]) -> bool:
        """Return whether *claim* holds, by `prove()` unless that is known."""
        if claim in self._holding or claim in self._failed:
            return claim in self._holding
        before, found = len(self._holding), False
        self._holding[claim] = None
        try:
            found = prove()
            return found
        finally:
            if not found:
                while len(self._holding) > before:
                    self._holding.popitem()
                self._failed.add(claim)


def equal(one: Any, other: Any) -> bool:
    """Return whether two JSON values are equal; False if they are nested too deeply for that to be
    known.
    """
    try:
        if msgspec.json.encode(one, order="sorted") == msgspec.json.encode(other, order="sorted"):
            return True
        return bool(make_identity(one) == make_identity(other))
    except RecursionError:
        return False
