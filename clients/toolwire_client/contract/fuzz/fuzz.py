"""Call a server's tools with arguments generated from their schemas: valid ones, and invalid ones to be refused.

Strategy. One process answers call after call; a cheap request after each shows whether it still answers, else it is
restarted. Hypothesis generates and shrinks the arguments. The outcome of each call is cached, so a server with varying
answers does not confuse it. The smallest failure is sent to a fresh process once more, and that outcome is reported.
The search continues after a server accepts invalid arguments, since worse failures may follow.
"""

from __future__ import annotations

import os
import random
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from toolwire_schemas.wire import codec

from ..cases.server_facts import Settings, may_be_called
from ..cases.verdicts import exchange_lines
from ..report import Verdict
from .judge import Judge, Judgement
from .server import FuzzedServer, Unstartable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hypothesis.strategies import SearchStrategy

    from ..cases.server_facts import Facts, Start
    from .server import OnClosed

Kind = Literal["valid", "invalid"]

_SHRINK_SECONDS = 20.0
"""The time limit for shrinking: a server that dies or hangs makes each step slow."""

_BEHAVIOURS: dict[Kind, str] = {
    "valid": "Whatever arguments {} describes as right, it answers once, as it describes; the server goes on.",
    "invalid": "Whatever arguments {} describes as wrong, it refuses with a reason; the server goes on.",
}
_SOURCES: dict[Kind, str] = {
    "valid": "https://modelcontextprotocol.io/specification/2025-11-25/server/tools#output-schema",
    "invalid": "https://modelcontextprotocol.io/specification/2025-11-25/server/tools#security-considerations",
}


class MissingHypothesis(ImportError):
    """Hypothesis is not installed. The text says how to install it."""


class Fuzzing(msgspec.Struct, frozen=True):
    """The number of *examples* of each kind for each tool, and the *seed* that generates them."""

    examples: int = 100
    seed: int = 0


def any_seed() -> int:
    """Return a random seed, short enough to type again."""
    return random.SystemRandom().randrange(10**6)


def fuzz(
    start: Start,
    facts: Facts,
    fuzzing: Fuzzing,
    settings: Settings | None = None,
    *,
    timeout_seconds: float = 10.0,
    on_closed: OnClosed | None = None,
) -> Iterator[Verdict]:
    """Yield two verdicts on each tool of the server with these *facts* that *start* starts: `fuzz/valid/TOOL`, and
    `fuzz/invalid/TOOL`.

    Tools are called that say of themselves that they are read-only, those named in the calls of *settings*, and all
    if these have `any_tool`; the others are not applicable. Each call may take *timeout_seconds*. What is on standard
    output beside messages is not judged here: *on_closed* takes each conversation that is over, and its revision.

    Raises:
        MissingHypothesis: before the first verdict.
    """
    _need_hypothesis()
    settings = settings or Settings()
    if facts.trouble or not facts.revisions:
        return
    revision = facts.revisions.get("modern") or facts.revisions["legacy"]
    framing = facts.framings[0]
    with FuzzedServer(lambda: start(framing), revision, timeout_seconds, settings.start_seconds, on_closed) as peer:
        for tool in facts.tools:
            for kind in _BEHAVIOURS:
                began = time.monotonic()
                verdict = _verdict(tool, kind, peer, fuzzing, _reason_against(tool, settings))
                took = time.monotonic() - began
                yield msgspec.structs.replace(verdict, revision=revision, framing=framing, seconds=took)


def _need_hypothesis() -> None:
    is_ours = not {"hypothesis", "pytest"} & set(sys.modules)  # else the process uses Hypothesis itself
    try:
        from hypothesis.configuration import set_hypothesis_home_dir
    except ImportError:
        raise MissingHypothesis("fuzzing needs the package hypothesis: pip install 'toolwire[contract]'") from None
    if is_ours and "HYPOTHESIS_STORAGE_DIRECTORY" not in os.environ:  # else it writes into the working folder
        caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        set_hypothesis_home_dir(os.path.join(caches, "toolwire", "hypothesis"))


def _reason_against(tool: Any, settings: Settings) -> str:
    """Why this *tool* is not called; empty if it is."""
    if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
        return "its entry in tools/list is none of a tool"
    if not isinstance(schema := tool.get("inputSchema"), dict) or schema.get("type") != "object":
        return "its inputSchema is none of an object"
    return "" if may_be_called(tool, settings) else "it does not say that it is read-only (annotations.readOnlyHint)"


def _verdict(tool: Any, kind: Kind, peer: FuzzedServer, fuzzing: Fuzzing, reason: str) -> Verdict:
    name = str(tool.get("name")) if isinstance(tool, dict) else "?"
    blank = Verdict(
        case=f"fuzz/{kind}/{name}",
        behaviour=_BEHAVIOURS[kind].format(name),
        source=_SOURCES[kind],
        severity="must",
        outcome="not applicable",
        reason=reason,
    )
    if reason:
        return blank
    from ..values import NoValues

    try:
        judge = Judge(tool)
        search = _Search(judge, kind, peer)
        search.run(_arguments(judge, kind), fuzzing)
    except NoValues as error:
        return msgspec.structs.replace(blank, reason=f"there are no {kind} arguments to try: {error}")
    except Unstartable as error:
        return msgspec.structs.replace(blank, outcome="fail", expected="a server that starts again", came=str(error))
    if search.worst is None:
        reason = "" if search.calls else f"no {kind} arguments were found"
        return msgspec.structs.replace(blank, outcome="pass" if search.calls else "not applicable", reason=reason)
    return _reported(blank, search.again(), search, fuzzing)


def _reported(blank: Verdict, again: Judgement | None, search: _Search, fuzzing: Fuzzing) -> Verdict:
    """The verdict on what failed, which failed *again* or did not."""
    found = again or search.worst
    assert found is not None
    assert found.unmet is not None
    shown = [*exchange_lines(found.events), f"-- found with --seed {fuzzing.seed}"]
    note = "" if again else "; not so when the same was sent to a fresh process alone"
    severity = found.unmet.severity or blank.severity
    return msgspec.structs.replace(
        blank,
        severity=severity,
        outcome="fail" if severity == "must" else "warn",
        expected=found.unmet.expected,
        came=found.unmet.came + note,
        exchange=shown,
    )


def _arguments(judge: Judge, kind: Kind) -> SearchStrategy[dict[str, Any]]:
    from ..values import invalid_values, valid_values

    if kind == "valid":
        return valid_values(judge.input_schema)
    return invalid_values(judge.input_schema, within={"type": "object"}).map(lambda broken: broken.value)


_GRAVITY = (0, 1, 2, 3)
"""Nothing, what should not be, what must not be, harm."""


def _gravity(found: Judgement) -> int:
    if found.unmet is None:
        return 0
    return 3 if found.is_harm else 1 if found.unmet.severity == "should" else 2


class _Failed(Exception):
    """Tells Hypothesis that a call failed."""


class _Search:
    """Looks for arguments that fail, and for the smallest that do: for such as do harm, or else for the gravest."""

    def __init__(self, judge: Judge, kind: Kind, peer: FuzzedServer) -> None:
        self._judge = judge
        self._kind: Kind = kind
        self._peer = peer
        self._known: dict[bytes, Judgement] = {}
        self._until = float("inf")
        self._least_grave = max(_GRAVITY)
        self.worst: Judgement | None = None
        """The smallest failure, when all has been tried; `None` if there is none."""

    @property
    def calls(self) -> int:
        """How many different arguments were tried."""
        return len(self._known)

    def run(self, arguments: SearchStrategy[dict[str, Any]], fuzzing: Fuzzing) -> None:
        """Try as many *arguments* as are wanted, or until some fail, and then smaller ones.

        Raises:
            Unstartable: if the server does not come back.
        """
        self._run(arguments, fuzzing)
        if self.worst is None and (found := max(map(_gravity, self._known.values()), default=0)):
            self._least_grave = found
            self._run(arguments, fuzzing)  # the same arguments, so what came of them is known

    def _run(self, arguments: SearchStrategy[dict[str, Any]], fuzzing: Fuzzing) -> None:
        import hypothesis
        from hypothesis import HealthCheck, Phase, Verbosity, errors

        quiet = hypothesis.settings(
            max_examples=fuzzing.examples,
            phases=(Phase.generate, Phase.shrink),
            database=None,
            deadline=None,
            derandomize=False,
            report_multiple_bugs=False,
            print_blob=False,
            verbosity=Verbosity.quiet,
            suppress_health_check=list(HealthCheck),
        )

        @hypothesis.seed(fuzzing.seed)
        @quiet
        @hypothesis.given(arguments)
        def attempt(chosen: dict[str, Any]) -> None:
            self._try(chosen)

        with suppress(_Failed, errors.Flaky, errors.Unsatisfiable):
            attempt()

    def _try(self, arguments: dict[str, Any]) -> None:
        from hypothesis import assume

        assume(self._judge.takes(arguments) == (self._kind == "valid"))
        try:
            key = codec.encode(arguments)
        except codec.EncodingError:  # nested more deeply than we send
            assume(False)
        if key not in self._known and time.monotonic() < self._until:
            said = self._peer.call(self._judge.name, arguments)
            self._known[key] = self._judge.judgement(said, arguments, self._kind)
        found = self._known.get(key)
        if found is not None and self._counts(found):
            if self.worst is None:
                self._until = time.monotonic() + _SHRINK_SECONDS
            self.worst = found  # the smallest is what Hypothesis tries last
            raise _Failed

    def _counts(self, found: Judgement) -> bool:
        """Whether that is a failure, and as what failed first: a smaller call that fails otherwise is another story."""
        if _gravity(found) < self._least_grave:
            return False
        return self.worst is None or found.failure == self.worst.failure

    def again(self) -> Judgement | None:
        """Send the smallest failure to a fresh process; return what came if that fails too."""
        assert self.worst is not None
        self._peer.restart()
        said = self._peer.call(self._judge.name, self.worst.arguments)
        found = self._judge.judgement(said, self.worst.arguments, self._kind)
        if found.unmet is None:
            return None
        return msgspec.structs.replace(found, events=self._peer.everything())
