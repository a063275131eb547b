"""The types of JSON, where schemas occur inside a JSON Schema, and where a reference leads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

TYPES = ("null", "boolean", "integer", "number", "string", "array", "object")
"""The names of JSON's types."""

# As a value, in a list, in a mapping of names.
ONE = (
    *("items", "additionalProperties", "propertyNames", "contains", "not", "if", "then", "else"),
    *("unevaluatedProperties", "unevaluatedItems", "contentSchema"),
)
LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
HOLDING = ("$ref", *ONE, *LISTS, *NAMED)
"""Keywords that have schemas, or refer to one."""
COMBINING = frozenset(("$ref", "allOf"))
"""Keywords whose schemas apply to the value of the schema itself: `SchemaNode.list_applied`."""
ASSERTIONS = {
    "type": "any",
    "enum": "any",
    "const": "any",
    "minimum": "number",
    "maximum": "number",
    "exclusiveMinimum": "number",
    "exclusiveMaximum": "number",
    "multipleOf": "number",
    "minLength": "string",
    "maxLength": "string",
    "pattern": "string",
    "format": "any",  # some schemas have a format of numbers, such as `int32`
    "contentEncoding": "string",
    "contentMediaType": "string",
    "prefixItems": "array",
    "items": "array",
    "minItems": "array",
    "maxItems": "array",
    "uniqueItems": "array",
    "contains": "array",
    "minContains": "array",
    "maxContains": "array",
    "unevaluatedItems": "array",
    "properties": "object",
    "patternProperties": "object",
    "additionalProperties": "object",
    "propertyNames": "object",
    "required": "object",
    "minProperties": "object",
    "maxProperties": "object",
    "dependentRequired": "object",
    "dependentSchemas": "object",
    "unevaluatedProperties": "object",
    "allOf": "any",
    "anyOf": "any",
    "oneOf": "any",
    "not": "any",
    "if": "any",
    "then": "any",
    "else": "any",
    "$ref": "any",
}
"""The keywords that may refuse a value, each with the type of values that it is about. Others are
annotations.
"""
_INDEX = re.compile("0|[1-9][0-9]{0,8}")


def walk(schema: dict[str, Any], where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield *schema* and every schema inside it that is an object, each with its path; references
    are not followed.
    """
    waiting = [(where, schema)]
    while waiting:  # generators within generators would be quadratic in the depth
        path, inner = waiting.pop()
        yield path, inner
        found = iterate_subschemas(inner, path)
        members = [(name, member) for name, member in found if isinstance(member, dict)]
        waiting += reversed(members)


def iterate_subschemas(schema: dict[str, Any], where: str) -> Iterator[tuple[str, Any]]:
    """Yield what *schema* has as the schemas of its parts, each with its path. In a wrong schema it
    may be anything.
    """
    for word, inner in schema.items():
        if word in NAMED and isinstance(inner, dict):
            for name, member in inner.items():
                yield f"{where}.{word}.{name}", member
        elif word in LISTS and isinstance(inner, list):
            for index, member in enumerate(inner):
                yield f"{where}.{word}[{index}]", member
        elif word in ONE:
            yield f"{where}.{word}", inner


def map_subschemas(schema: dict[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    """The schema with *change* done to every schema directly inside it; what is `False` stays."""
    made = dict(schema)
    for word in ONE:
        if word in made and made[word] is not False:
            made[word] = change(made[word])
    for word in LISTS:
        if isinstance(made.get(word), list):
            made[word] = [change(inner) for inner in made[word]]
    for word in NAMED:
        if isinstance(made.get(word), dict):
            made[word] = {name: change(inner) for name, inner in made[word].items()}
    return made


def get_reference(schema: dict[str, Any]) -> Any:
    """Return the reference that *schema* has; None without one. In a wrong schema it may be
    anything.
    """
    return schema.get("$ref")


def refer_to(reference: str) -> dict[str, Any]:
    """Return the schema that refers to *reference*, such as `#/$defs/Node`."""
    return {"$ref": reference}


def refer_to_definition(name: str) -> dict[str, Any]:
    """Return the schema that refers to the definition called *name* of its document."""
    return refer_to(f"#/$defs/{name}")


def follow_pointer(root: Any, reference: str) -> Any:
    """Return what a *reference* such as `#/$defs/Node` leads to within *root*.

    Raises:
        LookupError: if it leads nowhere, out of *root*, or to an anchor.
    """
    pointer = reference.removeprefix("#")
    is_local = pointer != reference
    is_anchor = pointer != "" and not pointer.startswith("/")
    if not is_local or is_anchor:
        raise LookupError(reference)
    at = root
    for name in split_pointer(pointer)[1:]:
        if isinstance(at, list) and _INDEX.fullmatch(name):
            at = at[int(name)]
        elif isinstance(at, dict):
            at = at[name]
        else:
            raise LookupError(reference)
    return at


def split_pointer(pointer: str) -> list[str]:
    """Return the names in a JSON pointer, which may be percent-encoded, as in a reference."""
    if "%" in pointer:
        from urllib.parse import unquote  # slow to import, and rarely needed

        pointer = unquote(pointer)
    return [token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")]
