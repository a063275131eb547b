"""The parameters of a tool as people write them in YAML, as a JSON Schema.

Strategy. Three ways lead to one schema: a list of `{name, type, description}` with `required` next to it, as Lagent has
it; a mapping from names to such descriptions, or to types alone; and JSON Schema itself. In the first two, whatever
else JSON Schema knows of a property may be next to the type. Any other word is reported as a slip of the pen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_schemas.did_you_mean import unknown_name
from toolwire_schemas.json_schema.error_text import shown
from toolwire_schemas.json_schema.subschemas import LISTS, NAMED, ONE

if TYPE_CHECKING:
    from .yaml_document import Document

INSTRUCTION = {
    "type": "object",
    "properties": {"instruction": {"type": "string", "description": "What to do, in the words the tool asks for."}},
    "required": ["instruction"],
    "additionalProperties": False,
}
"""The arguments of a tool without parameters in its YAML."""

_TYPES = {
    **{name: name for name in ("string", "integer", "number", "boolean", "array", "object", "null")},
    "float": "number",
    "list": "array",
    "dict": "object",
    "str": "string",
    "int": "integer",
    "bool": "boolean",
    "any": None,
}
"""What may be written for a type, in any case: JSON's own words, Lagent's, Python's."""

_WORDS = frozenset(
    (
        *ONE,
        *LISTS,
        *NAMED,
        *("type", "description", "default", "enum", "const", "title", "examples", "format", "pattern", "required"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"),
        *("minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "minContains", "maxContains"),
        *("dependentRequired", "deprecated", "readOnly", "writeOnly", "contentEncoding", "contentMediaType"),
        "$comment",
    )
)


def input_schema(document: Document) -> dict[str, Any] | None:
    """The schema that *document* gives its tool, None if it says nothing. Its faults are added to the document's.

    If there are any, the schema has what could be read.
    """
    given = document.value
    if "input_schema" in given and "parameters" in given:
        document.add(("input_schema",), "parameters are given as well; keep one of the two")
    if "input_schema" in given:
        _refuse_required(document, "input_schema")
        return _checked(document, given["input_schema"])
    if "parameters" not in given:
        _refuse_required(document, "parameters")
        return None
    return _Reading(document).schema()


def defaults(schema: dict[str, Any] | None) -> dict[str, Any]:
    """Return the values for arguments that a call leaves out."""
    properties = (schema or {}).get("properties")
    said = properties.items() if isinstance(properties, dict) else ()
    given = {name: prop["default"] for name, prop in said if isinstance(prop, dict) and "default" in prop}
    return {name: value for name, value in given.items() if value is not None}


def _refuse_required(document: Document, where: str) -> None:
    if "required" in document.value:
        document.add(("required",), f"it belongs to a list of parameters; say it in {where}")


def _checked(document: Document, schema: Any) -> dict[str, Any]:
    from ..schema.validator import problem

    path = ("input_schema",)
    if not isinstance(schema, dict):
        document.add(path, f"{shown(schema)} is no JSON Schema; write one, such as {{type: object, properties: ...}}")
        return {}
    if (fault := problem(schema)) is not None:
        document.add(path, fault)
    elif schema.get("type") != "object":
        document.add(path, "arguments come by name: its root has to say type: object")
    return schema


class _Reading:
    """From the author's words to a schema."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._required: list[str] = []
        self._properties: dict[str, Any] = {}

    def schema(self) -> dict[str, Any]:
        match self._document.value["parameters"]:
            case list() as given:
                self._read_list(given)
            case dict() as given:
                for name, said in given.items():
                    self._read(name, said, ("parameters", name))
            case None:
                self._document.add(("parameters",), "is empty; write {} for a tool that takes nothing")
            case other:
                self._document.add(("parameters",), f"{shown(other)} is neither a list nor a mapping of parameters")
        if "required" in self._document.value:
            self._required = self._listed(self._document.value["required"])
        schema = {"type": "object", "properties": self._properties, "additionalProperties": False}
        return schema | ({"required": self._required} if self._required else {})

    def _read_list(self, given: list[Any]) -> None:
        for index, said in enumerate(given):
            path = ("parameters", index)
            if not isinstance(said, dict) or not isinstance(said.get("name"), str) or not said["name"]:
                self._document.add(path, f"{shown(said)} has no name; write {{name: ..., type: ..., description: ...}}")
            elif said["name"] in self._properties:
                self._document.add(path, f"the parameter {said['name']!r} is there already; keep one")
            else:
                rest = {word: value for word, value in said.items() if word != "name"}
                self._read(said["name"], rest, path)

    def _read(self, name: str, said: Any, path: tuple[str | int, ...]) -> None:
        said = {"type": said} if isinstance(said, str) else {} if said is None else said
        if not isinstance(said, dict):
            self._document.add(path, f"{shown(said)} says nothing of a parameter; write its type, or {{type: ...}}")
            said = {}  # it is there, so that its place in the command is no fault
        made: dict[str, Any] = {}
        needed = "default" not in said
        for word, value in said.items():
            if word == "type":
                made |= self._type(value, (*path, word))
            elif word == "required" and isinstance(value, bool):
                needed = value
            elif word in _WORDS or word.startswith("x-"):
                made[word] = value
            else:
                self._document.add((*path, word), unknown_name("key", word, sorted(_WORDS)))
        self._properties[name] = made
        if needed:
            self._required.append(name)
        self._judge(made, path)

    def _type(self, written: Any, path: tuple[str | int, ...]) -> dict[str, Any]:
        if not isinstance(written, str):
            return {"type": written}  # JSON Schema has lists of types
        if written.lower() not in _TYPES:
            self._document.add(path, unknown_name("type", written, _TYPES))
            return {}
        kind = _TYPES[written.lower()]
        return {} if kind is None else {"type": kind}

    def _judge(self, made: dict[str, Any], path: tuple[str | int, ...]) -> None:
        from ..schema.validator import SchemaValidator, problem

        fault = problem(made)
        if fault is not None:
            self._document.add(path, fault)
        elif "default" in made and made["default"] is not None:
            for place, sentence in SchemaValidator(made).faults(made["default"], "default"):
                self._document.add((*path, "default"), f"{place}: {sentence}" if place != "default" else sentence)

    def _listed(self, names: Any) -> list[str]:
        if not isinstance(names, list):
            self._document.add(("required",), f"{shown(names)} is no list of names of parameters")
            return []
        for index, name in enumerate(names):
            if name not in [*self._properties]:  # it may be anything, a list too
                self._document.add(("required", index), unknown_name("parameter", name, self._properties))
        return [str(name) for name in names]
