"""The command `check`: does a server keep the contract? Verdicts as a table, as JSON, as JUnit's XML."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from textwrap import fill, indent
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_tools.suggestions import unknown

from .errors import Failed, UsageError
from .show import ProgressLine, Style, counted, printable, table, width

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from toolwire_client.contract import Gap, Report, Settings, Verdict
    from toolwire_client.contract.fuzz import Fuzzing
    from toolwire_schemas.cases import Case

    from .options import Words

_SHOWN = 300

_MARKS = {"pass": "pass", "fail": "FAIL", "warn": "warn", "known gap": "gap", "not applicable": "n/a"}


def check(words: Words, command: list[str]) -> tuple[str, int]:
    """Check the server that *command* starts; return what there is to print, and the exit status.

    Raises:
        UsageError: if the options make no sense.
        Failed: if the server cannot be started.
    """
    from toolwire_client import NotStarted
    from toolwire_client.contract import check

    options = words.options
    cases = _cases(options)
    if options.get("list"):
        return _json(msgspec.to_builtins(cases)) if options.get("json") else _list_of(cases), 0
    gaps = _gaps(options.get("baseline"))
    progress = _Progress()
    try:
        report = check(
            command,
            cases=cases,
            settings=_settings(options),
            timeout_seconds=options.get("timeout", 10.0),
            gaps=gaps,
            fuzzing=_fuzzing(options),
            jobs=options.get("jobs"),
            on_verdict=progress,
        )
    except NotStarted as error:
        raise Failed(str(error), 2) from None
    finally:
        progress.clear()
    _write_files(options, report, gaps)
    told = (
        _json(report.as_json())
        if options.get("json")
        else text(report, Style(sys.stdout), verbose="verbose" in options)
    )
    return told, 1 if report.failed(options.get("fail_on", "must")) else 0


def text(report: Report, style: Style, *, verbose: bool = False) -> str:
    """Return *report* as a person reads it: what failed at length, then what there is of everything.

    The exchanges behind warnings are shown if *verbose*.
    """
    from toolwire_client.contract.report import is_bad, worst_first

    found: dict[tuple[str, str, str], list[Verdict]] = {}
    for verdict in filter(is_bad, worst_first(report.verdicts)):
        found.setdefault((verdict.case, verdict.outcome, verdict.expected), []).append(verdict)
    blocks = [_told(alike, style, verbose=verbose) for alike in found.values()]
    blocks += [_areas(report, style), _reasons(report), _summary(report, style)]
    return "\n\n".join(filter(None, blocks))


def _told(alike: Sequence[Verdict], style: Style, *, verbose: bool) -> str:
    """What failed, once for all revisions and framings in which it did."""
    verdict = alike[0]
    where = "; ".join(", ".join(filter(None, (one.revision, one.framing))) for one in alike)
    head = f"{_MARKS[verdict.outcome]}  {verdict.case}" + (f"  ({where})" if where else "")
    lines = [
        f"  {verdict.behaviour}",
        f"  {verdict.severity}, {verdict.source}",
        f"  expected  {verdict.expected}",
        f"  came      {indent(verdict.came, ' ' * 12).lstrip()}",
    ]
    exchange = verdict.exchange if verbose or verdict.outcome == "fail" else ()
    mark = style.red if verdict.outcome == "fail" else style.bold
    return "\n".join([mark(head), *map(printable, lines), *(style.dim(_line(line)) for line in exchange)])


def _line(line: str) -> str:
    # What was sent is shown whole, so that it can be sent again.
    cut = line if line.startswith("-> ") or len(line) <= _SHOWN else f"{line[:_SHOWN]}…"
    return printable(f"    {cut}")


def _areas(report: Report, style: Style) -> str:
    """One row for each area of cases: how many of each verdict."""
    areas: dict[str, list[str]] = {}
    for verdict in report.verdicts:
        areas.setdefault(verdict.case.partition("/")[0], []).append(verdict.outcome)
    rows = [(area, *(str(outcomes.count(outcome) or "") for outcome in _MARKS)) for area, outcomes in areas.items()]
    return table(("area", *_MARKS), rows, width(), style)


def _reasons(report: Report) -> str:
    """Why cases do not apply, and which gaps are known."""
    reasons: dict[tuple[str, str], dict[str, None]] = {}
    for verdict in report.verdicts:
        if verdict.reason:
            reasons.setdefault((_MARKS[verdict.outcome], verdict.reason), {})[verdict.case] = None
    lines = [f"{mark:<4}  {printable(reason)}: {', '.join(cases)}" for (mark, reason), cases in reasons.items()]
    below = " " * 6
    return "\n".join(fill(line, width(), subsequent_indent=below, break_on_hyphens=False) for line in lines)


def _summary(report: Report, style: Style) -> str:
    counts = report.counts()
    told = ", ".join(f"{number} {outcome}" for outcome, number in counts.items() if number)
    spoken = f"MCP {', '.join(report.revisions)}; {' and '.join(report.framings)}" if report.revisions else "nothing"
    name = printable(report.server) or "The server"
    lines = [f"{name} speaks {spoken}; {counted(report.tools, 'tool')}. {told}, in {report.seconds:.1f} s."]
    if report.seed is not None:
        lines.append(f"The same arguments are generated again with --seed {report.seed}.")
    lines += [f"The gap {gap} is there no more: take it out of the baseline." for gap in report.outdated]
    return "\n".join(style.bold(line) for line in lines)


def _cases(options: dict[str, Any]) -> list[Case]:
    from toolwire_client.contract.plan import chosen
    from toolwire_schemas.cases import cases

    for pattern in (*options.get("only", ()), *options.get("skip", ())):
        if not chosen(cases(), [pattern]):
            raise UsageError(unknown("case", pattern, [case.id for case in cases()]))
    return chosen(cases(), options.get("only", ()), options.get("skip", ()))


def _list_of(cases: Sequence[Case]) -> str:
    rows = [(case.id, case.severity, case.behaviour) for case in cases]
    return table(("case", "severity", "behaviour"), rows, width(), Style(sys.stdout))


def _settings(options: dict[str, Any]) -> Settings:
    from toolwire_client.contract import Settings

    framing, era = options.get("framing", "both"), options.get("era", "both")
    given: dict[str, Any] = {
        "eras": ("legacy", "modern") if era == "both" else (era,),
        "framings": ("lines", "headers") if framing == "both" else (framing,),
        "calls": dict(options.get("call", ())),
        "any_tool": "destructive" in options,
    }
    return Settings(**given, **({"start_seconds": options["start_timeout"]} if "start_timeout" in options else {}))


def _fuzzing(options: dict[str, Any]) -> Fuzzing | None:
    from toolwire_client.contract.fuzz import Fuzzing, any_seed

    if "fuzz" not in options:
        if "seed" in options:
            raise UsageError("--seed goes with --fuzz")
        return None
    if find_spec("hypothesis") is None:
        raise UsageError("--fuzz needs hypothesis; install it: pip install 'toolwire[contract]'")
    return Fuzzing(options["fuzz"], options.get("seed", any_seed()))


def call(word: str) -> tuple[str, dict[str, Any]]:
    """Accept `NAME=JSON`: a tool and the arguments to call it with."""
    name, _, arguments = word.partition("=")
    try:
        value = json.loads(arguments or "{}")
    except ValueError:
        value = None
    if not name or not isinstance(value, dict):
        raise ValueError("""NAME={"argument": value, ...}""")
    return name, value


def _gaps(path: str | None) -> list[Gap]:
    from toolwire_client.contract.baseline import BadBaseline, read

    if path is None:
        return []
    try:
        return read(Path(path).read_text("utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read the baseline {path}: {error.strerror}; --write-baseline writes one") from None
    except (BadBaseline, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is no baseline: {error}") from None


def _write_files(options: dict[str, Any], report: Report, gaps: Sequence[Gap]) -> None:
    from toolwire_client.contract.baseline import write
    from toolwire_client.contract.junit import as_junit

    makers: dict[str, Callable[[], str]] = {
        "junit": lambda: as_junit(report),
        "write_baseline": lambda: write(report.verdicts, gaps),
    }
    for key, make in makers.items():
        if key in options:
            try:
                Path(options[key]).write_text(make(), "utf-8")
            except OSError as error:
                raise UsageError(f"cannot write to {options[key]}: {error.strerror}") from None


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)


class _Progress:
    """How far it is: a bar on a terminal, nothing elsewhere."""

    def __init__(self) -> None:
        self._line = ProgressLine(sys.stderr)
        self._done = 0

    def __call__(self, verdict: Verdict, total: int) -> None:
        self._done += 1
        self._line(self._done, total, f"{self._done}/{total} {verdict.case}")

    def clear(self) -> None:
        self._line.clear()
