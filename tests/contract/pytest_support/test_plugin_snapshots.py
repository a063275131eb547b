"""The tools of a server as a file, without pytest's part in it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import toolwire
from toolwire_check import SnapshotMismatch, assert_tools_unchanged


def add(a: int, b: int = 0) -> int:
    """Add two numbers."""
    return a + b


def test_server_in_this_process_can_be_compared(tmp_path: Path) -> None:
    path = tmp_path / "of" / "tools.json"
    assert_tools_unchanged(toolwire.Server([add]), path, update=True)
    assert_tools_unchanged(toolwire.Server([add]), path)
    with pytest.raises(SnapshotMismatch) as told:
        assert_tools_unchanged(toolwire.Server([]), path)
    assert [(change.tool, change.level) for change in told.value.changes] == [("add", "major")]


def test_change_of_texts_only_is_a_patch(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    assert_tools_unchanged(toolwire.Server([add]), path, update=True)
    saved = json.loads(path.read_text())
    saved["tools"][0]["description"] = "Add."
    path.write_text(json.dumps(saved))
    with pytest.raises(SnapshotMismatch, match="a new patch version"):
        assert_tools_unchanged(toolwire.Server([add]), path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"tools": 1}', '{"tools": [1]}', "\x00"])
def test_file_without_tools_is_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "tools.json"
    path.write_text(text)
    with pytest.raises(SnapshotMismatch, match=r"holds no tools|cannot be compared"):
        assert_tools_unchanged(toolwire.Server([add]), path)


@pytest.mark.process
def test_server_that_does_not_answer_fails_the_comparison(tmp_path: Path) -> None:
    with pytest.raises(SnapshotMismatch, match="cannot be asked for its tools"):
        assert_tools_unchanged([sys.executable, "-c", "pass"], tmp_path / "tools.json", update=True)
    assert not (tmp_path / "tools.json").exists()
