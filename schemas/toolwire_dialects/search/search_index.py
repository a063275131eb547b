"""Finds tools by words: an index in memory, which SQLite's FTS5 ranks by BM25.

Strategy. Texts and queries are split into words here (search_words.py), and SQLite gets nothing
but those: no query can be taken for SQL or for the syntax of FTS5. sqlite3 is imported, and the
index made, at the first search.
"""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Any

import msgspec

from ..tool_entry import as_schema, get_list, read_text
from .search_words import collect_schema_texts, index_words, is_cjk, split_query

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Sequence

Entry = dict[str, Any]

_WEIGHTS = {"name": 8.0, "title": 6.0, "about": 4.0, "server": 3.0, "parameters": 1.0}
"""How much a word counts, by where it is: the description of a long schema has many words."""

_FIND = (
    "SELECT rowid FROM tools WHERE tools MATCH ?"
    f" ORDER BY bm25(tools, {', '.join(map(str, _WEIGHTS.values()))}), rowid LIMIT ?"
)


class NoSearch(RuntimeError):
    """This Python has no SQLite with full-text search."""


class SearchableTool(msgspec.Struct, frozen=True):
    """A tool that a search can find: its *entry* of `tools/list`, and what else is known of it.

    *spellings* are the names that calls may use; *groups* are the names of its server and toolkit.
    """

    entry: Entry
    spellings: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name that a list shows."""
        return read_text(self.entry.get("name"))


class SearchIndex:
    """An index of *tools*. Thread-safe."""

    def __init__(self, tools: Iterable[SearchableTool]) -> None:
        self.tools = tuple(tools)
        self._places_of_names: dict[str, list[int]] = {}
        for place, tool in enumerate(self.tools):
            for name in {tool.name, *tool.spellings}:
                self._places_of_names.setdefault(name.casefold(), []).append(place)
        self._lock = threading.Lock()
        self._database: sqlite3.Connection | None = None

    def search(self, query: str, limit: int) -> list[SearchableTool]:
        """Return up to *limit* tools for *query*, the best first: those that it names, then those
        with its words.

        Raises:
            NoSearch: if this Python cannot search.
        """
        named = self._find_named(query)
        ranked = self._rank(split_query(query), limit)
        found = dict.fromkeys([*named, *ranked])
        return [self.tools[place] for place in list(found)[:limit]]

    def _find_named(self, query: str) -> list[int]:
        """Return the places of the tools whose names are words of *query*."""
        words = {word.casefold().strip("`'\".,;:!?()") for word in query[:10_000].split()}
        found: set[int] = set()
        for word in words:
            found.update(self._places_of_names.get(word, ()))
        return sorted(found)

    def _rank(self, words: Sequence[str], limit: int) -> list[int]:
        if not words:
            return []
        wanted = " OR ".join(map(_quote, words))
        with self._lock:
            if self._database is None:
                self._database = _make_database(self.tools)
                # Python 3.13 warns of a connection that nothing has closed.
                weakref.finalize(self, self._database.close)
            rows = self._database.execute(_FIND, (wanted, limit)).fetchall()
        return [row for (row,) in rows]


def _quote(word: str) -> str:
    """Return *word*, which holds letters and digits alone, in the syntax of FTS5."""
    is_beginning = is_cjk(word) and len(word) == 1  # of a pair
    if is_beginning:
        return f'"{word}"*'
    return f'"{word}"'


def _make_database(tools: Sequence[SearchableTool]) -> sqlite3.Connection:
    try:
        import sqlite3
    except ImportError as error:  # of a Python that was built without it
        raise NoSearch(f"this Python has no sqlite3: {error}") from None
    # Its users take turns by a lock.
    try:
        database = sqlite3.connect(":memory:", check_same_thread=False)
        columns = ", ".join(_WEIGHTS)
        database.execute(
            f"CREATE VIRTUAL TABLE tools USING fts5({columns},"
            " tokenize='porter unicode61 remove_diacritics 2')"
        )
    except sqlite3.OperationalError as error:
        raise NoSearch(f"SQLite of this Python has no full-text search (FTS5): {error}") from None
    slots = ", ".join("?" * (len(_WEIGHTS) + 1))
    rows = [(place, *_make_row(tool)) for place, tool in enumerate(tools)]
    database.executemany(f"INSERT INTO tools(rowid, {columns}) VALUES ({slots})", rows)
    return database


def _make_row(tool: SearchableTool) -> list[str]:
    """Return the words of *tool* for each column of `_WEIGHTS`."""
    entry = tool.entry
    tags = get_list(as_schema(entry.get("_meta")), "toolwire/tags")
    hints = as_schema(entry.get("annotations"))
    title = read_text(entry.get("title")) or read_text(hints.get("title"))
    groups = " ".join([*tool.groups, *map(read_text, tags)])
    parameters = " ".join(collect_schema_texts(entry.get("inputSchema")))
    texts = (tool.name, title, read_text(entry.get("description")), groups, parameters)
    return list(map(index_words, texts))
