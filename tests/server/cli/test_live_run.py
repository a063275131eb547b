"""The records of a live run, which the page forks."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from toolwire.cli.agent.live_run import LiveRun
from toolwire_agent.agent.events import QuestionAsked, Started
from toolwire_agent.agent.transcripts.transcript import Transcript

if TYPE_CHECKING:
    from pathlib import Path

AT = datetime(2026, 1, 2, tzinfo=UTC)
STARTED = Started(at=AT, model="m", protocol="p", instructions="")
ASKED = QuestionAsked(at=AT, content="Why?")


class Kept:
    """A feed that keeps the records of runs."""

    def __init__(self) -> None:
        self.records: list[dict[str, Any]] = []

    def add(self, kind: str, *, record: dict[str, Any], **members: Any) -> None:
        self.records.append(record)


def test_events_of_a_resumed_session_have_the_lines_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    transcript, kept = Transcript(path), Kept()
    session = [STARTED, ASKED]
    for event in (STARTED, ASKED, STARTED, ASKED):  # of two sessions
        transcript.add(event)
    live = LiveRun(kept, str(path))  # type: ignore[arg-type]

    live.show(session)
    session.append(ASKED)
    transcript.add(ASKED)
    live.show(session)
    transcript.close()

    lines = path.read_text("utf-8").splitlines()
    assert [(record["line"], record["text"]) for record in kept.records] == [
        (3, lines[2]),
        (4, lines[3]),
        (5, lines[4]),
    ]


def test_events_without_a_transcript_have_no_lines() -> None:
    kept = Kept()
    LiveRun(kept, None).show([STARTED, ASKED])  # type: ignore[arg-type]

    assert [record["line"] for record in kept.records] == [None, None]
