"""Reads the command line of a tool and what belongs to it."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from toolwire_schemas.did_you_mean import explain_unknown_name
from toolwire_schemas.json_schema.error_text import format_value
from toolwire_tools.byte_sizes import parse_size

from .command import (
    DEFAULT_MAX_OUTPUT_BYTES,
    EVERYTHING,
    Place,
    ToolCommand,
    WordTemplate,
    find_unquoted,
    parse_word,
)

if TYPE_CHECKING:
    from .document import YamlDocument
    from .model import ToolConfig

    Words = list[WordTemplate | tuple[WordTemplate, ...]]

# Names in capitals have a meaning for the system, such as PATH.
_VARIABLE = re.compile(r"[a-z_]\w*", re.ASCII)
_UNQUOTABLE_TYPES = ("integer", "number", "boolean")
"""Types whose values a shell never splits into words."""

_INSTRUCTION: dict[str, Any] = {"properties": {"instruction": {}}, "required": ["instruction"]}
"""The schema of a tool that describes no parameters: it takes one text."""


class CommandReader:
    """Reads the command of *config*, whose *document* has the right shape and gets the faults."""

    def __init__(self, document: YamlDocument, config: ToolConfig) -> None:
        self._members: dict[str, Any] = document.value
        self._config = config
        self._folder = os.path.abspath(os.path.dirname(config.file))
        self._add = document.add
        schema: dict[str, Any] = config.input_schema or _INSTRUCTION
        self.properties: dict[str, Any] = schema.get("properties", {})
        """The schemas of the parameters."""
        self._always_present = {*config.defaults, *schema.get("required", ()), EVERYTHING}
        self._used: set[str] = set()

    def read(self) -> ToolCommand:
        """Return the command, which is only meant to be run if the document has no faults."""
        members = self._members
        stdin = None
        if "stdin" in members:
            stdin = self._read_template(members["stdin"], "stdin")
        env = {}
        for name, text in members.get("env", {}).items():
            env[name] = self._read_template(text, f"env.{name}")
        is_script = members.get("shell", False)
        if is_script:
            env = self._make_variables(members["command"]) | env
        program, words = self._read_words(members["command"])
        self._refuse_unused(is_script)
        if "output_schema" in members and members.get("output") != "json":
            self._add("output_schema", "text has no schema; add output: json")
        return ToolCommand(
            program=os.path.join(self._folder, program) if os.path.dirname(program) else program,
            words=tuple(words),
            shell=is_script,
            cwd=self._read_cwd(),
            stdin=stdin,
            env=env,
            defaults=self._config.defaults,
            dashes=frozenset(members.get("allow_leading_dash", ())),
            output=members.get("output", "text"),
            success=frozenset(members.get("success", [0])),
            max_output_bytes=self._read_max_output(),
        )

    def _read_cwd(self) -> str:
        path = self._members.get("cwd", ".")
        cwd = os.path.normpath(os.path.join(self._folder, path))
        if not os.path.isdir(cwd):
            self._add("cwd", f"there is no folder {cwd}")
        return cwd

    def _read_max_output(self) -> int:
        size = self._members.get("max_output", DEFAULT_MAX_OUTPUT_BYTES)
        try:
            return parse_size(str(size))
        except ValueError as error:
            self._add("max_output", f"{format_value(size)} is not {error}")
            return 0

    def _refuse_unused(self, is_script: bool) -> None:
        if EVERYTHING in self._used:
            return
        for name in self.properties:
            if name not in self._used:
                example = f'"${name}"' if is_script else f"{{{name}}}"
                problem = f"the parameter {name!r} is not used; write {example} where it goes"
                self._add("command", problem)

    # --- scripts of a shell ---

    def _make_variables(self, script: str) -> dict[str, WordTemplate]:
        """Return the variable for each parameter that occurs in *script*."""
        unquoted = set(find_unquoted(script))
        variables = {}
        for name in self.properties:
            if not _can_be_variable(name):
                if not {name, EVERYTHING} & self._used:  # `env` may pass it under another name
                    problem = (
                        f"the parameter {name!r} cannot be a variable, whose name begins with a"
                        " small letter; rename it, or give it to a variable in env"
                    )
                    self._add("command", problem)
                    self._used.add(name)
                continue
            if not re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", script):
                continue
            if f"{{{name}}}" in script.replace("${", ""):
                problem = f'{{{name}}} means nothing to the shell; write "${name}"'
                self._add("command", problem)
            elif name in unquoted and not self._is_one_word(name):
                problem = f'the shell splits ${name} into words; write "${name}", in double quotes'
                self._add("command", problem)
            self._used.add(name)
            variables[name] = WordTemplate((Place(name),))
        return variables

    def _is_one_word(self, name: str) -> bool:
        schema = self.properties[name]
        return isinstance(schema, dict) and schema.get("type") in _UNQUOTABLE_TYPES

    # --- words ---

    def _read_words(self, command: list[Any] | str) -> tuple[str, Words]:
        """Return the program that runs *command*, and its other words."""
        if isinstance(command, str):
            return "sh", [WordTemplate(("-c",)), WordTemplate((command,))]
        first = self._read_template(command[0], "command[0]")
        program = first.fill({}) or ""
        if first.places or not program:
            problem = "the first word must be the name of a program, without placeholders"
            self._add("command[0]", problem)
        words: Words = []
        for index, word in enumerate(command[1:], 1):
            words.append(self._read_word(word, f"command[{index}]"))
        return program, words

    def _read_word(self, word: Any, key: str) -> WordTemplate | tuple[WordTemplate, ...]:
        if isinstance(word, list):
            return tuple(self._read_template(inner, key, may_be_absent=True) for inner in word)
        return self._read_template(word, key)

    def _read_template(
        self, text: str | int, key: str, *, may_be_absent: bool = False
    ) -> WordTemplate:
        try:
            template = parse_word(str(text))
        except ValueError as error:
            self._add(key, str(error))
            return WordTemplate(())
        for place in template.places:
            name = place.name
            if name != EVERYTHING and name not in self.properties:
                problem = explain_unknown_name("parameter", name, self.properties)
                if not name.isidentifier():
                    problem += "; write {{ and }} for braces"
                self._add(key, problem)
            elif not (place.optional or may_be_absent or name in self._always_present):
                remedy = f"write {{{name}?}}, put it in a list of its own, or give it a default"
                self._add(key, f"a call may omit {name!r}: {remedy}")
            self._used.add(name)
        return template


def _can_be_variable(name: str) -> bool:
    if os.name == "nt" and name in os.environ:  # where capitals do not tell names apart
        return False
    return _VARIABLE.fullmatch(name) is not None
