"""The endpoints of vendors and local servers, their differences (the table is `vendors.toml`), and
their keys.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from ..errors import NotReady

if TYPE_CHECKING:
    from collections.abc import Sequence

Format = Literal["json_schema", "json_object", "text"]


class Preset(msgspec.Struct, frozen=True, kw_only=True):
    """One endpoint.

    `formats` are its JSON formats, the strictest first; `limit` its name for the maximum of output
    tokens. With `tells_usage` streams report usage only if `stream_options` ask for it.
    `strict_schemas` requests schemas in the form of OpenAI's strict mode. `echoes` are members of
    an answer with tool calls that must be sent back. The server of one that `tells_props` is
    llama.cpp's, which has a page `/props`. One that `takes_parallel` takes OpenAI's
    `parallel_tool_calls`.
    """

    base_url: str
    source: str
    key_variables: tuple[str, ...] = ()
    needs_key: bool = True
    wire: Literal["chat_completions", "messages"] = "chat_completions"
    url_variable: str = ""
    formats: tuple[Format, ...] = ("json_schema", "json_object", "text")
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    tells_usage: bool = True
    strict_schemas: bool = False
    echoes: tuple[str, ...] = ()
    tells_props: bool = False
    takes_parallel: bool = False


PRESETS = msgspec.toml.decode(
    Path(__file__).with_suffix(".toml").read_bytes(), type=dict[str, Preset]
)
"""Presets by the names that `model_from_name` takes."""


# Servers without accounts take any word ("EMPTY", "ollama"). Hiding those would only garble texts.
_SHORTEST_SECRET = 8


class Key:
    """A key that only `reveal` shows. *origin* says where it is from: `the variable X`."""

    __slots__ = ("_value", "origin")

    def __init__(self, value: str, origin: str = "the argument `key`") -> None:
        value = value.strip()
        if not value or not value.isascii() or not value.isprintable():
            raise NotReady(
                f"{origin} holds no key: it is empty, or has letters that no HTTP header can hold"
            )
        self._value = value
        self.origin = origin

    def reveal(self) -> str:
        return self._value

    def hide_in(self, text: str) -> str:
        if len(self._value) >= _SHORTEST_SECRET:
            return text.replace(self._value, "[key]")
        return text

    def __repr__(self) -> str:
        return f"<Key from {self.origin}>"


def find_key(given: str | None, variables: Sequence[str], *, needed: bool) -> Key | None:
    """Return the *given* key, else the first of the environment's *variables* that is set."""
    if given is not None:
        return Key(given)
    for variable in variables:
        if os.environ.get(variable, "").strip():
            return Key(os.environ[variable], f"the variable {variable}")
    if not needed:
        return None
    raise NotReady(
        f"there is no key: set the environment variable {' or '.join(variables)} (or, in Python,"
        " pass key=…)"
    )
