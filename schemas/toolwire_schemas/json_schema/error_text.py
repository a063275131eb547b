"""Turns jsonschema's errors into sentences from which a language model can correct its call."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..did_you_mean import find_closest
from ..language import say
from .graph import SchemaGraph
from .member_names import read_names, with_names, write_listing

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from .graph import SchemaNode

Fault = tuple[str, str]
"""A place, such as `arguments.items[2].count`, and what is wrong there."""

MAX_FAULTS = 10
_MAX_COUNTED = 100
_MAX_VALUE = 80
_MAX_PATTERN = 60  # a longer one says less than the description
_MAX_LIST = 30


def write_faults(errors: Iterable[Any], root: str) -> list[Fault]:
    """Return jsonschema's errors as faults, without repetitions, at most ten and a line that says
    how many more.
    """
    every = _find_all_faults(errors, root)
    faults = list(dict.fromkeys(islice(every, _MAX_COUNTED)))
    if len(faults) <= MAX_FAULTS:
        return faults
    more: int | str = len(faults) - MAX_FAULTS
    if next(every, None):  # the exact count of a long list of bad items does not help
        more = say("many")
    return [*faults[:MAX_FAULTS], (root, say("{count} more faults of this kind", count=more))]


def _find_all_faults(errors: Iterable[Any], root: str) -> Iterator[Fault]:
    for error in errors:
        yield from _find_faults(error, root)


def format_place(root: str, path: Iterable[str | int]) -> str:
    """Return *path* written as in `arguments.items[2].count`."""
    written = root
    for step in path:
        if isinstance(step, int):
            written += f"[{step}]"
        elif step.isidentifier():
            written += f".{_cut(step)}"
        else:
            name = json.dumps(_cut(step), ensure_ascii=False)
            written += f"[{name}]"
    return written


def format_value(value: Any) -> str:
    """Return *value* as JSON, cut to a readable length."""
    if isinstance(value, str | list):
        value = value[: 2 * _MAX_VALUE]
    if isinstance(value, dict):
        value = dict(islice(value.items(), _MAX_LIST))
    return _cut(json.dumps(value, ensure_ascii=False, default=str))


def _cut(text: str, length: int = _MAX_VALUE) -> str:
    if len(text) <= length:
        return text
    return text[: length - 1] + "…"


def _find_faults(error: Any, root: str) -> Iterable[Fault]:
    here = error.absolute_path
    match error.validator:
        case "anyOf" | "oneOf" if error.context:
            return _report_alternatives(error, root)
        case "type" if isinstance(error.instance, str) and read_names(error.schema):
            return []  # the error of `enum` says it all
        case "required":
            missing = [name for name in error.validator_value if name not in error.instance]
            return [(format_place(root, (*here, name)), say("is missing")) for name in missing]
        case "additionalProperties" if error.validator_value is False:
            return _report_unknown_members(error, root)
    return [(format_place(root, here), _write_sentence(error))]


def _find_schema(error: Any) -> SchemaNode:
    """Return the schema that made *error*."""
    return SchemaGraph(error.schema).root


def _report_unknown_members(error: Any, root: str) -> Iterator[Fault]:
    known = list(_find_schema(error).properties)
    for name in _list_unexpected(error):  # lazily: of thousands of names, few are looked up
        hint = _name_known(name, known)
        yield format_place(root, (*error.absolute_path, name)), say("is unknown; {hint}", hint=hint)


def _list_unexpected(error: Any) -> list[str]:
    from .bounded_validator import Budget, CannotJudge, list_unexpected

    try:
        return list_unexpected(error.instance, error.schema, Budget().spend)
    except CannotJudge:
        known = _find_schema(error).properties
        return [name for name in error.instance if name not in known]


def _name_known(name: str, known: Sequence[str]) -> str:
    if not known:
        return say("nothing is taken here")
    close = find_closest(_cut(name), known, 3)
    others = [name for name in known if name not in close]
    names = _join_some([*close, *others])
    if not close:  # no sentence has ended
        return say("known here: {names}", names=names)
    question = say("did you mean {name}? ", name=close[0])
    return question + say("Known here: {names}", names=names)


def _report_alternatives(error: Any, root: str) -> Iterable[Fault]:
    """Return the faults of the alternative that the value was probably meant for, or all types that
    would do.
    """
    meant = []
    for branch in _group_by_branch(error):
        if not any(_is_about_type(inner, error) for inner in branch):
            meant.append(branch)
    if not meant:
        return _report_wrong_type(error, root)
    if len(meant) > 1 and all(_is_enum(branch, error) for branch in meant):
        allowed: list[Any] = []
        for branch in meant:
            allowed += branch[0].validator_value
        value, values = format_value(error.instance), _list_values(allowed)
        none = say("{value} is not one of {values}", value=value, values=values)
        return [(format_place(root, error.absolute_path), none)]
    best = min(meant, key=lambda branch: _measure_distance(branch, error))
    return _find_all_faults(best, root)


def _group_by_branch(error: Any) -> Iterable[list[Any]]:
    """Return the errors of each alternative."""
    branches: dict[int, list[Any]] = {}
    for inner in error.context:
        # jsonschema does not say which branch it was that is `false`.
        branch = inner.schema_path[0] if inner.schema_path else -1
        branches.setdefault(branch, []).append(inner)
    return branches.values()


def _report_wrong_type(error: Any, root: str) -> Iterable[Fault]:
    """Return the fault of a value that has the type of no alternative."""
    kinds: dict[str, None] = {}
    for inner in error.context:
        if _is_about_type(inner, error):
            kinds[_name_types(inner.validator_value)] = None
    if len(kinds) == 1:
        return _find_faults(error.context[0], root)
    value, listed = format_value(error.instance), say(" nor ").join(kinds)
    neither = say("{value} is neither {kinds}", value=value, kinds=listed)
    return [(format_place(root, error.absolute_path), neither)]


def _is_about_type(inner: Any, outer: Any) -> bool:
    if inner.validator != "type" or _measure_depth(inner, outer) > 0:
        return False
    # A text may be the name of a member of an enumeration.
    return not (isinstance(inner.instance, str) and read_names(inner.schema))


def _is_enum(branch: list[Any], outer: Any) -> bool:
    """Return whether all that *branch* lacks is one of its values."""
    first = branch[0]
    return len(branch) == 1 and first.validator == "enum" and _measure_depth(first, outer) == 0


def _measure_distance(branch: list[Any], outer: Any) -> tuple[int, int, int]:
    """Return how far the value is from the alternative of *branch*; the least was meant."""
    missing_marks = 0
    deepest = 0
    for inner in branch:
        missing_marks += _tells_apart(inner, outer)
        deepest = max(deepest, _measure_depth(inner, outer))
    return missing_marks, len(branch), -deepest


def _tells_apart(inner: Any, outer: Any) -> bool:
    """Whether *inner* says that the value lacks what this alternative is known by: a member, or a
    constant in one.
    """
    depth = _measure_depth(inner, outer)
    if inner.validator == "required":
        return depth == 0
    return inner.validator == "const" and depth <= 1


def _measure_depth(inner: Any, outer: Any) -> int:
    """Return how many levels the place of *inner* is below that of *outer*."""
    return len(inner.absolute_path) - len(outer.absolute_path)


def _name_types(wanted: Any) -> str:
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    kinds = [say(_WITH_ARTICLE.get(name, "{name}"), name=name) for name in names]
    return say(" or ").join(kinds)


_WITH_ARTICLE = {
    "integer": "an integer",
    "number": "a number",
    "string": "a string",
    "boolean": "a boolean",
    "array": "an array",
    "object": "an object",
    "null": "null",
}


def _list_values(values: Sequence[Any]) -> str:
    # One more than is shown tells that there are more.
    return _join_some([format_value(value) for value in values[: _MAX_LIST + 1]])


def _join_some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MAX_LIST])
    if len(names) > _MAX_LIST:
        return f"{shown}, …"
    return shown


_FORMATS = {
    "date-time": "a date-time with its offset, such as 2026-03-01T09:00:00Z",
    "date": "a date, such as 2026-03-01",
    "time": "a time with its offset, such as 09:00:00Z",
    "duration": "an ISO 8601 duration, such as P1DT2H30M",
    "uuid": "a UUID, such as 123e4567-e89b-12d3-a456-426614174000",
}


def _write_sentence(error: Any) -> str:
    keyword, instance, wanted = error.validator, error.instance, error.validator_value
    match keyword:
        case "type":
            wanted = _name_types(wanted)
        case "const":
            wanted = format_value(wanted)
        case "enum":
            keyword = "enum" if len(wanted) > 1 else "const"
            wanted = _list_choices(wanted, error)
        case "pattern" if len(wanted) > _MAX_PATTERN and _is_described(error):
            keyword = "description"
            wanted = _cut(_find_schema(error).description, 4 * _MAX_VALUE)
        case "format":
            wanted = say(_FORMATS.get(wanted, "of the format {name}"), name=wanted)
    if keyword not in _TEMPLATES:
        return str(error.message[:300])
    value = format_value(instance)
    count = 0
    if isinstance(instance, list | dict):
        count = len(instance)
    return say(_TEMPLATES[keyword], value=value, wanted=wanted, values=wanted, count=count)


def _list_choices(values: Sequence[Any], error: Any) -> str:
    named = with_names(values, read_names(error.schema))
    if not named:
        return _list_values(values)
    return write_listing(named[:_MAX_LIST]).removesuffix(".")


def _is_described(error: Any) -> bool:
    return isinstance(error.schema.get("description"), str)


_TEMPLATES = {
    **dict.fromkeys(("type", "const", "format"), "{value} is not {wanted}"),
    "enum": "{value} is not one of {values}",
    "pattern": "{value} does not match the pattern {wanted}",
    "description": "{value} does not fit the description: {wanted}",
    "minimum": "{value} is less than {wanted}",
    "maximum": "{value} is greater than {wanted}",
    "exclusiveMinimum": "{value} is not greater than {wanted}",
    "exclusiveMaximum": "{value} is not less than {wanted}",
    "multipleOf": "{value} is not a multiple of {wanted}",
    "minLength": "{value} is shorter than {wanted} characters",
    "maxLength": "{value} is longer than {wanted} characters",
    "minItems": "has {count} items, at least {wanted} are needed",
    "maxItems": "has {count} items, at most {wanted} are taken",
    "minProperties": "has {count} members, at least {wanted} are needed",
    "maxProperties": "has {count} members, at most {wanted} are taken",
    "uniqueItems": "has items that are equal",
}
