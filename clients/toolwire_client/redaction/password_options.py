"""Knows the short options of common programs that take a password, whose names do not say so.

`-p` and `-u name:password` of any program are found elsewhere; here are those that mean something
else in other programs, and passwords that follow their option without a blank.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_OPTIONS = {
    **dict.fromkeys(("redis-cli", "valkey-cli", "keydb-cli"), "-a"),
    **dict.fromkeys(("mysql", "mysqldump", "mysqladmin", "mariadb", "mariadb-dump"), "-p"),
    **dict.fromkeys(("sshpass", "mongo", "mongosh", "mongodump", "7z", "7za", "clickhouse"), "-p"),
    **dict.fromkeys(("ldapsearch", "ldapmodify", "ldapadd", "ldapwhoami"), "-w"),
    **dict.fromkeys(("sqlcmd", "bcp", "zip", "unzip", "mosquitto_pub", "mosquitto_sub"), "-P"),
}
"""The option of each program."""

_ONLY_ATTACHED = ("mysql", "mysqldump", "mysqladmin", "mariadb", "mariadb-dump", "7z", "7za")
"""Programs that take the next word for something else, such as the database."""

_QUOTES = r"[\"'\\]{0,8}"
_COMMAND = re.compile(
    rf"(?<![\w-])(?P<program>{'|'.join(sorted(_OPTIONS, key=len, reverse=True))})(?:\.exe)?"
    r"(?=[\s\"'\\])(?P<words>[^\n;|&<>]{1,400})"
)
_OPTION = re.compile(
    rf"(?<=[\s\"'])(?P<option>-[apwP])(?P<gap>{_QUOTES}[,\s]{{1,8}})?{_QUOTES}"
    r"(?P<value>[^\s\"'\\]{1,1000})"
)


def find_passwords(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of passwords that follow such options in command lines within *text*."""
    for command in _COMMAND.finditer(text):
        start = command.start("words")
        for found in _OPTION.finditer(command["words"]):
            is_attached = found["gap"] is None
            if found["option"] != _OPTIONS[command["program"]]:
                continue
            if is_attached or command["program"] not in _ONLY_ATTACHED:
                yield start + found.start("value"), start + found.end("value")


def find_program(word: str) -> str:
    """Return the program that *word* of a command line names, with or without a path; empty if it
    is not one of those known here.
    """
    name = re.split(r"[/\\]", word)[-1].lower().removesuffix(".exe")
    return name if name in _OPTIONS else ""


def takes_next(program: str, word: str) -> bool:
    """Whether the word after *word* is a password for *program*."""
    return word == _OPTIONS.get(program) and program not in _ONLY_ATTACHED


def has_password(program: str, word: str) -> bool:
    """Whether *word* is such an option of *program* with its password."""
    option = _OPTIONS.get(program)
    return option is not None and word.startswith(option) and len(word) > len(option)
