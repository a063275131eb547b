"""Files: what it lists, reads, finds and changes. (What it keeps out is in
test_files_attacks.py.)
"""

from __future__ import annotations

import base64
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire_bundled.files import Files
from toolwire_bundled.files.searching import _is_named
from toolwire_compat.lagent import get_tool
from toolwire_tools import Audio, Cancelled, Context, File, Image, Text, ToolError
from toolwire_tools.context.context import NULL_CALLER, NullCaller

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
CONTEXT = Context(NULL_CALLER)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with a little of everything."""
    root = tmp_path / "root"
    for path, data in {
        "notes/todo.md": b"# To do\nbuy tea\nBuy milk\n",
        "notes/2026/june.md": b"nothing\n",
        "src/app.py": b"import os\n\n\ndef main():\n    return 1\n",
        "src/test/test_app.py": b"def test_main(): ...\n",
        "plot.png": PNG,
        "tone.wav": b"RIFF\x24\0\0\0WAVEfmt ",
        "data.bin": b"\0\1\2\3",
        "windows.txt": b"one\r\ntwo\r\nthree\r\n",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(data)
    return root


@pytest.fixture
def files(root: Path) -> Files:
    return Files([root], writable=True)


def fault(api: Any, *arguments: Any, **named: Any) -> str:
    with pytest.raises(ToolError) as caught:
        api(*arguments, **named)
    return str(caught.value)


def text(files: Files, path: str, **more: int) -> str:
    first = files.read(path, **more)[0]
    assert isinstance(first, Text)
    return first.text


def found(files: Files, **wanted: Any) -> list[Any]:
    return [tuple(match.values()) for match in files.search(CONTEXT, **wanted)["matches"]]


# --- which ones are offered, and where ---


@pytest.mark.process
def test_it_offers_to_write_only_where_that_is_allowed(root: Path) -> None:
    reading, writing = Files([root]), Files([root], writable=True)

    assert [api["name"] for api in reading.description["api_list"]] == ["list", "read", "search"]
    assert [api["name"] for api in writing.description["api_list"]] == [
        "list",
        "read",
        "search",
        "write",
        "edit",
    ]
    assert (
        "writing needs a setting: --set Files.writable=true"
        in reading({"path": "x", "content": ""}, "write").errmsg
    )


def test_without_folders_every_call_says_how_to_open_some() -> None:
    assert "--set Files.roots=FOLDER" in fault(Files().list)


def test_what_is_no_folder_cannot_be_opened(root: Path) -> None:
    with pytest.raises(ValueError, match="there is no folder"):
        Files([root / "nowhere"])
    with pytest.raises(ValueError, match="max_bytes must be at least 1"):
        Files([root], max_bytes=0)


def test_it_is_made_of_settings_as_other_actions_are(root: Path) -> None:
    assert (
        get_tool("Files", roots=[str(root)])({"path": "notes/todo.md"}, "read")
        .format_result()
        .startswith("# To do")
    )


def test_several_folders_are_distinguished_by_their_names(root: Path, tmp_path: Path) -> None:
    (tmp_path / "other" / "notes").mkdir(parents=True)
    (tmp_path / "other" / "notes" / "todo.md").write_text("other\n")
    files = Files([root / "notes", tmp_path / "other" / "notes", root / "src"])

    assert [entry["path"] for entry in files.list()["entries"]] == ["notes", "notes-2", "src"]
    assert text(files, "notes-2/todo.md") == "other\n"
    assert found(files, names="*.md") == [
        ("notes/2026/june.md",),
        ("notes/todo.md",),
        ("notes-2/todo.md",),
    ]
    assert "did you mean 'notes'?" in fault(files.read, "note/todo.md")
    assert "say which folder" in fault(files.read, ".")


def test_an_absolute_path_inside_of_a_folder_is_that_file(files: Files, root: Path) -> None:
    assert text(files, str(root / "notes" / "todo.md")).startswith("# To do")


# --- list ---


def test_a_folder_is_listed_by_name_with_kind_and_size(files: Files) -> None:
    listed = files.list("notes")

    assert [(entry["path"], entry["kind"], entry["bytes"]) for entry in listed["entries"]] == [
        ("notes/2026", "folder", 0),
        ("notes/todo.md", "file", 25),
    ]
    assert not listed["more"]


def test_a_listing_respects_its_depth_and_limit(files: Files) -> None:
    deep = [entry["path"] for entry in files.list("src", depth=9)["entries"]]

    assert deep == ["src/app.py", "src/test", "src/test/test_app.py"]
    assert files.list("src", depth=9, limit=2)["more"]
    assert [entry["path"] for entry in files.list("notes/todo.md")["entries"]] == ["notes/todo.md"]


def test_a_missing_folder_is_reported_by_the_name_it_was_asked_for(files: Files) -> None:
    assert (
        fault(files.list, "nowhere/at/all") == "'nowhere/at/all': there is no such file or folder"
    )


# --- read ---


def test_a_text_is_read_as_text(files: Files) -> None:
    assert files.read("notes/todo.md") == [Text(text="# To do\nbuy tea\nBuy milk\n")]
    assert text(files, "windows.txt") == "one\r\ntwo\r\nthree\r\n"


def test_some_lines_are_read_and_the_rest_is_reported(files: Files) -> None:
    assert files.read("notes/todo.md", first_line=2, lines=1) == [
        Text(text="buy tea\n"),
        Text(text="These are lines 2 to 2 of 3; read on with first_line=3."),
    ]
    assert files.read("notes/todo.md", first_line=-1) == [
        Text(text="Buy milk\n"),
        Text(text="These are lines 3 to 3 of 3."),
    ]
    assert "there is no line 4: the file has 3" in fault(files.read, "notes/todo.md", first_line=4)
    assert "counted from 1" in fault(files.read, "notes/todo.md", first_line=0)


def test_a_long_text_is_cut_between_lines_and_can_be_read_on(files: Files, root: Path) -> None:
    (root / "long.txt").write_text("".join(f"{number} {'x' * 990}\n" for number in range(500)))
    first, note = files.read("long.txt")

    assert isinstance(first, Text)
    assert isinstance(note, Text)
    assert first.text.endswith("\n")
    assert len(first.text) <= 200_000
    lines = first.text.count("\n")
    assert note.text == f"These are lines 1 to {lines} of 500; read on with first_line={lines + 1}."
    assert text(files, "long.txt", first_line=lines + 1).startswith(f"{lines} ")


def test_a_line_without_end_is_cut_and_reported(files: Files, root: Path) -> None:
    (root / "line.json").write_text("x" * 300_000)
    first, note = files.read("line.json")

    assert isinstance(first, Text)
    assert isinstance(note, Text)
    assert len(first.text) == 200_000
    assert note.text.startswith("A line has more than 200,000 characters")


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ("\N{BYTE ORDER MARK}größe".encode(), ["größe"]),
        ("größe".encode("utf-16"), ["größe"]),
        (
            "größe".encode("latin-1"),
            ["gr\ufffd\ufffde", "It is not all UTF-8: what is not was replaced."],
        ),
        (b"", [""]),
        ("a\u2028b\x0bc\x85d".encode(), ["a\u2028b\x0bc\x85d"]),
    ],
)
def test_text_in_other_encodings_is_read_as_well_as_it_can_be(
    files: Files, root: Path, data: bytes, shown: list[str]
) -> None:
    (root / "text").write_bytes(data)

    assert files.read("text") == [Text(text=one) for one in shown]


def test_pictures_sounds_and_data_are_read_as_such(files: Files) -> None:
    assert files.read("plot.png") == [Image(data=PNG)]
    assert isinstance(files.read("tone.wav")[0], Audio)
    assert files.read("data.bin") == [
        File(data=b"\0\1\2\3", name="data.bin", media_type="application/octet-stream")
    ]


def test_a_file_over_the_limit_is_refused_with_its_size(root: Path) -> None:
    files = Files([root], max_bytes=10)

    assert (
        fault(files.read, "notes/todo.md")
        == "notes/todo.md has 25 bytes, and files are read up to 10"
    )
    (root / "big").write_bytes(b"\0" * (5 * 1024 * 1024 + 1))
    assert "data is read up to 5,242,880" in fault(Files([root]).read, "big")


# --- search ---


def test_files_are_found_by_their_names(files: Files) -> None:
    assert found(files, names="*.py") == [("src/app.py",), ("src/test/test_app.py",)]
    assert found(files, names="**/test_*.py") == [("src/test/test_app.py",)]
    assert found(files, names="test/*.py", path="src") == [("src/test/test_app.py",)]
    assert found(files, names="src/*.py") == [("src/app.py",)]


def test_lines_are_found_by_what_they_say(files: Files) -> None:
    assert found(files, text="buy") == [("notes/todo.md", 2, "buy tea")]
    assert found(files, text="BUY", ignore_case=True) == [
        ("notes/todo.md", 2, "buy tea"),
        ("notes/todo.md", 3, "Buy milk"),
    ]
    assert found(files, text="def", names="test_*.py") == [
        ("src/test/test_app.py", 1, "def test_main(): ...")
    ]
    assert found(files, text="two", path="windows.txt") == [("windows.txt", 2, "two")]


@pytest.mark.process
def test_lines_are_found_by_regular_expressions(files: Files) -> None:
    assert found(files, text=r"^def \w+\(\):", regex=True) == [
        ("src/app.py", 4, "def main():"),
        ("src/test/test_app.py", 1, "def test_main(): ..."),
    ]
    assert found(files, text="BUY .*K$", regex=True, ignore_case=True) == [
        ("notes/todo.md", 3, "Buy milk")
    ]
    assert found(files, text="two$", regex=True) == [("windows.txt", 2, "two")]
    assert "no regular expression" in fault(files.search, CONTEXT, text="(", regex=True)


def test_a_search_ends_at_its_limit_and_says_what_it_left_out(files: Files, root: Path) -> None:
    (root / "many.txt").write_text("here\n" * 50)
    (root / "huge.txt").write_text("here\n" * 1000)
    small = Files([root], max_bytes=1000)
    limited = small.search(CONTEXT, text="here", limit=10)

    assert (len(limited["matches"]), limited["more"]) == (10, True)
    everything = small.search(CONTEXT, text="here")
    assert (len(everything["matches"]), everything["more"]) == (50, False)
    assert sorted(everything["notes"]) == [
        "1 file was left out: larger than 1,000 bytes",
        "3 files were left out: binary",
    ]


@pytest.mark.process
def test_an_answer_is_as_long_as_a_host_can_take_whatever_it_asks_for(
    files: Files, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "many.log").write_text("error\n" * 6000)
    for regex in (False, True):
        searched = files.search(CONTEXT, text="error", names="many.log", regex=regex, limit=10**9)
        assert (len(searched["matches"]), searched["more"]) == (5000, True)

    monkeypatch.setattr("toolwire_bundled.files.listing.MAX_LISTED", 2)
    listed = files.list(limit=10**9)
    assert (len(listed["entries"]), listed["more"]) == (2, True)


@pytest.mark.process
def test_of_a_long_line_only_the_part_around_the_match_is_shown(files: Files, root: Path) -> None:
    (root / "line.json").write_text("x" * 100_000 + "needle" + "y" * 100_000)

    for regex in (False, True):
        [(_, line, shown)] = found(files, text="needle", regex=regex)
        assert line == 1
        assert "needle" in shown
        assert len(shown) <= 502


def test_a_search_that_is_cancelled_ends(files: Files) -> None:
    class Gone(NullCaller):
        cancelled = True

    with pytest.raises(Cancelled):
        files.search(Context(Gone()), text="x")


@given(
    st.lists(st.sampled_from(["a", "b", "ab"]), min_size=1, max_size=5),
    st.lists(st.sampled_from(["a", "*", "**", "a*"]), min_size=2, max_size=5),
)
def test_names_match_as_pathlib_would_have_it(parts: list[str], wanted: list[str]) -> None:
    def matches(parts: list[str], wanted: list[str]) -> bool:
        if not wanted:
            return not parts
        if wanted[0] == "**":
            return any(matches(parts[skipped:], wanted[1:]) for skipped in range(len(parts) + 1))
        if not parts:
            return False
        fits = (
            wanted[0] == "*"
            or wanted[0] == parts[0]
            or (wanted[0] == "a*" and parts[0].startswith("a"))
        )
        return fits and matches(parts[1:], wanted[1:])

    assert _is_named("/".join(parts), "/".join(wanted)) == matches(parts, wanted)


# --- write and edit ---


def test_a_file_is_written_with_the_folders_on_its_way(files: Files, root: Path) -> None:
    assert files.write("new/deep/file.txt", "größe\n") == {
        "path": "new/deep/file.txt",
        "bytes": 8,
        "lines": [],
    }
    assert "name the file" in fault(files.write, "new/", "x")
    assert "name the file" in fault(files.write, "new/deep/.", "x")
    assert (root / "new/deep/file.txt").read_bytes() == "größe\n".encode()
    assert os.listdir(root / "new/deep") == ["file.txt"]


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("deep/" * 65 + "file", "more folders within each other than are allowed"),
        ("a/b/" + "n" * 300, "a name that is too long"),
        ("a/" + "n" * 300 + "/file", "a folder whose name is too long"),
        ("a/b/c/../../../../file", "a way that leads out"),
        ("a/b/large", "x" * 2000),
        ("a/b/", "no name"),
    ],
)
def test_a_file_that_is_refused_leaves_no_folders_behind(
    root: Path, path: str, content: str
) -> None:
    before = sorted(root.rglob("*"))

    fault(Files(root, writable=True, max_bytes=1000).write, path, content)

    assert sorted(root.rglob("*")) == before


def test_what_exists_is_replaced_or_appended_to_only_on_demand(files: Files, root: Path) -> None:
    assert 'say if_exists="replace"' in fault(files.write, "notes/todo.md", "gone")
    assert (root / "notes/todo.md").read_text().startswith("# To do")
    files.write("notes/todo.md", "new\n", if_exists="replace")
    files.write("notes/todo.md", "more\n", if_exists="append")
    assert (root / "notes/todo.md").read_text() == "new\nmore\n"


def test_appending_writes_to_the_file_itself(files: Files, root: Path) -> None:
    log = root / "log.txt"
    log.write_text("one\n")
    log.chmod(0o640)
    os.link(log, root / "second name")
    before = log.stat()

    with log.open("a") as other:  # of another process, say
        changed = files.write("log.txt", "two\n", if_exists="append")
        other.write("three\n")

    after = log.stat()
    assert changed["bytes"] == len("one\ntwo\n")
    assert (root / "second name").read_text() == "one\ntwo\nthree\n"
    assert (after.st_ino, after.st_mode, after.st_uid) == (
        before.st_ino,
        before.st_mode,
        before.st_uid,
    )


def test_many_who_append_at_once_lose_nothing(root: Path) -> None:
    start = threading.Barrier(8)

    def append(letter: str) -> None:
        own = Files([root], writable=True)  # as servers of their own: no lock is shared
        start.wait()
        for _ in range(20):
            own.write("new.log", letter * 100 + "\n", if_exists="append")

    threads = [threading.Thread(target=append, args=(letter,)) for letter in "abcdefgh"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    lines = (root / "new.log").read_text().splitlines()
    assert sorted(lines) == sorted(letter * 100 for letter in "abcdefgh" for _ in range(20))
    assert not [name for name in os.listdir(root) if name.startswith(".toolwire")]


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away"
)
@pytest.mark.parametrize("if_exists", ["append", "replace"])
def test_a_file_that_is_changed_keeps_its_owner(files: Files, root: Path, if_exists: Any) -> None:
    theirs = root / "theirs.txt"
    theirs.write_text("as it was\n")
    os.chown(theirs, 12345, 54321)

    files.write("theirs.txt", "more\n", if_exists=if_exists)
    files.edit("theirs.txt", "more", "less")

    assert (theirs.stat().st_uid, theirs.stat().st_gid) == (12345, 54321)


@pytest.mark.process
@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_FSIZE is counted in bytes")
def test_what_cannot_be_appended_as_a_whole_is_not_appended(root: Path) -> None:
    (root / "log.txt").write_text("one\n")
    code = """
import resource, signal, sys
from toolwire_tools import ToolError
from toolwire_bundled.files import Files
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    Files([sys.argv[1]], writable=True).write("log.txt", "x" * 2000, if_exists="append")
except ToolError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(root)], capture_output=True, text=True, timeout=60
    )

    assert "File too large" in done.stdout
    assert (root / "log.txt").read_text() == "one\n"


def test_the_name_of_a_new_file_is_on_the_disk_when_the_call_returns(
    files: Files, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    sync = os.fsync

    def seen(fd: int) -> None:
        synced.append(os.readlink(f"/proc/self/fd/{fd}"))
        sync(fd)

    monkeypatch.setattr(os, "fsync", seen)
    files.write("new folder/new.txt", "x", if_exists="append")

    assert synced[0] == str(root)  # which has the new folder
    assert synced[-1] == str(root / "new folder")


def test_data_is_written_from_base64(files: Files, root: Path) -> None:
    files.write("copy.png", base64.b64encode(PNG).decode(), encoding="base64")

    assert (root / "copy.png").read_bytes() == PNG
    for wrong in ("!!", "é", "\ud800"):
        assert "is not Base64" in fault(files.write, "bad", wrong, encoding="base64")


def test_a_file_that_is_replaced_keeps_its_mode(files: Files, root: Path) -> None:
    script = root / "run.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o750)
    files.write("run.sh", "#!/bin/sh\ntrue\n", if_exists="replace")
    files.edit("run.sh", "true", "false")

    assert stat.S_IMODE(script.stat().st_mode) == 0o750


def test_what_replaces_a_file_that_runs_with_its_owners_rights_does_not(
    files: Files, root: Path
) -> None:
    script = root / "run.sh"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o6755)
    files.write("run.sh", "#!/bin/sh\ntrue\n", if_exists="replace")

    assert stat.S_IMODE(script.stat().st_mode) == 0o755


def test_a_new_file_has_the_usual_mode(files: Files, root: Path) -> None:
    files.write("new.txt", "")
    mask = os.umask(0)
    os.umask(mask)

    assert stat.S_IMODE((root / "new.txt").stat().st_mode) == 0o666 & ~mask


def test_a_file_that_is_protected_against_writing_stays(files: Files, root: Path) -> None:
    (root / "fixed.txt").write_text("as it is")
    (root / "fixed.txt").chmod(0o444)

    assert "protected" in fault(files.write, "fixed.txt", "x", if_exists="replace")
    assert "protected" in fault(files.edit, "fixed.txt", "as", "x")
    assert (root / "fixed.txt").read_text() == "as it is"


def test_a_text_is_replaced_where_it_is_and_nothing_else(files: Files, root: Path) -> None:
    assert files.edit("src/app.py", "    return 1", "    return 2")["lines"] == [5]
    assert (root / "src/app.py").read_bytes() == b"import os\n\n\ndef main():\n    return 2\n"


def test_line_ends_stay_as_they_are(files: Files, root: Path) -> None:
    files.edit("windows.txt", "one\ntwo", "1\n2")

    assert (root / "windows.txt").read_bytes() == b"1\r\n2\r\nthree\r\n"


def test_a_text_that_is_there_more_or_less_often_than_said_stays(files: Files, root: Path) -> None:
    (root / "same.txt").write_text("a\nb\na\n")

    assert "2 times, not 1 (lines 1, 3); say count=2" in fault(files.edit, "same.txt", "a", "c")
    assert "there is no such text" in fault(files.edit, "same.txt", "x" * 50, "c")
    assert "the closest is line 2: 'buy tea'" in fault(files.edit, "notes/todo.md", "buy  tee", "c")
    assert "old is empty" in fault(files.edit, "same.txt", "", "c")
    assert (root / "same.txt").read_text() == "a\nb\na\n"
    assert files.edit("same.txt", "a", "c", count=2)["lines"] == [1, 3]
    assert (root / "same.txt").read_text() == "c\nb\nc\n"


def test_of_very_many_edits_the_first_lines_are_reported(files: Files, root: Path) -> None:
    (root / "many.txt").write_text("a\n" * 100_000)

    with pytest.raises(
        ToolError, match=r"100000 times, not 1 \(lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10…\)"
    ):
        files.edit("many.txt", "a", "b")
    told = files.edit("many.txt", "a", "b", count=100_000)

    assert told["lines"] == list(range(1, 1001))
    assert (root / "many.txt").read_text() == "b\n" * 100_000


def test_the_users_own_folder_may_be_named_by_its_sign(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME" if os.name == "posix" else "USERPROFILE", str(root))

    assert [entry["path"] for entry in Files(roots=["~/notes"]).list()["entries"]] == [
        "2026",
        "todo.md",
    ]


def test_what_is_no_text_is_not_edited(files: Files, root: Path) -> None:
    (root / "latin.txt").write_bytes("größe".encode("latin-1"))

    assert "not text in UTF-8" in fault(files.edit, "latin.txt", "gr", "x")
    assert "not text in UTF-8" in fault(files.edit, "data.bin", "\1", "x")


def test_what_would_grow_over_the_limit_stays(root: Path) -> None:
    files = Files([root], writable=True, max_bytes=30)

    assert "would have 40 bytes" in fault(files.write, "new.txt", "x" * 40)
    assert "would have 35 bytes" in fault(
        files.write, "notes/todo.md", "x" * 10, if_exists="append"
    )
    assert "would have 32 bytes" in fault(files.edit, "notes/todo.md", "tea", "x" * 10)
    assert not (root / "new.txt").exists()


def test_of_many_who_write_a_new_file_at_once_one_succeeds(files: Files, root: Path) -> None:
    done: list[str] = []
    start = threading.Barrier(8)

    def write(content: str) -> None:
        start.wait()
        try:
            files.write("contested.txt", content * 1000)
        except ToolError:
            return
        done.append(content)

    threads = [threading.Thread(target=write, args=(letter,)) for letter in "abcdefgh"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    [winner] = done
    assert (root / "contested.txt").read_text() == winner * 1000
    assert not [name for name in os.listdir(root) if name.startswith(".toolwire")]


def test_edits_at_once_are_all_made(files: Files, root: Path) -> None:
    letters = "abcdefgh"
    (root / "shared.txt").write_text("".join(f"<{letter}>\n" * 2000 for letter in letters))
    start = threading.Barrier(len(letters))

    def edit(letter: str) -> None:
        start.wait()
        files.edit("shared.txt", f"<{letter}>", f"[{letter}]", count=2000)

    threads = [threading.Thread(target=edit, args=(letter,)) for letter in letters]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (root / "shared.txt").read_text() == "".join(
        f"[{letter}]\n" * 2000 for letter in letters
    )


def test_readers_never_see_a_part_of_what_is_written(files: Files, root: Path) -> None:
    whole = {"a" * 200_000, "b" * 200_000}
    files.write("turns.txt", "a" * 200_000)
    over = threading.Event()

    def write() -> None:
        for turn in range(60):
            files.write("turns.txt", "ab"[turn % 2] * 200_000, if_exists="replace")
        over.set()

    writer = threading.Thread(target=write)
    writer.start()
    seen = set()
    while not over.is_set():
        seen.add((root / "turns.txt").read_text())
    writer.join()

    assert seen <= whole


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("list", {"limit": -1}),
        ("list", {"depth": 0}),
        ("read", {"path": "data.bin", "lines": -5}),
        ("search", {"limit": 0}),
    ],
)
def test_less_than_one_of_anything_is_refused(
    root: Path, name: str, arguments: dict[str, Any]
) -> None:
    answer = Files([root])(arguments, name)

    assert answer.errmsg.endswith("is less than 1")
