"""A JSON Schema of the replies that are possible with a set of tools, for constrained decoding.

Strategy. A `thought` comes first, since decoders keep the order of properties and the model should
think before it decides. Each tool has a branch, which constrains its name and parameters. OpenAI's
strict mode requires an object at the root, `{"reply": …}`, and all members; parameters that it
cannot express are sent as JSON text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from toolwire_schemas.json_schema.subschemas import children, target

if TYPE_CHECKING:
    from collections.abc import Callable

    from .tool_lookup import Schema, Tools

Thought = Literal["required", "optional", "none"]
"""Whether a reply starts with a thought."""

_STRING: Schema = {"type": "string"}
_BOOLEAN: Schema = {"type": "boolean"}
_AS_TEXT: Schema = {"type": "string", "description": "an object with the parameters, as JSON text"}

# Members that have another meaning inside another schema.
_OF_ROOTS = (
    "$id",
    "$schema",
    "$anchor",
    "$dynamicAnchor",
    "$dynamicRef",
    "$ref",
    "$defs",
    "definitions",
)


def build_reply_schema(
    tools: Tools,
    *,
    strict: bool = False,
    final: bool = False,
    thought: Thought = "required",
    result: Schema | None = None,
) -> Schema:
    """Return the schema; see `Protocol.build_reply_schema` for *strict* and *final*.

    *result* is the schema of the answer's result, if it is not text.
    """

    def union(params_of: Callable[[str], Schema]) -> Schema:
        definitions, branch = _Definitions(), _Branches(thought, strict)
        branches = [branch.of("FINAL_ANSWER", ok=_BOOLEAN, result=_STRING)]
        if result is not None:
            typed = definitions.moved(
                _strict(arguments_schema(result)) if strict else arguments_schema(result),
                "FINAL_ANSWER",
            )
            branches = [
                branch.of(
                    "FINAL_ANSWER",
                    ok=_ok(True),
                    result=typed.get("properties", {}).get("result", _STRING),
                ),
                branch.of("FINAL_ANSWER", ok=_ok(False), result=_STRING),
            ]
        if not final:
            actions = [
                branch.of(
                    "ACTION", tool=_only(name), params=definitions.moved(params_of(name), name)
                )
                for name in tools.names
            ]
            branches = [branch.of("ASK", content=_STRING), *actions, *branches]
        return {"anyOf": branches, **({"$defs": definitions.all} if definitions.all else {})}

    if not strict:
        return union(lambda name: {"type": "object", **tools.schema(name)})
    from toolwire_dialects.lint.vendors import about_strict

    made = _wrapped(union(lambda name: _strict(tools.schema(name))))
    is_too_large = any(about_strict(made))
    return _wrapped(union(lambda name: _AS_TEXT)) if is_too_large else made


class _Branches(NamedTuple):
    thought: Thought
    strict: bool

    def of(self, kind: str, **members: Schema) -> Schema:
        properties = {"type": _only(kind), **members}
        if self.thought == "none":
            return _closed(properties)
        made = _closed({"thought": _STRING, **properties})
        if self.thought == "optional" and not self.strict:  # strict mode has no optional members
            made["required"] = list(properties)
        return made


def _closed(properties: dict[str, Schema]) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _only(word: str) -> Schema:
    return {"type": "string", "enum": [word]}  # strict mode is not known to accept `const`


def _ok(value: bool) -> Schema:
    return {"type": "boolean", "enum": [value]}


def arguments_schema(result: Schema) -> Schema:
    """Return the schema of an object with the one member `result`; its definitions stay at the
    root.
    """
    inner = {word: value for word, value in result.items() if word != "$defs"}
    definitions = {"$defs": result["$defs"]} if "$defs" in result else {}
    return {
        "type": "object",
        "properties": {"result": inner},
        "required": ["result"],
        **definitions,
    }


def _wrapped(union: Schema) -> Schema:
    definitions = {"$defs": union.pop("$defs")} if "$defs" in union else {}
    return {**_closed({"reply": union}), **definitions}


def _strict(schema: Schema) -> Schema:
    from toolwire_dialects.openai_strict import NotStrict, strict

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
            kept = children(
                {word: value for word, value in inner.items() if word not in _OF_ROOTS}, change
            )
            reference = inner.get("$ref")
            return (
                {"$ref": f"#/$defs/{self._name(schema, owner, reference, change)}", **kept}
                if reference
                else kept
            )

        try:
            moved: Schema = change(schema)
        except RecursionError:  # a hostile schema
            return {"type": "object"}
        return moved

    def _name(self, root: Schema, owner: str, reference: Any, change: Callable[[Any], Any]) -> str:
        key = (owner, str(reference))
        if key not in self._names:
            name = re.sub(
                r"[^A-Za-z0-9_.-]", "_", f"{owner}.{key[1].rpartition('/')[2].strip('#') or 'root'}"
            )
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
