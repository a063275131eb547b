"""A JSON Schema of the replies that are possible with a set of tools, for models whose output can be held to one.

Strategy. `thought` comes first, and decoders keep the order of properties: a model has to think before it decides.
There is one branch for each tool, so that its name and its parameters are held to as well. OpenAI's strict mode wants
an object at the root, which is `{"reply": …}` then, and everything required; where it has no form for a tool's
parameters they are sent as JSON text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from toolwire_schemas.json_schema.subschemas import children, target

if TYPE_CHECKING:
    from collections.abc import Callable

    from .tool_lookup import Schema, Tools

_STRING: Schema = {"type": "string"}
_BOOLEAN: Schema = {"type": "boolean"}
_AS_TEXT: Schema = {"type": "string", "description": "an object with the parameters, as JSON text"}

# What belongs to a schema that stands alone, and means something else inside another one.
_OF_ROOTS = ("$id", "$schema", "$anchor", "$dynamicAnchor", "$dynamicRef", "$ref", "$defs", "definitions")


def reply_schema(tools: Tools, *, strict: bool = False, final: bool = False) -> Schema:
    """Return the schema; `Protocol.reply_schema` says what *strict* and *final* mean."""
    if not strict:
        return _union(tools, lambda name: {"type": "object", **tools.schema(name)}, final=final)
    from toolwire_schemas.lint.vendors import about_strict

    made = _wrapped(_union(tools, lambda name: _strict(tools.schema(name)), final=final))
    is_too_large = any(about_strict(made))
    return _wrapped(_union(tools, lambda name: _AS_TEXT, final=final)) if is_too_large else made


def _union(tools: Tools, params_of: Callable[[str], Schema], *, final: bool) -> Schema:
    definitions = _Definitions()
    branches = [_branch("FINAL_ANSWER", ok=_BOOLEAN, result=_STRING)]
    if not final:
        actions = [
            _branch("ACTION", tool=_only(name), params=definitions.moved(params_of(name), name)) for name in tools.names
        ]
        branches = [_branch("ASK", content=_STRING), *actions, *branches]
    return {"anyOf": branches, **({"$defs": definitions.all} if definitions.all else {})}


def _branch(kind: str, **members: Schema) -> Schema:
    return _closed({"thought": _STRING, "type": _only(kind), **members})


def _closed(properties: dict[str, Schema]) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _only(word: str) -> Schema:
    return {"type": "string", "enum": [word]}  # strict mode is not known to take `const`


def _wrapped(union: Schema) -> Schema:
    definitions = {"$defs": union.pop("$defs")} if "$defs" in union else {}
    return {**_closed({"reply": union}), **definitions}


def _strict(schema: Schema) -> Schema:
    from toolwire_schemas.dialects.openai_strict import NotStrict, strict

    try:
        return strict({"type": "object", **schema})
    except (NotStrict, RecursionError):
        return _AS_TEXT


class _Definitions:
    """Definitions of many schemas in one place."""

    def __init__(self) -> None:
        self.all: dict[str, Schema] = {}
        self._names: dict[tuple[str, str], str] = {}

    def moved(self, schema: Schema, owner: str) -> Schema:
        """Return *schema* as it is inside another one: what it refers to within itself stands in `all` from now on."""

        def change(inner: Any) -> Any:
            if not isinstance(inner, dict):
                return inner
            kept = children({word: value for word, value in inner.items() if word not in _OF_ROOTS}, change)
            reference = inner.get("$ref")
            return {"$ref": f"#/$defs/{self._name(schema, owner, reference, change)}", **kept} if reference else kept

        try:
            moved: Schema = change(schema)
        except RecursionError:  # of a server that wants to see it
            return {"type": "object"}
        return moved

    def _name(self, root: Schema, owner: str, reference: Any, change: Callable[[Any], Any]) -> str:
        key = (owner, str(reference))
        if key not in self._names:
            name = re.sub(r"[^A-Za-z0-9_.-]", "_", f"{owner}.{key[1].rpartition('/')[2].strip('#') or 'root'}")
            while name in self.all:
                name += "_"
            self._names[key] = name
            self.all[name] = {}  # while it is written, it may refer to itself
            self.all[name] = change(_target(root, key[1]))
        return self._names[key]


def _target(root: Schema, reference: str) -> Any:
    """What *reference* leads to; anything at all if it leads nowhere, for the parameters are checked again."""
    try:
        return target(root, reference)
    except LookupError:
        return {}
