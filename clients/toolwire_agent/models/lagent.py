"""`GPTAPI` of Lagent and `DoubaoAPI` of Groot, with their arguments, for existing code.

`chat` and `generate` block; an agent uses the asynchronous `reply`. Differences from Lagent 0.2.4
and 0.5: a lost connection is not retried forever, any model name works, replies may exceed 4,096
tokens, there are time limits, and only the given settings are sent.
"""

from __future__ import annotations

import enum
import queue
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

import anyio
from anyio.lowlevel import current_token
from toolwire_client.waiting.base import run_in_daemon_thread
from toolwire_schemas.retries import Retries
from toolwire_schemas.threads import restore_hooks

from .errors import EndpointRefused, NotReady
from .http_api.remote_model import OpenAIModel
from .model import keep_open

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractAsyncContextManager

    from ..react.messages import ModelReply
    from .model import Message, ReplyOptions

Messages = list[dict[str, Any]]

_OPENAI_API_BASE = "https://api.openai.com/v1/chat/completions"
_AT_ONCE = 20

# Lagent's names of settings and the API's; None: accepted, but not sent.
_SETTINGS: dict[str, str | None] = {
    "max_new_tokens": "max_tokens",
    "stop_words": "stop",
    "repetition_penalty": "frequency_penalty",
    "top_k": None,
    "skip_special_tokens": None,
    "session_id": None,
}
_TEMPLATE = ({"role": "environment", "api_role": "system"},)


class ModelStatusCode(enum.IntEnum):
    """The kind of a piece of `stream_chat`, with Lagent's numbers."""

    END = 0
    STREAM_ING = 1


class BlockingModel:
    """A model whose `chat` takes messages and `generate` one text, or lists of them.

    The *models* differ in their keys and take turns; one without quota is not used again.
    """

    def __init__(
        self,
        models: Sequence[OpenAIModel],
        gen_params: Mapping[str, Any],
        template: Sequence[Mapping[str, Any]] | None = None,
        query_per_second: float | None = None,
    ) -> None:
        self._models = list(models)
        self._gen_params = gen_params
        self._template = {each["role"]: each for each in template or ()}
        self._pause_seconds = 1 / query_per_second if query_per_second else 0.0
        self._next_time = 0.0
        self._turn = 0
        self._lock = threading.Lock()

    def keep_open(self) -> AbstractAsyncContextManager[None]:
        return keep_open(*self._models)

    async def reply(self, messages: list[Message], **options: Unpack[ReplyOptions]) -> ModelReply:
        return await self._reply(messages, {}, **options)

    def chat(self, inputs: Messages | list[Messages], **gen_params: Any) -> Any:
        """Return the answer to a conversation, or a list of answers to a list of conversations.

        Raises:
            ModelError: if there is no reply.
        """
        _refuse_event_loop()
        several: list[Any] = inputs  # of messages, or of conversations
        if not several or not isinstance(several[0], list):
            return anyio.run(partial(self._answer, several, gen_params))
        restore_hooks()
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            return list(threads.map(partial(self.chat, **gen_params), several))

    def generate(self, inputs: str | list[str], **gen_params: Any) -> Any:
        """Return the answer to a text, or a list of answers. The text is sent unchanged."""
        if not isinstance(inputs, str):
            return self.chat([[{"role": "user", "content": each}] for each in inputs], **gen_params)
        return self.chat([{"role": "user", "content": inputs}], **gen_params)

    def stream_chat(
        self, inputs: Messages, **gen_params: Any
    ) -> Iterator[tuple[ModelStatusCode, str, None]]:
        """Yield the answer so far after each piece, and finally the whole."""
        pieces: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        whole = run_in_daemon_thread(
            partial(anyio.run, partial(self._answer, inputs, gen_params, on_text=pieces.put))
        )
        whole.add_done_callback(lambda _: pieces.put(None))
        text = ""
        while (piece := pieces.get()) is not None:
            text += piece
            yield ModelStatusCode.STREAM_ING, text, None
        whole.result()
        yield ModelStatusCode.END, text, None

    async def _answer(
        self, messages: Messages, gen_params: Mapping[str, Any], **options: Any
    ) -> str:
        return (await self._reply(messages, gen_params, **options)).text.strip()

    async def _reply(
        self, messages: Messages, gen_params: Mapping[str, Any], **options: Any
    ) -> ModelReply:
        sent = [self._convert_role(message) for message in messages]
        settings = _make_settings({**self._gen_params, **gen_params})
        while True:
            model, wait_seconds = self._take_next_model()
            await anyio.sleep(wait_seconds)
            try:
                return await model.with_settings(**settings).reply(sent, **options)
            except EndpointRefused as error:
                if error.code != "insufficient_quota" or not self._drop(model):
                    raise

    def _take_next_model(self) -> tuple[OpenAIModel, float]:
        """The model of the next request, and the wait for its turn."""
        with self._lock:
            self._turn += 1
            now = time.monotonic()
            self._next_time = max(self._next_time + self._pause_seconds, now)
            return self._models[self._turn % len(self._models)], self._next_time - now

    def _drop(self, model: OpenAIModel) -> bool:
        """Stop using the key of *model*; return False if it is the last one."""
        with self._lock:
            others = [other for other in self._models if other is not model]
            self._models = others or self._models
            return bool(others)

    def _convert_role(self, message: dict[str, Any]) -> Message:
        entry = self._template.get(message.get("role"))
        if entry is None:
            return message
        content = f"{entry.get('begin', '')}{message.get('content') or ''}{entry.get('end', '')}"
        return {**message, "role": entry["api_role"], "content": content}

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self._models[0]!r}>"


class GPTAPI(BlockingModel):
    """OpenAI's models, and others with chat completions, with the arguments of Lagent's `GPTAPI`.

    *key* is one or several, used in turn; `"ENV"` is the variable OPENAI_API_KEY. A key without
    quota is dropped. *org* likewise. *retry* is the number of attempts. *openai_api_base* (0.2.4)
    and *api_base* (0.5) are the whole address; *proxies* are as for requests. *gen_params* are
    `temperature`, `max_new_tokens` and so on.

    Raises:
        NotReady: if there is no key.
    """

    is_api = True

    def __init__(
        self,
        model_type: str = "gpt-3.5-turbo",
        *,
        query_per_second: float | None = None,
        retry: int = 2,
        json_mode: bool = False,
        key: str | Sequence[str] = "ENV",
        org: str | Sequence[str] | None = None,
        meta_template: Sequence[Mapping[str, Any]] | None = _TEMPLATE,
        openai_api_base: str | None = None,
        api_base: str | None = None,
        proxies: Mapping[str, str] | None = None,
        **gen_params: Any,
    ) -> None:
        self.model_type = model_type
        url = openai_api_base or api_base or _OPENAI_API_BASE
        keys: list[str | None] = [key] if isinstance(key, str) else list(key)
        if key == "ENV":
            keys = [None]
        orgs = [org] if isinstance(org, str) else list(org or ())
        extra_body = {"response_format": {"type": "json_object"}} if json_mode else {}
        models = []
        for place, one_key in enumerate(keys):
            headers = {}
            if orgs:
                headers["OpenAI-Organization"] = orgs[place % len(orgs)]
            model = OpenAIModel(
                model_type,
                base_url=None if url == _OPENAI_API_BASE else url,
                key=one_key,
                headers=headers,
                extra_body=extra_body,
                retries=Retries(attempts=max(1, retry)),
                proxy=(proxies or {}).get(url.partition(":")[0]),
            )
            models.append(model)
        super().__init__(models, gen_params, meta_template, query_per_second)


class DoubaoAPI(BlockingModel):
    """Doubao, with the arguments of Groot's `DoubaoAPI`.

    With `mode="psm"` Groot finds a service by its PSM, which works only inside ByteDance. Here such
    a configuration needs the *base_url* of an endpoint with OpenAI's chat completions; its
    `model_name` is the model. Otherwise *model* is one of Volcengine's Ark, with the key in
    ARK_API_KEY.

    Raises:
        NotReady: if the service cannot be reached, or the model or key is missing.
    """

    def __init__(
        self,
        mode: str | None = None,
        psm_cfg: Mapping[str, Any] | None = None,
        *,
        model: str | None = None,
        base_url: str | None = None,
        key: str | None = None,
        **gen_params: Any,
    ) -> None:
        configuration = psm_cfg or {}
        if mode == "psm" and base_url is None:
            raise NotReady(
                f"the service {configuration.get('psm', '(no psm)')!r} is found by its PSM, which"
                " only works inside ByteDance; give the base_url of an endpoint that speaks"
                " OpenAI's chat completions, or leave the mode out and name a model of"
                " Volcengine's Ark: DoubaoAPI(model='doubao-…')"
            )
        name = model or configuration.get("model_name")
        if not name:
            raise NotReady("which model? Give model=…, or psm_cfg with a model_name")
        super().__init__([OpenAIModel(name, "doubao", base_url=base_url, key=key)], gen_params)


def _make_settings(gen_params: Mapping[str, Any]) -> dict[str, Any]:
    """Return *gen_params* as `RemoteModel.with_settings` takes them."""
    named = {
        _SETTINGS.get(name, name): value for name, value in gen_params.items() if value is not None
    }
    named.pop(None, None)
    return {"max_tokens": named.pop("max_tokens", None), "extra_body": named}


def _refuse_event_loop() -> None:
    try:
        current_token()
    except RuntimeError:  # no event loop runs in this thread
        return
    raise RuntimeError("this call blocks the running event loop: use `await model.reply(messages)`")
