"""Splits names, texts and queries into the words that a search compares.

Names are split where their parts begin, so that `createIssue` and `create_issue` match "create
issue". Chinese, Japanese and Korean have no blanks between words, so each run of their letters
becomes pairs of neighbours, as in Lucene's CJKAnalyzer: most Chinese words have two letters, and
SQLite's trigrams find nothing for fewer than three.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ..name_mapping import split_words as words_of_name
from ..tool_entry import as_schema, read_text

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_TEXT_CHARS = 20_000
"""Characters of one text that are read: ten times those of a long description."""

MAX_QUERY_WORDS = 64
"""Words of a query that are compared: a question has fewer, and SQLite allows a thousand."""

_MAX_SCHEMAS = 500
_MAX_DEPTH = 6
_WORD = re.compile(r"[^\W_]+")
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_CJK_RUN = re.compile(f"[{_CJK}]+|[^{_CJK}]+")
_IS_CJK = re.compile(f"[{_CJK}]")
_HOLDING_SCHEMAS = ("items", "additionalProperties")
_HOLDING_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")

_FILLERS = """
a an and any are as at be by can do does for from give has have how i if in into is it its
let me my need of on or our please should so some tell that the their them there this to use
using want was we what when where which who will with would you your
"""
"""Words of questions that say nothing of a tool."""


def index_words(words: str) -> str:
    """Return the words of a text or a name, in lower case, with blanks between them."""
    return " ".join(_split(words[:MAX_TEXT_CHARS]))


def split_query(query: str) -> list[str]:
    """Return the different words of *query* that say what is searched for."""
    found = list(dict.fromkeys(_split(query[:MAX_TEXT_CHARS])))
    fillers = _FILLERS.split()
    telling = [word for word in found if word not in fillers]
    return (telling or found)[:MAX_QUERY_WORDS]


def is_cjk(word: str) -> bool:
    """Whether *word*, one of `query_words`, is of a language without blanks."""
    return bool(_IS_CJK.match(word))


def _split(words: str) -> Iterator[str]:
    plain = unicodedata.normalize("NFKC", words)
    for found in _WORD.findall(plain):
        for run in _CJK_RUN.findall(found):
            if is_cjk(run):
                yield from _pair_letters(run)
            else:
                yield from _split_word(run)


def _split_word(word: str) -> Iterator[str]:
    parts = words_of_name(word)
    if len(parts) > 1:
        yield from map(str.casefold, parts)
    yield word.casefold()  # also whole, since many write GitHub as one word


def _pair_letters(run: str) -> Iterator[str]:
    """Yield each two neighbours in *run*; a single letter stays."""
    if len(run) == 1:
        yield run
    for first, second in pairwise(run):
        yield first + second


def collect_schema_texts(schema: Any) -> list[str]:
    """Return the names, titles, descriptions and choices of the members within *schema*."""
    found: list[str] = []
    waiting = [(as_schema(schema), 0)]
    for inner, depth in waiting:  # the loop appends to it
        found += _collect_own_texts(inner)
        if depth < _MAX_DEPTH and len(waiting) < _MAX_SCHEMAS:
            waiting += [(part, depth + 1) for part in _iterate_parts(inner) if part]
    return found


def _collect_own_texts(schema: dict[str, Any]) -> list[str]:
    choices = schema.get("enum")
    texts = [read_text(schema.get("title")), read_text(schema.get("description"))]
    texts += as_schema(schema.get("properties"))
    if isinstance(choices, list):
        texts += map(read_text, choices[:20])
    return [each for each in texts if each]


def _iterate_parts(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield from map(as_schema, as_schema(schema.get("properties")).values())
    for word in _HOLDING_SCHEMAS:
        yield as_schema(schema.get(word))
    for word in _HOLDING_LISTS:
        several = schema.get(word)
        if isinstance(several, list):
            yield from map(as_schema, several)
