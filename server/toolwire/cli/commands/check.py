"""`toolwire check`: tests a server against the contract, and reports as text, JSON, JUnit XML, HTML
or Markdown.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import shlex
import sys
from pathlib import Path
from textwrap import fill, indent
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.did_you_mean import unknown_name
from toolwire_schemas.output import BOLD, DIM, RED, emphasize, printable

from ...errors import Failed, UsageError
from ..layout import find_width, format_count, format_table
from ..open_client import client_of, command_of, loading_words
from ..options import HTML, JSON, LOADING, MARKDOWN, Option
from ..output import format_json, print_data, print_report
from ..output_files import check_folders, write_pages
from ..progress import ProgressLine
from . import Command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolwire_check import CheckSettings, Fuzzing, Gap, Report, Verdict
    from toolwire_schemas.cases import Case

    from ..options import Words


def _call(word: str) -> tuple[str, dict[str, Any] | None]:
    """Accept `NAME=JSON`, a tool and its arguments, or `NAME` for the simplest valid arguments."""
    name, equals, arguments = word.partition("=")
    try:
        value = json.loads(arguments) if equals else None
    except ValueError:
        value = None
    if not name or (equals and not isinstance(value, dict)):
        raise ValueError("""NAME={"argument": value, ...}, or NAME for the simplest arguments""")
    return name, value


COMMAND = Command(
    usage=(
        "toolwire check [OPTIONS] -- COMMAND",
        "toolwire check TARGET... [OPTIONS]",
        "toolwire check --replay CASE -- COMMAND",
        "toolwire check --list",
        "toolwire check --rule CASE",
    ),
    details=(
        "Starts the server many times and sends it valid and invalid messages. Calls only tools"
        " that declare themselves read-only, and those named by --call. Each verdict quotes the"
        " rule of MCP, JSON-RPC or LSP. The exit status is 1 if a rule is violated: fail = a MUST"
        " is violated; warn = a SHOULD."
    ),
    options=(
        Option("--only PATTERN", "run only cases whose id matches; repeatable", many=True),
        Option("--skip PATTERN", "leave out cases whose id matches; repeatable", many=True),
        Option("--list", "list the cases and exit"),
        Option(
            "--rule CASE",
            "explain this case: why it matters, exchanges, how to fix it; repeatable",
            many=True,
        ),
        Option(
            "--replay CASE",
            "run this case and show all messages; repeatable: in order, in one process",
            many=True,
        ),
        *LOADING,
        Option(
            "--era legacy|modern|both",
            "use only legacy (initialize) or only modern (2026-07-28) MCP",
        ),
        Option(
            "--framing lines|headers|both",
            "use only lines or only headers (default: all supported)",
        ),
        Option(
            "--call NAME[=JSON]",
            "a tool that may be called, and with what; may be given again",
            _call,
            many=True,
        ),
        Option("--destructive", "call tools that do not say they are read-only as well"),
        Option("--verbose", "show the messages of warnings, not only of failures"),
        Option("--fuzz NUMBER", "number of valid and of invalid arguments to call each tool with"),
        Option("--seed NUMBER", "with --fuzz: that of an earlier run, for the same arguments"),
        Option("--timeout SECONDS", "time limit for each response (default: 10)"),
        Option("--start-timeout SECONDS", "time limit for the first response (default: 20)"),
        Option("--jobs NUMBER", "number of concurrent servers (default: one per core, up to 4)"),
        Option(
            "--fail-on must|should|advice",
            "exit with 1 if a rule of this severity fails (default: must)",
        ),
        Option(
            "--sdk", "count findings that come from the server's SDK (default: they are folded)"
        ),
        Option("--baseline FILE", "known gaps with reasons; they do not count"),
        Option(
            "--write-baseline FILE",
            "write all gaps to FILE, with places for the reasons; reasons that it has are kept",
        ),
        JSON,
        Option(
            "--events",
            "print each verdict as a line of JSON, with HTML, when it is decided, and then the"
            " report",
        ),
        Option("--badge FILE", "also write an SVG picture of the verdict, for a README, to FILE"),
        Option("--junit FILE", "also write the verdicts to FILE as JUnit XML"),
        HTML,
        MARKDOWN,
    ),
    examples=(
        "toolwire check tools.py",
        "toolwire check -- npx -y some-mcp-server",
        """toolwire check --call 'search={"query": "tea"}' --junit report.xml -- my-server --stdio""",  # noqa: E501
    ),
)


def run(words: Words) -> int:
    """Print the verdicts, and return 1 if a rule of the chosen severity failed."""
    options = words.options
    if "rule" in options:
        _show_rules(options)
        return 0
    if options.get("list"):
        cases = _cases(options)
        if options.get("json"):
            print_data(format_json(cases))
        else:
            rows = [(case.id, case.severity, case.behaviour) for case in cases]
            print_report(format_table(("case", "severity", "behaviour"), rows))
        return 0
    command = command_of(words, words.words)
    cases = _cases(options)
    gaps = _gaps(options.get("baseline"))
    if words.command is None:
        _need_target(words)
    check_folders(options, "html", "markdown", "badge", "junit", "write_baseline")
    known = gaps or _gaps(options.get("write_baseline"), is_new=True)
    report = _checked(command, cases, gaps, options)
    if "replay" not in options:
        _write_files(options, report, known)
    if _write(report, words):
        pass
    elif "events" in options:
        from toolwire_check.pages.check_page import check_html

        _event(report=report.as_json(), html=check_html(report))
    elif options.get("json"):
        print_data(format_json(report.as_json()))
    else:
        print_report(_as_text(report, words))
    return 1 if report.failed(options.get("fail_on", "must")) else 0


def _event(**members: Any) -> None:
    print_data(json.dumps(members, default=msgspec.to_builtins))
    sys.stdout.flush()


def _show_rules(options: dict[str, Any]) -> None:
    from toolwire_schemas.cases.rules import rule, rule_id, rule_page

    cases = _cases({"only": list(map(rule_id, options["rule"]))})
    rules = [found for case in cases if (found := rule(case.id)) is not None]
    if options.get("json"):
        print_data(format_json(rules))
    else:
        print_report("\n\n".join(_wrapped(rule_page(found)) for found in rules))


def _wrapped(page: str) -> str:
    """Return a page of Markdown with its prose wrapped and its headings marked."""
    lines, is_code = [], False
    for line in page.splitlines():
        is_code ^= line.startswith("```")
        prose = (
            line
            if is_code
            else fill(line, find_width(), break_long_words=False, break_on_hyphens=False)
        )
        lines.append(emphasize(BOLD, prose) if line.startswith("#") and not is_code else prose)
    return "\n".join(lines)


def _need_target(words: Words) -> None:
    """Report a target that cannot be loaded as a mistake on the command line, not as a broken
    contract.
    """
    try:
        with client_of(words, words.words):
            pass
    except Failed as failure:
        if failure.status == 2:
            raise  # the cases report everything else


def _checked(
    command: list[str], cases: Sequence[Case], gaps: Sequence[Gap], options: dict[str, Any]
) -> Report:
    from toolwire_check import MissingHypothesis, UnknownTool, check
    from toolwire_client import NotStarted

    line, numbers = ProgressLine(sys.stderr), itertools.count(1)

    def on_verdict(verdict: Verdict, total: int) -> None:
        number = next(numbers)
        line(number, total, f"{number}/{total} {verdict.case}")
        if "events" in options:
            from toolwire_check.pages.check_page import verdict_html

            _event(number=number, total=total, verdict=verdict, html=verdict_html(verdict))

    try:
        return check(
            command,
            cases=cases,
            settings=_settings(options),
            timeout_seconds=options.get("timeout", 10.0),
            gaps=gaps,
            fuzzing=_fuzzing(options),
            fold_sdk="sdk" not in options,
            jobs=options.get("jobs"),
            replays="replay" in options,
            on_verdict=None if "replay" in options else on_verdict,
        )
    except NotStarted as error:
        raise Failed(str(error), 2) from None
    except MissingHypothesis as error:
        raise UsageError(f"--fuzz: {error}") from None
    except UnknownTool as error:
        raise UsageError(unknown_name("tool", error.name, error.known)) from None
    finally:
        line.clear()


def _again(verdict: Verdict, words: Words) -> str:
    """Return the options and target that play the case of *verdict* again, after the others that it
    takes.
    """
    from toolwire_check.facts.handshake import is_modern

    options = words.options
    again = [word for case in (*verdict.after, verdict.case) for word in ("--replay", case)]
    if verdict.revision:
        again += ["--era", "modern" if is_modern(verdict.revision) else "legacy"]
    again += [
        "--framing",
        verdict.framing,
        *(["--destructive"] if "destructive" in options else []),
    ]
    for name, arguments in options.get("call", ()):
        again += [
            "--call",
            name if arguments is None else f"{name}={json.dumps(arguments, ensure_ascii=False)}",
        ]
    for key in ("timeout", "start_timeout"):
        again += [f"--{key.replace('_', '-')}", f"{options[key]:g}"] if key in options else []
    return shlex.join(
        [
            *again,
            *loading_words(options),
            *words.words,
            *(("--", *words.command) if words.command is not None else ()),
        ]
    )


def _cases(options: dict[str, Any]) -> list[Case]:
    from toolwire_check.playing.plan import select_cases
    from toolwire_schemas.cases import cases

    only, skip, replayed = (options.get(name, ()) for name in ("only", "skip", "replay"))
    for pattern in (*only, *skip, *replayed):
        if not select_cases(cases(), [pattern]):
            raise _no_case(pattern, cases())
    found = [case for pattern in replayed for case in select_cases(cases(), [pattern])]
    for case in found:
        if case.process == "run":
            problem = "judges all messages of a check and cannot be replayed alone"
            raise UsageError(f"{case.id} {problem}; use --only {case.id}")
    return found or select_cases(cases(), only, skip)


def _no_case(pattern: str, cases: Sequence[Case]) -> UsageError:
    """Propose the cases of the area of *pattern*, or all areas if the area is unknown."""
    area = pattern.partition("/")[0]
    within = [case.id for case in cases if case.area == area] if "/" in pattern else []
    areas = [f"{area}/*" for area in dict.fromkeys(case.area for case in cases)]
    return UsageError(unknown_name("case", pattern, within or areas))


def _settings(options: dict[str, Any]) -> CheckSettings:
    from toolwire_check import CheckSettings

    framing, era = options.get("framing", "both"), options.get("era", "both")
    return CheckSettings(
        eras=("legacy", "modern") if era == "both" else (era,),
        framings=("lines", "headers") if framing == "both" else (framing,),
        calls=dict(options.get("call", ())),
        any_tool="destructive" in options,
        start_seconds=options.get("start_timeout", 20.0),
    )


def _fuzzing(options: dict[str, Any]) -> Fuzzing | None:
    from toolwire_check import Fuzzing

    if "fuzz" in options:
        return Fuzzing(options["fuzz"], options.get("seed", random.randrange(1, 10**6)))
    if "seed" in options:
        raise UsageError("--seed goes with --fuzz")
    return None


def _gaps(path: str | None, *, is_new: bool = False) -> list[Gap]:
    """Return the gaps in the file at *path*; one that *is_new* may be missing or empty."""
    from toolwire_check.baseline import BadBaseline, read

    if path is None or (is_new and not (os.path.exists(path) and os.path.getsize(path))):
        return []
    try:
        return read(Path(path).read_text("utf-8"))
    except (BadBaseline, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not a baseline: {error}") from None


def _write_files(options: dict[str, Any], report: Report, known: Sequence[Gap]) -> None:
    from toolwire_check.baseline import write
    from toolwire_check.junit import as_junit

    if "junit" in options:
        Path(options["junit"]).write_text(as_junit(report), "utf-8")
    if "write_baseline" in options:
        Path(options["write_baseline"]).write_text(write(report.verdicts, known), "utf-8")


def _write(report: Report, words: Words) -> bool:
    """Write the report as `--html`, `--markdown` and `--badge` ask; return whether that was to
    standard output.
    """
    if words.options.keys().isdisjoint(("html", "markdown", "badge")):
        return False
    from toolwire_check.pages.badge import badge
    from toolwire_check.pages.check_page import check_markdown, check_page

    def again(verdict: Verdict) -> str:
        return f"toolwire check {_again(verdict, words)}" if verdict.framing else ""

    return write_pages(
        words.options,
        html=lambda: check_page(report, again=again),
        markdown=lambda: check_markdown(report, again=again),
        badge=lambda: badge(report),
    )


# --- the report ---

_SHOWN = 300

_MARKS = {
    "pass": "pass",
    "fail": "FAIL",
    "warn": "warn",
    "known gap": "gap",
    "not applicable": "n/a",
}


def _as_text(report: Report, words: Words) -> str:
    """Return failures in detail, then counts; of a replay, each verdict with all messages."""
    if not report.revisions:
        return _without_handshake(report)
    if "replay" in words.options:
        return "\n\n".join(_in_detail([verdict], words) for verdict in report.verdicts)
    blocks = [_in_detail(alike, words) for alike in report.findings()]
    return "\n\n".join(filter(None, [*blocks, _areas(report), _reasons(report), _summary(report)]))


def _without_handshake(report: Report) -> str:
    """Three lines about a server that cannot be tested: what it did, its last line of stderr, what
    to try.
    """
    failed = report.failed()[0]
    what, _, stderr = failed.came.partition("; the end of its stderr: ")
    lines = [line.strip() for line in stderr.splitlines() if line.strip()] or [
        "nothing was written to stderr"
    ]
    last = next(
        (line for line in reversed(lines) if "error" in line.lower()), lines[-1]
    )  # Node ends with its version
    more_time = (
        "--start-timeout SECONDS if it only takes long to start; else "
        if "--start-timeout" in what
        else ""
    )
    return "\n".join(
        (
            emphasize(RED, f"FAIL  {failed.case}: {printable(what)}"),
            f"  stderr  {printable(last[:_SHOWN])}",
            printable(f"  try     {more_time}run it by hand: {shlex.join(report.command)}"),
        )
    )


def _in_detail(alike: Sequence[Verdict], words: Words) -> str:
    """One failure, with all revisions and framings in which it occurred, or one case of a
    replay.
    """
    from toolwire_schemas.cases.rules import rule_id

    verdict, replays = alike[0], "replay" in words.options
    where = "; ".join(one.where for one in alike)
    lines = [
        f"  {verdict.behaviour}",
        f"  {verdict.severity}, {verdict.before_source}{verdict.source}",
    ]
    if verdict.expected:
        lines += [
            f"  expected  {verdict.expected}",
            f"  came      {indent(verdict.came, ' ' * 12).lstrip()}",
        ]
    if verdict.reason:
        lines.append(f"  {verdict.reason}")
    is_shown = replays or "verbose" in words.options or verdict.outcome == "fail"
    if is_shown and not replays:
        lines.append(f"  rule      toolwire check --rule {rule_id(verdict.case)}")
    if is_shown and not replays and verdict.framing:
        lines.append(f"  again     toolwire check {_again(verdict, words)}")
    messages = []
    for line in verdict.exchange if is_shown else ():
        # Sent messages are shown whole, so that they can be sent again.
        is_whole = replays or line.startswith("-> ") or len(line) <= _SHOWN
        messages.append(
            emphasize(DIM, printable(f"    {line if is_whole else line[:_SHOWN] + '…'}"))
        )
    head = f"{_MARKS[verdict.outcome]}  {verdict.case}" + (f"  ({where})" if where else "")
    emphasis = RED if verdict.outcome == "fail" else BOLD
    return "\n".join([emphasize(emphasis, head), *map(printable, lines), *messages])


def _areas(report: Report) -> str:
    """One row for each area of cases: how many of each verdict."""
    rows = [
        (area, *(str(counts[outcome] or "") for outcome in report.counts()))
        for area, counts in report.areas().items()
    ]
    return format_table(("area", *_MARKS), rows)


def _reasons(report: Report) -> str:
    """Why cases do not apply, and which gaps are known."""
    lines = [
        f"{_MARKS[outcome]:<4}  {printable(reason)}: {', '.join(cases)}"
        for (outcome, reason), cases in report.reasons().items()
    ]
    of_sdk = report.of_sdk().items()
    lines += [
        f"gap   {format_count(number, 'finding')}: {reason}; --sdk shows all"
        for reason, number in of_sdk
    ]
    return "\n".join(
        fill(line, find_width(), subsequent_indent=" " * 6, break_on_hyphens=False)
        for line in lines
    )


def _summary(report: Report) -> str:
    counts = report.counts()
    outcomes = ", ".join(f"{number} {outcome}" for outcome, number in counts.items() if number)
    spoken = (
        f"MCP {', '.join(report.revisions)}; {' and '.join(report.framings)}"
        if report.revisions
        else "nothing"
    )
    name = printable(report.server) or "The server"
    lines = [
        f"{name} speaks {spoken}; {format_count(report.tools, 'tool')}. {outcomes}, in"
        f" {report.seconds:.1f} s."
    ]
    if report.seed is not None:
        lines.append(f"The same arguments are generated again with --seed {report.seed}.")
    if report.costs:
        tokens = sum(cost.tokens for cost in report.costs)
        lines.append(
            f"The descriptions of its tools are about {tokens:,} tokens; --html has each, and times"
            " of calls."
        )
    lines += [f"The gap {gap} is closed: remove it from the baseline." for gap in report.outdated]
    return "\n".join(emphasize(BOLD, line) for line in lines)
