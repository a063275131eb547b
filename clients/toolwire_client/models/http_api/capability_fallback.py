"""Learns from refusals which JSON formats and parameter names an endpoint accepts.

Strategy. The first request is as strict as the preset allows. A 400 that names its cause makes the next request a step
plainer; the form that succeeds is remembered for all requests of this process to that model at that address.

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
from typing import TYPE_CHECKING

import msgspec

from .wire_format import Capabilities

if TYPE_CHECKING:
    from ..errors import Refused
    from .vendors import Preset

_STATUSES = (400, 415, 422, 501)
_ABOUT_FORMAT = re.compile(
    r"response[_ ]format|json[_ ]?(schema|object|mode)|structured[_ ]outputs?|output_(config|format)|grammar|guided",
    re.IGNORECASE,
)
_UNKNOWN = re.compile("unsupported|not supported|not permitted|unknown|unrecognized", re.IGNORECASE)
_LIMITS = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}


KNOWN: dict[tuple[str, str, Preset], Capabilities] = {}
"""The forms that succeeded in this process, by address, model and preset."""


def first_form(preset: Preset) -> Capabilities:
    """Return the strictest form that *preset* allows."""
    return Capabilities(format=preset.formats[0], limit=preset.limit, tells_usage=preset.tells_usage)


def reduced(form: Capabilities, preset: Preset, *, has_schema: bool, refused: Refused) -> Capabilities | None:
    """Return the next plainer form after *form* was *refused*; `None` if the cause is something else."""
    text = f"{refused.message} {refused.code}"
    if refused.status not in _STATUSES:
        return None
    if has_schema and form.format != preset.formats[-1] and _ABOUT_FORMAT.search(text):
        following = preset.formats[preset.formats.index(form.format) + 1]
        return msgspec.structs.replace(form, format=following)
    if form.tells_usage and "stream_options" in text:
        return msgspec.structs.replace(form, tells_usage=False)
    if re.search(rf"\b{form.limit}\b", text) and form.limit == preset.limit and _UNKNOWN.search(text):
        return msgspec.structs.replace(form, limit=_LIMITS[form.limit])
    return None
