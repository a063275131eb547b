"""Narrower schemas of a small model's next reply. Such a model copies well, and composes badly.

Strategy. Errors of tools often name the values that there are. If the user has named one of them, the call that failed
is repeated with it. After a call that succeeded, the answer is its result, or a part of it, word for word.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from toolwire_schemas.dialects.tool_entry import properties

from .messages import Action, Question, UserResponse, from_json
from .result_text import as_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from .messages import FromModel, ToModel
    from .prompt_protocol import Message
    from .tool_lookup import Schema

_MAX_ERROR_CHARS = 5000
_MAX_VALUES = 20
_PARTS = re.compile(r"[,;:\n\"'“”‘’，、；：。！？()\[\]{}<>]+")
_WORDS = re.compile(rf"(?:\s|{_PARTS.pattern})+")


def read_back(history: list[Message]) -> list[ToModel | FromModel]:
    """Return the messages of the structured protocol in *history*, without invalid replies."""
    read = []
    for message in history:
        try:
            read.append(from_json(message["content"]))
        except (ValueError, RecursionError):
            continue
    return read


def said_and_named(error: str, said: list[ToModel | FromModel], prompt: str) -> list[str]:
    """Return the values that *error* names and the user has said, except those of earlier calls.

    Words of the *prompt*, such as "is" and "the", are no values.
    """
    users = "\n".join(each.content for each in said if isinstance(each, Question | UserResponse)).casefold()
    tried = {str(value).casefold() for each in said if isinstance(each, Action) for value in each.params.values()}
    error = error[:_MAX_ERROR_CHARS]
    named = dict.fromkeys(part.strip(" .!?") for part in (*_PARTS.split(error), *_WORDS.split(error)))
    ignored = tried.union(_WORDS.split(prompt.casefold()), [""])
    found = [each for each in named if each.casefold() in users and each.casefold() not in ignored]
    return found[:_MAX_VALUES]


def corrected(schema: Schema, tool: str, values: list[str]) -> Schema:
    """Return the branches of *schema* that ask, or that call *tool* with *values* as its texts."""

    def change(branch: Schema) -> Schema | None:
        members = branch["properties"]
        if members["type"]["enum"] == ["ASK"]:
            return branch
        params = members.get("params", {})
        texts = [name for name, of in properties(params).items() if of.get("type") == "string" and "enum" not in of]
        if not texts or members["tool"]["enum"] != [tool]:
            return None
        chosen = properties(params) | {name: {"type": "string", "enum": values} for name in texts}
        return {**branch, "properties": {**members, "params": {**params, "properties": chosen}}}

    made = _with_branches(schema, change)
    return schema if len(_union(made)["anyOf"]) < 2 else made  # there is no text to correct


def parts(result: Any, max_chars: int) -> list[str]:
    """Return *result*, and the members of a list or an object, as texts of at most *max_chars*."""
    members = list(result.values()) if isinstance(result, dict) else result if isinstance(result, list) else []
    texts = [as_text(each) for each in (result, *members[:_MAX_VALUES]) if not isinstance(each, bool | None)]
    return list(dict.fromkeys(text for text in texts if text.strip() and len(text) <= max_chars))


def quoting(schema: Schema, texts: list[str]) -> Schema:
    """Return *schema* with final answers that are one of *texts*, if there are any, unless they have a type."""
    quoted = {"result": {"type": "string", "enum": texts}} if texts else {}

    def change(branch: Schema) -> Schema:
        members = branch["properties"]
        if "ok" not in members:
            return branch
        is_text = members["result"].keys() <= {"type", "maxLength"} and members["result"].get("type") == "string"
        final = {**(quoted if is_text else {}), "ok": {"type": "boolean", "enum": [True]}}
        return {**branch, "properties": {**members, **final}}

    return _with_branches(schema, change)


def _union(schema: Schema) -> Schema:
    union: Schema = schema["properties"]["reply"] if "properties" in schema else schema
    return union


def _with_branches(schema: Schema, change: Callable[[Schema], Schema | None]) -> Schema:
    """Return *schema* with its branches changed, and without those that become `None`."""
    union = {**_union(schema), "anyOf": [made for each in _union(schema)["anyOf"] if (made := change(each))]}
    return {**schema, "properties": {"reply": union}} if "properties" in schema else union
