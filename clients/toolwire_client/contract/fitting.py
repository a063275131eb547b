"""Does a value fit a schema that a server wrote, which may be none?"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from toolwire_schemas import codec
from toolwire_schemas.faults import Fault, worded

from .conversation import text_of

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


def is_schema(schema: Any) -> bool:
    """Whether *schema* is one, of an object's kind, in the dialect it names; in 2020-12 if it names none, as in MCP."""
    return isinstance(schema, dict) and _judge(schema) is not None


def faults_in(value: Any, schema: Any, root: str = "it") -> list[Fault]:
    """Return where and why *value* does not fit *schema*; one that cannot judge at all is a fault at *root*."""
    from referencing.exceptions import Unresolvable

    judge = _judge(schema) if isinstance(schema, dict) else None
    if judge is None:
        return [(root, f"cannot be judged by {text_of(schema)[:100]}, which is no JSON Schema")]
    try:
        return worded(judge.iter_errors(value), root)
    # References in circles, a pattern of another language, a number beyond all floats.
    except (Unresolvable, RecursionError, re.error, ArithmeticError) as error:
        return [(root, f"cannot be judged by its schema: {str(error)[:200]}")]


def _judge(schema: dict[str, Any]) -> Validator | None:
    try:
        return _made(codec.encode(schema))
    except codec.EncodingError:  # it is nested too deeply
        return None


@lru_cache(maxsize=256)  # to check a schema takes longer than to judge a value by it
def _made(text: bytes) -> Validator | None:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import validator_for
    from referencing import Registry

    schema = codec.decode(text)
    named = {"$schema": schema["$schema"]} if isinstance(schema.get("$schema"), str) else {}
    dialect = validator_for(named, default=Draft202012Validator)
    try:
        dialect.check_schema(schema)
    except (SchemaError, RecursionError, re.error):
        return None
    return dialect(schema, registry=Registry())  # nothing is fetched, whatever it refers to
