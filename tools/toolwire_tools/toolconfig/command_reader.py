"""The command line in a tool's YAML, read and checked against the tool's parameters before anything runs.

Strategy. Faults of places are reported when the file is read: one that names no parameter, one for an argument
that a call may leave out, a parameter that stands nowhere. So a call can go wrong only by its values.
"""

from __future__ import annotations

import os
import re
import shlex
from typing import TYPE_CHECKING, Any

from toolwire_schemas.did_you_mean import unknown_name
from toolwire_schemas.json_schema.error_text import shown

from ..byte_sizes import size
from .command import DEFAULT_MAX_OUTPUT_BYTES, EVERYTHING, Command, Template, parse
from .parameters import defaults

if TYPE_CHECKING:
    from .yaml_document import Document, Path

KEYS = ("stdin", "env", "cwd", "output", "success", "max_output", "allow_leading_dash")
"""Keys that belong to `command`."""

OUTPUTS = ("text", "json")


def command(document: Document, schema: dict[str, Any], folder: str) -> Command | None:
    """The command that *document* binds its tool to; None if there are faults, which are added to the document's.

    *schema* is that of the arguments; paths are relative to *folder*.
    """
    before = len(document.faults)
    made = _Reading(document, schema, folder).command()
    return made if len(document.faults) == before else None


def _no_list(given: Any) -> str:
    """A clause that says which list of words was meant."""
    example = "[grep, -n, '{pattern}']"
    if not isinstance(given, str) or not given.strip():
        return f"{shown(given)} is no list of words such as {example}"
    if any(sign in given for sign in "|&;<>$`*\n"):
        return f"there is no shell for {shown(given)}; write a list of words such as {example}, or put it in a script"
    try:
        words = shlex.split(given)
    except ValueError:  # a quotation mark without the other
        words = given.split()
    listed = ", ".join(word if _PLAIN.fullmatch(word) else "'" + word.replace("'", "''") + "'" for word in words)
    return f"{shown(given)} is one text, and there is no shell to split it; write its words as a list: [{listed}]"


_PLAIN = re.compile(r"(?!(?i:true|false|yes|no|on|off|null|y|n)$)-{0,2}[A-Za-z/.][\w./-]*")
"""Words that YAML reads as text also without quotes."""


class _Reading:
    def __init__(self, document: Document, schema: dict[str, Any], folder: str) -> None:
        self._document = document
        self._given: dict[str, Any] = document.value
        self._folder = folder
        properties, required = schema.get("properties"), schema.get("required")
        self._properties: dict[str, Any] = properties if isinstance(properties, dict) else {}
        self._defaults = defaults(schema)
        self._certain = {*self._defaults, EVERYTHING, *(map(str, required) if isinstance(required, list) else ())}
        self._used: set[str] = set()

    def command(self) -> Command:
        program, words = self._command_line()
        made = Command(
            program=program,
            words=words,
            cwd=self._cwd(),
            stdin=self._template(self._given["stdin"], ("stdin",)) if "stdin" in self._given else None,
            env=self._env(),
            defaults=self._defaults,
            dashes=self._dashes(),
            output=self._output(),
            success=self._success(),
            max_output_bytes=self._max_output(),
        )
        self._refuse_unused()
        return made

    def _add(self, path: Path, problem: str) -> None:
        self._document.add(path, problem)

    def _command_line(self) -> tuple[str, tuple[Template | tuple[Template, ...], ...]]:
        given = self._given["command"]
        if not isinstance(given, list) or not given:
            self._add(("command",), _no_list(given))
            return "", ()
        first = self._template(given[0], ("command", 0))
        program = first.fill({}) or ""
        if first.places:
            self._add(("command", 0), "what runs cannot come from an argument; name the program")
        elif not program:
            self._add(("command", 0), "the program has no name")
        elif os.path.dirname(program):
            program = os.path.join(self._folder, program)
        words = [self._word(word, ("command", index)) for index, word in enumerate(given[1:], 1)]
        return program, tuple(words)

    def _word(self, word: Any, path: Path) -> Template | tuple[Template, ...]:
        if not isinstance(word, list):
            return self._template(word, path)
        group = tuple(self._template(inner, (*path, index), may_be_absent=True) for index, inner in enumerate(word))
        if all(place.name in self._certain for template in group for place in template.places):
            self._add(path, "a list among the words is left out if an argument is absent, but none in it can be")
        return group

    def _template(self, text: Any, path: Path, *, may_be_absent: bool = False) -> Template:
        if isinstance(text, int) and not isinstance(text, bool):
            text = str(text)
        if not isinstance(text, str):
            self._add(path, f"{shown(text)} is no text; put it in quotes")
            return Template(())
        if "\0" in text and path[0] != "stdin":
            self._add(path, "it holds a NUL character, which no program can be given this way")
        try:
            template = parse(text)
        except ValueError as error:
            self._add(path, str(error))
            return Template(())
        for place in template.places:
            if place.name != EVERYTHING and place.name not in self._properties:
                hint = "; write {{ and }} for braces" if not place.name.isidentifier() else ""
                self._add(path, unknown_name("parameter", place.name, self._properties) + hint)
            elif not (place.optional or may_be_absent or place.name in self._certain):
                remedy = f"write {{{place.name}?}}, put it in a list of its own, or give it a default"
                self._add(path, f"a call may leave out {place.name!r}: {remedy}")
            self._used.add(place.name)
        return template

    def _cwd(self) -> str:
        given = self._given.get("cwd", ".")
        if not isinstance(given, str):
            self._add(("cwd",), f"{shown(given)} is no folder; write its path, relative to this file")
            return ""
        path = os.path.normpath(os.path.join(self._folder, given))
        if not os.path.isdir(path):
            self._add(("cwd",), f"there is no folder {path}")
        return path

    def _env(self) -> dict[str, Template]:
        given = self._given.get("env", {})
        if not isinstance(given, dict):
            self._add(("env",), f"{shown(given)} is no mapping from names of variables to their values")
            return {}
        for name in given:
            if not name or "=" in name or "\0" in name:
                self._add(("env", name), "no variable of the environment can have this name")
        return {name: self._template(value, ("env", name)) for name, value in given.items()}

    def _dashes(self) -> frozenset[str]:
        given = self._given.get("allow_leading_dash", [])
        if not isinstance(given, list):
            self._add(("allow_leading_dash",), f"{shown(given)} is no list of names of parameters")
            return frozenset()
        for index, name in enumerate(given):
            if name not in [*self._properties]:  # it may be anything, a list too
                self._add(("allow_leading_dash", index), unknown_name("parameter", name, self._properties))
        return frozenset(map(str, given))

    def _output(self) -> Any:
        given = self._given.get("output", "text")
        if given not in OUTPUTS:
            self._add(("output",), unknown_name("output", given, OUTPUTS))
        elif given == "text" and "output_schema" in self._given:
            self._add(("output_schema",), "text has no schema; say output: json as well")
        return given

    def _success(self) -> frozenset[int]:
        given = self._given.get("success", [0])
        if not isinstance(given, list) or not given or not all(type(status) is int for status in given):
            self._add(("success",), f"{shown(given)} is no list of exit statuses such as [0, 1]")
            return frozenset()
        return frozenset(given)

    def _max_output(self) -> int:
        given = self._given.get("max_output", DEFAULT_MAX_OUTPUT_BYTES)
        try:
            return size(str(given))
        except ValueError as error:
            self._add(("max_output",), f"{shown(given)} is not {error}")
            return 0

    def _refuse_unused(self) -> None:
        if EVERYTHING in self._used:
            return
        for name in self._properties:
            if name not in self._used:
                said = self._document.value.get("parameters", self._document.value.get("input_schema"))
                remedy = " or, if the tool takes nothing, parameters: {}" if said is None else ""
                problem = f"the parameter {name!r} stands nowhere; write {{{name}}} where it goes{remedy}"
                self._add(("command",), problem)
