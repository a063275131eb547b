"""The exchanges on the rule pages: of each case one that passes, with a server of Toolwire, and one
that fails.

`python -m broken.exchanges` in tests/contract records them; `AREA...` records only those of some
areas. The tests next to this folder compare them with new runs.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from toolwire_check import CheckSettings, Verdict, check
from toolwire_check.report import is_bad
from toolwire_schemas.cases import Case, Framing, load_cases

from . import FAULTS
from .proxy import Headed

HERE = Path(__file__).parent
RECORDED = HERE.parents[2] / "schemas" / "toolwire_schemas" / "cases" / "exchanges"
GOOD = [sys.executable, "-m", "toolwire", "serve", str(HERE / "tools.py")]
SEARCH = [*GOOD, "--show", "search"]
PROGRAMS = [*GOOD, "--show", "code"]
OLDER = [sys.executable, "-m", "broken", "Older"]
CASES = {case.id: case for case in load_cases()}

# A case that judges a whole run is shown by another one, in which the messages occur that it
# judges.
SHOWN_BY = {
    "calls/output-schema": "calls/result",
    "jsonrpc/answered-once": "tools/list",
    "jsonrpc/answers-asked": "tools/list",
    "jsonrpc/envelopes": "lifecycle/ping",
    "logging/declared": "calls/result",
    "modern/error-codes": "modern/no-capabilities",
    "modern/no-logs-unasked": "calls/result-modern",
    "modern/no-requests": "calls/result-modern",
    "modern/result-type": "calls/result-modern",
    "progress/asked": "progress/reported",
    "progress/before-answer": "progress/reported",
    "progress/increases": "progress/reported",
    "stdout/only-messages": "tools/list",
}

_OF_AREA = {"search": SEARCH, "programs": PROGRAMS}
_LETTERS, _LINES = 320, 10
_META = (
    '"io.modelcontextprotocol/clientInfo":{"name":"toolwire-check","version":"1.0"},'
    '"io.modelcontextprotocol/clientCapabilities":{}'
)
_GOES_ON = "-- the next requests get their responses"
_PROBE = re.compile(r'"id":"settle-')


def play_fault(
    command: Sequence[str], wanted: Iterable[str], framing: Framing, **more: Any
) -> list[Verdict]:
    """The verdicts on the *wanted* cases, those that show a case which judges the whole run
    included.
    """
    ids = {*wanted, *(SHOWN_BY[case] for case in wanted if case in SHOWN_BY)}
    return check(
        command,
        cases=[case for case in load_cases() if case.id in ids],
        cwd=HERE.parent,
        # No tool of these servers does any harm, and that which runs programs does not say so.
        settings=CheckSettings(
            framings=(framing,), eras=_eras(ids), start_seconds=5.0, any_tool=True
        ),
        timeout_seconds=4.0,
        **more,
    ).verdicts


def _eras(ids: Iterable[str]) -> tuple[str, ...]:
    """The era that is enough for these cases, or both."""
    found = [CASES[case] for case in ids]
    older = any(case.revisions or case.era in ("legacy", "plain", "each") for case in found)
    return ("legacy", "modern") if older else ("modern",)


def failing(name: str) -> dict[str, dict[str, Any]]:
    """What is shown of the failures of the broken server *name*: each case that it is there for."""
    fault = FAULTS[name]
    framing: Framing = "headers" if issubclass(fault, Headed) else "lines"
    found: dict[str, dict[str, Any]] = {}
    # In one thread, since the first failure of a case is shown; whole, unless messages of a whole
    # run are judged.
    whole = not any(case in SHOWN_BY for case in fault.cases)
    for verdict in play_fault(
        [sys.executable, "-m", "broken", name], fault.cases, framing, jobs=1, replays=whole
    ):
        if is_bad(verdict) and verdict.case in fault.cases:
            shown = {
                "server": name,
                "expected": without_chance(verdict.expected),
                "came": _cut(without_chance(verdict.came)),
            }
            found.setdefault(
                verdict.case, {**shown, "exchange": lines(CASES[verdict.case], verdict.exchange)}
            )
    return found


_ENDED = "-- it ended with status 0"


def passing(wanted: Sequence[str]) -> dict[str, list[str]]:
    """What is shown of the *wanted* cases, which pass."""
    found: dict[str, list[str]] = {}
    servers: tuple[tuple[list[str], Framing], ...] = (
        (GOOD, "lines"),
        (OLDER, "lines"),
        (GOOD, "headers"),
        (SEARCH, "lines"),
        (PROGRAMS, "lines"),
    )
    for command, framing in servers:
        shown = {
            SHOWN_BY.get(case, case)
            for case in wanted
            if _shown_with(CASES[case]) == (command, framing)
        }
        for verdict in play_fault(command, shown, framing, replays=True) if shown else ():
            assert verdict.outcome == "pass", verdict
            for case in wanted:
                if SHOWN_BY.get(case, case) == verdict.case:
                    # A server whose end no step waits for may end before or after the last response
                    # is judged.
                    is_awaited = any("exit" in step for step in CASES[verdict.case].steps)
                    shown_lines = [
                        line for line in verdict.exchange if is_awaited or line != _ENDED
                    ]
                    found.setdefault(case, lines(CASES[case], shown_lines))
    return found


def _shown_with(case: Case) -> tuple[list[str], Framing]:
    command = _OF_AREA.get(case.area, GOOD)
    if "legacy-only" in case.needs:
        command = OLDER
    return command, case.framings[0]


def lines(case: Case, exchange: Sequence[str]) -> list[str]:
    """An *exchange* as it is shown: without what is by chance, and without a handshake that the
    case is not about.
    """
    answered = [line for line in exchange if line[:2] == "<-" and _PROBE.search(line)]
    exchange = _without_repeated_polls(exchange)
    found = [_GOES_ON if line in answered[:1] else without_chance(line) for line in exchange]
    found = [line for line in found if not _PROBE.search(line)]
    # A task may report its state before the answer is judged, or after it.
    found = [line for line in found if "notifications/tasks/status" not in line]
    if case.area != "modern":
        found = [line.replace(_META, "…") for line in found]
    if case.process != "fresh":
        found = [
            line
            for line in found
            if '"id":"open"' not in line and "notifications/initialized" not in line
        ]
    if "times" in case.steps[0]:  # the responses come in any order
        found.sort(
            key=lambda line: (
                line[:2] != "->",
                [int(number) for number in re.findall(r'"id":(\d+)', line)],
            )
        )
    if len(found) > _LINES:
        left_out = len(found) - _LINES + 1
        found[_LINES // 2 : _LINES // 2 + left_out] = [f"-- {left_out} lines are left out here"]
    return [_cut(line) for line in found]


def _without_repeated_polls(lines: Sequence[str]) -> list[str]:
    """All but the polls of a task that have found it running: how many is by chance."""
    running = re.compile(r'"id":"([^"]*/get-\d+)".*"status":"(?:working|input_required)"')
    repeated = {match[1] for line in lines if (match := running.search(line))}
    return [line for line in lines if not any(f'"id":"{id}"' in line for id in repeated)]


def without_chance(text: str) -> str:
    """*text* without that which another run or release has differently."""
    text = text.partition("; the end of its stderr:")[0].replace(sys.executable, "python")
    text = re.sub(r"\(\d+\)$", "(4711)", text)  # the id of a process
    text = re.sub(
        r"(the process ends within )\d\S* s", r"\g<1>5 s", text
    )  # more on a machine where it starts slowly
    # More for a server whose simplest answers are slow, or on a busy machine.
    text = re.sub(r"(nothing in )\d\S* s\b", r"\g<1>4 s", text)
    text = re.sub(r'"(list-\w+)-\d+"', r'"\1"', text)
    text = re.sub(r'"taskId":"[0-9a-f]{32}"', f'"taskId":"{"0" * 32}"', text)
    text = re.sub(r'"(createdAt|lastUpdatedAt)":"[^"]*"', r'"\1":"2026-11-28T10:00:00Z"', text)
    text = re.sub(r'("seconds":)[\d.]+', r"\g<1>0.2", text)
    # The size of a message that says how long a call took.
    text = re.sub(r"\d\d bytes\)", "00 bytes)", text)
    text = re.sub(r"/get-\d+", "/get-1", text)  # how often a task is polled
    text = re.sub(r'("ttlMs":)[1-9]\d*', r"\g<1>3600000", text)  # of a task that has ended
    return re.sub(r'("name":"[^"]*","version":)"[^"]*"', r'\1"1.0"', text)


def comparable(shown: Any) -> Any:
    """What is *shown*, without the wording of errors, which belongs to libraries, and in no order.

    What the client sends and what the server sends cross.
    """
    if isinstance(shown, dict):
        return {name: comparable(part) for name, part in shown.items()}
    if isinstance(shown, list):
        return sorted(map(comparable, shown))
    return re.sub(r'"message":"(\\.|[^"\\])*"?|\(noise on stdout: .*|\(no JSON: .*', "", shown)


def _cut(line: str) -> str:
    return (
        line if len(line) <= _LETTERS else f"{line[: _LETTERS * 2 // 3]} … {line[-_LETTERS // 3 :]}"
    )


def record_area(area: str) -> dict[str, dict[str, Any]]:
    """The exchanges of *area* that the rules have."""
    found: dict[str, dict[str, Any]] = json.loads((RECORDED / f"{area}.json").read_text("utf-8"))
    return found


def record(areas: Sequence[str]) -> None:
    """Write the exchanges of all cases, or of those in *areas*."""
    wanted = [case for case in CASES if not areas or CASES[case].area in areas]
    faults: dict[str, str] = {}
    for name, fault in FAULTS.items():
        for case in fault.cases:
            faults.setdefault(case, name)
    with ThreadPoolExecutor(2) as pool:
        good = pool.submit(passing, wanted)
        bad = {
            name: pool.submit(failing, name)
            for name in dict.fromkeys(faults[case] for case in wanted)
        }
        RECORDED.mkdir(exist_ok=True)
        for area in dict.fromkeys(CASES[case].area for case in wanted):
            exchanges = {
                case: {"passing": good.result()[case], "failing": bad[faults[case]].result()[case]}
                for case in wanted
                if CASES[case].area == area
            }
            text = json.dumps(exchanges, indent=1, ensure_ascii=False) + "\n"
            (RECORDED / f"{area}.json").write_text(text, "utf-8")
            print(area, len(text), flush=True)


if __name__ == "__main__":
    record(sys.argv[1:])
