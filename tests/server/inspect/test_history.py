"""The calls that the page of `inspect` keeps, and those that it saves."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from server.inspect.inspecting import inspected, tools_page
from toolwire.errors import UsageError
from toolwire.inspect.history import CallHistory
from toolwire.inspect.saved_calls import SavedCall, find_call, read_calls, write_call
from toolwire_client.errors import ClientError
from toolwire_schemas.published import load_validator


def add_calls(history: CallHistory, count: int, text: str = "") -> None:
    for _ in range(count):
        history.add("echo", {"text": text}, 0.1, outcome="success", result={})


def ids(history: CallHistory) -> list[int]:
    return [row["id"] for row in history.list_rows()]


def test_old_calls_make_room_and_pinned_ones_stay() -> None:
    history = CallHistory(max_calls=3)
    add_calls(history, 3)
    history.find(1).is_pinned = True
    add_calls(history, 2)
    assert ids(history) == [5, 4, 1]
    with pytest.raises(ClientError):
        history.find(2)


def test_calls_have_room_by_their_size_and_the_last_one_stays() -> None:
    history = CallHistory(max_bytes=1000)
    add_calls(history, 2, "x" * 400)
    assert ids(history) == [2, 1]
    add_calls(history, 1, "x" * 5000)
    assert ids(history) == [3]


def test_long_arguments_are_left_out_of_the_list() -> None:
    history = CallHistory()
    add_calls(history, 1, "x" * 5000)
    (row,) = history.list_rows()
    assert row["arguments"] is None
    assert history.find(1).arguments == {"text": "x" * 5000}


def test_saved_calls_are_read_replaced_and_removed(tmp_path: Path) -> None:
    file = tmp_path / ".toolwire" / "calls.json"
    assert read_calls(file) == {}
    tea, coffee = SavedCall("search", {"q": "tea"}, "t.py"), SavedCall("add", {}, None, ["x"])
    write_call("tea", tea, file)
    write_call("a b", coffee, file)
    assert read_calls(file) == {"tea": tea, "a b": coffee}
    assert find_call("a b", file) == coffee
    assert load_validator("saved-calls").is_valid(json.loads(file.read_text("utf-8")))
    write_call("tea", None, file)
    assert list(read_calls(file)) == ["a b"]
    assert [path.name for path in file.parent.iterdir()] == ["calls.json"]


@pytest.mark.parametrize("name", ["", " ", "x" * 201, "a\nb", "\x1b[2J"])
def test_a_name_is_printable(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="printable"):
        write_call(name, SavedCall("add", {}), tmp_path / "calls.json")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"calls": []}',
        '{"version": 2, "calls": {}}',
        '{"version": 1, "calls": {"x": {"tool": "add"}}}',
        '{"version": 1, "calls": {}, "more": 1}',
    ],
)
def test_a_file_that_cannot_be_read_is_not_replaced(tmp_path: Path, text: str) -> None:
    file = tmp_path / "calls.json"
    file.write_text(text, "utf-8")
    with pytest.raises(UsageError, match=r"calls\.json"):
        read_calls(file)
    with pytest.raises(UsageError):
        write_call("tea", SavedCall("add", {}), file)
    assert file.read_text("utf-8") == text


@pytest.mark.process
def test_each_way_that_a_call_ends_is_kept(tmp_path: Path) -> None:
    with tools_page(tmp_path) as browser:
        browser.call("add", a=1)
        browser.call("wrong")
        browser.call("die")
        rows = browser.post("history")["calls"]
        assert [(row["tool"], row["outcome"]) for row in rows] == [
            ("die", "failure"),
            ("wrong", "error"),
            ("add", "success"),
        ]
        past = browser.post("past", id=1)
        assert past["arguments"] == {"a": 1}
        assert past["result"]["structuredContent"] == {"result": 2}
        assert "The server" in browser.post("past", id=3)["message"].capitalize()
        assert browser.refused("past", id=9) == (409, "this call is no longer kept")


@pytest.mark.process
def test_a_saved_call_is_made_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sums.py").write_text("def add(a: int, b: int = 1) -> int:\n    return a + b\n")
    with inspected("sums.py") as (browser, _):
        browser.ready()
        browser.call("add", a=4)
        browser.post("keep", id=1, name="four")
        assert browser.post("history")["saved"] == [
            {"name": "four", "tool": "add", "arguments": {"a": 4}}
        ]
        assert browser.refused("keep", id=1, name="")[0] == 400
    saved = json.loads((tmp_path / ".toolwire" / "calls.json").read_text("utf-8"))
    assert saved["calls"]["four"] == {"tool": "add", "arguments": {"a": 4}, "target": "sums.py"}
    assert run("call", "--saved", "four") == (0, "5\n")
    assert run("call", "--saved", "four", "b=3") == (0, "7\n")
    assert run("call", "sums.py", "--saved", "four") == (0, "5\n")
    assert run("call", "--saved", "five")[0] == 2
    assert run("check", "sums.py", "--saved", "--only", "calls/unknown-*")[0] == 0
    (tmp_path / ".toolwire" / "calls.json").unlink()
    assert run("call", "--saved", "four")[0] == 2
    assert run("check", "sums.py", "--saved")[0] == 2


def run(*words: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "toolwire", *words], capture_output=True, text=True, timeout=120
    )
    return done.returncode, done.stdout
