"""Finds the code in what a model writes for `command`. No I/O."""

from __future__ import annotations

import ast

from toolwire_compat.lagent.model_literals import MAX_LITERAL, NotALiteral, read_json

from ..python_interpreter.child import without_fence


def extract_code(command: str) -> str:
    """Return the Python code in *command*: in a Markdown fence, in `{"code": ...}`, both, or all of
    it.
    """
    return without_fence(_unwrap(without_fence(command)))


def _unwrap(text: str) -> str:
    """Return the code of an object whose only member is `code`; any other text unchanged.

    Lagent reads JSON5 there, so single quotes are read too.
    """
    stripped = text.strip()
    if not (stripped.startswith("{") and stripped.endswith("}")):
        return text
    value = _read_object(stripped)
    if not isinstance(value, dict) or set(value) != {"code"}:
        return text
    code = value["code"]
    if not isinstance(code, str):
        return text
    return code


def _read_object(text: str) -> object:
    try:
        return read_json(text)
    except NotALiteral:
        pass
    if len(text) > MAX_LITERAL:
        return None
    try:
        return ast.literal_eval(text)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return None
