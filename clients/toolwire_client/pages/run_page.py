"""A run of an agent as a timeline in HTML, and as a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..agent import events
from .markup import Child, Html, cut, duration, element, together
from .page import page
from .results import tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..agent.events import Recorded


def event_html(event: Recorded, before: Recorded | None = None) -> Html:
    """Return an item of the timeline; empty for an event that a reader does not need. *before* tells its duration."""
    found = _shown(event)
    if found is None:
        return Html("")
    kind, parts = found
    seconds = 0.0 if before is None or events.NEVER in (event.at, before.at) else (event.at - before.at).total_seconds()
    return element("li", element("p", kind, class_="label"), parts, _took(seconds), class_=kind.replace(" ", "-"))


def _took(seconds: float) -> Html | None:
    return element("p", duration(seconds), class_="took") if seconds > 0 else None


def _shown(event: Recorded) -> tuple[str, Child] | None:
    match event:
        case events.QuestionAsked(content=content):
            return "question", element("p", cut(content, 5000))
        case events.ActionChosen(thought=thought, tool=tool, params=params):
            return "call", [element("p", thought), element("p", element("code", tool)), tree(params, "")]
        case events.CallFinished(success=success, result=result, note=note):
            return "result" if success else "failure", [tree(result, ""), element("p", note)]
        case events.Ended(status=status, result=result, reason=reason):
            return status, [element("p", cut(result or "", 5000)), element("p", reason)]
    return None


def run_html(record: Sequence[Recorded]) -> Html:
    """Return the events of a session as a timeline."""
    pairs = zip([None, *record], record, strict=False)
    return element("ol", [event_html(event, before) for before, event in pairs], class_="run")


def run_page(record: Sequence[Recorded]) -> str:
    """Return `run_html` as a page."""
    return page("A run", together(element("h1", "A run"), run_html(record)))
