"""Output of the command line: everything that reaches the terminal passes through here.

Texts of servers, tools and models may be anybody's, and a terminal obeys what it reads: it retitles
its window, moves over what was written, or turns a line round. So an `Output` is the only thing
that writes to standard output and standard error; a test reads the code to hold it to that.
"""

from __future__ import annotations

import os

# as that of `typing`, which `toolwire --version` does not need
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO

_JOINERS = "\u200c\u200d"
"""Some languages, and many emoji, cannot be written without them. They move nothing."""

BOLD, DIM, RED, BLUE, GREEN, PLAIN = "\ufdd0", "\ufdd1", "\ufdd2", "\ufdd3", "\ufdd4", "\ufdd5"
"""Marks of emphasis for an `Output`, which are no characters: what others wrote has none after
`printable`.
"""
_CODES = {
    BOLD: "\x1b[1m",
    DIM: "\x1b[2m",
    RED: "\x1b[31m",
    BLUE: "\x1b[34m",
    GREEN: "\x1b[32m",
    PLAIN: "\x1b[0m",
}

_MAX_LINE = 10_000


def make_printable(text: str) -> str:
    """Return *text* with what would steer a terminal, or turn lines round, as JSON escapes:
    `\\u001b`.
    """
    text = text.replace("\r\n", "\n")
    if text.isprintable():
        return text
    return "".join(map(_escape, text))


def _escape(letter: str) -> str:
    if letter.isprintable() or letter in "\n\t" or letter in _JOINERS:
        return letter
    import json  # most texts need no escapes
    import unicodedata

    if unicodedata.category(letter) == "Zs":
        return letter
    return json.dumps(letter)[1:-1]


def emphasize(mark: str, text: str) -> str:
    """Return *text* with the emphasis of *mark*."""
    return f"{mark}{text}{PLAIN}"


def remove_emphasis(text: str) -> str:
    """Return *text* without emphasis."""
    return "".join(_split_marks(text)[::2])


def _split_marks(text: str) -> list[str]:
    """Return the parts of *text* between marks, each followed by its mark."""
    if not any(mark in text for mark in _CODES):
        return [text]
    import re  # few texts have emphasis

    return re.split(f"([{BOLD}-{PLAIN}])", text)


class Output:
    """Writes to *stream*; emphasis needs a terminal, and no `NO_COLOR`.

    `write_data` leaves its text unchanged on a stream that is not a terminal: a file, or another
    program, may want it.
    """

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream
        self._is_terminal = stream.isatty()
        is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        self._has_colours = self._is_terminal and not is_plain

    def write_line(self, text: str) -> None:
        """Write *text* as a line, or several, with nothing in it that the terminal obeys."""
        self._write(self._make_safe(text) + "\n")

    def write_data(self, text: str) -> None:
        """Write *text*, which was asked for, as a line or several: safe to read on a terminal, else
        as it is.
        """
        self._write((self._make_safe(text) if self._is_terminal else text) + "\n")

    def write_prompt(self, text: str) -> None:
        """Write *text* with no line's end."""
        self._write(self._make_safe(text))
        self._stream.flush()

    def show_status(self, text: str = "") -> None:
        """Put *text* on the terminal's last line, in place of what is there."""
        self._write(f"\r\x1b[K{self._make_safe(text)}")
        self._stream.flush()

    def flush(self) -> None:
        """Have all of it written now."""
        self._stream.flush()

    def end(self) -> None:
        """Note that the other program whose lines these were has ended; see `LineOutput`."""

    def _make_safe(self, text: str) -> str:
        safe = ""
        for place, part in enumerate(_split_marks(text)):
            is_mark = place % 2 == 1
            if not is_mark:
                safe += make_printable(part)
            elif self._has_colours:
                safe += _CODES[part]
        return safe

    def _write(self, text: str) -> None:
        # A server may answer with letters that the terminal's encoding lacks.
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        self._stream.write(text.encode(encoding, "backslashreplace").decode(encoding))


class LineOutput:
    """Passes on to *output* what another program writes, line by line; a long line in pieces."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._rest = ""

    def feed(self, text: str) -> None:
        """Write the lines that *text* completes."""
        *lines, self._rest = (
            (self._rest + text).replace("\r\n", "\n").replace("\r", "\n").split("\n")
        )
        for line in lines:
            self._output.write_line(line)
        while len(self._rest) > _MAX_LINE:
            self._output.write_line(self._rest[:_MAX_LINE])
            self._rest = self._rest[_MAX_LINE:]

    def end(self) -> None:
        """Write what is left without a line's end."""
        if self._rest:
            self._output.write_line(self._rest)
            self._rest = ""
        self._output.end()
