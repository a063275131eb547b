"""`toolwire inspect --attach`: the page of a shared process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from server.inspect.inspecting import inspected
from support.parsed_html import Parsed, assert_inert
from support.server_process import call, wait_until
from support.shared_processes import SharedProcesses, shared_processes
from toolwire.inspect import attached_process
from toolwire.inspect.attached_process import show
from toolwire.sharing.running import RunningProcess

TOOLS = '''
import sys
import anyio

async def hang() -> None:
    """Never end."""
    print("<b>hanging</b>", file=sys.stderr, flush=True)
    open("hanging", "w").close()
    await anyio.sleep_forever()
'''
FACTS: dict[str, Any] = {
    "folder": "/home/<me>",
    "since": 0.0,
    "log": "/nowhere",
    "clients": [{"pid": 7, "since": 0.0, "calls": 22, "tools": ["<script>"] * 20}],
    "absent": 2,
    "servers": [11, 12],
}


def test_facts_and_log_of_a_process_are_shown_as_text() -> None:
    shown = Parsed(show(RunningProcess("key.sock", 0, FACTS), "<img src=x>\n"))
    assert_inert(shown)
    for expected in ("/home/<me>", "11, 12", "<script>", "and 2 more", "<img src=x>"):
        assert expected in shown.text


def test_process_that_was_replaced_is_still_followed_and_marked_as_old(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    old, new = {**FACTS, "is_old": True}, {**FACTS, "is_old": False}
    running = [RunningProcess("key.sock", 2, new), RunningProcess("key-1.sock", 1, old)]
    monkeypatch.setattr(attached_process, "find_running", lambda: running)

    mark = "old: new sessions have another process"
    for pid, is_old in ((1, True), (2, False)):
        html = attached_process.look(pid)
        assert html is not None
        assert (mark in Parsed(html).text) == is_old
    assert attached_process.look(3) is None


def test_process_that_does_not_answer_is_shown_as_such() -> None:
    assert "5 does not answer" in Parsed(show(RunningProcess("key.sock", 5, {}), "")).text


@pytest.fixture
def sessions(tmp_path: Path) -> Iterator[SharedProcesses]:
    (tmp_path / "tools.py").write_text(TOOLS, encoding="utf-8")
    with shared_processes(tmp_path, SharedProcesses) as made:
        yield made


@pytest.mark.process
def test_page_follows_a_shared_process_until_its_end(
    sessions: SharedProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", sessions.runtime)
    one = sessions.open("serve", "--share", "tools.py")
    one.send(call("hang"))
    wait_until((sessions.folder / "hanging").exists)
    (facts,) = sessions.describe()
    with inspected("--attach", facts["key"][:8]) as (page, _):
        state = page.get("state")
        assert state["title"] == "toolwire serve --share tools.py"
        assert state["views"] == ["process"]
        with page.open("GET", "events?after=0") as events:
            lines = events.lines()
            first = next(lines)
            assert first["type"] == "process"
            text = Parsed(first["html"]).text
            for expected in ("hang", str(one.popen.pid), "<b>hanging</b>", str(facts["pid"])):
                assert expected in text
            one.hang_up()
            sessions.share("stop", "--all")
            assert "ended" in [each.get("status") for each in _until_status(lines)]
        assert page.get("state")["status"] == "ended"


def _until_status(lines: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for line in lines:
        yield line
        if line["type"] == "status":
            return


@pytest.mark.process
@pytest.mark.parametrize(
    ("words", "problem"),
    [(["--attach", "nothing"], "key that begins with"), (["--attach", "a", "x.py"], "--attach")],
)
def test_wrong_key_or_more_words_are_refused(
    sessions: SharedProcesses, words: list[str], problem: str
) -> None:
    asked = sessions.open("inspect", "--no-browser", *words)
    assert asked.wait() == 2
    assert problem in asked.stderr()
