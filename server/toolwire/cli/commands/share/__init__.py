"""`toolwire share`: lists, ends and shows the processes that serve all sessions."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ....errors import UsageError
from ...options import JSON, Option
from .. import Command

if TYPE_CHECKING:
    from ...options import Words

COMMAND = Command(
    usage=(
        "toolwire share ls [--json]",
        "toolwire share stop KEY... | --all",
        "toolwire share log KEY",
    ),
    details=(
        "`toolwire serve --share` and `toolwire wrap --share` start one process for all sessions"
        " with the same command line, folder and environment. ls lists them: the key of each, its"
        " number, its sessions, its memory, and since when it runs; (old) marks one whose files"
        " have changed, which only earlier sessions use. stop ends one; sessions that"
        " are open start a new one with their next request. log prints the end of what"
        " it has written to standard error. A KEY may be shortened."
    ),
    options=(JSON, Option("--all", "end all processes")),
    examples=("toolwire share ls", "toolwire share stop 3fa2", "toolwire share log 3fa2"),
)


def run(words: Words) -> int:
    """Do what the first word says."""
    if sys.platform == "win32":
        raise UsageError("shared processes need Unix sockets, which this system lacks")
    from .processes import list_processes, print_log, stop_processes

    verb, *keys = words.words or [""]
    if verb == "run":  # by the first session, see `starting.py`
        from .process import serve_sessions

        serve_sessions(keys, words.command or [])
    if verb == "ls" and not keys:
        return list_processes(as_json="json" in words.options)
    if verb == "stop":
        return stop_processes(keys, is_all="all" in words.options)
    if verb == "log" and len(keys) == 1:
        return print_log(keys[0])
    raise UsageError("say what to do: share ls, share stop KEY, or share log KEY")
