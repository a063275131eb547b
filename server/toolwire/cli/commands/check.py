"""`toolwire check`: tests a server against the contract, with verdicts as a table, JSON or JUnit XML."""

from __future__ import annotations

import json
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.did_you_mean import unknown_name

from ...errors import Failed, UsageError
from ..check_report import as_text, cases_table, replayed
from ..open_client import client_of, command_of
from ..options import JSON, SET, Option, count, one_of, seconds, whole_number
from ..output import ProgressLine, Style, say
from . import Command

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from toolwire_client.contract import Gap, Report, Settings, Verdict
    from toolwire_client.contract.fuzz.fuzz import Fuzzing
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
    ),
    details="Starts the server many times and sends it valid and invalid messages. Calls only tools that declare "
    "themselves read-only, and those named by --call. Each verdict quotes the rule of MCP, JSON-RPC or LSP. The exit "
    "status is 1 if a rule is violated: fail = a MUST is violated; warn = a SHOULD.",
    options=(
        Option("--only", "run only cases whose id matches; repeatable", "PATTERN", many=True),
        Option("--skip", "leave out cases whose id matches; repeatable", "PATTERN", many=True),
        Option("--list", "list the cases and exit"),
        Option(
            "--replay",
            "run only this case and show all messages; repeated, runs them in order in one process",
            "CASE",
            many=True,
        ),
        SET,
        Option(
            "--era",
            "use only legacy (initialize) or only modern (2026-07-28) MCP",
            "ERA",
            one_of("legacy", "modern", "both"),
        ),
        Option(
            "--framing",
            "use only lines or only headers (default: all that the server supports)",
            "FRAMING",
            one_of("lines", "headers", "both"),
        ),
        Option(
            "--call", "a tool that may be called, and with what; may be given again", "NAME[=JSON]", _call, many=True
        ),
        Option("--destructive", "call tools that do not say they are read-only as well"),
        Option("--verbose", "show the messages of warnings, not only of failures"),
        Option("--fuzz", "number of valid and of invalid arguments to call each tool with", "NUMBER", count),
        Option("--seed", "with --fuzz: that of an earlier run, for the same arguments", "NUMBER", whole_number),
        Option("--timeout", "time limit for each response (default: 10)", "SECONDS", seconds),
        Option("--start-timeout", "time limit for the first response (default: 20)", "SECONDS", seconds),
        Option("--jobs", "number of concurrent servers (default: one per core, up to 4)", "NUMBER", count),
        Option(
            "--fail-on",
            "exit with 1 if a rule of this severity fails: must (default), should or advice",
            "SEVERITY",
            one_of("must", "should", "advice"),
        ),
        Option("--sdk", "count findings that come from the server's SDK (default: they are folded)"),
        Option("--baseline", "known gaps with reasons; they do not count", "FILE"),
        Option("--write-baseline", "write all gaps to FILE, with places for the reasons", "FILE"),
        JSON,
        Option("--junit", "also write the verdicts to FILE as JUnit XML", "FILE"),
    ),
    examples=(
        "toolwire check tools.py",
        "toolwire check -- npx -y some-mcp-server",
        """toolwire check --call 'search={"query": "tea"}' --junit report.xml -- my-server --stdio""",
    ),
)


def run(words: Words) -> int:
    """Print the verdicts, and return 1 if a rule of the chosen severity failed."""
    options = words.options
    if options.get("list"):
        cases = _cases(options)
        say(_json(msgspec.to_builtins(cases)) if options.get("json") else cases_table(cases))
        return 0
    command = command_of(words, words.words)
    cases = _cases(options)
    gaps = _gaps(options.get("baseline"))
    if words.command is None:
        _need_target(words)
    report = _checked(command, cases, gaps, options)
    if "replay" in options:
        say(_json(report.as_json()) if options.get("json") else replayed(report, Style(sys.stdout)))
        return 1 if report.failed(options.get("fail_on", "must")) else 0
    _write_files(options, report, gaps)
    if options.get("json"):
        say(_json(report.as_json()))
    else:
        say(as_text(report, Style(sys.stdout), again=_again(words), verbose="verbose" in options))
    return 1 if report.failed(options.get("fail_on", "must")) else 0


def _need_target(words: Words) -> None:
    """Report a target that cannot be loaded as a mistake on the command line, not as a broken contract."""
    try:
        with client_of(words, words.words):
            pass
    except Failed as failure:
        if failure.status == 2:
            raise  # the cases report everything else


def _checked(command: list[str], cases: Sequence[Case], gaps: Sequence[Gap], options: dict[str, Any]) -> Report:
    from toolwire_client import NotStarted
    from toolwire_client.contract import UnknownTool, check, replay

    progress = _Progress()
    try:
        if "replay" in options:
            settings, timeout_seconds = _settings(options), options.get("timeout", 10.0)
            return replay(command, cases, settings=settings, timeout_seconds=timeout_seconds)
        return check(
            command,
            cases=cases,
            settings=_settings(options),
            timeout_seconds=options.get("timeout", 10.0),
            gaps=gaps,
            fuzzing=_fuzzing(options),
            fold_sdk="sdk" not in options,
            jobs=options.get("jobs"),
            on_verdict=progress,
        )
    except NotStarted as error:
        raise Failed(str(error), 2) from None
    except UnknownTool as error:
        raise UsageError(unknown_name("tool", error.name, error.known)) from None
    finally:
        progress.clear()


def _again(words: Words) -> str:
    """The options and target that repeat this check."""
    options = words.options
    told = ["--destructive"] if "destructive" in options else []
    for name, arguments in options.get("call", ()):
        told += ["--call", name if arguments is None else f"{name}={json.dumps(arguments, ensure_ascii=False)}"]
    for key, option in (("timeout", "--timeout"), ("start_timeout", "--start-timeout")):
        told += [option, f"{options[key]:g}"] if key in options else []
    for setting in options.get("set", ()):
        told += ["--set", setting]
    return shlex.join([*told, *words.words, *(("--", *words.command) if words.command is not None else ())])


def _cases(options: dict[str, Any]) -> list[Case]:
    from toolwire_client.contract.cases.plan import chosen
    from toolwire_schemas.cases import cases

    if "replay" in options:
        return [_replayed(name, cases()) for name in options["replay"]]
    for pattern in (*options.get("only", ()), *options.get("skip", ())):
        if not chosen(cases(), [pattern]):
            raise UsageError(unknown_name("case", pattern, _like(pattern, cases())))
    return chosen(cases(), options.get("only", ()), options.get("skip", ()))


def _replayed(name: str, cases: Sequence[Case]) -> Case:
    found = next((case for case in cases if case.id == name), None)
    if found is None:
        raise UsageError(unknown_name("case", name, _like(name, cases)))
    if found.process == "run":
        raise UsageError(f"{name} judges all messages of a check and cannot be replayed alone; use --only {name}")
    return found


def _like(pattern: str, cases: Sequence[Case]) -> list[str]:
    """Suggestions for *pattern*: the cases of its area, or all areas if the area is unknown."""
    area = pattern.partition("/")[0]
    within = [case.id for case in cases if case.area == area] if "/" in pattern else []
    return within or [f"{area}/*" for area in dict.fromkeys(case.area for case in cases)]


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
    from toolwire_client.contract.fuzz.fuzz import Fuzzing, any_seed

    if "fuzz" not in options:
        if "seed" in options:
            raise UsageError("--seed goes with --fuzz")
        return None
    if find_spec("hypothesis") is None:
        raise UsageError("--fuzz needs hypothesis; install it: pip install 'toolwire[contract]'")
    return Fuzzing(options["fuzz"], options.get("seed", any_seed()))


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
    """A progress bar on a terminal, nothing elsewhere."""

    def __init__(self) -> None:
        self._line = ProgressLine(sys.stderr)
        self._done = 0

    def __call__(self, verdict: Verdict, total: int) -> None:
        self._done += 1
        self._line(self._done, total, f"{self._done}/{total} {verdict.case}")

    def clear(self) -> None:
        self._line.clear()
