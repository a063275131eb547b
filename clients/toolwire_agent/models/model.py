"""The interface of a model, and adapters for other objects.

A message is a dict of OpenAI's shape: `role` is `system`, `user`, `assistant` or `tool`, `content`
the text. An assistant's message may have `tool_calls`
(`{"id", "type": "function", "function": {"name", "arguments"}}`); a tool's message names the call
that it answers (`tool_call_id`). An `echo` next to an assistant's content is the `ModelReply.echo`
that the vendor expects back. Models ignore members that they do not use.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any, Protocol, TypedDict, Unpack, cast

import msgspec
from toolwire_client.waiting.event_loop import run_in_thread
from toolwire_schemas.signatures import read_signature

from ..react.messages import ModelReply, ToolCall, Usage
from .errors import NotAModel

Message = dict[str, Any]
OnText = Callable[[str], object]
"""Receives the answer piece by piece, without thoughts. An awaitable result is awaited.

Before a reply of which it has received a part is requested again, its method `restart()` is called,
if it has one. True means that nothing of the part was shown; the pieces of the new reply follow.
Otherwise the request fails.
"""


class ReplyOptions(TypedDict, total=False):
    """The keyword arguments of `Model.reply`."""

    tools: list[dict[str, Any]] | None
    reply_schema: dict[str, Any] | None
    on_text: OnText | None
    max_tokens: int | None


class ServerFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts about a model's server, `None` where unknown."""

    context_tokens: int | None = None
    """The tokens of a request and its reply together."""
    takes_tools: bool | None = None
    """Whether the model sees the tools of a request."""


class Model(Protocol):
    """An object that replies to messages.

    `strict_schemas = True` requests reply schemas in the form of OpenAI's strict mode. A method
    `keep_open()` may return an asynchronous context manager within which connections stay open from
    one request to the next; an agent enters one for each run, perhaps several at once. An
    asynchronous method `fetch_server_facts()` may return `ServerFacts`, which an agent asks for
    at the start of a session.
    """

    async def reply(
        self,
        messages: list[Message],
        *,
        tools: list[dict[str, Any]] | None = None,
        reply_schema: dict[str, Any] | None = None,
        on_text: OnText | None = None,
        max_tokens: int | None = None,
    ) -> ModelReply:
        """Return the reply to *messages*.

        *tools* are entries as in MCP's `tools/list`; with them the reply may have `tool_calls`,
        under the tools' own names. *reply_schema* is the JSON Schema that the text should follow;
        not every model can guarantee that. *max_tokens* limits the reply; a model without this
        parameter ignores it.

        Raises:
            ModelError: if there is no reply; the text says why.
        """


def as_model(thing: object) -> Model:
    """Return *thing* as a model: it has `reply`, `chat(messages)`, `generate(prompt)` or, as in
    Gemini, `start_chat()`.

    The methods may be asynchronous, or synchronous and then run in a thread. `chat` returns text, a
    `ModelReply` or an object with a `text`; it receives `tools`, `reply_schema` and `on_text` if it
    has parameters of these names. `generate` receives the messages as one text and returns text.
    `start_chat()` returns a chat, whose `send_message(text)` receives only new messages, and
    returns what `chat` may return.

    Raises:
        NotAModel: if *thing* has none of these methods.
    """
    if isinstance(thing, type):
        raise NotAModel(f"{thing.__name__} is a class; a model is an object: {thing.__name__}(…)")
    if inspect.iscoroutinefunction(getattr(thing, "reply", None)):
        return cast("Model", thing)
    for name in ("chat", "generate"):
        if callable(getattr(thing, name, None)):
            return MethodModel(thing, name)
    if callable(getattr(thing, "start_chat", None)):
        return ChatSessionModel(thing)
    methods = "chat(messages), generate(prompt) or start_chat()"
    raise NotAModel(f"{_describe(thing)} is not a model: it has no method {methods}")


class MethodModel:
    """A model that calls *thing*'s `chat`, or its `generate`, which takes one text without
    roles.
    """

    def __init__(self, thing: object, name: str) -> None:
        self._thing = thing
        self._name = name
        self._method = getattr(thing, name)
        self._accepted: frozenset[str] = frozenset()
        if name == "chat":
            self._accepted = _list_parameters(self._method)

    async def reply(self, messages: list[Message], **options: Unpack[ReplyOptions]) -> ModelReply:
        """As `Model.reply`; tools are refused if the method has no parameter for them."""
        where = f"the {self._name} of {_describe(self._thing)}"
        if options.get("tools") and "tools" not in self._accepted:
            raise NotAModel(f"{where} takes no tools; use a protocol of plain text")
        accepted = {}
        for name, value in options.items():
            if value is not None and name in self._accepted:
                accepted[name] = value
        sent = messages if self._name == "chat" else join_prompt(messages)
        answer = read_reply(await _call(self._method, sent, **accepted), where)
        if "on_text" not in accepted:
            await emit_text(options.get("on_text"), answer.text)
        return answer


_MAX_CHATS = 16
"""How many chats may wait for their next message: each keeps its whole conversation."""


class ChatSessionModel:
    """A model that sends messages to the chats of *thing*'s `start_chat()`; a chat remembers what
    it was sent.

    Strategy. A model is passed the whole conversation each time. The chat that has seen its
    beginning gets the rest; without one, a new chat gets all of it. A chat is taken out while it
    replies, and dropped if that fails.
    """

    def __init__(self, thing: object) -> None:
        self._start_chat: Callable[[], Any] = thing.start_chat  # type: ignore[attr-defined]
        self._where = f"the chat of {_describe(thing)}"
        self._chats: list[tuple[list[_Seen], Any]] = []
        """The chats that wait, the latest last, each with what it has seen."""

    async def reply(self, messages: list[Message], **options: Unpack[ReplyOptions]) -> ModelReply:
        """As `Model.reply`; tools are refused."""
        if options.get("tools"):
            raise NotAModel(f"{self._where} takes no tools; use a protocol of plain text")
        conversation = [_summarize(message) for message in messages]
        known, chat = self._take(conversation)
        if chat is None:
            chat = await _call(self._start_chat)
        if not callable(getattr(chat, "send_message", None)):
            raise NotAModel(f"{self._where} is {_describe(chat)}, which has no send_message(text)")
        answer = await _call(chat.send_message, join_prompt(messages[known:]))
        answer = read_reply(answer, self._where)
        self._chats.append(([*conversation, ("assistant", answer.text)], chat))
        del self._chats[:-_MAX_CHATS]
        await emit_text(options.get("on_text"), answer.text)
        return answer

    def _take(self, conversation: list[_Seen]) -> tuple[int, Any]:
        """Return the chat that has seen most of *conversation*, and how many messages; 0 and `None`
        without one.
        """
        best = None
        for each in self._chats:
            seen, _ = each
            is_beginning = len(seen) < len(conversation) and conversation[: len(seen)] == seen
            if is_beginning and (best is None or len(seen) > len(best[0])):
                best = each
        if best is None:
            return 0, None
        self._chats.remove(best)
        seen, chat = best
        return len(seen), chat


_Seen = tuple[str, str]
"""The role and the content of a message."""


def _summarize(message: Message) -> _Seen:
    return str(message.get("role")), str(message.get("content") or "")


async def _call(method: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Return the result of *method*, which runs in a thread unless it is asynchronous."""
    call = partial(method, *arguments, **options)
    result = call() if inspect.iscoroutinefunction(method) else await run_in_thread(call)
    if isinstance(result, Awaitable):
        return await result
    return result


def join_prompt(messages: list[Message]) -> str:
    """Return *messages* as one text: a single one unchanged, several under their roles, ending with
    `assistant:`.
    """
    if len(messages) == 1:
        return str(messages[0].get("content") or "")
    parts = [f"{message.get('role')}: {message.get('content') or ''}" for message in messages]
    return "\n\n".join([*parts, "assistant:"])


def read_reply(made: object, where: str) -> ModelReply:
    """Return *made*, the result of *where*, as a reply."""
    if isinstance(made, ModelReply):
        return made
    if isinstance(made, str):
        return ModelReply(text=made)
    if isinstance(made, dict) and isinstance(made.get("content"), str):  # an assistant's message
        return ModelReply(text=made["content"])
    if not isinstance(getattr(made, "text", None), str):
        raise NotAModel(
            f"{where} returned {_describe(made)}; a model returns text, or a ModelReply"
        )
    members = {}
    for name in ModelReply.__struct_fields__:
        if hasattr(made, name):
            members[name] = getattr(made, name)
    try:
        return msgspec.convert(members, ModelReply, from_attributes=True)
    except msgspec.ValidationError as error:
        raise NotAModel(
            f"{where} returned {_describe(made)}, which is not a valid ModelReply: {error}"
        ) from None


@asynccontextmanager
async def keep_open(*models: object) -> AsyncIterator[None]:
    """Keep the connections of *models* open within the block, where they support it: see
    `Model`.
    """
    async with AsyncExitStack() as stack:
        for model in models:
            if callable(keep := getattr(model, "keep_open", None)):
                await stack.enter_async_context(keep())
        yield


async def emit_text(on_text: OnText | None, text: str) -> None:
    """Pass *text* to *on_text*, if both are present."""
    if on_text is not None and text:
        returned = on_text(text)
        if inspect.isawaitable(returned):
            await returned


def takes(function: Callable[..., Any], name: str) -> bool:
    """Return whether *function* has a keyword argument *name*, or takes any."""
    try:
        parameters = read_signature(function).parameters.values()
    except (ValueError, TypeError):  # written in C, without a signature
        return False
    return any(each.name == name or each.kind is each.VAR_KEYWORD for each in parameters)


def _list_parameters(function: Callable[..., Any]) -> frozenset[str]:
    try:
        return frozenset(read_signature(function).parameters)
    except (ValueError, TypeError):  # written in C, without a signature
        return frozenset()


def _describe(thing: object) -> str:
    if isinstance(thing, str):
        return f"the text {thing!r} (see model_from_name)"
    if inspect.isroutine(thing):
        return f"the function {getattr(thing, '__name__', thing)} (see ScriptedModel)"
    return f"an object of type {type(thing).__name__}"


__all__ = ["Message", "Model", "ModelReply", "OnText", "ToolCall", "Usage", "as_model"]
