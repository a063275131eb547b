"""Servers that are started again after their end, for later calls."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from support import SUPPORT
from support.client_backends import WAIT, ask, nothing_leaks
from support.running_processes import is_running
from toolwire_client import AsyncClient, Closed, PendingConnection, ServerGone, connect
from toolwire_client.async_client import RestartPolicy

FAKE = SUPPORT / "fake_server.py"


@pytest.fixture
def diary(tmp_path: Path) -> Path:
    return tmp_path / "diary"


def keeps(diary: Path, **options: Any) -> PendingConnection:
    """A server that writes what it does into *diary*, and ends at a call of `fatal`."""
    command = [sys.executable, "-IS", str(FAKE), "Diary"]
    return connect(command, env={"DIARY": str(diary)}, era="legacy", **options)


async def die(client: AsyncClient) -> None:
    with pytest.raises(ServerGone):
        await client.call_tool("fatal", timeout_seconds=WAIT)


@pytest.mark.process
def test_later_calls_start_the_server_again_and_nothing_is_called_twice(
    face: str, diary: Path
) -> None:
    async def scenario(client: AsyncClient) -> None:
        first = client.pid
        await die(client)
        assert (await client.call_tool("echo", {"a": 1}, timeout_seconds=WAIT)).text == '{"a": 1}'
        assert client.pid != first
        assert first is not None
        assert not is_running(first)

    with nothing_leaks():
        ask(face, keeps(diary, restart=True), scenario)
    assert diary.read_text().split() == ["started", "fatal", "started", "echo"]


@pytest.mark.process
def test_without_leave_a_server_that_has_ended_stays_so(face: str, diary: Path) -> None:
    async def scenario(client: AsyncClient) -> None:
        await die(client)
        await die(client)

    ask(face, keeps(diary), scenario)
    assert diary.read_text().split() == ["started", "fatal"]


@pytest.mark.process
def test_a_server_is_started_again_as_often_as_allowed(
    face: str, diary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolwire_client.async_client.FIRST_PAUSE_SECONDS", 0.01)

    async def scenario(client: AsyncClient) -> None:
        for _ in range(5):
            await die(client)

    ask(face, keeps(diary, restart=2), scenario)
    assert diary.read_text().split() == ["started", "fatal"] * 3


@pytest.mark.process
def test_a_call_that_has_no_time_for_the_pause_fails_at_once(
    face: str, diary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolwire_client.async_client.FIRST_PAUSE_SECONDS", 30)

    async def scenario(client: AsyncClient) -> None:
        await die(client)
        await die(client)  # of the server that was started again
        with pytest.raises(ServerGone):
            await client.call_tool("echo", timeout_seconds=0.0)

    ask(face, keeps(diary, restart=True), scenario)
    assert diary.read_text().split() == ["started", "fatal"] * 2


@pytest.mark.process
def test_a_closed_client_starts_nothing(face: str, diary: Path) -> None:
    async def scenario(client: AsyncClient) -> None:
        await die(client)
        await client.close()
        with pytest.raises(Closed):
            await client.call_tool("echo", timeout_seconds=WAIT)

    ask(face, keeps(diary, restart=True), scenario)
    assert diary.read_text().split() == ["started", "fatal"]


@pytest.mark.process
def test_several_that_call_at_once_start_it_once(diary: Path) -> None:
    from threading import Thread

    texts: list[str] = []
    with keeps(diary, restart=True) as client:
        with pytest.raises(ServerGone):
            client.call_tool("fatal", timeout_seconds=WAIT)
        threads = [
            Thread(target=lambda: texts.append(client.call_tool("echo", {}).text)) for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT)
    assert texts == ["{}"] * 8
    assert diary.read_text().split() == ["started", "fatal", "started", *["echo"] * 8]


def test_the_pauses_grow_and_begin_anew_after_a_good_life(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("toolwire_client.async_client.time.monotonic", lambda: now)
    restarts, pauses = RestartPolicy(True), []
    for _ in range(9):
        pauses.append(restarts.wait_seconds())
        restarts.begin()
    assert pauses == [0, 0.5, 1, 2, 4, 8, 16, 30, 30]
    now += 59
    assert restarts.wait_seconds() == 0
    now += 1
    restarts.begin()
    assert restarts.wait_seconds() == 0.5


def test_the_number_of_restarts_is_limited() -> None:
    restarts = RestartPolicy(1)
    assert restarts.wait_seconds() == 0
    restarts.begin()
    assert restarts.wait_seconds() is None
    assert RestartPolicy(False).wait_seconds() is None
