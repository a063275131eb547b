"""The list of tools: all of its pages, and asked for again only if it may have changed."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest
from support import SUPPORT
from support.client_backends import WAIT, ask
from toolwire import Server
from toolwire_client import AsyncClient, BrokenRules, PendingConnection, connect

FAKE = SUPPORT / "fake_server.py"


def fake(behaviour: str, **options: Any) -> PendingConnection:
    return connect([sys.executable, "-IS", str(FAKE), behaviour], **options)


async def names(client: AsyncClient) -> list[str]:
    return [tool.name for tool in await client.list_tools(timeout_seconds=WAIT)]


async def until(client: AsyncClient, expected: list[str]) -> None:
    """Return when the news of a change have arrived, and the list is as *expected*."""
    for _ in range(10_000):
        if await names(client) == expected:
            return
        await client.ping(timeout_seconds=WAIT)
    assert await names(client) == expected


@pytest.mark.process
def test_the_list_is_read_again_only_when_the_server_says_that_it_has_changed(face: str) -> None:
    async def scenario(client: AsyncClient) -> None:
        assert await names(client) == await names(client) == ["tool0"]
        assert (await client.call_tool("count")).structured == {"reads": 1}
        await client.call_tool("change")
        assert await names(client) == await names(client) == ["tool0", "tool1"]
        assert (await client.call_tool("count")).structured == {"reads": 2}

    ask(face, fake("Changes"), scenario)


@pytest.mark.process
def test_the_list_of_a_server_that_promises_nothing_is_read_every_time(face: str) -> None:
    async def scenario(client: AsyncClient) -> None:
        assert await names(client) == await names(client) == ["tool0"]
        assert (await client.call_tool("count")).structured == {"reads": 2}

    ask(face, fake("ChangesSilently"), scenario)


@pytest.mark.process
@pytest.mark.parametrize(
    ("ttl", "until"),
    [
        (0, 0),
        (60_000, 60),
        (10**15, 24 * 3600),
        (-1, 0),
        (1.5, 0),
        (True, 0),
        ("60000", 0),
        (None, 0),
    ],
)
def test_a_list_is_kept_for_as_long_as_the_server_says(
    face: str, ttl: Any, until: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(
        "toolwire_client.session.tool_list.time", SimpleNamespace(monotonic=lambda: now)
    )

    async def pages(client: AsyncClient) -> int:
        await client.list_tools(timeout_seconds=WAIT)
        return int((await client.call_tool("count", timeout_seconds=WAIT)).structured["reads"])

    async def scenario(client: AsyncClient) -> None:
        nonlocal now
        await client.call_tool("set", {"ttl": ttl}, timeout_seconds=WAIT)
        assert await pages(client) == 2
        now += max(0, until - 1)
        assert await pages(client) == (2 if until else 4)
        now += 2
        assert await pages(client) == (4 if until else 6)

    ask(face, fake("ChangesLater"), scenario)


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_our_own_server_tells_when_its_tools_change(face: str, era: Any) -> None:
    def one() -> None: ...

    def two() -> None: ...

    server = Server([one])

    async def scenario(client: AsyncClient) -> None:
        assert await names(client) == ["one"]
        server.add(two)
        await until(client, ["one", "two"])
        server.remove("one")
        await until(client, ["two"])

    ask(face, connect(server, era=era), scenario)


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_our_own_server_is_not_asked_twice_for_the_same(
    face: str, era: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def one() -> None: ...

    reads: list[str] = []
    server = Server([one])
    open_session = server.open_session

    class Counting:
        def open_session(self, write: Any) -> Any:
            conversation = open_session(write)

            class Spy:
                end = staticmethod(conversation.end)

                @staticmethod
                def feed(data: bytes) -> None:
                    reads.extend(["list"] * (b"tools/list" in data))
                    conversation.feed(data)

            return Spy

    async def scenario(client: AsyncClient) -> None:
        assert await names(client) == await names(client) == await names(client) == ["one"]

    ask(face, connect(Counting(), era=era), scenario)
    assert reads == ["list"]


@pytest.mark.process
def test_the_list_that_is_returned_is_the_caller_s_own(face: str) -> None:
    async def scenario(client: AsyncClient) -> None:
        (await client.list_entries()).clear()
        assert await names(client) == ["tool0"]

    ask(face, fake("Changes"), scenario)


@pytest.mark.process
def test_pages_that_lead_back_are_read_once(face: str) -> None:
    async def scenario(client: AsyncClient) -> None:
        assert await names(client) == ["tool0", "tool1", "tool2"]

    ask(face, fake("GoesRound"), scenario)


@pytest.mark.process
@pytest.mark.parametrize(
    ("behaviour", "said"), [("HasNoEnd", "1000 pages"), ("StrangeCursor", "which is not a string")]
)
def test_a_list_that_cannot_be_read_to_its_end_is_an_error(
    face: str, behaviour: str, said: str
) -> None:
    async def scenario(client: AsyncClient) -> None:
        with pytest.raises(BrokenRules, match=said):
            await client.list_tools(timeout_seconds=WAIT)

    ask(face, fake(behaviour), scenario)
