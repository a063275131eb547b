"""Questions that tools ask the user, in both eras and in all ways of waiting."""

from __future__ import annotations

import re
import sys
import threading
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from support import SUPPORT
from support.client_backends import FACES, WAIT, ask
from toolwire import AsyncContext, Context, Server
from toolwire_client import (
    AsyncClient,
    BrokenRules,
    Elicitation,
    NoAnswer,
    PendingConnection,
    RequestFailed,
    connect,
)
from toolwire_schemas.deadline import Deadline
from toolwire_tools import Declined, Dismissed

LOOPS = FACES[1:]
FAKE = SUPPORT / "fake_server.py"


def fake(behaviour: str, **options: Any) -> PendingConnection:
    return connect([sys.executable, "-IS", str(FAKE), behaviour], **options)


@dataclass
class Trip:
    """Where to, and for how long."""

    to: str
    days: int = 1


def book(context: Context) -> str:
    """Ask where to go, then whether that is meant."""
    try:
        trip = context.ask("Where to?", Trip)
        return f"{trip.days} days in {trip.to}" if context.ask(f"Really {trip.to}?") else "nowhere"
    except Declined:
        return "declined"
    except Dismissed:
        return "dismissed"


async def book_async(context: AsyncContext) -> str:
    """Ask whether to go."""
    return "went" if await context.ask("Go?") else "stayed"


@pytest.mark.parametrize("era", ["modern", "legacy"])
class TestInBothEras:
    def test_a_tool_asks_twice_and_goes_on_with_the_answers(self, face: str, era: Any) -> None:
        asked: list[Elicitation] = []

        def on_ask(question: Elicitation) -> dict[str, Any]:
            asked.append(question)
            return {"to": "Ulm", "days": 3} if question.message == "Where to?" else {"answer": True}

        async def scenario(client: AsyncClient) -> None:
            assert (await client.call_tool("book", timeout_seconds=WAIT)).text == "3 days in Ulm"
            assert (await client.call_tool("book_async", timeout_seconds=WAIT)).text == "went"

        ask(face, connect(Server([book, book_async]), era=era, on_ask=on_ask), scenario)
        assert [question.message for question in asked] == ["Where to?", "Really Ulm?", "Go?"]
        assert set(asked[0].schema["properties"]) == {"to", "days"}
        assert asked[0].tool == ("book" if era == "modern" else None)

    @pytest.mark.parametrize(
        ("answer", "said"), [(NoAnswer.DECLINED, "declined"), (NoAnswer.DISMISSED, "dismissed")]
    )
    def test_to_say_no_is_not_to_say_nothing(
        self, face: str, era: Any, answer: NoAnswer, said: str
    ) -> None:
        async def scenario(client: AsyncClient) -> None:
            assert (await client.call_tool("book", timeout_seconds=WAIT)).text == said

        ask(face, connect(Server([book]), era=era, on_ask=lambda question: answer), scenario)

    def test_without_anybody_to_ask_tools_know(self, face: str, era: Any) -> None:
        async def scenario(client: AsyncClient) -> None:
            result = await client.call_tool("book", timeout_seconds=WAIT)
            assert result.is_error
            assert "does not support elicitation" in result.text

        ask(face, connect(Server([book]), era=era), scenario)

    @pytest.mark.parametrize("loop", LOOPS)
    def test_an_async_function_may_be_asked(self, loop: str, era: Any) -> None:
        async def on_ask(question: Elicitation) -> dict[str, Any]:
            await anyio.sleep(0)
            return {"answer": True}

        async def scenario(client: AsyncClient) -> None:
            assert (await client.call_tool("book_async", timeout_seconds=WAIT)).text == "went"

        ask(loop, connect(Server([book_async]), era=era, on_ask=on_ask), scenario)

    def test_what_asking_raises_ends_the_call(self, face: str, era: Any) -> None:
        def on_ask(question: Elicitation) -> Any:
            raise ZeroDivisionError

        async def scenario(client: AsyncClient) -> None:
            with pytest.raises(ZeroDivisionError):
                await client.call_tool("book", timeout_seconds=WAIT)
            assert await client.ping(timeout_seconds=WAIT) > 0

        ask(face, connect(Server([book]), era=era, on_ask=on_ask), scenario)

    def test_an_invalid_answer_raises_in_the_caller(self, face: str, era: Any) -> None:
        async def scenario(client: AsyncClient) -> None:
            with pytest.raises(TypeError, match=r"NoAnswer\.DECLINED"):
                await client.call_tool("book", timeout_seconds=WAIT)

        def on_ask(question: Elicitation) -> Any:
            return "yes"

        ask(face, connect(Server([book]), era=era, on_ask=on_ask), scenario)

    @pytest.mark.parametrize(
        ("answer", "wrong"),
        [
            ({"to": "Ulm", "days": "three"}, 'answer.days: "three" is not an integer'),
            ({"days": 3}, "answer.to: is missing"),
        ],
    )
    def test_an_answer_that_does_not_fit_the_form_is_not_sent(
        self, face: str, era: Any, answer: dict[str, Any], wrong: str
    ) -> None:
        async def scenario(client: AsyncClient) -> None:
            with pytest.raises(ValueError, match="does not fit the form.*: " + re.escape(wrong)):
                await client.call_tool("book", timeout_seconds=WAIT)

        ask(face, connect(Server([book]), era=era, on_ask=lambda question: answer), scenario)


def test_an_async_function_cannot_be_asked_without_a_loop() -> None:
    async def on_ask(question: Elicitation) -> dict[str, Any]:
        return {}

    with (
        connect(Server([book]), on_ask=on_ask) as client,
        pytest.raises(TypeError, match="async with"),
    ):
        client.call_tool("book", timeout_seconds=WAIT)


# Legacy servers


@pytest.mark.process
def test_a_question_of_an_unknown_mode_is_refused(face: str) -> None:
    async def scenario(client: AsyncClient) -> None:
        reply = (await client.call_tool("x", {"mode": "url"}, timeout_seconds=WAIT)).structured
        assert (reply["id"], reply["error"]["code"]) == ("q", -32602)
        reply = (await client.call_tool("x", {"message": None}, timeout_seconds=WAIT)).structured
        assert reply["error"]["code"] == -32602

    ask(face, fake("Inquires", on_ask=lambda question: {}), scenario)


@pytest.mark.process
def test_a_question_without_a_user_is_refused(face: str) -> None:
    async def scenario(client: AsyncClient) -> None:
        assert (await client.call_tool("x", timeout_seconds=WAIT)).structured["error"][
            "code"
        ] == -32601

    ask(face, fake("Inquires"), scenario)


@pytest.mark.process
@pytest.mark.parametrize("loop", LOOPS)
def test_a_question_that_is_withdrawn_is_no_longer_asked(loop: str) -> None:
    ended: list[str] = []

    async def on_ask(question: Elicitation) -> Any:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append(question.message)

    async def scenario(client: AsyncClient) -> None:
        assert (await client.call_tool("x", timeout_seconds=WAIT)).structured == {
            "answered": "anyway"
        }

    ask(loop, fake("ChangesItsMind", on_ask=on_ask), scenario)
    assert ended in ([], ["Sure?"])  # it may be withdrawn before it is even put


@pytest.mark.process
@pytest.mark.parametrize("loop", LOOPS)
def test_the_server_s_end_ends_its_questions(loop: str) -> None:
    asked = anyio.Event()

    async def on_ask(question: Elicitation) -> Any:
        asked.set()
        await anyio.sleep_forever()

    async def scenario(client: AsyncClient) -> None:
        async with anyio.create_task_group() as tasks:

            async def call() -> None:
                with pytest.raises(Exception, match="closed"):
                    await client.call_tool("x", timeout_seconds=WAIT)

            tasks.start_soon(call)
            await asked.wait()
            await client.close()

    ask(loop, fake("Inquires", on_ask=on_ask), scenario)


@pytest.mark.process
@pytest.mark.parametrize("loop", LOOPS)
def test_the_next_waiting_thread_reads_if_the_first_is_interrupted(loop: str) -> None:
    asked: list[str] = []
    first = anyio.Event()

    async def on_ask(question: Elicitation) -> dict[str, Any]:
        asked.append(question.message)
        if len(asked) == 1:
            first.set()
            await anyio.sleep_forever()
        return {"sure": True}

    async def scenario(client: AsyncClient) -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.call_tool, "wait")
            call = await client.start("x")  # whose question is put to the one that waits
            await first.wait()
            tasks.cancel_scope.cancel()
        result = (await call.result(WAIT)).structured["result"]
        assert result == {"action": "accept", "content": {"sure": True}}

    ask(loop, fake("Inquires", on_ask=on_ask), scenario)
    assert asked == ["Sure?", "Sure?"]


@pytest.mark.process
def test_a_question_is_put_to_any_thread_that_waits() -> None:
    asked: list[threading.Thread] = []

    def on_ask(question: Elicitation) -> dict[str, Any]:
        asked.append(threading.current_thread())
        return {"sure": True}

    with fake("Inquires", on_ask=on_ask) as client:
        call = client.start("x")  # nobody waits for it yet
        client.ping(timeout_seconds=WAIT)  # which comes back after the question
        assert call.result(WAIT).structured["result"]["content"] == {"sure": True}
    assert asked == [threading.current_thread()]


# Modern servers


@pytest.mark.process
def test_a_tool_that_asks_without_end_is_given_up(face: str) -> None:
    async def scenario(client: AsyncClient) -> None:
        params = (await client.call_tool("x", {"rounds": 9}, timeout_seconds=WAIT)).structured
        assert params["inputResponses"] == {
            "first": {"action": "accept", "content": {"sure": True}}
        }
        with pytest.raises(BrokenRules, match="10 rounds"):
            await client.call_tool("x", {"rounds": 11}, timeout_seconds=WAIT)

    ask(face, fake("ModernInquires", on_ask=lambda question: {"sure": True}), scenario)


@pytest.mark.process
def test_a_tool_may_only_want_to_be_called_again(face: str) -> None:
    async def scenario(client: AsyncClient) -> None:
        params = (await client.call_tool("x", {"a": 1}, timeout_seconds=WAIT)).structured
        assert (params["requestState"], params["arguments"]) == ("again", {"a": 1})
        assert "inputResponses" not in params

    ask(face, fake("ModernAsksNothing"), scenario)


@pytest.mark.process
@pytest.mark.parametrize(
    "result",
    [
        {"inputRequests": {"a": {"method": "sampling/createMessage", "params": {}}}},
        {
            "inputRequests": {
                "a": {"method": "elicitation/create", "params": {"mode": "url", "message": ""}}
            }
        },
        {"inputRequests": {"a": None}},
        {"inputRequests": [1]},
        {"inputRequests": None, "requestState": None},
    ],
)
def test_a_wish_that_was_not_offered_is_an_error(face: str, result: Any) -> None:
    async def scenario(client: AsyncClient) -> None:
        with pytest.raises(BrokenRules):
            await client.call_tool("x", {"rounds": 1, "result": result}, timeout_seconds=WAIT)

    ask(face, fake("ModernInquires", on_ask=lambda question: {"sure": True}), scenario)


def test_a_state_that_the_server_does_not_know_any_more_is_its_error(face: str) -> None:
    server = Server([book])

    async def scenario(client: AsyncClient) -> None:
        with pytest.raises(RequestFailed) as caught:
            await client.request(
                "tools/call", {"name": "book", "arguments": {}, "requestState": "unknown"}
            )
        assert caught.value.code == -32602

    ask(face, connect(server, on_ask=lambda question: {}), scenario)


# Time


def test_time_with_the_user_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("toolwire_schemas.deadline.time.monotonic", lambda: now)
    deadline = Deadline(10)
    now += 3
    with deadline.stop_clock():
        now += 1000
        with deadline.stop_clock():  # two questions at once
            now += 1000
        assert (deadline.seconds_left, deadline.is_stopped) == (7, True)
    assert (deadline.seconds_left, deadline.is_stopped) == (7, False)
    now += 8
    assert deadline.seconds_left == 0
    assert Deadline(None).seconds_left is None
    assert (
        deadline.limit_to(5).seconds_left,
        Deadline(None).limit_to(5).seconds_left,
        Deadline(3).limit_to(None).seconds_left,
    ) == (0, 5, 3)
