"""What of a command line decides about sharing, before its options can be read."""

from __future__ import annotations

import sys

import pytest
from toolwire.sharing.stateful_servers import STATEFUL, find_state, is_always_shared
from toolwire.sharing.words import asks_to_share, can_start, find_named_variables


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("serve --share tools.py", True),
        ("serve tools.py --share", True),
        ("serve tools.py", False),
        ("serve --share-env A tools.py", False),
        ("serve --share --help", False),
        ("wrap --share -- server", True),
        ("wrap --share=always -- server", True),
        ("wrap --share auto -- server --help", True),
        ("wrap -- server --share", False),
    ],
)
def test_command_line_asks_to_share_by_its_own_words(words: str, expected: bool) -> None:
    assert asks_to_share(words.split()) is expected


def test_variables_are_named_by_own_words() -> None:
    words = ["wrap", "--share-env", "A", "--share-env=B", "--", "server", "--share-env", "C"]
    assert list(find_named_variables(words)) == ["A", "B"]


@pytest.mark.parametrize(
    "command",
    [
        "npx -y @playwright/mcp",
        "npx -y @playwright/mcp@latest --headless",
        "npx chrome-devtools-mcp@1.2.0",
        "docker run -i --rm mcr.microsoft.com/playwright/mcp:v1",
        "/usr/local/bin/chrome-devtools-mcp",
        "npx -y @modelcontextprotocol/server-sequential-thinking",
    ],
)
def test_server_that_is_known_to_keep_state_is_found(command: str) -> None:
    assert "is not shared" in find_state(command.split())


@pytest.mark.parametrize("command", ["npx -y some-mcp-server", "python playwright.py", "cat"])
def test_other_server_is_not(command: str) -> None:
    assert find_state(command.split()) == ""


def test_each_server_that_keeps_state_has_its_evidence() -> None:
    assert all(source.startswith("https://") for _, source in STATEFUL.values())


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--share=always"], True),
        (["--share", "always"], True),
        (["--share"], False),
        (["--share=auto"], False),
    ],
)
def test_share_always_is_known(words: list[str], expected: bool) -> None:
    assert is_always_shared(words) is expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("sh", True),
        (sys.executable, True),
        ("https://example.org/mcp", True),
        ("no-such-program", False),
        ("/no/such/program", False),
    ],
)
def test_program_that_can_start_is_found_by_its_name_or_path(program: str, expected: bool) -> None:
    assert can_start(program) is expected
