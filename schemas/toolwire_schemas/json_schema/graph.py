"""Reads a JSON Schema as a graph: the one reading that types, forms, dialects and texts share.

Strategy. A node is one schema, found by its identity in the document; no schema has two nodes. A
node has links to the schemas inside it, and a reference is a link like the others. So a circle is a
node that a reader meets again, and to visit all nodes takes work linear in the document, whatever
its references multiply to. A node reads a keyword when a reader asks for it.

`SchemaNode.resolved` is what a value at a place has to be: references are followed, and `allOf` is
merged (`all_of.py`) within a budget for the whole graph. A place that only refers to a definition
and describes it resolves to the definition's own node. Title, description and default of the place
stay at the place.

What cannot be read restricts nothing:

- `true`, a keyword of the wrong type, an unknown type, and anything that is no schema;
- a reference out of the document, to an anchor, to nothing or to itself, and `$dynamicRef`;
- a merge beyond the budget.

`false` is a node that accepts no value. Unknown keywords are in `SchemaNode.keywords`. Tuples are
read as draft 2020-12 has them, also if `items` is a list. By draft-07, which the document has to
name, keywords next to a reference restrict nothing.

Validity. A resolved node accepts each value that its schema accepts, and maybe more. That suits
readers that describe values or make proposals; a reader that refuses values asks a validator. That
is jsonschema (`bounded_validator.py`), which reads no graph and follows `$ref` itself.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from .all_of import merge_schemas
from .subschemas import (
    ASSERTIONS,
    COMBINING,
    LISTS,
    NAMED,
    ONE,
    TYPES,
    follow_pointer,
    get_reference,
    iterate_subschemas,
    split_pointer,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Keywords = dict[str, Any]

MAX_DEPTH = 50
"""Levels that a reader writes out; people and parsers give up at some hundreds."""

_MAX_MERGES = 50_000
"""Keywords and members that are merged in one graph. Ordinary schemas need some hundred."""

NO_DEFAULT = msgspec.UNSET

LIMITS = (
    *("format", "pattern", "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"),
    *("multipleOf", "minLength", "maxLength", "minItems", "maxItems", "uniqueItems"),
    *("minProperties", "maxProperties"),
)
"""Keywords that narrow a type, in the order in which texts name them."""


class SchemaGraph:
    """The nodes of one schema document."""

    def __init__(self, document: Any) -> None:
        self.document = document
        self.is_draft_07 = _is_draft_07(document)
        self._nodes: dict[int, SchemaNode] = {}
        self._targets: dict[str, SchemaNode | None] = {}
        self._resolved: dict[SchemaNode, SchemaNode] = {}
        self._merged: dict[frozenset[SchemaNode], SchemaNode] = {}
        self._merges_left = _MAX_MERGES
        self.anything = self.get_node({})
        self.root = self.get_node(document)

    def get_node(self, schema: Any) -> SchemaNode:
        """Return the node of *schema*, which is a part of the document or was made for it."""
        known = self._nodes.get(id(schema))
        if known is None:
            known = SchemaNode(schema, self)  # keeps the schema, and thereby its id
            self._nodes[id(schema)] = known
        return known

    def find_target(self, reference: Any) -> SchemaNode | None:
        """Return the node that *reference* leads to; None if that is no schema of the document."""
        if not isinstance(reference, str):
            return None
        if reference not in self._targets:
            self._targets[reference] = self._find(reference)
        return self._targets[reference]

    def _find(self, reference: str) -> SchemaNode | None:
        try:
            found = follow_pointer(self.document, reference)
        except LookupError:
            return None
        if not isinstance(found, dict | bool):
            return None
        return self.get_node(found)

    def iterate_nodes(self) -> Iterator[SchemaNode]:
        """Yield each node that the root leads to, references included, once."""
        return _reach(self.root, SchemaNode.list_inside)

    def resolve(self, node: SchemaNode) -> SchemaNode:
        """Return the node of the same values as *node* without references and `allOf`."""
        chain: list[SchemaNode] = []
        while node not in self._resolved:
            chain.append(node)
            self._resolved[node] = self.anything  # the end of a chain that is a circle
            only = node._find_only_part()
            if only is None:
                self._resolved[node] = self._merge_parts(node)
            else:
                node = only
        end = self._resolved[node]
        # All at once: chains of references may be long, and begin anywhere.
        for link in chain:
            self._resolved[link] = end
        return end

    def _merge_parts(self, node: SchemaNode) -> SchemaNode:
        if not node.list_applied():
            return node
        if self._merges_left < 0:
            return self.anything
        parts = node.list_parts()
        self._merges_left -= len(parts)
        restricting = [part for part in parts if part._restricts()]
        return self.merge(_without_wide_types(restricting))

    def merge(self, parts: list[SchemaNode]) -> SchemaNode:
        """Return the node of values that fit all *parts*, none of which has parts of its own."""
        if not parts:
            return self.anything
        if len(parts) == 1:
            return parts[0]
        key = frozenset(parts)
        if key not in self._merged:
            self._merged[key] = self._merge(parts)
        return self._merged[key]

    def _merge(self, parts: list[SchemaNode]) -> SchemaNode:
        for part in parts:
            self._merges_left -= len(part.keywords) + len(part.properties)
        if self._merges_left < 0:
            return self.anything
        if any(part.is_false for part in parts):
            return self.get_node(False)
        return self.get_node(merge_schemas([part.keywords for part in parts]))


class SchemaNode:
    """One schema of a graph; nodes are equal only if they are the same."""

    def __init__(self, schema: Any, graph: SchemaGraph) -> None:
        self.schema = schema
        self.graph = graph
        self.is_false = schema is False
        self.keywords: Keywords = schema if isinstance(schema, dict) else {}

        self._under: dict[str, dict[Any, SchemaNode]] = {}

    # --- texts ---

    @property
    def title(self) -> str:
        """Its own title, or an empty text."""
        return self._read_text("title")

    @property
    def description(self) -> str:
        """Its own description, or an empty text."""
        return self._read_text("description")

    @property
    def default(self) -> Any:
        """Its own default, or `NO_DEFAULT`."""
        return self.keywords.get("default", NO_DEFAULT)

    # --- values ---

    @cached_property
    def types(self) -> tuple[str, ...]:
        """The types that `type` allows; empty if it allows all."""
        named = self.keywords.get("type")
        names = named if isinstance(named, list) else [named]
        if not all(isinstance(name, str) and name in TYPES for name in names):
            return ()
        return tuple(dict.fromkeys(names))

    @property
    def likely_types(self) -> tuple[str, ...]:
        """The types that `type` allows, or else the one that other keywords are about."""
        if self.types or "type" in self.keywords:
            return self.types
        if not self.keywords.keys().isdisjoint(("properties", "additionalProperties")):
            return ("object",)
        if not self.keywords.keys().isdisjoint(("items", "prefixItems")):
            return ("array",)
        return ()

    @property
    def values(self) -> tuple[Any, ...] | None:
        """The only values that `const` or `enum` allow; None if neither restricts them."""
        if self.is_false:
            return ()
        if "const" in self.keywords:
            return (self.keywords["const"],)
        values = self.keywords.get("enum")
        if not isinstance(values, list):
            return None
        return tuple(values)

    @property
    def limits(self) -> Keywords:
        """The keywords that narrow its type, such as `minimum` and `pattern`."""
        return {word: self.keywords[word] for word in LIMITS if word in self.keywords}

    # --- objects and arrays ---

    @cached_property
    def properties(self) -> dict[str, SchemaNode]:
        """The nodes of named members; one that `is_false` is forbidden."""
        return self._map_nodes("properties")

    @cached_property
    def pattern_properties(self) -> dict[str, SchemaNode]:
        """The nodes of members whose names match a pattern."""
        return self._map_nodes("patternProperties")

    @cached_property
    def required(self) -> dict[str, None]:
        """The names of required members, in order."""
        names = self._list("required")
        return dict.fromkeys(name for name in names if isinstance(name, str))

    @property
    def additional(self) -> SchemaNode | None:
        """The node of members without another node; None if the schema does not mention them."""
        return self._get_node("additionalProperties")

    @property
    def _is_old_tuple(self) -> bool:
        return isinstance(self.keywords.get("items"), list)

    @property
    def is_tuple(self) -> bool:
        """Whether it lists the nodes of first items, perhaps none."""
        return self._is_old_tuple or isinstance(self.keywords.get("prefixItems"), list)

    @cached_property
    def prefix_items(self) -> tuple[SchemaNode, ...]:
        """The nodes of the first items."""
        return self._list_nodes("items" if self._is_old_tuple else "prefixItems")

    @property
    def items(self) -> SchemaNode | None:
        """The node of all items after the first; None if the schema does not mention them."""
        return self._get_node("additionalItems" if self._is_old_tuple else "items")

    # --- links to schemas for the same value ---

    @property
    def reference(self) -> SchemaNode | None:
        """The node that `$ref` leads to."""
        return self.graph.find_target(get_reference(self.keywords))

    @property
    def pointer(self) -> str:
        """The text of `$ref`; empty without a reference."""
        return self._read_text("$ref")

    @property
    def reference_name(self) -> str:
        """The last part of its pointer, as a name for what it leads to."""
        return split_pointer(self.pointer)[-1].strip("#")

    @property
    def besides_reference(self) -> Keywords:
        """Its keywords without the reference."""
        return {word: value for word, value in self.keywords.items() if word != "$ref"}

    @cached_property
    def link(self) -> SchemaNode | None:
        """The schema whose reference leads to the same values as this one, itself or a part of it.

        None if it has no reference, or restricts values of what it refers to.
        """
        if self.resolved is self.graph.anything:
            return None
        for part in _reach(self, SchemaNode.list_applied):
            if part.reference is not None and part.reference.resolved is self.resolved:
                return part
        return None

    @cached_property
    def all_of(self) -> tuple[SchemaNode, ...]:
        """The nodes of `allOf`."""
        return self._list_nodes("allOf")

    @cached_property
    def any_of(self) -> tuple[SchemaNode, ...]:
        """The nodes of `anyOf`."""
        return self._list_nodes("anyOf")

    @cached_property
    def one_of(self) -> tuple[SchemaNode, ...]:
        """The nodes of `oneOf`."""
        return self._list_nodes("oneOf")

    @property
    def choices(self) -> list[tuple[SchemaNode, ...]]:
        """The groups of alternatives, of each of which a value fits at least one."""
        return [group for group in (self.any_of, self.one_of) if group]

    @property
    def variants(self) -> tuple[SchemaNode, ...]:
        """The alternatives of the first group; empty without groups."""
        return self.any_of or self.one_of

    def list_applied(self) -> tuple[SchemaNode, ...]:
        """Return the nodes of its reference and its `allOf`, which apply to the same value."""
        reference = self.reference
        if reference is None:
            return self.all_of
        if self.graph.is_draft_07:
            return (reference,)
        return (reference, *self.all_of)

    def list_parts(self) -> list[SchemaNode]:
        """Return the nodes that apply to the same value, itself first, each once."""
        return list(_reach(self, SchemaNode.list_applied))

    def list_alternatives(self) -> list[SchemaNode]:
        """Return the resolved nodes of which a value fits one: its own, and those of all
        variants.
        """
        return list(_reach(self.resolved, SchemaNode._resolve_variants))

    def _resolve_variants(self) -> tuple[SchemaNode, ...]:
        return tuple(variant.resolved for group in self.choices for variant in group)

    @property
    def resolved(self) -> SchemaNode:
        """The node of the same values without references and `allOf`.

        Its `reference` and `all_of` have no meaning: whatever they say, it says itself.
        """
        return self.graph.resolve(self)

    @cached_property
    def _without_null(self) -> tuple[SchemaNode, bool]:
        schema, is_nullable = without_null(self.keywords)
        return (self if schema is self.keywords else self.graph.get_node(schema)), is_nullable

    @property
    def is_nullable(self) -> bool:
        """Whether null is one of its types or alternatives, besides others or alone."""
        return self._without_null[1]

    @property
    def besides_null(self) -> SchemaNode:
        """The node without the alternative null, which keeps the texts of both."""
        return self._without_null[0]

    def merge_variant(self, variant: SchemaNode) -> SchemaNode:
        """Return the resolved node of values that fit *variant*, one of its own, and the rest."""
        alone = self._without_choices
        if not alone._restricts():
            return variant.resolved
        return self.graph.merge(_without_wide_types([alone, variant.resolved]))

    @cached_property
    def _without_choices(self) -> SchemaNode:
        rest = {word: value for word, value in self.keywords.items() if word not in _OF_WHOLE}
        return self.graph.get_node(rest)

    # --- exactly what it says ---

    @cached_property
    def assertions(self) -> Keywords:
        """Its keywords that may refuse values; for `false`, an `enum` without values."""
        if self.is_false:
            return {"enum": []}
        return {word: value for word, value in self.keywords.items() if word in ASSERTIONS}

    @property
    def is_reference_alone(self) -> bool:
        """Whether it refuses nothing but what it refers to refuses."""
        return self.assertions.keys() == {"$ref"}

    @property
    def target(self) -> SchemaNode:
        """The node that it refers to, if it refuses nothing else; otherwise itself."""
        node = self
        seen: set[SchemaNode] = set()
        while node.is_reference_alone and node not in seen:
            seen.add(node)
            node = node.reference or node
        return node

    def find_under(self, word: str) -> dict[Any, SchemaNode]:
        """Return the nodes of the schemas under the keyword *word*, by their names or places."""
        if word not in self._under:
            self._under[word] = self._read_under(word)
        return self._under[word]

    def _read_under(self, word: str) -> dict[Any, SchemaNode]:
        if word == "$ref" and self.reference is not None:
            return {"": self.reference}
        if word in ONE and word in self.keywords:
            return {"": self.graph.get_node(self.keywords[word])}
        if word in LISTS:
            return dict(enumerate(self._list_nodes(word)))
        if word not in NAMED:
            return {}
        return self._map_nodes(word)

    # --- all links ---

    def list_inside(self) -> Sequence[SchemaNode]:
        """Return the nodes of all schemas directly inside it, and of its reference."""
        found = []
        for _, schema in iterate_subschemas(self.keywords, ""):
            members = schema if isinstance(schema, list) else [schema]
            found += [self.graph.get_node(member) for member in members]
        if self.reference is None:
            return found
        return [*found, self.reference]

    # --- reading ---

    def _read_text(self, word: str) -> str:
        value = self.keywords.get(word)
        if not isinstance(value, str):
            return ""
        return value

    def _list(self, word: str) -> list[Any]:
        value = self.keywords.get(word)
        if not isinstance(value, list):
            return []
        return value

    def _get_node(self, word: str) -> SchemaNode | None:
        if word not in self.keywords:
            return None
        return self.graph.get_node(self.keywords[word])

    def _list_nodes(self, word: str) -> tuple[SchemaNode, ...]:
        return tuple(self.graph.get_node(schema) for schema in self._list(word))

    def _map_nodes(self, word: str) -> dict[str, SchemaNode]:
        members = self.keywords.get(word)
        if not isinstance(members, dict):
            return {}
        return {name: self.graph.get_node(schema) for name, schema in members.items()}

    def _restricts(self) -> bool:
        """Whether it refuses values itself, apart from the nodes that it combines."""
        if self.graph.is_draft_07 and self.reference is not None:
            return False
        return not self.assertions.keys() <= COMBINING

    def _find_only_part(self) -> SchemaNode | None:
        """The node that a schema without restrictions of its own consists of, if it is one."""
        applied = dict.fromkeys(self.list_applied())
        if self._restricts() or len(applied) != 1:
            return None
        return next(iter(applied))


def _reach(
    start: SchemaNode, links: Callable[[SchemaNode], Sequence[SchemaNode]]
) -> Iterator[SchemaNode]:
    """Yield *start* and all nodes that *links* lead to from there, each once, depth first."""
    seen: set[SchemaNode] = set()
    waiting = [start]
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        yield node
        waiting += reversed(links(node))


def _without_wide_types(parts: list[SchemaNode]) -> list[SchemaNode]:
    """Return *parts* without those that say nothing but a type that another part says too.

    `{"type": "object", "$ref": …}` is the definition that it refers to.
    """
    known = set()
    own: list[SchemaNode] = []
    referring: list[SchemaNode] = []
    for part in parts:
        if not _is_type_alone(part):
            if part.types:
                known.add(frozenset(part.types))
        elif part.list_applied():
            referring.append(part)
        else:
            own.append(part)
    left_out = set()
    # Those that refer to others come last: a definition says its type in their place.
    for part in (*own, *referring):
        types = frozenset(part.types)
        wide = types
        if "number" in types:
            wide = types | {"integer"}
        if any(narrow <= wide for narrow in known):
            left_out.add(part)
        known.add(types)
    return [part for part in parts if part not in left_out]


def _is_type_alone(part: SchemaNode) -> bool:
    return bool(part.types) and part.assertions.keys() <= COMBINING | {"type"}


_CHOICES = ("anyOf", "oneOf")
_OF_WHOLE = (*_CHOICES, "title", "description", "default", "examples")
"""Keywords that say nothing about a single alternative."""


def without_null(schema: Keywords) -> tuple[Keywords, bool]:
    """Return *schema* without its alternative null, and whether it had one.

    `{"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "…"}` wants an integer with
    this description. A schema of null alone stays as it is.
    """
    types = schema.get("type")
    if isinstance(types, list) and "null" in types:
        return _without_null_type(schema, types), True
    for word in _CHOICES:
        members = schema.get(word)
        if isinstance(members, list) and _NULL in members:
            return _without_null_member(schema, word, members), True
    return schema, False


_NULL = {"type": "null"}


def _without_null_type(schema: Keywords, types: list[Any]) -> Keywords:
    others = [name for name in types if name != "null"]
    if not others:
        return schema
    made = {**schema, "type": others[0] if len(others) == 1 else others}
    if isinstance(schema.get("enum"), list):
        made["enum"] = [value for value in schema["enum"] if value is not None]
    return made


def _without_null_member(schema: Keywords, word: str, members: list[Any]) -> Keywords:
    others = [member for member in members if member != _NULL]
    if not others:
        return schema
    rest = {key: value for key, value in schema.items() if key != word}
    if len(others) == 1 and isinstance(others[0], dict):
        return {**others[0], **rest}
    return {**rest, word: others}


def _is_draft_07(document: Any) -> bool:
    named = None
    if isinstance(document, dict):
        named = document.get("$schema")
    return isinstance(named, str) and "json-schema.org/draft-0" in named
