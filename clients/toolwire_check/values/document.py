"""A whole schema: where its references lead, which dialect it is written in, and what in it is not
supported.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from jsonschema import Draft7Validator, Draft202012Validator
from toolwire_schemas.json_schema.bounded_validator import (
    MAX_STEPS,
    Budget,
    CannotJudge,
    SchemaValidator,
    faults_of_schema,
)
from toolwire_schemas.json_schema.linear_regex import is_cheap
from toolwire_schemas.json_schema.portable_regex import problem
from toolwire_schemas.json_schema.subschemas import target, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    Schema = dict[str, Any] | bool
    Schemas = tuple[Schema, ...]
    Parts = list[dict[str, Any]]


class NoValues(CannotJudge):
    """No values are made for the schema: *where* in it something prevents that, and *why*."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"{where}: {why}" if where else why)
        self.where = where
        self.why = why


_LARGEST = {"minLength": 10**6, "minItems": 10**4, "minContains": 10**4, "minProperties": 10**3}
_MAX_LENGTH = 1_000_000
_PARTS = ("properties", "anyOf", "oneOf", "allOf")
_MAX_PARTS = 500  # values of 1,000 optional members or alternatives take more than a minute
_MAX_STEPS = (
    100 * MAX_STEPS
)  # all that is done with a schema's values together. Ordinary ones take a hundredth of it
_LONG_TEXT = 500  # Hypothesis searches texts of this length for a pattern


class ValueJudge:
    """Judges values by *schema* and its parts, within one budget of steps for all of them.

    Without `$schema` it is read as 2020-12, as MCP has it, or as draft-07 if its words are only
    known there.

    Raises:
        NoValues: if it is no valid schema, or has a word that values are not made for.
    """

    def __init__(self, schema: Schema) -> None:
        self.root = schema
        self.is_draft7 = _is_draft7(schema)
        self._dialect = Draft7Validator if self.is_draft7 else Draft202012Validator
        self.steps = Budget(_MAX_STEPS)
        try:
            for where, why in self._faults():
                raise NoValues(where, why)
            # A multiple for validators that divide exactly and for those that divide in binary.
            self._judges = [
                SchemaValidator(
                    schema, dialect=self._dialect, checks=False, exact_multiples=is_exact
                )
                for is_exact in (True, False)
            ]
            self.errors(None)
        except NoValues:
            raise
        except CannotJudge as error:
            raise NoValues("schema", str(error)) from None
        except (
            RecursionError,
            TypeError,
        ):  # a word that its draft does not know may have any value
            raise NoValues("", "it is nested too deeply, or malformed") from None

    def is_valid(self, schema: Schema, value: Any) -> bool:
        """Whether *value* is valid by *schema*, a part of this document. Formats are not judged.

        Raises:
            CannotJudge: if jsonschema cannot validate it, or the budget is spent.
        """
        judges = self._judges if isinstance(value, float) else self._judges[:1]
        return all(judge.is_valid(value, schema, total=self.steps) for judge in judges)

    def errors(self, value: Any) -> list[Any]:
        """Return jsonschema's errors about *value*.

        Raises:
            CannotJudge: as `is_valid`.
        """
        return self._judges[0].errors(value, total=self.steps)

    def _faults(self) -> Iterator[tuple[str, str]]:
        if len(json.dumps(self.root)) > _MAX_LENGTH:
            yield "", f"no values are made of more than {_MAX_LENGTH:,} characters of schema"
        for fault in faults_of_schema(self.root, dialect=self._dialect):
            where = ".".join(map(str, fault.absolute_path))
            yield where, f"this is not a valid schema: {fault.message[:200]}"
        if isinstance(self.root, dict):
            for where, schema in walk(self.root, "schema"):
                yield from self._faults_at(where, schema)

    def _faults_at(self, where: str, schema: dict[str, Any]) -> Iterator[tuple[str, str]]:
        sizes = [len(schema.get(word, ())) for word in _PARTS]
        if max(sizes) > _MAX_PARTS:
            yield "", f"no values are made of more than {_MAX_PARTS} members or alternatives"
        if "$id" in schema and schema is not self.root:
            yield f"{where}.$id", "references from here on lead elsewhere"
        for word, largest in _LARGEST.items():
            if schema.get(word, 0) > largest:
                yield f"{where}.{word}", f"nothing of more than {largest} is made"
        for pattern in (schema.get("pattern", ""), *schema.get("patternProperties", ())):
            if found := problem(pattern):
                yield f"{where}: the pattern {pattern}", found
            elif not is_cheap(pattern, _LONG_TEXT):
                too_slow = "it takes too long to search a text for it"
                yield f"{where}: the pattern {pattern}", too_slow
        if not self._leads_to_schema(schema.get("$ref", "#")):
            reference = schema["$ref"]
            leads_out = "leads out of the schema, or to no schema; only #/… is followed"
            yield f"{where}.$ref", f"{reference} {leads_out}"

    def _leads_to_schema(self, reference: Any) -> bool:
        try:
            return isinstance(target(self.root, reference), dict | bool)
        except (LookupError, ValueError):
            return False


def _is_draft7(schema: Schema) -> bool:
    if not isinstance(schema, dict):
        return False
    if isinstance(dialect := schema.get("$schema"), str):
        return "json-schema.org/draft-0" in dialect
    return any(isinstance(inner.get("items"), list) for _, inner in walk(schema, ""))
