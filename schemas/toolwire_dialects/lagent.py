"""The description dicts of Lagent: a list of parameters, each with one of five types.

Strategy. Lagent's dict says less than JSON Schema: STRING, NUMBER (what it makes of `int`), FLOAT,
BOOLEAN and Array, and nothing about what is inside. So `from_entry` writes Lagent's three keys of a
parameter, in Lagent's order, and only where a type cannot say what is wanted (an enum, the items of
an array, the members of an object, a limit) puts the keywords of JSON Schema after them, which
Lagent ignores and a model reads; `to_entry` reads them as well.

What does not survive the way to Lagent and back: titles, defaults, annotations and other members of
the entry; that a parameter may be null; that a number is whole; what the schema's root says besides
its parameters (combinators, `additionalProperties`); of the output schema all but the names, types
and descriptions of an object's members. What does not survive the way from Lagent and back:
`parameter_description`; the difference between NUMBER and FLOAT, since by hand people write NUMBER
for any number; types of one's own; what is returned without a name.
"""

from __future__ import annotations

from typing import Any

import msgspec
from toolwire_schemas.json_schema.graph import LIMITS, SchemaGraph, SchemaNode
from toolwire_schemas.json_schema.subschemas import HOLDING, map_subschemas

from .tool_entry import Entry, Malformed, Schema, as_schema, read_text

_TO_LAGENT = {
    "string": "STRING",
    "integer": "NUMBER",
    "number": "FLOAT",
    "boolean": "BOOLEAN",
    "array": "Array",
    "object": "OBJECT",
}
# In lower case, Lagent's five names are among these. ANY, and any other name, is not a type.
_FROM_LAGENT = {kind: kind for kind in (*_TO_LAGENT, "null")} | {
    "float": "number",
    "list": "array",
    "dict": "object",
}
_VALUES = ("const", "enum", "maxContains", "minContains", "required")
_DETAILS = frozenset((*HOLDING, *LIMITS, *_VALUES))
"""Keywords of JSON Schema that Lagent's types say nothing of."""


class _Item(msgspec.Struct):
    name: str = ""
    description: str = ""
    type: str | list[str] = ""


class _Description(msgspec.Struct):
    name: str = ""
    description: str = ""
    parameters: list[_Item] = []
    required: list[str] = []
    return_data: list[_Item] = []
    definitions: dict[str, Any] = msgspec.field(default_factory=dict, name="$defs")
    api_list: list[_Description] = []


def to_entry(description: dict[str, Any]) -> Entry:
    """Return the entry of the tool that a Lagent *description* is about.

    `return_data` becomes the output schema. Without `required`, no parameter is. Types are read in
    any case; an unknown one is not a type, so that any value is taken.

    Raises:
        Malformed: with the path to what is wrong. A toolkit is (see `to_entries`).
    """
    _check_types(description)
    if "api_list" in description:
        raise Malformed("api_list", "this is a toolkit, which is several tools")
    return _make_entry(description, "", "")


def to_entries(description: dict[str, Any]) -> list[Entry]:
    """Return an entry for each API of a toolkit, called `Toolkit.api`, or the one of a simple tool.

    Raises:
        Malformed: with the path to what is wrong.
    """
    _check_types(description)
    if "api_list" not in description:
        return [_make_entry(description, "", "")]
    apis, prefix = description["api_list"], _read_name(description, "") + "."
    entries = [_make_entry(api, f"api_list[{index}].", prefix) for index, api in enumerate(apis)]
    _index_by_name(apis, "api_list")
    return entries


def from_entry(entry: Entry) -> dict[str, Any]:
    """Return Lagent's description of the tool of an *entry*, its keys in Lagent's order.

    `return_data` is there if the output schema has members. Definitions that parameters refer to
    stay under `$defs`.
    """
    arguments = SchemaGraph(as_schema(entry.get("inputSchema"))).root
    result = SchemaGraph(as_schema(entry.get("outputSchema"))).root
    parameters = [_describe_parameter(name, member) for name, member in _list_members(arguments)]
    names = [parameter["name"] for parameter in parameters]
    made: dict[str, Any] = {
        "name": read_text(entry.get("name")),
        "description": read_text(entry.get("description")),
        "parameters": parameters,
        "required": [name for name in arguments.required if name in names],
    }
    returned = [_describe_result(name, member) for name, member in _list_members(result)]
    if returned:
        made["return_data"] = returned
    if "$defs" in arguments.keywords:
        made["$defs"] = as_schema(arguments.keywords["$defs"])
    return made


def _list_members(node: SchemaNode) -> list[tuple[str, SchemaNode]]:
    return [(name, member) for name, member in node.properties.items() if not member.is_false]


def _check_types(description: Any) -> None:
    try:
        msgspec.convert(description, _Description)
    except msgspec.ValidationError as error:
        problem, _, where = str(error).partition(" - at `$")
        raise Malformed(where.strip(".`"), problem) from None


def _make_entry(description: dict[str, Any], where: str, prefix: str) -> Entry:
    entry: Entry = {"name": prefix + _read_name(description, where)}
    if description.get("description"):
        entry["description"] = description["description"]
    entry["inputSchema"] = _make_input_schema(description, where)
    # A result may be described without a name, and then is not a member of an object.
    named = [item for item in description.get("return_data", []) if "name" in item]
    returned = _index_by_name(named, f"{where}return_data")
    if returned:
        properties = {name: _make_schema(item) for name, item in returned.items()}
        entry["outputSchema"] = {"type": "object", "properties": properties}
    return entry


def _make_input_schema(description: dict[str, Any], where: str) -> Schema:
    members = _index_by_name(description.get("parameters", []), f"{where}parameters")
    required = list(description.get("required", []))
    for index, name in enumerate(required):
        if name not in members:
            known = ", ".join(members) or "none"
            problem = f"{name!r} is not a parameter; known: {known}"
            raise Malformed(f"{where}required[{index}]", problem)
    properties = {name: _make_schema(parameter) for name, parameter in members.items()}
    schema: Schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = list(dict.fromkeys(required))
    # Lagent refuses arguments that the description does not name.
    schema["additionalProperties"] = False
    definitions = description.get("$defs")
    if definitions:
        schema["$defs"] = {name: _translate_types(inner) for name, inner in definitions.items()}
    return schema


def _index_by_name(items: list[dict[str, Any]], where: str) -> dict[str, dict[str, Any]]:
    made: dict[str, dict[str, Any]] = {}
    for index, item in enumerate(items):
        name = _read_name(item, f"{where}[{index}].")
        if name in made:
            raise Malformed(f"{where}[{index}].name", f"there is another one called {name!r}")
        made[name] = item
    return made


def _read_name(item: dict[str, Any], where: str) -> str:
    if not item.get("name"):
        raise Malformed(f"{where}name", "it is missing")
    return str(item["name"])


def _make_schema(item: dict[str, Any]) -> Schema:
    schema: Schema = _translate_types({"type": item.get("type")})
    if item.get("description"):
        schema["description"] = item["description"]
    details = {word: item[word] for word in item if word in _DETAILS or word == "default"}
    schema |= _translate_types(details)
    if not isinstance(schema.get("required", []), list):  # people also write "required": True
        del schema["required"]
    if "array" in schema.get("type", ()):
        schema.setdefault("items", {})  # some clients refuse an array without them
    return schema


def _translate_types(schema: Any) -> Any:
    """*schema* with Lagent's types in it replaced by those of JSON Schema."""
    if not isinstance(schema, dict):
        return schema
    made = map_subschemas(schema, _translate_types)
    if "type" in made:
        kind = _translate_type(made.pop("type"))
        made = {"type": kind, **made} if kind else made
    return made


def _translate_type(kind: Any) -> str | list[str] | None:
    """JSON Schema's name for a type, or its names for a list of them; None if one is unknown."""
    if isinstance(kind, list):
        names = [_FROM_LAGENT.get(str(one).lower(), "") for one in kind]
        if not all(names):
            return None
        return list(dict.fromkeys(names))
    return _FROM_LAGENT.get(str(kind).lower())


def _describe_parameter(name: str, place: SchemaNode) -> dict[str, Any]:
    parameter: dict[str, Any] = {
        "name": name,
        "type": _name_type(place) or "ANY",
        "description": place.description,
    }
    wanted = place.besides_null
    for word, value in wanted.keywords.items():
        if word in _DETAILS and (word, value) != ("items", {}):
            parameter[word] = value
    types = wanted.resolved.types
    if len(types) > 1:
        parameter.setdefault("anyOf", [{"type": kind} for kind in types])
    return parameter


def _describe_result(name: str, place: SchemaNode) -> dict[str, Any]:
    made = {"name": name, "description": place.description}
    kind = _name_type(place)
    if kind:
        return {**made, "type": kind}
    return made


def _name_type(place: SchemaNode) -> str:
    """Return Lagent's type for *place*; an empty text if it has none."""
    types = place.besides_null.resolved.types
    if len(types) != 1:
        return ""
    return _TO_LAGENT.get(types[0], "")
