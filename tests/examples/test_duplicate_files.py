"""The example of a long job: it reports progress, ends when it is cancelled, and stays in its
folder.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from examples.conftest import Serve
from support.example_data import make_pictures
from support.server_process import call, request

pytestmark = pytest.mark.process


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = make_pictures(tmp_path / "pictures")
    (tmp_path / "outside.jpg").write_text("tea", "utf-8")
    (made / "link.jpg").symlink_to(tmp_path / "outside.jpg")
    return made


def test_equal_files_are_found_and_progress_reported(serve: Serve, folder: Path) -> None:
    server = serve("duplicate_files.py", FOLDER=str(folder))

    assert server.call("find_duplicates") == [
        {"bytes": 3, "paths": ["a.jpg", "d.txt", "old/b.jpg"]}
    ]
    assert server.call("find_duplicates", pattern="**/*.jpg") == [
        {"bytes": 3, "paths": ["a.jpg", "old/b.jpg"]}
    ]
    assert server.call("find_duplicates", min_bytes=4) == []

    server.process.send(call("find_duplicates", id=2, progressToken="p"))
    reports = []
    while (message := server.process.receive()).get("method") == "notifications/progress":
        reports.append(message["params"])
    assert message["id"] == 2
    assert {report["progressToken"] for report in reports} == {"p"}
    assert (reports[-1]["progress"], reports[-1]["total"], reports[-1]["message"]) == (
        12,
        12,
        "done",
    )


@pytest.mark.parametrize("pattern", ["../*", "/etc/*", "old/../../*"])
def test_the_search_stays_in_its_folder(serve: Serve, folder: Path, pattern: str) -> None:
    server = serve("duplicate_files.py", FOLDER=str(folder))
    assert server.call("find_duplicates", pattern=pattern) == [
        "The pattern must stay within the folder."
    ]


def test_a_folder_that_is_not_set_is_an_error(serve: Serve, tmp_path: Path) -> None:
    for settings in ({}, {"FOLDER": str(tmp_path / "none")}):
        told = serve("duplicate_files.py", **settings).call("find_duplicates")
        assert told == ["Set FOLDER to the folder to search."]


@pytest.mark.skipif(os.name == "nt", reason="sparse files of a terabyte")
def test_a_cancelled_search_ends_and_concurrent_calls_are_answered(
    serve: Serve, folder: Path
) -> None:
    """Two files of a terabyte, which hold no data, would be read for an hour."""
    for name in ("x.img", "y.img"):
        with open(folder / name, "wb") as file:
            file.truncate(10**12)
    server = serve(
        "duplicate_files.py",
        "--limit",
        "max_workers=2",
        "--limit",
        "max_abandoned=1",
        FOLDER=str(folder),
    )
    for number in range(4):  # one that went on would hold a thread
        token = f"long {number}"
        server.process.send(call("find_duplicates", id=token, progressToken=token))
        assert server.process.receive()["params"]["message"] == "reading x.img"
        assert server.call("find_duplicates", pattern="c.jpg") == []
        server.process.send(request("notifications/cancelled", {"requestId": token}, id=...))

    assert server.process.hang_up() == []
    assert server.process.wait() == 0
