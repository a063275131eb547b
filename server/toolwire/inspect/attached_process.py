"""A shared process on the page: its sessions, the calls that run, its memory and its log.

Strategy. It is asked once a second, as by `toolwire share ls`, and is not disturbed otherwise. All
of it is one piece of HTML, made here and replaced when it changes.
"""

from __future__ import annotations

import sys

if sys.platform == "win32":
    raise ImportError("shared processes need Unix sockets, which Windows lacks")

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import anyio
from toolwire_client.pages.markup import Html, block, element, format_size, join_html, pairs, table

from ..sharing.log_file import read_tail
from ..sharing.running import RunningProcess, find_running

if TYPE_CHECKING:
    from .traffic import Feed

_LOOK_SECONDS = 1.0
_LOG_BYTES = 64 * 1024


class AttachedProcess:
    """Adds what the shared process *pid* says to *feed*, until it ends.

    Its key changes when another process takes its place.
    """

    def __init__(self, feed: Feed, state: dict[str, Any], pid: int) -> None:
        self._feed = feed
        self._state = state
        self._pid = pid

    async def run(self) -> None:
        """Look at the process until it has ended, or until cancelled."""
        shown = ""
        while True:
            html = await anyio.to_thread.run_sync(look, self._pid)
            if html is None:
                break
            if html != shown:
                shown = html
                self._feed.add("process", html=html)
            await anyio.sleep(_LOOK_SECONDS)
        problem = "the shared process has ended"
        self._state.update(status="ended", problem=problem)
        self._feed.add("status", status="ended", problem=problem)


def look(pid: int) -> Html | None:
    """Return the process *pid* as HTML; `None` if it has ended."""
    for process in find_running():
        if process.pid == pid:
            return show(process, _read_log(process))
    return None


def show(process: RunningProcess, log: str) -> Html:
    """Return *process* as HTML, with the end of its *log*."""
    facts = process.facts
    if not facts:
        return element("p", f"The process {process.pid} does not answer.", class_="bad")
    memory = process.measure_memory()
    servers = ", ".join(map(str, facts["servers"]))
    state = "old: new sessions have another process" if facts.get("is_old") else ""
    described = pairs(
        ("pid", str(process.pid)),
        ("state", state),
        ("folder", facts["folder"]),
        ("runs since", _format_time(facts["since"])),
        ("private memory", format_size(memory) if memory else "unknown"),
        ("pids of servers", servers),
        ("sessions that have ended, with tasks", str(facts["absent"] or "")),
    )
    return join_html(
        described,
        element("h2", "Sessions"),
        _show_sessions(facts["clients"]),
        element("h2", "Log"),
        block(log, _LOG_BYTES) if log else element("p", "The log is empty.", class_="hint"),
    )


def _show_sessions(clients: list[dict[str, Any]]) -> Html:
    if not clients:
        return element("p", "No session is open.", class_="hint")
    rows = []
    for client in clients:
        names = ", ".join(client["tools"])
        hidden = client["calls"] - len(client["tools"])
        if hidden:
            names += f" and {hidden} more"
        rows.append((str(client["pid"]), _format_time(client["since"]), names))
    return table(("pid", "since", "calls that run"), rows, caption="Sessions")


def _format_time(moment: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(moment))


def _read_log(process: RunningProcess) -> str:
    path = process.facts.get("log")
    with suppress(OSError):
        if path is not None:
            return read_tail(path, _LOG_BYTES).decode("utf-8", "replace")
    return ""
