"""The files of a shared process: those that it runs, its log, and those by which it is found."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from toolwire.sharing.log_file import MAX_LOG_BYTES, keep_small, read_tail, remove_old_logs
from toolwire.sharing.open_place import LoadedFiles, remove_leftovers


def edit(folder: Path) -> None:
    (folder / "tools.yaml").write_text("other: 1")


def replace(folder: Path) -> None:
    (folder / "new").write_text("a: 1")
    os.replace(folder / "new", folder / "tools.yaml")


def remove(folder: Path) -> None:
    (folder / "tools.yaml").unlink()


def add(folder: Path) -> None:
    (folder / "more.py").write_text("")


def add_something_else(folder: Path) -> None:
    (folder / "notes.txt").write_text("")


@pytest.mark.parametrize(
    ("change", "has_changed"),
    [(edit, True), (replace, True), (remove, True), (add, True), (add_something_else, False)],
)
def test_changed_files_are_noticed(
    tmp_path: Path, change: Callable[[Path], None], has_changed: bool
) -> None:
    (tmp_path / "tools.yaml").write_text("a: 1")
    files = LoadedFiles([str(tmp_path), str(tmp_path / "tools.yaml")])
    files.note()
    assert not files.have_changed()
    change(tmp_path)
    files.note()  # which does not forget what a file was
    assert files.have_changed() is has_changed


def test_log_keeps_its_last_lines(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"".join(b"line %d\n" % n for n in range(200_000)))
    keep_small(str(path))
    kept = path.read_bytes()
    assert len(kept) <= MAX_LOG_BYTES // 2
    assert kept.startswith(b"line ")
    assert kept.endswith(b"line 199999\n")
    assert read_tail(str(path), 30) == b"line 199998\nline 199999\n"


def test_old_logs_of_ended_processes_are_removed(tmp_path: Path) -> None:
    for name in ("old.log", "running.log", "running.sock", "new.log", "old.lock"):
        (tmp_path / name).touch()
    for name in ("old.log", "running.log", "old.lock"):
        os.utime(tmp_path / name, (0, 0))
    remove_old_logs(str(tmp_path))
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == ["new.log", "old.lock", "running.log", "running.sock"]


def test_files_of_killed_processes_that_no_session_could_find_are_removed(tmp_path: Path) -> None:
    kept = f"3fa2-{os.getpid()}.sock"
    for name in (kept, "3fa2.sock", "3fa2.lock", "3fa2-4194305.sock", "3fa2-4194305.lock"):
        (tmp_path / name).touch()

    remove_leftovers(str(tmp_path))

    assert {each.name for each in tmp_path.iterdir()} == {kept, "3fa2.sock", "3fa2.lock"}
