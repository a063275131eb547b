"""The contract cases as tests of pytest, one for each case, with its id.

Strategy. A process can play many cases, so the first test that runs plays all selected cases, and
each test reports the verdicts on its own. pytest is imported by `contract_cases` only, since
`toolwire_check` is used without it too.
"""

from __future__ import annotations

import warnings
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from toolwire_client.errors import NotStarted
from toolwire_schemas.cases import load_cases

from .. import baseline as baselines
from ..check import check
from ..facts.server_facts import UnknownTool
from ..playing.plan import select_cases
from ..report import is_bad

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping, Sequence

    import pytest
    from toolwire_schemas.cases import Severity

    from ..facts.check_settings import CheckSettings
    from ..fuzz import Fuzzing
    from ..report import Report, Verdict

FUZZ_IDS = ("fuzz/valid", "fuzz/invalid")
_NO_FUZZING = "fuzz"
"""The test that fails in place of those if Hypothesis is not installed."""


class ContractWarning(UserWarning):
    """A server does not do what a case expects, and that is milder than what fails a test."""


def contract_cases(
    command: Sequence[str],
    *,
    only: Sequence[str] = (),
    skip: Sequence[str] = (),
    severity: Severity = "must",
    baseline: str | os.PathLike[str] | None = None,
    fuzzing: Fuzzing | None = None,
    settings: CheckSettings | None = None,
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
    timeout_seconds: float = 10.0,
) -> Callable[..., None]:
    """Return a test function, to be bound to a name in a module, that tests the server which
    *command* starts:

        test_contract = contract_cases(["toolwire", "serve", "my_tools.py"])

    It is as many tests as there are cases whose ids match a pattern in *only* (by default all) and
    none in *skip*, and two more with *fuzzing*. Those that are selected are played together when
    the first of them runs. A test fails if a case of this *severity* or a graver one does; others
    warn (`ContractWarning`), and what is not applicable is skipped. Gaps in the file *baseline* are
    expected failures. If Hypothesis is not installed, one test fails in place of the two with
    *fuzzing*, and says how to install it. For all else see `check`.

    Raises:
        ValueError: if a pattern matches no case, so that less would be tested than was meant.
        BadBaseline: if the *baseline* cannot be read.
    """
    import pytest

    wanted = {case.id: case for case in select_cases(load_cases(), only, skip)}
    _refuse_unknown_patterns((*only, *skip))
    gaps: Sequence[baselines.Gap] = ()
    if baseline is not None:
        gaps = baselines.read(Path(baseline).read_text(encoding="utf-8"))
    no_fuzzing = "" if fuzzing is None else _find_obstacle_to_fuzzing()
    fuzz_ids: tuple[str, ...] = ()
    if fuzzing is not None:
        fuzz_ids = (_NO_FUZZING,) if no_fuzzing else FUZZ_IDS

    @cache
    def play(ids: frozenset[str]) -> Report | NotStarted | UnknownTool:
        try:
            return check(
                command,
                cases=[case for case in wanted.values() if case.id in ids],
                gaps=gaps,
                fuzzing=fuzzing if ids.intersection(FUZZ_IDS) else None,
                settings=settings,
                env=env,
                cwd=cwd,
                timeout_seconds=timeout_seconds,
            )
        except (NotStarted, UnknownTool) as error:
            return error

    @pytest.mark.parametrize("contract_case", [*wanted, *fuzz_ids])
    def test(contract_case: str, request: pytest.FixtureRequest) -> None:
        if contract_case == _NO_FUZZING:
            pytest.fail(no_fuzzing, pytrace=False)
        selected = _list_selected(request, test)
        report = play(selected)
        if isinstance(report, Exception):
            pytest.fail(str(report), pytrace=False)
        verdicts = []
        for verdict in report.verdicts:
            if _is_about(verdict, contract_case, selected):
                verdicts.append(verdict)
        _report_outcome(verdicts, report, severity)

    test.__doc__ = f"What `{' '.join(command)}` starts keeps the contract."
    return test


def _refuse_unknown_patterns(patterns: Sequence[str]) -> None:
    ids = [*(case.id for case in load_cases()), *FUZZ_IDS]
    for pattern in patterns:
        if not any(fnmatchcase(each, pattern) for each in ids):
            raise ValueError(f"no case matches {pattern!r}: `toolwire check --list` has them all")


def _list_selected(request: pytest.FixtureRequest, test: Callable[..., None]) -> frozenset[str]:
    """Return the ids of the cases whose tests this run of pytest has selected."""
    ids = set()
    for item in request.session.items:
        if getattr(item, "function", None) is test:
            ids.add(item.callspec.params["contract_case"])  # type: ignore[attr-defined]
    return frozenset(ids)


def _find_obstacle_to_fuzzing() -> str:
    """Return why no arguments can be generated, with the command that helps; empty if they can."""
    from ..fuzz import MissingHypothesis, need_hypothesis

    try:
        need_hypothesis()
    except MissingHypothesis as error:
        return str(error)
    return ""


def _is_about(verdict: Verdict, case: str, selected: frozenset[str]) -> bool:
    """Whether *verdict* is about this *case*.

    A failure of a case that was not selected is about each case: the server does not answer.
    """
    if verdict.case.startswith("fuzz/"):
        return verdict.case.startswith(f"{case}/")
    return verdict.case == case or (verdict.case not in selected and is_bad(verdict))


def _report_outcome(verdicts: Sequence[Verdict], report: Report, severity: str) -> None:
    """End the test by *verdicts*, which are some of the *report*: the gravest decides."""
    import pytest

    failed = report.list_failures(severity)
    texts = [_format_verdict(verdict) for verdict in verdicts if verdict in failed]
    if texts:
        pytest.fail("\n\n".join(texts), pytrace=False)
    for verdict in verdicts:
        if is_bad(verdict):
            warnings.warn(_format_verdict(verdict), ContractWarning, stacklevel=2)
    for verdict in verdicts:
        if verdict.outcome == "known gap":
            pytest.xfail(verdict.reason)
    if all(verdict.outcome == "not applicable" for verdict in verdicts):
        reasons = dict.fromkeys(verdict.reason for verdict in verdicts)
        pytest.skip("; ".join(reasons) or "there is nothing to try it on")


def _format_verdict(verdict: Verdict) -> str:
    place = f" ({verdict.where})" if verdict.where else ""
    came = verdict.came.replace("\n", "\n            ")
    lines = [
        f"{verdict.case}{place}: {verdict.behaviour}",
        f"  source    {verdict.before_source}{verdict.source}",
        f"  expected  {verdict.expected}",
        f"  came      {came}",
    ]
    lines += [f"  {line}" for line in verdict.exchange]
    return "\n".join(lines)
