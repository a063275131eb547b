"""Reads JSON Schemas as types: visits the graph of a schema and makes shapes of its nodes.

Strategy. Conditions that are not types (`if`, `not`, limits) are left out: a shape allows
everything that its schema allows, and maybe more. A reference becomes a name, and its target a
definition that is read once, so circles end. Of an intersection of members and alternatives, which
few languages have, the members are the shape. For languages that have no types without a name,
objects within types become definitions too.
"""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.json_schema.graph import MAX_DEPTH, SchemaGraph, SchemaNode
from toolwire_schemas.json_schema.member_names import read_names
from toolwire_schemas.json_schema.variant_names import find_constant

from .definition_meanings import find_meanings
from .name_mapping import RULES, Names
from .shapes import (
    ANYTHING,
    NOTHING,
    NULL,
    ArrayShape,
    Definition,
    ObjectShape,
    ReferenceShape,
    ScalarShape,
    Shape,
    ShapeMember,
    UnionShape,
    ValuesShape,
    read_as_kinds,
    unite_shapes,
)
from .tool_entry import Entry, Schema, as_schema, describe, read_text
from .type_names import Definitions, hint_with_title, hint_within

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

_MAX_STEPS = 50_000
"""How many nodes are read once more, within others."""

_ANY_CONTAINERS = (ObjectShape([], ANYTHING), ArrayShape([], ANYTHING))

# --- texts ----------------------------------------------------------------------------------------

NAMED_TYPE = "x-toolwire-type"
"""The keyword with the type of Python that a text is read as, in schemas that `toolwire list` asks
for.
"""

PYTHON_TYPES = {
    "date-time": "datetime",
    "date": "date",
    "time": "time",
    "duration": "timedelta",
    "uuid": "UUID",
    "byte": "bytes",
    "binary": "bytes",
    "base64": "bytes",
    "path": "Path",
    "file-path": "Path",
    "directory-path": "Path",
}
"""The types of Python for the formats of JSON Schema, OpenAPI and pydantic."""


def _find_text_type(node: SchemaNode, types: Mapping[str, str]) -> str:
    """Return the type of *types* that a text is read as; empty if that is the type of all texts."""
    named = node.keywords.get(NAMED_TYPE)
    # A foreign server may write anything there.
    if isinstance(named, str) and named in types.values():
        return named
    if node.keywords.get("contentEncoding") == "base64":
        return types.get("base64", "")
    text_format = node.keywords.get("format")
    if not isinstance(text_format, str):
        return ""
    return types.get(text_format, "")


# --- schemas --------------------------------------------------------------------------------------


class ShapeReader:
    """Reads the nodes of one schema, and adds what they refer to to *definitions*.

    The targets that are being defined are passed along to all that is not within one of their
    members or items: a type cannot be its own definition.
    """

    def __init__(self, root: Schema, definitions: Definitions, owner: str = "arguments") -> None:
        self.graph = SchemaGraph(root)
        self._owner = owner
        self._definitions = definitions
        self._references: dict[SchemaNode, ReferenceShape] = {}
        self._waiting: dict[SchemaNode, None] = {}
        """Targets that have a name but no definition yet."""
        self._open: set[SchemaNode] = set()
        self._read: set[SchemaNode] = set()
        self._steps_left = _MAX_STEPS

    def read_arguments(self) -> ObjectShape:
        """Return the root itself, always as an object; the members of its parts and alternatives
        are put together.
        """
        root = self.graph.root.resolved
        whole = self._read_object(root, self._owner)
        objects = [whole] if whole.members else []
        for group in root.choices:
            objects += self._merge_objects(group)
        self._define_all()
        if objects:
            return _put_together(objects)
        return whole

    def read_result(self, place: SchemaNode) -> Shape:
        """Return the shape at *place*, whose description is shown elsewhere."""
        shape = self._read_shape(place, self._owner, describes=False)
        self._define_all()
        return shape

    def _merge_objects(self, group: Sequence[SchemaNode]) -> list[ObjectShape]:
        """Return an object with the members of all alternatives, if all are objects."""
        objects: list[ObjectShape] = []
        for variant in group:
            node = variant.resolved
            if node.likely_types != ("object",) or node.values is not None:
                return []
            objects.append(self._read_object(node, self._owner))
        whole = _put_side_by_side(objects)
        if not whole.members:
            return []
        return [whole]

    def _read_shape(self, place: SchemaNode, hint: str, *, describes: bool = True) -> Shape:
        """Return the shape at *place*; *hint* is the name of an object that has no title."""
        link = _link_at(place)
        if link is None and place.resolved in self._open:
            # A circle without a name, made by `allOf`: the first of its parts has one.
            link = _find_first_reference(place)
        if link is not None:
            return self._refer(link)
        shape = self._read_unnamed(place.resolved, hint)
        return self._name_shape(shape, place, hint, describes=describes)

    def _name_shape(
        self, shape: Shape, place: SchemaNode, hint: str, *, describes: bool = True
    ) -> Shape:
        """Return the shape itself; a reference to it if it has to be named."""
        wanted = hint_with_title(hint, place.title)
        description = ""
        if describes:
            description = place.description
        if not self._definitions.of_unions:
            return self._with_name(shape, wanted, description)
        others, has_null = self._without_null(shape, wanted)
        named = self._with_name(others, wanted, description)
        if has_null:
            return UnionShape([named, NULL])
        return named

    def _without_null(self, shape: Shape, wanted: str) -> tuple[Shape, bool]:
        """Return *shape* with values as kinds and without its alternative null, and whether it had
        one.
        """
        shape = read_as_kinds(shape)
        if not isinstance(shape, UnionShape):
            return shape, False
        others = [part for part in shape.parts if part != NULL]
        has_null = len(others) < len(shape.parts)
        if len(others) > 1:
            others = [self._with_name(part, f"{wanted} text", "") for part in others]
        return unite_shapes(others), has_null

    def _with_name(self, shape: Shape, wanted: str, description: str) -> Shape:
        if not self._definitions.wants_name(shape):
            return shape
        name, is_new = self._definitions.name_part(_describe_meaning(shape), wanted)
        if is_new:
            self._definitions.add(name, shape, description)
        return ReferenceShape(name)

    # --- nodes ---

    def _read_unnamed(
        self, node: SchemaNode, hint: str, defining: tuple[SchemaNode, ...] = ()
    ) -> Shape:
        """Return the shape of a resolved *node*; if it is an object or a union, it has no name."""
        if node.is_false:
            return NOTHING
        if node in self._open or len(self._open) > MAX_DEPTH or self._is_too_expensive(node):
            return ANYTHING
        self._open.add(node)
        shapes = [self._read_plain(node, hint)]
        for group in node.choices:
            shapes.append(self._read_alternatives(group, hint, defining))
        self._open.remove(node)
        return _choose_most_definite(shapes)

    def _is_too_expensive(self, node: SchemaNode) -> bool:
        if node in self._read:
            self._steps_left -= 1
        self._read.add(node)
        return self._steps_left < 0

    def _read_alternatives(
        self, group: Sequence[SchemaNode], hint: str, defining: tuple[SchemaNode, ...]
    ) -> Shape:
        """Return the union of a *group*; values that several alternatives list are one list."""
        shapes: list[Shape] = []
        values: list[Any] = []
        names: dict[str, Any] = {}
        values_at = 0
        members = Counter(name for each in group for name in each.resolved.properties)
        for variant in group:
            link = _link_at(variant)
            if link is not None:
                reference = self._refer(link, defining)
                shapes.append(_with_label(reference, link.reference_name))
                continue
            label = _choose_label(variant, members)
            own_hint = f"{hint} {label}".rstrip()
            if variant.title:
                own_hint = hint_within(hint, label)
            shape = self._read_unnamed(variant.resolved, own_hint, defining)
            if not isinstance(shape, ValuesShape):
                shapes.append(_with_label(self._name_shape(shape, variant, own_hint), label))
                continue
            values_at = values_at if values else len(shapes)
            values += shape.values
            names |= shape.names
        listed = self._name_shape(ValuesShape(values, names), self.graph.anything, hint)
        shapes.insert(values_at, listed)
        return unite_shapes(shapes)

    def _read_plain(self, node: SchemaNode, hint: str) -> Shape:
        """Return the shape without alternatives."""
        if node.values is not None:
            return ValuesShape(list(node.values), read_names(node.keywords))
        types = node.likely_types
        if not types:
            return ANYTHING
        if len(types) == 1:
            return self._read_type(types[0], node, hint)
        return unite_shapes(
            self._name_shape(self._read_type(name, node, hint), node, hint) for name in types
        )

    def _read_type(self, name: str, node: SchemaNode, hint: str) -> Shape:
        match name:
            case "object":
                return self._read_object_or_map(node, hint)
            case "array":
                return self._read_array(node, hint)
            case "string":
                return ScalarShape(name, _find_text_type(node, self._definitions.text_types))
        return ScalarShape(name)

    def _read_object_or_map(self, node: SchemaNode, hint: str) -> ObjectShape:
        shape = self._read_object(node, hint)
        is_closed = node.additional is not None and node.additional.is_false
        if shape.members or is_closed:
            return shape
        return ObjectShape([], shape.rest or ANYTHING)

    def _read_object(self, node: SchemaNode, hint: str) -> ObjectShape:
        members = []
        for name, member in node.properties.items():
            if member.is_false:
                continue
            shape = self._read_shape(member, hint_within(hint, name), describes=False)
            members.append(ShapeMember(name, shape, name in node.required, member.keywords))
        if node.additional is None or node.additional.is_false:
            return ObjectShape(members, None)
        return ObjectShape(members, self._read_shape(node.additional, f"{hint} value"))

    def _read_array(self, node: SchemaNode, hint: str) -> ArrayShape:
        first = []
        for place, item in enumerate(node.prefix_items, 1):
            first.append(self._read_shape(item, f"{hint} {place}"))
        items = node.items or self.graph.anything
        has_all = items.is_false or node.keywords.get("maxItems") == len(first)
        if node.is_tuple and has_all:
            return ArrayShape(first, None)
        return ArrayShape(first, self._read_shape(items, f"{hint} item"))

    # --- references ---

    def _refer(self, link: SchemaNode, defining: tuple[SchemaNode, ...] = ()) -> Shape:
        target = link.reference
        assert target is not None
        if target in defining:
            return ANYTHING
        if target not in self._references:
            hint = hint_within(self._owner, link.reference_name or "Arguments")
            name, is_new = self._definitions.name(self._meanings[link.pointer], hint)
            self._references[target] = ReferenceShape(name)
            if is_new:
                self._waiting[target] = None
        if defining and target in self._waiting:
            # Now, since it may consist of what is being defined.
            self._define(target, defining)
        return self._references[target]

    def _define(self, target: SchemaNode, defining: tuple[SchemaNode, ...] = ()) -> None:
        del self._waiting[target]
        name = self._references[target].name
        scope_before = self._definitions.scope
        self._definitions.scope = f"type {name}"
        shape = self._read_definition(target, name, (*defining, target))
        self._definitions.scope = scope_before
        self._definitions.add(name, shape, target.description)

    def _read_definition(
        self, target: SchemaNode, hint: str, defining: tuple[SchemaNode, ...]
    ) -> Shape:
        link = _link_at(target)
        if link is not None:
            return self._refer(link, defining)
        shape = self._read_unnamed(target.resolved, hint, defining)
        if not self._definitions.of_unions:
            return shape
        shape, has_null = self._without_null(shape, hint)
        if not has_null:
            return shape
        return UnionShape([self._with_name(shape, f"{hint} value", ""), NULL])

    def _define_all(self) -> None:
        while self._waiting:
            self._define(next(iter(self._waiting)))

    @cached_property
    def _meanings(self) -> dict[str, str]:
        return find_meanings(self.graph)


def _link_at(place: SchemaNode) -> SchemaNode | None:
    """Return the schema whose reference says the type at *place*: limits next to it are no types.

    None if there is no reference, or more is said of the type.
    """
    seen: set[SchemaNode] = set()
    while place not in seen:
        if place.link is not None:
            return place.link
        seen.add(place)
        typed = [part for part in place.list_applied() if _says_type(part.resolved)]
        if _says_type(place) or len(typed) != 1:
            return None
        if typed[0] is place.reference:
            return place
        place = typed[0]
    return None


def _find_first_reference(place: SchemaNode) -> SchemaNode | None:
    for part in place.list_parts():
        if part.reference is not None:
            return part
    return None


def _says_type(node: SchemaNode) -> bool:
    return bool(node.likely_types or node.choices or node.values is not None)


def _choose_most_definite(shapes: list[Shape]) -> Shape:
    """Return the first of *shapes*, of which all apply, that restricts more than a type does."""
    shapes = [shape for shape in shapes if shape != ANYTHING] or [ANYTHING]
    for shape in shapes:
        if shape not in _ANY_CONTAINERS:
            return shape
    return shapes[0]


def _choose_label(variant: SchemaNode, members: Counter[str]) -> str:
    """Return what an alternative is called: by its title, its constant, or a member that only it
    has; empty if there is nothing of these. *members* counts those of all alternatives.
    """
    if variant.title:
        return variant.title
    member, constant = find_constant(variant)
    if member:
        return str(constant)
    for name in variant.resolved.properties:
        if members[name] == 1:
            return f"with {name}"
    return ""


def _with_label(shape: Shape, label: str) -> Shape:
    if isinstance(shape, ReferenceShape):
        return ReferenceShape(shape.name, label)
    return shape


# --- objects --------------------------------------------------------------------------------------


def _put_together(objects: list[ObjectShape]) -> ObjectShape:
    """Return the shape of an object that is each of *objects*."""
    if len(objects) == 1:
        return objects[0]
    needed = set[str]().union(*map(_list_required_names, objects))
    return ObjectShape(_merge_members(objects, needed), None)


def _put_side_by_side(objects: list[ObjectShape]) -> ObjectShape:
    """Return the shape of an object that is one of *objects*, with the members of all."""
    first, *others = map(_list_required_names, objects)
    return ObjectShape(_merge_members(objects, first.intersection(*others)), None)


def _merge_members(objects: list[ObjectShape], needed: set[str]) -> list[ShapeMember]:
    members: dict[str, ShapeMember] = {}
    for shape in objects:
        for member in shape.members:
            is_required = member.name in needed
            members[member.name] = msgspec.structs.replace(member, is_required=is_required)
    return list(members.values())


def _list_required_names(shape: ObjectShape) -> set[str]:
    return {member.name for member in shape.members if member.is_required}


def _describe_meaning(shape: Shape) -> str:
    """Return a text that is the same for shapes that are written and described alike."""
    if not isinstance(shape, ObjectShape):
        return str(shape)
    members = []
    for member in shape.members:
        description = describe(member.schema)
        members.append((member.name, member.shape, member.is_required, description))
    return str((members, shape.rest))


# --- tools ----------------------------------------------------------------------------------------


class ToolShapes:
    """The entry of a tool as shapes, with the *definitions* that they need and earlier tools did
    not.
    """

    def __init__(self, entry: Entry, definitions: Definitions) -> None:
        self.name = read_text(entry.get("name"))
        self.description = read_text(entry.get("description"))
        schema = as_schema(entry.get("inputSchema"))
        definitions.scope = f"tool {self.name}"
        self.arguments = ShapeReader(schema, definitions, self.name).read_arguments()
        self.argument_types = definitions.take()
        output = as_schema(entry.get("outputSchema"))
        reader = ShapeReader(output, definitions, f"{self.name} result")
        root = reader.graph.root
        # Structured content has to be an object, so any other result is its only member.
        self.is_wrapped = list(root.properties) == ["result"] and "result" in root.required
        place = root.properties["result"] if self.is_wrapped else root
        self.about_result = describe(place.keywords)
        self.result = reader.read_result(place) if output else None
        self.result_types = definitions.take()


def write_functions(
    entries: list[Entry],
    dialect: str,
    function: Callable[[ToolShapes, str], str],
    definition: Callable[[Definition], str],
    taken: Iterable[str] = (),
    *,
    of_objects: bool = False,
    short_members: int = 0,
) -> str:
    """Return the functions of tools as a *dialect* has them, the types that each needs above it.

    *taken*, *of_objects* and *short_members* are those of `Definitions`.
    """
    names = Names([read_text(entry.get("name")) for entry in entries], dialect)
    definitions = Definitions(
        RULES.get(dialect),
        {*taken, *names.ours},
        of_objects=of_objects,
        short_members=short_members,
    )
    blocks: list[str] = []
    for entry in entries:
        tool = ToolShapes(entry, definitions)
        blocks += map(definition, [*tool.argument_types, *tool.result_types])
        blocks.append(function(tool, names.theirs[tool.name]))
    return "\n\n".join(blocks)
