"""The example for a git repository: it shows the history, and no argument is an option or starts a
program.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from examples.conftest import Serve
from support.example_data import git, make_repository

pytestmark = pytest.mark.process


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "project")


def sign(folder: Path) -> None:
    """Give the latest commit a signature, which git would have gpg verify."""
    signature = "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----\n\n"
    signed = git(folder, "cat-file", "commit", "HEAD").replace("\n\n", signature, 1)
    git(
        folder,
        "update-ref",
        "HEAD",
        git(folder, "hash-object", "-w", "-t", "commit", "--stdin", text=signed + "\n"),
    )


def test_commits_changes_and_lines_are_shown(serve: Serve, repository: Path) -> None:
    server = serve("git_history.py", REPOSITORY=str(repository))

    first, second = server.call("log").splitlines()
    assert [line.partition(" ")[2] for line in (first, second)] == [
        "2026-01-02 Ada: Add cake",
        "2026-01-02 Ada: Add tea",
    ]
    assert server.call("log", path="nothing.txt") == ""
    assert server.call("log", limit=1) == first
    assert "+cake" in server.call("show", revision="HEAD")
    assert server.call("diff", old="HEAD~1").endswith(" tea\n+cake")
    assert server.call("blame", path="menu.txt", first=2, last=2).endswith(
        "(Ada 2026-01-02 2) cake"
    )


@pytest.mark.parametrize(
    "word", ["--output=stolen", "-O", "--upload-pack=touch stolen", "--no-index", "--all", "-p"]
)
def test_no_argument_becomes_an_option(serve: Serve, repository: Path, word: str) -> None:
    server = serve("git_history.py", REPOSITORY=str(repository))

    assert server.call("show", revision=word) == [f"There is no such commit: {word}"]
    assert server.call("log", revision=word) == [f"There is no such commit: {word}"]
    assert server.call("diff", old="HEAD", new=word) == [f"There is no such commit: {word}"]
    assert server.call("log", path=word) == ""
    assert server.call("blame", path=word) == [
        f"fatal: no such path {word} in {git(repository, 'rev-parse', 'HEAD')}"
    ]
    assert sorted(path.name for path in repository.iterdir()) == [".git", "menu.txt"]


@pytest.mark.parametrize("path", ["../secret.txt", "/etc/passwd", ":(top)menu.txt", "menu.*"])
def test_paths_are_names_inside_of_the_repository(
    serve: Serve, repository: Path, path: str
) -> None:
    (repository.parent / "secret.txt").write_text("secret", "utf-8")
    server = serve("git_history.py", REPOSITORY=str(repository))

    for answer in (server.call("diff", old="HEAD~1", path=path), server.call("blame", path=path)):
        assert answer == "" or "outside repository" in str(answer) or "no such path" in str(answer)


def test_the_settings_of_a_repository_start_no_program(serve: Serve, repository: Path) -> None:
    program = repository.parent / "program"
    program.write_text(f"#!/bin/sh\ntouch {repository.parent}/started\n", "utf-8")
    program.chmod(0o755)
    (repository / ".gitattributes").write_text("*.txt diff=spy\n", "utf-8")
    settings = (
        "diff.external",
        "diff.spy.command",
        "diff.spy.textconv",
        "core.pager",
        "core.fsmonitor",
        "gpg.program",
    )
    for setting in settings:
        git(repository, "config", setting, str(program))
    git(repository, "config", "log.showSignature", "true")
    sign(repository)
    server = serve("git_history.py", REPOSITORY=str(repository))

    calls: list[tuple[str, dict[str, Any]]] = [
        ("log", {}),
        ("show", {"revision": "HEAD"}),
        ("diff", {"old": "HEAD~1"}),
        ("blame", {"path": "menu.txt"}),
    ]
    assert [
        name for name, arguments in calls if isinstance(server.call(name, **arguments), list)
    ] == []
    assert not (repository.parent / "started").exists()


def test_a_large_change_is_cut_and_a_folder_that_is_no_repository_named(
    serve: Serve, repository: Path
) -> None:
    (repository / "large.txt").write_text("all work and no play\n" * 100_000, "utf-8")
    git(repository, "add", "large.txt")
    git(repository, "commit", "--quiet", "-m", "Add much")

    shown = serve("git_history.py", REPOSITORY=str(repository)).call("show", revision="HEAD")
    assert len(shown) < 101_000
    assert shown.endswith("(There is more: ask for less at a time.)")
    (told,) = serve("git_history.py", REPOSITORY=str(repository.parent)).call("log")
    assert told.startswith("fatal: not a git repository")
