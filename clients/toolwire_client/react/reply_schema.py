"""A JSON Schema of the replies that are possible with a set of tools, for constrained decoding.

Strategy. `thought` comes first, since decoders keep the order of properties and the model should think before it
decides. Each tool has a branch, which constrains its name and parameters. OpenAI's strict mode requires an object at
the root, `{"reply": …}`, and all members; parameters that it cannot express are sent as JSON text.
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

# Members that have another meaning inside another schema.
_OF_ROOTS = ("$id", "$schema", "$anchor", "$dynamicAnchor", "$dynamicRef", "$ref", "$defs", "definitions")


def reply_schema(tools: Tools, *, strict: bool = False, final: bool = False) -> Schema:
    """Return the schema; see `Protocol.reply_schema` for *strict* and *final*."""
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
    return {"type": "string", "enum": [word]}  # strict mode is not known to accept `const`


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
    """The merged definitions of many schemas."""

    def __init__(self) -> None:
        self.all: dict[str, Schema] = {}
        self._names: dict[tuple[str, str], str] = {}

    def moved(self, schema: Schema, owner: str) -> Schema:
        """Return *schema* for use inside another one, with its references moved to `all`."""

        def change(inner: Any) -> Any:
            if not isinstance(inner, dict):
                return inner
            kept = children({word: value for word, value in inner.items() if word not in _OF_ROOTS}, change)
            reference = inner.get("$ref")
            return {"$ref": f"#/$defs/{self._name(schema, owner, reference, change)}", **kept} if reference else kept

        try:
            moved: Schema = change(schema)
        except RecursionError:  # a hostile schema
            return {"type": "object"}
        return moved

    def _name(self, root: Schema, owner: str, reference: Any, change: Callable[[Any], Any]) -> str:
        key = (owner, str(reference))
        if key not in self._names:
            name = re.sub(r"[^A-Za-z0-9_.-]", "_", f"{owner}.{key[1].rpartition('/')[2].strip('#') or 'root'}")
            while name in self.all:
                name += "_"
            self._names[key] = name
            self.all[name] = {}  # it may refer to itself
            self.all[name] = change(_target(root, key[1]))
        return self._names[key]


def _target(root: Schema, reference: str) -> Any:
    """Return what *reference* points to, or any schema: parameters are validated later anyway."""
    try:
        return target(root, reference)
    except LookupError:
        return {}
