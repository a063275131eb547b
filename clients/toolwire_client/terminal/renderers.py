"""How a run is shown: as plain text, or as JSON for a program. On a terminal there is `rich_face`, if rich is there."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Protocol

import msgspec
from toolwire_schemas.output import Output
from toolwire_schemas.wire import codec

from ..agent.events import NEVER, Ended, QuestionAsked, Resumed
from .event_lines import MARKS, Line, closing, event_lines

if TYPE_CHECKING:
    from ..agent.events import Live, Recorded


class Renderer(Protocol):
    """Shows a run to whoever watches it."""

    def show(self, event: Recorded) -> None:
        """Show what happened."""

    def live(self, live: Live) -> None:
        """Show what goes on until the next event."""

    def wait(self, text: str) -> None:
        """Show that something is waited for, until the next event or `rest`."""

    def tell(self, line: Line) -> None:
        """Tell what is not part of the run."""

    def rest(self) -> None:
        """Let nothing move: somebody wants to type, or it is over."""


class Timer:
    """How long a question takes, by what its events say."""

    def __init__(self) -> None:
        self._since = NEVER

    def seconds(self, event: Recorded) -> float:
        """Return the seconds from the question, or from when it was taken up again, to *event*."""
        if isinstance(event, QuestionAsked | Resumed):
            self._since = event.at
        return (event.at - self._since).total_seconds()


class PlainRenderer:
    """The answer goes to *out*, and the story to *err*."""

    def __init__(self, out: IO[str], err: IO[str]) -> None:
        self._out = Output(out)
        self._err = Output(err)
        self._timer = Timer()

    def show(self, event: Recorded) -> None:
        seconds = self._timer.seconds(event)
        for line in event_lines(event):
            self.tell(line)
        if isinstance(event, Ended):
            if event.status == "answered":
                self._out.data(event.result or "")
                self._out.flush()
            self.tell(Line("note", closing(event, seconds)))

    def live(self, live: Live) -> None:
        """Show nothing: a line for every report would be too many."""

    def wait(self, text: str) -> None:
        """As `Renderer.wait`: nothing ever moves."""

    def tell(self, line: Line) -> None:
        _tell(self._err, line)

    def rest(self) -> None:
        """As `Renderer.rest`: nothing ever moves."""


class JsonRenderer:
    """Every event goes to *out*, as one line of JSON; what is not part of the run goes to *err*."""

    def __init__(self, out: IO[str], err: IO[str]) -> None:
        self._out = Output(out)
        self._err = Output(err)

    def show(self, event: Recorded) -> None:
        self._out.data(codec.encode(msgspec.to_builtins(event)).decode())
        self._out.flush()

    def live(self, live: Live) -> None:
        """Show nothing: an event will say the same."""

    def wait(self, text: str) -> None:
        """As `Renderer.wait`: nothing ever moves."""

    def tell(self, line: Line) -> None:
        _tell(self._err, line)

    def rest(self) -> None:
        """As `Renderer.rest`: nothing ever moves."""


def _tell(output: Output, line: Line) -> None:
    output.line(MARKS[line.kind] + line.text.replace("\n", "\n  "))
    output.flush()
