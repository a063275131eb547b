"""The example of YAML tools with pipes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from examples.conftest import Serve
from support.example_data import LOG

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(os.name == "nt", reason="runs the shell of POSIX"),
]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "access log"
    path.write_text(LOG, "utf-8")
    return path


def test_pages_are_counted_and_failures_shown(serve: Serve, log: Path) -> None:
    server = serve("web_log.yaml", LOG=str(log))

    assert [line.split() for line in server.call("top_pages").splitlines()] == [
        ["3", "/"],
        ["2", "/tea"],
        ["1", "/cart"],
    ]
    assert server.call("top_pages", pattern="tea", most=1).split() == ["2", "/tea"]
    assert server.call("errors") == LOG.splitlines()[3]


@pytest.mark.parametrize(
    "pattern", ["$(touch pwned)", "'; touch pwned; '", "--file=/etc/passwd", "`touch pwned`", "-r"]
)
def test_a_pattern_is_nothing_but_a_pattern(serve: Serve, log: Path, pattern: str) -> None:
    assert serve("web_log.yaml", LOG=str(log)).call("top_pages", pattern=pattern) == ""
    assert [path.name for path in log.parent.iterdir()] == [log.name]


def test_a_log_that_is_not_there_is_an_error_and_not_an_empty_answer(
    serve: Serve, tmp_path: Path
) -> None:
    for settings, told in (
        ({}, "Set LOG to the path of the log."),
        ({"LOG": str(tmp_path / "none")}, "none"),
    ):
        (text,) = serve("web_log.yaml", **settings).call("errors")
        assert text.startswith("the script ended with exit status ")
        assert told in text
