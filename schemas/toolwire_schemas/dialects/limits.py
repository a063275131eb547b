"""What a schema wants besides its type, in words: for dialects that have only a description to say it in."""

from __future__ import annotations

import json
from typing import Any

from .tool_entry import Schema, schema_of, text, without_null

_LIMITS = (
    "format",
    "pattern",
    "minimum",
    "exclusiveMinimum",
    "maximum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
)


def limits(schema: Schema) -> str:
    """Return what narrows the type of *schema*, as in `minimum: 1, maximum: 9`. An empty text if nothing does."""
    wanted, _ = without_null(schema)
    of_items, _ = without_null(schema_of(wanted.get("items")))
    return ", ".join([*_own(wanted), *(f"each {limit}" for limit in _own(of_items))])


def _own(schema: Schema) -> list[str]:
    is_fixed = "prefixItems" in schema  # then the type says how many items there are
    words = [word for word in _LIMITS if word in schema and not (is_fixed and word in ("minItems", "maxItems"))]
    return [f"{word}: {as_json(schema[word])}" for word in words]


def described(schema: Schema, *more: str) -> str:
    """Return what is said about *schema*, and behind it in parentheses its limits and what *more* there is to say."""
    notes = "; ".join(filter(None, (limits(schema), *more)))
    return " ".join(filter(None, (text(schema.get("description")).strip(), notes and f"({notes})")))


def as_json(value: Any) -> str:
    """*value* as a person would write it in JSON, on one line; what is not printable is escaped."""
    try:
        written = json.dumps(value, ensure_ascii=False)
    except RecursionError:  # nobody reads that deep
        return "…"
    return written if written.isprintable() else json.dumps(value)


def on_one_line(words: str) -> str:
    """*words* as one line of printable text."""
    return "".join(
        letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in " ".join(words.split())
    )
