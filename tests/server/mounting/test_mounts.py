"""Mounted servers: foreign processes whose tools, resources and prompts a server offers as its
own.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.server_process import request, running, wait_until
from toolwire import RequestError, Server
from toolwire.mounting import listed_entries, mount_lists
from toolwire.mounting import mount as mount_module
from toolwire.mounting import mounts as mounts_module
from toolwire_client import connect

pytestmark = pytest.mark.process

SCRIPT = Path(__file__).parents[2] / "support" / "foreign_server.py"
SERVE = ("-m", "toolwire", "serve")
ERAS: Any = ["legacy", "modern"]


def tool(name: str, **schema: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": {"type": "object", **schema}}


class Foreign:
    """A foreign server in *folder*, which lists *lists*."""

    def __init__(self, folder: Path, **lists: Any) -> None:
        folder.mkdir(exist_ok=True)
        self.folder = folder
        self.command = [sys.executable, str(SCRIPT), str(folder)]
        self.list(**lists)

    def list(self, **lists: Any) -> None:
        (self.folder / "new").write_text(json.dumps(lists), encoding="utf-8")
        (self.folder / "new").replace(self.folder / "lists.json")

    def received(self, method: str) -> list[Any]:
        """The params of the requests of *method* that it has received."""
        journal = self.folder / "journal"
        lines = journal.read_text("utf-8").splitlines() if journal.exists() else []
        return [
            each.get("params") for each in map(json.loads, lines) if each.get("method") == method
        ]


@pytest.fixture
def foreign(tmp_path: Path) -> Foreign:
    return Foreign(
        tmp_path / "foreign",
        tools=[tool(name) for name in ("echo", "die", "ask", "count", "log", "change")],
    )


@pytest.fixture
def server() -> Iterator[Server]:
    def own(a: int) -> int:
        return a

    with Server([own]) as made:
        yield made


def names(server: Server) -> list[str]:
    return [each["name"] for each in server.request("tools/list")["tools"]]


# Names


def test_the_names_of_a_mounted_server_have_its_prefix(server: Server, foreign: Foreign) -> None:
    server.mount(foreign.command, "there")

    assert names(server) == [
        "own",
        *(f"there_{name}" for name in ("echo", "die", "ask", "count", "log", "change")),
    ]


def test_a_mount_without_a_prefix_takes_no_name_that_is_taken_or_has_the_prefix_of_another(
    server: Server, foreign: Foreign, tmp_path: Path
) -> None:
    plain = Foreign(tmp_path / "plain", tools=[tool("own"), tool("there_echo"), tool("mine")])
    server.mount(plain.command)
    assert names(server) == ["own", "there_echo", "mine"]

    server.mount(foreign.command, "there")

    assert names(server)[:3] == ["own", "mine", "there_echo"]


@pytest.mark.parametrize("second", [None, "a", "a_b", "a b"])
def test_prefixes_of_which_two_servers_could_make_one_name_are_refused(
    server: Server, second: str | None
) -> None:
    server.mount(["first"], None if second is None else "a_b" if second == "a b" else "a")

    with pytest.raises(ValueError, match="the same name"):
        server.mount(["second"], second)


def test_a_command_in_one_text_is_refused_with_its_words(server: Server) -> None:
    with pytest.raises(TypeError, match=r"\['npx', 'a b'\]"):
        server.mount("npx 'a b'")  # type: ignore[arg-type]


# Start and lists


def test_a_server_is_started_when_it_is_needed_and_its_list_is_read_once(
    server: Server, foreign: Foreign, tmp_path: Path
) -> None:
    other = Foreign(tmp_path / "other", tools=[tool("echo")])
    server.mount(foreign.command, "there")
    server.mount(other.command, "other")
    server.request(
        "initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {}}
    )
    assert not foreign.received("initialize")

    assert server.call("there_echo")["unknown"] == [2]
    assert (len(foreign.received("initialize")), len(other.received("initialize"))) == (1, 0)

    names(server), names(server)
    assert [len(each.received("tools/list")) for each in (foreign, other)] == [1, 1]


def test_an_eager_server_is_started_at_once(server: Server, foreign: Foreign) -> None:
    server.mount(foreign.command, "there", eager=True)

    wait_until(lambda: bool(foreign.received("tools/list")))


def test_one_that_does_not_start_affects_no_other(
    server: Server, foreign: Foreign, capfd: pytest.CaptureFixture[str]
) -> None:
    server.mount([sys.executable, "-c", "import sys; sys.exit('no \\x1b[2J licence')"], "broken")
    server.mount(foreign.command, "there")

    assert names(server)[:2] == ["own", "there_echo"]
    with pytest.raises(
        RequestError, match=r"broken_tool: .* broken does not run: .* exit status 1;(.|\n)* licence"
    ):
        server.call("broken_tool")

    logged = capfd.readouterr().err
    assert "the mounted server broken does not start" in logged
    assert "exit status 1" in logged
    assert "\x1b" not in logged


def test_a_server_that_does_not_start_is_reported_once_for_all_lists(
    server: Server, capfd: pytest.CaptureFixture[str]
) -> None:
    server.mount([sys.executable, "-c", "import sys; sys.exit('no licence')"], "broken")

    for kind in ("tools", "prompts", "resources", "resources/templates"):
        server.request(f"{kind}/list")

    assert capfd.readouterr().err.count("broken does not start") == 1


def test_one_that_takes_long_to_start_does_not_hold_up_the_list_and_is_announced(
    server: Server, foreign: Foreign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mounts_module, "LIST_PATIENCE_SECONDS", 0.1)
    slow = Foreign(tmp_path / "slow", tools=[tool("echo")])
    (slow.folder / "wait").touch()
    server.mount(slow.command, "slow")
    with connect(server, era="legacy") as client:
        assert [each.name for each in client.list_tools()] == ["own"]
        (slow.folder / "go").touch()
        wait_until(lambda: len(client.list_tools()) == 2)
        assert client.call_tool("slow_echo", {"a": 1}).structured == {"given": {"a": 1}}


def test_ten_servers_start_together_so_that_a_list_waits_for_the_slowest_only(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mounts_module, "LIST_PATIENCE_SECONDS", 0.1)
    mounted = []
    for number in range(10):
        foreign = Foreign(tmp_path / f"server{number}", tools=[tool("echo")])
        (foreign.folder / "wait").touch()
        server.mount(foreign.command, f"server{number}")
        mounted.append(foreign)

    assert names(server) == ["own"]
    # None of them has answered its handshake, and each has received it.
    wait_until(lambda: all(foreign.received("initialize") for foreign in mounted))
    for foreign in mounted:
        (foreign.folder / "go").touch()
    wait_until(lambda: len(names(server)) == 11)


@pytest.mark.parametrize("era", ERAS)
def test_changes_of_all_lists_are_forwarded(server: Server, foreign: Foreign, era: Any) -> None:
    server.mount(foreign.command, "there")
    with connect(server, era=era) as client:
        assert "there_new" not in [each.name for each in client.list_tools()]
        foreign.list(
            tools=[tool("new"), tool("change")],
            resources=[{"uri": "x://y", "name": "y"}],
            prompts=[{"name": "p"}],
        )
        client.call_tool("there_change")
        wait_until(
            lambda: (
                [each.name for each in client.list_tools()] == ["own", "there_new", "there_change"]
            )
        )


@pytest.mark.parametrize("params", ["tools", "resources", "prompts"])
def test_a_host_is_notified_of_each_list(server: Server, foreign: Foreign, params: str) -> None:
    foreign.list(tools=[tool("change")], resources=[], prompts=[])
    server.mount(foreign.command, "there")
    sent: list[bytes] = []
    session = server.open_session(sent.append)
    initialize = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    session.feed(
        json.dumps(
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize}
        ).encode()
        + b"\n"
    )
    for id, what in enumerate(("tools", "resources", "prompts"), 10):
        session.feed(b'{"jsonrpc":"2.0","id":%d,"method":"%s/list"}\n' % (id, what.encode()))
        wait_until(lambda id=id: any(b'"id":%d' % id in each for each in sent))
    assert not any(b"list_changed" in each for each in sent)
    sent.clear()
    new: dict[str, Any] = {
        "tools": [tool("change"), tool("n")],
        "resources": [{"uri": "x://y", "name": "y"}],
    }
    old: dict[str, Any] = {"tools": [tool("change")], "resources": [], "prompts": []}
    foreign.list(**{**old, params: {**new, "prompts": [{"name": "p"}]}[params]})

    session.feed(
        b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"there_change"}}\n'
    )

    wait_until(lambda: any(b"list_changed" in each for each in sent))
    found = {
        json.loads(line)["method"]
        for each in sent
        for line in each.splitlines()
        if b"list_changed" in line
    }
    session.end()
    assert found == {f"notifications/{params}/list_changed"}


def test_a_tool_that_a_call_has_added_can_be_called_at_once(
    server: Server, foreign: Foreign
) -> None:
    server.mount(foreign.command, "there")
    names(server)
    foreign.list(tools=[tool("new")])

    server.call("there_change")

    assert server.call("there_new")["unknown"] == [2]


def test_malformed_entries_are_left_out_and_the_others_stay_as_they_are(
    server: Server, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    odd = {
        **tool("odd", properties={"a": {"type": "string", "x-odd": [1]}}),
        "description": "<b>\x1b</b>",
        "x": 1,
    }
    wrong: list[Any] = [
        7,
        {"inputSchema": {"type": "object"}},
        {"name": "", "inputSchema": {"type": "object"}},
        {"name": "untyped", "inputSchema": {}},
        {"name": "array", "inputSchema": {"type": "array"}},
        {**tool("hints"), "annotations": {"readOnlyHint": "yes"}},
        {**tool("icons"), "icons": [3]},
        {**tool("odd")},
        {**tool("large"), "description": "x" * 5_000_000},
    ]
    foreign = Foreign(tmp_path / "odd", tools=[odd, *wrong, {**tool("null"), "title": None}])
    server.mount(foreign.command, "t")

    entries = server.request("tools/list")["tools"][1:]

    assert entries == [{**odd, "name": "t_odd"}, tool("t_null")]
    assert "is left out" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        (
            {"code": -32603, "message": "no \x1b[2J database"},
            r"no \u001b[2J database (error -32603)",
        ),
        ({"code": -32601, "message": "no such method"}, "no such method (error -32601)"),
        ("echo", "the server's list of prompts is not a list"),
    ],
    ids=["error", "declared-but-unknown", "malformed"],
)
def test_a_list_that_cannot_be_read_is_a_warning_with_its_reason(
    server: Server, foreign: Foreign, capfd: pytest.CaptureFixture[str], entries: Any, reason: str
) -> None:
    foreign.list(tools=[tool("echo")], prompts=entries)
    server.mount(foreign.command, "there")

    assert names(server) == ["own", "there_echo"]

    warning = (
        "warning: the list of prompts of the mounted server there cannot be read, and is left out:"
        f" {reason}"
    )
    assert warning in capfd.readouterr().err


def test_a_server_without_tools_that_knows_no_list_of_them_is_no_warning(
    server: Server, foreign: Foreign, capfd: pytest.CaptureFixture[str]
) -> None:
    foreign.list(prompts=[{"name": "greet"}])
    (foreign.folder / "without").write_text("tools/list", encoding="utf-8")
    server.mount(foreign.command, "there")

    assert [each["name"] for each in server.request("prompts/list")["prompts"]] == ["there_greet"]
    assert "cannot be read" not in capfd.readouterr().err


def test_what_a_mounted_server_writes_to_stderr_names_it_and_is_escaped(
    server: Server, capfd: pytest.CaptureFixture[str]
) -> None:
    server.mount([sys.executable, "-c", "import sys; sys.exit('no \x1b[2J licence')"], "broken")

    server.request("tools/list")

    assert "broken: no \\u001b[2J licence\n" in capfd.readouterr().err


def test_a_list_without_an_end_is_cut(
    server: Server, foreign: Foreign, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listed_entries, "MAX_LIST_BYTES", 160)
    foreign.list(tools=[tool(f"t{number}") for number in range(10)])
    server.mount(foreign.command, "there")

    assert names(server) == ["own", "there_t0", "there_t1", "there_t2"]


# Calls


def test_results_pass_as_they_came(server: Server, foreign: Foreign) -> None:
    server.mount(foreign.command, "there")

    result = server.call("there_echo", {"a": [1]})

    assert result == {
        "content": [{"type": "text", "text": '{"a": [1]}'}],
        "structuredContent": {"given": {"a": [1]}},
        "_meta": {"their": 1},
        "unknown": [2],
    }


@pytest.mark.parametrize(
    ("sent", "received"),
    [
        ({"n": "5", "s": "5"}, {"n": 5, "s": "5"}),
        ({"n": 5, "o": None}, {"n": 5}),
        ({"n": "[1]"}, {"n": "[1]"}),
        ({"n": 5, "more": {"a": "1"}}, {"n": 5, "more": {"a": "1"}}),
    ],
)
def test_arguments_are_read_losslessly_or_go_as_sent(
    server: Server, foreign: Foreign, sent: dict[str, Any], received: dict[str, Any]
) -> None:
    properties = {"n": {"type": "integer"}, "s": {"type": "string"}, "o": {"type": "integer"}}
    foreign.list(tools=[tool("typed", properties=properties)])
    server.mount(foreign.command, "there")

    assert server.call("there_typed", sent)["structuredContent"]["given"] == received
    assert foreign.received("tools/call")[-1]["arguments"] == received


def test_strict_arguments_go_as_sent(foreign: Foreign) -> None:
    foreign.list(tools=[tool("typed", properties={"n": {"type": "integer"}})])
    with Server([], strict_arguments=True) as server:
        server.mount(foreign.command, "there")

        assert server.call("there_typed", {"n": "5"})["structuredContent"]["given"] == {"n": "5"}


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": 3}},
        {"$ref": "http://x/y"},
        {"properties": {"a": {"pattern": "(a+)+$"}}},
    ],
)
def test_a_schema_that_cannot_be_judged_stops_no_call(
    server: Server, foreign: Foreign, schema: Any
) -> None:
    foreign.list(tools=[tool("odd", **schema)])
    server.mount(foreign.command, "there")

    given = {"a": "a" * 40 + "!", "b": [None]}
    assert server.call("there_odd", given)["structuredContent"]["given"] == given


def test_an_error_of_the_other_server_is_the_answer(server: Server, foreign: Foreign) -> None:
    foreign.list(tools=[tool("fail"), tool("malformed")])
    server.mount(foreign.command, "there")

    with pytest.raises(RequestError) as raised:
        server.call("there_fail")
    assert (raised.value.code, raised.value.message, raised.value.data) == (
        -32099,
        "no luck",
        {"why": [1]},
    )
    assert "content" in server.call("there_malformed")["content"][0]["text"]


def test_one_that_dies_fails_its_own_calls_and_is_restarted(
    server: Server, foreign: Foreign, tmp_path: Path
) -> None:
    other = Foreign(tmp_path / "other", tools=[tool("hang"), tool("echo")])
    server.mount(foreign.command, "there")
    server.mount(other.command, "other")
    assert len(names(server)) == 9

    result = server.call("there_die")

    assert result["isError"]
    assert "exit status 3; the end of its stderr:\nthe disk is full" in result["content"][0]["text"]
    assert server.call("other_echo")["unknown"] == [2]
    assert len(other.received("initialize")) == 1
    assert len(names(server)) == 9
    assert server.call("there_echo")["unknown"] == [2]
    assert len(foreign.received("initialize")) == 2


def test_one_that_dies_again_and_again_rests_before_it_is_restarted(
    server: Server, foreign: Foreign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mount_module, "_PATIENCE_SECONDS", 0.1)
    monkeypatch.setattr("toolwire_client.async_client.FIRST_PAUSE_SECONDS", 60.0)
    server.mount(foreign.command, "there")

    texts = [server.call("there_die")["content"][0]["text"] for _ in range(4)]

    assert "does not run: the server ended with exit status 3" in texts[-1]
    assert len(foreign.received("initialize")) < 4


@pytest.mark.parametrize("era", ERAS)
def test_progress_questions_and_logs_reach_a_host_of_either_era(
    server: Server, foreign: Foreign, era: Any
) -> None:
    server.mount(foreign.command, "there")
    entries: list[Any] = []
    seen: list[Any] = []
    with connect(
        server, era=era, on_ask=lambda _: {"name": "Ada"}, on_log=entries.append
    ) as client:
        client.call_tool("there_count", on_progress=lambda *each: seen.append(each))
        assert seen == [(1, 2, None)]
        asked = client.call_tool("there_ask").structured["given"]
        assert asked == {"action": "accept", "content": {"name": "Ada"}}
        client.call_tool("there_log")
        wait_until(lambda: bool(entries))
    assert [(each.level, each.data, each.logger) for each in entries] == [
        ("warning", {"a": 1}, "them")
    ]


@pytest.mark.parametrize("era", ERAS)
def test_a_cancelled_call_is_cancelled_there(server: Server, foreign: Foreign, era: Any) -> None:
    foreign.list(tools=[tool("hang"), tool("echo")])
    server.mount(foreign.command, "there")
    with connect(server, era=era) as client:
        call = client.start("there_hang")
        wait_until(lambda: bool(foreign.received("tools/call")))
        call.cancel()
        wait_until(lambda: bool(foreign.received("notifications/cancelled")))
        assert client.call_tool("there_echo", {"a": 1}).structured == {"given": {"a": 1}}


def test_the_time_limit_holds_for_mounted_tools_but_not_for_the_start(foreign: Foreign) -> None:
    foreign.list(tools=[tool("hang")])
    (foreign.folder / "wait").touch()
    with Server([], timeout_seconds=0.2) as server:
        server.mount(foreign.command, "there")
        releasing = threading.Timer(0.5, (foreign.folder / "go").touch)
        releasing.start()

        result = server.call("there_hang")

        assert "did not finish within 0.2 seconds" in result["content"][0]["text"]
        wait_until(lambda: bool(foreign.received("notifications/cancelled")))
        releasing.join()


def test_a_call_that_is_cancelled_while_its_server_starts_waits_no_longer(
    server: Server, foreign: Foreign
) -> None:
    (foreign.folder / "wait").touch()
    server.mount(foreign.command, "there")
    with connect(server, era="legacy") as client:
        call = client.start("there_echo")
        wait_until(lambda: bool(foreign.received("initialize")))
        call.cancel()
        session = server._sessions[-1]
        wait_until(lambda: not session.in_flight.list_running())
        (foreign.folder / "go").touch()
        assert client.call_tool("there_echo").raw["unknown"] == [2]
        assert len(foreign.received("tools/call")) == 1


def test_a_flood_of_changes_is_read_once_in_a_while(
    server: Server, foreign: Foreign, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mount_lists, "_CHANGE_SECONDS", 3600.0)
    foreign.list(tools=[tool("flood")])
    server.mount(foreign.command, "there")
    names(server)

    server.call("there_flood", {"count": 5000})

    assert server.call("there_flood", {"count": 0})["unknown"] == [2]
    wait_until(lambda: len(foreign.received("tools/list")) == 2)


class Host:
    """A legacy host that wants all log messages, and reads nothing until `reads` is set."""

    def __init__(self, server: Server) -> None:
        self.reads = threading.Event()
        self.received: list[dict[str, Any]] = []
        self.session = server.open_session(self._take)

    def _take(self, data: bytes) -> None:
        self.reads.wait()
        self.received += map(json.loads, data.splitlines())

    def send(self, method: str, params: Any, id: int) -> None:
        self.session.feed(json.dumps(request(method, params, id)).encode() + b"\n")

    def has_answer(self, id: int) -> bool:
        return any(each.get("id") == id for each in self.received)


def test_log_messages_of_no_call_reach_the_host_and_are_dropped_while_it_does_not_read(
    server: Server, foreign: Foreign
) -> None:
    foreign.list(tools=[tool("later")])
    server.mount(foreign.command, "there")
    host = Host(server)
    host.reads.set()
    greeting = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    }
    host.send("initialize", greeting, 1)
    host.send("logging/setLevel", {"level": "debug"}, 2)
    host.send("tools/call", {"name": "there_later", "arguments": {"count": 20}}, 3)
    wait_until(lambda: any(each.get("params", {}).get("data") == 19 for each in host.received))
    wait_until((foreign.folder / "sent").exists)
    host.received.clear()
    (foreign.folder / "sent").unlink()
    host.reads.clear()

    host.send("tools/call", {"name": "there_later", "arguments": {"count": 5000}}, 4)
    wait_until((foreign.folder / "sent").exists)  # all were read, though not by the host
    host.reads.set()

    host.send("ping", {}, 5)
    wait_until(lambda: host.has_answer(5) and host.has_answer(4))
    assert len(host.received) < 2000
    host.session.end()


def test_noise_on_the_output_is_logged_and_stops_nothing(
    server: Server, foreign: Foreign, capfd: pytest.CaptureFixture[str]
) -> None:
    foreign.list(tools=[tool("noise")])
    server.mount(foreign.command, "there")

    assert server.call("there_noise")["unknown"] == [2]

    logged = capfd.readouterr().err
    assert "that is no message: \\u001b[2Jnot a message" in logged
    assert "\x1b" not in logged


def test_a_large_result_is_cut_like_that_of_an_own_tool(foreign: Foreign) -> None:
    with Server([], max_result_bytes=4096, on_large_result="truncate", structured=False) as server:
        server.mount(foreign.command, "there")

        text = server.call("there_echo", {"a": "x" * 10_000})["content"][0]["text"]

        assert len(text) < 4096
        assert "of text shown" in text


# Resources and prompts


@pytest.fixture
def documents(tmp_path: Path) -> Foreign:
    return Foreign(
        tmp_path / "documents",
        tools=[],
        resources=[{"uri": "doc://one", "name": "one", "x": 1}],
        resourceTemplates=[{"uriTemplate": "doc://{name}/part", "name": "part"}],
        prompts=[{"name": "greet", "arguments": [{"name": "whom", "required": True}]}],
    )


@pytest.mark.parametrize("era", ERAS)
def test_resources_and_prompts_of_a_mounted_server_are_served(
    server: Server, documents: Foreign, era: Any
) -> None:
    server.mount(documents.command, "there")
    with connect(server, era=era) as client:
        assert client.read_resource("doc://one").text == "held"
        assert client.read_resource("doc://two/part").text == "held"
        assert [each.raw for each in client.list_resources()] == [
            {"uri": "doc://one", "name": "one", "x": 1}
        ]
        assert [each.uri_template for each in client.list_resource_templates()] == [
            "doc://{name}/part"
        ]
        assert [each.name for each in client.list_prompts()] == ["there_greet"]
        got = json.loads(client.get_prompt("there_greet", {"whom": "you"}).messages[0].text)
        assert (got["name"], got["arguments"]) == ("greet", {"whom": "you"})
        assert client.complete("there_greet", "whom", "y") == ["greet"]
        assert client.complete("doc://{name}/part", "name", "y") == ["doc://{name}/part"]


def test_a_uri_that_no_list_has_is_asked_for_where_its_scheme_is_listed(
    server: Server, documents: Foreign, tmp_path: Path
) -> None:
    other = Foreign(tmp_path / "other", resources=[{"uri": "note://one", "name": "one"}])
    server.mount(documents.command, "there")
    server.mount(other.command, "other")

    assert (
        server.request("resources/read", {"uri": "note://unlisted"})["contents"][0]["text"]
        == "held"
    )
    with pytest.raises(RequestError) as raised:
        server.request("resources/read", {"uri": "doc://missing"})

    assert raised.value.code == -32002
    assert [params["uri"] for params in other.received("resources/read")] == ["note://unlisted"]
    assert [params["uri"] for params in documents.received("resources/read")] == ["doc://missing"]


def test_of_two_servers_with_one_uri_the_first_is_read(
    server: Server, documents: Foreign, tmp_path: Path
) -> None:
    other = Foreign(tmp_path / "other", resources=[{"uri": "doc://one", "name": "another"}])
    server.mount(documents.command, "there")
    server.mount(other.command, "other")

    server.request("resources/read", {"uri": "doc://one"})

    assert (len(documents.received("resources/read")), len(other.received("resources/read"))) == (
        1,
        0,
    )
    assert [each["name"] for each in server.request("resources/list")["resources"]] == ["one"]


# The command line


def test_a_server_of_nothing_but_mounted_ones_is_served_and_ends_with_its_host(
    foreign: Foreign, tmp_path: Path
) -> None:
    config = tmp_path / "hosts.json"
    python, *rest = foreign.command
    config.write_text(
        json.dumps(
            {
                "mcpServers": {
                    "my files": {"command": python, "args": rest},
                    "web": {"type": "sse", "url": "https://x"},
                }
            }
        ),
        "utf-8",
    )
    with running(*SERVE, "--mount-config", str(config), "--exclude", "*die", "--eager") as process:
        listed = process.ask(request("tools/list"))["result"]["tools"]
        process.hang_up()
        assert process.wait() == 0
        logged = process.stderr()

    assert [each["name"] for each in listed] == [
        f"my_files_{name}" for name in ("echo", "ask", "count", "log", "change")
    ]
    assert "server 'web': its transport 'sse' is not used; only Streamable HTTP is" in logged


def test_a_config_that_names_itself_ends(tmp_path: Path) -> None:
    config = tmp_path / "hosts.json"
    words = ["-m", "toolwire", "serve", "--mount-config", str(config)]
    config.write_text(
        json.dumps({"mcpServers": {"me": {"command": sys.executable, "args": words}}}), "utf-8"
    )

    with running(*SERVE, "--mount-config", str(config)) as process:
        listed = process.ask(request("tools/list"))["result"]["tools"]
        process.hang_up()
        assert "does a config file mount itself?" in process.stderr()

    assert listed == []


def test_mounted_processes_end_with_a_server_that_is_killed(foreign: Foreign) -> None:
    program = (
        f"import os, runpy, sys; open({str(foreign.folder / 'pid')!r},"
        " 'w').write(str(os.getpid())); "
    )
    program += f"sys.argv[1:] = [{str(foreign.folder)!r}]; runpy.run_path({str(SCRIPT)!r})"
    with running(
        *SERVE, "--mount", f"there={shlex.join([sys.executable, '-c', program])}", "--eager"
    ) as process:
        process.ask(request("tools/list"))
        pid = int((foreign.folder / "pid").read_text())
        process.popen.kill()
        process.wait()
        wait_until(lambda: not Path(f"/proc/{pid}").exists())


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--mount", "a="], "has no command"),
        (["--mount", "a='x"], "no closing quotation"),
        (["--mount-config", "nowhere.json"], "nowhere.json"),
        (["--eager"], "name what to serve"),
        (["--mount", "a=x", "--mount", "a=y"], "the same name"),
    ],
)
def test_a_wrong_mount_is_refused(tmp_path: Path, words: list[str], problem: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "toolwire", "serve", *words],
        cwd=tmp_path,
        input="",
        capture_output=True,
        encoding="utf-8",
        check=False,
    )

    assert done.returncode == 2
    assert problem in done.stderr
