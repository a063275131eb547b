"""Renderers of a run: plain text, or JSON for programs. `rich_renderer` is for terminals, where
rich is installed.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

import msgspec
from toolwire_schemas.output import Output
from toolwire_schemas.wire import codec

from ..agent.events import (
    NEVER,
    ActionChosen,
    Ended,
    ModelAsked,
    QuestionAsked,
    Resumed,
    TextArrived,
)
from ..presentation import format_cost, format_end
from .event_lines import MARKS, Line, make_event_lines, make_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..agent.events import Live, Recorded
    from ..models.prices import Price


class Renderer:
    """Shows a run. This base shows lines on *err*, and neither events nor anything that moves.

    An answer is shown on `_screen` as it arrives, if that is set: a terminal, where what turns out
    to be invalid does no harm.
    """

    price: Price | None = None
    """The price of the model, for the cost of a run."""

    shows_questions = False
    """Whether the questions of the user are shown: those of a transcript, which were typed
    elsewhere.
    """

    _since = NEVER
    _screen: Output | None = None
    _is_in_line = False

    def __init__(self, err: IO[str]) -> None:
        self._err = Output(err)
        self._arrived: list[str] = []

    def show(self, event: Recorded) -> None:
        """Show an event."""

    def recall(self, steps: Sequence[Recorded]) -> None:
        """Show the *steps* of an earlier run with which this one goes on."""
        for event in steps:
            for each in make_event_lines(event):
                self.tell(each)

    def show_live(self, live: Live) -> None:
        """Show an update between two events."""
        if self._screen is None or not isinstance(live, TextArrived) or not live.answer:
            return
        if not self._arrived:
            self.hold_still()
            if live.thought.strip():
                self.tell(make_line("thought", live.thought.strip()))
        self._arrived.append(live.answer)
        self._is_in_line = True
        self._screen.write_prompt(live.answer)

    def wait(self, text: str) -> None:
        """Show a wait, until the next event or `hold_still`."""

    def tell(self, line: Line) -> None:
        """Show a line that is not part of the run."""
        self._end_line()
        self._err.write_line(MARKS[line.kind] + line.text.replace("\n", "\n  "))
        self._err.flush()

    def hold_still(self) -> None:
        """Stop everything that moves, before the user types or at the end."""
        self._end_line()

    def tell_of(self, event: Recorded) -> bool:
        """Show the lines of *event*; return whether it is an answer that was not shown as it
        arrived.
        """
        self.hold_still()
        if isinstance(event, QuestionAsked) and not self.shows_questions:
            return False
        arrived = "".join(self._arrived)
        if isinstance(event, ModelAsked):
            self._arrived = []
        answer = event.result if isinstance(event, Ended) and event.status == "answered" else None
        if answer is not None and answer == arrived:
            return False
        if arrived and isinstance(event, ActionChosen) and event.thought.strip() == arrived.strip():
            event = msgspec.structs.replace(event, thought="")  # the text before a native call
        for each in make_event_lines(event):
            self.tell(each)
        return answer is not None

    def _end_line(self) -> None:
        if self._is_in_line and self._screen is not None:
            self._is_in_line = False
            self._screen.write_line("")
            self._screen.flush()

    def measure_seconds(self, event: Recorded) -> float:
        """Return the seconds from the question, or from the last resumption, to *event*."""
        if isinstance(event, QuestionAsked | Resumed):
            self._since = event.at
        return (event.at - self._since).total_seconds()


class PlainRenderer(Renderer):
    """Writes the answer to *out* and everything else to *err*."""

    def __init__(self, out: IO[str], err: IO[str]) -> None:
        super().__init__(err)
        self._out = Output(out)
        self._screen = self._out if out.isatty() else None

    def show(self, event: Recorded) -> None:
        seconds = self.measure_seconds(event)
        has_answer = self.tell_of(event)
        if isinstance(event, Ended):
            if has_answer:
                self._out.write_data(event.result or "")
                self._out.flush()
            self.tell(Line("note", format_end(event, seconds, self.price)))


class JsonRenderer(Renderer):
    """Writes every event to *out* as a line of JSON, and other lines to *err*: those of earlier
    runs are in neither.
    """

    def __init__(self, out: IO[str], err: IO[str]) -> None:
        super().__init__(err)
        self._out = Output(out)

    def show(self, event: Recorded) -> None:
        self._out.write_data(codec.encode(msgspec.to_builtins(event)).decode())
        self._out.flush()
        if isinstance(event, Ended) and self.price is not None:
            self.tell(Line("note", format_cost(event.usage, self.price)))

    def recall(self, steps: Sequence[Recorded]) -> None:
        pass
