"""`toolwire demo`: shows a server at work, in a few seconds."""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

from toolwire_schemas.output import BOLD, DIM, RED, emphasize, make_printable

from ...errors import UsageError
from ..open_client import connect_to, format_own_command
from ..printing.layout import format_signature
from ..printing.progress import format_progress
from ..printing.result_content import format_content
from ..printing.terminal import print_report
from . import Command

if TYPE_CHECKING:
    from toolwire_client import Client

    from ..options import Words

COMMAND = Command(
    usage=("toolwire demo",),
    details="Everything happens on this machine, with the example tools that come with Toolwire.",
    options=(),
    examples=("toolwire demo",),
)

EXAMPLE = str(Path(__file__).parents[1] / "example_tools.py")
"""The tools file that the demo serves."""

_TIMEOUT_SECONDS = 30.0
_QUESTION = "How much is 12 * (3 + 4)?"

_CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("add", {"a": 2**64, "b": 1}),
    ("count_words", {"text": "the quick brown fox jumps over the lazy dog"}),
    ("Notes_read", {"title": "coffee"}),
    ("add", {"a": "three", "b": [4]}),
)
"""The last two fail: one in the tool, one by its arguments."""


def run(words: Words) -> int:
    """Show what a server can do."""
    if words.words or words.command:
        raise UsageError("demo takes no arguments")
    with connect_to(format_own_command([EXAMPLE]), is_ours=True) as client:
        print_report(emphasize(BOLD, "A server lists the functions of a Python file as tools:"))
        print_report(emphasize(DIM, EXAMPLE))
        _list(client)
        _print_heading("Calls; a failure is an answer that a model can read")
        for name, arguments in _CALLS:
            _call(client, name, arguments)
        _print_heading("An answer that arrives in pieces")
        _call(client, "tell_story", {"hero": "a wire"})
        _print_heading("A call that is cancelled half way")
        _cancel(client)
        _print_heading("A question, solved with these tools by a planner for arithmetic, offline")
        _solve(client)
        print_report("Now your own: toolwire serve FILE.py, or try toolwire list FILE.py")
    return 0


def _list(client: Client) -> None:
    start = time.perf_counter()
    tools = [tool.raw for tool in client.list_tools()]
    milliseconds = _measure_ms(start)
    for tool in tools:
        print_report(format_signature(tool))
    print_report(
        emphasize(
            DIM,
            f"  listed in {milliseconds:.1f} ms by process {client.pid}, speaking MCP"
            f" {client.version}",
        )
    )


def _call(client: Client, name: str, arguments: dict[str, Any]) -> None:
    """Call a tool, and print its result with the time that it took; of pieces, only these."""
    pieces = 0

    def print_piece(done: float, total: float | None, message: str | None) -> None:
        nonlocal pieces
        pieces += 1
        _print_progress(done, total, message)

    start = _announce(name, arguments)
    answer = client.start(name, arguments, on_progress=print_piece).result(_TIMEOUT_SECONDS)
    took = emphasize(DIM, f"  {_measure_ms(start):.1f} ms")
    text = make_printable(format_content(answer.content))
    if answer.is_error:
        text = emphasize(RED, text)
    if pieces:
        text = "the whole text is the result"
    print_report(indent(text, "  ") + took)


def _cancel(client: Client) -> None:
    """Cancel a search at its second report of progress, and show that the server responds at
    once.
    """
    from toolwire_client import CallCancelled

    reports: list[float] = []

    def report(done: float, total: float | None, message: str | None) -> None:
        reports.append(done)
        if len(reports) <= 2:
            _print_progress(done, total, message)
        if len(reports) == 2:
            call.cancel("the demo has seen enough")

    arguments = {"below": 10_000_000}
    _announce("find_primes", arguments)
    call = client.start("find_primes", arguments, on_progress=report)
    with suppress(CallCancelled):
        call.result(_TIMEOUT_SECONDS)
    ping_ms = client.ping() * 1e3
    print_report(f"  cancelled; the server answers the next question in {ping_ms:.1f} ms")


def _solve(client: Client) -> None:
    from toolwire_agent.agent import Agent, Approvals
    from toolwire_agent.models import ArithmeticModel
    from toolwire_agent.terminal import PlainRenderer

    print_report(f"? {emphasize(BOLD, _QUESTION)}")
    renderer = PlainRenderer(sys.stdout, sys.stdout)
    agent = Agent(ArithmeticModel(), client, approval=Approvals(trust_hints=True))
    for event in agent.run_sync(_QUESTION):
        renderer.show(event)


def _announce(name: str, arguments: dict[str, Any]) -> float:
    """Print a call, and return its start."""
    texts = [f"{key}={value!r}" for key, value in arguments.items()]
    print_report(f"> {emphasize(BOLD, name)}({', '.join(texts)})")
    return time.perf_counter()


def _print_progress(done: float, total: float | None, message: str | None) -> None:
    print_report(indent(emphasize(DIM, format_progress(done, total, message)), "  "))


def _print_heading(text: str) -> None:
    print_report(f"\n{emphasize(BOLD, text)}")


def _measure_ms(start: float) -> float:
    return (time.perf_counter() - start) * 1e3
