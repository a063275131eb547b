"""`toolwire bench`: measures any server next to a bare loop."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolwire_schemas.did_you_mean import explain_unknown_name
from toolwire_schemas.output import make_printable

from ...errors import Failed, UsageError
from ..open_client import check_target, choose_command, split_command
from ..options import HTML, LOADING, MARKDOWN, Option
from ..printing.layout import format_table
from ..printing.output_files import check_folders, write_pages
from ..printing.progress import ProgressLine
from ..printing.terminal import format_json, print_data, print_remark, print_report
from . import Command

if TYPE_CHECKING:
    from toolwire_check.bench.measurement import Measurement
    from toolwire_check.bench.subject import Patience, Subject

    from ..options import Words

COMMAND = Command(
    usage=("toolwire bench TARGET... [OPTIONS]", "toolwire bench [OPTIONS] -- COMMAND"),
    details=(
        "Measures the start, the time of a call (median and 99th percentile), pipelined calls in a"
        " second and the memory, next to a bare loop that gives the same results. Calls the tool"
        " that --tool names, thousands of times; without it, the first that says that it only reads"
        " and not that it reaches other systems, or else a ping. The exit status is 1 if the server"
        " ends, is silent, or fails the call."
    ),
    options=(
        Option("--tool NAME", "call this tool, which may change something"),
        Option(
            "--arguments JSON", "with --tool: its arguments (default: the simplest that are valid)"
        ),
        Option("--seconds NUMBER", "about how long to measure (default: 10)"),
        Option("--against COMMAND", "measure this server, too; repeatable", many=True),
        *LOADING,
        Option("--timeout SECONDS", "time limit for each response (default: 10)"),
        Option("--start-timeout SECONDS", "time limit for the first response (default: 20)"),
        Option("--json", "print JSON"),
        HTML,
        MARKDOWN,
    ),
    examples=(
        'toolwire bench tools.py --tool add --arguments \'{"a": 2, "b": 3}\'',
        "toolwire bench --html bench.html -- npx -y some-mcp-server",
        "toolwire bench tools.py --against 'uv run fastmcp_server.py' --tool add",
    ),
)


def run(words: Words) -> int:
    """Print the numbers."""
    options = words.options
    if "arguments" in options and "tool" not in options:
        raise UsageError("--arguments goes with --tool")
    command = choose_command(words, words.words)
    check_folders(options, "html", "markdown")
    _refuse_address(command)
    if words.command is None:
        check_target(words)
    measurements, subject = _measure(command, words)
    remarks = _list_remarks(measurements, subject)
    call = _describe_call(subject)
    if _write_pages(measurements, call, remarks, options):
        return 0
    if "json" in options:
        _print_json(measurements, subject, remarks)
        return 0
    print_report(_format(measurements))
    print_report(f"\n{call}; {len(measurements[1].start_seconds)} rounds; medians.")
    for remark in remarks:
        print_remark(make_printable(remark))
    return 0


def _measure(command: list[str], words: Words) -> tuple[list[Measurement], Subject]:
    """Return the measurements of all servers, the bare loop first, and what was measured."""
    from toolwire_check import UnknownTool
    from toolwire_check.bench.driven_server import MeasuringFailed
    from toolwire_check.bench.measuring import measure
    from toolwire_client import NotStarted

    options = words.options
    line = ProgressLine(sys.stderr)
    patience = _make_patience(options)
    try:
        subjects = _find_subjects(command, words, patience)
        measurements = measure(
            subjects,
            seconds=float(options.get("seconds", 10)),
            patience=patience,
            on_progress=lambda share, name: line(min(share, 1.0), 1.0, name),
        )
        return measurements, subjects[0]
    except NotStarted as error:
        raise Failed(str(error), 2) from None
    except UnknownTool as error:
        raise UsageError(explain_unknown_name("tool", error.name, error.known)) from None
    except MeasuringFailed as error:
        raise Failed(str(error)) from None
    finally:
        line.clear()


def _find_subjects(command: list[str], words: Words, patience: Patience) -> list[Subject]:
    from toolwire_check.bench.subject import WantedCall, find_subject

    options = words.options
    wanted = WantedCall(options.get("tool", ""), options.get("arguments"))
    name = Path(words.words[0]).name if words.words else shlex.join(command)
    subjects = [find_subject(command, name, wanted, patience)]
    for text in options.get("against", ()):
        other = split_command(text)
        _refuse_address(other)
        subjects.append(find_subject(other, text, wanted, patience))
    return subjects


def _refuse_address(command: list[str]) -> None:
    from toolwire_client.remote import is_address

    if command and is_address(command[0]):
        raise UsageError(f"bench measures servers that it starts, not {command[0]}")


def _make_patience(options: dict[str, Any]) -> Patience:
    from toolwire_check.bench.subject import Patience

    return Patience(options.get("start_timeout", 20.0), options.get("timeout", 10.0))


def _describe_call(subject: Subject) -> str:
    if not subject.tool:
        return "ping"
    return f"{subject.tool} {json.dumps(subject.arguments, ensure_ascii=False)}"


def _list_remarks(measurements: list[Measurement], subject: Subject) -> list[str]:
    remarks = []
    if subject.remark:
        remarks.append(f"measured a ping, since {subject.remark}; --tool names one")
    for measurement in measurements:
        if measurement.failed_calls:
            remarks.append(measurement.remark())
    return remarks


def _format(measurements: list[Measurement]) -> str:
    from toolwire_check.bench.measurement import COLUMNS, make_rows

    return format_table(("server", *COLUMNS.values()), make_rows(measurements))


def _print_json(measurements: list[Measurement], subject: Subject, remarks: list[str]) -> None:
    from toolwire_check.bench.measurement import as_data

    call = {"tool": subject.tool, "arguments": subject.arguments} if subject.tool else None
    data = {"call": call, "servers": as_data(measurements), "remarks": remarks}
    print_data(format_json(data))


def _write_pages(
    measurements: list[Measurement], call: str, remarks: list[str], options: dict[str, Any]
) -> bool:
    """Write `--html` and `--markdown`; return whether one went to standard output."""
    if options.keys().isdisjoint(("html", "markdown")):
        return False
    from toolwire_check.pages.bench_page import write_bench_markdown, write_bench_page

    return write_pages(
        options,
        html=lambda: write_bench_page(measurements, call, remarks),
        markdown=lambda: write_bench_markdown(measurements, call, remarks),
    )
