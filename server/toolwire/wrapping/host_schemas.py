"""Rewrites the schema of a tool's arguments to what a host, or the vendor of its model, takes.

Strategy. A schema may become wider, never narrower: the wrapped server checks all arguments itself.
The schemas within the root are rewritten first, each by the steps in `_SchemaRewriter._rewrite`;
then the root gets what all hosts demand of it: an object without combinators.
"""

from __future__ import annotations

from typing import Any

from toolwire_dialects import anthropic
from toolwire_dialects.lint.vendors import FORMATS_OF_GEMINI, OF_GEMINI
from toolwire_schemas.json_schema.bounded_validator import CannotJudge, find_faults_of_schema
from toolwire_schemas.json_schema.graph import SchemaGraph, SchemaNode
from toolwire_schemas.json_schema.portable_regex import find_problem
from toolwire_schemas.json_schema.subschemas import COMBINING, map_subschemas
from toolwire_schemas.portability import COMBINATORS, DIALECTS
from toolwire_schemas.wire.codec import EncodingError, encode

from . import GEMINI

Schema = dict[str, Any]

_MAX_DEPTH, _MAX_REFERENCES = 5, 1000
"""How deep, and how many, references are written out for Gemini; what others refer to may be
anything.
"""


def check_schema(schema: Any, default: Any) -> Any:
    """Return *schema* if it is one that clients can read, else *default*."""
    try:
        encode(schema)
        return default if any(True for _ in find_faults_of_schema(schema)) else schema
    except (CannotJudge, EncodingError, RecursionError):
        return default


def fix_root(schema: Schema, host: str) -> Schema:
    try:
        made = _SchemaRewriter(schema, host).rewrite_root()
    except RecursionError:
        return {"type": "object"}
    members = _collect_branch_members(made) | made.get("properties", {})
    made = {word: value for word, value in made.items() if word not in COMBINATORS}
    if not str(made.get("$schema", DIALECTS[0])).startswith(DIALECTS):
        del made["$schema"]
    made["type"] = "object"
    if members:
        made["properties"] = members
    accepted: Schema = anthropic.from_entry({"inputSchema": made})["input_schema"]
    return accepted


def _collect_branch_members(schema: Schema) -> Schema:
    """Return the members of branches at the root, which may be left out: which of them go together,
    the server says.
    """
    members: Schema = {}
    for word in ("allOf", "oneOf", "anyOf"):
        for branch in reversed(schema.get(word, ())):
            members |= branch.get("properties", {})
    return members


class _SchemaRewriter:
    """Rewrites the schemas within *root*, a valid one, for *host*.

    References are written out for Gemini. Others follow them, so those stay that lead to a schema.
    """

    def __init__(self, root: Schema, host: str) -> None:
        self._graph = SchemaGraph(root)
        self._is_gemini = host in GEMINI
        self._references_left = _MAX_REFERENCES
        self._readable: dict[SchemaNode, bool] = {}

    def rewrite_root(self) -> Schema:
        """Return the root as the host takes it."""
        return self._rewrite(self._graph.root, 0)

    def _rewrite(self, place: SchemaNode, depth: int) -> Schema:
        """Return the schema at *place*, *depth* references below the root, as the host takes it.

        That of `true` is empty; `false` stays only where `children` leaves it.
        """
        made = dict(place.keywords)
        if self._is_gemini and place.list_applied():
            depth += any(part.pointer for part in place.list_parts())
            made = self._write_out(place, depth)
        elif place.pointer and not self._is_readable(place.reference):
            made = place.besides_reference
        if "properties" in made:
            members = made["properties"].items()
            made["properties"] = {name: inner for name, inner in members if inner is not False}
        made = map_subschemas(made, lambda inner: self._rewrite(self._graph.get_node(inner), depth))
        if find_problem(made.get("pattern", "")):
            del made["pattern"]
        if made.get("enum") == []:
            del made["enum"]
        types = made.get("type")
        if isinstance(types, list) and "anyOf" not in made:
            del made["type"]
            made["anyOf"] = [{"type": name} for name in types]
        is_array = types == "array" or {"type": "array"} in made.get("anyOf", ())
        if is_array and "items" not in made:
            made["items"] = {}
        return _simplify_for_gemini(made) if self._is_gemini else made

    def _write_out(self, place: SchemaNode, depth: int) -> Schema:
        """Return the keywords at *place* with references and `allOf` written out; only its own
        beyond the limits.
        """
        own = {word: value for word, value in place.keywords.items() if word not in COMBINING}
        self._references_left -= 1
        is_within = depth <= _MAX_DEPTH and self._references_left > 0
        if is_within and all(self._is_readable(part) for part in place.list_parts()[1:]):
            return {**place.resolved.keywords, **own}
        return own

    def _is_readable(self, node: SchemaNode | None) -> bool:
        if node is None or not isinstance(node.schema, dict):
            return False
        if node not in self._readable:
            self._readable[node] = check_schema(node.schema, None) is not None
        return self._readable[node]


def _simplify_for_gemini(schema: Schema) -> Schema:
    made = {word: value for word, value in schema.items() if word in OF_GEMINI}
    if "const" in schema:
        made.setdefault("enum", [schema["const"]])
    if "oneOf" in schema:
        made.setdefault("anyOf", schema["oneOf"])
    if not all(isinstance(value, str) for value in made.get("enum", ())):
        del made["enum"]
    if made.get("format", "enum") not in FORMATS_OF_GEMINI:
        del made["format"]
    if "required" in made:
        made["required"] = [name for name in made["required"] if name in made.get("properties", {})]
    return made
