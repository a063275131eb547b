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
from contextlib import closing
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from toolwire_schemas.cases import Case
from toolwire_schemas.json_schema.bounded_validator import CannotJudge
from toolwire_schemas.wire import codec

from ...errors import NotStarted
from ..cases.expectations import Unmet
from ..cases.handshake import completed, open_session, probe
from ..cases.plan import Play
from ..cases.server_facts import CheckSettings, may_be_called
from ..cases.verdicts import judged, verdict_of
from .judge import HARM, Asked, Judge, Judgement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from hypothesis.strategies import SearchStrategy

    from ..cases.conversation import CaseConversation, Event
    from ..cases.server_facts import Facts, Start
    from ..cases.server_process import ServerUnderTest
    from ..report import Verdict

    OnClosed = Callable[[CaseConversation, str], None]

Kind = Literal["valid", "invalid"]

_SHRINK_SECONDS = 20.0  # the time limit for shrinking: a server that dies or hangs makes each step slow

_MANY_EVENTS = 5_000  # then the process is replaced, so that the noise of many calls is no flood

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
    settings: CheckSettings | None = None,
    *,
    timeout_seconds: float = 10.0,
    on_closed: OnClosed | None = None,
) -> Iterator[Verdict]:
    """Yield the verdicts `fuzz/valid/TOOL` and `fuzz/invalid/TOOL` on each tool of the server with these *facts*.

    Tools are called that declare that they are read-only, those named in the calls of *settings*, and all if these
    have `any_tool`; the others are not applicable. Each call may take *timeout_seconds*. Noise on stdout is not judged
    here: *on_closed* takes each finished conversation, and its revision.

    Raises:
        MissingHypothesis: before the first verdict.
    """
    _need_hypothesis()
    settings = settings or CheckSettings()
    if facts.trouble or not facts.revisions:
        return
    revision = facts.revisions.get("modern") or facts.revisions["legacy"]
    framing = facts.framings[0]
    server = FuzzedServer(lambda: start(framing), revision, timeout_seconds, settings.start_seconds, on_closed)
    with closing(server) as peer:
        for tool in facts.tools:
            for kind in _BEHAVIOURS:
                play = Play(_case(tool, kind), revision, framing, _reason_against(tool, settings))
                yield _verdict(play, tool, kind, peer, fuzzing)


def _need_hypothesis() -> None:
    is_ours = not {"hypothesis", "pytest"} & set(sys.modules)  # else the process uses Hypothesis itself
    try:
        from hypothesis.configuration import set_hypothesis_home_dir
    except ImportError:
        raise MissingHypothesis("fuzzing needs the package hypothesis: pip install 'toolwire[contract]'") from None
    if is_ours and "HYPOTHESIS_STORAGE_DIRECTORY" not in os.environ:  # else it writes into the working folder
        caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        set_hypothesis_home_dir(os.path.join(caches, "toolwire", "hypothesis"))


def _reason_against(tool: Any, settings: CheckSettings) -> str:
    """Why this *tool* is not called; empty if it is."""
    if not isinstance(tool, dict) or not isinstance(tool.get("name"), str):
        return "its entry in tools/list is not that of a tool"
    if not isinstance(schema := tool.get("inputSchema"), dict) or schema.get("type") != "object":
        return "its inputSchema is not that of an object"
    return "" if may_be_called(tool, settings) else "it does not say that it is read-only (annotations.readOnlyHint)"


def _case(tool: Any, kind: Kind) -> Case:
    name = str(tool.get("name")) if isinstance(tool, dict) else "?"
    return Case(f"fuzz/{kind}/{name}", _BEHAVIOURS[kind].format(name), _SOURCES[kind], "must", [])


def _verdict(play: Play, tool: Any, kind: Kind, peer: FuzzedServer, fuzzing: Fuzzing) -> Verdict:
    if play.reason:
        return verdict_of(play, "not applicable", reason=play.reason)
    began = time.monotonic()
    try:
        search = _Search(Judge(tool), kind, peer)
        search.run(fuzzing)
        if not search.calls:
            return verdict_of(play, "not applicable", reason=f"no {kind} arguments were found")
        if search.worst is None:
            return judged(play, None, [], time.monotonic() - began)
        again = search.again()
    except (CannotJudge, RecursionError) as error:
        return verdict_of(play, "not applicable", reason=f"there are no {kind} arguments to try: {error}")
    except Unstartable as error:
        return judged(play, Unmet("a server that starts again", str(error)), [], time.monotonic() - began)
    found, note = (again, "") if again else (search.worst, "; not so when the same was sent to a fresh process alone")
    assert found.unmet is not None
    unmet = msgspec.structs.replace(found.unmet, came=found.unmet.came + note)
    verdict = judged(play, unmet, found.events, time.monotonic() - began)
    return msgspec.structs.replace(verdict, exchange=[*verdict.exchange, f"-- found with --seed {fuzzing.seed}"])


class Unstartable(Exception):
    """The server could not be started again, or does not answer any more."""


class FuzzedServer:
    """A server for any number of sequential calls."""

    def __init__(
        self,
        start: Callable[[], ServerUnderTest],
        revision: str,
        timeout_seconds: float,
        start_seconds: float,
        on_closed: OnClosed | None = None,
    ) -> None:
        self._start = start
        self._on_closed = on_closed
        self._revision = revision
        self._timeout = timeout_seconds
        self._start_seconds = start_seconds
        self._server: ServerUnderTest | None = None
        self._calls = 0

    def close(self) -> None:
        """End the process; the next call starts another."""
        if self._server is not None:
            server, self._server = self._server, None
            server.close(0)
            if self._on_closed is not None:
                self._on_closed(server.conversation, self._revision)

    def call(self, name: str, arguments: dict[str, Any]) -> Asked:
        """Call the tool of this *name* and then see whether the server still answers.

        Raises:
            Unstartable: if it had to be started, and could not be.
        """
        server = self._server = self._server or self._opened()
        self._calls += 1
        call, alive = f"fuzz-{self._calls}", f"fuzz-{self._calls}-alive"
        begin = len(server.conversation.events)
        request = {"id": call, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
        is_well = (
            server.request(completed(request, self._revision), self._timeout) is not None
            and server.request(probe(alive, self._revision), self._timeout) is not None
        )
        trouble = "" if is_well else server.conversation.flooded or f"nothing came in {self._timeout:g} s"
        asked = Asked(call, alive, server.conversation.events[begin:], trouble)
        if trouble or server.conversation.ended or len(server.conversation.events) > _MANY_EVENTS:
            self._last = list(server.conversation.events)
            self.close()
        return asked

    def everything(self) -> Sequence[Event]:
        """Return all events of the process that answered last, from its start."""
        return self._last if self._server is None else list(self._server.conversation.events)

    def _opened(self) -> ServerUnderTest:
        try:
            server = self._start()
        except NotStarted as error:
            raise Unstartable(str(error)) from None
        if obstacle := open_session(server, self._revision, self._start_seconds):
            server.close(0)
            raise Unstartable(obstacle.why)
        return server


class _Failed(Exception):
    """Tells Hypothesis that a call failed."""


class _Stopped(BaseException):
    """Ends a search whose schema is too expensive to judge by; for an `Exception`, Hypothesis shrinks the values."""


class _Search:
    """Searches for arguments that fail, and for the smallest: for those that do harm, or else for the gravest."""

    def __init__(self, judge: Judge, kind: Kind, peer: FuzzedServer) -> None:
        self._judge = judge
        self._kind: Kind = kind
        self._peer = peer
        self._known: dict[bytes, Judgement] = {}
        self._until = float("inf")
        self._least_gravity = HARM
        self.worst: Judgement | None = None
        """The smallest failure after the search; `None` if no call failed."""

    @property
    def calls(self) -> int:
        """The number of different arguments that were tried."""
        return len(self._known)

    def run(self, fuzzing: Fuzzing) -> None:
        """Try as many arguments as wanted, or until some fail, and then smaller ones.

        Raises:
            CannotJudge: if no arguments are made for the schema.
            Unstartable: if the server does not start again.
        """
        from ..values import invalid_values, valid_values

        schema = self._judge.input_schema
        is_valid = self._kind == "valid"
        arguments = valid_values(schema) if is_valid else invalid_values(schema, within={"type": "object"})
        self._run(arguments, fuzzing)
        if self.worst is None and (found := max((known.gravity for known in self._known.values()), default=0)):
            self._least_gravity = found
            self._run(arguments, fuzzing)  # the same arguments, whose outcomes are known

    def _run(self, arguments: SearchStrategy[dict[str, Any]], fuzzing: Fuzzing) -> None:
        import hypothesis
        from hypothesis import HealthCheck, Phase, Verbosity, errors
        from hypothesis.strategies import data

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

        def attempt(drawn: Any) -> None:
            try:
                self._try(drawn.draw(arguments))
            except CannotJudge as error:
                raise _Stopped(str(error)) from None

        try:
            hypothesis.seed(fuzzing.seed)(quiet(hypothesis.given(data())(attempt)))()
        except (_Failed, errors.Flaky, errors.Unsatisfiable):
            pass
        except _Stopped as stop:
            if not self._known:
                raise CannotJudge(str(stop)) from None

    def _try(self, arguments: dict[str, Any]) -> None:
        from hypothesis import assume

        assume(self._judge.accepts(arguments) == (self._kind == "valid"))
        try:
            key = codec.encode(arguments)
        except codec.EncodingError:  # nested more deeply than we send
            assume(False)
        if key not in self._known and time.monotonic() < self._until:
            self._known[key] = self._called(arguments)
        found = self._known.get(key)
        if found is not None and self._counts(found):
            if self.worst is None:
                self._until = time.monotonic() + _SHRINK_SECONDS
            self.worst = found  # the smallest is what Hypothesis tries last
            raise _Failed

    def _counts(self, found: Judgement) -> bool:
        """Whether that is a failure of the same kind as the first: a smaller call may fail otherwise."""
        if found.gravity < self._least_gravity:
            return False
        return self.worst is None or found.failure == self.worst.failure

    def _called(self, arguments: dict[str, Any]) -> Judgement:
        return self._judge.judgement(self._peer.call(self._judge.name, arguments), arguments, self._kind)

    def again(self) -> Judgement | None:
        """Send the smallest failure to a fresh process; return the judgement if that fails too."""
        assert self.worst is not None
        self._peer.close()
        found = self._called(self.worst.arguments)
        return msgspec.structs.replace(found, events=self._peer.everything()) if found.unmet else None
