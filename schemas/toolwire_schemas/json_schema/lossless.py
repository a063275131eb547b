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
from .error_text import MAX_FAULTS, format_place, format_value
from .member_names import read_names, with_names
from .subschemas import COMBINING

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
        lines = []
        for path, (sent, meant) in islice(self.changes.items(), MAX_FAULTS):
            result = "left out"
            if meant is not ABSENT:
                result = f"read as {format_value(meant)}"
            lines.append(f"{format_place(root, path)}: {format_value(sent)} {result}")
        more = len(self.changes) - len(lines)
        if more:
            lines.append(f"{more} more")
        return "; ".join(lines)


def generate_readings(
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
        found = _find_places_in(value, errors, choices)
        if not found:
            return
        value = value if changes else _copy(value)
        for path, meant in found.items():
            sent, _ = changes.get(path, (_get_at(value, path), None))
            changes[path] = sent, meant
            value = _put(value, path, meant)
        yield Reading(value, changes)
        errors = validate(value)


def read(value: Any, errors: list[Any], validate: Callable[[Any], list[Any]]) -> Reading | None:
    """Return the first reading of *value* that fits by *validate*, whose *errors* are about the
    value; `None` without.

    Raises what `readings` raises.
    """
    for reading in generate_readings(value, errors, validate):
        if not validate(reading.value):
            return reading
    return None


def is_read(value: Any, validate: Callable[[Any], list[Any]]) -> bool:
    """Return whether *value* has a reading that fits by *validate*."""
    try:
        return read(value, validate(value), validate) is not None
    except RecursionError:
        return False


def list_unread(errors: list[Any], left: list[Any], changes: Container[Path]) -> list[Any]:
    """Return those of *errors*, about a value as it was sent, that its last reading did not settle.

    *left* are the errors about that reading, and *changes* its places. An error that only the
    reading brought, such as equal items, is returned too. One at a place that was read, as a number
    too small, replaces that about its text.
    """
    wrong: set[Path] = set()
    read_wrongly: set[Path] = set()
    for error in left:
        around = _find_places_around(error)
        wrong |= around
        if tuple(error.absolute_path) in changes:
            read_wrongly |= around
    wrong -= read_wrongly
    kept = [error for error in errors if tuple(error.absolute_path) in wrong]
    described = {tuple(error.absolute_path) for error in kept}
    new = [error for error in left if _find_places_around(error).isdisjoint(described)]
    return kept + new


def _find_places_around(error: Any) -> set[Path]:
    """Return the place of *error*, or of the members that are missing, and all places around it."""
    here: Path = tuple(error.absolute_path)
    found = {here[:length] for length in range(len(here) + 1)}
    if error.validator == "required":
        missing = [name for name in error.validator_value if name not in error.instance]
        found |= {(*here, name) for name in missing}
    return found


# --- what to read where ---------------------------------------------------------------------------


class _Known(msgspec.Struct, frozen=True):
    """The *choices* of `readings`, and the meanings of *texts* that were read already."""

    choices: Sequence[Names]
    texts: dict[Any, Any]


def _find_places_in(value: Any, errors: list[Any], choices: Sequence[Names]) -> Places:
    found: Places = {}
    known = _Known(choices, {})
    for error in errors:
        if error.instance is _get_at(value, error.absolute_path):  # else it is the name of a member
            found |= _find_places_for(error, known) or {}
    return found


def _find_places_for(error: Any, known: _Known) -> Places | None:
    """Return what to read where, so that *error* may be gone; `None` if nothing helps."""
    path, sent = tuple(error.absolute_path), error.instance
    if sent is None:
        if not _is_declared(error, path):
            return None
        return {path: ABSENT}
    if isinstance(sent, str):
        return _find_places_for_text(error, known)
    if error.context and error.validator in _UNIONS:
        return _find_places_for_union(error, known)
    return None


def _find_places_for_text(error: Any, known: _Known) -> Places | None:
    named = _find_members_called(error.instance, error, known.choices)
    as_json = _find_places_for_json(error, known.texts)
    if not named:
        return as_json
    is_clear = len(named) == 1 and as_json is None
    if not is_clear:
        return None
    return {tuple(error.absolute_path): named[0]}


def _find_members_called(name: str, error: Any, choices: Sequence[Names]) -> list[Any]:
    """Return the different values that *name* may mean where *error* is."""
    found: list[Any] = []
    if error.validator in ("enum", "const", "type"):
        schema = error.schema
        allowed = [schema["const"]] if "const" in schema else schema.get("enum", [])
        for names in (*choices, read_names(error.schema)):
            if name in names and with_names(allowed, {name: names[name]}):
                found.append(names[name])
    elif error.validator in _UNIONS:
        for inner in error.context or ():
            if inner.absolute_path == error.absolute_path:
                found += _find_members_called(name, inner, choices)
    different: list[Any] = []
    for value in found:
        if not with_names(different, {name: value}):
            different.append(value)
    return different


def _find_places_for_json(error: Any, texts: dict[Any, Any]) -> Places | None:
    path, wanted = tuple(error.absolute_path), _find_wanted_types(error)
    if wanted is None:
        return None
    key = path, wanted  # the branches of a union ask for the same again and again
    if key not in texts:
        is_optional = _is_declared(error, path)
        texts[key] = _read_meaning(error.instance, wanted | {"absent"} if is_optional else wanted)
    if texts[key] is _UNREADABLE:
        return None
    return {path: texts[key]}


def _find_places_for_union(error: Any, known: _Known) -> Places | None:
    """Return what to read for the branch of a union that takes the fewest changes; `None` if two
    such differ.
    """
    possible = []
    for branch in _group_by_branch(error):
        places = _find_places_for_branch(branch, known)
        if places is not None:
            possible.append(places)
    if not possible:
        return None
    best = min(possible, key=len)
    for places in possible:
        if len(places) == len(best) and places.keys() != best.keys():
            return None
    return best


def _find_places_for_branch(branch: list[Any], known: _Known) -> Places | None:
    found: Places = {}
    for inner in branch:
        places = _find_places_for(inner, known)
        if places is None:
            return None
        found |= places
    return found


def _group_by_branch(error: Any) -> Iterable[list[Any]]:
    found: dict[Any, list[Any]] = {}
    for inner in error.context:
        # As in `error_text`: jsonschema does not say which branch is `false`.
        branch = inner.schema_path[0] if inner.schema_path else -1
        found.setdefault(branch, []).append(inner)
    return found.values()


def _find_wanted_types(error: Any) -> frozenset[str] | None:
    """Return the types that the place of *error*, a string, takes; `None` if some string may fit
    there.
    """
    keyword, words = error.validator, error.validator_value
    types: set[str] | None = None
    if keyword == "type":
        types = {words} if isinstance(words, str) else set(words)
    elif keyword == "enum":
        types = set().union(*map(_list_types, words))
    elif keyword == "const":
        types = set(_list_types(words))
    elif keyword in _UNIONS and error.context:
        types = _find_types_of_branches(error)
    if types is None or "string" in types:
        return None
    return frozenset(types)


def _find_types_of_branches(error: Any) -> set[str] | None:
    types: set[str] = set()
    for branch in _group_by_branch(error):
        settled = [taken for inner in branch if (taken := _find_wanted_types(inner)) is not None]
        if not settled:
            return None
        types |= settled[0]
    return types


def _is_declared(error: Any, path: Path) -> bool:
    """True if the place of *error* is a member that the schema names. Whether it is required shows
    later.
    """
    steps = list(error.absolute_schema_path)[:-1]
    for at in range(len(steps) - 1):
        is_member = steps[at : at + 2] == ["properties", *path[-1:]]
        if is_member and all(map(_is_in_place, steps[at + 2 :])):
            return True
    return False


def _is_in_place(step: str | int) -> bool:
    return step in _SAME_PLACE or isinstance(step, int)


# --- values ---------------------------------------------------------------------------------------


def _read_meaning(text: str, wanted: frozenset[str]) -> Any:
    """Return the value of *text* if it is JSON of a *wanted* type."""
    if len(text) > _MAX_SCALAR and wanted.isdisjoint(("array", "object")):
        return _UNREADABLE
    try:
        value = decode(text)
        json.loads(
            text, object_pairs_hook=_refuse_duplicates, parse_float=_refuse_inexact
        )  # what msgspec does not check
    except (DecodingError, ValueError, ArithmeticError, RecursionError):
        return _UNREADABLE
    if _list_types(value).isdisjoint(wanted):
        return _UNREADABLE
    if value is None and "null" not in wanted:
        return ABSENT
    return value


def _list_types(value: Any) -> frozenset[str]:
    if type(value) is float and value.is_integer():
        value = int(value)
    return _TYPES_OF.get(type(value), _TYPES_OF[str])


def _refuse_duplicates(members: list[tuple[str, Any]]) -> None:
    if len(dict(members)) < len(members):
        raise ValueError("a name occurs twice")


def _refuse_inexact(text: str) -> None:
    number = float(text)
    if number.is_integer() and abs(number) <= 2**53 and Decimal(text) != number:
        raise ValueError("its fraction is lost")


def _copy(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _copy(member) for name, member in value.items()}
    if isinstance(value, list):
        return list(map(_copy, value))
    return value


def _get_at(value: Any, path: Iterable[str | int]) -> Any:
    return reduce(getitem, path, value)


def _put(value: Any, path: Path, meant: Any) -> Any:
    """Put what is *meant* in its place within *value*, and return that; or what is meant, if that
    is the whole.
    """
    if not path:
        return meant
    container = _get_at(value, path[:-1])
    if meant is ABSENT:
        del container[path[-1]]
    else:
        container[path[-1]] = meant
    return value


_UNREADABLE = object()
_UNIONS = ("anyOf", "oneOf")
_SAME_PLACE = COMBINING | {"anyOf", "oneOf", "$dynamicRef", "then", "else"}
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
