"""The types of the results of `Files`."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class Entry(TypedDict):
    """One thing in a folder: its `kind` is file, folder, link or other, `modified` is ISO 8601 in
    UTC.
    """

    path: str
    kind: str
    bytes: int
    modified: str


class Listing(TypedDict):
    """The content of a folder, and whether there is `more` than is listed."""

    entries: list[Entry]
    more: bool


class Match(TypedDict):
    """A file, or a line of it, that was searched for."""

    path: str
    line: NotRequired[int]
    text: NotRequired[str]


class Found(TypedDict):
    """The matches, whether there are `more`, how many files were searched, and which were left out
    and why.
    """

    matches: list[Match]
    more: bool
    files: int
    notes: list[str]


class Changed(TypedDict):
    """A file that was changed: its size now, and the `lines` where it was edited, the first 1,000
    of them.
    """

    path: str
    bytes: int
    lines: list[int]
