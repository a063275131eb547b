"""The endpoints of vendors and local servers, and their differences; the table is `vendors.toml`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec
from toolwire_schemas.did_you_mean import closest

from ..errors import NotReady

if TYPE_CHECKING:
    from collections.abc import Sequence

Format = Literal["json_schema", "json_object", "text"]


class Preset(msgspec.Struct, frozen=True, kw_only=True):
    """One endpoint.

    `formats` are its JSON formats, the strictest first; `limit` its name for the maximum of output tokens. With
    `tells_usage` streams report usage only if `stream_options` ask for it. `strict_schemas` requests schemas in the
    form of OpenAI's strict mode. `echoes` are members of an answer with tool calls that must be sent back.
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


PRESETS = msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=dict[str, Preset])
"""Presets by the names that `model_from_name` takes."""


def preset_called(name: str) -> Preset:
    """Return the preset of this *name*.

    Raises:
        NotReady: if it is unknown; the text suggests the closest name and lists all.
    """
    preset = PRESETS.get(name)
    if preset is None:
        raise NotReady(f"unknown endpoint {name!r}{did_you_mean(name, [*PRESETS])}")
    return preset


def did_you_mean(name: str, known: Sequence[str]) -> str:
    close = closest(name, known)
    question = f"; did you mean {close[0]!r}?" if close else "."
    return f"{question} Known: {', '.join(known)}"
