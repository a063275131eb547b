"""The description dicts of Lagent: a list of parameters, each with one of five types.

Strategy. Lagent's dict says less than JSON Schema: STRING, NUMBER (what it makes of `int`), FLOAT, BOOLEAN and Array,
and nothing about what is inside. So `from_entry` writes Lagent's three keys of a parameter, in Lagent's order, and only
where a type cannot say what is wanted (an enum, the items of an array, the members of an object, a limit) puts the
keywords of JSON Schema after them, which Lagent ignores and a model reads; `to_entry` reads them as well.

What does not survive the way to Lagent and back: titles, defaults, annotations and other members of the entry; that a
parameter may be null; that a number is whole; what the schema's root says besides its parameters (combinators,
`additionalProperties`); of the output schema all but the names, types and descriptions of an object's members.
What does not survive the way from Lagent and back: `parameter_description`; the difference between NUMBER and FLOAT,
since by hand people write NUMBER for any number; types of one's own; what is returned without a name.
"""

from __future__ import annotations

from typing import Any

from ..json_schema.subschemas import LISTS, NAMED, ONE, children
from .tool_entry import LIMITS, Entry, Malformed, Schema, followed, properties, required, schema_of, text, without_null

_TO_LAGENT = {
    "string": "STRING",
    "integer": "NUMBER",
    "number": "FLOAT",
    "boolean": "BOOLEAN",
    "array": "Array",
    "object": "OBJECT",
}
# In lower case, Lagent's five names are among these. ANY, and any other name, is not a type.
_FROM_LAGENT = {kind: kind for kind in (*_TO_LAGENT, "null")} | {"float": "number", "list": "array", "dict": "object"}
_DETAILS = frozenset((*ONE, *LISTS, *NAMED, *LIMITS, "$ref", "const", "enum", "maxContains", "minContains", "required"))


def to_entry(description: dict[str, Any]) -> Entry:
    """Return the entry of the tool that a Lagent *description* is about.

    `return_data` becomes the output schema. Without `required`, no parameter is. Types are read in any case; an
    unknown one is not a type, so that any value is taken.

    Raises:
        Malformed: with the path to what is wrong. A toolkit is (see `to_entries`).
    """
    if "api_list" in _object(description, ""):
        raise Malformed("api_list", "this is a toolkit, which is several tools")
    return _entry(description, "", "")


def to_entries(description: dict[str, Any]) -> list[Entry]:
    """Return an entry for each API of a toolkit, called `Toolkit.api`, or the one of a simple tool.

    Raises:
        Malformed: with the path to what is wrong.
    """
    if "api_list" not in _object(description, ""):
        return [to_entry(description)]
    prefix = _name(description, "") + "."
    apis = _list(description["api_list"], "api_list")
    entries = [_entry(api, f"api_list[{index}]", prefix) for index, api in enumerate(apis)]
    names = [entry["name"] for entry in entries]
    for index, name in enumerate(names):
        if name in names[:index]:
            raise Malformed(f"api_list[{index}].name", f"there is another API {name.removeprefix(prefix)!r}")
    return entries


def from_entry(entry: Entry) -> dict[str, Any]:
    """Return Lagent's description of the tool of an *entry*, its keys in Lagent's order.

    `return_data` is there if the output schema has members. Definitions that parameters refer to stay under `$defs`.
    """
    schema, output = schema_of(entry.get("inputSchema")), schema_of(entry.get("outputSchema"))
    members, returned = properties(schema), properties(output)
    made: dict[str, Any] = {
        "name": text(entry.get("name")),
        "description": text(entry.get("description")),
        "parameters": [_parameter(name, inner, schema) for name, inner in members.items()],
        "required": [name for name in required(schema) if name in members],
    }
    if returned:
        made["return_data"] = [_returned(name, inner, output) for name, inner in returned.items()]
    if "$defs" in schema:
        made["$defs"] = schema_of(schema["$defs"])
    return made


# --- from Lagent ------------------------------------------------------------------------------------------------------


def _entry(given: Any, where: str, prefix: str) -> Entry:
    description = _object(given, where)
    definitions = _object(description.get("$defs", {}), _at(where, "$defs"))
    entry: Entry = {"name": prefix + _name(description, where)}
    if said := _text(description, "description", where):
        entry["description"] = said
    members = _members(description.get("parameters", []), _at(where, "parameters"))
    names = _required(description.get("required", []), members, _at(where, "required"))
    # Lagent refuses arguments that the description does not name.
    entry["inputSchema"] = {
        "type": "object",
        "properties": members,
        **({"required": names} if names else {}),
        "additionalProperties": False,
        **({"$defs": {name: _nested(inner) for name, inner in definitions.items()}} if definitions else {}),
    }
    # A result may be described without a name, and then is not a member of an object.
    returned = _list(description.get("return_data", []), _at(where, "return_data"))
    named = [item for item in returned if not isinstance(item, dict) or "name" in item]
    if members := _members(named, _at(where, "return_data")):
        entry["outputSchema"] = {"type": "object", "properties": members}
    return entry


def _members(given: Any, where: str) -> dict[str, Schema]:
    made: dict[str, Schema] = {}
    for index, item in enumerate(_list(given, where)):
        at = f"{where}[{index}]"
        name = _name(_object(item, at), at)
        if name in made:
            raise Malformed(f"{at}.name", f"there is another one called {name!r}")
        made[name] = _schema(item, at)
    return made


def _required(given: Any, members: dict[str, Schema], where: str) -> list[str]:
    for index, name in enumerate(_list(given, where)):
        if not isinstance(name, str) or name not in members:
            known = ", ".join(members) or "none"
            raise Malformed(f"{where}[{index}]", f"{name!r} is no parameter; known: {known}")
    return list(dict.fromkeys(given))


def _schema(parameter: dict[str, Any], where: str) -> Schema:
    schema: Schema = _nested({"type": _type(parameter, where)})
    if said := _text(parameter, "description", where):
        schema["description"] = said
    schema |= _nested({word: value for word, value in parameter.items() if word in _DETAILS or word == "default"})
    if not isinstance(schema.get("required", []), list):  # people also write "required": True
        del schema["required"]
    if "array" in schema.get("type", ()):
        schema.setdefault("items", {})  # some clients refuse an array without them
    return schema


def _type(parameter: dict[str, Any], where: str) -> str | list[str]:
    kind = parameter.get("type")
    if isinstance(kind, list):
        return [_text({"type": one}, "type", where) for one in kind]
    return _text(parameter, "type", where)


def _nested(schema: Any) -> Any:
    """*schema* with Lagent's types in it replaced by those of JSON Schema."""
    if not isinstance(schema, dict):
        return schema
    made = children(schema, _nested)
    if "type" in made:
        kind = _known(made.pop("type"))
        made = {"type": kind, **made} if kind else made
    return made


def _known(kind: Any) -> str | list[str] | None:
    """JSON Schema's name for a type, or its names for a list of them; None if one is unknown."""
    if isinstance(kind, list):
        names = [_FROM_LAGENT.get(str(one).lower(), "") for one in kind]
        return list(dict.fromkeys(names)) if all(names) else None
    return _FROM_LAGENT.get(str(kind).lower())


def _object(value: Any, where: str) -> dict[str, Any]:
    made: dict[str, Any] = _checked(value, dict, "a dict", where)
    return made


def _list(value: Any, where: str) -> list[Any]:
    return list(_checked(value, (list, tuple), "a list", where))


def _text(item: dict[str, Any], key: str, where: str) -> str:
    return str(_checked(item.get(key, ""), str, "text", _at(where, key)))


def _checked(value: Any, kind: type | tuple[type, ...], expected: str, where: str) -> Any:
    if not isinstance(value, kind):
        given = "None" if value is None else f"of the type {type(value).__name__}"
        raise Malformed(where, f"it is {given} instead of {expected}")
    return value


def _name(item: dict[str, Any], where: str) -> str:
    if not (name := _text(item, "name", where)):
        raise Malformed(_at(where, "name"), "it is missing")
    return name


def _at(where: str, key: str) -> str:
    return f"{where}.{key}" if where else key


# --- to Lagent --------------------------------------------------------------------------------------------------------


def _parameter(name: str, schema: Schema, root: Schema) -> dict[str, Any]:
    kind, details = _taken_apart(schema, root)
    return {"name": name, "type": kind or "ANY", "description": text(schema.get("description")), **details}


def _returned(name: str, schema: Schema, root: Schema) -> dict[str, Any]:
    kind, _ = _taken_apart(schema, root)
    return {"name": name, "description": text(schema.get("description")), **({"type": kind} if kind else {})}


def _taken_apart(schema: Schema, root: Schema) -> tuple[str, Schema]:
    """Lagent's type for *schema*, if it has one, and the words of JSON Schema for what that does not say."""
    wanted, _ = without_null(schema)
    kinds = followed(wanted, root).get("type")
    details = {word: value for word, value in wanted.items() if word in _DETAILS and (word, value) != ("items", {})}
    if isinstance(kinds, list):
        details.setdefault("anyOf", [{"type": kind} for kind in kinds])
    return (_TO_LAGENT.get(kinds, "") if isinstance(kinds, str) else ""), details
