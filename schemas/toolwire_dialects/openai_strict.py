"""Schemas in the form that OpenAI's strict mode takes: visits the graph of an input schema.

Strategy. In strict mode every member of an object has to be given, so what may be left out may be
null instead, and `strict_arguments.py` leaves it out again. Limits that the mode cannot enforce are
written into descriptions, where a model reads them; the tool refuses values that break them. So a
strict schema may allow more than the tool takes, but a call loses no value. Where the mode has no
form at all (any value, objects with members of any name, …), `NotStrict` is raised.

Sources for what the mode accepts: OpenAI's guide to structured outputs, and the API's messages as
users report them: "$ref cannot have keywords {'description'}" (camel-ai/camel 3001), "schema must
have a 'type' key" (can1357/oh-my-pi 211), "'uri' is not a valid format" (can1357/oh-my-pi 206).
`default`, `minLength` and `maxLength` are refused by some of the API's hosts only
(openai/openai-agents-python 4390, openai/openai-node 1988), so they are said in words, too.
"""

from __future__ import annotations

import re
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from toolwire_schemas.json_schema.bounded_validator import CannotJudge, find_faults_of_schema
from toolwire_schemas.json_schema.graph import NO_DEFAULT, SchemaGraph, SchemaNode
from toolwire_schemas.json_schema.subschemas import refer_to_definition
from toolwire_schemas.portability import COMBINATORS

from .lint.vendors import check_strict
from .strict_arguments import NodeJudge
from .tool_entry import FaultAt, Schema, as_json

_OF_NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_KEPT = {
    "string": ("pattern", "format"),
    "integer": _OF_NUMBERS,
    "number": _OF_NUMBERS,
    "array": ("minItems", "maxItems"),
}
"""Keywords that the mode knows, for each type."""

_OF_TEXTS = ("minLength", "maxLength", "contentEncoding", "contentMediaType")
_OF_OBJECTS = ("minProperties", "maxProperties", "propertyNames", "patternProperties")
_NOTED = {
    "string": ("pattern", "format", *_OF_TEXTS),
    "array": ("prefixItems", "uniqueItems", "contains", "minContains", "maxContains"),
    "object": (*_OF_OBJECTS, "dependentRequired"),
}
"""Keywords that are written into the description unless they are kept. Others do not restrict
values.
"""
_NOTED_OF_ALL = ("anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "examples")
_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
_NULL: Schema = {"type": "null"}
_FORMATS = ("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid")
_LOOKS_AROUND = re.compile(r"\(\?(?!:)|\\[1-9]")


class NotStrict(FaultAt):
    """A schema that strict mode has no form for: *where* is the path to the part that is to
    blame.
    """


def make_strict(schema: Schema) -> Schema:
    """Return an input schema in the form that strict mode takes.

    Raises:
        NotStrict: if no such form exists.
    """
    try:
        _check(schema)
        made = _StrictWriter(schema).write_root()
    except RecursionError:
        raise NotStrict("", "it is nested too deeply") from None
    except CannotJudge as error:
        raise NotStrict("", str(error)) from None
    for problem in check_strict(made):  # its limits
        raise NotStrict("", problem.text)
    return made


def _check(schema: Schema) -> None:
    error = best_match(iter(find_faults_of_schema(schema, dialect=Draft202012Validator)))
    if error:
        where = ".".join(map(str, error.absolute_path))
        raise NotStrict(where, f"it is not a valid JSON Schema: {error.message}")
    for word in ("$ref", *COMBINATORS):
        if word in schema:
            raise NotStrict(word, "it is not allowed at the root")


class _StrictWriter:
    """Writes one schema; *where* are paths in it."""

    def __init__(self, root: Schema) -> None:
        self._root = SchemaGraph(root).root
        self._judge = NodeJudge(root)
        self._names: dict[SchemaNode, str] = {}
        self._definitions: dict[str, Schema] = {}

    def write_root(self) -> Schema:
        made = self._convert_object(self._root, "", may_be_empty=True)
        made = _describe(made, self._root.keywords, "object")
        if self._definitions:
            return {**made, "$defs": self._definitions}
        return made

    def _write(self, place: SchemaNode, where: str) -> Schema:
        """Return the strict form of *place*, a reference if it is one."""
        if place.link is None:
            _check_references(place, where)
            node = place.resolved
            description = place.description or node.description
            return self._write_node(node, {**node.keywords, "description": description}, where)
        name = self._define(place.link)
        made = refer_to_definition(name)
        # A reference may have no other keywords next to it.
        described = _describe({"anyOf": [made]}, place.keywords)
        if "description" in described:
            return described
        return made

    def _define(self, link: SchemaNode) -> str:
        """Return the name of the definition that *link* refers to."""
        node = link.resolved
        if node not in self._names:
            name = re.sub("[^a-zA-Z0-9_.-]", "_", link.reference_name) or "root"
            while name in self._definitions:
                name += "_"
            self._names[node] = name
            self._definitions[name] = {}  # while it is written, it may refer to itself
            self._definitions[name] = self._write_node(node, node.keywords, link.pointer)
        return self._names[node]

    def _write_node(self, node: SchemaNode, keywords: Schema, where: str) -> Schema:
        """Return the strict form of a resolved *node*, described by *keywords*."""
        if node.values is not None:
            return _describe(self._convert_choice(node, where), keywords)
        types = node.types
        if not types and "properties" in keywords:
            types = ("object",)
        is_open = not types or (types == ("object",) and not node.properties)
        if is_open and node.choices:
            made = self._convert_alternatives(node, types, where)
            return _describe(made, keywords, but=("anyOf", "oneOf"))
        if not types:
            raise NotStrict(where, "it may be any value, but strict mode requires a type")
        if len(types) == 1:
            return _describe(self._convert_type(types[0], node, where), keywords, types[0])
        parts = []
        for name in types:
            part = self._convert_type(name, node, where)
            parts.append(_describe(part, {**keywords, "description": ""}, name))
        return _describe(_unite(parts), keywords, but=("anyOf", "oneOf"))

    def _convert_alternatives(self, node: SchemaNode, types: tuple[str, ...], where: str) -> Schema:
        word = "anyOf" if node.any_of else "oneOf"
        made = []
        for index, variant in enumerate(node.variants):
            if types and not variant.types and variant.link is None:
                variant = node.graph.get_node({"type": types[0], **variant.keywords})
            made.append(self._write(variant, f"{where}.{word}[{index}]"))
        return _unite(made)

    def _convert_type(self, name: str, node: SchemaNode, where: str) -> Schema:
        match name:
            case "object":
                return self._convert_object(node, where)
            case "array":
                return {
                    "type": name,
                    "items": self._convert_items(node, where),
                    **_select_keywords(node, name),
                }
        return {"type": name, **_select_keywords(node, name)}

    def _convert_object(
        self, node: SchemaNode, where: str, *, may_be_empty: bool = False
    ) -> Schema:
        members = {name: inner for name, inner in node.properties.items() if not inner.is_false}
        is_open = node.additional is not None and not node.additional.is_false
        is_free = not members and node.additional is None and not may_be_empty
        if is_open or is_free or (not members and node.pattern_properties):
            problem = "it may have members of any name, but strict mode requires all names"
            raise NotStrict(where, problem)
        made = {}
        for name, member in members.items():
            at = f"{where}.properties.{name}".removeprefix(".")
            made[name] = self._write(member, at)
            if name not in node.required:
                made[name] = self._allow_null(made[name], member)
        return {
            "type": "object",
            "properties": made,
            "required": list(made),
            "additionalProperties": False,
        }

    def _allow_null(self, made: Schema, member: SchemaNode) -> Schema:
        """Return *made*, which may be null now instead of being left out, and says what that
        means.
        """
        default = ""
        if member.default is not NO_DEFAULT and member.default is not None:
            default = f"default: {as_json(member.default)}"
        if self._judge.accepts(member, None):
            return _add_notes(made, default)
        bare = {word: value for word, value in made.items() if word != "description"}
        nullable = _unite([bare, _NULL])
        if "description" in made:
            nullable["description"] = made["description"]
        return _add_notes(
            nullable, f"null for the {default}" if default else "null to leave it out"
        )

    def _convert_items(self, node: SchemaNode, where: str) -> Schema:
        places = list(node.prefix_items)
        says_more = node.items is not None and node.items.schema not in (False, {})
        if says_more or not places:
            places.append(node.items or node.graph.anything)
        return _unite([self._write(place, f"{where}.items") for place in places])

    def _convert_choice(self, node: SchemaNode, where: str) -> Schema:
        """Return the strict form of listed values, those of each type apart."""
        others = {word: node.keywords[word] for word in node.keywords if word not in _LISTING}
        rest = node.graph.get_node(others)
        of_types: dict[str | None, list[Any]] = {}
        for value in node.values or ():
            if self._judge.accepts(rest, value):
                of_types.setdefault(_TYPES.get(type(value)), []).append(value)
        if not of_types:
            raise NotStrict(where, "no value fits it")
        if None in of_types:
            problem = "strict mode allows only strings, numbers, booleans and null as values"
            raise NotStrict(where, problem)
        parts = []
        for name, values in of_types.items():
            parts.append(_NULL if name == "null" else {"type": name, "enum": values})
        return _unite(parts)


_LISTING = ("enum", "const")


def _check_references(place: SchemaNode, where: str) -> None:
    for part in place.list_parts():
        if not part.pointer:
            continue
        if part.reference is None or part.resolved is place.graph.anything:
            raise NotStrict(where, f"{part.pointer} leads nowhere")


def _unite(parts: list[Schema]) -> Schema:
    """Return one of *parts*, each once; those that are such alternatives themselves are taken
    apart.
    """
    unique: dict[str, Schema] = {}
    for whole in parts:
        alternatives = whole["anyOf"] if whole.keys() == {"anyOf"} else [whole]
        for part in alternatives:
            unique[as_json(part)] = part
    different = list(unique.values())
    if len(different) > 1:
        return {"anyOf": different}
    return dict(different[0])


def _select_keywords(node: SchemaNode, name: str) -> Schema:
    """Return the keywords of *node* that strict mode knows for the type called *name*."""
    kept = {word: node.keywords[word] for word in _KEPT.get(name, ()) if word in node.keywords}
    if kept.get("format") not in _FORMATS:
        kept.pop("format", None)
    if _LOOKS_AROUND.search(kept.get("pattern", "")):
        del kept["pattern"]
    return kept


def _describe(
    made: Schema, keywords: Schema, type_name: str = "", but: tuple[str, ...] = ()
) -> Schema:
    """Return *made*, with the description in *keywords* and what *made* lost of these, except for
    the words in *but*.
    """
    notes = []
    for word in (*_NOTED.get(type_name, ()), *_NOTED_OF_ALL):
        if word in keywords and word not in made and word not in but:
            notes.append(f"{word}: {as_json(keywords[word])}")
    description = keywords.get("description", "").strip()
    if description:
        made = {**made, "description": description}
    return _add_notes(made, *notes)


def _add_notes(made: Schema, *notes: str) -> Schema:
    """Return *made*, with *notes* in parentheses at the end of its description."""
    note = "; ".join(filter(None, notes))
    if not note:
        return made
    return {**made, "description": f"{made.get('description', '')} ({note})".strip()}
