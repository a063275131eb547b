"""Make simple arguments for any tool: some that its input schema accepts, and some that it rejects.

Strategy. The prover of `toolwire diff` finds values: asked whether the schema `false` accepts all
that the input schema accepts, it answers no, with a witness. It tries the examples of a schema
first, so `_with_examples` adds values that tools are likely to take. The validator then judges each
candidate; a schema that it cannot judge has no arguments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_client.validation import LenientValidator
from toolwire_dialects.compare import takes_all
from toolwire_schemas.json_schema.subschemas import map_subschemas

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_CHANGED_NAMES = 8
_NO_SCHEMA = {"type": None}  # the validator refuses it
_UNKNOWN_NAME = "toolwire_contract_unknown"

# Values that tools are likely to take, and with which they do something.
_SIMPLE = {"integer": 1, "number": 1, "boolean": True, "string": "a"}
_FORMATS = {
    "date-time": "2025-01-01T00:00:00Z",
    "date": "2025-01-01",
    "time": "00:00:00Z",
    "uri": "https://example.com/",
    "email": "a@example.com",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "ipv4": "127.0.0.1",
    "ipv6": "::1",
    "hostname": "example.com",
}
# One of them is of a wrong type for most schemas. `null` is not among them: servers may read it as
# an absent argument.
_WRONG = [{"not": "this"}, ["not this"], "not this", 0.5]


class SampleArguments:
    """Arguments for the tool with the input schema *schema*, as its server sent it."""

    def __init__(self, schema: Any) -> None:
        self._schema: dict[str, Any] = schema if isinstance(schema, dict) else _NO_SCHEMA
        self._validator = LenientValidator(self._schema)
        self._is_schema = not self._validator.trouble
        self.valid: dict[str, Any] | None = None
        """Arguments that the schema accepts: only the required ones. `None` if none were found."""
        if self._is_schema:
            self.valid = self._find_valid()

    def _find_valid(self) -> dict[str, Any] | None:
        schema = _with_examples(self._schema)
        witness = takes_all(False, schema).witness
        for candidate in (schema.get("default"), *schema.get("examples", ()), witness):
            if isinstance(candidate, dict) and self._is_valid(candidate):
                return candidate
        return None

    def make_wrong_type(self) -> dict[str, Any] | None:
        """Return arguments that are invalid since one is of a wrong type; `None` if none were
        found.
        """
        if self.valid is None:
            return None
        for name in list(self._schema.get("properties", ()))[:_MAX_CHANGED_NAMES]:
            for value in _WRONG:
                arguments = {**self.valid, name: value}
                if not self._is_valid(arguments):
                    return arguments
        return None

    def make_incomplete(self) -> dict[str, Any] | None:
        """Return arguments that are invalid since a required one is missing; `None` if none is
        required.
        """
        if self._is_schema and self._schema.get("required") and not self._is_valid({}):
            return {}
        return None

    def make_unknown(self) -> dict[str, Any] | None:
        """Return arguments that are invalid since one is unknown; `None` if the schema accepts
        unknown ones.
        """
        if self.valid is None:
            return None
        arguments = {**self.valid, _UNKNOWN_NAME: 1}
        return None if self._is_valid(arguments) else arguments

    def _is_valid(self, arguments: Any) -> bool:
        faults = self._validator.find_faults(arguments, "")
        return not faults and not self._validator.trouble


def _with_examples(schema: Any) -> Any:
    """Return *schema* with examples, also in its parts; the first of them becomes its default."""
    if isinstance(schema, list):  # as `items` may be up to draft-07
        return [_with_examples(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    whole = map_subschemas(schema, _with_examples)
    examples = list(_list_examples(whole))
    if examples:
        whole["default"] = examples[0]
    whole["examples"] = examples[1:]
    return whole


def _list_examples(schema: dict[str, Any]) -> Iterator[Any]:
    """Yield values for *schema*, the most useful first; its parts have examples already."""
    if "default" in schema:
        yield schema["default"]
    if isinstance(schema.get("examples"), list):
        yield from schema["examples"]
    text_format = schema.get("format")
    if isinstance(text_format, str) and text_format in _FORMATS:
        yield _FORMATS[text_format]
    types = schema.get("type")
    names = types if isinstance(types, list) else [types]
    for name in names:
        if isinstance(name, str) and name in _SIMPLE:
            yield _SIMPLE[name]
    for word in ("minimum", "maximum", "multipleOf"):
        if word in schema:
            yield schema[word]
    for branch in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        if isinstance(branch, dict) and "default" in branch:
            yield branch["default"]
