"""Estimates how many tokens a model reads of a text, or of a tool in a list.

The number is an estimate: no vendor publishes a tokenizer for all of its current models, and
nothing here knows the model. Four ASCII characters count as one token, as OpenAI
(help.openai.com/en/articles/4936856) and Google (ai.google.dev/gemini-api/docs/tokens) say of
English text, and each other character as one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .wire.codec import EncodingError, encode_plain

if TYPE_CHECKING:
    from collections.abc import Iterable

_ASCII_CHARACTERS_PER_TOKEN = 4
_SENT_TO_MODELS = ("name", "description", "inputSchema")


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a model reads of *text*."""
    others = len(text) - len(text.encode("ascii", "ignore"))
    return (len(text) - others) // _ASCII_CHARACTERS_PER_TOKEN + others


def estimate_list_tokens(entries: Iterable[dict[str, Any]]) -> int:
    """Return about how many tokens a model reads of *entries* of `tools/list`."""
    return sum(estimate_tokens(write_text_for_models(entry)) for entry in entries)


def write_text_for_models(entry: dict[str, Any]) -> str:
    """Return what hosts send to a model of an *entry* of `tools/list`: name, description and input
    schema, as JSON.
    """
    sent = {member: entry[member] for member in _SENT_TO_MODELS if member in entry}
    try:
        return str(encode_plain(sent), "utf-8")
    except EncodingError:  # of a foreign server, such as one nested too deep
        return repr(sent)
