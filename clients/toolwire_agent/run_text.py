"""A run as lines of text, which can be compared with those of another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import presentation as shown
from .agent import events

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .agent.events import Recorded


def run_text(record: Sequence[Recorded]) -> str:
    """Return the questions, thoughts, calls, results and answers of a run, without times."""
    lines: list[str] = []
    for event in record:
        make_part = _PARTS.get(type(event))
        if make_part is None:
            continue
        name, text = make_part(event)
        if text:
            lines.append(f"{name}:")
            lines += [f"  {line}" for line in text.splitlines()]
    return "\n".join(lines)


def _write_result(event: events.CallFinished) -> tuple[str, str]:
    name = "result" if event.success else "failure"
    if isinstance(event.result, str):
        return name, event.result
    return name, shown.to_json(event.result)


_PARTS: dict[type, Callable[[Any], tuple[str, str]]] = {
    events.Started: lambda event: ("model", f"{event.model}, {event.protocol}"),
    events.QuestionAsked: lambda event: ("question", event.content),
    events.ActionChosen: lambda event: ("thought", event.thought),
    events.CallStarted: lambda event: ("call", shown.format_call(event.tool, event.params)),
    events.CallFinished: _write_result,
    events.ReplyRefused: lambda event: ("reply refused", event.reason),
    events.Refused: lambda event: ("call refused", event.reason),
    events.ModelFailed: lambda event: ("model failed", event.reason),
    events.UserAsked: lambda event: ("asks the user", event.content),
    events.UserAnswered: lambda event: ("user", event.content or ""),
    events.Ended: lambda event: (event.status, event.result or event.reason),
}
