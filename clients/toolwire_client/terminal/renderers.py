"""Renderers of a run: plain text, or JSON for programs. `rich_renderer` is for terminals, where rich is installed."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

import msgspec
from toolwire_schemas.output import Output
from toolwire_schemas.wire import codec

from ..agent.events import NEVER, Ended, QuestionAsked, Resumed
from .event_lines import MARKS, Line, closing, event_lines

if TYPE_CHECKING:
    from ..agent.events import Live, Recorded


class Renderer:
    """Shows a run. This base shows lines on *err*, and neither events nor anything that moves."""

    _since = NEVER

    def __init__(self, err: IO[str]) -> None:
        self._err = Output(err)

    def show(self, event: Recorded) -> None:
        """Show an event."""

    def live(self, live: Live) -> None:
        """Show an update between two events."""

    def wait(self, text: str) -> None:
        """Show a wait, until the next event or `rest`."""

    def tell(self, line: Line) -> None:
        """Show a line that is not part of the run."""
        self._err.line(MARKS[line.kind] + line.text.replace("\n", "\n  "))
        self._err.flush()

    def rest(self) -> None:
        """Stop everything that moves, before the user types or at the end."""

    def seconds(self, event: Recorded) -> float:
        """Return the seconds from the question, or from the last resumption, to *event*."""
        if isinstance(event, QuestionAsked | Resumed):
            self._since = event.at
        return (event.at - self._since).total_seconds()


class PlainRenderer(Renderer):
    """Writes the answer to *out* and everything else to *err*."""

    def __init__(self, out: IO[str], err: IO[str]) -> None:
        super().__init__(err)
        self._out = Output(out)

    def show(self, event: Recorded) -> None:
        seconds = self.seconds(event)
        for line in event_lines(event):
            self.tell(line)
        if isinstance(event, Ended):
            if event.status == "answered":
                self._out.data(event.result or "")
                self._out.flush()
            self.tell(Line("note", closing(event, seconds)))


class JsonRenderer(Renderer):
    """Writes every event to *out* as a line of JSON, and other lines to *err*."""

    def __init__(self, out: IO[str], err: IO[str]) -> None:
        super().__init__(err)
        self._out = Output(out)

    def show(self, event: Recorded) -> None:
        self._out.data(codec.encode(msgspec.to_builtins(event)).decode())
        self._out.flush()
