"""A whole check: find out what a server is, play what applies, judge."""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from toolwire_schemas.cases import cases as all_cases

from ..errors import NotStarted
from . import baseline
from .asking import open_session
from .facts import Settings, find_out
from .judging import Scene, Unmet, judge
from .plan import plan
from .playing import Player
from .report import Report
from .sessions import meta, probe
from .talk import Talk
from .verdicts import judged, not_opened, untalkable, verdict_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

    from toolwire_schemas.cases import Case, Framing

    from .conversation import Conversation, Event
    from .fuzz import Fuzzing
    from .plan import Play
    from .report import Verdict

    OnVerdict = Callable[[Verdict, int], None]

_ALIVE_SECONDS = 2.0
_MAX_JOBS = 4

_LAST_EVENTS = 8
"""How much of a whole run is shown with what it broke."""


def check(
    command: Sequence[str],
    *,
    cases: Iterable[Case] | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    settings: Settings | None = None,
    timeout_seconds: float = 10.0,
    gaps: Sequence[baseline.Gap] = (),
    fuzzing: Fuzzing | None = None,
    jobs: int | None = None,
    on_verdict: OnVerdict | None = None,
) -> Report:
    """Return what the server that *command* starts does, and does not do, of what the *cases* expect (by default all).

    It is started several times, up to *jobs* at once. *env* is its whole environment, by default ours. Each wait for
    something that it should say lasts *timeout_seconds* at most. With *fuzzing* its tools are called with generated
    arguments too. *on_verdict* hears of each verdict as soon as there is one, and how many there will be; on any
    thread, but one at a time.

    Raises:
        NotStarted: if the command cannot be run.
        UnknownTool: if the *settings* have a call of a tool that the server does not have.
        MissingHypothesis: if there is *fuzzing*, and not what it needs.
    """
    began = time.monotonic()
    run = _Run(
        lambda framing: Talk(command, framing, env=env, cwd=cwd), settings or Settings(), timeout_seconds, on_verdict
    )
    facts = run.facts
    jobs = jobs or min(_MAX_JOBS, os.cpu_count() or 1)
    verdicts = run.verdicts(all_cases() if cases is None else cases, jobs, fuzzing)
    verdicts, outdated = baseline.apply(verdicts, gaps)
    spoken = [facts.revisions[era] for era in ("modern", "legacy") if era in facts.revisions]
    took = time.monotonic() - began
    return Report(
        command=list(command),
        server=facts.name,
        revisions=spoken,
        framings=list(facts.framings),
        tools=len(facts.tools),
        seconds=took,
        verdicts=verdicts,
        outdated=outdated,
        seed=None if fuzzing is None else fuzzing.seed,
    )


class _Run:
    """One check under way: what is known of the server, and what breaks a rule for all that is said."""

    def __init__(
        self,
        start: Callable[[Framing], Talk],
        settings: Settings,
        timeout_seconds: float,
        on_verdict: OnVerdict | None,
    ) -> None:
        self._start = start
        self._settings = settings
        self._timeout = timeout_seconds
        self._on_verdict = on_verdict
        self._telling = threading.Lock()
        self._judged_last: list[tuple[int, Play]] = []
        self._broken: dict[int, Verdict] = {}
        self.facts = find_out(start, settings)

    def verdicts(self, cases: Iterable[Case], jobs: int, fuzzing: Fuzzing | None) -> list[Verdict]:
        """Play *cases* and return the verdicts, in their order, and those of *fuzzing*."""
        plays = plan(cases, self.facts)
        if self.facts.trouble:
            return untalkable(plays, self.facts.trouble, self.facts.events)
        self._total = len(plays) + (0 if fuzzing is None else 2 * len(self.facts.tools))
        tasks, last = _tasks(plays)
        self._judged_last = [(place, plays[place]) for place in last]
        found: dict[int, Verdict] = {}
        with ThreadPoolExecutor(jobs) as pool:
            for verdicts in pool.map(lambda task: self._play_all(task, plays), tasks):
                found.update(verdicts)
        for place, play in self._judged_last:
            found[place] = self._told(self._broken.get(place) or judged(play, None, [], 0.0))
        in_order = [found[place] for place in sorted(found)]
        return in_order if fuzzing is None else [*in_order, *self._fuzzed(fuzzing)]

    def _fuzzed(self, fuzzing: Fuzzing) -> Iterator[Verdict]:
        from .fuzz import fuzz

        found = fuzz(self._start, self.facts, fuzzing, self._settings, timeout_seconds=self._timeout)
        return map(self._told, found)

    def _play_all(self, places: list[int], plays: Sequence[Play]) -> dict[int, Verdict]:
        """Play what may share a process, one after the other."""
        shared = _Shared(self)
        try:
            return {place: self._told(shared.play(plays[place])) for place in places}
        finally:
            shared.close()

    def _told(self, verdict: Verdict) -> Verdict:
        if self._on_verdict is not None:
            with self._telling:
                self._on_verdict(verdict, self._total)
        return verdict

    def open(self, play: Play) -> tuple[Talk, str]:
        """Start a server for *play*. Return what stands against playing it there, empty if nothing."""
        assert play.framing is not None
        talk = self._start(play.framing)
        if play.case.process == "fresh" or not play.revision:
            return talk, ""
        return talk, open_session(talk, play.revision, self._settings.start_seconds)

    def played(self, talk: Talk, play: Play) -> Verdict:
        """Play the case there and return the verdict."""
        began = time.monotonic()
        start = len(talk.conversation.events) if play.case.process == "shared" else 0  # else it began for this case
        values = {
            **self.facts.values,
            "revision": play.revision,
            "meta": meta(play.revision),
            "probe": probe("", play.revision)["method"],
        }
        unmet = Player(talk, play.revision, values, self._timeout, self.facts.start_seconds).play(play.case.steps)
        return judged(play, unmet, talk.conversation.events[start:], time.monotonic() - began)

    def hold_against(self, conversation: Conversation, revision: str) -> None:
        """Judge all that was said in a *conversation* that is over, so that it need not be kept."""
        for place, play in self._judged_last:
            if place not in self._broken and play.revision in ("", revision):
                scene = Scene(conversation.events, {"tools": self.facts.tools})
                for step in play.case.steps:
                    if (unmet := judge(step, scene)) is not None:
                        shown = _shortest(step, scene)[-_LAST_EVENTS:]
                        self._broken[place] = judged(play, unmet, shown, 0.0)
                        break


class _Shared:
    """The process that cases share, while it answers; those that need one of their own get that."""

    def __init__(self, run: _Run) -> None:
        self._run = run
        self._talk: Talk | None = None
        self._revision = ""

    def play(self, play: Play) -> Verdict:
        if play.reason:
            return verdict_of(play, "not applicable", reason=play.reason)
        obstacle = ""
        if self._talk is None:
            try:
                self._revision = play.revision
                self._talk, obstacle = self._run.open(play)
            except NotStarted as error:  # though it was, before
                return judged(play, Unmet("the server starts", str(error)), [], 0.0)
        if obstacle:
            verdict = not_opened(play, obstacle, self._talk.conversation.events)
        else:
            verdict = self._run.played(self._talk, play)
        if obstacle or play.case.process != "shared" or not (verdict.outcome == "pass" or self._answers(play)):
            self.close()
        return verdict

    def _answers(self, play: Play) -> bool:
        """Whether the process is still good for the next case."""
        assert self._talk is not None
        request = probe(f"alive-{play.case.id}", play.revision)
        return self._talk.request(request, _ALIVE_SECONDS) is not None

    def close(self) -> None:
        if self._talk is not None:
            self._talk.close()
            self._run.hold_against(self._talk.conversation, self._revision)
            self._talk = None


def _tasks(plays: Sequence[Play]) -> tuple[list[list[int]], list[int]]:
    """The places in *plays* of what is played one after the other in each thread, and of what is judged at last."""
    shared: dict[Any, list[int]] = {}
    own: list[list[int]] = []
    last = []
    for place, play in enumerate(plays):
        if play.case.process == "run" and not play.reason:
            last.append(place)
        elif play.case.process == "shared" or play.reason:
            shared.setdefault((play.revision, play.framing), []).append(place)
        else:
            own.append([place])
    return [*shared.values(), *own], last


def _shortest(step: dict[str, Any], scene: Scene) -> Sequence[Event]:
    """The first part of what happened that does not meet what *step* expects of all of it."""
    events = scene.events
    low, high = 0, len(events)
    while low < high:
        middle = (low + high) // 2
        if judge(step, Scene(events[:middle], scene.lists)) is None:
            low = middle + 1
        else:
            high = middle
    return events[:low]
