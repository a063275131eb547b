"""The entries of the sections of a docstring, whatever its style."""

from __future__ import annotations

import msgspec


class DocEntry(msgspec.Struct, frozen=True):
    """A parameter, or one thing that is returned: then *text* may have several lines. *type* is as
    it is written.
    """

    name: str | None = None
    type: str | None = None
    text: str = ""


class Sections(msgspec.Struct, frozen=True):
    """A docstring in parts: the description has what is in no other part."""

    description: str
    parameters: list[DocEntry] = []
    returns: list[DocEntry] = []


def indent_of(line: str) -> int:
    """Return how many spaces *line* starts with."""
    return len(line) - len(line.lstrip())


def cut_margin(lines: list[str]) -> list[str]:
    """Return *lines* without the margin that they have in common."""
    margin = min((indent_of(line) for line in lines if line.strip()), default=0)
    return [line[margin:] for line in lines]


def without_margin(lines: list[str]) -> str:
    """Return *lines* as a text, without their margin, and without blank lines round them."""
    return "\n".join(cut_margin(lines)).strip("\n")
