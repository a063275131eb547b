"""Counts tokens with tiktoken, where that is installed; `tokens` estimates them everywhere."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

ENCODING = "o200k_base"
"""The vocabulary of OpenAI's models since GPT-4o."""


def find_exact_counter() -> Callable[[str], int] | None:
    """Return what counts the tokens of a text; `None` without tiktoken, or if its vocabulary, which
    it downloads once, cannot be read.
    """
    try:
        encoding = import_module("tiktoken").get_encoding(ENCODING)
    except (ImportError, OSError):  # the errors of its downloads are OSErrors
        return None
    return lambda text: len(encoding.encode(text, disallowed_special=()))
