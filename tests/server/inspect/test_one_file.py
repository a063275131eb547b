"""The page of `inspect` as one file."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from base64 import b64encode
from hashlib import sha256
from html import unescape
from pathlib import Path

import pytest
from server.inspect.inspecting import tools_page
from toolwire.inspect.one_file import bundle_modules, write_one_file
from toolwire.inspect.page_state import make_state

HOSTILE = "</script><script>owned = 1</script><!-- \u2028 <b>"


def write_page(text: str) -> str:
    state = make_state({"title": text, "views": ["traffic"], "status": "ended"})
    return write_one_file(state, [{"type": "stderr", "at": "2026-01-02T03:04:05Z", "text": text}])


def test_the_page_has_its_session_and_nothing_in_it_is_markup() -> None:
    page = write_page(HOSTILE)
    found = re.search(r'<script type="application/json" id="session">(.*?)</script>', page, re.S)
    assert found is not None
    state, event = found[1].split("\n")
    assert json.loads(state)["title"] == json.loads(event)["text"] == HOSTILE
    assert page.count("<script") == page.count("</script>") == 2
    assert "<b>" not in page


def test_the_policy_lets_only_its_own_script_and_style_in() -> None:
    page = write_page("")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    script = page.rpartition("<script>")[2].partition("</script>")[0]
    style = page.partition("<style>")[2].partition("</style>")[0]
    digests = [b64encode(sha256(text.encode()).digest()).decode() for text in (script, style)]
    assert unescape(policy[1]).split("; ") == [
        "default-src 'none'",
        f"script-src 'sha256-{digests[0]}'",
        f"style-src 'sha256-{digests[1]}'",
        "img-src data:",
        "media-src data:",
        "base-uri 'none'",
        "form-action 'none'",
    ]
    assert re.findall(r'(?:src|href)="(?!#|data:,|recording|session)', page) == []


def test_no_import_or_export_is_left_in_the_script() -> None:
    script = bundle_modules("app.js")
    assert re.findall(r"^\s*(?:import|export)\b.*", script, re.MULTILINE) == []
    names = re.findall(r'^modules\["(.*)"\]', script, re.MULTILINE)
    assert names[-1] == "app.js"
    assert len(names) == len(set(names))


@pytest.mark.process
def test_a_live_session_is_saved_as_a_page(tmp_path: Path) -> None:
    with tools_page(tmp_path) as browser:
        browser.call("add", a=40)
        with browser.open("GET", "session.html") as response:
            assert response.headers["content-type"].startswith("text/html")
            page = response.read().decode()
    assert "toolwire replay recording.jsonl" in page
    assert '"arguments":{"a":40}' in page
    assert '"type":"status"' not in page


@pytest.mark.process
def test_a_recording_is_written_as_a_page_by_the_command(tmp_path: Path) -> None:
    at = "2026-01-02T03:04:05Z"
    entry = {"type": "Started", "at": at, "version": 1, "command": ["x"]}
    (tmp_path / "a b.jsonl").write_text(json.dumps(entry) + "\n", "utf-8")
    done = run(tmp_path, "a b.jsonl", "--html", "page.html")
    assert (done.returncode, done.stdout) == (0, "")
    assert "toolwire replay 'a b.jsonl'" in (tmp_path / "page.html").read_text("utf-8")
    assert run(tmp_path, "a b.jsonl", "--html", "none/page.html").returncode == 2
    assert run(tmp_path, "none.jsonl", "--html", "page.html").returncode == 2
    (tmp_path / "t.py").write_text("def add(): ...\n", "utf-8")
    assert "--html goes with FILE.jsonl" in run(tmp_path, "t.py", "--html", "x.html").stderr


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "toolwire", "inspect", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


@pytest.mark.process
def test_two_transcripts_are_compared_and_nothing_else(tmp_path: Path) -> None:
    at = "2026-01-02T03:04:05Z"
    asked = {"type": "QuestionAsked", "at": at, "content": "How much?"}
    lines = [{"type": "Started", "at": at, "model": "m"}, asked]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (tmp_path / "a.jsonl").write_text(text, "utf-8")
    (tmp_path / "b.jsonl").write_text(text.replace("much", "many"), "utf-8")
    assert run(tmp_path, "a.jsonl", "b.jsonl", "--html", "page.html").returncode == 0
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "How much?" in page
    assert "How many?" in page
    entry = {"type": "Started", "at": at, "version": 1, "command": ["x"]}
    (tmp_path / "c.jsonl").write_text(json.dumps(entry) + "\n", "utf-8")
    assert "c.jsonl is a recording" in run(tmp_path, "a.jsonl", "c.jsonl").stderr
    assert "two transcripts" in run(tmp_path, "a.jsonl", "b.jsonl", "a.jsonl").stderr
