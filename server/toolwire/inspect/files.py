"""Recordings and transcripts, as events for the page."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .traffic import Feed

if TYPE_CHECKING:
    from toolwire_client.agent.events import Recorded


def recording(path: str) -> Feed:
    """Return the entries of a recording. Raises `BadRecording` or `OSError`."""
    from ..wrapping.recording import read

    feed = Feed(math.inf, math.inf)  # all of it is in a file, and has been read
    for _, entry in read(path):
        feed.add("message", entry=entry)
    return feed


def transcript(path: str) -> Feed:
    """Return the events of the last session in a transcript. Raises `BrokenTranscript` or `OSError`."""
    from toolwire_client.agent.transcript import load

    run = Run(Feed(math.inf, math.inf))
    for event in load(path):
        run.show(event)
    return run.feed


class Run:
    """The run of an agent, whose events go to *feed*."""

    def __init__(self, feed: Feed) -> None:
        self.feed = feed
        self._before: Recorded | None = None

    def show(self, event: Recorded) -> None:
        """Add an event."""
        from toolwire_client.pages.run_page import event_html
        from toolwire_client.react.messages import whole

        html = event_html(event, self._before)
        self._before = event
        if html:
            self.feed.add("run", html=whole(html))
