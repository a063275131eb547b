"""The tokens of a list, for each tool and server: `toolwire list --tokens`."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest
from toolwire.cli.mounting import list_prefixes
from toolwire.cli.printing.terminal import print_report
from toolwire.cli.token_counts import TokenCount, as_data, count_tokens, format_counts

ENTRIES: list[dict[str, Any]] = [
    {"name": "add", "description": "Add."},
    {"name": "git_hub_issue", "description": "Open an issue of a repository."},
    {"name": "git.log", "description": "Show commits.", "inputSchema": {"type": "object"}},
]


@pytest.fixture
def without_tiktoken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tiktoken", None)


@pytest.fixture
def with_tiktoken(monkeypatch: pytest.MonkeyPatch) -> None:
    def encode(text: str, **options: Any) -> list[str]:
        assert options == {"disallowed_special": ()}
        return text.split(":")

    encoding = SimpleNamespace(encode=encode)
    module = SimpleNamespace(get_encoding=lambda name: encoding)
    monkeypatch.setitem(sys.modules, "tiktoken", module)


@pytest.mark.usefixtures("without_tiktoken")
def test_tools_are_sorted_by_their_tokens_and_belong_to_the_server_of_their_prefix() -> None:
    assert count_tokens(ENTRIES, ["git"]) == [
        TokenCount(tool="git.log", server="git", estimated=20),
        TokenCount(tool="git_hub_issue", server="git", estimated=17),
        TokenCount(tool="add", estimated=8),
    ]


@pytest.mark.usefixtures("without_tiktoken")
def test_table_of_servers_is_shown_for_several(capsys: pytest.CaptureFixture[str]) -> None:
    print_report(format_counts(count_tokens(ENTRIES, ["git"])))

    assert capsys.readouterr().out.splitlines() == [
        "tool           tokens",
        "git.log        20",
        "git_hub_issue  17",
        "add            8",
        "",
        "server       tokens",
        "git          37",
        "this server  8",
        "",
        "3 tools: about 45 tokens.",
    ]
    assert "server" not in format_counts(count_tokens(ENTRIES, []))


@pytest.mark.usefixtures("with_tiktoken")
def test_exact_counts_have_a_column_next_to_the_estimates(
    capsys: pytest.CaptureFixture[str],
) -> None:
    counts = count_tokens(ENTRIES[:1], [])

    print_report(format_counts(counts))

    assert capsys.readouterr().out.splitlines() == [
        "tool  tokens  tiktoken",
        "add   8       3",
        "",
        "1 tool: about 8 tokens, 3 by tiktoken (o200k_base).",
    ]
    assert as_data(counts) == {
        "total": {"estimated": 8, "exact": 3},
        "servers": {"": {"estimated": 8, "exact": 3}},
        "tools": [TokenCount(tool="add", estimated=8, exact=3)],
    }


@pytest.mark.parametrize("error", [OSError("no network"), ImportError("broken")])
def test_vocabulary_that_cannot_be_read_leaves_the_estimates(
    monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def get_encoding(name: str) -> Any:
        raise error

    monkeypatch.setitem(sys.modules, "tiktoken", SimpleNamespace(get_encoding=get_encoding))

    assert count_tokens(ENTRIES[:1], []) == [TokenCount(tool="add", estimated=8)]


@pytest.mark.usefixtures("without_tiktoken")
def test_server_without_tools_takes_no_tokens() -> None:
    assert format_counts([]) == "The server has no tools."
    assert as_data([])["total"] == {"estimated": 0, "exact": None}


def test_prefixes_are_those_of_named_mounts() -> None:
    assert list_prefixes({"mount": ["git hub=x", "a-b=x y", "npx z"]}) == ["a-b"]
