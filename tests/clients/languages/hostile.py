"""A list of tools whose every text tries to leave its place in generated source code."""

from __future__ import annotations

import unicodedata
from typing import Any

CHARACTERS = {
    "NUL": "\0",
    "escape": "\x1b[2J\x1b]0;title\x07",
    "carriage return": "\r",
    "byte order mark": "\ufeff",
    "bidirectional override": "\u202e",
    "bidirectional isolate": "\u2066\u2069",
    "line separator": "\u2028\u2029",
    "next line": "\x85",
    "zero width": "\u200b",
    "tag": "\U000e0041",
    "noncharacter": "\ufffe",
    "private use": "\ue000",
    "lone surrogate": "\ud800",
}
"""Characters that compilers, editors or terminals read in their own ways."""

ENDINGS = (
    "*/ }",
    "]] ]==]",
    '"""',
    "'''",
    "` ${process.exit(1)}",
    "\\",
    "// +build ignore",
    "+build ignore",
    "\\<script> ![x](http://127.0.0.1/) [y](javascript:z)",
    "//go:build ignore",
    "#![allow(warnings)]",
    "--]]",
    "---@type boolean",
    "# type: ignore",
    "@ts-nocheck",
    "<script>",
    "```\nfn main() {}\n```",
    "\\u{202e} \\x00 \\N{NULL}",
    "%s %d {0} {name}",
)
"""Texts that end a comment or a literal in some language, or are an instruction to its tools."""

TEXT = "\n".join(["first", *(f"a{text}b" for text in CHARACTERS.values()), *ENDINGS, "last \\"])


def forbidden_in(source: str) -> set[str]:
    """Return the characters of *source* that no source file should have."""
    return {letter for letter in source if not letter.isprintable() and letter not in "\n\t"} | {
        letter
        for letter in source
        if unicodedata.category(letter) in ("Cc", "Cf", "Co", "Cs") and letter not in "\n\t"
    }


def hostile_entries() -> list[dict[str, Any]]:
    """Return the entries of `tools/list`: the hostile text is in every place where a server can put
    one.
    """
    record = {
        "type": "object",
        "title": TEXT,
        "description": TEXT,
        "properties": {
            "plain": {"type": "string", "description": TEXT, "default": TEXT},
            f"name {TEXT}": {"enum": [TEXT, "other"], "description": TEXT},
            "union": {"anyOf": [{"const": TEXT}, {"type": "integer"}, {"$ref": "#/$defs/inner"}]},
        },
        "required": ["plain", f"name {TEXT}"],
    }
    inner = {
        "type": "object",
        "description": TEXT,
        "properties": {"x": {"type": "number", "description": TEXT}},
    }
    schema: dict[str, Any] = {
        "type": "object",
        "description": TEXT,
        "properties": {"record": {"$ref": "#/$defs/record"}, "inner": {"$ref": "#/$defs/inner"}},
        "$defs": {"record": record, "inner": inner, f"odd {TEXT}": inner},
    }
    pointer = f"odd {TEXT}".replace("~", "~0").replace("/", "~1")
    schema["properties"]["odd"] = {"$ref": f"#/$defs/{pointer}"}
    entries = []
    for name in ("plain", f"tool {TEXT}"):
        entries.append(
            {
                "name": name,
                "title": TEXT,
                "description": TEXT,
                "inputSchema": schema,
                "outputSchema": schema,
                "annotations": {"title": TEXT, "destructiveHint": True},
            }
        )
    return entries
