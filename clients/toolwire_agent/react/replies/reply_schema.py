"""A JSON Schema of the replies that are possible with a set of tools, for constrained decoding.

Strategy. A `thought` comes first, since decoders keep the order of properties and the model should
think before it decides. Each tool has a branch, which constrains its name and parameters. OpenAI's
strict mode requires an object at the root, `{"reply": …}`, and all members; parameters that it
cannot express are sent as JSON text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from toolwire_schemas.json_schema.graph import SchemaGraph, SchemaNode
from toolwire_schemas.json_schema.subschemas import map_subschemas, refer_to_definition

if TYPE_CHECKING:
    from ..tool_lookup import Schema, Tools

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
    called = () if final else tools.names
    params: dict[str, Schema] = {}
    if not strict:
        for name in called:
            params[name] = {"type": "object", **tools.get_schema(name)}
        return _make_union(params, thought, final=final, result=result)
    from toolwire_dialects.lint.vendors import check_strict

    for name in called:
        params[name] = _make_strict(tools.get_schema(name))
    schema = _wrap(_make_union(params, thought, final=final, result=result, is_strict=True))
    if not any(check_strict(schema)):
        return schema
    # Too large for strict mode, which has limits for the whole schema.
    params = dict.fromkeys(called, _AS_TEXT)
    return _wrap(_make_union(params, thought, final=final, result=result, is_strict=True))


def _make_union(
    params: dict[str, Schema],
    thought: Thought,
    *,
    final: bool,
    result: Schema | None,
    is_strict: bool = False,
) -> Schema:
    """Return the schema of replies, with the schemas of each tool's parameters in *params*."""
    definitions = _Definitions()
    make = _BranchMaker(thought, is_strict)
    branches = []
    if not final:
        branches.append(make("ASK", content=_STRING))
        for name, schema in params.items():
            moved = definitions.move(schema, name)
            branches.append(make("ACTION", tool=_make_constant(name), params=moved))
    if result is None:
        branches.append(make("FINAL_ANSWER", ok=_BOOLEAN, result=_STRING))
    else:
        typed = wrap_result_schema(result)
        moved = definitions.move(_make_strict(typed) if is_strict else typed, "FINAL_ANSWER")
        answer = moved.get("properties", {}).get("result", _STRING)
        branches.append(make("FINAL_ANSWER", ok=_make_ok(True), result=answer))
        branches.append(make("FINAL_ANSWER", ok=_make_ok(False), result=_STRING))
    union: Schema = {"anyOf": branches}
    if definitions.all:
        union["$defs"] = definitions.all
    return union


class _BranchMaker(NamedTuple):
    """Makes the schemas of single replies."""

    thought: Thought
    is_strict: bool

    def __call__(self, kind: str, **members: Schema) -> Schema:
        properties = {"type": _make_constant(kind), **members}
        if self.thought == "none":
            return _make_object(properties)
        branch = _make_object({"thought": _STRING, **properties})
        # Strict mode has no optional members.
        if self.thought == "optional" and not self.is_strict:
            branch["required"] = list(properties)
        return branch


def _make_object(properties: dict[str, Schema]) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _make_constant(word: str) -> Schema:
    return {"type": "string", "enum": [word]}  # strict mode is not known to accept `const`


def _make_ok(value: bool) -> Schema:
    return {"type": "boolean", "enum": [value]}


def wrap_result_schema(result: Schema) -> Schema:
    """Return the schema of an object with the one member `result`; its definitions stay at the
    root.
    """
    inner = dict(result)
    definitions = inner.pop("$defs", None)
    schema = {"type": "object", "properties": {"result": inner}, "required": ["result"]}
    if definitions is not None:
        schema["$defs"] = definitions
    return schema


def _wrap(union: Schema) -> Schema:
    """Return *union* as a member of an object, with its definitions at the root."""
    definitions = union.pop("$defs", None)
    schema = _make_object({"reply": union})
    if definitions:
        schema["$defs"] = definitions
    return schema


def _make_strict(schema: Schema) -> Schema:
    from toolwire_dialects.openai_strict import NotStrict, make_strict

    try:
        return make_strict({"type": "object", **schema})
    except (NotStrict, RecursionError):
        return _AS_TEXT


class _Definitions:
    """The merged definitions of many schemas."""

    def __init__(self) -> None:
        self.all: dict[str, Schema] = {}
        self._names: dict[tuple[str, str], str] = {}

    def move(self, schema: Schema, owner: str) -> Schema:
        """Return *schema* for use inside another one, with its references moved to `all`."""
        try:
            return self._move(SchemaGraph(schema).root, owner)
        except RecursionError:  # a hostile schema
            return {"type": "object"}

    def _move(self, node: SchemaNode, owner: str) -> Schema:
        def move_inner(schema: Any) -> Any:
            if not isinstance(schema, dict):
                return schema
            return self._move(node.graph.get_node(schema), owner)

        rest = node.besides_reference
        kept = {word: value for word, value in rest.items() if word not in _OF_ROOTS}
        moved = map_subschemas(kept, move_inner)
        if not node.pointer:
            return moved
        name = self._name(node, owner)
        return {**refer_to_definition(name), **moved}

    def _name(self, node: SchemaNode, owner: str) -> str:
        """Return the name of the definition that *node* refers to."""
        key = (owner, node.pointer)
        if key not in self._names:
            own_name = node.reference_name or "root"
            name = re.sub(r"[^A-Za-z0-9_.-]", "_", f"{owner}.{own_name}")
            while name in self.all:
                name += "_"
            self._names[key] = name
            self.all[name] = {}  # it may refer to itself
            # Without a target it is any schema: parameters are validated later anyway.
            if node.reference is not None:
                self.all[name] = self._move(node.reference, owner)
        return self._names[key]
