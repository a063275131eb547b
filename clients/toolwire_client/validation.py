"""Whether a value fits a schema that anybody may have written; one that is itself at fault takes everything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_schemas.json_schema.error_text import worded

if TYPE_CHECKING:
    from toolwire_schemas.json_schema.error_text import Fault

Schema = dict[str, Any]


class Fitting:
    """Judges values by *schema*. References never leave the schema.

    `trouble` says why the last value was not judged; it is empty if it was.
    """

    def __init__(self, schema: Schema) -> None:
        from toolwire_schemas.json_schema.bounded_validator import CannotJudge, SchemaValidator

        self.trouble = ""
        self._judge: SchemaValidator | None = None
        try:
            self._judge = SchemaValidator(schema)
        except CannotJudge as error:
            self.trouble = str(error)

    def faults(self, value: Any, root: str) -> list[Fault]:
        """Return what the schema has against *value*, which is called *root*; nothing, if it cannot tell."""
        from toolwire_schemas.json_schema.bounded_validator import CannotJudge

        if self._judge is None:
            return []
        self.trouble = ""
        try:
            return worded(self._judge.errors(value), root)
        except CannotJudge as error:
            self.trouble = str(error)
            return []


def told(faults: list[Fault]) -> str:
    """Return *faults* as one sentence."""
    return "; ".join(f"{place}: {sentence}" for place, sentence in faults)
