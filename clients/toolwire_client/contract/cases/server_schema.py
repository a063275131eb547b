"""Validate values by schemas from servers, which may be malformed."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from toolwire_schemas.json_schema.bounded_validator import CannotJudge, SchemaValidator
from toolwire_schemas.json_schema.error_text import Fault, worded
from toolwire_schemas.wire import codec

from .conversation import text_of


def is_schema(schema: Any) -> bool:
    """Whether *schema* is one, of an object's kind, in the dialect it names; in 2020-12 if it names none, as in MCP."""
    return isinstance(schema, dict) and _judge(schema) is not None


def faults_in(value: Any, schema: Any, root: str = "it") -> list[Fault]:
    """Return where and why *value* does not fit *schema*; one that cannot judge at all is a fault at *root*."""
    judge = _judge(schema) if isinstance(schema, dict) else None
    if judge is None:
        return [(root, f"cannot be judged by {text_of(schema)[:100]}, which is no JSON Schema")]
    try:
        return worded(judge.errors(value), root)
    except CannotJudge as error:
        return [(root, f"cannot be judged by its schema: {error}")]


def _judge(schema: dict[str, Any]) -> SchemaValidator | None:
    try:
        return _made(codec.encode(schema))
    except codec.EncodingError:  # it is nested too deeply
        return None


@lru_cache(maxsize=256)  # to check a schema takes longer than to judge a value by it
def _made(text: bytes) -> SchemaValidator | None:
    try:
        return SchemaValidator(codec.decode(text))
    except CannotJudge:
        return None
