"""Reads a `.env` file: environment variables for the server, which then stand in no command line
and no host's config.

The format has no specification. This is the part that all readers agree on: `NAME=VALUE` in a line,
empty lines, lines that start with `#`, an optional `export`, and quotes around a value that has
blanks at its ends or ` #` in it. A value in double quotes knows `\\n`, `\\"` and `\\\\`. `$NAME` in
a value stays as it is, since readers differ there.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from ..errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINE = re.compile(r"(?:export\s+)?(?P<name>[A-Za-z_][A-Za-z0-9_]*)\s*=\s*(?P<value>.*)")
_DOUBLE_QUOTED = re.compile(r'"(?P<text>(?:[^"\\]|\\.)*)"\s*(?:#.*)?')
_SINGLE_QUOTED = re.compile(r"'(?P<text>[^']*)'\s*(?:#.*)?")
_COMMENT = re.compile(r"(?:^|\s)#.*")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}


def apply_env_file(path: str) -> None:
    """Set the variables of the file at *path* in this process, except those that are set already.

    Variables of the host are more specific than the file, so they take precedence.

    Raises:
        UsageError: if the file cannot be read, or a line of it has no meaning. Never has a value of
            the file.
    """
    try:
        with open(path, encoding="utf-8-sig") as file:
            text = file.read()
    except UnicodeDecodeError:
        raise UsageError(f"--env-file: {path} is not text in UTF-8") from None
    except OSError as error:
        raise UsageError(f"--env-file: {path} cannot be read: {error.strerror or error}") from None
    for name, value in read_variables(text, path):
        os.environ.setdefault(name, value)


def read_variables(text: str, path: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the value of each variable in *text*, the contents of the file at *path*.

    Raises:
        UsageError: if a line has no meaning. Never has a value of the file, which may be a secret.
    """
    for number, line in enumerate(text.split("\n"), 1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        found = _LINE.fullmatch(stripped)
        if found is None:
            raise UsageError(
                f"{path}:{number}: a line of an environment file has the form NAME=VALUE"
            )
        value = _read_value(found["value"])
        if value is None:
            raise UsageError(
                f"{path}:{number}: the quote in the value of {found['name']} does not end with the"
                " value"
            )
        if "\0" in value:
            raise UsageError(f"{path}:{number}: the value of {found['name']} has a NUL character")
        yield found["name"], value


def _read_value(text: str) -> str | None:
    """Return the value that *text* denotes; `None` if its quotes do not match."""
    if not text.startswith(('"', "'")):
        return _COMMENT.sub("", text).rstrip()
    has_escapes = text.startswith('"')
    pattern = _DOUBLE_QUOTED if has_escapes else _SINGLE_QUOTED
    quoted = pattern.fullmatch(text)
    if quoted is None:
        return None
    if has_escapes:
        return _ESCAPE.sub(_unescape, quoted["text"])
    return quoted["text"]


def _unescape(escape: re.Match[str]) -> str:
    character = escape[1]
    return _ESCAPED.get(character, character)
