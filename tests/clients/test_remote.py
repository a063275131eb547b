"""Remote servers as values, as words, and in host files."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from support.remote_server import RemoteStandIn
from toolwire_client import BadConfiguration, NotStarted, RemoteServer, connect, connect_config
from toolwire_client.remote import as_process, is_address, read_words

URL = "https://example.com/mcp"


@pytest.mark.parametrize(
    ("word", "expected"),
    [(URL, True), ("HTTP://x", True), ("https", False), ("npx", False), ("/https://x", False)],
)
def test_an_address_is_no_command(word: str, expected: bool) -> None:
    assert is_address(word) is expected


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"url": "ftp://x"}, "not an address"),
        ({"url": "https://"}, "not an address"),
        ({"url": "https://x:99999"}, "not an address"),
        ({"url": "https://x y/"}, "not an address"),
        ({"url": "https://x/\n"}, "not an address"),
        ({"url": "https://me:secret@x/"}, "the address of x holds a password"),
        ({"url": "http://x/", "bearer_token": "t"}, "not encrypted"),
        ({"url": "http://x/", "headers": {"X-Key": "t"}}, "not encrypted"),
        ({"url": URL, "headers": {"Content-Length": "1"}}, "set by the transport"),
        ({"url": URL, "headers": {"Mcp-Session-Id": "1"}}, "set by the transport"),
        ({"url": URL, "headers": {"X Key": "t"}}, "not the name of a header"),
        ({"url": URL, "headers": {"X-Key": "a\r\nHost: b"}}, "characters that HTTP forbids"),
        ({"url": URL, "bearer_token": "ü"}, "characters that HTTP forbids"),
    ],
)
def test_what_cannot_be_used_is_refused_at_once(arguments: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadConfiguration, match=problem):
        RemoteServer(**arguments)


@pytest.mark.parametrize("url", ["http://localhost:1/", "http://127.0.0.1:1/", "http://[::1]:1/"])
def test_credentials_may_travel_unencrypted_within_this_machine(url: str) -> None:
    assert RemoteServer(url, bearer_token="t").bearer_token == "t"


def test_a_token_is_not_shown() -> None:
    server = RemoteServer(URL, bearer_token="secret", headers={"X-Key": "secret"})

    assert "secret" not in repr(server)


def test_words_of_a_command_line_describe_a_remote_server() -> None:
    words = [URL, "--header", "X-Team: ${TEAM} one", "--bearer-env", "TOKEN", "--header", "A:b"]

    assert read_words(words, {"TEAM": "red", "TOKEN": "t"}) == RemoteServer(
        URL, "t", {"X-Team": "red one", "A": "b"}
    )


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--token", "x"], "after an address comes"),
        (["--bearer-env"], "needs a value"),
        (["--bearer-env", "NONE"], "NONE is not set"),
        (["--header", "X"], "takes 'NAME: VALUE'"),
        (["--header", "X: ${NONE}"], "NONE is not set"),
    ],
)
def test_wrong_words_are_refused(options: list[str], problem: str) -> None:
    with pytest.raises(BadConfiguration, match=problem):
        read_words([URL, *options], {})


def test_a_command_stays_and_an_address_becomes_a_process() -> None:
    assert as_process(["npx", URL]) == ["npx", URL]
    assert as_process([URL, "--bearer-env", "T"])[0] == sys.executable
    assert as_process([URL, "--bearer-env", "T"])[-3:] == [URL, "--bearer-env", "T"]


def test_words_that_begin_with_an_address_connect_there() -> None:
    with RemoteStandIn() as server:
        words = [server.url, "--header", "X-Team: ${TEAM}"]
        with connect(words, env={"TEAM": "red"}) as client:
            assert client.call_tool("add", {"a": 1}).text == "1"

        assert {each.headers["x-team"] for each in server.requests} == {"red"}


def test_a_missing_package_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)
    monkeypatch.delitem(sys.modules, "toolwire_client.transport.streamable_http", raising=False)

    with pytest.raises(NotStarted, match=r"httpx2; run: .*toolwire\[http\]"), connect(URL):
        pass


def test_oauth_names_the_package_that_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    server = RemoteServer(URL, oauth=True)

    with pytest.raises(NotStarted, match=r"mcp; run: .*toolwire\[oauth\]"):
        server.open(1000)


def test_a_token_and_oauth_exclude_each_other() -> None:
    with pytest.raises(BadConfiguration, match="exclude each other"):
        RemoteServer(URL, bearer_token="t", oauth=True)


# Host files


@pytest.mark.parametrize("member", ["url", "serverUrl", "httpUrl"])
def test_a_remote_server_of_a_host_file_is_connected(
    member: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEY", "secret")
    with RemoteStandIn() as server:
        entry = {"type": "http", member: server.url, "headers": {"X-Key": "${env:API_KEY}"}}
        file = tmp_path / "mcp.json"
        file.write_text(json.dumps({"mcpServers": {"far": entry}}), "utf-8")
        with connect_config(file) as clients:
            assert clients["far"].call_tool("add", {"a": 1}).text == "1"

        assert {each.headers["x-key"] for each in server.requests} == {"secret"}


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({"type": "sse", "url": URL}, "transport 'sse' is not used"),
        ({"type": "http"}, "url"),
        ({"url": "ftp://x"}, "not an address"),
        ({"url": "http://x/", "headers": {"A": "b"}}, "not encrypted"),
    ],
)
def test_a_remote_server_that_cannot_be_used_is_an_error_of_its_own(
    entry: dict[str, Any], problem: str
) -> None:
    pending = connect_config({"mcpServers": {"far": entry}})

    assert problem in str(pending.errors["far"])
