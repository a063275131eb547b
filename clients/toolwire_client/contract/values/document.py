"""A whole schema: where its references lead, which dialect it is written in, and what in it is not supported."""

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
    search,
)
from toolwire_schemas.json_schema.portable_regex import problem
from toolwire_schemas.json_schema.subschemas import target, walk

if TYPE_CHECKING:
    from collections.abc import Iterator


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


Schema = dict[str, Any] | bool

_UNSUPPORTED = {
    "$dynamicRef": "what it leads to depends on the way there",
    "$recursiveRef": "what it leads to depends on the way there",
    "unevaluatedProperties": "what it applies to depends on all other words",
    "unevaluatedItems": "what it applies to depends on all other words",
}
_LARGEST = {"minLength": 10**6, "minItems": 10**4, "minContains": 10**4, "minProperties": 10**3}
_MAX_LENGTH = 1_000_000
_MAX_PARTS = 500
"""Values of an object with 1,000 optional members take more than a minute, and so do those of 1,000 alternatives."""
_PARTS = ("properties", "anyOf", "oneOf", "allOf")
_MAX_STEPS = 100 * MAX_STEPS
"""All that is done with a schema's values together. Ordinary ones take a hundredth of it."""
_ALLOWING_ALL: tuple[Schema, ...] = (True, {})


class Document:
    """Whatever is said about the schemas inside *schema* that depends on the whole of it.

    Without `$schema` it is read as 2020-12, as MCP has it, or as draft-07 if its words are only known there.

    Raises:
        Unsupported: if it is no valid schema, or has a word that values are not made for.
    """

    def __init__(self, schema: Schema) -> None:
        self.root = schema
        self.is_draft7 = _is_draft7(schema)
        dialect = Draft7Validator if self.is_draft7 else Draft202012Validator
        self._steps = Budget(_MAX_STEPS)
        try:
            if len(conjunction_key((schema,))) > _MAX_LENGTH:
                raise Unsupported("", f"no values are made of more than {_MAX_LENGTH:,} characters of schema")
            parts = walk(schema, "") if isinstance(schema, dict) else ()
            if any(_is_long(part.get(word)) for _, part in parts for word in _PARTS):
                raise Unsupported("", f"no values are made of more than {_MAX_PARTS} members or alternatives")
            for fault in faults_of_schema(schema, dialect=dialect, is_fixed=True)[:1]:
                where = ".".join(map(str, fault.absolute_path))
                raise Unsupported(where, f"this is no valid schema: {fault.message[:200]}")
            self._judge = SchemaValidator(schema, dialect=dialect, is_fixed=True, checks=False)
            for where, why in self._faults():
                raise Unsupported(where, why)
        except CannotJudge as error:
            raise Unsupported("", str(error)) from None
        except RecursionError:
            raise Unsupported("", "it is nested too deeply") from None

    def target(self, reference: str) -> Schema:
        """Return the schema that *reference* leads to."""
        found: Schema = target(self.root, reference)
        return found

    def is_valid(self, schema: Schema, value: Any) -> bool:
        """Whether *value* is valid by *schema*, whose references are this document's. Formats are not judged.

        Raises:
            Unsupported: if jsonschema cannot validate it, or the budget is spent.
        """
        try:
            return self._judge.is_valid(value, schema, total=self._steps)
        except CannotJudge as error:
            raise Unsupported("", str(error)) from None

    def errors(self, value: Any) -> list[Any]:
        """Return jsonschema's errors about *value*.

        Raises:
            Unsupported: as `is_valid`.
        """
        try:
            return self._judge.errors(value, total=self._steps)
        except CannotJudge as error:
            raise Unsupported("", str(error)) from None

    def spend(self, steps: int = 1) -> None:
        """Count steps of work on this schema.

        Raises:
            Unsupported: if it takes too many.
        """
        try:
            self._steps.spend(steps)
        except CannotJudge as error:
            raise Unsupported("", str(error)) from None

    def _faults(self) -> Iterator[tuple[str, str]]:
        for where, schema in walk(self.root, "schema") if isinstance(self.root, dict) else ():
            if "$id" in schema and schema is not self.root:
                yield f"{where}.$id", "references from here on lead elsewhere"
            for word, why in _UNSUPPORTED.items():
                if word in schema and schema[word] not in _ALLOWING_ALL:
                    yield f"{where}.{word}", why
            for word, largest in _LARGEST.items():
                if schema.get(word, 0) > largest:
                    yield f"{where}.{word}", f"nothing of more than {largest} is made"
            for pattern in (schema.get("pattern"), *schema.get("patternProperties", ())):
                if isinstance(pattern, str) and (found := problem(pattern)):
                    yield f"{where}: the pattern {pattern}", found
            if "$ref" in schema:
                yield from self._dangling(where, schema["$ref"])
        if isinstance(self.root, dict):
            done: set[int] = set()
            for where, schema in walk(self.root, "schema"):
                if self._loops(schema, frozenset(), done):
                    yield where, "it refers back to itself without anything in between"

    def _loops(self, schema: Schema, under: frozenset[int], done: set[int]) -> bool:
        """Whether what judges a value as *schema* does comes back to one of those it is *under*."""
        if not isinstance(schema, dict) or id(schema) in done:
            return False
        if id(schema) in under:
            return True
        inner = [schema[word] for word in ("not", "if", "then", "else") if word in schema]
        inner += [branch for word in ("allOf", "anyOf", "oneOf") for branch in schema.get(word, ())]
        inner += schema.get("dependentSchemas", {}).values()
        inner += [self.target(schema["$ref"])] if "$ref" in schema else []
        found = any(self._loops(other, under | {id(schema)}, done) for other in inner)
        done.add(id(schema))
        return found

    def _dangling(self, where: str, reference: str) -> Iterator[tuple[str, str]]:
        try:
            if not isinstance(self.target(reference), dict | bool):
                yield f"{where}.$ref", f"{reference} leads to something that is no schema"
        except (LookupError, ValueError):
            yield f"{where}.$ref", f"{reference} leads out of the schema, or nowhere; only #/… is followed"


def matches(pattern: str, text: str, flags: int = 0) -> bool:
    """Return whether a part of *text* matches *pattern*.

    Raises:
        Unsupported: if that takes too long.
    """
    try:
        return search(pattern, text, Budget().spend, flags)
    except CannotJudge as error:
        raise Unsupported("", str(error)) from None


def conjunction_key(schemas: tuple[Schema, ...]) -> str:
    """A name for *schemas* that equal ones share."""
    return json.dumps(schemas, default=repr)


def _is_long(parts: Any) -> bool:
    return isinstance(parts, dict | list) and len(parts) > _MAX_PARTS


def _is_draft7(schema: Schema) -> bool:
    if not isinstance(schema, dict):
        return False
    if isinstance(dialect := schema.get("$schema"), str):
        return "json-schema.org/draft-0" in dialect
    return any(isinstance(inner.get("items"), list) for _, inner in walk(schema, ""))
