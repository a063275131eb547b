"""Wrapped servers: each fix on and off, and everything else byte for byte."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.running_processes import is_running
from support.server_process import MODERN, Process, call, request, running, wait_until

pytestmark = pytest.mark.process

STRANGE = Path(__file__).parents[2] / "support" / "strange_server.py"
HOST = {"roots": {}, "sampling": {"context": {}}, "elicitation": {}}


def initialize(version: str = "2025-11-25", capabilities: Any = HOST) -> dict[str, Any]:
    info = {"name": "host", "version": "3"}
    return request(
        "initialize",
        {"protocolVersion": version, "capabilities": capabilities, "clientInfo": info},
        id=0,
    )


@contextmanager
def wrapped(
    *options: str, server: Any = (sys.executable, str(STRANGE)), **more: Any
) -> Iterator[Process]:
    """The strange server, wrapped, before any message."""
    with running("-m", "toolwire", "wrap", *options, "--", *server, **more) as process:
        yield process


@contextmanager
def opened(*options: str, capabilities: Any = None) -> Iterator[Process]:
    """The strange server, wrapped, after the handshake with a legacy host of these capabilities."""
    with wrapped(*options) as process:
        process.ask(initialize(capabilities=capabilities or {}))
        process.send(request("notifications/initialized", id=...))
        assert process.receive()["method"] == "notifications/custom"
        yield process


def text(answer: Any) -> str:
    (block,) = answer["result"]["content"]
    found: str = block["text"]
    return found


def summary(process: Process) -> str:
    process.hang_up()
    return process.stderr().splitlines()[-1]


# --- what the host sees of the server, and the server of the host ---


def test_the_host_sees_the_identity_instructions_and_capabilities_of_the_server() -> None:
    with wrapped() as process:
        result = process.ask(initialize())["result"]
        assert result["serverInfo"] == {"name": "strange", "version": "7", "title": "Strange"}
        assert result["capabilities"]["sampling-like"] == {"x": 1}
        assert result["capabilities"]["resources"] == {"subscribe": True, "listChanged": True}
        host = json.loads(result["instructions"].removeprefix("You are "))
        assert host["capabilities"] == HOST
        assert host["clientInfo"] == {"name": "host", "version": "3"}


def test_the_server_sees_a_host_that_pings_before_its_handshake() -> None:
    with wrapped() as process:
        assert process.ask(request("ping", id=7))["result"] == {}
        result = process.ask(initialize())["result"]
        host = json.loads(result["instructions"].removeprefix("You are "))
        assert host["capabilities"] == HOST


def test_requests_of_the_server_that_only_the_host_understands_pass_both_ways_byte_for_byte() -> (
    None
):
    with wrapped() as process:
        process.ask(initialize())
        process.send(request("notifications/initialized", id=...))
        assert (
            process.receive_line()
            == b'{"jsonrpc": "2.0", "method": "notifications/custom", "params": {"big":'
            b" 12345678901234567890123}}"
        )
        assert (
            process.receive_line() == b'{"jsonrpc": "2.0", "id": "roots", "method": "roots/list"}'
        )
        process.send(b'{"id":"roots",  "result":{"roots":[]},"jsonrpc":"2.0"}\n')
        process.send(call("sample", {}, id=5))
        asked = process.receive_line()
        assert asked is not None
        assert b'"x": 1.5}' in asked
        assert json.loads(asked)["id"] == 7
        answer = {"jsonrpc": "2.0", "id": 7, "result": {"role": "assistant", "content": [1e2]}}
        assert json.loads(text(process.ask(answer))) == answer
        seen = process.ask(request("custom/seen", id="s"))["result"]["seen"]
        assert {"id": "roots", "result": {"roots": []}, "jsonrpc": "2.0"} in seen


def test_methods_that_only_the_server_understands_pass_both_ways_byte_for_byte() -> None:
    with opened() as process:
        sent = b'{"params": {"a":1.0, "b":[ ]}, "method":"custom/echo","id":99,"jsonrpc":"2.0"}\n'
        process.send(sent)
        line = process.receive_line()
        assert line is not None
        assert line.startswith(b'{"id": 99,   "jsonrpc":"2.0", "result": ')
        assert json.loads(line)["result"] == json.loads(sent)
        process.send(
            request("notifications/progress", {"progressToken": "t", "progress": 1}, id=...)
        )
        process.send(request("custom/unknown", id="u"))
        assert process.receive()["error"]["message"] == "no method custom/unknown"
        seen = process.ask(request("custom/seen", id="s"))["result"]["seen"]
        assert [message["method"] for message in seen] == ["notifications/progress"]


def test_ids_of_the_host_and_of_this_server_do_not_collide() -> None:
    """Both count from 1: a custom request in between must not get the answer to a call."""
    with opened() as process:
        for id in range(1, 20):
            assert json.loads(text(process.ask(call("echo", {"n": id}, id=id))))["arguments"] == {
                "n": id
            }
            assert process.ask(request("custom/echo", {"n": id}, id=id))["result"]["params"] == {
                "n": id
            }


def test_a_modern_host_gets_no_requests_and_the_server_an_error() -> None:
    with wrapped() as process:
        process.send(call("sample", {}, **MODERN))
        assert process.receive()["method"] == "notifications/custom"
        answer = process.receive()
        assert json.loads(text(answer))["error"]["code"] == -32601


# --- what wrapping fixes, on and off ---


def test_noise_goes_to_stderr_or_stays() -> None:
    with opened() as process:
        assert "echo" not in text(process.ask(call("noise", {})))
        assert "1 line of its output moved to stderr" in summary(process)
        assert r"Server is \u001b[2J ready" in process.stderr()
    with opened("--without", "noise") as process:
        process.send(call("noise", {}))
        lines = {process.receive_line(), process.receive_line()}
        assert b"Server is \x1b[2J ready" in lines


def test_names_are_what_the_host_takes_and_lead_back() -> None:
    with opened() as process:
        tools = process.ask(request("tools/list"))["result"]["tools"]
        assert tools[0]["name"] == "shop_add_item"
        assert list(tools[0]["inputSchema"]["properties"]) == ["filter_id_"]
        sent = json.loads(text(process.ask(call("shop_add_item", {"filter_id_": 3}))))
        assert (sent["name"], sent["arguments"]) == ("shop.add item", {"filter[id]": 3})
        assert "1 tool renamed" in summary(process)
    with opened("--without", "names") as process:
        assert process.ask(request("tools/list"))["result"]["tools"][0]["name"] == "shop.add item"


def test_schemas_are_what_the_host_takes() -> None:
    with opened() as process:
        tools = {
            tool["name"]: tool for tool in process.ask(request("tools/list"))["result"]["tools"]
        }
        assert tools["untitled"] == {
            "name": "untitled",
            "inputSchema": {"type": "object", "properties": {"a": {}}},
        }
        assert tools["wrong"]["inputSchema"] == {"type": "object"}
        assert tools["either"]["inputSchema"] == {
            "type": "object",
            "properties": {
                "a": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                "b": {"type": "array", "items": {}},
            },
        }
        assert "4 tools with rewritten schemas" in summary(process)
    with opened("--without", "schemas") as process:
        tools = {
            tool["name"]: tool for tool in process.ask(request("tools/list"))["result"]["tools"]
        }
        assert "oneOf" in tools["either"]["inputSchema"]


def test_arguments_are_read_or_stay() -> None:
    with opened() as process:
        assert json.loads(text(process.ask(call("echo", {"n": "5"}))))["arguments"] == {"n": 5}
        assert json.loads(text(process.ask(call("echo", {"n": "x"}))))["arguments"] == {"n": "x"}
        assert "1 call with corrected arguments" in summary(process)
    with opened("--without", "arguments") as process:
        assert json.loads(text(process.ask(call("echo", {"n": "5"}))))["arguments"] == {"n": "5"}


def test_a_silent_call_reports_progress(tmp_path: Path) -> None:
    with opened("--limit", "heartbeat_seconds=0.05") as process:
        process.send(call("silent", {"until": str(tmp_path / "go")}, progressToken="t"))
        assert process.receive()["params"]["progressToken"] == "t"
        (tmp_path / "go").touch()
        while process.receive().get("id") != 1:
            pass
        assert re.search(r"\b[1-9]\d* heartbeats? sent", summary(process))
    with opened("--limit", "heartbeat_seconds=0.05", "--without", "heartbeat") as process:
        process.send(call("silent", {"until": str(tmp_path / "go2")}, progressToken="t"))
        for id in range(2, 12):
            process.ask(request("ping", id=id))
        (tmp_path / "go2").touch()
        assert process.receive()["id"] == 1


def test_large_results_become_links_or_stay() -> None:
    with opened("--limit", "max_result_bytes=10000") as process:
        answer = process.ask(call("large", {"n": 50_000}))["result"]["content"]
        assert [block["type"] for block in answer[:2]] == ["text", "resource_link"]
        read = process.ask(request("resources/read", {"uri": answer[1]["uri"]}))
        assert read["result"]["contents"][0]["text"].startswith("xxx")
        assert "1 result made smaller" in summary(process)
    with opened("--limit", "max_result_bytes=10000", "--without", "results") as process:
        assert len(text(process.ask(call("large", {"n": 50_000})))) == 50_000


def test_messages_of_both_sides_are_limited_and_the_next_ones_pass() -> None:
    with opened("--limit", "max_message_bytes=20000") as process:
        beyond = process.ask(call("large", {"n": 50_000}))
        assert beyond["result"]["isError"]
        assert "bytes; the limit is 20000" in text(beyond)
        refused = process.ask(call("echo", {"n": "x" * 50_000}, id=2))
        assert refused["error"]["code"] == -32600
        within = process.ask(call("large", {"n": 10_000}, id=3))
        assert len(text(within)) == 10_000


@pytest.mark.skipif(
    sys.platform != "linux", reason="elsewhere, a process that leaves its group cannot be found"
)
def test_orphans_are_killed_or_left() -> None:
    with opened() as process:
        orphan = int(text(process.ask(call("orphan", {}))))
        process.hang_up()
        process.wait()
    wait_until(lambda: not is_running(orphan))
    with opened("--without", "orphans") as process:
        orphan = int(text(process.ask(call("orphan", {}))))
        process.hang_up()
        process.wait()
        assert is_running(orphan)
        os.kill(orphan, 9)


@pytest.mark.skipif(
    sys.platform != "linux", reason="elsewhere, nothing ends what a killed process has started"
)
def test_a_killed_wrapper_takes_the_server_with_it() -> None:
    with opened() as process:
        server, orphan = (int(text(process.ask(call(name, {})))) for name in ("pid", "orphan"))
        process.popen.kill()
        wait_until(lambda: not (is_running(server) or is_running(orphan)))


def test_a_server_that_crashes_fails_its_calls_and_is_started_again() -> None:
    with opened() as process:
        before = text(process.ask(call("pid", {})))
        crashed = process.ask(call("crash", {}))["result"]
        assert crashed["isError"] is True
        assert "exit status 3" in crashed["content"][0]["text"]
        assert "the end is near" in crashed["content"][0]["text"]
        process.send(call("pid", {}))
        after = next(
            text(message) for message in iter(process.receive, None) if message.get("id") == 1
        )
        assert after != before
        assert "1 restart" in summary(process)
    with opened("--without", "restart") as process:
        process.send(call("crash", {}))
        rest = []
        while (line := process.receive_line()) is not None:
            rest.append(json.loads(line))
        assert [message["id"] for message in rest] == [1]
        assert process.wait() == 0


def test_a_crash_answers_the_requests_that_only_the_server_understands() -> None:
    with opened() as process:
        answer = process.ask(request("custom/crash", id="c"))
        assert (answer["id"], answer["error"]["code"]) == ("c", -32603)
        assert "exit status 4" in answer["error"]["message"]
        process.send(request("custom/echo", id="e"))
        assert next(message for message in iter(process.receive, None) if message.get("id") == "e")[
            "result"
        ]


def test_a_modern_host_can_use_a_legacy_server_or_not() -> None:
    with wrapped() as process:
        process.send(request("server/discover", {"_meta": MODERN}))
        assert process.receive()["method"] == "notifications/custom"
        told = process.receive()["result"]
        assert "2026-07-28" in told["supportedVersions"]
        assert process.ask(call("echo", {"n": 1}, **MODERN))["result"]["resultType"] == "complete"
        assert "1 conversation between two eras of MCP" in summary(process)
    with wrapped("--without", "eras") as process:
        answer = process.ask(request("server/discover", {"_meta": MODERN}))
        assert (
            "The wrapped server does not run: no method server/discover"
            in answer["error"]["message"]
        )


MODERN_ONLY = """
import json, sys
RESULTS = {
    "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {}, "ttlMs": 0, "cacheScope": "private"},
    "tools/list": {"tools": [{"name": "a", "inputSchema": {"type": "object"}}], "ttlMs": 0, "cacheScope": "private"},
    "tools/call": {"content": [{"type": "text", "text": "new"}]},
}
META = {"io.modelcontextprotocol/serverInfo": {"name": "m", "version": "1"}}
for line in sys.stdin:
    request = json.loads(line)
    result = RESULTS.get(request["method"])
    error = {"error": {"code": -32601, "message": "no " + request["method"]}}
    answer = error if result is None else {"result": {"resultType": "complete", **result, "_meta": META}}
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}), flush=True)
"""  # noqa: E501


def test_a_legacy_host_can_use_a_modern_server_or_not() -> None:
    server = (sys.executable, "-c", MODERN_ONLY)
    with wrapped(server=server) as process:
        assert process.ask(initialize())["result"]["protocolVersion"] == "2025-11-25"
        assert text(process.ask(call("a", {}))) == "new"
        assert "1 conversation between two eras of MCP" in summary(process)
    with wrapped("--without", "eras", server=server) as process:
        assert "no initialize" in process.ask(initialize())["error"]["message"]


def test_hosts_may_frame_by_content_length_or_not() -> None:
    body = json.dumps(initialize()).encode()
    framed = b"Content-Length: %d\r\n\r\n%b" % (len(body), body)
    with wrapped() as process:
        process.send(framed)
        assert process.popen.stdout is not None
        assert process.popen.stdout.readline().startswith(b"Content-Length: ")
        process.popen.stdin.close()  # type: ignore[union-attr]
        assert "1 host with Content-Length framing" in process.stderr().splitlines()[-1]
    with wrapped("--without", "framing") as process:
        process.send(b"\n" + framed + b"\n")
        assert -32700 in [process.receive().get("error", {}).get("code") for _ in range(2)]


# --- what goes wrong ---


def test_a_command_that_cannot_be_run_is_an_error_for_the_host() -> None:
    with wrapped(server=("no-such-program",)) as process:
        answer = process.ask(initialize())
        assert "cannot start 'no-such-program'" in answer["error"]["message"]


def test_a_server_that_ends_at_once_is_an_error_with_its_last_words() -> None:
    script = "import sys; sys.exit('no key')"
    with wrapped(server=(sys.executable, "-c", script)) as process:
        answer = process.ask(initialize())
        assert "exit status 1" in answer["error"]["message"]
        assert "no key" in answer["error"]["message"]
        assert process.hang_up() == []


@pytest.mark.parametrize(
    "line", [b"{\n", b"[]\n", b"\xff\n", b'{"id": 1.5, "method": 3}\n', b'{"id":{}}\n', b"12\n"]
)
def test_malformed_messages_are_answered_as_by_any_server(line: bytes) -> None:
    with opened() as process:
        process.send(line, request("ping", id="after"))
        answers = [process.receive()]
        while answers[-1].get("id") != "after":
            answers.append(process.receive())
        assert [answer.get("id") for answer in answers] in (
            [None, "after"],
            [1, "after"],
            ["after"],
        )


def test_without_messages_nothing_is_started(tmp_path: Path) -> None:
    with wrapped(server=("mkdir", str(tmp_path / "started"))) as process:
        assert process.hang_up() == []
        assert process.wait() == 0
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize(
    ("server", "status", "outcome"),
    [
        ("no-such-program", 1, "no-such-program: it did not run, since there is no such program"),
        ("https://127.0.0.1:9/mcp", 0, "https://127.0.0.1:9/mcp: it did not run\n"),
    ],
)
def test_a_program_that_does_not_exist_is_named_also_without_messages(
    server: str, status: int, outcome: str
) -> None:
    with wrapped(server=(server,)) as process:
        assert process.hang_up() == []
        assert process.wait() == status
        assert outcome in process.stderr()


def test_mistakes_on_the_command_line_are_sentences() -> None:
    for words, says in (
        (["--for", "gemnini", "--", "x"], "gemini"),
        (["--without", "noises", "--", "x"], "--without takes one of noise, names"),
        (["x"], "name the server's command after `--`"),
        (["--lock", "missing.json", "--", "x"], "the lock missing.json cannot be read"),
        (["--record", "/", "--", "x"], "/ cannot be written"),
    ):
        with running("-m", "toolwire", "wrap", *words) as process:
            assert says in process.stderr()
            assert process.wait() == 2


# --- lock and record ---


def test_a_lock_refuses_what_has_changed_and_says_so(tmp_path: Path) -> None:
    tools, lock = tmp_path / "tools.py", tmp_path / "lock.json"
    tools.write_text(
        "def look(path: str) -> str:\n    return path\n\ndef keep() -> str:\n    return ''\n"
    )
    server = (sys.executable, "-m", "toolwire", "serve", str(tools))
    with running("-m", "toolwire", "lock", str(lock), "--", *server) as locking:
        assert locking.wait() == 0
    tools.write_text(
        'def look(path: str, bcc: str = "") -> str:\n    return path\n\ndef keep() -> str:\n   '
        " '''Keep it.'''\n    return ''\n\ndef new() -> str:\n    return ''\n"
    )
    with wrapped("--lock", str(lock), server=server) as process:
        process.ask(initialize())
        tools_now = process.ask(request("tools/list"))["result"]["tools"]
        assert [(tool["name"], tool.get("description")) for tool in tools_now] == [("keep", None)]
        refused = process.ask(call("look", {"path": "a"}))["result"]
        assert refused["isError"] is True
        assert "look is refused, since it is not what was approved" in refused["content"][0]["text"]
        assert "inputSchema.properties.bcc: (absent) ->" in refused["content"][0]["text"]
        process.hang_up()
        log = process.stderr()
        assert log.count("the tool look is refused: inputSchema.properties.bcc: (absent) ->") == 1
        assert "the tool new is refused: it is not in the lock" in log
        assert "the tool keep: the approved text is shown; the server changed description" in log


@pytest.mark.parametrize(
    ("texts", "shown", "instructions"),
    [
        ("approved", ["Keep it."], "First."),
        ("refuse", [], None),
        ("report", ["Obey me now."], "Obey."),
    ],
)
def test_texts_that_changed_after_approval(
    tmp_path: Path, texts: str, shown: list[str], instructions: str | None
) -> None:
    tools, lock = tmp_path / "tools.py", tmp_path / "lock.json"
    tools.write_text("def keep() -> str:\n    'Keep it.'\n    return ''\n")
    server = (sys.executable, "-m", "toolwire", "serve", str(tools), "--instructions")
    with running("-m", "toolwire", "lock", str(lock), "--", *server, "First.") as locking:
        assert locking.wait() == 0
    tools.write_text("def keep() -> str:\n    'Obey me now.'\n    return ''\n")
    with wrapped("--lock", str(lock), "--lock-texts", texts, server=(*server, "Obey.")) as process:
        told = process.ask(initialize())["result"].get("instructions")
        listed = process.ask(request("tools/list"))["result"]["tools"]
        assert ([tool["description"] for tool in listed], told) == (shown, instructions)
        process.hang_up()
        assert "nothing had to be done" not in process.stderr()


def test_a_prompt_and_a_resource_that_changed_cannot_be_used(tmp_path: Path) -> None:
    tools, lock = tmp_path / "tools.py", tmp_path / "lock.json"
    source = "from toolwire import prompt, resource\n@prompt\ndef review() -> str:\n    return ''\n"
    source += (
        "@resource('notes://all', media_type='text/plain')\ndef notes() -> str:\n    return ''\n"
    )
    tools.write_text(source)
    server = (sys.executable, "-m", "toolwire", "serve", str(tools))
    with running("-m", "toolwire", "lock", str(lock), "--", *server) as locking:
        assert locking.wait() == 0
    tools.write_text(
        source.replace("review()", "review(path: str)").replace("text/plain", "text/html")
    )
    with wrapped("--lock", str(lock), server=server) as process:
        process.ask(initialize())
        assert process.ask(request("prompts/list"))["result"]["prompts"] == []
        assert process.ask(request("resources/list"))["result"]["resources"] == []
        got = process.ask(request("prompts/get", {"name": "review", "arguments": {"path": "a"}}))
        assert "review is refused, since it is not what was approved" in got["error"]["message"]
        read = process.ask(request("resources/read", {"uri": "notes://all"}))
        assert (
            "notes://all is refused, since it is not what was approved" in read["error"]["message"]
        )


def test_the_traffic_is_recorded_and_can_be_replayed(tmp_path: Path) -> None:
    record = tmp_path / "record.jsonl"
    with opened("--record", str(record)) as process:
        seen = text(process.ask(call("echo", {"n": 4})))
        process.ask(call("noise", {}))
        process.hang_up()
        process.wait()
    kinds = [json.loads(line)["type"] for line in record.read_text().splitlines()]
    assert kinds.count("Started") >= 1
    assert "Noise" in kinds
    replay = (sys.executable, "-m", "toolwire", "replay", str(record))
    with wrapped(server=replay) as process:
        process.ask(initialize())
        assert text(process.ask(call("echo", {"n": 4}))) == seen


def test_a_lock_refuses_mounted_tools_that_have_changed(tmp_path: Path) -> None:
    tools, lock = tmp_path / "tools.py", str(tmp_path / "lock.json")
    tools.write_text(
        "def look(path: str) -> str:\n    return path\n\ndef keep() -> str:\n    return ''\n"
    )
    mount = ("--mount", f"x={sys.executable} -m toolwire serve {tools}")
    with running("-m", "toolwire", "lock", lock, *mount) as locking:
        assert locking.wait() == 0
    tools.write_text(
        tools.read_text().replace("path: str", "path:  int")
    )  # another size, so old bytecode does not fit
    with running("-m", "toolwire", "serve", *mount, "--lock", lock) as process:
        listed = process.ask(request("tools/list"))["result"]["tools"]
        assert [tool["name"] for tool in listed] == ["x_keep", "x_look"]
        process.send(call("x_look", {"path": 1}, id="look"))
        answer = process.receive()
        while answer.get("id") != "look":  # a change of the list comes first
            answer = process.receive()
        refused = answer["error"]["message"]
        listed = process.ask(request("tools/list"))["result"]["tools"]
        assert [tool["name"] for tool in listed] == ["x_keep"]
        assert "x_look is refused, since it is not what was approved" in refused
        assert "inputSchema.properties.path.type: string -> integer" in refused
        process.hang_up()
        assert process.stderr().count("x_look is refused") == 1


def test_log_messages_of_no_call_pass(tmp_path: Path) -> None:
    (tmp_path / "lists.json").write_text(
        json.dumps({"tools": [{"name": "later", "inputSchema": {"type": "object"}}]})
    )
    foreign = (sys.executable, str(STRANGE.with_name("foreign_server.py")), str(tmp_path))
    with wrapped(server=foreign) as process:
        process.ask(initialize())
        process.send(request("notifications/initialized", id=...))
        process.ask(request("logging/setLevel", {"level": "debug"}))
        process.send(call("later", {"count": 1}))
        received = [
            process.receive(),
            process.receive(),
        ]  # the response is written by another thread
        assert {"level": "error", "data": 0} in [each.get("params") for each in received]
        process.hang_up()
        assert "Traceback" not in process.stderr()
