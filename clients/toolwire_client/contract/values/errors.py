"""Why there are no values of a schema."""

from __future__ import annotations


class NoValues(ValueError):
    """No values can be made of a schema. Unsupported and Unsatisfiable say which of the two it is."""


class Unsupported(NoValues):
    """The schema has something that values are not made for; *where* it is, and *why* not."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"{where}: {why}" if where else why)
        self.where = where
        self.why = why


class Unsatisfiable(NoValues):
    """Nothing fits the schema, or only what is nested deeper than values are made."""
