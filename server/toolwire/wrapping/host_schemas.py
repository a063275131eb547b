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


def rewrite_arguments(schema: Any, host: str) -> Schema:
    """Return the *schema* of a tool's arguments as *host* takes it; that of any object if it cannot
    be read.
    """
    if not is_readable(schema):
        schema = {"type": "object"}
    made = _rewrite_root(schema, host)
    if not is_readable(made):
        return {"type": "object"}
    return made


def is_readable(schema: Any) -> bool:
    """Return whether *schema* is one that clients can read."""
    try:
        encode(schema)
        for _ in find_faults_of_schema(schema):
            return False
    except (CannotJudge, EncodingError, RecursionError):
        return False
    return True


def _rewrite_root(schema: Schema, host: str) -> Schema:
    try:
        rewritten = _SchemaRewriter(schema, host).rewrite_root()
    except RecursionError:
        return {"type": "object"}
    members = _collect_branch_members(rewritten) | rewritten.get("properties", {})
    made = {word: value for word, value in rewritten.items() if word not in COMBINATORS}
    dialect = str(made.get("$schema", DIALECTS[0]))
    if not dialect.startswith(DIALECTS):
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

        That of `true` is empty; `false` stays only where `map_subschemas` leaves it.
        """
        made = place.keywords
        if self._is_gemini and place.list_applied():
            has_reference = any(part.pointer for part in place.list_parts())
            depth += has_reference
            made = self._write_out(place, depth)
        elif place.pointer and not self._is_readable(place.reference):
            made = place.besides_reference

        def rewrite_inner(schema: Any) -> Schema:
            return self._rewrite(self._graph.get_node(schema), depth)

        made = map_subschemas(_drop_false_members(made), rewrite_inner)
        _drop_unreadable_keywords(made)
        _split_types(made)
        _add_items(made)
        if self._is_gemini:
            return _simplify_for_gemini(made)
        return made

    def _write_out(self, place: SchemaNode, depth: int) -> Schema:
        """Return the keywords at *place* with references and `allOf` written out; only its own
        beyond the limits.
        """
        own = {word: value for word, value in place.keywords.items() if word not in COMBINING}
        self._references_left -= 1
        if depth > _MAX_DEPTH or self._references_left <= 0:
            return own
        for part in place.list_parts()[1:]:
            if not self._is_readable(part):
                return own
        return {**place.resolved.keywords, **own}

    def _is_readable(self, node: SchemaNode | None) -> bool:
        if node is None or not isinstance(node.schema, dict):
            return False
        if node not in self._readable:
            self._readable[node] = is_readable(node.schema)
        return self._readable[node]


# The steps for each schema. All but the first change the schema, which nothing else has yet.


def _drop_false_members(schema: Schema) -> Schema:
    """Return *schema* without the members that it forbids."""
    if "properties" not in schema:
        return schema
    members = {}
    for name, inner in schema["properties"].items():
        if inner is not False:
            members[name] = inner
    return {**schema, "properties": members}


def _drop_unreadable_keywords(schema: Schema) -> None:
    """Drop a pattern that only some languages read, and a list of no values."""
    if find_problem(schema.get("pattern", "")):
        del schema["pattern"]
    if schema.get("enum") == []:
        del schema["enum"]


def _split_types(schema: Schema) -> None:
    """Replace a list of types by a variant for each."""
    types = schema.get("type")
    if isinstance(types, list) and "anyOf" not in schema:
        del schema["type"]
        schema["anyOf"] = [{"type": name} for name in types]


def _add_items(schema: Schema) -> None:
    """Let an array that says nothing of its items have any."""
    has_array_variant = {"type": "array"} in schema.get("anyOf", ())
    is_array = has_array_variant or schema.get("type") == "array"
    if is_array and "items" not in schema:
        schema["items"] = {}


def _simplify_for_gemini(schema: Schema) -> Schema:
    """Return the keywords of *schema* that Gemini knows, and those that say the same as others."""
    made = {word: value for word, value in schema.items() if word in OF_GEMINI}
    if "const" in schema:
        made.setdefault("enum", [schema["const"]])
    if "oneOf" in schema:
        made.setdefault("anyOf", schema["oneOf"])
    has_only_texts = all(isinstance(value, str) for value in made.get("enum", ()))
    if not has_only_texts:
        del made["enum"]
    if "format" in made and made["format"] not in FORMATS_OF_GEMINI:
        del made["format"]
    if "required" in made:
        members = made.get("properties", {})
        made["required"] = [name for name in made["required"] if name in members]
    return made
