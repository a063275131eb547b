"""Lists, ends and shows the log of shared processes."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    raise ImportError("shared processes need Unix sockets, which Windows lacks")

import shlex
import time
from typing import TYPE_CHECKING

from toolwire_schemas.output import make_printable

from ....errors import Failed, UsageError
from ....sharing.log_file import read_tail
from ....sharing.running import RunningProcess, find_log, find_running
from ...printing.layout import format_table
from ...printing.terminal import format_json, print_data, print_remark, print_report

if TYPE_CHECKING:
    from collections.abc import Sequence

_LOG_BYTES = 16 * 1024


def list_processes(*, as_json: bool) -> int:
    """Print the shared processes of this user."""
    found = find_running()
    if as_json:
        # One that is stuck says nothing, and can be ended all the same.
        print_data(
            format_json([{"key": each.key, "pid": each.pid, **each.facts} for each in found])
        )
        return 0
    if not found:
        print_remark("no shared process is running")
        return 0
    head = ("key", "pid", "sessions", "memory", "since", "command")
    print_report(format_table(head, list(map(_describe, found))))
    return 0


def _describe(process: RunningProcess) -> tuple[str, ...]:
    facts = process.facts
    memory = process.measure_memory()
    since = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(facts.get("since", 0)))
    if "words" not in facts:
        return (process.key, str(process.pid), "?", _format_memory(memory), "?", "does not answer")
    command = shlex.join(["toolwire", *facts["words"]])
    sessions = str(facts["sessions"])
    if facts.get("is_old"):  # a process of an older Toolwire does not know it
        sessions += " (old)"
    return (process.key, str(process.pid), sessions, _format_memory(memory), since, command)


def _format_memory(size: int) -> str:
    from toolwire_tools.byte_sizes import format_size

    return format_size(size) if size else "?"


def stop_processes(keys: Sequence[str], *, is_all: bool) -> int:
    """End the processes with *keys*, or all."""
    if bool(keys) == is_all:
        raise UsageError("name the processes to end, or give --all; share ls lists them")
    processes = find_running() if is_all else [find_process(key) for key in keys]
    for process in processes:
        if not process.stop():
            raise Failed(f"{process.key} (pid {process.pid}) could not be ended", 1)
    count = len(processes)
    print_remark(f"ended {count or 'no'} {'process' if count == 1 else 'processes'}")
    return 0


def print_log(key: str) -> int:
    """Print the end of what the process with *key* has written to standard error."""
    # A process that was replaced and its successor have one log.
    path = find_log(key) or find_log(key.partition("-")[0])
    if path is None:
        raise UsageError(f"no shared process has a key that begins with {key!r}")
    text = read_tail(path, _LOG_BYTES).decode("utf-8", "replace")
    for line in text.splitlines():
        print_data(make_printable(line))
    return 0


def find_process(key: str) -> RunningProcess:
    """Return the running process with *key*, or whose key begins with it.

    Raises:
        UsageError: unless there is exactly one.
    """
    found = []
    for process in find_running():
        if process.key == key:
            return process
        if process.key.startswith(key):
            found.append(process)
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"several keys begin with {key!r}; write more of it")
    raise UsageError(f"no shared process has a key that begins with {key!r}; see share ls")
