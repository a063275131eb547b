"""Shows how far a call is."""

from __future__ import annotations

from typing import IO

from toolwire_schemas.output import Output, make_printable

_BAR_COLUMNS = 24


class ProgressLine:
    """A bar on a terminal's last line that shows how far a call is. Elsewhere it shows nothing."""

    def __init__(self, stream: IO[str]) -> None:
        self._output = Output(stream)
        self._is_terminal = stream.isatty()

    def __call__(self, done: float, total: float | None, message: str | None) -> None:
        if not self._is_terminal:
            return
        from .layout import cut, find_width  # most calls report no progress

        text = format_progress(done, total, message).replace("\n", " ")
        self._output.show_status(cut(text, find_width() - 1))

    def clear(self) -> None:
        """Take the bar away."""
        if self._is_terminal:
            self._output.show_status()


def format_progress(done: float, total: float | None, message: str | None) -> str:
    """Return a bar, or a count if the total is unknown, followed by *message*. Nothing done of an
    unknown total is no count: tasks may have a message only.
    """
    shown = "" if message is None else make_printable(message.strip())
    if total:
        count = _format_bar(done / total)
    elif shown and not done:
        return shown
    else:
        count = f"{done:g}"
    return f"{count}  {shown}" if shown else count


def _format_bar(share: float) -> str:
    share = min(max(share, 0.0), 1.0)
    full = round(_BAR_COLUMNS * share)
    empty = _BAR_COLUMNS - full
    return f"[{'#' * full}{'.' * empty}] {share:4.0%}"
