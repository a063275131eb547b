"""Schemas within their documents, read as JSON Schema 2020-12."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.json_schema.bounded_validator import (
    CannotJudge,
    SchemaValidator,
    TooExpensive,
    faults_of_schema,
    identity,
)
from toolwire_schemas.json_schema.subschemas import HOLDING, LISTS, ONE, children, target, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from toolwire_schemas.json_schema.linear_regex import Budget

KINDS = ("null", "boolean", "integer", "fraction", "string", "array", "object")
"""The types of JSON values, with numbers divided into integers and others."""
NUMBERS = ("integer", "fraction")

ASSERTIONS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("type", "enum", "const"), KINDS),
    **dict.fromkeys(
        ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), NUMBERS
    ),
    **dict.fromkeys(("minLength", "maxLength", "pattern"), ("string",)),
    "format": KINDS,  # some schemas have a format of numbers, such as `int32`
    **dict.fromkeys(("contentEncoding", "contentMediaType"), ("string",)),
    **dict.fromkeys(("prefixItems", "items", "minItems", "maxItems", "uniqueItems"), ("array",)),
    **dict.fromkeys(("contains", "minContains", "maxContains", "unevaluatedItems"), ("array",)),
    **dict.fromkeys(
        ("properties", "patternProperties", "additionalProperties", "propertyNames"), ("object",)
    ),
    **dict.fromkeys(("required", "minProperties", "maxProperties"), ("object",)),
    **dict.fromkeys(
        ("dependentRequired", "dependentSchemas", "unevaluatedProperties"), ("object",)
    ),
    **dict.fromkeys(("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "$ref"), KINDS),
}
"""The keywords that may reject a value, each with the kinds of values that it may reject. Others
are annotations.
"""

_IN_PLACE = ("$ref", "allOf", "anyOf", "oneOf", "not", "if", "then", "else")

_DIALECTS = ("2020-12", "draft-07")
_NOT_READ = ("$dynamicRef", "$recursiveRef", "dependencies")
"""Keywords whose meaning depends on the draft, or on how validation arrived there."""
_NOT_IN_DRAFT_07 = (
    *("prefixItems", "minContains", "maxContains", "dependentRequired", "dependentSchemas"),
    *("unevaluatedItems", "unevaluatedProperties"),
)


class ComparedSchema:
    """A whole schema, in which references are resolved.

    It is readable if it is a JSON Schema of a known draft, without references out of it and without
    keywords that other drafts read differently. All verdicts about others are unknown.
    """

    def __init__(self, root: Any) -> None:
        self._nodes: dict[int, Node] = {}
        named = root.get("$schema") if isinstance(root, dict) else None
        dialect = next((known for known in _DIALECTS if known in str(named)), None)
        self.root = _as_2020_12(root, _NOT_IN_DRAFT_07 if dialect == "draft-07" else ())
        self.top = self.node(self.root)
        inner = [schema for _, schema in walk(self.root, "")] if isinstance(self.root, dict) else []
        self._parts = set(map(id, inner))
        self._has_formats = any("format" in schema for schema in inner)
        is_known = (named is None or dialect is not None) and _is_schema(self.root)
        self.is_readable = is_known and all(self._is_common(schema, dialect) for schema in inner)

    def _is_common(self, schema: dict[str, Any], dialect: str | None) -> bool:
        # References below an `$id` lead into another document, and next to a reference draft 7
        # ignores all keywords.
        if not schema.keys().isdisjoint(_NOT_READ) or ("$id" in schema and schema is not self.root):
            return False
        if "$ref" not in schema:
            return True
        try:
            is_circle = list(self.target(schema["$ref"]).resolved().words) == ["$ref"]
        except LookupError:
            return False
        return not is_circle and (
            dialect != "draft-07" or schema.keys() & ASSERTIONS.keys() == {"$ref"}
        )

    def node(self, schema: Any) -> Node:
        """Return the only node of *schema*, which is a part of the document or was made for it."""
        if id(schema) not in self._nodes:
            self._nodes[id(schema)] = Node(schema, self)  # keeps the schema, and thereby its id
        return self._nodes[id(schema)]

    def target(self, reference: str) -> Node:
        """Return the node that *reference* leads to.

        Raises:
            LookupError: if it leads out of the document or nowhere, or to something that is not a
                schema.
        """
        found = target(self.root, reference)
        if not isinstance(found, bool) and id(found) not in self._parts:
            raise LookupError(reference)
        return self.node(found)

    def judge(self, schema: Any, value: Any, budget: Budget) -> bool | None:
        """Return whether *value* fits *schema* by jsonschema; `None` if it has no answer, or if
        formats decide.

        Raises:
            TooExpensive: if that takes more steps than the *budget* has.
        """
        try:
            verdicts = {
                validator.is_valid(value, schema, total=budget) for validator in self._validators
            }
        except TooExpensive:
            raise
        except CannotJudge:
            return None
        return verdicts.pop() if len(verdicts) == 1 else None

    @cached_property
    def _validators(self) -> list[SchemaValidator]:
        """One without formats and, if the schema has some, one with them."""
        from jsonschema import Draft202012Validator as Dialect

        checkers = (None, Dialect.FORMAT_CHECKER) if self._has_formats else (None,)
        return [
            SchemaValidator(
                self.root,
                dialect=Dialect,
                checks=False,
                format_checker=checker,
                exact_multiples=False,
            )
            for checker in checkers
        ]


def _is_schema(root: Any) -> bool:
    from jsonschema import Draft202012Validator

    try:
        return not faults_of_schema(root, dialect=Draft202012Validator)
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
    made = children(known, lambda inner: _as_2020_12(inner, ignored))
    rest = made.pop("additionalItems", None)
    if isinstance(made.get("items"), list) and "prefixItems" not in made:
        made["prefixItems"] = made.pop("items")
        made |= {} if rest is None else {"items": _as_2020_12(rest, ignored)}
    return made


class Node:
    """A schema in its document. There is one node for each, so that nodes are equal only if they
    are the same.
    """

    __slots__ = ("_parts", "document", "schema", "words")

    def __init__(self, schema: Any, document: ComparedSchema) -> None:
        self.schema = schema
        self.document = document
        self._parts: dict[str, dict[Any, Node]] = {}
        # `false` accepts no value, like an empty enum.
        given = schema if isinstance(schema, dict) else {} if schema else {"enum": []}
        self.words: dict[str, Any] = {
            word: value for word, value in given.items() if word in ASSERTIONS
        }

    def at(self, schema: Any) -> Node:
        """Return the node of a *schema* inside this one."""
        return self.document.node(schema)

    def parts(self, word: str) -> dict[Any, Node]:
        """Return the schemas under *word*, or what it refers to, by their names or places, if
        any.
        """
        if word not in self._parts:
            value = self.words.get(word)
            found: dict[Any, Node] = {}
            if value is not None and word == "$ref":
                found = {"": self.document.target(value)}
            elif value is not None and word in HOLDING:
                inner: Any = (
                    {"": value}
                    if word in ONE
                    else dict(enumerate(value))
                    if word in LISTS
                    else value
                )
                found = {name: self.at(schema) for name, schema in inner.items()}
            self._parts[word] = found
        return self._parts[word]

    def resolved(self) -> Node:
        """Return the node it refers to, if it does nothing else; otherwise itself."""
        node, seen = self, set[Node]()
        while list(node.words) == ["$ref"] and node not in seen:
            seen.add(node)
            node = node.document.target(node.words["$ref"])
        return node

    def within(self) -> Iterator[Node]:
        """Yield this node and all that apply to the same value: references, alternatives and
        conditions.
        """
        seen, waiting = set[Node](), [self]
        while waiting:
            node = waiting.pop(0)
            if node in seen:
                continue
            seen.add(node)
            yield node
            waiting += [part for word in _IN_PLACE for part in node.parts(word).values()]


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
        return msgspec.json.encode(one, order="sorted") == msgspec.json.encode(
            other, order="sorted"
        ) or bool(identity(one) == identity(other))
    except RecursionError:
        return False
