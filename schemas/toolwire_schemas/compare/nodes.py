"""A schema within its document, and what of it says anything about values.

Two readings of one word are no rarity: drafts differ, and people mistype. A word that is not shaped as it should be, or
that another draft would read otherwise, is *unclear*: it is never used as a reason for anything.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from ..json_schema.bounded_validator import identity
from ..json_schema.fast_schema_check import is_boolean, is_list, is_number, is_text, is_type
from ..json_schema.linear_regex import Budget, CannotJudge, TooExpensive, search
from ..json_schema.portable_regex import problem
from ..json_schema.subschemas import LISTS, NAMED, ONE, target, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


Key = tuple[int, int]

_DIALECTS = ("2020-12", "2019-09", "draft-07", "draft-06")
_OLD_DIALECTS = ("draft-07", "draft-06")

IN_PLACE = ("allOf", "anyOf", "oneOf")
"""Words whose schemas are about the value itself."""


class TooComplex(Exception):
    """Deciding would take too long."""


MAX_STEPS = 1_000_000
_MAX_STEPS_OF_TOOL = 100_000
"""Two tools' schemas take some hundred steps. This many are a few seconds."""

_budget: ContextVar[Budget | None] = ContextVar("budget", default=None)


@contextmanager
def limited(steps: int = _MAX_STEPS_OF_TOOL) -> Iterator[None]:
    """Limit all work in this context to *steps*, and to what is left of an outer limit."""
    outer = _budget.get()
    inner = Budget(steps if outer is None else max(0, min(steps, outer.left)))
    before = _budget.set(inner)
    taken = inner.left
    try:
        yield
    finally:
        _budget.reset(before)
        if outer is not None:
            outer.left -= taken - max(0, inner.left)


def spend(steps: int = 1) -> None:
    """Count *steps*.

    Raises:
        TooComplex: if there are too many, within `limited`.
    """
    budget = _budget.get()
    try:
        if budget is not None:
            budget.spend(steps)
    except TooExpensive:
        raise TooComplex from None


class Document:
    """What a schema's references lead into. Schemas that are made on the way live here as well.

    Schemas are known by where they are in memory, so all of them have to live as long as their document.
    """

    def __init__(self, root: Any) -> None:
        self.root = root
        named = root.get("$schema") if isinstance(root, dict) else None
        dialect = next((known for known in _DIALECTS if known in str(named)), None)
        self.unknown_dialect = named if dialect is None else None
        inner = [schema for _, schema in walk(root, "")] if isinstance(root, dict) else []
        # Tuples were written so before 2020-12, and many still write them so without saying which draft it is.
        self.is_old = dialect in _OLD_DIALECTS or (
            named is None and any(isinstance(schema.get("items"), list) for schema in inner)
        )
        # What is below an `$id` refers to places in another document.
        self._refers = not any("$id" in schema for schema in inner[1:])
        self._made: dict[Any, Node] = {}
        self._words: dict[int, dict[str, Any]] = {}
        self._listed: dict[int, frozenset[Any]] = {}

    @property
    def top(self) -> Node:
        """The document's own schema."""
        return Node(self.root, self)

    def made(self, schema: Any) -> Node:
        """A schema that stands nowhere in the document; the same one for the same words."""
        return self._made.setdefault(identity(schema), Node(schema, self))

    def target(self, reference: Any) -> Node | None:
        """What *reference* leads to, `None` if that is not known."""
        if not self._refers or not isinstance(reference, str):
            return None
        try:
            return Node(target(self.root, reference), self)
        except (LookupError, ValueError):
            return None

    def listed(self, values: list[Any]) -> frozenset[Any]:
        """The identities of the *values* of an `enum` in it."""
        if id(values) not in self._listed:
            self._listed[id(values)] = frozenset(map(identity, values))
        return self._listed[id(values)]

    def words_of(self, node: Node) -> dict[str, Any]:
        """The clear words of one of its schemas."""
        if id(node.schema) not in self._words:
            self._words[id(node.schema)] = _clear(node)
        return self._words[id(node.schema)]


class Node:
    """A schema in a document."""

    __slots__ = ("document", "key", "schema")

    def __init__(self, schema: Any, document: Document) -> None:
        self.schema = schema
        self.document = document
        self.key: Key = (id(schema), id(document))

    @property
    def words(self) -> dict[str, Any]:
        """What it says, if there is no doubt about what that means. `false` says that no value will do."""
        return self.document.words_of(self)

    @property
    def is_clear(self) -> bool:
        """Whether that is all it says."""
        return isinstance(self.schema, bool) or (
            isinstance(self.schema, dict) and self.words.keys() >= self.schema.keys() & SAYING.keys()
        )

    def at(self, schema: Any) -> Node:
        """A schema inside this one; a new one is `made` by the document."""
        return Node(schema, self.document)

    def resolved(self) -> Node:
        """What it refers to if it does nothing else, over any number of steps; else itself."""
        node, seen = self, set[Key]()
        while list(node.words) == ["$ref"] and node.is_clear and node.key not in seen:
            seen.add(node.key)
            node = node.document.target(node.words["$ref"]) or node
        return node


def equal(one: Any, other: Any) -> bool:
    """Return whether two JSON values are equal; False if they are nested too deeply for that to be known."""
    try:
        return msgspec.json.encode(one, order="sorted") == msgspec.json.encode(other, order="sorted") or bool(
            identity(one) == identity(other)
        )
    except RecursionError:
        return False


def kind(value: Any) -> str:
    """The type of a JSON value, with numbers parted into `integer` and `fraction`."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return "object"
    return "integer" if Fraction(value).denominator == 1 else "fraction"


# --- which words say something ---


def _is_count(value: Any) -> bool:
    return is_number(value) and value >= 0 and value == int(value)


def is_schema(value: Any) -> bool:
    return isinstance(value, dict | bool)


def _are_schemas(value: Any) -> bool:
    return isinstance(value, list) and all(map(is_schema, value))


def _are_named_schemas(value: Any) -> bool:
    return isinstance(value, dict) and all(map(is_schema, value.values()))


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def never(value: Any) -> bool:
    return False


SAYING: dict[str, Callable[[Any], bool]] = {
    "type": is_type,
    "enum": is_list,
    "const": lambda value: True,
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), is_number),
    "multipleOf": lambda value: is_number(value) and value > 0,
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"), _is_count),
    **dict.fromkeys(("pattern", "format", "contentEncoding", "contentMediaType"), is_text),
    "items": lambda value: is_schema(value) or _are_schemas(value),
    "prefixItems": _are_schemas,
    **dict.fromkeys(("additionalItems", "contains", "additionalProperties", "propertyNames"), is_schema),
    "uniqueItems": is_boolean,
    **dict.fromkeys(("minContains", "maxContains"), _is_count),
    **dict.fromkeys(("properties", "patternProperties"), _are_named_schemas),
    "required": _are_names,
    "dependentRequired": lambda value: isinstance(value, dict) and all(map(_are_names, value.values())),
    **dict.fromkeys(IN_PLACE, _are_schemas),
    **dict.fromkeys(("not", "if", "then", "else"), is_schema),
    "$ref": is_text,
    **dict.fromkeys(("dependentSchemas", "dependencies", "unevaluatedItems", "unevaluatedProperties"), never),
    **dict.fromkeys(("$dynamicRef", "$recursiveRef"), never),
}
"""Words that may forbid a value, each with what its own value has to be; `never`: no rule reads them.

All other words are annotations.
"""


def _clear(node: Node) -> dict[str, Any]:
    schema, document = node.schema, node.document
    if isinstance(schema, bool):
        return {} if schema else {"enum": []}
    if not isinstance(schema, dict) or document.unknown_dialect is not None:
        return {}
    words = {word: value for word, value in schema.items() if word in SAYING and SAYING[word](value)}
    for word in _unclear(words, schema, document):
        words.pop(word, None)
    return words


def _unclear(words: dict[str, Any], schema: dict[str, Any], document: Document) -> Iterable[str]:
    """Words that are shaped well, and yet may mean one thing or another."""
    if "$ref" in schema and document.target(schema["$ref"]) is None:
        yield "$ref"
    if "additionalItems" in schema and not isinstance(schema.get("items"), list):
        yield "additionalItems"
    if isinstance(schema.get("items"), list) and "prefixItems" in schema:
        yield from ("items", "prefixItems", "additionalItems")
    if any(word in schema and word not in words for word in ("items", "prefixItems", "additionalItems")):
        yield from ("items", "prefixItems", "additionalItems")
    if any(word in schema and word not in words for word in ("properties", "patternProperties")):
        yield "additionalProperties"
    if any(word in schema and word not in words for word in ("minContains", "maxContains")):
        yield "contains"
    if document.is_old:  # these keywords are unknown there, and a reference's neighbours are ignored
        if "prefixItems" in schema:
            yield from ("items", "prefixItems")
        if "minContains" in schema or "maxContains" in schema:
            yield from ("contains", "minContains", "maxContains")
        yield "dependentRequired"
        if "$ref" in schema:
            yield from (word for word in SAYING if word != "$ref")


def _read_alike(one: Document, other: Document) -> bool:
    return one.is_old == other.is_old and one.unknown_dialect == other.unknown_dialect


class Sameness:
    """Compares two schemas keyword by keyword, wherever their parts are: in place or referenced."""

    def __init__(self) -> None:
        self._known: dict[tuple[Key, Key], bool] = {}

    def __call__(self, one: Node, other: Node) -> bool:
        """True if no value can tell them apart. False only means that they are written differently."""
        pair = (one.key, other.key)
        if pair not in self._known:
            visited: set[tuple[Key, Key]] = set()
            try:
                same = self._agree(one, other, visited)
            except TooComplex:  # the caller then searches for a proof, which hits the same limit
                return False
            self._known[pair] = same
            if same:
                self._known |= dict.fromkeys(visited, True)
        return self._known[pair]

    def _agree(self, one: Node, other: Node, visited: set[tuple[Key, Key]]) -> bool:
        one, other = one.resolved(), other.resolved()
        pair = (one.key, other.key)
        if pair in visited or pair in self._known:
            return self._known.get(pair, True)
        spend()
        visited.add(pair)
        same = self._say_the_same(one, other, visited)
        if not same:  # though parts of it were taken to be the same while it was compared
            self._known[pair] = False
        return same

    def _say_the_same(self, one: Node, other: Node, visited: set[tuple[Key, Key]]) -> bool:
        if isinstance(one.schema, bool) or isinstance(other.schema, bool):
            return one.schema is other.schema
        if not (isinstance(one.schema, dict) and isinstance(other.schema, dict)):
            return False
        words = one.schema.keys() & SAYING.keys()
        if words != other.schema.keys() & SAYING.keys() or not _read_alike(one.document, other.document):
            return False
        return all(self._word(word, one, other, visited) for word in words)

    def _word(self, word: str, one: Node, other: Node, visited: set[tuple[Key, Key]]) -> bool:
        mine, theirs = one.schema[word], other.schema[word]
        if SAYING[word] is never:
            return False
        if word == "$ref":
            mine, theirs = one.document.target(mine), other.document.target(theirs)
            return mine is not None and theirs is not None and self._agree(mine, theirs, visited)
        if not (SAYING[word](mine) and SAYING[word](theirs)):
            return False
        if word in ("required", "enum") or (word == "type" and isinstance(mine, list) and isinstance(theirs, list)):
            return frozenset(map(identity, mine)) == frozenset(map(identity, theirs))
        if (word in ONE or word == "additionalItems") and is_schema(mine) and is_schema(theirs):
            return self._agree(one.at(mine), other.at(theirs), visited)
        if word in LISTS or (word == "items" and isinstance(mine, list) and isinstance(theirs, list)):
            pairs = zip(mine, theirs, strict=False)
            return len(mine) == len(theirs) and all(self._agree(one.at(m), other.at(t), visited) for m, t in pairs)
        if word in NAMED:
            return mine.keys() == theirs.keys() and all(
                self._agree(one.at(mine[name]), other.at(theirs[name]), visited) for name in mine
            )
        return bool(identity(mine) == identity(theirs))


@lru_cache(maxsize=4096)
def matches(pattern: str, text: str) -> bool | None:
    """Return whether a part of *text* matches *pattern*; `None` where Python and JavaScript may differ, or
    where it takes too long.

    Among ASCII they do so only about patterns that one of them cannot compile, and about what ends in a line break.
    """
    if not text.isascii() or not text.isprintable() or problem(pattern) is not None:
        return None
    try:
        return search(pattern, text, Budget().spend)
    except CannotJudge:
        return None
