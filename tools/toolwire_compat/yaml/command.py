"""A command line with places for arguments: the words to run for a call, and the result of its
outcome. Runs nothing.

Strategy. A place is one word of the command line or a part of one, whatever the argument. A script
for the shell has no places: its arguments are environment variables, which the shell never reads as
text of the script. Programs read a word that begins with `-` as an option, so no argument may begin
one unless the author allows it.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from toolwire_schemas.json_schema.error_text import Fault, format_place, format_value
from toolwire_schemas.wire.codec import DecodingError, decode, encode
from toolwire_tools.byte_sizes import format_size
from toolwire_tools.errors import ArgumentsError, ToolError
from toolwire_tools.processes.exit_status import describe_exit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


EVERYTHING = "*"
"""The name of the place that takes all arguments."""


class Place(msgspec.Struct, frozen=True):
    """Where an argument goes: its value, or the text *instead* if the argument is true or given."""

    name: str
    optional: bool = False
    instead: str | None = None

    def fill(self, arguments: Mapping[str, Any]) -> str | None:
        """Return the text here for *arguments*; None if they have none."""
        if self.name == EVERYTHING:
            return encode(dict(arguments)).decode()
        value = arguments.get(self.name)
        if value is None:
            return None
        if self.instead is not None:
            if value is False:
                return None
            return self.instead
        if isinstance(value, str):
            return value
        return encode(value).decode()


class WordTemplate(msgspec.Struct, frozen=True):
    """Text and places, in their order."""

    parts: tuple[str | Place, ...]

    @property
    def places(self) -> list[Place]:
        """The parts that are places."""
        return [part for part in self.parts if isinstance(part, Place)]

    def fill(self, arguments: Mapping[str, Any]) -> str | None:
        """Return the text with *arguments* in their places; None if one of these is absent."""
        texts = []
        for part in self.parts:
            if isinstance(part, str):
                texts.append(part)
                continue
            text = part.fill(arguments)
            if text is None:
                return None
            texts.append(text)
        return "".join(texts)


def parse_word(text: str) -> WordTemplate:
    """Split *text* into text and places.

    Raises:
        ValueError: if a brace belongs to no place; the text names it.
    """
    parts: list[str | Place] = []
    for found in _PART.finditer(text):
        part = found[0]
        if found["name"] is not None:
            name = found["name"].strip()
            parts.append(Place(name, found["optional"] is not None, found["instead"] or None))
        elif part in ("{{", "}}"):
            parts.append(part[0])
        elif part in ("{", "}"):
            where = f"at character {found.start() + 1}"
            raise ValueError(f"the {part!r} {where} is in no placeholder; write {part * 2!r}")
        else:
            parts.append(part)
    return WordTemplate(tuple(parts))


def find_unquoted(script: str) -> Iterator[str]:
    """Yield the variables of a shell's *script* that are outside of double quotes, where it splits
    them into words.
    """
    # The quotes and the commands in parentheses around this place, the innermost last.
    open_marks = [""]
    at = 0
    while True:
        is_in_quotes = open_marks[-1] == '"'
        pattern = _UNQUOTED
        if is_in_quotes:
            pattern = _QUOTED
        found = pattern.search(script, at)
        if found is None:
            return
        token = found[0]
        at = found.end()
        if found["name"]:
            if not is_in_quotes:
                yield found["name"]
        elif token in ("(", "$("):
            open_marks.append("(")
        elif token in ('"', "`", ")"):
            opening = "(" if token == ")" else token
            if open_marks[-1] == opening:
                open_marks.pop()
            elif token != ")":  # that of a pattern of `case`
                open_marks.append(token)


_QUOTED = re.compile(r"""\\.|\$\{?\#?(?P<name>[A-Za-z_]\w*)|["`]|\$\(""", re.DOTALL)
_UNQUOTED = re.compile(
    r"""\\.|'[^']*'|(?<![^\s;(|&])\#[^\n]*|\$\{?\#?(?P<name>[A-Za-z_]\w*)|["`()]""", re.DOTALL
)

_PART = re.compile(
    r"\{\{|\}\}|\{(?P<name>[^{}?]+)(?P<optional>\?(?P<instead>[^{}]*))?\}|[^{}]+|[{}]"
)


DEFAULT_MAX_OUTPUT_BYTES = 1024 * 1024
"""More than any model reads at once, and well below what clients take for one message."""

MAX_ERROR_BYTES = 4096
"""Limit for the last words of a failing command in its error."""

_HALF = "\ufffd"
"""Replaces a character that was cut in two."""


class Invocation(msgspec.Struct, frozen=True):
    """One command to be run: *env* is added to the environment (None removes), *stdin* is all it
    can read.
    """

    argv: list[str]
    cwd: str
    env: dict[str, str | None]
    stdin: bytes
    max_output_bytes: int


class CommandResult(msgspec.Struct, frozen=True):
    """How a command ended. A negative *status* is that of a signal.

    *output* is the beginning of its standard output, *errors* the end of its standard error; the
    numbers are those of all bytes.
    """

    status: int
    output: bytes
    output_bytes: int
    errors: bytes
    errors_bytes: int


class ToolCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A program, and the words that follow it in a call.

    A tuple among *words* is left out as a whole if an argument in it is absent. *defaults* replace
    arguments that a call leaves out. *dashes* names the parameters whose values may begin with `-`.
    *success* has the exit statuses that do not mean a failure. If the program is a *shell*, *env*
    has a variable for each argument.
    """

    program: str
    words: tuple[WordTemplate | tuple[WordTemplate, ...], ...]
    cwd: str
    stdin: WordTemplate | None = None
    env: dict[str, WordTemplate] = {}
    defaults: dict[str, Any] = {}
    dashes: frozenset[str] = frozenset()
    shell: bool = False
    output: Literal["text", "json"] = "text"
    success: frozenset[int] = frozenset((0,))
    max_output_bytes: int = DEFAULT_MAX_OUTPUT_BYTES

    def make_invocation(self, arguments: Mapping[str, Any]) -> Invocation:
        """Return what to run for *arguments*; raises an ArgumentsError for values that cannot be
        passed as they are.
        """
        values = {**self.defaults, **arguments}
        faults: list[Fault] = []
        argv = [self.program]
        for word in self.words:
            group = word if isinstance(word, tuple) else (word,)
            texts = _fill_all(group, values)
            if texts is None:
                continue
            argv += texts
            for template in group:
                faults += self._find_faults(template, values, is_word=True)
        env: dict[str, str | None] = {}
        for name, template in self.env.items():
            text = template.fill(values)
            if self.shell or text is not None:
                env[name] = text
            faults += self._find_faults(template, values, is_word=self.shell)
        if faults:
            raise ArgumentsError(dict.fromkeys(faults))
        stdin = ""
        if self.stdin is not None:
            stdin = self.stdin.fill(values) or ""
        return Invocation(argv, self.cwd, env, stdin.encode(), self.max_output_bytes)

    def _find_faults(
        self, template: WordTemplate, values: Mapping[str, Any], *, is_word: bool
    ) -> Iterator[Fault]:
        """Yield the faults of arguments that cannot be passed, or that would make a word look like
        an option.
        """
        is_at_start = is_word
        for part in template.parts:
            if isinstance(part, str):
                is_at_start = False  # an empty text is no part
                continue
            text = part.fill(values) or ""
            where = format_place("arguments", (part.name,))
            if "\0" in text:
                problem = "holds a NUL character, which an argument of a program cannot contain"
                yield where, problem
            if is_at_start and text.startswith("-") and not self._allows_dash(part):
                problem = f'begins with "-", so {self._called} could read it as an option'
                yield where, f"{format_value(values[part.name])} {problem}"
            is_at_start = is_at_start and not text

    def _allows_dash(self, part: Place) -> bool:
        is_of_author = part.instead is not None
        return is_of_author or part.name in self.dashes

    def read_outcome(self, finished: CommandResult) -> Any:
        """Return the text or JSON for the caller; raises a ToolError if the command failed, or
        printed no JSON.
        """
        if finished.status not in self.success:
            raise ToolError(self._describe_failure(finished))
        text = finished.output.decode("utf-8", "replace")
        more = finished.output_bytes - len(finished.output)
        limit = format_size(self.max_output_bytes)
        if self.output == "text":
            if not more:
                return text.rstrip("\r\n")
            note = f"(The output was cut after {limit}; {more:,} more bytes followed.)"
            return f"{text.rstrip(_HALF)}\n{note}"
        if more:
            raise ToolError(f"{self._called} printed more than {limit}, the limit of max_output.")
        try:
            return decode(text)
        except DecodingError as error:
            problem = (
                f"{self._called} did not print JSON: {error}. It printed {format_value(text)}."
            )
            raise ToolError(problem) from None

    @property
    def _called(self) -> str:
        if self.shell:
            return "the script"
        return os.path.basename(self.program)

    def _describe_failure(self, finished: CommandResult) -> str:
        lines = [f"{self._called} {describe_exit(finished.status)}."]
        printed, size = finished.errors, finished.errors_bytes
        if not printed.strip():  # some programs print errors to standard output
            printed, size = finished.output[-MAX_ERROR_BYTES:], finished.output_bytes
        more = size - len(printed)
        if more:
            lines.append(f"(The end of its output; {more:,} bytes before it were cut.)")
        text = printed.decode("utf-8", "replace").lstrip(_HALF).strip()
        if text:
            lines.append(text)
        return "\n".join(lines)


def _fill_all(templates: tuple[WordTemplate, ...], values: Mapping[str, Any]) -> list[str] | None:
    """Return the texts of *templates*; None if an argument of one is absent."""
    texts = []
    for template in templates:
        text = template.fill(values)
        if text is None:
            return None
        texts.append(text)
    return texts
