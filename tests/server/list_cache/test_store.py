"""The files that keep lists: who may write them, what is ignored, how many there are."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from toolwire import log
from toolwire.list_cache import store
from toolwire.list_cache.commands import make_command_key
from toolwire.list_cache.store import Lists, Source, forget, load, make_key, save

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")

LISTS = Lists(
    entries={"tools": [{"name": "add", "inputSchema": {"type": "object"}}]},
    handshakes={"2025-11-25": {"serverInfo": {"name": "sums", "version": "1"}}},
    sources=[Source("/tools.py", (1, 2), "digest")],
)
KEY = make_key("serve", targets=["tools.py"])


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the cache, which does not exist."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    return tmp_path / "caches" / "toolwire" / "lists"


@pytest.fixture
def debug_log(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    lines: list[str] = []
    monkeypatch.setattr(log, "debug", lines.append)
    return lines


def the_file(folder: Path) -> Path:
    [file] = folder.iterdir()
    return file


def test_what_is_saved_is_loaded(folder: Path) -> None:
    save(KEY, LISTS)

    assert load(KEY) == LISTS


def test_nothing_is_loaded_before_it_is_saved(debug_log: list[str]) -> None:
    assert load(KEY) is None
    assert debug_log == []


def test_lists_that_are_forgotten_are_not_loaded() -> None:
    save(KEY, LISTS)

    forget(KEY)
    forget(KEY)

    assert load(KEY) is None


@pytest.mark.parametrize(
    "other",
    [
        make_key("wrap", targets=["tools.py"]),
        make_key("serve", targets=["other.py"]),
        make_key("serve", targets=["tools.py"], options={"show": "search"}),
    ],
)
def test_another_server_has_other_lists(other: str) -> None:
    save(KEY, LISTS)

    assert load(other) is None


def test_another_version_of_toolwire_has_other_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "__version__", "999")

    assert make_key("serve", targets=["tools.py"]) != KEY


def test_the_order_of_facts_does_not_matter() -> None:
    assert make_key("serve", a=1, b={"c": 2, "d": 3}) == make_key("serve", b={"d": 3, "c": 2}, a=1)


@posix_only
def test_folder_and_file_are_for_the_user_alone(folder: Path) -> None:
    save(KEY, LISTS)

    assert folder.stat().st_mode & 0o777 == 0o700
    assert the_file(folder).stat().st_mode & 0o777 == 0o600


def truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-5])


def change_a_letter(file: Path) -> None:
    file.write_bytes(file.read_bytes().replace(b"add", b"odd"))


def empty(file: Path) -> None:
    file.write_bytes(b"")


def replace_by_a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def make_too_large(file: Path) -> None:
    with file.open("ab") as opened:
        opened.truncate(store.MAX_FILE_BYTES + 1)


def open_to_others(file: Path) -> None:
    file.chmod(0o640)


def open_the_folder_to_others(file: Path) -> None:
    file.parent.chmod(0o770)


def replace_by_a_link(file: Path) -> None:
    elsewhere = file.parent.parent / "elsewhere"
    file.rename(elsewhere)
    file.symlink_to(elsewhere)


def replace_the_folder_by_a_link(file: Path) -> None:
    elsewhere = file.parent.parent / "elsewhere"
    file.parent.rename(elsewhere)
    file.parent.symlink_to(elsewhere)


def replace_by_a_fifo(file: Path) -> None:
    file.unlink()
    os.mkfifo(file, 0o600)


@pytest.mark.parametrize(
    "damage",
    [
        truncate,
        change_a_letter,
        empty,
        make_too_large,
        pytest.param(replace_by_a_folder, marks=posix_only),
        pytest.param(open_to_others, marks=posix_only),
        pytest.param(open_the_folder_to_others, marks=posix_only),
        pytest.param(replace_by_a_link, marks=posix_only),
        pytest.param(replace_the_folder_by_a_link, marks=posix_only),
        pytest.param(replace_by_a_fifo, marks=posix_only),
    ],
)
def test_a_file_that_cannot_be_trusted_is_ignored_with_one_line(
    folder: Path, debug_log: list[str], damage: Callable[[Path], None]
) -> None:
    save(KEY, LISTS)
    damage(the_file(folder))

    assert load(KEY) is None
    assert len(debug_log) == 1


@posix_only
def test_what_belongs_to_another_user_is_neither_read_nor_written(
    folder: Path, debug_log: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    save(KEY, LISTS)
    before = the_file(folder).read_bytes()
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)

    save(KEY, Lists(entries={}))

    assert load(KEY) is None
    assert the_file(folder).read_bytes() == before
    assert len(debug_log) == 2


def test_a_file_of_another_format_is_ignored(folder: Path, debug_log: list[str]) -> None:
    save(KEY, LISTS)
    text = b'{"entries": []}'
    digest = store.sha256(text).hexdigest().encode()
    the_file(folder).write_bytes(digest + b"\n" + text)

    assert load(KEY) is None
    assert len(debug_log) == 1


def test_a_cache_that_cannot_be_written_is_reported_with_one_line(
    tmp_path: Path, debug_log: list[str]
) -> None:
    (tmp_path / "caches").write_text("a file", encoding="utf-8")

    save(KEY, LISTS)

    assert len(debug_log) == 1


def test_lists_beyond_the_size_of_a_file_are_not_kept(
    folder: Path, debug_log: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MAX_FILE_BYTES", 100)

    save(KEY, LISTS)

    assert not folder.exists()
    assert len(debug_log) == 1


def save_one_after_the_other(folder: Path, keys: list[str]) -> None:
    for age, key in enumerate(keys):
        save(key, LISTS)
        for file in folder.iterdir():
            if file.name.startswith(key):
                os.utime(file, (age, age))


def test_the_oldest_lists_make_room_when_there_are_many(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MAX_FILES", 3)
    keys = [make_key("serve", number=number) for number in range(5)]

    save_one_after_the_other(folder, keys)

    assert [key for key in keys if load(key) is not None] == keys[2:]


def test_the_oldest_lists_stay_if_they_were_used(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MAX_FILES", 3)
    keys = [make_key("serve", number=number) for number in range(4)]
    save_one_after_the_other(folder, keys[:3])

    load(keys[0])
    save(keys[3], LISTS)

    assert [load(key) is None for key in keys] == [False, True, False, False]


def test_the_oldest_lists_make_room_when_all_take_many_bytes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(KEY, LISTS)
    size = the_file(folder).stat().st_size
    forget(KEY)
    monkeypatch.setattr(store, "MAX_BYTES", size * 2)
    keys = [make_key("serve", number=number) for number in range(4)]

    save_one_after_the_other(folder, keys)

    assert [key for key in keys if load(key) is not None] == keys[2:]


def test_writers_at_the_same_time_lose_nothing(folder: Path) -> None:
    keys = [make_key("serve", number=number) for number in range(8)]
    start = threading.Barrier(len(keys))
    seen: list[Lists | None] = []

    def write(key: str) -> None:
        start.wait()
        for _ in range(20):
            save(key, LISTS)
            save(KEY, LISTS)
            seen.append(load(KEY))

    threads = [threading.Thread(target=write, args=(key,)) for key in keys]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert seen == [LISTS] * 160
    assert sorted(file.name for file in folder.iterdir()) == sorted(
        f"{key}.lists" for key in (KEY, *keys)
    )


def test_a_relative_path_in_the_environment_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "caches")

    assert os.path.isabs(store.find_folder())
    assert store.find_folder().endswith(os.path.join(".cache", "toolwire", "lists"))


# Keys of commands


def key_of(folder: Path, *command: str, env: dict[str, str] | None = None) -> str:
    return make_command_key("wrap", command, env=env or {}, cwd=str(folder))


def test_a_command_has_the_same_key_at_every_start(tmp_path: Path) -> None:
    (tmp_path / "server.py").write_text("", encoding="utf-8")
    command = (sys.executable, "server.py", "--fast")

    first = key_of(tmp_path, *command, env={"TOKEN": "old"})

    assert key_of(tmp_path, *command, env={"TOKEN": "new"}) == first


def test_the_key_of_a_command_changes_with_what_it_starts(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    file = tmp_path / "server.py"
    file.write_text("", encoding="utf-8")
    command = (sys.executable, "server.py")

    keys = [
        key_of(tmp_path, *command),
        key_of(tmp_path, *command, "--fast"),
        key_of(tmp_path / "elsewhere", *command),
        key_of(tmp_path, *command, env={"TOKEN": "x"}),
    ]
    file.write_text("# longer", encoding="utf-8")
    keys.append(key_of(tmp_path, *command))

    assert len(set(keys)) == len(keys)


def test_a_command_that_does_not_exist_has_a_key(tmp_path: Path) -> None:
    assert key_of(tmp_path, "no-such-program\0", "x" * 10_000)
