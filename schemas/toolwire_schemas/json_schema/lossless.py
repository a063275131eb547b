"""Reads arguments as models send them: JSON in a string, null for an optional member that takes no
null, and the name of an enumeration's member.

Strategy. The errors of the validator name the places that do not fit. Only these are read again: a
string of JSON where the schema takes no string, as its value, null as nothing, and a name as the
value that has it. The result is validated again, since it may contain further strings. So a value
that fits is never changed, every keyword of JSON Schema counts, and the work is at most a few
validations.
"""

from __future__ import annotations

import json
from decimal import Decimal
from functools import reduce
from itertools import islice
from operator import getitem
from typing import TYPE_CHECKING, Any

import msgspec

from ..wire.codec import MAX_DIGITS, DecodingError, decode
from .error_text import MAX_FAULTS, place, shown
from .member_names import names_in, with_names

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Sequence

    Names = dict[str, Any]
    Path = tuple[str | int, ...]
    Places = dict[Path, Any]
    """The value that is read at each place."""

_MAX_SCALAR = 2 * MAX_DIGITS
_MAX_ROUNDS = 8
"""Levels of JSON in JSON. Each round reads as many places as the validator reports, a thousand."""


class ABSENT:
    """What null means for an optional member that takes no null."""


class Reading(msgspec.Struct, frozen=True):
    """A value with some places read again; *changes* has what was sent there, and what was read.

    The next reading changes the same objects.
    """

    value: Any
    changes: dict[tuple[str | int, ...], tuple[Any, Any]]

    def describe(self, root: str) -> str:
        """Return the changes as one line, long values cut, at most ten of them."""
        lines = [
            f"{place(root, path)}: {shown(sent)} "
            + ("left out" if meant is ABSENT else f"read as {shown(meant)}")
            for path, (sent, meant) in islice(self.changes.items(), MAX_FAULTS)
        ]
        more = len(self.changes) - len(lines)
        return "; ".join([*lines, *([f"{more} more"] if more else [])])


def readings(
    value: Any,
    errors: list[Any],
    validate: Callable[[Any], list[Any]],
    choices: Sequence[Names] = (),
) -> Iterator[Reading]:
    """Yield what *value* may mean; each reading has more changes than the one before, and the last
    may fit.

    *errors* are those of *validate* about the value, which is not changed itself. *choices* are
    enumerations whose names the schema may not have: their values by their names. Besides the
    errors of *validate*, a value that is nested too deeply raises a RecursionError.
    """
    changes: dict[Path, tuple[Any, Any]] = {}
    for _ in range(_MAX_ROUNDS):
        found = _places_of(value, errors, choices)
        if not found:
            return
        value = value if changes else _copied(value)
        for path, meant in found.items():
            sent, _ = changes.get(path, (_at(value, path), None))
            changes[path] = sent, meant
            value = _with(value, path, meant)
        yield Reading(value, changes)
        errors = validate(value)


def read(value: Any, errors: list[Any], validate: Callable[[Any], list[Any]]) -> Reading | None:
    """Return the first reading of *value* that fits by *validate*, whose *errors* are about the
    value; `None` without.

    Raises what `readings` raises.
    """
    for reading in readings(value, errors, validate):
        if not validate(reading.value):
            return reading
    return None


def is_read(value: Any, validate: Callable[[Any], list[Any]]) -> bool:
    """Return whether *value* has a reading that fits by *validate*."""
    try:
        return read(value, validate(value), validate) is not None
    except RecursionError:
        return False


def unread(errors: list[Any], left: list[Any], changes: Container[Path]) -> list[Any]:
    """Return those of *errors*, about a value as it was sent, that its last reading did not settle.

    *left* are the errors about that reading, and *changes* its places. An error that only the
    reading brought, such as equal items, is returned too. One at a place that was read, as a number
    too small, replaces that about its text.
    """
    prefixes = [(error, _prefixes(error)) for error in left]
    wrong: set[Path] = set().union(*(found for _, found in prefixes))
    wrong -= set().union(
        *(found for error, found in prefixes if tuple(error.absolute_path) in changes)
    )
    kept = [error for error in errors if tuple(error.absolute_path) in wrong]
    describe = {tuple(error.absolute_path) for error in kept}
    return kept + [error for error, found in prefixes if found.isdisjoint(describe)]


def _prefixes(error: Any) -> set[Path]:
    """Return the place of *error*, or of the members that are missing, and all places around it."""
    here: Path = tuple(error.absolute_path)
    found = {here[:length] for length in range(len(here) + 1)}
    if error.validator == "required":
        found |= {(*here, name) for name in error.validator_value if name not in error.instance}
    return found


def _places_of(value: Any, errors: list[Any], choices: Sequence[Names]) -> Places:
    found: Places = {}
    known = _Known(choices, {})
    for error in errors:
        if error.instance is _at(value, error.absolute_path):  # else it is the name of a member
            found |= _read(error, known) or {}
    return found


class _Known(msgspec.Struct, frozen=True):
    """The *choices* of `readings`, and the meanings of *texts* that were read already."""

    choices: Sequence[Names]
    texts: dict[Any, Any]


def _read(error: Any, known: _Known) -> Places | None:
    """Return what to read where, so that *error* may be gone; `None` if nothing helps."""
    path, sent = tuple(error.absolute_path), error.instance
    if sent is None:
        return {path: ABSENT} if _is_declared(error, path) else None
    if not isinstance(sent, str):
        return _of_branches(error, known) if error.context and error.validator in _UNIONS else None
    named = _members_called(sent, error, known.choices)
    as_json = _read_text(error, known.texts)
    if not named:
        return as_json
    return {path: named[0]} if len(named) == 1 and as_json is None else None


def _members_called(name: str, error: Any, choices: Sequence[Names]) -> list[Any]:
    """Return the different values that *name* may mean where *error* is."""
    found: list[Any] = []
    if error.validator in ("enum", "const", "type"):
        schema = error.schema
        allowed = [schema["const"]] if "const" in schema else schema.get("enum", [])
        for names in (*choices, names_in(error.schema)):
            if name in names and with_names(allowed, {name: names[name]}):
                found.append(names[name])
    elif error.validator in _UNIONS:
        for inner in error.context or ():
            if inner.absolute_path == error.absolute_path:
                found += _members_called(name, inner, choices)
    different: list[Any] = []
    for value in found:
        if not with_names(different, {name: value}):
            different.append(value)
    return different


def _read_text(error: Any, texts: dict[Any, Any]) -> Places | None:
    path, sent = tuple(error.absolute_path), error.instance
    if (wanted := _wanted(error)) is None:
        return None
    key = path, wanted  # the branches of a union ask for the same again and again
    if key not in texts:
        texts[key] = _meaning(sent, wanted | {"absent"} if _is_declared(error, path) else wanted)
    return None if texts[key] is _UNREADABLE else {path: texts[key]}


def _of_branches(error: Any, known: _Known) -> Places | None:
    """Return what to read for the branch of a union that takes the fewest changes; `None` if two
    such differ.
    """
    possible: list[Places] = []
    for branch in _branches(error):
        every = [_read(inner, known) for inner in branch]
        if None not in every:
            possible.append(
                {path: meant for places in every if places for path, meant in places.items()}
            )
    best = min(possible, key=len, default=None)
    is_only = all(
        places.keys() == best.keys() for places in possible if best and len(places) == len(best)
    )
    return best if is_only else None


def _branches(error: Any) -> Iterable[list[Any]]:
    found: dict[Any, list[Any]] = {}
    for inner in error.context:
        # As in `error_text`: jsonschema does not say which branch is `false`.
        found.setdefault(inner.schema_path[0] if inner.schema_path else -1, []).append(inner)
    return found.values()


def _wanted(error: Any) -> frozenset[str] | None:
    """Return the types that the place of *error*, a string, takes; `None` if some string may fit
    there.
    """
    keyword, words = error.validator, error.validator_value
    types: set[str] = set()
    if keyword == "type":
        types = {words} if isinstance(words, str) else set(words)
    elif keyword in ("enum", "const"):
        types = set().union(*map(_types, words if keyword == "enum" else [words]))
    elif keyword in _UNIONS and error.context:
        for branch in _branches(error):
            settled = [taken for inner in branch if (taken := _wanted(inner)) is not None]
            if not settled:
                return None
            types |= settled[0]
    else:
        return None
    return None if "string" in types else frozenset(types)


def _is_declared(error: Any, path: Path) -> bool:
    """True if the place of *error* is a member that the schema names. Whether it is required shows
    later.
    """
    steps = list(error.absolute_schema_path)[:-1]
    return any(
        steps[at : at + 2] == ["properties", *path[-1:]]
        and all(step in _SAME_PLACE or isinstance(step, int) for step in steps[at + 2 :])
        for at in range(len(steps) - 1)
    )


def _meaning(text: str, wanted: frozenset[str]) -> Any:
    """Return the value of *text* if it is JSON of a *wanted* type."""
    if len(text) > _MAX_SCALAR and wanted.isdisjoint(("array", "object")):
        return _UNREADABLE
    try:
        value = decode(text)
        json.loads(
            text, object_pairs_hook=_unique, parse_float=_exact
        )  # what msgspec does not check
    except (DecodingError, ValueError, ArithmeticError, RecursionError):
        return _UNREADABLE
    if _types(value).isdisjoint(wanted):
        return _UNREADABLE
    return ABSENT if value is None and "null" not in wanted else value


def _types(value: Any) -> frozenset[str]:
    if type(value) is float and value.is_integer():
        value = int(value)
    return _TYPES_OF.get(type(value), _TYPES_OF[str])


def _unique(members: list[tuple[str, Any]]) -> None:
    if len(dict(members)) < len(members):
        raise ValueError("a name occurs twice")


def _exact(text: str) -> None:
    number = float(text)
    if number.is_integer() and abs(number) <= 2**53 and Decimal(text) != number:
        raise ValueError("its fraction is lost")


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copied(member) for name, member in value.items()}
    return list(map(_copied, value)) if isinstance(value, list) else value


def _at(value: Any, path: Iterable[str | int]) -> Any:
    return reduce(getitem, path, value)


def _with(value: Any, path: Path, meant: Any) -> Any:
    """Put what is *meant* in its place within *value*, and return that; or what is meant, if that
    is the whole.
    """
    if not path:
        return meant
    container = _at(value, path[:-1])
    if meant is ABSENT:
        del container[path[-1]]
    else:
        container[path[-1]] = meant
    return value


_UNREADABLE = object()
_UNIONS = ("anyOf", "oneOf")
_SAME_PLACE = ("anyOf", "oneOf", "allOf", "$ref", "$dynamicRef", "then", "else")
"""Keywords whose schemas apply to the same value."""

_TYPES_OF: dict[type, frozenset[str]] = {
    int: frozenset(("integer", "number")),
    float: frozenset({"number"}),
    bool: frozenset({"boolean"}),
    type(None): frozenset(("null", "absent")),
    str: frozenset({"string"}),
    list: frozenset({"array"}),
    dict: frozenset({"object"}),
}
