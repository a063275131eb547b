"""The endpoints of vendors and local servers, and their differences.

Looked up in November 2026: `source` is the page about the endpoint; some pages could only be read as other projects
quote them. None was tried with an account. `base_url=`, `key=` and `body=` override a wrong or outdated preset, and
`capability_fallback` learns from refusals.
"""

from __future__ import annotations

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


PRESETS: dict[str, Preset] = {
    "openai": Preset(
        base_url="https://api.openai.com/v1",
        url_variable="OPENAI_BASE_URL",
        key_variables=("OPENAI_API_KEY",),
        limit="max_completion_tokens",  # newer models refuse max_tokens
        strict_schemas=True,
        source="https://platform.openai.com/docs/api-reference/chat/create",
    ),
    "anthropic": Preset(
        base_url="https://api.anthropic.com/v1",
        url_variable="ANTHROPIC_BASE_URL",
        key_variables=("ANTHROPIC_API_KEY",),
        wire="messages",
        formats=("json_schema", "text"),
        strict_schemas=True,
        source="https://docs.claude.com/en/api/messages",
    ),
    "deepseek": Preset(
        base_url="https://api.deepseek.com",
        key_variables=("DEEPSEEK_API_KEY",),
        formats=("json_object", "text"),
        # "must be fully passed back to the API in all subsequent requests": guides/thinking_mode
        echoes=("reasoning_content",),
        source="https://api-docs.deepseek.com/",
    ),
    "qwen": Preset(  # outside of China: https://dashscope-intl.aliyuncs.com/compatible-mode/v1
        base_url="https://dashscope.aliyuncs.com/compatible-mode/v1",
        key_variables=("DASHSCOPE_API_KEY",),
        source="https://help.aliyun.com/zh/model-studio/compatibility-of-openai-with-dashscope",
    ),
    "doubao": Preset(  # a model is called by its name or by the id of an inference endpoint, ep-…
        base_url="https://ark.cn-beijing.volces.com/api/v3",
        key_variables=("ARK_API_KEY",),
        source="https://www.volcengine.com/docs/82379/1330626",
    ),
    "moonshot": Preset(  # outside of China: https://api.moonshot.ai/v1
        base_url="https://api.moonshot.cn/v1",
        key_variables=("MOONSHOT_API_KEY",),
        echoes=("reasoning_content",),
        source="https://platform.kimi.com/docs/api/overview",
    ),
    "zhipu": Preset(
        base_url="https://open.bigmodel.cn/api/paas/v4",
        key_variables=("ZAI_API_KEY", "ZHIPUAI_API_KEY"),
        formats=("json_object", "text"),
        tells_usage=False,
        source="https://java.agentscope.io/v2/en/integration/model/glm",
    ),
    "siliconflow": Preset(
        base_url="https://api.siliconflow.cn/v1",
        key_variables=("SILICONFLOW_API_KEY",),
        source="https://docs.siliconflow.cn/docs/userguide/quickstart",
    ),
    "mistral": Preset(  # refuses members that it does not know with a 422
        base_url="https://api.mistral.ai/v1",
        key_variables=("MISTRAL_API_KEY",),
        tells_usage=False,
        source="https://docs.mistral.ai/api",
    ),
    "gemini": Preset(
        base_url="https://generativelanguage.googleapis.com/v1beta/openai",
        key_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        source="https://ai.google.dev/gemini-api/docs/openai",
    ),
    "xai": Preset(
        base_url="https://api.x.ai/v1",
        key_variables=("XAI_API_KEY",),
        source="https://docs.x.ai/docs/api-reference",
    ),
    "groq": Preset(
        base_url="https://api.groq.com/openai/v1",
        key_variables=("GROQ_API_KEY",),
        source="https://console.groq.com/docs/openai",
    ),
    "openrouter": Preset(
        base_url="https://openrouter.ai/api/v1",
        key_variables=("OPENROUTER_API_KEY",),
        echoes=("reasoning_details",),
        source="https://openrouter.ai/docs/api/reference/errors-and-debugging",
    ),
    "vllm": Preset(
        base_url="http://localhost:8000/v1",
        key_variables=("VLLM_API_KEY",),
        needs_key=False,
        source="https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html",
    ),
    "sglang": Preset(
        base_url="http://localhost:30000/v1",
        needs_key=False,
        source="https://docs.sglang.io/docs/basic_usage/openai_api_completions",
    ),
    "llamacpp": Preset(
        base_url="http://localhost:8080/v1",
        key_variables=("LLAMA_API_KEY",),
        needs_key=False,
        source="https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
    ),
    "ollama": Preset(
        base_url="http://localhost:11434/v1",
        key_variables=("OLLAMA_API_KEY",),
        needs_key=False,
        source="https://docs.ollama.com/api/openai-compatibility",
    ),
    "lmstudio": Preset(  # "'response_format.type' must be 'json_schema' or 'text'"
        base_url="http://localhost:1234/v1",
        key_variables=("LMSTUDIO_API_KEY",),
        needs_key=False,
        formats=("json_schema", "text"),
        source="https://lmstudio.ai/docs/developer/openai-compat",
    ),
}
"""Presets by the names that `model_from_name` takes."""

ALIASES = {
    "ark": "doubao",
    "claude": "anthropic",
    "dashscope": "qwen",
    "glm": "zhipu",
    "google": "gemini",
    "kimi": "moonshot",
    "llama.cpp": "llamacpp",
    "volcengine": "doubao",
}
"""Other names of presets."""


def preset_called(name: str) -> Preset:
    """Return the preset of this *name* or alias.

    Raises:
        NotReady: if it is unknown; the text suggests the closest name and lists all.
    """
    preset = PRESETS.get(ALIASES.get(name, name))
    if preset is None:
        raise NotReady(f"unknown endpoint {name!r}{did_you_mean(name, [*PRESETS, *ALIASES])}")
    return preset


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """Return the end of an error about an unknown *name*: the closest of *known*, and all of them."""
    close = closest(name, known)
    question = f"; did you mean {close[0]!r}?" if close else "."
    return f"{question} Known: {', '.join(known)}"
