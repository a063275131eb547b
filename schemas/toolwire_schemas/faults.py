"""What jsonschema found, in sentences from which a language model can mend its call."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Fault = tuple[str, str]
"""A place, such as `arguments.items[2].count`, and what is wrong there."""

MAX_FAULTS = 10
_MAX_COUNTED = 100
_MAX_VALUE = 80
_MAX_LIST = 30


def worded(errors: Iterable[Any], root: str) -> list[Fault]:
    """Return jsonschema's errors as faults, without repetitions, at most ten and a line that says how many more."""
    found: dict[Fault, None] = {}
    for fault in (fault for error in errors for fault in _faults(error, root)):
        found[fault] = None
        if len(found) > _MAX_COUNTED:  # a long list of bad items: counting them all helps nobody
            break
    faults = list(found)
    if len(faults) > MAX_FAULTS:
        more = f"{len(faults) - MAX_FAULTS}" if len(faults) <= _MAX_COUNTED else "many"
        faults = [*faults[:MAX_FAULTS], (root, f"{more} more faults of this kind")]
    return faults


def place(root: str, path: Iterable[str | int]) -> str:
    """Return *path* written as in `arguments.items[2].count`."""
    written = root
    for step in path:
        if isinstance(step, int):
            written += f"[{step}]"
        else:
            written += f".{_cut(step)}" if step.isidentifier() else f"[{json.dumps(_cut(step), ensure_ascii=False)}]"
    return written


def shown(value: Any) -> str:
    """Return *value* as JSON, cut to a readable length."""
    if isinstance(value, str) and len(value) > 2 * _MAX_VALUE:
        value = value[: 2 * _MAX_VALUE]
    if isinstance(value, list):
        value = value[:_MAX_LIST]
    if isinstance(value, dict):
        value = dict(islice(value.items(), _MAX_LIST))
    return _cut(json.dumps(value, ensure_ascii=False, default=str))


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_VALUE else text[: _MAX_VALUE - 1] + "…"


def _faults(error: Any, root: str) -> Iterable[Fault]:
    if error.validator in ("anyOf", "oneOf") and error.context:
        return _alternatives(error, root)
    where = place(root, error.absolute_path)
    say = _SAY.get(error.validator)
    if error.validator == "required":
        missing = [name for name in error.validator_value if name not in error.instance]
        return [(place(root, (*error.absolute_path, name)), "is missing") for name in missing]
    if error.validator == "additionalProperties" and error.validator_value is False:
        return _unknown(error, root)
    return [(where, say(error) if say else error.message[:300])]


def _unknown(error: Any, root: str) -> Iterator[Fault]:
    known = error.schema.get("properties", {})
    patterns = error.schema.get("patternProperties", {})
    import re

    for name in error.instance:
        if name not in known and not any(re.search(pattern, name) for pattern in patterns):
            yield place(root, (*error.absolute_path, name)), f"is unknown; {_known(name, list(known))}"


def _known(name: str, known: Sequence[str]) -> str:
    if not known:
        return "nothing is taken here"
    import difflib

    close = difflib.get_close_matches(_cut(name), known, n=3, cutoff=0.6)
    ordered = [*close, *(other for other in known if other not in close)]
    listed = ", ".join(ordered[:_MAX_LIST]) + (", …" if len(ordered) > _MAX_LIST else "")
    return (f"did you mean {close[0]}? " if close else "") + f"Known here: {listed}"


def _alternatives(error: Any, root: str) -> Iterable[Fault]:
    """The faults of the alternative that the value was probably meant for, or all types that would do."""
    branches: dict[int, list[Any]] = {}
    for inner in error.context:
        # jsonschema does not say which branch it was that is `false`.
        branches.setdefault(inner.schema_path[0] if inner.schema_path else -1, []).append(inner)
    meant = [found for found in branches.values() if not any(_about_type(inner, error) for inner in found)]
    if not meant:
        wanted = [_article(inner) for found in branches.values() for inner in found if _about_type(inner, error)]
        unique = list(dict.fromkeys(wanted))
        return (
            [(place(root, error.absolute_path), f"{shown(error.instance)} is neither {' nor '.join(unique)}")]
            if len(unique) > 1
            else _faults(error.context[0], root)
        )
    if (
        all(
            len(found) == 1 and found[0].validator == "enum" and len(found[0].absolute_path) == len(error.absolute_path)
            for found in meant
        )
        and len(meant) > 1
    ):
        allowed = [value for found in meant for value in found[0].validator_value]
        return [(place(root, error.absolute_path), f"{shown(error.instance)} is not one of {_listed(allowed)}")]
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
    return inner.validator == "type" and len(inner.absolute_path) == len(outer.absolute_path)


def _tells_apart(inner: Any, outer: Any) -> bool:
    """Whether *inner* says that the value lacks what this alternative is known by: a member, or a constant in one."""
    depth = len(inner.absolute_path) - len(outer.absolute_path)
    return (inner.validator == "required" and depth == 0) or (inner.validator == "const" and depth <= 1)


def _article(error: Any) -> str:
    return _types(error.validator_value)


def _types(wanted: Any) -> str:
    names = [wanted] if isinstance(wanted, str) else list(wanted)
    return " or ".join(_WITH_ARTICLE.get(name, name) for name in names)


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
    listed = ", ".join(shown(value) for value in values[:_MAX_LIST])
    return listed + (", …" if len(values) > _MAX_LIST else "")


_FORMATS = {
    "date-time": "a date-time with its offset, such as 2026-03-01T09:00:00Z",
    "date": "a date, such as 2026-03-01",
    "time": "a time with its offset, such as 09:00:00Z",
    "duration": "an ISO 8601 duration, such as P1DT2H30M",
    "uuid": "a UUID, such as 123e4567-e89b-12d3-a456-426614174000",
}

_SAY: dict[str, Callable[[Any], str]] = {
    "type": lambda e: f"{shown(e.instance)} is not {_types(e.validator_value)}",
    "enum": lambda e: (
        f"{shown(e.instance)} is not {'' if len(e.validator_value) == 1 else 'one of '}{_listed(e.validator_value)}"
    ),
    "const": lambda e: f"{shown(e.instance)} is not {shown(e.validator_value)}",
    "format": lambda e: (
        f"{shown(e.instance)} is not {_FORMATS.get(e.validator_value, f'of the format {e.validator_value}')}"
    ),
    "pattern": lambda e: f"{shown(e.instance)} does not match the pattern {e.validator_value}",
    "minimum": lambda e: f"{shown(e.instance)} is less than {e.validator_value}",
    "maximum": lambda e: f"{shown(e.instance)} is greater than {e.validator_value}",
    "exclusiveMinimum": lambda e: f"{shown(e.instance)} is not greater than {e.validator_value}",
    "exclusiveMaximum": lambda e: f"{shown(e.instance)} is not less than {e.validator_value}",
    "multipleOf": lambda e: f"{shown(e.instance)} is not a multiple of {e.validator_value}",
    "minLength": lambda e: f"{shown(e.instance)} is shorter than {e.validator_value} characters",
    "maxLength": lambda e: f"{shown(e.instance)} is longer than {e.validator_value} characters",
    "minItems": lambda e: f"has {len(e.instance)} items, at least {e.validator_value} are needed",
    "maxItems": lambda e: f"has {len(e.instance)} items, at most {e.validator_value} are taken",
    "minProperties": lambda e: f"has {len(e.instance)} members, at least {e.validator_value} are needed",
    "maxProperties": lambda e: f"has {len(e.instance)} members, at most {e.validator_value} are taken",
    "uniqueItems": lambda _: "has items that are equal",
}
