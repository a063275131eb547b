"""Check a server: find its facts, play the applicable cases, judge."""

from __future__ import annotations

import os
import threading
import time
from bisect import bisect_left
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec
from toolwire_client.errors import NotStarted
from toolwire_client.redaction.redactor import Redactor
from toolwire_schemas.cases import cases as all_cases
from toolwire_schemas.threads import restore_hooks

from . import baseline
from .cases.check_settings import CheckSettings
from .cases.conversation import ProcessEnded, find_answers, format_exchange
from .cases.costs import find_slowest_calls, measure_costs
from .cases.expectations import Breach
from .cases.handshake import find_trouble, make_meta, make_probe, open_session
from .cases.plan import plan_plays
from .cases.player import Limits, Player
from .cases.sdks import mark_sdk_gaps
from .cases.server_facts import find_facts
from .cases.server_process import ServerUnderTest
from .cases.verdicts import (
    is_as_bad,
    judge_play,
    judge_silent_server,
    make_verdict,
    note_predecessors,
)
from .cases.whole_run import Part, find_breach_of_run
from .report import SEVERITIES, Report, is_bad

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any

    from toolwire_schemas.cases import Case, Framing

    from .cases.conversation import CaseConversation, Event
    from .cases.costs import TimedCall
    from .cases.plan import Play
    from .cases.sdks import Sdk
    from .cases.server_facts import Facts, Start
    from .fuzz import Fuzzing
    from .report import Verdict

    OnVerdict = Callable[[Verdict, int], None]

_ALIVE_SECONDS = 2.0
_MAX_JOBS = 4

_MAX_SECONDS_OF_REPEATS = (
    120.0  # those that fail again; after that a server is known to be slow, not the machine
)
_NOTE = (
    "at first it failed, which may have been for lack of time; repeated alone, with longer limits,"
    " it passes"
)

_LAST_EVENTS = 8  # shown with a breach of the whole run
_MANY_EVENTS = (
    5_000  # then a process of generated calls is replaced, so that their noise is no flood
)


def check(
    command: Sequence[str],
    *,
    cases: Iterable[Case] | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    settings: CheckSettings | None = None,
    timeout_seconds: float = 10.0,
    gaps: Sequence[baseline.Gap] = (),
    fuzzing: Fuzzing | None = None,
    fold_sdk: bool = True,
    jobs: int | None = None,
    replays: bool = False,
    on_verdict: OnVerdict | None = None,
) -> Report:
    """Return a report on how the server that *command* starts meets the *cases* (default all).

    It is started several times, up to *jobs* at once. *env* is its whole environment, by default
    ours. Each wait for an expected message lasts at most *timeout_seconds*. A case that may have
    failed for lack of time is repeated at the end, while nothing else of the check runs, with waits
    three times as long. *fuzzing* adds calls with generated arguments. Known failures of its SDK
    count as known gaps unless *fold_sdk* is false. *on_verdict* receives each verdict, and the
    total number, as soon as it is decided; on any thread, one at a time.

    *replays* reproduces a failure, even one that needs another case before it: the *cases* are
    played in sequence, in one process where possible, with all messages. Expectations on the whole
    run and known gaps are not judged.

    Raises:
        NotStarted: if the command cannot be run.
        UnknownTool: if the *settings* have a call of a tool that the server does not have.
        MissingHypothesis: if *fuzzing* is given and Hypothesis is not installed.
    """
    began = time.monotonic()
    settings = settings or CheckSettings()
    if replays:
        gaps, fuzzing, fold_sdk, jobs = (), None, False, 1

    calls: list[TimedCall] = []

    def start(framing: Framing) -> ServerUnderTest:
        return ServerUnderTest(command, framing, env=env, cwd=cwd, calls=calls)

    if fuzzing is not None:
        from .fuzz import need_hypothesis

        need_hypothesis()
    facts = find_facts(start, settings)
    plays = plan_plays(all_cases() if cases is None else cases, facts)
    sdk = facts.sdk if fold_sdk else None
    if facts.trouble:
        verdicts = judge_silent_server(plays, facts.trouble, facts.events)
    else:
        limits = Limits(
            timeout_seconds, settings.start_seconds, facts.start_seconds, find_slowest_calls(calls)
        )
        run = _Run(start, facts, settings, limits, on_verdict, replays, sdk)
        verdicts = run.verdicts(plays, jobs, fuzzing)
    verdicts, outdated = baseline.apply(verdicts, gaps)
    return Report(
        command=Redactor().value(list(command)),
        server=facts.name,
        revisions=facts.revisions,
        framings=list(facts.framings),
        tools=len(facts.tools),
        seconds=time.monotonic() - began,
        verdicts=mark_sdk_gaps(verdicts, sdk),
        sdk=facts.sdk.name if facts.sdk else "",
        outdated=outdated,
        seed=None if fuzzing is None else fuzzing.seed,
        costs=measure_costs(facts.tools, calls),
    )


@dataclass
class _Run:
    """One check: the facts about the server, and the breaches of rules for the whole run."""

    start: Start
    facts: Facts
    settings: CheckSettings
    limits: Limits
    on_verdict: OnVerdict | None
    replays: bool
    sdk: Sdk | None
    """The SDK whose failures are known gaps."""

    def verdicts(
        self, plays: Sequence[Play], jobs: int | None, fuzzing: Fuzzing | None
    ) -> list[Verdict]:
        """Return the verdicts on *plays*, in their order, and those of *fuzzing*."""
        self._announcing = threading.Lock()
        self._total = len(plays) + (0 if fuzzing is None else 2 * len(self.facts.tools))
        self._broken: dict[int, Verdict] = {}
        self._doubts: dict[int, _Doubt] = {}
        self._judged_last = {
            place: play
            for place, play in enumerate(plays)
            if play.process == "run" and not play.reason and not self.replays
        }
        found: dict[int, Verdict] = {}
        restore_hooks()
        with ThreadPoolExecutor(jobs or min(_MAX_JOBS, os.cpu_count() or 1)) as pool:
            for verdicts in pool.map(self._play_all, _tasks(plays)):
                found.update(verdicts)
        found.update(self._repeated())
        fuzzed: list[Verdict] = []
        if fuzzing is not None:
            from .fuzz import fuzz

            with closing(_Sequence(self, is_fuzzed=True)) as sequence:
                fuzzed += map(
                    self._announced, fuzz(self.facts, fuzzing, self.settings, sequence.call)
                )
        for place, play in self._judged_last.items():
            found[place] = self._announced(
                self._broken.get(place) or judge_play(play, None, [], 0.0)
            )
        return [*(found[place] for place in sorted(found)), *fuzzed]

    def _play_all(self, plays: dict[int, Play]) -> dict[int, Verdict]:
        """Return the verdicts on *plays*, without those that have to be repeated."""
        found: dict[int, Verdict] = {}
        with closing(_Sequence(self)) as sequence:
            for place, play in plays.items():
                verdict = sequence.play(play)
                if sequence.doubt is None:
                    found[place] = self._announced(verdict)
                else:
                    self._doubts[place] = sequence.doubt
        return found

    def _repeated(self) -> dict[int, Verdict]:
        """Return the verdicts on the plays that may have failed for lack of time, now that nothing
        else runs.
        """
        found: dict[int, Verdict] = {}
        seconds_left = _MAX_SECONDS_OF_REPEATS
        for place, doubt in sorted(self._doubts.items(), key=_graver_first):
            verdict = doubt.verdict
            if seconds_left > 0:
                began = time.monotonic()
                verdict = self._repeat(doubt)
                if is_bad(verdict):
                    seconds_left -= time.monotonic() - began
            found[place] = self._announced(verdict)
        return found

    def _repeat(self, doubt: _Doubt) -> Verdict:
        """Return the verdict on a play that is played again, alone, and then after the plays that
        were before it.
        """
        with closing(_Sequence(self, limits=self.limits.for_repeating())) as sequence:
            alone = sequence.play(doubt.play)
            if is_as_bad(alone, doubt.verdict):
                return alone
            if doubt.before:
                after = sequence.after(doubt.before, doubt.play, doubt.verdict)
                if after.after:
                    return after
        if is_bad(alone):
            return alone
        return msgspec.structs.replace(alone, reason=_NOTE)

    def _announced(self, verdict: Verdict) -> Verdict:
        if self.on_verdict is not None:
            with self._announcing:
                self.on_verdict(verdict, self._total)
        return verdict

    def judge(
        self, conversation: CaseConversation, revision: str, parts: Sequence[Part] | None = None
    ) -> None:
        """Judge a finished *conversation* by the rules for the whole run, so that it need not be
        kept.

        *parts* are the cases played in it. If it is `None`, only the noise on stdout is judged.
        """
        for place, play in self._judged_last.items():
            known = self._broken.get(place)
            is_wanted = parts is not None or play.case.steps == [{"quiet": True}]
            if (
                not is_wanted
                or play.revision not in ("", revision)
                or (known is not None and known.outcome == "fail")
            ):
                continue
            found = find_breach_of_run(
                play.case.steps, conversation.events, parts or (), {"tools": self.facts.tools}
            )
            if found is not None and (known is None or not found[0].severity):
                self._broken[place] = judge_play(play, found[0], found[1][-_LAST_EVENTS:], 0.0)


class _Doubt(msgspec.Struct, frozen=True):
    """A *play* that failed, maybe for lack of time, and the plays *before* it in the same
    process.
    """

    play: Play
    verdict: Verdict
    before: list[Play]


def _graver_first(item: tuple[int, _Doubt]) -> tuple[int, int]:
    place, doubt = item
    return SEVERITIES.index(doubt.verdict.severity), place


def _tasks(plays: Sequence[Play]) -> list[dict[int, Play]]:
    """The plays, by their places, that each thread plays in sequence; without those that judge the
    whole run.
    """
    tasks: dict[Any, dict[int, Play]] = {}
    for place, play in enumerate(plays):
        if play.reason or play.process == "shared":
            tasks.setdefault((play.revision, play.framing), {})[place] = play
        elif play.process != "run":
            tasks[place] = {place: play}
    return list(tasks.values())


class _Sequence:
    """Plays cases in a shared process while it answers; a case that needs its own process gets one.

    A case that fails in a used process is played again alone: it is an independent failure only if
    it fails there too. A replay keeps the first verdicts, with all messages.

    With *limits* of its own it repeats a play, whose verdict is final.
    """

    def __init__(self, run: _Run, *, is_fuzzed: bool = False, limits: Limits | None = None) -> None:
        self._run = run
        self._is_fuzzed = is_fuzzed
        self._limits = limits or run.limits
        self._is_final = limits is not None or run.replays
        self.doubt: _Doubt | None = None
        """The last play, if it has to be repeated before there is a verdict."""
        self._depends_on_time = False
        self._server: ServerUnderTest | None = None
        self._played: list[Play] = []
        self._parts: list[Part] = []

    def play(self, play: Play) -> Verdict:
        """Return the verdict on *play*, the first one if it has to be repeated (`doubt`)."""
        self.doubt = None
        if play.reason:
            return make_verdict(play, "not applicable", reason=play.reason)
        before = [] if self._server is None else list(self._played)
        try:
            verdict = self._verdict(play)
        except NotStarted as error:  # although it started before
            self._depends_on_time = True
            verdict = judge_play(play, Breach("the server starts", str(error)), [], 0.0)
        if self._is_doubtful(verdict):
            self.doubt = _Doubt(play, verdict, before)
        return verdict

    def _is_doubtful(self, verdict: Verdict) -> bool:
        is_of_sdk = self._run.sdk is not None and self._run.sdk.causes(verdict)
        return is_bad(verdict) and self._depends_on_time and not self._is_final and not is_of_sdk

    def close(self) -> None:
        """End the process, and judge its conversation by the rules for the whole run."""
        if self._server is not None:
            server, self._server = self._server, None
            server.close()
            if len(self._played) == 1:  # the messages at the end belong to the only case too
                self._parts = [
                    msgspec.structs.replace(part, end=len(self._events)) for part in self._parts
                ]
            self._run.judge(
                server.conversation, self._revision, None if self._is_fuzzed else self._parts
            )

    def call(
        self, play: Play, params: dict[str, Any], is_alone: bool
    ) -> tuple[Verdict, dict[str, Any], list[Event]]:
        """Play a call with these *params*, in a new process if it *is_alone*.

        Returns the verdict, the answer, and what was said, from the start of the process if this is
        its first call.

        Raises:
            NotStarted: if the server does not start again.
        """
        verdict, answer, events = self._call(play, params, is_alone)
        if not self._is_doubtful(verdict):
            return verdict, answer, events
        with closing(
            _Sequence(self._run, is_fuzzed=True, limits=self._limits.for_repeating())
        ) as sequence:
            return sequence.call(play, params, True)

    def _call(
        self, play: Play, params: dict[str, Any], is_alone: bool
    ) -> tuple[Verdict, dict[str, Any], list[Event]]:
        if is_alone or (self._server is not None and len(self._events) > _MANY_EVENTS):
            self.close()
        begin, name = (
            (0, "fuzz-0")
            if self._server is None
            else (len(self._events), f"fuzz-{len(self._played)}")
        )
        request = {"id": name, "method": "tools/call", "params": params}
        values = {
            "request": request,
            "id": name,
            "after": make_probe(f"{name}-after", play.revision),
        }
        verdict = self._play(play, values)
        events, obstacle = self._events[begin:], self._obstacle
        if is_bad(verdict) or obstacle or isinstance(events[-1], ProcessEnded):
            self.close()
        if obstacle:
            raise NotStarted(obstacle.why)
        return verdict, next(iter(find_answers(events, name)), {}), events

    def _verdict(self, play: Play) -> Verdict:
        run, before = self._run, [] if self._server is None else list(self._played)
        verdict = self._play(play)
        is_settled = (
            self._is_final
            or self._is_doubtful(verdict)
            or (run.sdk is not None and run.sdk.causes(verdict))
        )
        if is_bad(verdict) and before and not is_settled:
            self.close()
            alone = self._play(play)
            verdict = alone if is_as_bad(alone, verdict) else self.after(before, play, verdict)
        if (
            self._obstacle
            or play.process != "shared"
            or not (verdict.outcome == "pass" or self._answers(play))
        ):
            self.close()
        return verdict

    def _answers(self, play: Play) -> bool:
        request = make_probe(f"alive-{play.case.id}", play.revision)
        return (
            self._server is not None and self._server.request(request, _ALIVE_SECONDS) is not None
        )

    def _play(self, play: Play, more: Mapping[str, Any] | None = None) -> Verdict:
        """Play the case, with *more* values, in the process, or else in a new one; return the
        verdict.
        """
        server, run = self._server or self._start(play), self._run
        if self._obstacle and self._obstacle.is_choice:
            return make_verdict(play, "not applicable", reason=self._obstacle.why)
        if self._obstacle:
            self._depends_on_time = not find_trouble(server)
            return judge_play(
                play,
                Breach(f"a conversation in {play.revision} begins", self._obstacle.why),
                self._events,
                0,
            )
        began = time.monotonic()
        start = (
            len(self._events) if self._played else 0
        )  # the handshake is shown with the first case
        values = {
            **run.facts.values,
            "revision": play.revision,
            "meta": make_meta(play.revision),
            "probe": make_probe("", play.revision)["method"],
            **(more or {}),
        }
        unmet = Player(server, play.revision, values, self._limits).play(play.case.steps)
        self._depends_on_time = unmet is not None and unmet.depends_on_time
        verdict = judge_play(play, unmet, self._events[start:], time.monotonic() - began)
        if run.replays:
            verdict = msgspec.structs.replace(
                verdict, exchange=format_exchange(self._events[start:], is_whole=True)
            )
        self._parts.append(Part(start, len(self._events), verdict))
        self._played.append(play)
        return verdict

    def _start(self, play: Play) -> ServerUnderTest:
        assert play.framing is not None
        self._server = server = self._run.start(play.framing)
        self._events, self._revision = server.conversation.events, play.revision
        self._played, self._parts = [], []
        begins_itself = play.process == "fresh" or not play.revision
        self._obstacle = (
            None
            if begins_itself
            else open_session(server, play.revision, self._limits.opening_seconds)
        )
        return server

    def after(self, before: list[Play], play: Play, verdict: Verdict) -> Verdict:
        """The *verdict* on a case that fails only after others, with the fewest cases *before* it
        that cause this.
        """
        exchange: list[str] = []

        def fails(others: list[Play], limits: Limits = self._run.limits) -> bool:
            with closing(_Sequence(self._run, limits=limits)) as fresh:
                for other in others:
                    fresh._play(other)
                fails_again = is_as_bad(fresh._play(play), verdict)
                if fails_again:
                    exchange[:] = format_exchange(fresh._events)
                return fails_again

        if not fails(before, self._limits):
            return note_predecessors(verdict, [])
        # It fails after those from *start* on, not after those from the next one on.
        start = (
            bisect_left(range(len(before)), True, lo=1, key=lambda place: not fails(before[place:]))
            - 1
        )
        guilty = before[start:]
        if len(guilty) > 1 and fails(guilty[:1]):
            guilty = guilty[:1]
        shown = msgspec.structs.replace(verdict, exchange=exchange)
        return note_predecessors(shown, [other.case.id for other in guilty])
