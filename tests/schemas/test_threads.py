"""Threads start whatever a tool has done to the hooks for exceptions."""

from __future__ import annotations

import ast
import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.server_process import PATIENCE_SECONDS
from toolwire_client import connect
from toolwire_schemas.threads import restore_hooks, start_thread, start_timer

ROOT = Path(__file__).parents[2]
CONSTRUCTORS = {"threading.Thread", "threading.Timer", "Thread"}  # `timers.Timer` is no thread


def start_named(target: Callable[[], object]) -> Any:
    return start_thread(target, "test")


def start_at_once(target: Callable[[], object]) -> Any:
    return start_timer(0, target)


def break_hook(monkeypatch: pytest.MonkeyPatch, module: Any, how: str) -> None:
    if how == "None":
        monkeypatch.setattr(module, "excepthook", None)
    else:
        monkeypatch.delattr(module, "excepthook")


@pytest.mark.parametrize("start", [start_named, start_at_once])
@pytest.mark.parametrize("module", [threading, sys], ids=["threading", "sys"])
@pytest.mark.parametrize("how", ["None", "deleted"])
def test_a_thread_starts_without_a_hook_for_exceptions(
    start: Callable[..., Any], module: Any, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_hook(monkeypatch, module, how)
    has_run = threading.Event()

    start(has_run.set)

    assert has_run.wait(PATIENCE_SECONDS)


def test_a_hook_that_works_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    def hook(_: object) -> None:
        pass

    monkeypatch.setattr(threading, "excepthook", hook)
    restore_hooks()
    assert threading.excepthook is hook


# A file without a word for threads is not parsed.
MAY_CONSTRUCT = re.compile(r"\b(?:Thread|Timer)\b")
OTHERS = (
    "toolwire_schemas/threads.py",
    # Is executed in the sandbox of a program, where nothing of Toolwire can be imported.
    "toolwire_bundled/programs/runner.py",
)


def test_nothing_else_constructs_threads() -> None:
    found = []
    for package in ("schemas", "tools", "server", "clients"):
        for path in (ROOT / package).rglob("*.py"):
            text = path.read_text("utf-8")
            if not MAY_CONSTRUCT.search(text):
                continue
            for node in ast.walk(ast.parse(text)):
                made = [node.func] if isinstance(node, ast.Call) else []
                made += node.bases if isinstance(node, ast.ClassDef) else []
                if CONSTRUCTORS.intersection(map(ast.unparse, made)):
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert [place for place in found if not any(other in place for other in OTHERS)] == []


@pytest.mark.process
@pytest.mark.parametrize("how", ["None", "deleted"])
def test_a_client_connects_without_the_hooks(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tools.py").write_text("def add(a: int, b: int) -> int:\n    return a + b\n")
    break_hook(monkeypatch, threading, how)

    with connect([sys.executable, "-m", "toolwire", "serve", str(tmp_path / "tools.py")]) as client:
        params = {"name": "add", "arguments": {"a": 2, "b": 40}}
        assert client.request("tools/call", params)["structuredContent"] == {"result": 42}
