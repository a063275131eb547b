"""Check a server: find its facts, play the applicable cases, judge."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING

import msgspec
from toolwire_schemas.cases import cases as all_cases

from ..errors import NotStarted
from . import baseline
from .cases.expectations import Part, Unmet, breach
from .cases.handshake import meta, open_session, probe
from .cases.plan import plan
from .cases.player import Player
from .cases.sdks import folded
from .cases.server_facts import CheckSettings, find_out
from .cases.server_process import ServerUnderTest
from .cases.verdicts import exchange_lines, is_as_bad, judged, not_opened, only_after, untalkable, verdict_of
from .report import Report, is_bad

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from toolwire_schemas.cases import Case

    from .cases.conversation import CaseConversation
    from .cases.plan import Play
    from .cases.sdks import Sdk
    from .cases.server_facts import Start
    from .fuzz.fuzz import Fuzzing
    from .report import Verdict

    OnVerdict = Callable[[Verdict, int], None]

_ALIVE_SECONDS = 2.0
_MAX_JOBS = 4

_LAST_EVENTS = 8  # shown with a breach of the whole run


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

    It is started several times, up to *jobs* at once. *env* is its whole environment, by default ours. Each wait for
    an expected message lasts at most *timeout_seconds*. *fuzzing* adds calls with generated arguments. Known failures
    of its SDK count as known gaps unless *fold_sdk* is false. *on_verdict* receives each verdict, and the total number,
    as soon as it is decided; on any thread, one at a time.

    *replays* reproduces a failure, even one that needs another case before it: the *cases* are played in sequence, in
    one process where possible, with all messages. Expectations on the whole run and known gaps are not judged.

    Raises:
        NotStarted: if the command cannot be run.
        UnknownTool: if the *settings* have a call of a tool that the server does not have.
        MissingHypothesis: if *fuzzing* is given and Hypothesis is not installed.
    """
    began = time.monotonic()
    if replays:
        gaps, fuzzing, fold_sdk, jobs = (), None, False, 1
    run = _Run(
        lambda framing: ServerUnderTest(command, framing, env=env, cwd=cwd),
        settings or CheckSettings(),
        timeout_seconds,
        on_verdict,
        replays=replays,
    )
    run.sdk = run.facts.sdk if fold_sdk else None
    verdicts = run.verdicts(all_cases() if cases is None else cases, jobs, fuzzing)
    verdicts, outdated = baseline.apply(verdicts, gaps)
    facts = run.facts
    return Report(
        command=list(command),
        server=facts.name,
        revisions=[facts.revisions[era] for era in ("modern", "legacy") if era in facts.revisions],
        framings=list(facts.framings),
        tools=len(facts.tools),
        seconds=time.monotonic() - began,
        verdicts=folded(verdicts, run.sdk),
        sdk=facts.sdk.name if facts.sdk else "",
        outdated=outdated,
        seed=None if fuzzing is None else fuzzing.seed,
    )


class _Run:
    """One check: the facts about the server, and the breaches of rules for the whole run."""

    def __init__(
        self,
        start: Start,
        settings: CheckSettings,
        timeout_seconds: float,
        on_verdict: OnVerdict | None,
        *,
        replays: bool,
    ) -> None:
        self.start = start
        self.settings = settings
        self.timeout = timeout_seconds
        self.replays = replays
        self._on_verdict = on_verdict
        self._announcing = threading.Lock()
        self._judged_last: list[tuple[int, Play]] = []
        self._broken: dict[int, Verdict] = {}
        self.sdk: Sdk | None = None
        """The SDK whose failures are known gaps."""
        self.facts = find_out(start, settings)

    def verdicts(self, cases: Iterable[Case], jobs: int | None, fuzzing: Fuzzing | None) -> list[Verdict]:
        """Return the verdicts on *cases*, in their order, and those of *fuzzing*."""
        plays = plan(cases, self.facts)
        if self.facts.trouble:
            return untalkable(plays, self.facts.trouble, self.facts.events)
        self._total = len(plays) + (0 if fuzzing is None else 2 * len(self.facts.tools))
        tasks, last = _tasks(plays)
        self._judged_last = [] if self.replays else [(place, plays[place]) for place in last]
        found: dict[int, Verdict] = {}
        with ThreadPoolExecutor(jobs or min(_MAX_JOBS, os.cpu_count() or 1)) as pool:
            for verdicts in pool.map(lambda task: self._play_all(task, plays), tasks):
                found.update(verdicts)
        fuzzed = [] if fuzzing is None else list(self._fuzzed(fuzzing))
        for place, play in self._judged_last:
            found[place] = self._announced(self._broken.get(place) or judged(play, None, [], 0.0))
        return [*(found[place] for place in sorted(found)), *fuzzed]

    def _fuzzed(self, fuzzing: Fuzzing) -> Iterator[Verdict]:
        from .fuzz.fuzz import fuzz

        found = fuzz(
            self.start,
            self.facts,
            fuzzing,
            self.settings,
            timeout_seconds=self.timeout,
            on_closed=lambda conversation, revision: self.hold_against(conversation, revision, only_noise=True),
        )
        return map(self._announced, found)

    def _play_all(self, places: list[int], plays: Sequence[Play]) -> dict[int, Verdict]:
        with closing(_Shared(self)) as shared:
            return {place: self._announced(shared.play(plays[place])) for place in places}

    def _announced(self, verdict: Verdict) -> Verdict:
        if self._on_verdict is not None:
            with self._announcing:
                self._on_verdict(verdict, self._total)
        return verdict

    def hold_against(
        self, conversation: CaseConversation, revision: str, parts: Sequence[Part] = (), *, only_noise: bool = False
    ) -> None:
        """Judge a finished *conversation* by the rules for the whole run, so that it need not be kept.

        *parts* are the cases played in it. *only_noise* judges nothing but the noise on stdout.
        """
        for place, play in self._judged_last:
            known = self._broken.get(place)
            is_wanted = play.case.steps == [{"quiet": True}] or not only_noise
            if not is_wanted or play.revision not in ("", revision) or (known is not None and known.outcome == "fail"):
                continue
            found = breach(play.case.steps, conversation.events, parts, {"tools": self.facts.tools})
            if found is not None and (known is None or not found[0].severity):
                self._broken[place] = judged(play, found[0], found[1][-_LAST_EVENTS:], 0.0)


class _Process:
    """A process of the server, and the cases played in it.

    Raises:
        NotStarted: if it cannot be started.
    """

    def __init__(self, run: _Run, play: Play) -> None:
        assert play.framing is not None
        self._run = run
        self._revision = play.revision
        self._parts: list[Part] = []
        self.played: list[Play] = []
        self.server = run.start(play.framing)
        begins_itself = play.process == "fresh" or not play.revision
        self.obstacle = None if begins_itself else open_session(self.server, play.revision, run.settings.start_seconds)

    def play(self, play: Play) -> Verdict:
        """Play the case and return the verdict."""
        if self.obstacle:
            return not_opened(play, self.obstacle, self.server.conversation.events)
        began = time.monotonic()
        events = self.server.conversation.events
        start = len(events) if self.played else 0  # the handshake is shown with the first case
        facts = self._run.facts
        values = {
            **facts.values,
            "revision": play.revision,
            "meta": meta(play.revision),
            "probe": probe("", play.revision)["method"],
        }
        unmet = Player(self.server, play.revision, values, self._run.timeout, facts.start_seconds).play(play.case.steps)
        verdict = judged(play, unmet, events[start:], time.monotonic() - began)
        self._parts.append(Part(start, len(events), verdict))
        self.played.append(play)
        return verdict

    def answers(self, play: Play) -> bool:
        """Whether the process still answers, so that it can play the next case."""
        request = probe(f"alive-{play.case.id}", play.revision)
        return self.server.request(request, _ALIVE_SECONDS) is not None

    def close(self) -> None:
        """End the process, and judge its conversation by the rules for the whole run."""
        self.server.close()
        events = self.server.conversation.events
        if len(self.played) == 1:  # the messages at the end belong to the only case too
            self._parts = [msgspec.structs.replace(part, end=len(events)) for part in self._parts]
        self._run.hold_against(self.server.conversation, self._revision, self._parts)


class _Shared:
    """Plays cases in a shared process while it answers; a case that needs its own process gets one.

    A case that fails in a used process is played again alone: it is an independent failure only if it fails there too.
    A replay keeps the first verdicts, with all messages.
    """

    def __init__(self, run: _Run) -> None:
        self._run = run
        self._process: _Process | None = None

    def play(self, play: Play) -> Verdict:
        if play.reason:
            return verdict_of(play, "not applicable", reason=play.reason)
        try:
            return self._played(play)
        except NotStarted as error:  # although it started before
            return judged(play, Unmet("the server starts", str(error)), [], 0.0)

    def _played(self, play: Play) -> Verdict:
        process = self._opened(play)
        before, start = list(process.played), len(process.server.conversation.events) if process.played else 0
        verdict = process.play(play)
        if self._run.replays:
            exchange = exchange_lines(process.server.conversation.events[start:], is_whole=True)
            verdict = msgspec.structs.replace(verdict, exchange=exchange)
        elif is_bad(verdict) and before and not (self._run.sdk and self._run.sdk.has(verdict)):
            self.close()
            process = self._opened(play)
            alone = process.play(play)
            verdict = alone if is_as_bad(alone, verdict) else self._after(before, play, verdict)
        if process.obstacle or play.process != "shared" or not (verdict.outcome == "pass" or process.answers(play)):
            self.close()
        return verdict

    def _after(self, before: list[Play], play: Play, verdict: Verdict) -> Verdict:
        """The *verdict* on a case that fails only after others, with the fewest cases *before* it that cause this."""
        exchange: list[str] = []

        def fails(others: list[Play]) -> bool:
            process = _Process(self._run, play)
            try:
                for other in others:
                    process.play(other)
                fails_again = is_as_bad(process.play(play), verdict)
                if fails_again:
                    exchange[:] = exchange_lines(process.server.conversation.events)
                return fails_again
            finally:
                process.server.close()

        if not fails(before):
            return only_after(verdict, [])
        start, end = 0, len(before)
        while end - start > 1:  # it fails after those from *start* on, not after those from *end* on
            middle = (start + end) // 2
            start, end = (middle, end) if fails(before[middle:]) else (start, middle)
        guilty = before[start:]
        if len(guilty) > 1 and fails(guilty[:1]):
            guilty = guilty[:1]
        shown = msgspec.structs.replace(verdict, exchange=exchange)
        return only_after(shown, [other.case.id for other in guilty])

    def _opened(self, play: Play) -> _Process:
        if self._process is None:
            self._process = _Process(self._run, play)
        return self._process

    def close(self) -> None:
        if self._process is not None:
            self._process.close()
            self._process = None


def _tasks(plays: Sequence[Play]) -> tuple[list[list[int]], list[int]]:
    """The indexes in *plays* that each thread plays in sequence, and those judged at the end."""
    shared: dict[Any, list[int]] = {}
    own: list[list[int]] = []
    last = []
    for place, play in enumerate(plays):
        if play.process == "run" and not play.reason:
            last.append(place)
        elif play.process == "shared" or play.reason:
            shared.setdefault((play.revision, play.framing), []).append(place)
        else:
            own.append([place])
    return [*shared.values(), *own], last
