"""Learns from refusals which JSON formats and parameter names an endpoint accepts.

Strategy. The first request is as strict as the preset allows. A 400 that names its cause makes the next request a step
plainer; the form that succeeds is remembered for all requests of this process to that model at that address. A schema
that is refused for itself is remembered alone: another one may be accepted.

The patterns match refusals as users report them. `response_format` is what OpenAI ("'response_
format' of type 'json_schema' is not supported with this model"), DeepSeek ("This response_format type is unavailable
now", once with a 422), Doubao, LM Studio and Qwen name; Groq: "This model does not support response format
`json_schema`"; Anthropic: "output_config: Extra inputs are not permitted"; llama.cpp: "failed to parse grammar"; vLLM
and SGLang name the grammar or the guided decoding; OpenAI, of limits: "Unsupported parameter: 'max_tokens' is not
supported with this model. Use 'max_completion_tokens' instead."; Mistral, of everything that it does not know (422):
"Extra inputs are not permitted", with the member's name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.wire import codec

from .wire_format import Capabilities

if TYPE_CHECKING:
    from ..errors import Refused
    from .vendors import Format, Preset

_STATUSES = (400, 415, 422, 501)
_ABOUT_FORMAT = re.compile(
    r"response[_ ]format|json[_ ]?(schema|object|mode)|structured[_ ]outputs?|output_(config|format)|grammar|guided",
    re.IGNORECASE,
)
_ABOUT_THIS_SCHEMA = re.compile(r"invalid[_ ](json[_ ])?schema|schema (is )?(too|not valid)|grammar", re.IGNORECASE)
_LIMITS = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}


class CapabilityFallback:
    """Remembers what one endpoint accepts for one model."""

    def __init__(self, preset: Preset) -> None:
        self._formats = preset.formats
        self._form = Capabilities(format=preset.formats[0], limit=preset.limit, tells_usage=preset.tells_usage)
        self._formats_of_schemas: dict[bytes, Format] = {}

    def form(self, schema: dict[str, Any] | None) -> Capabilities:
        """Return the form of the next request for a reply that follows *schema*."""
        known = self._formats_of_schemas.get(_key(schema))
        return msgspec.structs.replace(self._form, format=known) if known else self._form

    def reduced(self, form: Capabilities, schema: dict[str, Any] | None, refused: Refused) -> Capabilities | None:
        """Return the next plainer form after *form* was *refused*; `None` if the cause is something else."""
        text = f"{refused.message} {refused.code}"
        if refused.status not in _STATUSES:
            return None
        if schema is not None and form.format != self._formats[-1] and _ABOUT_FORMAT.search(text):
            following = self._formats[self._formats.index(form.format) + 1]
            return msgspec.structs.replace(form, format=following)
        if form.tells_usage and "stream_options" in text:
            return msgspec.structs.replace(form, tells_usage=False)
        if re.search(rf"\b{form.limit}\b", text) and form.limit == self._form.limit and _is_unknown(text):
            return msgspec.structs.replace(form, limit=_LIMITS[form.limit])
        return None

    def remember(self, form: Capabilities, schema: dict[str, Any] | None, refused: Refused) -> None:
        """Start with *form* from now on, which succeeded after others were *refused*."""
        if _ABOUT_THIS_SCHEMA.search(refused.message):
            self._formats_of_schemas[_key(schema)] = form.format
            form = msgspec.structs.replace(form, format=self._form.format)
        self._form = form


_KNOWN: dict[tuple[str, str, bytes], CapabilityFallback] = {}


def fallback_for(url: str, model: str, preset: Preset) -> CapabilityFallback:
    """Return what this process knows of *model* at *url*; all `RemoteModel`s share it."""
    return _KNOWN.setdefault((url, model, msgspec.json.encode(preset)), CapabilityFallback(preset))


def _is_unknown(text: str) -> bool:
    return re.search("unsupported|not supported|not permitted|unknown|unrecognized", text, re.IGNORECASE) is not None


def _key(schema: dict[str, Any] | None) -> bytes:
    return b"" if schema is None else codec.encode(schema)
