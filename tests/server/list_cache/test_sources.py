"""Files that decided about lists: when they count as unchanged."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
from toolwire.list_cache import sources
from toolwire.list_cache.sources import NotKept, is_unchanged, read_sources
from toolwire.list_cache.store import Source

LATER_SECONDS = 10


def read(*paths: Path) -> list[Source]:
    """Return the state of files that were written long before the server started."""
    return read_sources(map(str, paths), time.time() + LATER_SECONDS)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "tools.py"
    file.write_text("A = 1\n", encoding="utf-8")
    return file


def test_a_file_that_is_not_written_is_unchanged(file: Path) -> None:
    [source] = read(file)

    assert is_unchanged(source)


def test_a_file_with_the_same_content_is_unchanged_whatever_its_times_are(file: Path) -> None:
    [source] = read(file)

    file.unlink()
    file.write_text("A = 1\n", encoding="utf-8")
    os.utime(file, (1, 1))

    assert is_unchanged(source)


def test_a_file_of_the_same_size_and_time_with_other_content_is_changed(file: Path) -> None:
    [source] = read(file)
    before = file.stat()

    file.write_text("A = 2\n", encoding="utf-8")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert not is_unchanged(source)


@pytest.mark.skipif(sys.platform == "win32", reason="times decide nothing on Windows")
def test_a_file_with_the_same_status_is_not_read(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [source] = read(file)
    monkeypatch.setattr(sources, "_digest", lambda *_: pytest.fail("it was read"))

    assert is_unchanged(source)


def test_a_file_that_is_gone_is_changed(file: Path) -> None:
    [source] = read(file)

    file.unlink()

    assert not is_unchanged(source)


def test_a_file_that_was_missing_is_changed_when_it_is_there(tmp_path: Path) -> None:
    missing = tmp_path / "tools_config.yaml"
    [source] = read(missing)
    assert is_unchanged(source)

    missing.write_text("tools: []\n", encoding="utf-8")

    assert not is_unchanged(source)


def test_a_folder_changes_with_the_names_of_sources_in_it(tmp_path: Path, file: Path) -> None:
    [source] = read(tmp_path)

    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "notes.txt").touch()
    assert is_unchanged(source)
    (tmp_path / "more.py").touch()
    assert not is_unchanged(source)


def test_a_folder_of_packages_changes_with_their_versions(tmp_path: Path) -> None:
    packages = tmp_path / "site-packages"
    installed = packages / "sums-1.0.dist-info"
    installed.mkdir(parents=True)
    [source] = read(packages)

    (packages / "sums").mkdir()
    assert is_unchanged(source)
    installed.rename(packages / "sums-1.1.dist-info")
    assert not is_unchanged(source)


def test_what_was_written_during_the_start_is_not_kept(file: Path) -> None:
    with pytest.raises(NotKept):
        read_sources([str(file)], file.stat().st_mtime)


def test_a_folder_with_a_file_of_the_time_of_the_start_is_not_kept(
    tmp_path: Path, file: Path
) -> None:
    with pytest.raises(NotKept):
        read_sources([str(tmp_path)], file.stat().st_mtime)


def test_a_time_in_whole_seconds_may_be_two_seconds_behind(file: Path) -> None:
    os.utime(file, (4_000_000_000, 4_000_000_000))

    with pytest.raises(NotKept):
        read_sources([str(file)], 4_000_000_001.5)
    assert read_sources([str(file)], 4_000_000_002.5)


def test_a_file_that_is_written_while_it_is_read_is_not_kept(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digest = sources._digest

    def write_then_digest(path: str, status: os.stat_result) -> str:
        file.write_text("A = 1  # longer\n", encoding="utf-8")
        return digest(path, status)

    monkeypatch.setattr(sources, "_digest", write_then_digest)

    with pytest.raises(NotKept):
        read(file)


def test_more_sources_than_the_limit_are_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "MAX_SOURCES", 2)
    paths = [tmp_path / f"missing_{number}.py" for number in range(3)]

    assert len(read(*paths[:2])) == 2
    with pytest.raises(NotKept):
        read(*paths)


def test_more_bytes_than_the_limit_are_not_kept(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = file.stat().st_size
    monkeypatch.setattr(sources, "MAX_SOURCE_BYTES", size)
    assert read(file)

    monkeypatch.setattr(sources, "MAX_SOURCE_BYTES", size - 1)
    with pytest.raises(NotKept):
        read(file)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no FIFOs")
def test_what_is_no_file_is_not_kept(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)

    with pytest.raises(NotKept):
        read(fifo)
