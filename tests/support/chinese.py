"""Recognizes English that was left in Chinese texts."""

from __future__ import annotations

import re

CHINESE = re.compile("[一-鿿]")

QUOTED = re.compile(r"`[^`]*`|'[^']*'|\"[^\"]*\"|\{[^}]*\}|https?://\S+|--[a-z-]+( [A-Z]+)?")
NAMES = re.compile(
    r"\b(JSON Schema|Unix|OpenStreetMap|Google Scholar|Google Search|ISO 8601|settings\.yml"
    r"|search\.formats|Ctrl-D|Ada Brewer|token|Atom|lat lon)\b"
)
TWO_WORDS = re.compile(r"\b[A-Za-z]{2,} [A-Za-z]{2,}\b")


def english_in(text: str) -> list[str]:
    """Return each two English words in a row of *text* that are neither quoted nor a name."""
    return TWO_WORDS.findall(NAMES.sub("", QUOTED.sub("", text)))
