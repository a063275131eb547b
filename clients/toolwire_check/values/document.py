"""A whole schema: its graph, the dialect it is written in, and what in it is not supported.

Strategy. The graph shows where values can be made; jsonschema judges each value that was made. Both
work within one budget of steps, so that a schema that multiplies work ends with `NoValues`.
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
    find_faults_of_schema,
)
from toolwire_schemas.json_schema.graph import SchemaGraph
from toolwire_schemas.json_schema.linear_regex import is_cheap
from toolwire_schemas.json_schema.portable_regex import find_problem
from toolwire_schemas.json_schema.subschemas import walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    Schema = dict[str, Any] | bool
    Fault = tuple[str, str]
    """The place of something that is not supported, and why."""


class NoValues(CannotJudge):
    """No values are made for the schema: *where* in it something prevents that, and *why*."""

    def __init__(self, where: str, why: str) -> None:
        super().__init__(f"{where}: {why}" if where else why)
        self.where = where
        self.why = why


_MAX_SCHEMA_CHARS = 1_000_000
_MAX_SIZES = {"minLength": 10**6, "minItems": 10**4, "minContains": 10**4, "minProperties": 10**3}
_BRANCHING = ("properties", "anyOf", "oneOf", "allOf")
_MAX_BRANCHES = 500  # values of 1,000 optional members or alternatives take more than a minute
# Of everything that is done with a schema's values together. Ordinary ones take a hundredth of it.
_MAX_STEPS = 100 * MAX_STEPS
_LONG_TEXT = 500  # Hypothesis searches texts of this length for a pattern


class ValueJudge:
    """Judges values by *schema* and its parts, within one budget of steps for all of them.

    Without `$schema` it is read as 2020-12, as MCP has it, or as draft-07 if its words are only
    known there.

    Raises:
        NoValues: if it is no valid schema, or has a word that values are not made for.
    """

    def __init__(self, schema: Schema) -> None:
        self.graph = SchemaGraph(schema)
        self.steps = Budget(_MAX_STEPS)
        self.schema = schema
        self._dialect = Draft7Validator if _is_draft7(schema) else Draft202012Validator
        try:
            for where, why in self._find_faults():
                raise NoValues(where, why)
            self._validators = [self._make_validator(is_exact) for is_exact in (True, False)]
            self.find_errors(None)
        except NoValues:
            raise
        except CannotJudge as error:
            raise NoValues("schema", str(error)) from None
        except (RecursionError, TypeError):
            # A word that its draft does not know may have a value of any type.
            raise NoValues("", "it is nested too deeply, or malformed") from None

    def _make_validator(self, is_exact: bool) -> SchemaValidator:
        """Return the validator that divides exactly, or the one that divides in binary.

        A float has to be a multiple for both, since validators differ.
        """
        return SchemaValidator(
            self.schema, dialect=self._dialect, checks=False, exact_multiples=is_exact
        )

    def is_valid(self, schema: Schema, value: Any) -> bool:
        """Whether *value* is valid by *schema*, a part of this document. Formats are not judged.

        Raises:
            CannotJudge: if jsonschema cannot validate it, or the budget is spent.
        """
        validators = self._validators if isinstance(value, float) else self._validators[:1]
        return all(each.is_valid(value, schema, total=self.steps) for each in validators)

    def find_errors(self, value: Any) -> list[Any]:
        """Return jsonschema's errors about *value*.

        Raises:
            CannotJudge: as `is_valid`.
        """
        return self._validators[0].find_errors(value, total=self.steps)

    def _find_faults(self) -> Iterator[Fault]:
        if len(json.dumps(self.schema)) > _MAX_SCHEMA_CHARS:
            yield "", f"no values are made of more than {_MAX_SCHEMA_CHARS:,} characters of schema"
        for fault in find_faults_of_schema(self.schema, dialect=self._dialect):
            where = ".".join(map(str, fault.absolute_path))
            yield where, f"this is not a valid schema: {fault.message[:200]}"
        if isinstance(self.schema, dict):
            for where, schema in walk(self.schema, "schema"):
                yield from self._find_faults_at(where, schema)

    def _find_faults_at(self, where: str, schema: dict[str, Any]) -> Iterator[Fault]:
        if "$id" in schema and schema is not self.schema:
            yield f"{where}.$id", "references from here on lead elsewhere"
        yield from _find_size_faults(where, schema)
        yield from _find_pattern_faults(where, schema)
        node = self.graph.get_node(schema)
        if node.pointer and node.reference is None:
            why = "leads out of the schema, or to no schema; only #/… is followed"
            yield where, f"the reference {node.pointer} {why}"


def _find_size_faults(where: str, schema: dict[str, Any]) -> Iterator[Fault]:
    for word in _BRANCHING:
        if len(schema.get(word, ())) > _MAX_BRANCHES:
            yield "", f"no values are made of more than {_MAX_BRANCHES} members or alternatives"
    for word, most in _MAX_SIZES.items():
        if schema.get(word, 0) > most:
            yield f"{where}.{word}", f"nothing of more than {most} is made"


def _find_pattern_faults(where: str, schema: dict[str, Any]) -> Iterator[Fault]:
    patterns = list(schema.get("patternProperties", ()))
    if "pattern" in schema:
        patterns.append(schema["pattern"])
    for pattern in patterns:
        why = find_problem(pattern)
        if not why and not is_cheap(pattern, _LONG_TEXT):
            why = "it takes too long to search a text for it"
        if why:
            yield f"{where}: the pattern {pattern}", why


def _is_draft7(schema: Schema) -> bool:
    if not isinstance(schema, dict):
        return False
    dialect = schema.get("$schema")
    if isinstance(dialect, str):
        return "json-schema.org/draft-0" in dialect
    return any(isinstance(inner.get("items"), list) for _, inner in walk(schema, ""))
