"""Parses a command line: options by a table, all other words by position.

argparse costs 10 ms (3 to import, 7 to define twenty options, since it measures the terminal for each), a fifth of the
time from spawn to the first answer.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from ..errors import UsageError

Convert = Callable[[str], Any]
"""Reads an option's value, or raises `ValueError` with what was expected (`a whole number`)."""


def one_of(*choices: str) -> Convert:
    """Accept one of *choices*."""

    def convert(text: str) -> str:
        if text not in choices:
            raise ValueError(f"one of {', '.join(choices)}")
        return text

    return convert


def count(text: str) -> int:
    """Accept a whole number of at least 1."""
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise ValueError("a whole number of at least 1")
    return int(text)


def seconds(text: str) -> float:
    """Accept a finite number of seconds, not negative."""
    try:
        number = float(text)
    except ValueError:
        number = -1
    if not 0 <= number < float("inf"):
        raise ValueError("a number of seconds such as 30 or 0.5")
    return number


def setting(text: str) -> str:
    """Accept `TOOL.PARAMETER=VALUE`."""
    place, equals, _ = text.partition("=")
    if not (equals and all(place.partition("."))):
        raise ValueError("TOOL.PARAMETER=VALUE")
    return text


def size(text: str) -> int:
    """Accept a number of bytes, with a unit if it has one."""
    from toolwire_tools.byte_sizes import size as bytes_of  # few servers need it

    return bytes_of(text)


_CONVERT: dict[str, Convert] = {"NUMBER": count, "SECONDS": seconds, "SETTING": setting, "SIZE": size}
"""How values are read, by their metavar, where an option does not say."""


class Option(msgspec.Struct, frozen=True):
    """An option as help shows it: `--json`, `--era old|new` or `-o, --output FILE`. One that is *many* may be repeated.

    The value of one with *endings* is optional: the next word is its value only if it ends so. Without it, the value is
    "". A folder in its place is refused, since it could be meant as a target.
    """

    usage: str
    help: str
    convert: Convert | None = None
    many: bool = False
    endings: tuple[str, ...] = ()

    @property
    def metavar(self) -> str:
        """The name of the value in help; "" for a switch."""
        return self.usage.partition("--")[2].partition(" ")[2]

    @property
    def flags(self) -> list[str]:
        """All names, the long one last."""
        return self.usage.removesuffix(self.metavar).strip().split(", ")

    @property
    def flag(self) -> str:
        """The long name."""
        return self.flags[-1]

    @property
    def key(self) -> str:
        """The name in `Words.options`."""
        return self.flag.lstrip("-").replace("-", "_")

    def value(self, text: str) -> Any:
        """Return the value of *text*, or raise `ValueError` with what was expected."""
        convert = self.convert or _CONVERT.get(self.metavar, str)
        if "|" in self.metavar:
            convert = one_of(*self.metavar.split("|"))
        return convert(text)


class Words(msgspec.Struct, frozen=True):
    """A parsed command line.

    `options` holds the given options by key, `words` the other words in order, `command` the words after `--` (`None`
    without `--`).
    """

    options: dict[str, Any]
    words: list[str]
    command: list[str] | None = None


class UnknownOption(UsageError):
    """The command has no option *flag*."""

    def __init__(self, sentence: str, flag: str) -> None:
        super().__init__(sentence)
        self.flag = flag


HELP = Option("-h, --help", "show this text and exit")


def parse(arguments: Sequence[str], options: Sequence[Option], as_text: Sequence[Option] = ()) -> Words:
    """Return the parsed *arguments*. Options may stand anywhere before `--`; values *as_text* are checked and kept."""
    known = {flag: option for option in (*options, *as_text, HELP) for flag in option.flags}
    found: dict[str, Any] = {}
    words: list[str] = []
    rest = deque(arguments)
    while rest:
        word = rest.popleft()
        if word == "--":
            return Words(found, words, list(rest))
        if len(word) < 2 or word[0] != "-":
            words.append(word)
            continue
        flag, equals, text = word.partition("=")
        option = known.get(flag)
        if option is None:
            raise UnknownOption(_no_option(flag, (*options, *as_text)), flag)
        if not option.metavar:
            if equals:
                raise UsageError(f"{flag} takes no value: leave out ={text}")
            found[option.key] = True
            continue
        if not equals:
            text = _next_value(option, flag, rest)
        try:
            value = option.value(text)
        except ValueError as error:
            raise UsageError(f"{option.flag} takes {error}, not {text!r}") from None
        if option in as_text:
            value = text
        if option.many:
            found.setdefault(option.key, []).append(value)
        else:
            found[option.key] = value
    return Words(found, words)


def _no_option(flag: str, options: Sequence[Option]) -> str:
    from toolwire_schemas.did_you_mean import unknown_name  # imported only for a mistake

    return unknown_name("option", flag, [option.flag for option in (*options, HELP)])


def _next_value(option: Option, flag: str, rest: deque[str]) -> str:
    if not rest and not option.endings:
        raise UsageError(f"{flag} needs a value: {flag} {option.metavar}")
    if not option.endings or (rest and rest[0].endswith(option.endings)):
        return rest.popleft()
    if rest and os.path.isdir(rest[0]):
        wanted = f"{flag} takes a file that ends in {' or '.join(option.endings)}, or nothing"
        raise UsageError(f"{wanted}; if the folder {rest[0]} is a target, put it before {flag}")
    return ""


# Options of several commands.

JSON = Option("--json", "print JSON, as sent by the server")
INCLUDE = Option(
    "--include PATTERN", "only the tools whose name, or tag as in tag:billing, matches; repeatable", many=True
)
EXCLUDE = Option("--exclude PATTERN", "without the tools whose name or tag matches; repeatable", many=True)
SET = Option("--set SETTING", "set a parameter of a bundled tool: TOOL.PARAMETER=VALUE; repeatable", many=True)
ADOPT = Option("--adopt", "run files written for FastMCP on Toolwire's own FastMCP, also if that package is installed")
