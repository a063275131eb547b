"""Finds what in a document does not have the shape of a tool.

Strategy. The published schema `tool-library` decides. Its faults are worded for authors: keys that
exclude or need each other, mistyped keys and unknown words about parameters have sentences of their
own, and a fault that only follows from another one is left out.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from toolwire_schemas.did_you_mean import find_closest
from toolwire_schemas.json_schema.error_text import format_place, format_value
from toolwire_schemas.published import bundle
from toolwire_tools.schema.validator import ToolSchemaValidator

if TYPE_CHECKING:
    from collections.abc import Iterator

    Fault = tuple[str, str]
    """The key, as a path, and the problem."""

LEAST = "`name: ...` and `description: ...`"
"""The least that every tool needs."""

_EXCLUSIVE = (
    ("name", "use_guide"),
    ("parameters", "input_schema"),
    ("command", "function", "executor"),
)
_ASK_FOR_SHELL = "or let a shell run it with shell: true"
_WORDED_HERE = ("allOf", "dependentRequired")


def find_shape_faults(document: Any) -> Iterator[Fault]:
    """Yield each place where *document* does not have the shape of a tool, and the problem."""
    if not isinstance(document, dict):
        yield "", f"{format_value(document)} does not describe a tool, which has at least {LEAST}"
        return
    faults = _make_validator().find_faults(document, "")
    problems = dict(faults)
    mistyped = _find_mistyped_keys(document, problems)
    yield from _find_faults_of_keys(document, set(mistyped.values()))
    unknown: dict[str, str] = {}
    for key, meant in mistyped.items():
        unknown[format_place("", (key,))] = f"is unknown; did you mean {meant}?"
    unknown |= _find_unknown_words(document.get("parameters"), problems)
    yield from unknown.items()
    yield from _find_faults_of_command(document.get("command"), document.get("shell", False))
    places = [*unknown, *problems]
    for key, problem in faults:
        if key not in unknown and not _is_consequence(key, problem, places):
            yield key, _reword(problem)


def _find_faults_of_keys(document: dict[Any, Any], meant: set[str]) -> Iterator[Fault]:
    """Yield the keys that exclude or need each other; *meant* are those of mistyped ones."""
    for keys in _EXCLUSIVE:
        present = [key for key in keys if key in document]
        for other in present[1:]:
            yield other, f"only one of {', '.join(keys)} may be given"
    for key, (needed, *_) in _load_schema()["dependentRequired"].items():
        if key in document and needed not in document and needed not in meant:
            yield key, f"it needs {needed} as well"
    has_name = "name" in document or "use_guide" in document
    if not has_name and "name" not in meant:
        yield "", f"name is missing; a tool has at least {LEAST}"


def _find_faults_of_command(command: Any, is_shell: Any) -> Iterator[Fault]:
    if isinstance(command, str) and is_shell is False:
        problem = "it is one text: write a list of words such as [grep, -n, '{pattern}']"
        yield "command", f"{problem}, {_ASK_FOR_SHELL}"
    if isinstance(command, list) and is_shell is True:
        yield "command", "with shell: true it is one text"


def _is_consequence(key: str, problem: str, places: list[str]) -> bool:
    """Whether the fault at *key* says no more than that there is one below it."""
    if not problem.startswith("Unevaluated "):
        return False
    return any(place.startswith(f"{key}.") for place in places)


def _reword(problem: str) -> str:
    if problem.startswith("null is "):
        return "it is empty, which is " + problem.removeprefix("null is ")
    return problem.replace("Unevaluated properties are not allowed", "there are unknown keys")


def _find_mistyped_keys(document: dict[str, Any], problems: dict[str, str]) -> dict[str, str]:
    """Return the refused keys of a tool that are unknown and resemble a known one, with that."""
    known = list(_load_schema()["properties"])
    mistyped: dict[str, str] = {}
    for key in document:
        if key in known or format_place("", (key,)) not in problems:
            continue
        close = find_closest(key, known)
        if close:
            mistyped[key] = close[0]
    return mistyped


def _find_unknown_words(parameters: Any, problems: dict[str, str]) -> dict[str, str]:
    """Return the problems of unknown words about *parameters*, by their places.

    Words that begin with `x-` are not refused, and so not among them.
    """
    known = list(_load_schema()["$defs"]["parameter-words"]["properties"])
    if isinstance(parameters, list):
        known.insert(0, "name")
    unknown: dict[str, str] = {}
    for where, words in _list_descriptions(parameters):
        for word in words:
            if word in known or repr(word) not in problems.get(where, ""):
                continue
            close = find_closest(word, known)
            advice = "write words of JSON Schema, such as type and description"
            if close:
                advice = f"did you mean {close[0]}?"
            unknown[format_place(where, (word,))] = f"is unknown; {advice}"
    return unknown


def _list_descriptions(parameters: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the place and the words of each parameter that has words."""
    members: Any = ()
    if isinstance(parameters, dict):
        members = parameters.items()
    elif isinstance(parameters, list):
        members = enumerate(parameters)
    for step, words in members:
        if isinstance(words, dict):
            yield format_place("", ("parameters", step)), words


@cache
def _load_schema() -> dict[str, Any]:
    """Return the schema of one tool."""
    library = bundle("tool-library")
    del library["anyOf"]
    return {**library, **library["$defs"]["entry"]}


@cache
def _make_validator() -> ToolSchemaValidator:
    schema = dict(_load_schema())
    for word in _WORDED_HERE:  # with better sentences than the validator's
        schema.pop(word, None)
    return ToolSchemaValidator(schema)
