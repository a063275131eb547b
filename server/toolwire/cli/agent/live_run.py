"""The events of a run on the page that `ask --inspect` opens."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec
from toolwire_schemas.wire import codec

if TYPE_CHECKING:
    from toolwire_agent.agent.events import Recorded

    from ...inspect.traffic import Feed


class LiveRun:
    """Adds the events of a session to *feed*, as the page of its *transcript* has them.

    Each has its text in the transcript, and its line if there is one: the page forks the run there.
    """

    def __init__(self, feed: Feed, transcript: str | None) -> None:
        from toolwire_agent.run_times import RunTimes
        from toolwire_client.redaction.redactor import Redactor

        self._feed = feed
        self._transcript = transcript
        self._redactor = Redactor()
        self._times = RunTimes()
        self._count = 0
        self._line: int | None = None
        """That of the last event, if it is in a transcript."""

    def show(self, events: list[Recorded]) -> None:
        """Add those of *events*, all of the session, that are new; they are in the transcript."""
        from toolwire_agent.run_page import write_event_html

        new = events[self._count :]
        before = events[self._count - 1] if self._count else None
        for event, line in zip(new, self._find_lines(len(new)), strict=True):
            shown = self._redactor.redact_event(event)
            text = codec.encode(msgspec.to_builtins(shown)).decode()
            html = write_event_html(event, before)
            span = self._times.add(event)
            self._feed.add("run", html=html, span=span, record={"line": line, "text": text})
            before = event
        self._count = len(events)

    def _find_lines(self, count: int) -> list[int | None]:
        """Return the lines of the next *count* events; None for each without a transcript."""
        from toolwire_agent.agent.transcripts.transcript import BrokenTranscript, load_session

        if self._line is None and self._transcript is not None:
            # A resumed session has events of earlier runs, and the file others before them.
            with suppress(OSError, BrokenTranscript):  # such as /dev/null
                self._line = load_session(self._transcript).lines[-1] - count
        if self._line is None:
            return [None] * count
        first = self._line + 1
        self._line += count
        return [*range(first, first + count)]
