"""The one way for texts of a server into source code.

A compiler, an editor and a reviewer must read the same program. A NUL or a byte order mark ends a
file of Go; a bidirectional override shows a line as another one (CVE-2021-42574); an escape
sequence acts on the terminal that shows the file. Printers write such characters of names and
values as escapes in literals. In comments they are replaced.
"""

from __future__ import annotations

import unicodedata

_LAYOUT = "\n\t"


def to_lines(text: str) -> list[str]:
    """Return the lines of *text* for a comment, with printable characters alone, without empty
    lines at both ends.
    """
    stripped = text.strip()
    if not stripped:
        return []
    return [clean(line.expandtabs(4)).rstrip() for line in stripped.split("\n")]


def clean(text: str) -> str:
    """Return *text* with each character replaced that is neither printable nor layout.

    Every generated file passes through this last, so that no printer can let such a character
    through.
    """
    if text.isprintable():
        return text
    return "".join(map(_replace, text))


def _replace(letter: str) -> str:
    if letter.isprintable() or letter in _LAYOUT:
        return letter
    if (
        unicodedata.category(letter) == "Zs"
    ):  # the wide space of Chinese, the one that keeps words together
        return " "
    return "\N{REPLACEMENT CHARACTER}"
