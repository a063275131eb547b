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


class Option(msgspec.Struct, frozen=True):
    """One option. Without a *metavar* it is a switch; *many* may be given several times.

    The value of one with *endings* may be left out: the next word is it only if it ends so. Left out, it is "". A
    folder in its place is refused, since it may be meant for either.
    """

    flag: str
    help: str
    metavar: str = ""
    convert: Convert = str
    many: bool = False
    short: str = ""
    endings: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The name its value is kept under."""
        return self.flag.lstrip("-").replace("-", "_")


class Words(msgspec.Struct, frozen=True):
    """A command line taken apart.

    `options` holds what was given, by key. `words` are the rest, in order; `command` what follows `--`,
    `None` without `--`.
    """

    options: dict[str, Any]
    words: list[str]
    command: list[str] | None = None


class UnknownOption(UsageError):
    """A command has no such option. It stood between the *words* that belong to no option and the *rest*, its first."""

    def __init__(self, sentence: str, words: list[str], rest: list[str]) -> None:
        super().__init__(sentence)
        self.words = words
        self.rest = rest


HELP = Option("--help", "show this text and exit", short="-h")


def parse(arguments: Sequence[str], options: Sequence[Option]) -> Words:
    """Return *arguments* taken apart. Options may stand anywhere before `--`.

    Raises:
        UsageError: for an option that has a wrong value, or none; `UnknownOption` for one that is unknown.
    """
    known = {name: option for option in (*options, HELP) for name in (option.flag, option.short) if name}
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
        flag, equals, value = word.partition("=")
        option = known.get(flag)
        if option is None:
            raise UnknownOption(_no_option(flag, options), words, [word, *rest])
        if not option.metavar:
            if equals:
                raise UsageError(f"{flag} takes no value: leave out ={value}")
            found[option.key] = True
            continue
        if not equals:
            if option.endings:
                value = _optional_value(option, rest)
            elif rest:
                value = rest.popleft()
            else:
                raise UsageError(f"{flag} needs a value: {flag} {option.metavar}")
        _add(found, option, value)
    return Words(found, words)


def _no_option(flag: str, options: Sequence[Option]) -> str:
    from toolwire_schemas.did_you_mean import unknown_name  # only a mistake needs it, and all that comes with it

    return unknown_name("option", flag, [option.flag for option in (*options, HELP)])


def _optional_value(option: Option, rest: deque[str]) -> str:
    if rest and rest[0].endswith(option.endings):
        return rest.popleft()
    if rest and os.path.isdir(rest[0]):
        wanted = f"{option.flag} wants a file that ends in {' or '.join(option.endings)}, or nothing"
        raise UsageError(f"{wanted}; if the folder {rest[0]} is a target, put it before {option.flag}")
    return ""


def _add(found: dict[str, Any], option: Option, text: str) -> None:
    try:
        value = option.convert(text)
    except ValueError as error:
        raise UsageError(f"{option.flag} wants {error}, not {text!r}") from None
    if option.many:
        found.setdefault(option.key, []).append(value)
    else:
        found[option.key] = value


def as_typed(option: Option) -> Option:
    """Return the same option, checked but with its text as value, to pass it on to another program."""

    def convert(text: str) -> str:
        option.convert(text)
        return text

    return msgspec.structs.replace(option, convert=convert)


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


def whole_number(text: str) -> int:
    """Accept a whole number, not negative."""
    if not (text.isascii() and text.isdigit()):
        raise ValueError("a whole number")
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
    """Accept `NAME.PARAMETER=VALUE`."""
    place, equals, _ = text.partition("=")
    if not (equals and all(place.partition("."))):
        raise ValueError("TOOL.PARAMETER=VALUE")
    return text


def variable(text: str) -> tuple[str, str]:
    """Accept `KEY=VALUE`."""
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise ValueError("KEY=VALUE")
    return key, value


# What several commands take alike.

JSON = Option("--json", "print JSON, as sent by the server")

SET = Option(
    "--set", "set a parameter of a bundled tool: TOOL.PARAMETER=VALUE; repeatable", "SETTING", setting, many=True
)
