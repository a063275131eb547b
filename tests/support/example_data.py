"""Example data in a folder: a database, a repository, pictures and a log."""

from __future__ import annotations

import os
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path

_WHO = {"NAME": "Ada", "EMAIL": "ada@example.com", "DATE": "2026-01-02T03:04:05Z"}
_GIT = {
    f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in _WHO.items()
}

LOG = "".join(
    f'203.0.113.{number} - - [22/Nov/2026:10:00:0{number} +0000] "GET {page} HTTP/1.1" {status} 512'
    ' "-" "-"\n'
    for number, (page, status) in enumerate(
        [("/", 200), ("/tea", 200), ("/", 200), ("/cart", 503), ("/tea", 200), ("/", 304)]
    )
)


def make_database(path: Path) -> Path:
    """Make a database of teas at *path*."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("""
            CREATE TABLE teas (name TEXT, price REAL, picture BLOB);
            INSERT INTO teas VALUES ('Assam', 4.5, x'00ff'), ('Sencha', 6, NULL), ('Pu-erh', 9.25, NULL);
            CREATE VIRTUAL TABLE notes USING fts5(text);
            INSERT INTO notes VALUES ('smoky and sweet');
        """)  # noqa: E501
    return path


def make_repository(path: Path) -> Path:
    """Make a git repository of two commits at *path*."""
    path.mkdir()
    git(path, "init", "--quiet", "--initial-branch=main")
    for text, subject in (("tea\n", "Add tea"), ("tea\ncake\n", "Add cake")):
        (path / "menu.txt").write_text(text, "utf-8")
        git(path, "add", "menu.txt")
        git(path, "commit", "--quiet", "-m", subject)
    return path


def git(folder: Path, *words: str, text: str = "") -> str:
    """Return what git prints, whatever the settings of the user are."""
    env = {**os.environ, **_GIT, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    done = subprocess.run(
        ["git", *words], cwd=folder, env=env, check=True, capture_output=True, text=True, input=text
    )
    return done.stdout.strip()


def make_pictures(path: Path) -> Path:
    """Make a folder at *path*, in which three files are equal."""
    (path / "old").mkdir(parents=True)
    for name, text in (
        ("a.jpg", "tea"),
        ("old/b.jpg", "tea"),
        ("c.jpg", "milk"),
        ("d.txt", "tea"),
        ("e.jpg", "eat"),
    ):
        (path / name).write_text(text, "utf-8")
    return path
