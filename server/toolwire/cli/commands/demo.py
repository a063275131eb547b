"""`toolwire demo`: shows a server at work, in a few seconds."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolwire_schemas.output import Output, printable

from ...errors import UsageError
from ..open_client import connected, own_command
from ..output import Style, progress, result, tools_table, width
from . import Command

if TYPE_CHECKING:
    from toolwire_client import Call, Client

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
        self._style = Style(sys.stdout)

    def run(self) -> None:
        self._say("Toolwire serves a file of Python functions as tools. This one comes with it:")
        self._say(self._style.dim(EXAMPLE))
        self._heading("The tools, as any client sees them")
        start = time.perf_counter()
        tools = [tool.raw for tool in self._client.list_tools()]
        self._say(tools_table(tools, width(), self._style))
        self._took(start, f"listed by process {self._client.pid}, speaking MCP {self._client.version}")

        self._heading("Calls")
        self._call("add", {"a": 2**64, "b": 1})
        self._call("count_words", {"text": "the quick brown fox jumps over the lazy dog"})
        self._call("wait_for_all", {"seconds": [0.2, 0.2, 0.2]})
        self._call("Notes.write", {"title": "tea", "text": "Four minutes, no longer."})
        self._call("Notes.read", {"title": "tea"})
        self._call("draw_square", {"red": 30, "green": 120, "blue": 200})

        self._heading("Answers that arrive in pieces, and progress")
        self._call("tell_story", {"hero": "a wire"}, shows_progress=True)
        self._call("find_primes", {"below": 3_500}, shows_progress=True, shorten=True)

        self._heading("Failures are answers that a model can read")
        self._call("Notes.read", {"title": "coffee"})
        self._call("add", {"a": "three", "b": [4]})

        self._heading("A call that is cancelled half way")
        self._cancel()

        self._heading("A question, solved with these tools")
        self._say("The model is an offline planner for arithmetic, no language model; `toolwire ask` takes real ones.")
        self._say(f"\n? {self._style.bold(_QUESTION)}")
        self._solve()
        self._say("\nNow your own: toolwire serve FILE.py, or try toolwire list FILE.py")

    def _call(
        self, name: str, arguments: dict[str, Any], *, shows_progress: bool = False, shorten: bool = False
    ) -> None:
        self._announce(name, arguments)
        start = time.perf_counter()
        answer = self._client.start(name, arguments, on_progress=self._progress if shows_progress else None).result(
            _TIMEOUT_SECONDS
        )
        text = printable(result(answer.content))
        if shorten and len(text) > 72:
            text = f"{text[:60]}... ({len(text):,} characters)"
        self._say(_indented(self._style.red(text) if answer.is_error else text))
        self._took(start, "the tool failed, the server did not" if answer.is_error else "")

    def _cancel(self) -> None:
        """Cancel a search once it reports progress, and show that the server responds at once."""
        arguments = {"below": 10_000_000}
        running = threading.Event()
        reports: list[str] = []

        def note(done: float, total: float | None, message: str | None) -> None:
            reports.append(progress(done, total, message))
            if len(reports) == 2:
                running.set()

        self._announce("find_primes", arguments)
        start = time.perf_counter()
        call = self._client.start("find_primes", arguments, on_progress=note)
        waiting = threading.Thread(target=_wait, args=(call,), daemon=True)
        waiting.start()
        running.wait(_TIMEOUT_SECONDS)
        call.cancel("the demo has seen enough")
        waiting.join(_TIMEOUT_SECONDS)
        for report in reports[:2]:
            self._say(_indented(self._style.dim(report)))
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
        self._say(f"\n> {self._style.bold(name)}({shown})")

    def _progress(self, done: float, total: float | None, message: str | None) -> None:
        self._say(_indented(self._style.dim(progress(done, total, message))))

    def _heading(self, text: str) -> None:
        self._say(f"\n{self._style.bold(text)}\n{self._style.dim('-' * len(text))}")

    def _took(self, start: float, remark: str) -> None:
        elapsed = f"{(time.perf_counter() - start) * 1e3:.1f} ms"
        self._say(_indented(self._style.dim(f"{elapsed}{', ' if remark else ''}{remark}")))

    def _say(self, text: str) -> None:
        output = Output(sys.stdout)
        output.line(text)
        output.flush()


def _wait(call: Call) -> None:
    with contextlib.suppress(Exception):
        call.result(_TIMEOUT_SECONDS)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
