"""Models behind HTTP: `OpenAIModel` and `AnthropicModel`.

Strategy. `Retries` repeats a request that failed for a passing reason. A request is as strict as
the preset allows; a 400 that names its cause makes the next one a step plainer. The form that
succeeds is remembered for all requests of this process to that model at that address. Replies are
streamed by default: some endpoints allow thinking only then (Qwen: "enable_thinking must be set to
false for non-streaming calls"), and many proxies cut a connection that is silent for minutes.
"""

from __future__ import annotations

import copy
import hashlib
import importlib.util
import os
import re
import time
from typing import TYPE_CHECKING, Any, Self, Unpack

import anyio
import msgspec
from toolwire_dialects.name_mapping import Names
from toolwire_schemas.did_you_mean import explain_unknown_name
from toolwire_schemas.install_command import install_command
from toolwire_schemas.retries import Retries
from toolwire_schemas.wire import codec

from ..errors import ContextExceeded, EndpointRefused, ModelError, NotReady, ReplyTimedOut
from ..model import ServerFacts
from .anthropic_messages import Messages
from .chat_completions import ChatCompletions
from .endpoint import Endpoint, TimeLimits, make_url
from .vendors import PRESETS, Preset, find_key
from .wire_format import HttpRequest, count_in

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...react.messages import ModelReply
    from ..model import Message, OnText, ReplyOptions

# The patterns match refusals as users report them. `response_format` is named by OpenAI
# ("'response_format' of type 'json_schema' is not supported with this model"), DeepSeek ("This
# response_format type is unavailable now", once a 422), Doubao, LM Studio and Qwen; Groq: "This
# model does not support response format `json_schema`"; Anthropic: "output_config: Extra inputs are
# not permitted"; llama.cpp: "failed to parse grammar"; vLLM and SGLang name the grammar or the
# guided decoding; OpenAI, of limits: "Unsupported parameter: 'max_tokens' is not supported with
# this model. Use 'max_completion_tokens' instead."; Mistral, of any unknown member: "Extra inputs
# are not permitted".
_STATUSES = (400, 415, 422, 501)
_ABOUT_FORMAT = re.compile(
    r"response[_ ]format|json[_ ]?(schema|object|mode)|structured[_ ]outputs?|output_(config|format)|grammar|guided",  # noqa: E501
    re.IGNORECASE,
)
# Of these refusals another schema may be none. llama.cpp: "failed to parse grammar", "JSON schema
# conversion failed"; OpenAI: "Invalid schema for response_format 'reply'"; vLLM: "The provided JSON
# schema contains features not supported by xgrammar"; Gemini: "The specified schema produces a
# constraint that has too many states for serving".
_ABOUT_SCHEMA = re.compile(
    "failed to parse grammar|schema conversion failed|invalid schema|schema contains features|specified schema",  # noqa: E501
    re.IGNORECASE,
)
_UNKNOWN = re.compile("unsupported|not supported|not permitted|unknown|unrecognized", re.IGNORECASE)
# OpenAI: "max_tokens is too large: 99999. This model supports at most 4096 completion tokens";
# vLLM, of a prompt that leaves too little of the context: "(2000 in the messages, 8192 in the
# completion)".
_ABOUT_LIMIT = re.compile("max_(?:completion_|new_)?tokens|completion", re.IGNORECASE)
_MIN_LOWERED = 1024
_LIMITS = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}

Place = tuple[str, str, Preset, bytes]
KNOWN: dict[Place, Preset] = {}
"""The forms that succeeded in this process, by address, model, preset, and the digest of a schema
that was refused.
"""
_MAX_KNOWN = 1000

FACTS: dict[Place, ServerFacts] = {}
"""The facts of servers that answered in this process, by the same."""
_PROPS_SECONDS = 5.0

_WIRES: dict[str, type[ChatCompletions] | type[Messages]] = {
    "chat_completions": ChatCompletions,
    "messages": Messages,
}


class RemoteModel:
    """The *model* at the endpoint of *preset*: a name from `PRESETS`, or your own `Preset`.

    *base_url* and *key* override the preset's address and environment variables. *extra_body* and
    *headers* are added to each request, for features of the vendor (`{"reasoning_effort": "low"}`);
    secrets belong into *key*. *temperature* and *max_tokens* default to the vendor's.
    *context_tokens* is the size of the context, which llama.cpp's server tells by itself. *proxy*
    overrides the environment's `HTTPS_PROXY` and `NO_PROXY`.

    Within `async with model:` connections stay open between requests on that event loop; otherwise
    each request has its own. Blocks may be nested; an agent enters one for each run.

    Raises:
        NotReady: if the preset is unknown, a needed key is missing, the address is invalid, or a
            header cannot be sent.
    """

    _usual_preset = "openai"

    def __init__(
        self,
        model: str,
        preset: str | Preset | None = None,
        *,
        base_url: str | None = None,
        key: str | None = None,
        temperature: float | None = None,
        max_tokens: int | None = None,
        context_tokens: int | None = None,
        stream: bool = True,
        extra_body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        retries: Retries | None = None,
        time_limits: TimeLimits | None = None,
        proxy: str | None = None,
    ) -> None:
        if importlib.util.find_spec("httpx2") is None:
            remedy = install_command("toolwire[agent]")
            raise NotReady(f"models behind HTTP need the package httpx2; run: {remedy}")
        self.model = model
        preset = preset or self._usual_preset
        if isinstance(preset, str) and preset not in PRESETS:
            raise NotReady(explain_unknown_name("endpoint", preset, PRESETS))
        self._preset = PRESETS[preset] if isinstance(preset, str) else preset
        self._wire = _WIRES[self._preset.wire]
        own = base_url or os.environ.get(self._preset.url_variable)
        # `model_from_name` makes the model from this, if the address is the preset's.
        self.name = f"{preset}:{model}" if isinstance(preset, str) and not own else None
        # A custom endpoint may need no key.
        self._key = find_key(
            key, self._preset.key_variables, needed=self._preset.needs_key and not own
        )
        self._request = HttpRequest(
            model=model,
            temperature=temperature,
            max_tokens=max_tokens,
            stream=stream,
            body=dict(extra_body or {}),
        )
        self._context_tokens = context_tokens
        self._retries = retries or Retries()
        self._limits = time_limits or TimeLimits()
        url = make_url(own or self._preset.base_url, self._wire.path)
        self._place: Place = (url, model, self._preset, b"")
        all_headers = {**self._wire.make_headers(self._key), **(headers or {})}
        self._endpoint = Endpoint(url, all_headers, self._key, self._limits, proxy)

    @property
    def strict_schemas(self) -> bool:
        return self._preset.strict_schemas

    def with_settings(
        self,
        *,
        temperature: float | None = None,
        max_tokens: int | None = None,
        extra_body: Mapping[str, Any] | None = None,
    ) -> Self:
        """Return the same model with other settings. Connections are shared."""
        other = copy.copy(self)
        body = self._request.body | dict(extra_body or {})
        changes = {"temperature": temperature, "max_tokens": max_tokens, "body": body}
        given = {name: value for name, value in changes.items() if value is not None}
        other._request = msgspec.structs.replace(self._request, **given)
        return other

    async def reply(self, messages: list[Message], **options: Unpack[ReplyOptions]) -> ModelReply:
        """As `Model.reply`. A reply is not requested again after *on_text* has received a part,
        unless it restarts.

        Raises:
            ModelError: see `errors.py`.
        """
        tools = options.get("tools") or []
        request = msgspec.structs.replace(
            self._request,
            messages=messages,
            tools=tools,
            names=Names([tool["name"] for tool in tools], self._wire.dialect),
            schema=options.get("reply_schema"),
            max_tokens=min(
                filter(None, (self._request.max_tokens, options.get("max_tokens"))), default=None
            ),
        )
        with anyio.move_on_after(self._limits.total):
            return await self._request_reply(request, options.get("on_text"))
        raise ReplyTimedOut(
            f"{self._endpoint.shown} gave no reply within {self._limits.total:g} seconds"
        )

    async def _request_reply(self, request: HttpRequest, on_text: OnText | None) -> ModelReply:
        """Request the reply until it comes, in plainer forms or after waits."""
        start, attempt, was_passed_on = time.monotonic(), 1, False
        of_schema = (*self._place[:3], _digest(request.schema))
        place = of_schema if of_schema in KNOWN else self._place
        form = KNOWN.get(place, self._preset)

        def pass_on(text: str) -> object:
            nonlocal was_passed_on
            was_passed_on = on_text is not None
            return on_text and on_text(text)

        while True:
            body, reader = self._make_body(request, form), self._wire(request, self._preset)
            try:
                reply = await self._endpoint.ask(body, reader, pass_on)
            except ModelError as error:
                error.attempts = attempt
                if plainer := _choose_plainer(
                    form, self._preset, error, has_schema=request.schema is not None
                ):
                    if plainer.formats != form.formats and _ABOUT_SCHEMA.search(str(error)):
                        place = of_schema
                    form, attempt = plainer, 1
                    continue
                if request.max_tokens != self._request.max_tokens and (
                    fewer := _lower_tokens(request, error)
                ):
                    request, attempt = msgspec.structs.replace(request, max_tokens=fewer), 1
                    continue
                seconds = self._retries.choose_wait_seconds(attempt + 1, error)
                if seconds is None or time.monotonic() - start + seconds >= self._limits.total:
                    raise
                if was_passed_on and not _restart(on_text):
                    raise
                was_passed_on = False
            else:
                _remember_form(place, form)
                return reply
            attempt += 1
            await (self._retries.sleep or anyio.sleep)(seconds)

    def _make_body(self, request: HttpRequest, form: Preset) -> bytes:
        try:
            return codec.encode(self._wire.make_body(request, form))
        except codec.EncodingError as error:
            raise NotReady(f"the request cannot be written as JSON: {error}") from None

    async def fetch_server_facts(self) -> ServerFacts:
        """Return what is known of the server; llama.cpp's is asked, once in this process."""
        told = FACTS.get(self._place, ServerFacts())
        if self._preset.tells_props and self._place not in FACTS:
            page = await self._endpoint.fetch_json("/props", _PROPS_SECONDS)
            if page is not None:
                told = FACTS[self._place] = _read_facts(page)
        own = self._context_tokens
        if own is None:
            return told
        return msgspec.structs.replace(told, context_tokens=own)

    def keep_open(self) -> Self:
        """Return the model itself: see `Model`."""
        return self

    async def __aenter__(self) -> Self:
        self._endpoint.open()
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self._endpoint.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.model!r} at {self._endpoint.shown}>"


class OpenAIModel(RemoteModel):
    """A model with OpenAI's chat completions: see `RemoteModel`."""


class AnthropicModel(RemoteModel):
    """A model with Anthropic's messages API: see `RemoteModel`."""

    _usual_preset = "anthropic"


def _restart(on_text: OnText | None) -> bool:
    """Return whether *on_text*, which has received a part of a reply, takes another reply in its
    place.
    """
    restart = getattr(on_text, "restart", None)
    return callable(restart) and restart() is True


def _remember_form(place: Place, form: Preset) -> None:
    """Remember that the endpoint takes *form*, and forget the oldest of too many."""
    KNOWN[place] = form
    if len(KNOWN) > _MAX_KNOWN:
        del KNOWN[next(iter(KNOWN))]


def _digest(schema: dict[str, Any] | None) -> bytes:
    if schema is None:
        return b""
    return hashlib.sha256(repr(schema).encode("utf-8", "replace")).digest()


def _read_facts(page: bytes) -> ServerFacts:
    """Return what llama.cpp's `/props` says; a server that says something else is no reason to
    fail.
    """
    try:
        props = codec.decode(page)
    except codec.DecodingError:
        return ServerFacts()
    tokens = count_in(props, "default_generation_settings", "n_ctx")
    takes_tools = None
    match props:
        case {"chat_template_caps": {"supports_tools": bool(value)}}:
            takes_tools = value
    return ServerFacts(context_tokens=tokens if tokens > 0 else None, takes_tools=takes_tools)


def _lower_tokens(request: HttpRequest, error: ModelError) -> int | None:
    """Return a lower limit of tokens if *error* refuses that of *request*; `None` if the cause is
    something else.
    """
    max_tokens = request.max_tokens or 0
    if not isinstance(error, EndpointRefused) or error.status not in _STATUSES:
        return None
    if max_tokens < _MIN_LOWERED or not _ABOUT_LIMIT.search(error.message):
        return None
    is_too_many = "too large" in error.message or "at most" in error.message
    if is_too_many or isinstance(error, ContextExceeded):
        return max_tokens // 4
    return None


def _choose_plainer(
    form: Preset, preset: Preset, error: ModelError, *, has_schema: bool
) -> Preset | None:
    """Return the next plainer form after *form* was refused with *error*; `None` if the cause is
    something else.
    """
    if not isinstance(error, EndpointRefused) or error.status not in _STATUSES:
        return None
    text = f"{error.message} {error.code}"
    if has_schema and len(form.formats) > 1 and _ABOUT_FORMAT.search(text):
        return msgspec.structs.replace(form, formats=form.formats[1:])
    if form.takes_parallel and "parallel_tool_calls" in text:
        return msgspec.structs.replace(form, takes_parallel=False)
    if form.tells_usage and "stream_options" in text:
        return msgspec.structs.replace(form, tells_usage=False)
    is_about_limit = re.search(rf"\b{form.limit}\b", text) and _UNKNOWN.search(text)
    if is_about_limit and form.limit == preset.limit:
        return msgspec.structs.replace(form, limit=_LIMITS[form.limit])
    return None
