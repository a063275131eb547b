"""`toolwire transcript`: shows a recorded run of an agent, at the terminal, as a page or as
Markdown.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ...errors import UsageError
from ..options import HTML, MARKDOWN
from ..printing.output_files import check_folders, write_pages
from . import Command

if TYPE_CHECKING:
    from toolwire_agent.agent import Recorded

    from ..options import Words

COMMAND = Command(
    usage=("toolwire transcript FILE [OTHER...] [OPTIONS]",),
    details=(
        "FILE is what `ask --transcript` or an agent in Python has written; its last session is"
        " shown. The page shows sessions of OTHER transcripts inside it: those of agents that the"
        " run called as tools, and its forks."
    ),
    options=(HTML, MARKDOWN),
    examples=(
        "toolwire transcript run.jsonl",
        "toolwire transcript run.jsonl --html run.html",
        "toolwire transcript run.jsonl researcher.jsonl run-7.jsonl --html run.html",
    ),
)


def run(words: Words) -> int:
    """Show the run."""
    from toolwire_agent.agent.transcripts.transcript import BrokenTranscript, load_sessions

    if not words.words or words.command is not None:
        raise UsageError("name a transcript: toolwire transcript FILE")
    check_folders(words.options, "html", "markdown")
    for name in set(words.words) & {words.options.get("html"), words.options.get("markdown")}:
        raise UsageError(
            f"{name} is a transcript, which the page would overwrite: name another file"
        )
    try:
        (*_, last), *others = (load_sessions(name) for name in words.words)
    except BrokenTranscript as error:
        raise UsageError(str(error)) from None
    if words.options.keys().isdisjoint(("html", "markdown")):
        _show(last.events)
        return 0
    from toolwire_agent.run_page import write_run_markdown, write_run_page

    related = [session.events for each in others for session in each]
    write_pages(
        words.options,
        html=lambda: write_run_page(last.events, related),
        markdown=lambda: write_run_markdown(last.events),
    )
    return 0


def _show(record: list[Recorded]) -> None:
    from toolwire_agent.terminal.renderers import PlainRenderer

    renderer = PlainRenderer(sys.stdout, sys.stdout)
    renderer.shows_questions = True
    for event in record:
        renderer.show(event)
