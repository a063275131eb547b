"""Validation by schemas from servers, which may be malformed; a malformed schema accepts every
value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_schemas.json_schema.error_text import write_faults

if TYPE_CHECKING:
    from toolwire_schemas.json_schema.error_text import Fault

Schema = dict[str, Any]


class LenientValidator:
    """Validates values by *schema*. References never leave the schema.

    `trouble` says why the last value could not be validated; empty if it could.
    """

    def __init__(self, schema: Schema) -> None:
        from toolwire_schemas.json_schema.bounded_validator import CannotJudge, SchemaValidator

        self.trouble = ""
        self._validator: SchemaValidator | None = None
        try:
            self._validator = SchemaValidator(schema)
        except CannotJudge as error:
            self.trouble = str(error)

    def find_faults(self, value: Any, root: str) -> list[Fault]:
        """Return the errors of *value*, which they call *root*; none if it cannot be validated."""
        from toolwire_schemas.json_schema.bounded_validator import CannotJudge

        if self._validator is None:
            return []
        self.trouble = ""
        try:
            return write_faults(self._validator.find_errors(value), root)
        except CannotJudge as error:
            self.trouble = str(error)
            return []

    def read(self, value: Any, root: str) -> tuple[Any, list[Fault]]:
        """Return *value*, or its reading that fits, and the errors of a value without such a
        reading.

        A model may send JSON as text, or null for what is absent: a server reads arguments in the
        same way.
        """
        from toolwire_schemas.json_schema.bounded_validator import CannotJudge
        from toolwire_schemas.json_schema.lossless import read

        faults = self.find_faults(value, root)
        if not faults or self._validator is None:
            return value, faults
        try:
            reading = read(value, self._validator.find_errors(value), self._validator.find_errors)
        except (CannotJudge, RecursionError):
            return value, faults
        return (value, faults) if reading is None else (reading.value, [])


def join_errors(faults: list[Fault]) -> str:
    """Return *faults* as one sentence."""
    return "; ".join(f"{place}: {sentence}" for place, sentence in faults)
