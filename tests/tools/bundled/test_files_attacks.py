"""Files under attack: whatever a path says or meets on its way, nothing outside is touched or
told.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as with_settings
from hypothesis import strategies as st
from toolwire_bundled.files import Files, folders
from toolwire_bundled.files import regex as patterns
from toolwire_tools import Context, Text, ToolError, find_tools
from toolwire_tools.context.context import NULL_CALLER

CONTEXT = Context(NULL_CALLER)
SECRET = "the secret outside"

pytestmark = pytest.mark.skipif(
    os.name == "nt", reason="links and pipes are made as POSIX has them"
)


@pytest.fixture(params=["by descriptor", "by path"])
def root(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is open, next to one that is not; each test is run the way of either kind of
    system.
    """
    monkeypatch.setattr(folders, "HAS_DESCRIPTORS", request.param == "by descriptor")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text(SECRET)
    root = tmp_path / "root"
    (root / "inner").mkdir(parents=True)
    (root / "inner" / "file.txt").write_text("inside\n")
    return root


@pytest.fixture
def files(root: Path) -> Files:
    return Files([root], writable=True)


def refused(call: Callable[..., Any], *arguments: Any, **named: Any) -> str:
    with pytest.raises(ToolError) as caught:
        call(*arguments, **named)
    return str(caught.value)


def outcome(call: Callable[..., Any], *arguments: Any) -> str:
    try:
        return str(call(*arguments))
    except ToolError as error:
        return str(error)


def snapshot(folder: Path) -> dict[str, bytes | str | None]:
    def content(path: Path) -> bytes | str | None:
        if path.is_symlink():
            return os.readlink(path)
        return path.read_bytes() if path.is_file() else None

    return {str(path): content(path) for path in folder.rglob("*")}


ESCAPES = [
    "../outside/secret.txt",
    "inner/../../outside/secret.txt",
    "./../outside/secret.txt",
    "inner/./../../outside/secret.txt",
    "..",
    "../..",
    "/etc/passwd",
    "//etc/passwd",
    "/proc/self/root/etc/passwd",
    "../root/../outside/secret.txt",
    "../root-sibling/secret.txt",
    "inner/../..",
]


@pytest.mark.parametrize("path", ESCAPES)
def test_no_path_leads_out(files: Files, root: Path, path: str) -> None:
    (root.parent / "root-sibling").mkdir()
    (root.parent / "root-sibling" / "secret.txt").write_text(SECRET)
    before = snapshot(root.parent)
    for call in (files.read, files.list):
        assert "outside" in (told := refused(call, path)) or "leads out" in told
    refused(files.search, CONTEXT, text="secret", path=path)
    refused(files.write, path, "x", if_exists="replace")
    refused(files.edit, path, "secret", "x")
    assert snapshot(root.parent) == before


def test_an_absolute_path_that_only_begins_like_the_root_is_outside(
    files: Files, root: Path
) -> None:
    (root.parent / "rootkit").mkdir()
    (root.parent / "rootkit" / "secret.txt").write_text(SECRET)

    refused(files.read, f"{root}kit/secret.txt")
    refused(files.read, f"{root}/../rootkit/secret.txt")


@pytest.mark.process
@pytest.mark.parametrize(
    "target",
    [
        "../outside",
        "{outside}",
        "../root/../outside",
        "inner/../../outside",
        "/proc/self/cwd/../outside",
    ],
)
def test_no_link_leads_out(files: Files, root: Path, target: str) -> None:
    (root / "link").symlink_to(target.format(outside=root.parent / "outside"))
    (root / "inner" / "file").symlink_to(root.parent / "outside" / "secret.txt")
    before = snapshot(root.parent)
    for path in ("link/secret.txt", "inner/file", "link/new.txt", "link/../outside/secret.txt"):
        refused(files.read, path)
        refused(files.write, path, "x", if_exists="replace")
        refused(files.edit, path, "secret", "x")
    refused(files.list, "link")
    assert snapshot(root.parent) == before
    listed = {entry["path"]: entry["kind"] for entry in files.list(depth=9)["entries"]}
    assert listed == {
        "inner": "folder",
        "inner/file": "link",
        "inner/file.txt": "file",
        "link": "link",
    }
    assert files.search(CONTEXT, text="secret")["matches"] == []
    assert files.search(CONTEXT, text="secret", regex=True)["matches"] == []


def test_links_that_stay_inside_are_followed(files: Files, root: Path) -> None:
    (root / "relative").symlink_to("inner/../inner/file.txt")
    (root / "absolute").symlink_to(root / "inner")
    (root / "inner" / "up").symlink_to("..")
    (root / "chain").symlink_to("absolute/up/relative")

    for path in ("relative", "absolute/file.txt", "inner/up/inner/up/relative", "chain"):
        assert files.read(path) == [Text(text="inside\n")]
    files.edit("chain", "inside", "changed")
    assert (root / "inner" / "file.txt").read_text() == "changed\n"
    assert (root / "chain").is_symlink()


def test_links_in_a_circle_end(files: Files, root: Path) -> None:
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")
    (root / "self").symlink_to("self/x")

    for path in ("a", "a/x", "self"):
        refused(files.read, path)
        refused(files.write, path, "x")


def test_a_new_file_through_a_link_lands_inside_or_nowhere(files: Files, root: Path) -> None:
    (root / "dangling-in").symlink_to("inner/new.txt")
    (root / "dangling-out").symlink_to("../outside/new.txt")
    files.write("dangling-in", "x")

    assert (root / "inner" / "new.txt").read_text() == "x"
    refused(files.write, "dangling-out", "x")
    assert os.listdir(root.parent / "outside") == ["secret.txt"]


def test_folders_are_not_made_outside(files: Files, root: Path) -> None:
    (root / "link").symlink_to(root.parent / "outside")

    for path in (
        "link/made/file.txt",
        "inner/../../outside/made/file.txt",
        "made/../../outside/made/file.txt",
    ):
        refused(files.write, path, "x")
    assert os.listdir(root.parent / "outside") == ["secret.txt"]


SWAP = """
import os, shutil, sys
place, real, false = sys.argv[1:]
print("swapping", flush=True)
while True:
    try:
        os.rename(real, place)
        os.rename(place, real)
        os.rename(false, place)
        os.rename(place, false)
    except OSError:  # somebody has written a file into a folder of this name, made when there was none
        shutil.rmtree(place, ignore_errors=True)
"""  # noqa: E501


@contextmanager
def swapping(place: Path, real: Path, false: Path) -> Iterator[None]:
    """*place* is by turns the one thing, the other, and nothing, as fast as another process can
    make it so.
    """
    command = [sys.executable, "-c", SWAP, str(place), str(real), str(false)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield
        finally:
            process.kill()


def read_often(files: Files, path: str, change: Callable[[], Any]) -> set[str]:
    """What is read at *path* at very many moments, with a change of something there now and
    then.
    """
    seen: set[str] = set()
    for turn in range(6000):
        try:
            [block] = files.read(path)
            assert isinstance(block, Text)
            seen.add(block.text)
            if turn % 10 == 0:
                change()
        except ToolError as error:
            seen.add("a link" if "leads out" in str(error) or "link" in str(error) else "nothing")
    return seen


needs_descriptors = pytest.mark.parametrize(
    "root",
    [
        pytest.param(
            "by descriptor",
            marks=pytest.mark.skipif(not folders.HAS_DESCRIPTORS, reason="none here"),
        )
    ],
    indirect=True,  # by path there is a moment between the check and the use, as folders.py says
)


@pytest.mark.process
@needs_descriptors
def test_a_folder_that_turns_into_a_link_in_the_meantime_leads_nowhere_else(
    files: Files, root: Path
) -> None:
    (root / "real").mkdir()
    (root / "real" / "secret.txt").write_text("harmless")
    (root / "false").symlink_to(root.parent / "outside")
    with swapping(root / "turning", root / "real", root / "false"):
        write = partial(files.write, "turning/written.txt", "x", if_exists="replace")
        seen = read_often(files, "turning/secret.txt", write)
    assert seen == {"harmless", "a link", "nothing"}
    assert os.listdir(root.parent / "outside") == ["secret.txt"]


@pytest.mark.process
@needs_descriptors
def test_a_file_that_turns_into_a_link_in_the_meantime_is_not_followed(
    files: Files, root: Path
) -> None:
    (root / "real.txt").write_text("harmless")
    (root / "false.txt").symlink_to(root.parent / "outside" / "secret.txt")
    with swapping(root / "turning.txt", root / "real.txt", root / "false.txt"):
        seen = read_often(files, "turning.txt", lambda: None)
    assert seen == {"harmless", "a link", "nothing"}


def test_what_is_no_plain_file_is_refused_at_once(files: Files, root: Path) -> None:
    os.mkfifo(root / "pipe")
    listening = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(root)  # the path of a socket has to be short
    try:
        listening.bind("socket")
    finally:
        os.chdir(here)
    with listening:
        for name in ("pipe", "socket"):
            assert "no plain file" in refused(files.read, name)
            assert "no plain file" in refused(files.write, name, "x", if_exists="replace")
            refused(files.edit, name, "a", "b")
        assert files.search(CONTEXT, text="x")["files"] == 1
        assert {entry["kind"] for entry in files.list()["entries"]} == {"folder", "other"}
    assert refused(files.read, "inner") == "inner is a folder, not a file"
    assert (
        refused(files.write, "inner", "x", if_exists="replace") == "inner is a folder, not a file"
    )


def test_devices_are_not_opened() -> None:
    files = Files(["/dev"])

    for name in ("zero", "null", "full"):
        assert "no plain file" in refused(files.read, name)


@pytest.mark.parametrize(
    "name",
    [
        "new\nline.txt",
        "tab\t\x1b[31m.txt",
        "-rf",
        "..hidden",
        "a\\b",
        " ",
        "\u202etxt.exe",
        "😀",
        "*",
    ],
)
def test_odd_names_are_names(files: Files, root: Path, name: str) -> None:
    files.write(name, "x")

    assert (root / name).read_text() == "x"
    assert name in [entry["path"] for entry in files.list()["entries"]]
    assert files.read(name) == [Text(text="x")]


def test_names_that_are_no_text_are_listed_so_that_they_can_be_sent(
    files: Files, root: Path
) -> None:
    try:
        open(os.fsencode(root) + b"/caf\xe9.txt", "wb").close()
    except OSError:
        pytest.skip("this file system takes no such names")
    listed = files.list()

    assert "caf\\xe9.txt" in [entry["path"] for entry in listed["entries"]]
    for entry in listed["entries"]:
        entry["path"].encode()
    assert files.search(CONTEXT, names="caf*")["matches"] == [{"path": "caf\\xe9.txt"}]


@pytest.mark.parametrize("path", ["a\0b", "\ud800", "x" * 5000, "x" * 300, "a/" * 200 + "b", "\0"])
def test_what_cannot_be_a_path_is_refused(files: Files, root: Path, path: str) -> None:
    before = snapshot(root)
    for call in (files.read, files.list):
        assert len(refused(call, path)) < 400
    refused(files.write, path, "x")
    assert len(snapshot(root)) <= len(before) + 64


@given(path=st.text("./\\a\0\ud800~$*:-é\n", max_size=30))
@with_settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_path_is_inside_or_refused(files: Files, root: Path, path: str) -> None:
    before = snapshot(root.parent / "outside")
    for call in (files.read, files.list, lambda path: files.write(path, "x", if_exists="replace")):
        assert str(root.parent) not in outcome(call, path)
    assert snapshot(root.parent / "outside") == before
    assert sorted(os.listdir(root.parent)) == ["outside", "root"]


def test_errors_tell_nothing_of_where_the_folder_is(files: Files, root: Path) -> None:
    (root / "locked").mkdir()
    (root / "link").symlink_to(root.parent / "outside" / "secret.txt")
    told = [
        refused(files.read, path)
        for path in (
            "nowhere",
            "inner/file.txt/x",
            "link",
            "..",
            "inner",
            "/etc/passwd",
            "x" * 300,
            "inner/../..",
        )
    ]

    assert not [
        sentence for sentence in told if str(root.parent) in sentence or "outside/" in sentence
    ]


def test_a_root_that_has_gone_is_an_error_and_not_another_folder(files: Files, root: Path) -> None:
    os.rename(root, root.parent / "moved")
    told = refused(files.list)

    assert "there is no such file or folder" in told
    assert str(root.parent) not in told


def test_a_sparse_file_of_a_terabyte_is_refused_without_being_read(
    files: Files, root: Path
) -> None:
    with open(root / "huge", "wb") as file:
        file.truncate(1 << 40)

    assert "1,099,511,627,776 bytes" in refused(files.read, "huge")
    assert files.search(CONTEXT, text="x")["notes"] == [
        "1 file was left out: larger than 16,777,216 bytes"
    ]
    refused(files.write, "huge", "x", if_exists="append")


def test_a_folder_with_very_many_files_is_listed_in_part(
    files: Files, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from toolwire_bundled.files import listing

    monkeypatch.setattr(listing, "MAX_ENTRIES", 50)
    for number in range(60):
        (root / f"{number:02}.txt").touch()
    listed = files.list(limit=1000)

    assert (len(listed["entries"]), listed["more"]) == (50, True)
    found = files.search(CONTEXT, names="*.nothing")
    assert found["more"]
    assert found["notes"] == [
        "there are more files than one search looks at; search a folder of these"
    ]


def test_folders_very_deep_within_each_other_are_walked_to_a_limit(
    files: Files, root: Path
) -> None:
    deep = root
    for _ in range(100):
        deep = deep / "d"
    deep.mkdir(parents=True)
    (deep / "bottom.txt").touch()

    assert files.search(CONTEXT, names="bottom.txt")["matches"] == []
    assert "more than 64 folders" in refused(files.read, "d/" * 100 + "bottom.txt")


@pytest.mark.process
@pytest.mark.parametrize("pattern", ["(a+)+$", "(.*)(.*)(.*)(.*)(.*)(.*)x$", "(a|aa)+$"])
def test_a_pattern_that_would_take_for_ever_is_ended(
    files: Files, root: Path, pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patterns, "MAX_PATTERN_SECONDS", 0.3)
    (root / "trap.txt").write_text("a" * 5000 + "!\n")

    assert "more than 0.3 seconds" in refused(files.search, CONTEXT, text=pattern, regex=True)


@pytest.mark.process
def test_time_in_which_a_pattern_has_no_processor_is_not_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(patterns, "MAX_PATTERN_SECONDS", 0.2)

    with patterns.Pattern("side", ignores_case=False) as pattern:
        process = pattern._process.pid
        os.kill(process, signal.SIGSTOP)  # as on a machine with other work
        resume = threading.Timer(0.6, os.kill, (process, signal.SIGCONT))
        resume.start()
        assert pattern.find_hits("inside\n", 10) == [(1, "inside")]
        resume.join()


@pytest.mark.process
def test_a_pattern_does_not_outlive_a_server_that_was_killed() -> None:
    """Nobody is left who would end the process: the system does."""
    settings = {"pattern": "(a+)+$", "ignores_case": False, "shown": 500, "seconds": 0.3}
    question = {"text": "a" * 5000 + "!", "limit": 1}
    done = subprocess.run(
        [sys.executable, "-I", "-S", patterns._PROGRAM],
        input="".join(json.dumps(line) + "\n" for line in (settings, question)),
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert done.stdout == "null\n"
    assert done.returncode == -signal.SIGPROF


@pytest.mark.process
@pytest.mark.parametrize(
    "pattern",
    [
        "(((a{1,9999}){1,9999}){1,9999})",
        "a{99999999999999999999}",
        "(" * 10_000,
        "[" * 10_000,
        "\\",
        "(?P<x",
    ],
)
def test_a_pattern_that_is_a_bomb_itself_is_refused(
    files: Files, pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(patterns, "MAX_PATTERN_SECONDS", 2.0)

    assert outcome(lambda: files.search(CONTEXT, text=pattern, regex=True)["matches"])[:34] in (
        "[]",
        "the text is no regular expression:",
        "the regular expression takes more ",
        "the regular expression takes too m",
    )


def test_names_with_many_stars_take_no_time(files: Files, root: Path) -> None:
    (root / ("a" * 250)).touch()
    deep = root.joinpath(*["a"] * 40)
    deep.mkdir(parents=True)

    assert files.search(CONTEXT, names="*a" * 100 + "b")["matches"] == []
    assert files.search(CONTEXT, names="**/a/" * 60 + "b")["matches"] == []
    assert "longer than 1,000" in refused(files.search, CONTEXT, names="*" * 1001)


@pytest.mark.process
def test_nothing_is_left_open(files: Files, root: Path) -> None:
    if not os.path.isdir("/proc/self/fd"):
        pytest.skip("this system does not tell what is open")
    (root / "link").symlink_to("..")

    def use() -> None:
        for path in (
            "inner/file.txt",
            "nowhere",
            "link",
            "../x",
            "inner",
            "inner/../inner/file.txt/x",
        ):
            for call in (
                files.read,
                files.list,
                lambda path: files.write(path, "x"),
                lambda path: files.edit(path, "zz", "x"),
            ):
                with suppress(ToolError):
                    call(path)
        files.list(depth=9, limit=1)
        files.search(CONTEXT, text="i", limit=0)
        files.search(CONTEXT, text="i", regex=True)

    use()
    before = len(os.listdir("/proc/self/fd"))
    use()
    assert len(os.listdir("/proc/self/fd")) == before
    assert not [name for name in os.listdir(root) if name.startswith(".toolwire")]


def test_a_change_by_someone_else_is_not_overwritten(
    files: Files, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from toolwire_bundled.files import writing

    def meddled(fd: int, mode: int) -> None:
        (root / "inner" / "file.txt").write_text("by somebody else")

    monkeypatch.setattr(writing, "_set_mode", meddled)

    assert "changed by another program" in refused(files.edit, "inner/file.txt", "inside", "x")
    assert (root / "inner" / "file.txt").read_text() == "by somebody else"
    assert os.listdir(root / "inner") == ["file.txt"]


@pytest.mark.process
def test_the_process_of_a_pattern_imports_nothing_from_the_working_folder(
    root: Path, tmp_path: Path
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('taken over')")
    code = """
import sys
from toolwire_tools import Context
from toolwire_bundled.files import Files
from toolwire_tools.context.context import NULL_CALLER

print(len(Files([sys.argv[1]]).search(Context(NULL_CALLER), text="i", regex=True)["matches"]))
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", code, str(root)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )

    assert done.stdout == "1\n"


def test_read_only_tools_say_so(root: Path) -> None:
    reading = find_tools(Files([root]))

    assert [(tool.name, tool.entry.options.read_only) for tool in reading] == [
        ("Files_list", True),
        ("Files_read", True),
        ("Files_search", True),
    ]
