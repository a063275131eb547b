"""Whatever can be asked is a model, and what cannot is told so."""

from __future__ import annotations

import json
import threading
from types import SimpleNamespace
from typing import Any

import anyio
import pytest
from toolwire_agent.agent import Agent
from toolwire_agent.models import NotAModel, ScriptedModel, as_model
from toolwire_agent.models.model import join_prompt
from toolwire_agent.react.messages import ModelReply, ToolCall, Usage

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
def test_generate_receives_one_text(kind: type, loop: str) -> None:
    assert ask(kind(), loop).text == "system: Be brief.\n\nuser: Hello?\n\nassistant:"
    assert ask(kind(), loop, [{"role": "user", "content": "Hello?"}]).text == "Hello?"


def test_prompt_without_messages_is_empty() -> None:
    assert join_prompt([]) == "assistant:"
    assert join_prompt([{"role": "user", "content": None}]) == ""


def test_as_model_returns_a_model_unchanged() -> None:
    model = ScriptedModel([])
    assert as_model(model) is model


@pytest.mark.parametrize("loop", LOOPS)
def test_a_model_that_blocks_does_not_block_the_loop(loop: str) -> None:
    class Blocks:
        def chat(self, messages: Any) -> str:
            assert go_on.wait(60)
            return "done"

    go_on = threading.Event()
    replies: list[str] = []

    async def main() -> None:
        async def one() -> None:
            replies.append((await as_model(Blocks()).reply(ASK)).text)

        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                for _ in range(50):  # more than anyio lends threads to at once
                    tasks.start_soon(one)
                await anyio.wait_all_tasks_blocked()
                go_on.set()

    anyio.run(main, backend=loop)
    assert replies == ["done"] * 50


@pytest.mark.parametrize("loop", LOOPS)
def test_blocking_model_can_be_cancelled(loop: str) -> None:
    class Hangs:
        def chat(self, messages: Any) -> str:
            go_on.wait(60)
            return "too late"

    go_on = threading.Event()

    async def main() -> bool:
        with anyio.move_on_after(0.01) as scope:
            await as_model(Hangs()).reply(ASK)
        return scope.cancelled_caught

    try:
        assert anyio.run(main, backend=loop)
        # What hangs does not keep the program from ending, either.
        assert all(
            thread.daemon for thread in threading.enumerate() if thread.name == "toolwire model"
        )
    finally:
        go_on.set()


@pytest.mark.parametrize("error", [ValueError("x"), KeyboardInterrupt(), SystemExit(3)])
def test_exception_of_a_model_is_raised(error: BaseException) -> None:
    class Raises:
        def chat(self, messages: Any) -> str:
            raise error

    with pytest.raises(type(error)):
        ask(Raises())


def test_options_are_passed_to_methods_with_these_parameters() -> None:
    class Takes:
        def chat(
            self, messages: Any, tools: Any = None, reply_schema: Any = None, on_text: Any = None
        ) -> Any:
            on_text("heard")
            return f"{tools} {reply_schema}"

    heard: list[str] = []
    reply = ask(Takes(), tools=TOOLS, reply_schema={}, on_text=heard.append)
    assert (reply.text, heard) == (f"{TOOLS} {{}}", ["heard"])


def test_on_text_receives_the_whole_reply_of_a_model_without_streaming() -> None:
    heard: list[str] = []
    ask(Chats(), reply_schema={"type": "object"}, on_text=heard.append)
    assert heard == ["2 messages"]


@pytest.mark.parametrize("kind", [Chats, Generates])
def test_tools_for_a_method_without_tools_raise_not_a_model(kind: type) -> None:
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
        (
            ModelReply(text="yes", finish_reason="length"),
            ModelReply(text="yes", finish_reason="length"),
        ),
        ({"role": "assistant", "content": "yes"}, ModelReply(text="yes")),
        (
            LikeAReply(),
            ModelReply(
                text="yes",
                finish_reason="tool_calls",
                tool_calls=LikeAReply.tool_calls,
                usage=LikeAReply.usage,
            ),
        ),
    ],
)
def test_reply_may_be_text_a_message_or_a_similar_object(made: Any, reply: ModelReply) -> None:
    class Says:
        def chat(self, messages: Any) -> Any:
            return made

    assert ask(Says()) == reply


class WrongReply:
    text = "yes"
    usage = "a lot"


@pytest.mark.parametrize(
    "made", [None, 42, b"yes", ["yes"], {"content": None}, object(), WrongReply()]
)
def test_other_replies_raise_not_a_model(made: Any) -> None:
    class Says:
        def chat(self, messages: Any) -> Any:
            return made

    with pytest.raises(NotAModel, match="the chat of an object of type Says returned"):
        ask(Says())


@pytest.mark.parametrize(
    ("thing", "hint"),
    [
        (None, r"chat\(messages\)"),
        (object(), r"chat\(messages\)"),
        ("openai:gpt", "model_from_name"),
        (lambda messages: "yes", "ScriptedModel"),
        (Chats, r"Chats is a class; a model is an object: Chats\(…\)"),
    ],
)
def test_other_objects_raise_not_a_model_with_the_known_methods(thing: object, hint: str) -> None:
    with pytest.raises(NotAModel, match=hint):
        as_model(thing)


class Chat:
    """One of Gemini's shape, which remembers what it was sent."""

    def __init__(self) -> None:
        self.received: list[str] = []

    def send_message(self, text: str) -> Any:
        self.received.append(text)
        if text == "fail":
            raise RuntimeError("no luck")
        return SimpleNamespace(text=f"reply {len(self.received)}", usage_metadata=None)


class AsyncChat(Chat):
    async def send_message(self, text: str) -> Any:
        return super().send_message(text)


class StartsChats:
    kind: type[Chat] = Chat

    def __init__(self) -> None:
        self.chats: list[Chat] = []

    def start_chat(self) -> Chat:
        self.chats.append(self.kind())
        return self.chats[-1]


class StartsAsyncChats(StartsChats):
    kind = AsyncChat


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("kind", [StartsChats, StartsAsyncChats])
def test_a_chat_gets_each_message_of_a_conversation_once(
    kind: type[StartsChats], loop: str
) -> None:
    thing, shown = kind(), list[str]()
    model = as_model(thing)

    async def talk() -> list[str]:
        first = await model.reply(ASK)
        more = [*ASK, assistant(first.text), user("And then?")]
        second = await model.reply(more, on_text=shown.append)
        return [first.text, second.text]

    assert anyio.run(talk, backend=loop) == ["reply 1", "reply 2"]
    assert shown == ["reply 2"]
    (chat,) = thing.chats
    assert chat.received == ["system: Be brief.\n\nuser: Hello?\n\nassistant:", "And then?"]


def test_each_conversation_has_a_chat_of_its_own_and_a_changed_one_a_new_chat() -> None:
    thing = StartsChats()
    model = as_model(thing)

    async def talk() -> None:
        for text in ("a", "b"):
            await model.reply([user(text)])
        await model.reply([user("a"), assistant("reply 1"), user("more")])
        await model.reply([user("b"), assistant("something else"), user("more")])

    anyio.run(talk)
    assert [chat.received for chat in thing.chats] == [
        ["a", "more"],
        ["b"],
        ["user: b\n\nassistant: something else\n\nuser: more\n\nassistant:"],
    ]


def test_a_chat_that_failed_is_not_used_again() -> None:
    thing = StartsChats()
    model = as_model(thing)

    async def talk() -> None:
        await model.reply([user("a")])
        conversation = [user("a"), assistant("reply 1"), user("fail")]
        with pytest.raises(RuntimeError, match="no luck"):
            await model.reply(conversation)
        await model.reply([*conversation[:2], user("again")])

    anyio.run(talk)
    assert [chat.received for chat in thing.chats] == [
        ["a", "fail"],
        ["user: a\n\nassistant: reply 1\n\nuser: again\n\nassistant:"],
    ]


def test_a_chat_without_send_message_or_with_tools_is_refused() -> None:
    class Nothing:
        def start_chat(self) -> object:
            return object()

    with pytest.raises(NotAModel, match=r"has no send_message\(text\)"):
        ask(Nothing())
    with pytest.raises(NotAModel, match="takes no tools"):
        ask(StartsChats(), tools=TOOLS)


def test_a_run_of_an_agent_is_one_chat() -> None:
    replies = [
        {"thought": "t", "type": "ACTION", "tool": "add", "params": {"a": 2, "b": 3}},
        {"thought": "t", "type": "FINAL_ANSWER", "ok": True, "result": "5"},
    ]

    class Scripted(Chat):
        def send_message(self, text: str) -> Any:
            super().send_message(text)
            return SimpleNamespace(text=json.dumps(replies[len(self.received) - 1]))

    class Starts(StartsChats):
        kind = Scripted

    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    thing = Starts()
    assert Agent(thing, [add]).answer_sync("2 + 3?").result == "5"
    (chat,) = thing.chats
    assert json.loads(chat.received[1])["result"] == 5
