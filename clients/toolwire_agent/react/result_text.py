"""A tool's result as the model receives it: JSON of a limited size, and remarks on changes."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from .prompts import Remark, remark

MAX_CHARS = 30_000
"""Claude Code's limit for a command's output (`BASH_MAX_OUTPUT_LENGTH`)."""


def limit_result(value: Any, max_chars: int = MAX_CHARS) -> tuple[Any, list[Remark]]:
    """Return *value* as a JSON value of at most *max_chars* characters, and remarks on the changes.

    Values without a JSON form become text. Long values become the start and the end of their text.
    """
    value, remarks = _make_plain(value)
    text = to_text(value)
    if len(text) <= max_chars:
        return value, remarks
    kept = max(max_chars - 1, 0)
    begin, end = kept - kept // 2, len(text) - kept // 2
    kind = "cut_text" if isinstance(value, str) else "cut_json"
    remarks.append(remark(kind, lost=end - begin, total=len(text)))
    return f"{text[:begin]}…{text[end:]}", remarks


def to_text(value: Any) -> str:
    """Return a JSON value as text; text stays as it is."""
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _make_plain(value: Any) -> tuple[Any, list[Remark]]:
    changed: dict[str, None] = {}

    def convert_by_type(unusual: Any) -> str:
        changed[type(unusual).__name__] = None
        return _write_text(unusual)

    def convert(unusual: Any) -> Any:
        if isinstance(unusual, _NOT_JSON):
            return convert_by_type(unusual)
        try:  # dates and dataclasses have a usual form in JSON
            return msgspec.to_builtins(unusual, str_keys=True, enc_hook=convert_by_type)
        except Exception:  # an object's own code may raise anything
            return convert_by_type(unusual)

    try:
        plain = json.loads(json.dumps(value, ensure_ascii=False, allow_nan=False, default=convert))
    except (TypeError, ValueError, RecursionError):  # keys other than text, NaN, cycles
        plain = convert_by_type(value)
    if not changed:
        return plain, []
    return plain, [remark("as_text", types=", ".join(changed))]


# msgspec's form for them hides their type.
_NOT_JSON = (bytes, bytearray, memoryview, set, frozenset)


def _write_text(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # an object's own code may raise anything
        return f"<{type(value).__name__}>"
