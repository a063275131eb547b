"""Which revision is spoken, how that is found out, and what is remembered of it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from support import SUPPORT
from support.client_backends import ask
from toolwire_client import (
    AsyncClient,
    BrokenRules,
    PendingConnection,
    RequestFailed,
    ServerGone,
    TimedOut,
    connect,
)

pytestmark = pytest.mark.process

FAKE = SUPPORT / "fake_server.py"


def fake(behaviour: str, **options: Any) -> PendingConnection:
    return connect([sys.executable, "-IS", str(FAKE), behaviour], **options)


async def version(client: AsyncClient) -> str | None:
    return client.version


def test_an_era_that_is_asked_for_is_the_only_one_tried(face: str, tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    assert (
        ask(face, fake("Diary", era="legacy", env={"DIARY": str(diary)}), version) == "2025-06-18"
    )
    with pytest.raises(RequestFailed):
        ask(face, fake("Diary", era="modern", env={"DIARY": str(diary)}), version)
    assert diary.read_text().split() == ["started", "started", "probed"]


@pytest.mark.parametrize("behaviour", ["DiscoversNothing", "DiscoversTheFuture"])
def test_an_answer_to_the_probe_that_is_of_no_use_leads_to_the_old_handshake(
    face: str, behaviour: str
) -> None:
    assert ask(face, fake(behaviour), version) == "2025-06-18"
    with pytest.raises(BrokenRules):
        ask(face, fake(behaviour, era="modern"), version)


def test_a_server_that_is_led_astray_by_the_probe_is_started_afresh(face: str) -> None:
    """As servers are that settle on the era of the first request."""
    assert ask(face, fake("SettlesOnTheFirst"), version) == "2025-06-18"


@pytest.mark.skipif(
    sys.platform != "linux", reason="elsewhere, nothing says whether a pipe was read"
)
@pytest.mark.parametrize(
    ("line", "starts"),
    [("pass", 1), ("select.select([0], [], [])", 1), ("sys.stdin.readline()", 2)],
)
def test_only_a_server_that_has_read_the_probe_is_started_afresh(
    face: str, tmp_path: Path, line: str, starts: int
) -> None:
    diary = tmp_path / "diary"
    script = f"import select, sys; open({str(diary)!r}, 'a').write('started '); {line}; sys.exit(3)"
    with pytest.raises(ServerGone, match="exit status 3"):
        ask(face, connect([sys.executable, "-IS", "-c", script]), version)
    assert diary.read_text() == "started " * starts


def test_a_server_that_is_stuck_by_the_probe_is_started_afresh_also_without_a_limit(
    face: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolwire_client.session.handshake.PROBE_SECONDS", 0.1)
    monkeypatch.setattr("toolwire_client.session.handshake.RECOVERY_SECONDS", 0.1)
    assert ask(face, fake("StuckByTheProbe", start_timeout_seconds=None), version) == "2025-06-18"


def test_a_server_that_does_not_get_ready_is_an_error_that_tells_what_it_wrote(face: str) -> None:
    command = ["sh", "-c", "echo warming up >&2; echo Loading...; cat > /dev/null"]
    with pytest.raises(TimedOut) as caught:
        ask(face, connect(command, era="legacy", start_timeout_seconds=0.5), version)
    assert str(caught.value) == (
        "the server was not ready within 0.5 s; the end of its stderr:\nwarming up; "
        "its output ended with lines that are not messages:\nLoading..."
    )
