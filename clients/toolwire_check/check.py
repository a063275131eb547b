"""Check a server: find its facts, plan and play the cases, and report the verdicts.

Strategy. Cases that may share a process are one task for each revision and framing; each other case
is a task. A few threads play the tasks. Failures that may be for lack of time are played again at
the end, alone. Then come the calls with generated arguments, and the expectations on the whole run,
which all conversations have contributed to.
"""

from __future__ import annotations

import os
import threading
import time
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

from toolwire_client.redaction.redactor import Redactor
from toolwire_schemas.cases import load_cases as all_cases
from toolwire_schemas.threads import restore_hooks

from . import baseline
from .facts.check_settings import CheckSettings
from .facts.control import find_control, mark_shared_gaps
from .facts.sdks import mark_sdk_gaps
from .facts.server_facts import find_facts
from .facts.server_process import ServerUnderTest
from .judging.costs import find_slowest_calls, measure_costs
from .playing.early_end import EarlyEnd
from .playing.generated_calls import GeneratedCalls
from .playing.open_conversation import CheckContext
from .playing.plan import plan_plays
from .playing.play_sequence import Doubt, PlaySequence, play_and_confirm, repeat_doubt
from .playing.player import Limits
from .playing.verdicts import judge_silent_server, make_verdict
from .playing.whole_run import RunJudge
from .report import SEVERITIES, Report, is_bad

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from toolwire_schemas.cases import Case, Framing

    from .facts.server_facts import Facts
    from .fuzz import Fuzzing
    from .judging.costs import TimedCall
    from .playing.plan import Play
    from .report import Verdict

    OnVerdict = Callable[[Verdict, int], None]
    Task = dict[int, Play]
    """Plays for one thread, by their places in the plan."""

_MAX_JOBS = 4

_MAX_SECONDS_OF_CONTROL = 30.0

# All repeats that fail again together; after that a server is known to be slow, not the machine.
_MAX_SECONDS_OF_REPEATS = 120.0


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
    early_end: EarlyEnd | None = None,
) -> Report:
    """Return a report on how the server that *command* starts meets the *cases* (default all).

    It is started several times, up to *jobs* at once. *env* is its whole environment, by default
    ours. Each wait for an expected message lasts at most *timeout_seconds*. A case that may have
    failed for lack of time is repeated at the end, while nothing else of the check runs, with waits
    three times as long. If the server answers slowly from the start, all waits are longer.
    *fuzzing* adds calls with generated arguments. Known failures of its SDK, and those that a bare
    server of that SDK shows too, count as known gaps unless *fold_sdk* is false. *on_verdict*
    receives each verdict, and the total number, as soon as it is decided; on any thread, one at a
    time. *early_end* may end the check before all cases are played; a KeyboardInterrupt ends it so,
    too, and a second one is raised.

    *replays* reproduces a failure, even one that needs another case before it: the *cases* are
    played in sequence, in one process where possible, with all messages. Expectations on the whole
    run and known gaps are not judged.

    Raises:
        NotStarted: if the command cannot be run.
        UnknownTool: if the *settings* have a call of a tool that the server does not have.
        MissingHypothesis: if *fuzzing* is given and Hypothesis is not installed.
    """
    start_time = time.monotonic()
    settings = settings or CheckSettings()
    early_end = early_end or EarlyEnd()
    if replays:
        gaps, fuzzing, fold_sdk, jobs = (), None, False, 1
    if fuzzing is not None:
        from .fuzz import need_hypothesis

        need_hypothesis()
    calls: list[TimedCall] = []

    def start(framing: Framing) -> ServerUnderTest:
        return ServerUnderTest(command, framing, env=env, cwd=cwd, calls=calls)

    facts = find_facts(start, settings)
    plays = plan_plays(all_cases() if cases is None else cases, facts)
    sdk = facts.sdk if fold_sdk else None
    if facts.trouble:
        verdicts = judge_silent_server(plays, facts.trouble, facts.events)
    else:
        limits = Limits(
            answer_seconds=timeout_seconds,
            opening_seconds=settings.start_seconds,
            start_seconds=facts.start_seconds,
            call_seconds=find_slowest_calls(calls),
        ).scale(facts.answer_seconds)
        run_plays = {} if replays else _select_for_run(plays)
        run_judge = RunJudge(run_plays, facts.tools)
        context = CheckContext(start, facts, limits, run_judge, sdk, is_replay=replays)
        run = _Run(context, on_verdict, _count_verdicts(plays, facts, fuzzing), early_end)
        verdicts = run.judge(plays, jobs, fuzzing, settings)
    verdicts, outdated = baseline.apply(verdicts, gaps)
    verdicts = mark_sdk_gaps(verdicts, sdk)
    if fold_sdk and not early_end.is_interrupted:
        start_control = partial(ServerUnderTest, env=env, cwd=cwd)
        check_control = partial(
            check, env=env, cwd=cwd, timeout_seconds=timeout_seconds, jobs=jobs, fold_sdk=False
        )
        verdicts = _mark_gaps_of_control(verdicts, facts, settings, start_control, check_control)
    return Report(
        command=Redactor().redact_value(list(command)),
        server=facts.name,
        revisions=facts.revisions,
        framings=list(facts.framings),
        tools=len(facts.tools),
        seconds=time.monotonic() - start_time,
        verdicts=verdicts,
        sdk=facts.sdk.name if facts.sdk else "",
        outdated=outdated,
        seed=None if fuzzing is None else fuzzing.seed,
        costs=measure_costs(facts.tools, calls),
    )


def _mark_gaps_of_control(
    verdicts: list[Verdict],
    facts: Facts,
    settings: CheckSettings,
    start_control: Callable[..., ServerUnderTest],
    check_control: Callable[..., Report],
) -> list[Verdict]:
    """Return *verdicts*, where failures that a bare server of the same SDK has too are known
    gaps.
    """
    bad = [verdict for verdict in verdicts if is_bad(verdict)]
    control = find_control(facts, start_control) if bad else None
    if control is None:
        return verdicts
    failed = {verdict.case for verdict in bad}
    framings = {verdict.framing for verdict in bad}
    report = check_control(
        control.command,
        cases=[case for case in all_cases() if case.id in failed],
        settings=CheckSettings(
            start_seconds=settings.start_seconds,
            any_tool=True,
            eras=settings.eras,
            framings=[each for each in settings.framings if each in framings] or ["lines"],
        ),
        early_end=EarlyEnd(_MAX_SECONDS_OF_CONTROL),
    )
    return mark_shared_gaps(verdicts, control, report.verdicts)


def _select_for_run(plays: Sequence[Play]) -> Task:
    """Return the plays whose expectations all conversations have to meet."""
    return {place: play for place, play in enumerate(plays) if _is_for_run(play)}


def _is_for_run(play: Play) -> bool:
    return play.process == "run" and not play.reason


def _count_verdicts(plays: Sequence[Play], facts: Facts, fuzzing: Fuzzing | None) -> int:
    if fuzzing is None:
        return len(plays)
    return len(plays) + 2 * len(facts.tools)  # valid and invalid arguments for each tool


class _Run:
    """Collects the verdicts of one check, and announces each as soon as it is final."""

    def __init__(
        self, context: CheckContext, on_verdict: OnVerdict | None, total: int, early_end: EarlyEnd
    ) -> None:
        self._context = context
        self._early_end = early_end
        self._on_verdict = on_verdict
        self._total = total
        self._announcing = threading.Lock()
        self._verdicts: dict[int, Verdict] = {}
        """The verdicts on plays, by their places in the plan."""
        self._doubts: dict[int, Doubt] = {}
        self._fuzz_verdicts: list[Verdict] = []

    def judge(
        self,
        plays: Sequence[Play],
        jobs: int | None,
        fuzzing: Fuzzing | None,
        settings: CheckSettings,
    ) -> list[Verdict]:
        """Play *plays* and generated calls; return the verdicts in the order of the plan, and then
        those on generated calls.
        """
        self._play(plays, jobs)
        self._repeat_doubts()
        if fuzzing is not None and not self._early_end.reason:
            self._fuzz(fuzzing, settings)
        for place, verdict in self._context.run_judge.list_verdicts().items():
            self._add(place, verdict)
        in_order = [self._verdicts[place] for place in sorted(self._verdicts)]
        return in_order + self._fuzz_verdicts

    def _play(self, plays: Sequence[Play], jobs: int | None) -> None:
        """Play *plays*, up to *jobs* tasks at once; failures for lack of time stay doubts."""
        restore_hooks()
        tasks = _make_tasks(plays)
        with ThreadPoolExecutor(jobs or min(_MAX_JOBS, os.cpu_count() or 1)) as pool:
            futures = [pool.submit(self._play_task, task) for task in tasks]
            try:
                wait(futures, return_when=FIRST_EXCEPTION)
            except KeyboardInterrupt:
                self._early_end.interrupt()
                wait(futures, return_when=FIRST_EXCEPTION)
        for future in futures:
            future.result()  # raises what ended a task

    def _play_task(self, task: Task) -> None:
        with closing(PlaySequence(self._context)) as sequence:
            for place, play in task.items():
                reason = self._early_end.reason
                if reason:
                    reason = f"not played: {reason}"
                    self._add(place, make_verdict(play, "not applicable", reason=reason))
                    continue
                result = play_and_confirm(self._context, sequence, play)
                if isinstance(result, Doubt):
                    self._doubts[place] = result
                else:
                    self._add(place, result)

    def _repeat_doubts(self) -> None:
        """Repeat the plays that may have failed for lack of time, now that nothing else runs."""
        seconds_left = _MAX_SECONDS_OF_REPEATS
        for place, doubt in sorted(self._doubts.items(), key=_rank_by_severity):
            reason = self._early_end.reason
            if reason:
                reason = f"it failed, maybe for lack of time, and was not repeated: {reason}"
                self._add(place, make_verdict(doubt.play, "not applicable", reason=reason))
                continue
            if seconds_left <= 0:
                self._add(place, doubt.verdict)
                continue
            start_time = time.monotonic()
            verdict = repeat_doubt(self._context, doubt)
            if is_bad(verdict):
                seconds_left -= time.monotonic() - start_time
            self._add(place, verdict)

    def _fuzz(self, fuzzing: Fuzzing, settings: CheckSettings) -> None:
        """Call the tools with generated arguments."""
        from .fuzz import fuzz

        with closing(GeneratedCalls(self._context)) as calls:
            for verdict in fuzz(self._context.facts, fuzzing, settings, calls):
                self._announce(verdict)
                self._fuzz_verdicts.append(verdict)

    def _add(self, place: int, verdict: Verdict) -> None:
        self._verdicts[place] = verdict
        self._announce(verdict)

    def _announce(self, verdict: Verdict) -> None:
        if self._on_verdict is not None:
            with self._announcing:
                self._on_verdict(verdict, self._total)


def _rank_by_severity(item: tuple[int, Doubt]) -> tuple[int, int]:
    """Return the key that sorts the gravest doubts first."""
    place, doubt = item
    return SEVERITIES.index(doubt.verdict.severity), place


def _make_tasks(plays: Sequence[Play]) -> list[Task]:
    """Return the tasks of *plays*, without those for the whole run."""
    tasks: dict[int | tuple[str, Framing | None], Task] = {}
    for place, play in enumerate(plays):
        if _is_for_run(play):
            continue
        key: int | tuple[str, Framing | None] = place
        if play.process == "shared" or play.reason:
            key = (play.revision, play.framing)
        tasks.setdefault(key, {})[place] = play
    return list(tasks.values())
