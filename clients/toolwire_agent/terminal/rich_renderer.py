"""A renderer for terminals, with rich: dimmed thoughts, a spinner while the model thinks, bars for
a tool's progress.

All texts are rich's `Text`, so output of tools and models is never read as markup.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text
from toolwire_schemas.language import say
from toolwire_schemas.output import make_printable

from ..agent.events import CallStarted, Ended, ModelAsked, TextArrived, ToolProgress
from ..presentation import format_end
from .event_lines import MARKS, Kind, Line
from .renderers import Renderer

if TYPE_CHECKING:
    from ..agent.events import Live, Recorded

_STYLES: dict[Kind, str] = {
    "thought": "dim italic",
    "action": "bold cyan",
    "result": "",
    "failure": "red",
    "asked": "bold yellow",
    "note": "dim",
}

_MAX_TEXT = 40


class RichRenderer(Renderer):
    """Shows everything on *console*, by default standard output.

    Without *moves*, as for a picture, there are no spinners and no times. Without *thinks* there is
    no spinner while the model is asked, because the model is the person at the terminal.
    """

    def __init__(
        self, console: Console | None = None, *, moves: bool = True, thinks: bool = True
    ) -> None:
        self._console = console or Console(markup=False, highlight=False, emoji=False)
        super().__init__(self._console.file)
        self._screen = self._err if moves else None
        self._moves = moves
        self._thinks = thinks
        self._progress: Progress | None = None
        self._written = 0

    def show(self, event: Recorded) -> None:
        seconds = self.measure_seconds(event)
        has_answer = self.tell_of(event)
        match event:
            case ModelAsked() if self._thinks:
                self._written = 0
                self._move(say("thinking"))
            case CallStarted(tool=tool):
                self._move(tool)
            case Ended():
                if has_answer:
                    self._console.print(
                        Text(f"\n{make_printable(event.result or '')}\n", overflow="fold")
                    )
                self.tell(
                    Line("note", format_end(event, seconds if self._moves else None, self.price))
                )

    def show_live(self, live: Live) -> None:
        super().show_live(live)
        match live:
            case TextArrived(text=text) if not self._arrived:
                self._written += len(text)
                self._move(say("thinking, {count:,} characters", count=self._written))
            case ToolProgress(tool=tool, done=done, total=None, message=message):
                self._move(f"{tool} {done:g} {message or ''}")
            case ToolProgress(tool=tool, done=done, total=total, message=message):
                self._move(f"{tool} {message or ''}", done, total)

    def wait(self, text: str) -> None:
        self._move(text)

    def tell(self, line: Line) -> None:
        self._end_line()
        grid = Table.grid()
        grid.add_column(width=len(MARKS[line.kind]))
        grid.add_column(overflow="fold")
        style = _STYLES[line.kind]
        grid.add_row(
            Text(MARKS[line.kind], style=style),
            Text(make_printable(line.text), style=style, overflow="fold"),
        )
        self._console.print(grid)

    def hold_still(self) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None
        super().hold_still()

    def _move(self, text: str, done: float = 0, total: float | None = None) -> None:
        """Show a spinner until the next event, with a bar if *total* is known."""
        if not self._moves:
            return
        # One line: what is wider than the terminal could not be taken away again.
        text = make_printable(" ".join(text.split()))[:_MAX_TEXT]
        has_bar = self._progress is not None and self._progress.tasks[0].total is not None
        if self._progress is None or has_bar != (total is not None):
            self.hold_still()
            self._progress = self._make_progress(text, total)
        self._progress.update(
            self._progress.task_ids[0], description=text, completed=done, total=total
        )

    def _make_progress(self, text: str, total: float | None) -> Progress:
        bar = () if total is None else (BarColumn(bar_width=24), TaskProgressColumn())
        label = TextColumn("{task.description}", markup=False)
        progress = Progress(
            SpinnerColumn(), label, *bar, TimeElapsedColumn(), console=self._console, transient=True
        )
        progress.add_task(text, total=total)
        progress.start()
        return progress
