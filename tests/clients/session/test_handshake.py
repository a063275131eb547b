"""Which revision is spoken, how that is found out, and what is remembered of it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from support import SUPPORT
from support.client_backends import ask
from toolwire_client import AsyncClient, BrokenRules, PendingConnection, RequestFailed, ServerGone, TimedOut, connect

pytestmark = pytest.mark.process

FAKE = SUPPORT / "fake_server.py"


def fake(behaviour: str, **options: Any) -> PendingConnection:
    return connect([sys.executable, "-IS", str(FAKE), behaviour], **options)


async def version(client: AsyncClient) -> str | None:
    return client.version


def test_a_command_that_speaks_a_legacy_revision_is_probed_once(face: str, tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    for _ in range(2):
        assert ask(face, fake("Diary", env={"DIARY": str(diary)}), version) == "2025-06-18"
    assert diary.read_text().split() == ["started", "probed", "started"]


def test_another_command_is_probed_for_itself(face: str, tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    for folder in (None, tmp_path):
        ask(face, fake("Diary", env={"DIARY": str(diary)}, cwd=folder), version)
    assert diary.read_text().split() == ["started", "probed"] * 2


def test_what_is_remembered_is_forgotten_when_it_turns_out_wrong(face: str, tmp_path: Path) -> None:
    script = tmp_path / "server.py"
    opening = connect([sys.executable, str(script)])
    source = f"import sys\nsys.path.insert(0, {str(FAKE.parent)!r})\nimport fake_server\nfake_server.%s().serve()"
    script.write_text(source % "Server")
    assert ask(face, opening, version) == "2025-06-18"
    script.write_text(source % "Modern")
    with pytest.raises(ServerGone):
        ask(face, opening, version)
    assert ask(face, opening, version) == "2026-07-28"


def test_an_era_that_is_asked_for_is_the_only_one_tried(face: str, tmp_path: Path) -> None:
    diary = tmp_path / "diary"
    assert ask(face, fake("Diary", era="legacy", env={"DIARY": str(diary)}), version) == "2025-06-18"
    with pytest.raises(RequestFailed):
        ask(face, fake("Diary", era="modern", env={"DIARY": str(diary)}), version)
    assert diary.read_text().split() == ["started", "started", "probed"]


def test_what_was_asked_for_is_not_what_was_found_out(face: str) -> None:
    ask(face, fake("ModernToo", era="legacy"), version)
    assert ask(face, fake("ModernToo"), version) == "2026-07-28"


@pytest.mark.parametrize("behaviour", ["DiscoversNothing", "DiscoversTheFuture"])
def test_an_answer_to_the_probe_that_is_of_no_use_leads_to_the_old_handshake(face: str, behaviour: str) -> None:
    assert ask(face, fake(behaviour), version) == "2025-06-18"
    with pytest.raises(BrokenRules):
        ask(face, fake(behaviour, era="modern"), version)


def test_a_server_that_is_led_astray_by_the_probe_is_started_afresh(face: str) -> None:
    """As servers are that settle on the era of the first request."""
    assert ask(face, fake("SettlesOnTheFirst"), version) == "2025-06-18"


def test_a_server_that_is_stuck_by_the_probe_is_started_afresh_also_without_a_limit(
    face: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolwire_client.session.handshake.PROBE_SECONDS", 0.1)
    monkeypatch.setattr("toolwire_client.session.handshake.RECOVERY_SECONDS", 0.1)
    monkeypatch.setattr("toolwire_client.transport.child_process.PATIENCE_SECONDS", 0.1)
    assert ask(face, fake("StuckByTheProbe", start_timeout_seconds=None), version) == "2025-06-18"


def test_a_server_that_does_not_get_ready_is_an_error_that_tells_what_it_wrote(face: str) -> None:
    with pytest.raises(TimedOut) as caught:
        ask(face, fake("NeverReadyButTalks", era="legacy", start_timeout_seconds=0.5), version)
    assert str(caught.value) == (
        "the server was not ready within 0.5 s; the end of its stderr:\nwarming up; "
        "its output so far is not a message:\nLoading..."
    )
