"""`toolwire demo`: shows a server at work, in a few seconds."""

from __future__ import annotations

import contextlib
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolwire_schemas.output import BOLD, DIM, RED, Output, marked, printable

from ...errors import UsageError
from ..open_client import connected, own_command
from ..output import progress, result, tools_table
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
_MAX_LETTERS = 72
_QUESTION = "How much is 12 * (3 + 4)?"

_CALLS: dict[str, tuple[tuple[str, dict[str, Any]], ...]] = {
    "Calls": (
        ("add", {"a": 2**64, "b": 1}),
        ("count_words", {"text": "the quick brown fox jumps over the lazy dog"}),
        ("wait_for_all", {"seconds": [0.2, 0.2, 0.2]}),
        ("Notes.write", {"title": "tea", "text": "Four minutes, no longer."}),
        ("Notes.read", {"title": "tea"}),
        ("draw_square", {"red": 30, "green": 120, "blue": 200}),
    ),
    "Answers that arrive in pieces, and progress": (
        ("tell_story", {"hero": "a wire"}),
        ("find_primes", {"below": 3_500}),
    ),
    "Failures are answers that a model can read": (
        ("Notes.read", {"title": "coffee"}),
        ("add", {"a": "three", "b": [4]}),
    ),
}


def run(words: Words) -> int:
    """Show what a server can do."""
    if words.words or words.command:
        raise UsageError("demo takes no arguments")
    with connected(own_command([EXAMPLE]), is_ours=True) as client:
        _Demo(client).run()
    return 0


class _Demo:
    def __init__(self, client: Client) -> None:
        self._client = client

    def run(self) -> None:
        self._say("Toolwire serves a file of Python functions as tools. This one comes with it:")
        self._say(marked(DIM, EXAMPLE))
        self._heading("The tools, as any client sees them")
        start = time.perf_counter()
        tools = [tool.raw for tool in self._client.list_tools()]
        self._say(tools_table(tools))
        self._took(start, f"listed by process {self._client.pid}, speaking MCP {self._client.version}")

        for heading, calls in _CALLS.items():
            self._heading(heading)
            for name, arguments in calls:
                self._call(name, arguments)

        self._heading("A call that is cancelled half way")
        self._cancel()

        self._heading("A question, solved with these tools")
        self._say("The model is an offline planner for arithmetic, no language model; `toolwire ask` takes real ones.")
        self._say(f"\n? {marked(BOLD, _QUESTION)}")
        self._solve()
        self._say("\nNow your own: toolwire serve FILE.py, or try toolwire list FILE.py")

    def _call(self, name: str, arguments: dict[str, Any]) -> None:
        self._announce(name, arguments)
        start = time.perf_counter()
        answer = self._client.start(name, arguments, on_progress=self._progress).result(_TIMEOUT_SECONDS)
        text = printable(result(answer.content))
        if name == "find_primes" and len(text) > _MAX_LETTERS:
            text = f"{text[:60]}... ({len(text):,} characters)"
        self._say(_indented(marked(RED, text) if answer.is_error else text))
        self._took(start, "the tool failed, the server did not" if answer.is_error else "")

    def _cancel(self) -> None:
        """Cancel a search at its second report of progress, and show that the server responds at once."""
        from toolwire_client import CallCancelled

        left = iter((1, 0))

        def report(done: float, total: float | None, message: str | None) -> None:
            reports_left = next(left, None)
            if reports_left is not None:
                self._progress(done, total, message)
            if reports_left == 0:
                call.cancel("the demo has seen enough")

        arguments = {"below": 10_000_000}
        self._announce("find_primes", arguments)
        start = time.perf_counter()
        call = self._client.start("find_primes", arguments, on_progress=report)
        with contextlib.suppress(CallCancelled):
            call.result(_TIMEOUT_SECONDS)
        self._say(_indented(f"cancelled; the server answers the next question in {self._client.ping() * 1e3:.1f} ms"))
        self._took(start, "the tool stopped where it asked `context.check()`")

    def _solve(self) -> None:
        from toolwire_client.agent import Agent, Approvals
        from toolwire_client.models import ArithmeticModel
        from toolwire_client.terminal import PlainRenderer

        face = PlainRenderer(sys.stdout, sys.stdout)
        agent = Agent(ArithmeticModel(), self._client, approval=Approvals(trust_hints=True))
        for event in agent.run_sync(_QUESTION):
            face.show(event)

    def _announce(self, name: str, arguments: dict[str, Any]) -> None:
        shown = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
        self._say(f"\n> {marked(BOLD, name)}({shown})")

    def _progress(self, done: float, total: float | None, message: str | None) -> None:
        self._say(_indented(marked(DIM, progress(done, total, message))))

    def _heading(self, text: str) -> None:
        self._say(f"\n{marked(BOLD, text)}\n{marked(DIM, '-' * len(text))}")

    def _took(self, start: float, remark: str) -> None:
        elapsed = f"{(time.perf_counter() - start) * 1e3:.1f} ms"
        self._say(_indented(marked(DIM, f"{elapsed}{', ' if remark else ''}{remark}")))

    def _say(self, text: str) -> None:
        output = Output(sys.stdout)
        output.line(text)
        output.flush()


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
