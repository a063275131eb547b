"""`toolwire check`: tests a server against the contract, and reports as text, JSON, JUnit XML, HTML
or Markdown.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import sys
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.did_you_mean import explain_unknown_name
from toolwire_schemas.output import BOLD, emphasize

from ...errors import Failed, UsageError
from ..check_report import format_replay, format_report
from ..open_client import check_target, choose_command
from ..options import HTML, JSON, LOADING, MARKDOWN, Option
from ..printing.layout import find_width, format_table
from ..printing.output_files import check_folders, write_pages
from ..printing.progress import ProgressLine
from ..printing.terminal import format_json, print_data, print_remark, print_report
from . import Command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolwire_check import CheckSettings, Fuzzing, Gap, Report, Verdict
    from toolwire_check.playing.early_end import EarlyEnd
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
        "Starts the server many times, or reaches it at its URL, and sends it"
        " valid and invalid messages. Calls only tools"
        " that declare themselves read-only, and those named by --call. Each verdict quotes the"
        " rule of MCP, JSON-RPC or LSP. The exit status is 1 if a rule is violated: fail = a MUST"
        " is violated; warn = a SHOULD."
    ),
    options=(
        Option("--only PATTERN", "run only cases whose id matches; repeatable", many=True),
        Option("--skip PATTERN", "leave out cases whose id matches; repeatable", many=True),
        Option("--quick", "play only the cases of what a server must do, for 30 seconds at most"),
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
        Option(
            "--saved",
            "call tools with the arguments that the page of `inspect` has saved for this server",
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


_QUICK_SECONDS = 30.0


def run(words: Words) -> int:
    """Print the verdicts, and return 1 if a rule of the chosen severity failed."""
    from toolwire_check.playing.early_end import EarlyEnd

    options = words.options
    if "rule" in options:
        _print_rules(options)
        return 0
    if "list" in options:
        _print_cases(options)
        return 0
    command = choose_command(words, words.words)
    if "saved" in options:
        options["call"] = [*options.get("call", ()), *_list_saved(words, command)]
    cases = _choose_cases(options)
    gaps = _read_gaps(options)
    if words.command is None:
        check_target(words)
    check_folders(options, "html", "markdown", "badge", "junit", "write_baseline")
    known_gaps = gaps or _read_written_gaps(options)
    if "quick" in options:
        cases = [case for case in cases if case.severity == "must"]
    early_end = EarlyEnd(_QUICK_SECONDS if "quick" in options else None)
    report = _check(command, cases, gaps, options, early_end)
    if "replay" not in options:
        _write_files(options, report, known_gaps)
    has_printed = _write_pages(report, words)
    if not has_printed:
        _print(report, words)
    if early_end.is_interrupted:
        print_remark("interrupted: the cases that were not played count as not applicable")
        raise KeyboardInterrupt
    return 1 if report.list_failures(options.get("fail_on", "must")) else 0


def _list_saved(words: Words, command: list[str]) -> list[tuple[str, dict[str, Any]]]:
    """Return the saved calls of the server that *words* name.

    Raises:
        UsageError: if it has no such call.
    """
    from ...inspect.saved_calls import FILE, read_calls

    found = []
    for call in read_calls().values():
        is_of_target = call.target is not None and [call.target] == words.words
        if is_of_target or call.command == command:
            found.append((call.tool, call.arguments))
    if not found:
        raise UsageError(f"--saved: {FILE} has no calls of this server; save some in `inspect`")
    return found


def _print(report: Report, words: Words) -> None:
    if "events" in words.options:
        from toolwire_check.pages.check_page import write_report_html

        _print_event(report=report.as_json(), html=write_report_html(report))
    elif "json" in words.options:
        print_data(format_json(report.as_json()))
    else:
        print_report(format_report(report, words))


def _print_event(**members: Any) -> None:
    print_data(json.dumps(members, default=msgspec.to_builtins))
    sys.stdout.flush()


def _print_cases(options: dict[str, Any]) -> None:
    cases = _choose_cases(options)
    if "json" in options:
        print_data(format_json(cases))
        return
    rows = [(case.id, case.severity, case.behaviour) for case in cases]
    print_report(format_table(("case", "severity", "behaviour"), rows))


def _print_rules(options: dict[str, Any]) -> None:
    from toolwire_schemas.cases.rules import find_rule, name_rule, write_rule_page

    cases = _choose_cases({"only": list(map(name_rule, options["rule"]))})
    rules = []
    for case in cases:
        rule_of_case = find_rule(case.id)
        if rule_of_case is not None:
            rules.append(rule_of_case)
    if "json" in options:
        print_data(format_json(rules))
        return
    print_report("\n\n".join(_wrap_page(write_rule_page(each)) for each in rules))


def _wrap_page(page: str) -> str:
    """Return a page of Markdown with its prose wrapped and its headings marked."""
    lines = []
    is_code = False
    for line in page.splitlines():
        is_code ^= line.startswith("```")
        if is_code:
            lines.append(line)
            continue
        prose = fill(line, find_width(), break_long_words=False, break_on_hyphens=False)
        if line.startswith("#"):
            prose = emphasize(BOLD, prose)
        lines.append(prose)
    return "\n".join(lines)


def _check(
    command: list[str],
    cases: Sequence[Case],
    gaps: Sequence[Gap],
    options: dict[str, Any],
    early_end: EarlyEnd,
) -> Report:
    from toolwire_check import MissingHypothesis, UnknownTool, check
    from toolwire_client import NotStarted

    line = ProgressLine(sys.stderr)
    numbers = itertools.count(1)

    def on_verdict(verdict: Verdict, total: int) -> None:
        number = next(numbers)
        line(number, total, f"{number}/{total} {verdict.case}")
        if "events" in options:
            from toolwire_check.pages.check_page import write_verdict_html

            html = write_verdict_html(verdict)
            _print_event(number=number, total=total, verdict=verdict, html=html)

    try:
        return check(
            command,
            cases=cases,
            settings=_make_settings(options),
            timeout_seconds=options.get("timeout", 10.0),
            gaps=gaps,
            fuzzing=_make_fuzzing(options),
            fold_sdk="sdk" not in options,
            jobs=options.get("jobs"),
            replays="replay" in options,
            on_verdict=None if "replay" in options else on_verdict,
            early_end=early_end,
        )
    except NotStarted as error:
        raise Failed(str(error), 2) from None
    except MissingHypothesis as error:
        raise UsageError(f"--fuzz: {error}") from None
    except UnknownTool as error:
        raise UsageError(explain_unknown_name("tool", error.name, error.known)) from None
    finally:
        line.clear()


def _choose_cases(options: dict[str, Any]) -> list[Case]:
    from toolwire_check.playing.plan import select_cases
    from toolwire_schemas.cases import load_cases

    only, skip = options.get("only", ()), options.get("skip", ())
    replays = options.get("replay", ())
    for pattern in (*only, *skip, *replays):
        if not select_cases(load_cases(), [pattern]):
            raise _explain_no_case(pattern, load_cases())
    if not replays:
        return select_cases(load_cases(), only, skip)
    chosen: list[Case] = []
    for pattern in replays:  # in the order of the options
        chosen += select_cases(load_cases(), [pattern])
    for case in chosen:
        if case.process == "run":
            raise UsageError(
                f"{case.id} judges all messages of a check and cannot be replayed alone; use --only"
                f" {case.id}"
            )
    return chosen


def _explain_no_case(pattern: str, cases: Sequence[Case]) -> UsageError:
    """Propose the cases of the area of *pattern*, or all areas if the area is unknown."""
    area, slash, _ = pattern.partition("/")
    areas = dict.fromkeys(case.area for case in cases)
    if slash and area in areas:
        known = [case.id for case in cases if case.area == area]
    else:
        known = [f"{area}/*" for area in areas]
    return UsageError(explain_unknown_name("case", pattern, known))


def _make_settings(options: dict[str, Any]) -> CheckSettings:
    from toolwire_check import CheckSettings

    framing, era = options.get("framing", "both"), options.get("era", "both")
    return CheckSettings(
        eras=("legacy", "modern") if era == "both" else (era,),
        framings=("lines", "headers") if framing == "both" else (framing,),
        calls=dict(options.get("call", ())),
        any_tool="destructive" in options,
        start_seconds=options.get("start_timeout", 20.0),
    )


def _make_fuzzing(options: dict[str, Any]) -> Fuzzing | None:
    from toolwire_check import Fuzzing

    if "fuzz" in options:
        return Fuzzing(options["fuzz"], options.get("seed", random.randrange(1, 10**6)))
    if "seed" in options:
        raise UsageError("--seed goes with --fuzz")
    return None


def _read_gaps(options: dict[str, Any]) -> list[Gap]:
    """Return the gaps of `--baseline`."""
    if "baseline" not in options:
        return []
    return _read_baseline(options["baseline"])


def _read_written_gaps(options: dict[str, Any]) -> list[Gap]:
    """Return the gaps of an earlier `--write-baseline`; that file may be missing or empty."""
    path = options.get("write_baseline")
    if path is None or not os.path.exists(path) or not os.path.getsize(path):
        return []
    return _read_baseline(path)


def _read_baseline(path: str) -> list[Gap]:
    from toolwire_check.baseline import BadBaseline, read

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


def _write_pages(report: Report, words: Words) -> bool:
    """Write the report as `--html`, `--markdown` and `--badge` ask; return whether that was to
    standard output.
    """
    if words.options.keys().isdisjoint(("html", "markdown", "badge")):
        return False
    from toolwire_check.pages.badge import draw_badge
    from toolwire_check.pages.check_page import write_report_markdown, write_report_page

    def make_command(verdict: Verdict) -> str:
        if not verdict.framing:
            return ""
        return format_replay(verdict, words)

    return write_pages(
        words.options,
        html=lambda: write_report_page(report, again=make_command),
        markdown=lambda: write_report_markdown(report, again=make_command),
        badge=lambda: draw_badge(report),
    )
