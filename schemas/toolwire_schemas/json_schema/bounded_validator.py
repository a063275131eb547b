"""Validates values against JSON Schemas: the one place that sets up jsonschema.

A schema of a few lines can ask for more work than a computer does in a year: references that double
at each level, patterns that backtrack, lists compared item by item. So schemas of other programs
are checked within a budget of steps.

Strategy. jsonschema validates, with each of its keywords wrapped by one that counts. The keywords
that use patterns or compare items are our own, since a single step of jsonschema's may take
forever; `multipleOf` is, since jsonschema divides in binary.
"""

from __future__ import annotations

import sys
from contextvars import ContextVar
from fractions import Fraction
from functools import cache
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Any

from .fast_schema_check import is_well_formed
from .linear_regex import MAX_STEPS, Budget, CannotJudge, TooExpensive, is_cheap, search

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Keyword = Callable[[Any, Any, Any, Any], Iterator[Any] | None]

__all__ = [
    "MAX_STEPS",
    "Budget",
    "CannotJudge",
    "SchemaValidator",
    "TooExpensive",
    "find_faults_of_schema",
    "search",
]

MAX_DEPTH = 100
"""Levels of nested JSON values. Python allows some thousand nested calls, and the metaschema takes
ten for a level.
"""
_MAX_STEPS_OF_SCHEMA = 4 * MAX_STEPS
_MAX_ERRORS = 1000
_FEW_LEVELS = 8
_STEPS_OF_ITEM = 20  # four times what an item of an ordinary schema takes
_LONG_NAME = 1000

_budget: ContextVar[Budget] = ContextVar("budget")


class SchemaValidator:
    """Validates values against *schema*. References never leave the schema.

    *dialect* is the draft to judge by, instead of the one that the schema names (2020-12 if it does
    not). A schema that *is_trusted*, because the tool's author wrote it, is not checked, and may
    take any number of steps for a value of a few levels, else a number that grows with the value:
    unions double the work at each level. Formats are those of the *format_checker*, if there is
    one. Without *exact_multiples* jsonschema decides `multipleOf` as well, as validators that
    divide in binary do.

    Raises:
        CannotJudge: if it is not a valid JSON Schema, or is too large.
    """

    def __init__(
        self,
        schema: Any,
        *,
        dialect: Any = None,
        checks: bool = True,
        is_trusted: bool = False,
        format_checker: Any = None,
        exact_multiples: bool = True,
    ) -> None:
        from referencing import Registry

        self.schema = schema
        dialect = dialect or _choose_dialect(schema)
        kind = _extend(dialect, True, exact_multiples)
        if not is_trusted:
            if checks and (faults := _find_faults(kind, schema)):
                raise CannotJudge(f"it is not a valid JSON Schema: {faults[0].message[:200]}")
            _check_names(schema)
        options: dict[str, Any] = {
            "registry": Registry(),
            "format_checker": format_checker,
        }  # nothing is fetched
        self._validator = kind(schema, **options)
        # Counting takes a third of the time again.
        self._quick = (
            _extend(dialect, False, exact_multiples)(schema, **options) if is_trusted else None
        )

    def find_errors(
        self, value: Any, schema: Any = None, *, total: Budget | None = None
    ) -> list[Any]:
        """Return jsonschema's errors about *value* by the schema, or by a part *schema* of it; at
        most 1,000.

        The steps are also taken from *total*.

        Raises:
            CannotJudge: if the schema gives no answer, as in a circle; `TooExpensive` after too
                many steps.
        """
        return self._judge(value, _MAX_ERRORS, schema, total)

    def is_valid(self, value: Any, schema: Any = None, *, total: Budget | None = None) -> bool:
        """Return whether *value* fits the schema, or a part *schema* of it.

        Raises:
            CannotJudge: as `errors`.
        """
        return not self._judge(value, 1, schema, total)

    def _judge(self, value: Any, most: int, part: Any, total: Budget | None) -> list[Any]:
        if self._quick is None:
            return _find_errors(self._validator, value, MAX_STEPS, most, part=part, total=total)
        level_beyond = next(islice(_walk_levels(value), _FEW_LEVELS, None), None)
        if level_beyond is None:
            return _find_errors(self._quick, value, sys.maxsize, most, part=part, total=total)
        items = 0
        for level in _walk_levels(value):
            items += sum(map(len, level))
        steps = MAX_STEPS + _STEPS_OF_ITEM * items
        return _find_errors(self._validator, value, steps, most, part=part, total=total)


def find_faults_of_schema(schema: Any, *, dialect: Any = None) -> list[Any]:
    """Return jsonschema's errors about *schema* as a JSON Schema, at most 1,000, without those
    about formats.

    *dialect* is that of `SchemaValidator`.

    Raises:
        CannotJudge: if it is too large or nested too deeply.
    """
    return _find_faults(_extend(dialect or _choose_dialect(schema), True), schema)


def _find_faults(kind: Any, schema: Any) -> list[Any]:
    if any(depth > MAX_DEPTH for depth, _ in enumerate(_walk_levels(schema))):
        raise TooExpensive(f"it is nested more than {MAX_DEPTH} levels deep")
    # Drafts 3 and 4 have an `id` instead.
    is_known = any(
        draft in kind.META_SCHEMA.get("$id", "") for draft in ("draft-07", "2019-09", "2020-12")
    )
    if is_known and is_well_formed(schema):
        return []
    return _find_errors(kind(kind.META_SCHEMA), schema, _MAX_STEPS_OF_SCHEMA, _MAX_ERRORS)


def _find_errors(
    validator: Any, value: Any, steps: int, most: int, part: Any = None, total: Budget | None = None
) -> list[Any]:
    from jsonschema.exceptions import UnknownType
    from referencing.exceptions import Unresolvable

    before = _budget.set(budget := Budget(steps))
    try:
        return list(
            islice(
                (validator if part is None else validator.evolve(schema=part)).iter_errors(value),
                most,
            )
        )
    except (
        Unresolvable,
        UnknownType,
        ValueError,
        TypeError,
        AttributeError,
        LookupError,
        ArithmeticError,
    ) as error:
        raise CannotJudge(f"it gives no answer: {str(error)[:200]}") from error
    except BaseException as error:
        # rpds, in which jsonschema keeps its tables, panics where Python would raise a
        # RecursionError.
        if isinstance(error, RecursionError) or type(error).__name__ == "PanicException":
            raise CannotJudge("it is nested too deeply, or refers to itself in a circle") from None
        raise
    finally:
        _budget.reset(before)
        if total is not None:
            total.spend(steps - budget.left)


def _walk_levels(value: Any) -> Iterator[list[Any]]:
    """Yield the objects and arrays at each depth of *value*; the first level is the value
    itself.
    """
    level: list[Any] = [[value]]
    while True:
        level = _list_containers_inside(level)
        if not level:
            return
        yield level


def _list_containers_inside(level: list[Any]) -> list[Any]:
    containers: list[Any] = []
    for outer in level:
        members = outer.values() if isinstance(outer, dict) else outer
        containers += [inner for inner in members if isinstance(inner, dict | list)]
    return containers


def _check_names(schema: Any) -> None:
    """Refuse patterns of names that jsonschema itself would search, for `unevaluatedProperties`."""
    patterns: list[str] = []
    is_unevaluated = False
    for level in _walk_levels(schema):
        for value in level:
            if not isinstance(value, dict):
                continue
            is_unevaluated = is_unevaluated or "unevaluatedProperties" in value
            if isinstance(value.get("patternProperties"), dict):
                patterns += value["patternProperties"]
    if is_unevaluated and not all(is_cheap(pattern, _LONG_NAME) for pattern in patterns):
        raise TooExpensive("a pattern is too expensive together with unevaluatedProperties")


def _choose_dialect(schema: Any) -> Any:
    """Return jsonschema's validator for the draft that *schema* names, or else for 2020-12."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import validator_for

    naming = {}
    if isinstance(schema, dict) and isinstance(schema.get("$schema"), str):
        naming = {"$schema": schema["$schema"]}
    try:
        return validator_for(naming, default=Draft202012Validator)
    except ValueError as error:  # urllib cannot parse it
        raise CannotJudge(f"its $schema is not a URI: {error}") from None


@cache
def _extend(kind: Any, counts: bool, exact_multiples: bool = True) -> Any:
    """Return jsonschema's validator of this *kind* with our keywords; if it *counts*, each spends
    from the budget.
    """
    from jsonschema.validators import extend

    ours = {word: keyword for word, keyword in _OURS.items() if word in kind.VALIDATORS}
    if not exact_multiples:
        del ours["multipleOf"]
    if not counts:
        return extend(kind, ours)
    made = extend(
        kind, {word: _count_steps(keyword) for word, keyword in {**kind.VALIDATORS, **ours}.items()}
    )
    theirs = made.evolve

    def evolve(self: Any, **changes: Any) -> Any:
        _budget.get().spend()
        part = changes.get("schema", self.schema)
        if (
            isinstance(part, dict) and "$schema" in part
        ):  # it would get a validator of that draft, which does not count
            part = {word: value for word, value in part.items() if word != "$schema"}
        return theirs(self, **{**changes, "schema": part})

    made.evolve = evolve
    return made


def _count_steps(keyword: Keyword) -> Keyword:
    def check_and_count(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        budget = _budget.get()
        budget.spend(1 + (len(value) >> 3 if isinstance(value, dict | list) else 0))
        for error in keyword(validator, value, instance, schema) or ():
            budget.spend(1 + (len(error.message) >> 8))  # it has the whole value in it
            yield error

    return check_and_count


def _check_pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[Any]:
    if isinstance(instance, str) and not search(pattern, instance, _budget.get().spend):
        yield _make_error(f"{instance!r} does not match {pattern!r}")


def _check_pattern_properties(
    validator: Any, patterns: dict[str, Any], instance: Any, schema: Any
) -> Iterator[Any]:
    spend = _budget.get().spend
    if not isinstance(instance, dict):
        return
    for pattern, inner in patterns.items():
        for name, member in instance.items():
            if search(pattern, name, spend):
                yield from validator.descend(member, inner, path=name, schema_path=pattern)


def list_unexpected(
    instance: dict[str, Any], schema: dict[str, Any], spend: Callable[[int], None]
) -> list[str]:
    """Return the names in *instance* that are neither among the properties nor match a pattern of
    *schema*.

    Raises:
        CannotJudge: as `search`.
    """
    known = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    unexpected = []
    for name in instance:
        if name in known or any(search(pattern, name, spend) for pattern in patterns):
            continue
        unexpected.append(name)
    return unexpected


def _check_additional_properties(
    validator: Any, more: Any, instance: Any, schema: Any
) -> Iterator[Any]:
    extras = (
        list_unexpected(instance, schema, _budget.get().spend) if isinstance(instance, dict) else []
    )
    if isinstance(more, dict):
        for name in extras:
            yield from validator.descend(instance[name], more, path=name)
    elif not more and extras:
        named = ", ".join(map(repr, extras))
        yield _make_error(
            f"Additional properties are not allowed ({named}"
            f" {'was' if len(extras) == 1 else 'were'} unexpected)"
        )


def _check_unique_items(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if wanted and isinstance(instance, list):
        _budget.get().spend(len(instance) >> 3)
        if len(set(map(make_identity, instance))) < len(instance):
            yield _make_error(f"{instance!r} has non-unique elements")


def _check_multiple_of(validator: Any, step: Any, value: Any, schema: Any) -> Iterator[Any]:
    # As written, 19.99 is a multiple of 0.01; the binary fractions that jsonschema divides are not.
    if isinstance(value, int | float) and not isinstance(value, bool):
        is_finite = isinstance(value, int) or isfinite(value)
        if not is_finite or _as_written(value) % _as_written(step):
            yield _make_error(f"{value} is not a multiple of {step}")


def _as_written(number: float) -> Fraction:
    return Fraction(number if isinstance(number, int) else repr(number))


def make_identity(value: Any) -> Any:
    """Return a hashable value that is equal for equal JSON values only: 1.0 is 1, and true is
    not.
    """
    match value:
        case bool() | None | str():
            return (type(value).__name__, value)
        case float() if not isfinite(value):
            return ("number", repr(value))
        case int() | float():
            return ("number", Fraction(value))
        case list():
            return ("array", tuple(map(make_identity, value)))
        case dict():
            return (
                "object",
                frozenset((name, make_identity(member)) for name, member in value.items()),
            )
    raise TypeError(f"{type(value).__name__} is not of JSON")


def _make_error(message: str) -> Any:
    from jsonschema import ValidationError

    return ValidationError(message)


_OURS: dict[str, Keyword] = {
    "pattern": _check_pattern,
    "patternProperties": _check_pattern_properties,
    "additionalProperties": _check_additional_properties,
    "uniqueItems": _check_unique_items,
    "multipleOf": _check_multiple_of,
}
