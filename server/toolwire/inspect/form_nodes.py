"""The nodes of a form, which the page draws: visits the graph of a schema.

Strategy. The page reads no schema. A form is a list of nodes with what a control needs to know, and
nodes have the numbers of others; node 0 is the whole. So circles and large definitions are written
once. A place that only describes another node has its own texts, and the number of that node as
`of`. Null is a place that no form fits: the page asks for JSON there.

The page draws few controls at once, so only the first nodes, level by level, are written. What they
refer to beyond has no number: it takes any JSON.
"""

from __future__ import annotations

import re
from typing import Any

from toolwire_schemas.json_schema.choices import list_choices
from toolwire_schemas.json_schema.graph import NO_DEFAULT, SchemaGraph, SchemaNode
from toolwire_schemas.json_schema.variant_names import name_variants
from toolwire_schemas.wire.codec import encode
from toolwire_tools.schema.scalars import ANY_MOMENT, ANY_TIME, DURATION, NAIVE_MOMENT

FormNode = dict[str, Any]

_MAX_NODES = 10_000
_MAX_CHOICES = 1_000
_MAX_KINDS = 100
_MAX_HINT = 200
_MAX_PATTERN = 60  # a longer one says less than the description

_LIMIT = re.compile(
    r"(exclusiveM|m)(in|ax)imum|m(in|ax)(Length|Items|Properties)|multipleOf|pattern"
)
_FILES = ("base64", "binary", "byte")
_TIMES = ("date", "time", "date-time")
_CLOCKS = {
    ANY_MOMENT: ("date-time", "optional"),
    NAIVE_MOMENT: ("date-time", "none"),
    ANY_TIME: ("time", "optional"),
    DURATION: ("duration", "none"),
}
"""The patterns by which Toolwire publishes times, with the format that they stand in for, and
whether a value has an offset.
"""
_KEPT = (
    "format",
    "contentMediaType",
    "pattern",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "maxItems",
)
"""Keywords that a control has an attribute for."""


def write_form(schema: Any) -> list[FormNode | None]:
    """Return the nodes of a form for *schema*, which may be anything."""
    return _FormWriter(schema).write()


class _FormWriter:
    def __init__(self, schema: Any) -> None:
        self._root = SchemaGraph(schema).root
        self._numbers: dict[SchemaNode, int] = {}
        self._places: list[SchemaNode] = []

    def write(self) -> list[FormNode | None]:
        """Return all nodes, the root first."""
        self._number(self._root)
        return [self._write(place) for place in self._places]  # which grows on the way

    def _number(self, place: SchemaNode | None) -> int | None:
        """Return the number of *place*; None if it takes any JSON."""
        if place is None:
            return None
        if place not in self._numbers:
            if len(self._places) >= _MAX_NODES:
                return None
            self._numbers[place] = len(self._places)
            self._places.append(place)
        return self._numbers[place]

    def _write(self, place: SchemaNode) -> FormNode | None:
        node = place.resolved
        if node.is_false or _has_broken_reference(place):
            return None
        form = _collect_texts(place)
        form["hint"] = _write_hint(place)
        of = None if node is place else self._number(node)
        if of is not None:
            return {**form, "of": of}
        control = _choose_control(node)
        form |= {"control": control, "type": node.types[0] if len(node.types) == 1 else ""}
        form |= {word: node.keywords[word] for word in _KEPT if word in node.keywords}
        clock = _find_clock(node)
        if clock is not None:
            form.pop("pattern", None)
            form["format"], form["zone"] = clock
        match control:
            case "choice":
                form["choices"] = _write_choices(node)
            case "union":
                form["kinds"] = self._list_kinds(node)
            case "object":
                form |= self._describe_object(node)
            case "array":
                form |= self._describe_array(node)
            case "string":
                examples = node.keywords.get("examples")
                if isinstance(examples, list) and examples:
                    form["example"] = examples[0]
        return form

    def _describe_object(self, node: SchemaNode) -> FormNode:
        other = next(iter(node.pattern_properties.values()), node.additional)
        is_closed = other is not None and other.is_false
        if other is None:  # a tool without parameters takes none
            is_closed = bool(node.properties) or node is self._root.resolved
        properties = {name: self._number(member) for name, member in node.properties.items()}
        return {
            "properties": properties,
            "required": list(node.required),
            "other": self._number(other),
            "isClosed": is_closed,
        }

    def _describe_array(self, node: SchemaNode) -> FormNode:
        return {
            "first": [self._number(item) for item in node.prefix_items],
            "other": self._number(node.items),
            "isClosed": node.items is not None and node.items.is_false,
        }

    def _list_kinds(self, node: SchemaNode) -> list[FormNode]:
        kinds = _list_kinds(node)
        names = name_variants(kinds)
        return [
            {"name": name, "at": self._number(kind)}
            for name, kind in zip(names, kinds, strict=True)
        ]


def _has_broken_reference(place: SchemaNode) -> bool:
    if place.resolved is place.graph.anything:
        return bool(place.list_applied())
    return any(part.pointer and part.reference is None for part in place.list_parts())


def _collect_texts(place: SchemaNode) -> FormNode:
    texts: FormNode = {}
    if place.title:
        texts["title"] = place.title
    if place.description:
        texts["description"] = place.description
    if place.default is not NO_DEFAULT:
        texts["default"] = place.default
    return texts


def _choose_control(node: SchemaNode) -> str:
    """Return what shows the values of *node*."""
    if _write_choices(node):
        return "choice"
    if len(node.types) > 1 or node.variants:
        return "union"
    if node.types in ((), ("string",)):
        clock = _find_clock(node)
        text_format = node.keywords.get("contentEncoding", node.keywords.get("format"))
        if clock is not None:
            text_format = clock[0]
        if text_format in _FILES:
            return "file"
        if text_format in _TIMES:
            return "time"
        if text_format == "duration":
            return "duration"
    if node.types:
        return node.types[0]
    if "properties" in node.keywords:
        return "object"
    return "array" if node.items is not None or node.is_tuple else "any"


def _find_clock(node: SchemaNode) -> tuple[str, str] | None:
    """Return the format of a time that Toolwire publishes by a pattern, and whether it has an
    offset; `None` for other nodes.
    """
    pattern = node.keywords.get("pattern")
    if not isinstance(pattern, str):
        return None
    return _CLOCKS.get(pattern)


def _write_choices(node: SchemaNode) -> list[FormNode]:
    """Return the values to choose from, if they are listed and not too many."""
    choices = list_choices(node)
    if len(choices) > _MAX_CHOICES:
        return []
    return [{"value": choice.value, "label": choice.label or '""'} for choice in choices]


def _list_kinds(node: SchemaNode) -> list[SchemaNode]:
    """Return the kinds of values that *node* takes, by its alternatives or its types."""
    if len(node.types) > 1:
        rest = {word: node.keywords[word] for word in node.keywords if word not in _TEXTS}
        return [node.graph.get_node({**rest, "type": name}) for name in node.types]
    kinds = []
    for variant in node.variants[:_MAX_KINDS]:
        merged = node.merge_variant(variant)
        kinds.append(variant if merged is variant.resolved else merged)
    return kinds


_TEXTS = ("title", "description", "default")


def _write_hint(place: SchemaNode) -> str:
    """Return in a few words what a value must be."""
    node = place.resolved
    kinds = [kind for kind in _list_kinds(node) if kind.resolved.types != ("null",)]
    if len(kinds) == 1:
        node = kinds[0].resolved
    clock = _find_clock(node)
    text_format = node.keywords.get("format")
    if clock is not None:
        text_format = clock[0]
    words = [text_format if isinstance(text_format, str) else _choose_control(node)]
    for word, value in node.keywords.items():
        is_picked = word == "pattern" and clock is not None
        text = _to_text(value)
        is_long = word == "pattern" and len(text) > _MAX_PATTERN
        if _LIMIT.fullmatch(word) and not is_picked and not is_long:
            words.append(f"{word} {text}")
    default = place.default if place.default is not NO_DEFAULT else place.resolved.default
    if default is not NO_DEFAULT and default is not None:
        words.append(f"default {_to_json(default)}")
    return " · ".join(words)[:_MAX_HINT]


def _to_text(value: Any) -> str:
    return value if isinstance(value, str) else _to_json(value)


def _to_json(value: Any) -> str:
    return encode(value).decode()
