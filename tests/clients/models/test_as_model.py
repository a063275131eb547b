"""Whatever can be asked is a model, and what cannot is told so."""

from __future__ import annotations

import threading
from typing import Any

import anyio
import pytest
from toolwire_client.models import NotAModel, ScriptedModel, as_model
from toolwire_client.models.model import prompt_of
from toolwire_client.react.messages import ModelReply, ToolCall, Usage

ASK = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello?"}]
TOOLS = [{"name": "add", "inputSchema": {"type": "object"}}]
LOOPS = ("asyncio", "trio")


class Chats:
    def chat(self, messages: Any) -> Any:
        return f"{len(messages)} messages"


class ChatsLater:
    async def chat(self, messages: Any) -> Any:
        await anyio.lowlevel.checkpoint()
        return f"{len(messages)} messages"


class ReturnsAwaitable:
    def chat(self, messages: Any) -> Any:
        return ChatsLater().chat(messages)


class Generates:
    def generate(self, prompt: str) -> str:
        return prompt


class GeneratesLater:
    async def generate(self, prompt: str) -> str:
        return prompt


class Both(Chats, Generates):
    """Chatting is preferred."""


def ask(thing: object, loop: str = "asyncio", messages: Any = ASK, **wishes: Any) -> ModelReply:
    return anyio.run(lambda: as_model(thing).reply(messages, **wishes), backend=loop)  # type: ignore[no-any-return]


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("kind", [Chats, ChatsLater, ReturnsAwaitable, Both])
def test_an_object_that_chats_is_a_model(kind: type, loop: str) -> None:
    assert ask(kind(), loop) == ModelReply(text="2 messages")


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("kind", [Generates, GeneratesLater])
def test_an_object_that_generates_is_given_one_text(kind: type, loop: str) -> None:
    assert ask(kind(), loop).text == "system: Be brief.\n\nuser: Hello?\n\nassistant:"
    assert ask(kind(), loop, [{"role": "user", "content": "Hello?"}]).text == "Hello?"


def test_a_prompt_of_nothing_is_empty() -> None:
    assert prompt_of([]) == "assistant:"
    assert prompt_of([{"role": "user", "content": None}]) == ""


def test_a_model_stays_itself() -> None:
    model = ScriptedModel([])
    assert as_model(model) is model


@pytest.mark.parametrize("loop", LOOPS)
def test_a_model_that_blocks_does_not_block_the_loop(loop: str) -> None:
    class Blocks:
        def chat(self, messages: Any) -> str:
            assert go_on.wait(20)
            return "done"

    go_on = threading.Event()
    replies: list[str] = []

    async def main() -> None:
        async def one() -> None:
            replies.append((await as_model(Blocks()).reply(ASK)).text)

        with anyio.fail_after(20):
            async with anyio.create_task_group() as tasks:
                for _ in range(50):  # more than anyio lends threads to at once
                    tasks.start_soon(one)
                await anyio.wait_all_tasks_blocked()
                go_on.set()

    anyio.run(main, backend=loop)
    assert replies == ["done"] * 50


@pytest.mark.parametrize("loop", LOOPS)
def test_a_model_that_blocks_can_be_given_up(loop: str) -> None:
    class Hangs:
        def chat(self, messages: Any) -> str:
            go_on.wait(20)
            return "too late"

    go_on = threading.Event()

    async def main() -> bool:
        with anyio.move_on_after(0.01) as scope:
            await as_model(Hangs()).reply(ASK)
        return scope.cancelled_caught

    try:
        assert anyio.run(main, backend=loop)
        # What hangs does not keep the program from ending, either.
        assert all(thread.daemon for thread in threading.enumerate() if thread.name == "toolwire model")
    finally:
        go_on.set()


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt(), SystemExit(3)])
def test_what_a_model_raises_is_raised(error: BaseException) -> None:
    class Raises:
        def chat(self, messages: Any) -> str:
            raise error

    with pytest.raises(type(error)):
        ask(Raises())


def test_wishes_are_passed_on_to_those_who_take_them() -> None:
    class Takes:
        def chat(self, messages: Any, tools: Any = None, reply_schema: Any = None, on_text: Any = None) -> Any:
            on_text("heard")
            return f"{tools} {reply_schema}"

    heard: list[str] = []
    reply = ask(Takes(), tools=TOOLS, reply_schema={}, on_text=heard.append)
    assert (reply.text, heard) == (f"{TOOLS} {{}}", ["heard"])


def test_a_model_that_does_not_stream_is_heard_at_its_end() -> None:
    heard: list[str] = []
    ask(Chats(), reply_schema={"type": "object"}, on_text=heard.append)
    assert heard == ["2 messages"]


@pytest.mark.parametrize("kind", [Chats, Generates])
def test_tools_are_not_silently_left_out(kind: type) -> None:
    with pytest.raises(NotAModel, match="takes no tools"):
        ask(kind(), tools=TOOLS)


class LikeAReply:
    text = "yes"
    finish_reason = "tool_calls"
    tool_calls = (ToolCall(id="a", name="add", arguments={"a": 1}),)
    usage = Usage(input_tokens=1)


@pytest.mark.parametrize(
    ("made", "reply"),
    [
        ("yes", ModelReply(text="yes")),
        (ModelReply(text="yes", finish_reason="length"), ModelReply(text="yes", finish_reason="length")),
        ({"role": "assistant", "content": "yes"}, ModelReply(text="yes")),
        (
            LikeAReply(),
            ModelReply(
                text="yes", finish_reason="tool_calls", tool_calls=LikeAReply.tool_calls, usage=LikeAReply.usage
            ),
        ),
    ],
)
def test_a_reply_may_be_text_a_message_or_an_object_like_it(made: Any, reply: ModelReply) -> None:
    class Says:
        def chat(self, messages: Any) -> Any:
            return made

    assert ask(Says()) == reply


class WrongReply:
    text = "yes"
    usage = "a lot"


@pytest.mark.parametrize("made", [None, 42, b"yes", ["yes"], {"content": None}, object(), WrongReply()])
def test_anything_else_is_no_reply(made: Any) -> None:
    class Says:
        def chat(self, messages: Any) -> Any:
            return made

    with pytest.raises(NotAModel, match="the chat of an object of type Says returned"):
        ask(Says())


@pytest.mark.parametrize(
    ("thing", "hint"),
    [
        (None, "neither chat"),
        (object(), "neither chat"),
        ("openai:gpt", "model_from_name"),
        (lambda messages: "yes", "ScriptedModel"),
        (Chats, r"Chats is a class; a model is an object: Chats\(…\)"),
    ],
)
def test_what_is_no_model_is_told_what_would_be(thing: object, hint: str) -> None:
    with pytest.raises(NotAModel, match=hint):
        as_model(thing)
