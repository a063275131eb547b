"""Whether a value fits a schema that anybody may have written; one that is itself at fault takes everything."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from toolwire_schemas.faults import worded

if TYPE_CHECKING:
    from toolwire_schemas.faults import Fault

Schema = dict[str, Any]


class Fitting:
    """Judges values by *schema*. References never leave the schema."""

    def __init__(self, schema: Schema) -> None:
        from jsonschema import Draft202012Validator
        from jsonschema.exceptions import SchemaError
        from jsonschema.validators import validator_for
        from referencing import Registry

        self._validator: Any = None
        named = {"$schema": schema["$schema"]} if isinstance(schema.get("$schema"), str) else {}
        try:
            dialect = validator_for(named, default=Draft202012Validator)
            dialect.check_schema(schema)
        except (SchemaError, RecursionError, re.error, ValueError):
            return
        self._validator = dialect(schema, registry=Registry())

    def faults(self, value: Any, root: str) -> list[Fault]:
        """Return what the schema has against *value*, which is called *root*; nothing, if it cannot tell."""
        if self._validator is None:
            return []
        from referencing.exceptions import Unresolvable

        try:
            return worded(self._validator.iter_errors(value), root)
        except (Unresolvable, RecursionError, re.error, ArithmeticError, ValueError):
            return []


def told(faults: list[Fault]) -> str:
    """Return *faults* as one sentence."""
    return "; ".join(f"{place}: {sentence}" for place, sentence in faults)
