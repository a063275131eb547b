"""Does a value fit a schema that a server wrote, which may be none?"""

from __future__ import annotations

import re
from typing import Any

from toolwire_schemas.faults import Fault, worded

from .conversation import text_of


def is_schema(schema: Any) -> bool:
    """Whether *schema* is one, of an object's kind."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    try:
        Draft202012Validator.check_schema(schema)
    except (SchemaError, RecursionError):
        return False
    return isinstance(schema, dict)


def faults_in(value: Any, schema: Any, root: str = "it") -> list[Fault]:
    """Return where and why *value* does not fit *schema*; one that cannot judge at all is a fault at *root*."""
    from jsonschema import Draft202012Validator
    from referencing.exceptions import Unresolvable

    if not is_schema(schema):
        return [(root, f"cannot be judged by {text_of(schema)[:100]}, which is no JSON Schema")]
    try:
        return worded(Draft202012Validator(schema).iter_errors(value), root)
    except (Unresolvable, RecursionError, re.error) as error:  # references in circles, a pattern of another language
        return [(root, f"cannot be judged by its schema: {str(error)[:200]}")]
