"""Turns jsonschema's errors into sentences from which a language model can correct its call."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any

from ..did_you_mean import closest
from ..language import say
from .member_names import listing, names_in, with_names

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Fault = tuple[str, str]
"""A place, such as `arguments.items[2].count`, and what is wrong there."""

MAX_FAULTS = 10
_MAX_COUNTED = 100
_MAX_VALUE = 80
_MAX_PATTERN = 60  # a longer one says less than the description
_MAX_LIST = 30


def word_errors(errors: Iterable[Any], root: str) -> list[Fault]:
    """Return jsonschema's errors as faults, without repetitions, at most ten and a line that says
    how many more.
    """
    every = (fault for error in errors for fault in _faults(error, root))
    faults = list(dict.fromkeys(islice(every, _MAX_COUNTED)))
    if len(faults) > MAX_FAULTS:  # the exact count of a long list of bad items does not help
        more = say("many") if next(every, None) else len(faults) - MAX_FAULTS
        faults = [*faults[:MAX_FAULTS], (root, say("{count} more faults of this kind", count=more))]
    return faults


def place(root: str, path: Iterable[str | int]) -> str:
    """Return *path* written as in `arguments.items[2].count`."""
    written = root
    for step in path:
        if isinstance(step, int):
            written += f"[{step}]"
        else:
            written += (
                f".{_cut(step)}"
                if step.isidentifier()
                else f"[{json.dumps(_cut(step), ensure_ascii=False)}]"
            )
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


def _faults(error: Any, root: str) -> Iterable[Fault]:
    here = error.absolute_path
    match error.validator:
        case "anyOf" | "oneOf" if error.context:
            return _alternatives(error, root)
        case "type" if isinstance(error.instance, str) and names_in(error.schema):
            return []  # the error of `enum` says it all
        case "required":
            missing = [name for name in error.validator_value if name not in error.instance]
            return [(place(root, (*here, name)), say("is missing")) for name in missing]
        case "additionalProperties" if error.validator_value is False:
            known = list(error.schema.get("properties", ()))
            return (  # lazily: of thousands of names, few are looked up
                (place(root, (*here, name)), say("is unknown; {hint}", hint=_known(name, known)))
                for name in _unexpected(error)
            )
    return [(place(root, here), _sentence(error))]


def _unexpected(error: Any) -> list[str]:
    from .bounded_validator import Budget, CannotJudge, unexpected

    try:
        return unexpected(error.instance, error.schema, Budget().spend)
    except CannotJudge:
        return [name for name in error.instance if name not in error.schema.get("properties", ())]


def _known(name: str, known: Sequence[str]) -> str:
    if not known:
        return say("nothing is taken here")
    close = closest(_cut(name), known, 3)
    ordered = [*close, *(other for other in known if other not in close)]
    listed = ", ".join(ordered[:_MAX_LIST]) + (", …" if len(ordered) > _MAX_LIST else "")
    question = say("did you mean {name}? ", name=close[0]) if close else ""
    if not question:  # no sentence has ended
        return say("known here: {names}", names=listed)
    return question + say("Known here: {names}", names=listed)


def _alternatives(error: Any, root: str) -> Iterable[Fault]:
    """The faults of the alternative that the value was probably meant for, or all types that would
    do.
    """
    branches: dict[int, list[Any]] = {}
    for inner in error.context:
        # jsonschema does not say which branch it was that is `false`.
        branches.setdefault(inner.schema_path[0] if inner.schema_path else -1, []).append(inner)
    meant = [
        found
        for found in branches.values()
        if not any(_about_type(inner, error) for inner in found)
    ]
    if not meant:
        unique = {
            _types(inner.validator_value): None
            for inner in error.context
            if _about_type(inner, error)
        }
        if len(unique) == 1:
            return _faults(error.context[0], root)
        neither = say(
            "{value} is neither {kinds}",
            value=format_value(error.instance),
            kinds=say(" nor ").join(unique),
        )
        return [(place(root, error.absolute_path), neither)]
    here = len(error.absolute_path)
    are_enums = all(
        [(inner.validator, len(inner.absolute_path)) for inner in found] == [("enum", here)]
        for found in meant
    )
    if are_enums and len(meant) > 1:
        allowed = [value for found in meant for value in found[0].validator_value]
        none = say(
            "{value} is not one of {values}",
            value=format_value(error.instance),
            values=_listed(allowed),
        )
        return [(place(root, error.absolute_path), none)]
    best = min(
        meant,
        key=lambda found: (
            sum(_tells_apart(inner, error) for inner in found),
            len(found),
            -max(len(inner.absolute_path) for inner in found),
        ),
    )
    return [fault for inner in best for fault in _faults(inner, root)]


def _about_type(inner: Any, outer: Any) -> bool:
    is_here = inner.validator == "type" and len(inner.absolute_path) == len(outer.absolute_path)
    return is_here and not (isinstance(inner.instance, str) and names_in(inner.schema))


def _tells_apart(inner: Any, outer: Any) -> bool:
    """Whether *inner* says that the value lacks what this alternative is known by: a member, or a
    constant in one.
    """
    depth = len(inner.absolute_path) - len(outer.absolute_path)
    return (inner.validator == "required" and depth == 0) or (
        inner.validator == "const" and depth <= 1
    )


def _types(wanted: Any) -> str:
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    return say(" or ").join(say(_WITH_ARTICLE.get(name, "{name}"), name=name) for name in names)


_WITH_ARTICLE = {
    "integer": "an integer",
    "number": "a number",
    "string": "a string",
    "boolean": "a boolean",
    "array": "an array",
    "object": "an object",
    "null": "null",
}


def _listed(values: Sequence[Any]) -> str:
    listed = ", ".join(format_value(value) for value in values[:_MAX_LIST])
    return listed + (", …" if len(values) > _MAX_LIST else "")


_FORMATS = {
    "date-time": "a date-time with its offset, such as 2026-03-01T09:00:00Z",
    "date": "a date, such as 2026-03-01",
    "time": "a time with its offset, such as 09:00:00Z",
    "duration": "an ISO 8601 duration, such as P1DT2H30M",
    "uuid": "a UUID, such as 123e4567-e89b-12d3-a456-426614174000",
}


def _sentence(error: Any) -> str:
    keyword, instance, wanted = error.validator, error.instance, error.validator_value
    match keyword:
        case "type":
            wanted = _types(wanted)
        case "const":
            wanted = format_value(wanted)
        case "enum":
            keyword = "enum" if len(wanted) > 1 else "const"
            named = with_names(wanted, names_in(error.schema))
            wanted = listing(named[:_MAX_LIST]).removesuffix(".") if named else _listed(wanted)
        case "pattern" if len(wanted) > _MAX_PATTERN and isinstance(
            error.schema.get("description"), str
        ):
            keyword, wanted = "description", _cut(error.schema["description"], 4 * _MAX_VALUE)
        case "format":
            wanted = say(_FORMATS.get(wanted, "of the format {name}"), name=wanted)
    if keyword not in _TEMPLATES:
        return str(error.message[:300])
    count = len(instance) if isinstance(instance, list | dict) else 0
    return say(
        _TEMPLATES[keyword], value=format_value(instance), wanted=wanted, values=wanted, count=count
    )


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
