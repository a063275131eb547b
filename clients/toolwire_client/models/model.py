"""What a model is to an agent, and how whatever can be asked becomes one.

A message is a dict of OpenAI's shape: `role` is `system`, `user`, `assistant` or `tool`, `content` the text. An
assistant's message may have `tool_calls` (`{"id", "type": "function", "function": {"name", "arguments"}}`) and a tool's
says which of them it answers (`tool_call_id`). An `echo` beside an assistant's content is what `ModelReply.echo` held:
the vendor wants to see it again. A model that has no use for a member passes over it.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Protocol, TypeGuard

import msgspec

from ..react.model_reply import ModelReply, ToolCall, Usage
from ..waiting.threads import in_thread
from .errors import NotAModel

Message = dict[str, Any]
OnText = Callable[[str], object]
"""Hears the answer while it is written, piece by piece, thoughts left out. What it returns is awaited if it can be."""


class Model(Protocol):
    """Anything that can be asked for a reply.

    A model may say `strict_schemas = True`: it wants reply schemas in the form of OpenAI's strict mode. It may have a
    method `kept_open()` that returns an asynchronous context manager, within which connections stay open from one
    request to the next: an agent has such a block for each of its runs, several at once if need be.
    """

    async def reply(
        self,
        messages: list[Message],
        *,
        tools: list[dict[str, Any]] | None = None,
        reply_schema: dict[str, Any] | None = None,
        on_text: OnText | None = None,
    ) -> ModelReply:
        """Return the reply to *messages*.

        *tools* are entries as in MCP's `tools/list`; given them, the reply may have `tool_calls`, under the tools' own
        names. *reply_schema* is the JSON Schema that the text should follow: a wish, which not every model can grant.

        Raises:
            ModelError: why there is none.
        """


def as_model(thing: object) -> Model:
    """Return *thing* as a model: it has `reply`, or else `chat(messages)`, or else `generate(prompt)`.

    These may be synchronous, and then run in a thread, or asynchronous. `chat` returns text, a `ModelReply` or
    anything with a `text`; it is given `tools`, `reply_schema` and `on_text` if it has parameters of these names.
    `generate` returns text; the messages are written one below the other for it.

    Raises:
        NotAModel: if *thing* has none of them.
    """
    if isinstance(thing, type):
        raise NotAModel(f"{thing.__name__} is a class; a model is an object: {thing.__name__}(…)")
    if _is_model(thing):
        return thing
    for name, kind in (("chat", ChatMethodModel), ("generate", GenerateMethodModel)):
        if callable(method := getattr(thing, name, None)):
            return kind(thing, method)
    raise NotAModel(f"{_described(thing)} is no model: it has neither chat(messages) nor generate(prompt)")


class ChatMethodModel:
    """A model that asks another object's `chat`."""

    def __init__(self, thing: object, chat: Callable[..., Any]) -> None:
        self._thing = thing
        self._chat = chat
        self._takes = _parameters(chat)

    async def reply(
        self,
        messages: list[Message],
        *,
        tools: list[dict[str, Any]] | None = None,
        reply_schema: dict[str, Any] | None = None,
        on_text: OnText | None = None,
    ) -> ModelReply:
        """As `Model.reply`; tools are refused if `chat` has no parameter for them."""
        if tools and "tools" not in self._takes:
            raise NotAModel(f"the chat of {_described(self._thing)} takes no tools; use a protocol of plain text")
        wanted = {"tools": tools, "reply_schema": reply_schema, "on_text": on_text}
        given = {name: value for name, value in wanted.items() if value is not None and name in self._takes}
        answer = reply_from(await _called(self._chat, messages, **given), f"the chat of {_described(self._thing)}")
        if "on_text" not in given:
            await tell(on_text, answer.text)
        return answer

    def __repr__(self) -> str:
        return f"<model that asks {self._thing!r}.chat>"


class GenerateMethodModel:
    """A model that asks another object's `generate`, which knows a single text and no roles."""

    def __init__(self, thing: object, generate: Callable[..., Any]) -> None:
        self._thing = thing
        self._generate = generate

    async def reply(
        self,
        messages: list[Message],
        *,
        tools: list[dict[str, Any]] | None = None,
        reply_schema: dict[str, Any] | None = None,
        on_text: OnText | None = None,
    ) -> ModelReply:
        """As `Model.reply`; tools are refused, and schemas have no effect."""
        if tools:
            raise NotAModel(f"the generate of {_described(self._thing)} takes no tools; use a protocol of plain text")
        made = await _called(self._generate, prompt_of(messages))
        answer = reply_from(made, f"the generate of {_described(self._thing)}")
        await tell(on_text, answer.text)
        return answer

    def __repr__(self) -> str:
        return f"<model that asks {self._thing!r}.generate>"


def prompt_of(messages: list[Message]) -> str:
    """*messages* as one text: a single one as it is, several under their roles, and the assistant's turn at the end."""
    if len(messages) == 1:
        return str(messages[0].get("content") or "")
    return "\n\n".join([*(f"{each.get('role')}: {each.get('content') or ''}" for each in messages), "assistant:"])


def reply_from(made: object, where: str) -> ModelReply:
    """Return what *where* returned as a reply.

    Raises:
        NotAModel: if it is none.
    """
    if isinstance(made, ModelReply):
        return made
    if isinstance(made, str):
        return ModelReply(text=made)
    if isinstance(made, dict) and isinstance(made.get("content"), str):  # an assistant's message
        return ModelReply(text=made["content"])
    if not isinstance(getattr(made, "text", None), str):
        raise NotAModel(f"{where} returned {_described(made)}; a model returns text, or a ModelReply")
    members = {name: getattr(made, name) for name in ModelReply.__struct_fields__ if hasattr(made, name)}
    try:
        return msgspec.convert(members, ModelReply, from_attributes=True)
    except msgspec.ValidationError as error:
        raise NotAModel(f"{where} returned {_described(made)}, which is not like a ModelReply: {error}") from None


@asynccontextmanager
async def kept_open(*models: object) -> AsyncIterator[None]:
    """Keep open within the block what those of *models* have that can: see `Model`."""
    async with AsyncExitStack() as stack:
        for model in models:
            if callable(keep := getattr(model, "kept_open", None)):
                await stack.enter_async_context(keep())
        yield


async def tell(on_text: OnText | None, text: str) -> None:
    """Let *on_text* hear *text*, if there are both."""
    if on_text is not None and text:
        heard = on_text(text)
        if inspect.isawaitable(heard):
            await heard


def _is_model(thing: object) -> TypeGuard[Model]:
    return inspect.iscoroutinefunction(getattr(thing, "reply", None))


async def _called(function: Callable[..., Any], *arguments: object, **named: object) -> object:
    """What *function* returns, without keeping the event loop waiting. Cancellation leaves a thread to itself."""
    if inspect.iscoroutinefunction(function):
        return await function(*arguments, **named)
    made = await in_thread(lambda: function(*arguments, **named))
    return await made if isinstance(made, Awaitable) else made


def _parameters(function: Callable[..., Any]) -> frozenset[str]:
    try:
        return frozenset(inspect.signature(function).parameters)
    except (ValueError, TypeError):  # written in C, without a signature
        return frozenset()


def _described(thing: object) -> str:
    if isinstance(thing, str):
        return f"the text {thing!r} (see model_from_name)"
    if inspect.isroutine(thing):
        return f"the function {getattr(thing, '__name__', thing)} (see ScriptedModel)"
    return f"an object of type {type(thing).__name__}"


__all__ = ["Message", "Model", "ModelReply", "OnText", "ToolCall", "Usage", "as_model"]
