"""Finding files by their names, and lines by what they say."""

from __future__ import annotations

from fnmatch import fnmatchcase
from time import monotonic
from typing import TYPE_CHECKING

import msgspec
from toolwire_schemas.language import say
from toolwire_tools.errors import ToolError

from .limits import MAX_LINE, MAX_MATCHES, MAX_SECONDS
from .listing import Walk
from .reading import decode_text, is_binary, read_bytes
from .regex import Pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from toolwire_tools.context.context import Context

    from .listing import Thing
    from .results import Found, Match
    from .roots import Places

Hit = tuple[int, str]
"""A line's number and its text."""

_MAX_NAMES = 1000


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """The criteria of a search."""

    text: str
    names: str
    is_regex: bool
    ignores_case: bool
    limit: int


class Skipped(Exception):
    """A file that is left out, and why."""


def search_files(
    places: Places, path: str, wanted: Wanted, max_bytes: int, context: Context
) -> Found:
    """Yield the matches below *path*."""
    if len(wanted.names) > _MAX_NAMES:
        raise ToolError(say("names is longer than {max_names:,} characters", max_names=_MAX_NAMES))
    if not wanted.text or not wanted.is_regex:
        return _Search(wanted, max_bytes, _make_literal_search(wanted)).run(
            Walk(places, path), context
        )
    with Pattern(wanted.text, ignores_case=wanted.ignores_case) as pattern:
        return _Search(wanted, max_bytes, pattern.find_hits).run(Walk(places, path), context)


class _Search:
    """Looks at one thing after the other, and counts."""

    def __init__(
        self, wanted: Wanted, max_bytes: int, hits: Callable[[str, int], list[Hit]]
    ) -> None:
        self._wanted = wanted
        self._limit = max(0, min(wanted.limit, MAX_MATCHES))
        self._max_bytes = max_bytes
        self._hits = hits
        self._matches: list[Match] = []
        self._files = 0
        self._skipped: dict[str, int] = {}

    def run(self, walk: Walk, context: Context) -> Found:
        latest, late = monotonic() + MAX_SECONDS, False
        for thing in walk:
            context.check()
            if late := monotonic() > latest:
                break
            if thing.kind != "file" or not _is_named(thing.inner, self._wanted.names):
                continue
            self._files += 1
            context.progress(self._files, message=thing.path)
            self._look_at(thing)
            if len(self._matches) > self._limit:
                break
        notes = [
            f"{count} {'file was' if count == 1 else 'files were'} left out: {why}"
            for why, count in self._skipped.items()
        ]
        notes += [f"the search was ended after {MAX_SECONDS:g} seconds"] if late else []
        notes += (
            ["there are more files than one search looks at; search a folder of these"]
            if walk.is_cut
            else []
        )
        return {
            "matches": self._matches[: self._limit],
            "more": len(self._matches) > self._limit or late or walk.is_cut,
            "files": self._files,
            "notes": notes,
        }

    def _look_at(self, thing: Thing) -> None:
        if not self._wanted.text:
            self._matches.append({"path": thing.path})
            return
        try:
            text = _read_text(thing, self._max_bytes)
        except Skipped as skipped:
            why = str(skipped)
            self._skipped[why] = self._skipped.get(why, 0) + 1
            return
        for line, said in self._hits(text, self._limit + 1 - len(self._matches)):
            self._matches.append({"path": thing.path, "line": line, "text": said})


def _read_text(thing: Thing, max_bytes: int) -> str:
    if thing.status.st_size > max_bytes:
        raise Skipped(say("larger than {max_bytes:,} bytes", max_bytes=max_bytes))
    try:
        data = read_bytes(thing.folder, thing.name, thing.path, max_bytes)
    except OSError:
        raise Skipped(say("not to be read")) from None
    except ToolError:  # it has become something else, or has grown
        raise Skipped(say("changed during the search")) from None
    if is_binary(data):
        raise Skipped(say("binary"))
    return decode_text(data)[0]


def _make_literal_search(wanted: Wanted) -> Callable[[str, int], list[Hit]]:
    """What finds the lines that have the text in them."""
    folded = wanted.text.casefold() if wanted.ignores_case else wanted.text

    def find_hits(text: str, limit: int) -> list[Hit]:
        found: list[Hit] = []
        for number, line in enumerate(text.split("\n"), 1):
            at = (line.casefold() if wanted.ignores_case else line).find(folded)
            if at >= 0:
                found.append((number, cut_around(line, at)))
                if len(found) >= limit:
                    break
        return found

    return find_hits


def cut_around(line: str, at: int) -> str:
    """*line*, or as much of it around the place *at* as is shown."""
    line = line.rstrip("\r")
    if len(line) <= MAX_LINE:
        return line
    start = max(0, min(at - MAX_LINE // 4, len(line) - MAX_LINE))
    return (
        ("…" if start else "")
        + line[start : start + MAX_LINE]
        + ("…" if start + MAX_LINE < len(line) else "")
    )


def _is_named(path: str, names: str) -> bool:
    """Whether *path*, or its last part if *names* has but one, is of the form *names*."""
    parts, wanted = path.split("/"), [part for part in names.split("/") if part]
    return (
        _matches(parts, wanted)
        if len(wanted) > 1 or wanted == ["**"]
        else fnmatchcase(parts[-1], names)
    )


def _matches(parts: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether *parts* fit the patterns *wanted*, in which `**` matches any parts.

    It keeps the places in *wanted* that can be reached by the parts so far, so that no pattern
    takes long.
    """
    reached = _with_next({0}, wanted)
    for part in parts:
        on = {
            at + 1
            for at in reached
            if at < len(wanted) and wanted[at] != "**" and fnmatchcase(part, wanted[at])
        }
        reached = _with_next(
            on | {at for at in reached if at < len(wanted) and wanted[at] == "**"}, wanted
        )
    return len(wanted) in reached


def _with_next(reached: set[int], wanted: Sequence[str]) -> set[int]:
    """Return *reached* and the places after each `**` there, which may match nothing."""
    found, todo = set(reached), [*reached]
    while todo:
        at = todo.pop()
        if at < len(wanted) and wanted[at] == "**" and at + 1 not in found:
            found.add(at + 1)
            todo.append(at + 1)
    return found
