"""Recordings: what is kept of the traffic with a server, and a server that answers from it."""

from __future__ import annotations

import json
import os
import stat
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.server_process import MODERN, call, request, running
from support.tool_entry_strategies import JSON
from toolwire.wrapping.exchanges import read_exchanges
from toolwire.wrapping.recording import BadRecording, RecordedLine, Recorder, Recording, read
from toolwire.wrapping.replaying import Replay
from toolwire_client import Client, RequestFailed, connect
from toolwire_client.async_client import ClientSettings
from toolwire_client.connecting import PendingConnection
from toolwire_client.transport.child_process import ServerProcess
from toolwire_schemas.published import load_validator
from toolwire_schemas.wire.messages import LEGACY_VERSIONS

pytestmark = pytest.mark.process

TOOLS = '''
import os
import sys
from toolwire import Context, ToolError

counts = []

def add(a: int, b: int = 1, context: Context = None) -> int:
    """Add."""
    context.progress(1, 2, "half")
    context.progress(2, 2)
    return a + b

def count() -> int:
    """Count the calls."""
    counts.append(1)
    return len(counts)

def name(context: Context) -> str:
    """Ask for a name."""
    return "Hello " + context.ask("Who?", str)

def login(password: str) -> str:
    """Log in."""
    return "Authorization: Bearer abcdefghijkl"

def fail() -> str:
    """Fail."""
    raise ToolError("no")

def crash() -> str:
    """End the process."""
    sys.stderr.write("the end is near\\n")
    os._exit(3)
'''


def recorded(folder: Path, era: Any, scenario: Any, **settings: Any) -> Path:
    """The recording of what *scenario* does with a client of the tools."""
    (folder / "tools.py").write_text(TOOLS)
    command = [sys.executable, "-m", "toolwire", "serve", str(folder / "tools.py")]
    recording = Recording(str(folder / "record.jsonl"))

    def launch() -> Recorder:
        return Recorder(ServerProcess(command, env=dict(os.environ)), recording, command)

    with PendingConnection(ClientSettings(launch=launch, era=era, **settings)) as client:
        scenario(client)
    recording.close()
    return folder / "record.jsonl"


def outcomes(client: Client) -> list[Any]:
    """What a client sees of the tools."""
    progress: list[Any] = []
    report = lambda *reported: progress.append(reported)  # noqa: E731
    results = [
        client.call_tool("add", {"a": 1}, on_progress=report),
        client.call_tool("add", {"a": 40, "b": 2}),
        *(client.call_tool("count") for _ in range(3)),
        client.call_tool("name"),
        client.call_tool("fail"),
        client.call_tool("add", {"a": "x"}),
    ]
    names = [tool.name for tool in client.list_tools()]
    with pytest.raises(RequestFailed) as error:
        client.call_tool("none")
    return [
        names,
        [(result.text, result.is_error) for result in results],
        progress,
        error.value.code,
        str(error.value),
    ]


def replaying(path: Path, *options: str, **settings: Any) -> Any:
    command = [sys.executable, "-m", "toolwire", "replay", str(path), *options]
    return connect(command, inherit_env=True, **settings)


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("options", [(), ("--strict",)])
def test_a_replay_answers_as_the_server_did(
    tmp_path: Path, era: Any, options: tuple[str, ...]
) -> None:
    seen: list[Any] = []
    path = recorded(
        tmp_path,
        era,
        lambda client: seen.extend(outcomes(client)),
        on_ask=lambda _: {"answer": "Ada"},
    )
    with replaying(path, *options, era=era, on_ask=lambda _: {"answer": "Ada"}) as client:
        assert outcomes(client) == seen
    assert seen[1][0] == ("2", False)
    assert seen[1][5] == ("Hello Ada", False)


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("replayed_era", ["legacy", "modern"])
def test_a_strict_replay_accepts_the_conversation_of_a_wrapped_host_in_either_era(
    tmp_path: Path, era: Any, replayed_era: Any
) -> None:
    (tmp_path / "tools.py").write_text(TOOLS)
    path = tmp_path / "record.jsonl"
    toolwire = [sys.executable, "-m", "toolwire"]
    server = [*toolwire, "serve", str(tmp_path / "tools.py")]
    command = [*toolwire, "wrap", "--record", str(path), "--", *server]
    answers: Any = {"inherit_env": True, "on_ask": lambda _: {"answer": "Ada"}}
    with connect(command, era=era, **answers) as client:
        seen = outcomes(client)

    with replaying(path, "--strict", era=replayed_era, on_ask=answers["on_ask"]) as client:
        repeated = outcomes(client)

    # The wrap has answered the call of an unknown tool, with another text.
    assert repeated[:-1] == seen[:-1]
    assert repeated[-1].startswith("Unknown tool: none")
    assert seen[1][5] == ("Hello Ada", False)


@pytest.mark.parametrize("version", LEGACY_VERSIONS)
def test_a_replay_speaks_the_revision_that_the_host_asks_for(version: str) -> None:
    answer = {"id": 1, "result": {"protocolVersion": "2025-06-18", "capabilities": {"x": {}}}}
    replay = replay_of(
        ("client", request("initialize", {"protocolVersion": "2025-06-18"})), ("server", answer)
    )
    asked = request("initialize", {"protocolVersion": version}, id=7)
    (answer,) = map(json.loads, replay.receive(json.dumps(asked).encode()))
    assert answer["id"] == 7
    assert answer["result"]["protocolVersion"] == version
    assert answer["result"]["capabilities"] == {"x": {}}


def test_concurrent_requests_may_come_in_another_order_than_the_recorded_one() -> None:
    first, second, third = (request("tools/call", {"name": str(n)}, id=n) for n in (1, 2, 3))
    replay = replay_of(
        ("client", first),
        ("client", second),
        ("server", {"id": 2, "result": {}}),
        ("server", {"id": 1, "result": {}}),
        ("client", third),
        ("server", {"id": 3, "result": {}}),
        strictly=True,
    )
    early, *rest = (
        json.loads(replay.receive(json.dumps(each).encode())[0])
        for each in (third, second, first, third)
    )
    assert "Not recorded in this order" in early["error"]["message"]
    assert all("result" in answer for answer in rest)


def test_a_strict_replay_shows_the_list_of_the_time() -> None:
    replay = replay_of(
        ("client", request("tools/list", id=1)),
        ("server", {"id": 1, "result": {"tools": []}}),
        ("client", request("tools/call", {"name": "grow"}, id=2)),
        ("server", {"id": 2, "result": {}}),
        ("client", request("tools/list", id=3)),
        ("server", {"id": 3, "result": {"tools": [{"name": "new"}]}}),
        ("client", request("tools/call", {"name": "new"}, id=4)),
        ("server", {"id": 4, "result": {}}),
        strictly=True,
    )
    lists = []
    for name in ("grow", "new"):
        for _ in range(2):
            (answer,) = replay.receive(json.dumps(request("tools/list")).encode())
            lists.append(len(json.loads(answer)["result"]["tools"]))
        replay.receive(json.dumps(request("tools/call", {"name": name})).encode())
    assert lists == [0, 0, 1, 1]


def test_a_modern_host_gets_changes_of_a_legacy_recording_by_its_subscription() -> None:
    replay = replay_of(
        ("client", call("grow", id=2)),
        ("server", request("notifications/tools/list_changed", id=...)),
        ("server", {"id": 2, "result": {}}),
    )
    wanted = {"notifications": {"toolsListChanged": True}, "_meta": MODERN}
    (granted,) = replay.receive(json.dumps(request("subscriptions/listen", wanted, "s")).encode())
    called = replay.receive(json.dumps(call("grow", id=3, **MODERN)).encode())
    changed = json.loads(called[0])
    subscription = {"io.modelcontextprotocol/subscriptionId": "s"}
    assert json.loads(granted)["params"] == {
        "notifications": {"toolsListChanged": True},
        "_meta": subscription,
    }
    assert changed["params"]["_meta"] == subscription
    assert json.loads(called[1])["result"]["resultType"] == "complete"


def replay_of(*messages: tuple[str, Any], strictly: bool = False) -> Replay:
    """Return a replay of *messages*, each with its sender."""
    entries = [
        RecordedLine(type="Message", sender=sender, message=message) for sender, message in messages
    ]
    exchanges = read_exchanges(enumerate(entries, 1))
    return Replay(exchanges, strictly=strictly, report=lambda _: None)


TASK = {"resultType": "task", "taskId": "t", "status": "working"}
DONE = {"status": "completed", "result": {"resultType": "complete", "content": []}}
FAILED = {"status": "failed", "error": {"code": 7, "message": "burnt"}}


@pytest.mark.parametrize(
    ("end", "member", "replayed"),
    [
        (DONE, "result", {"content": []}),
        (FAILED, "error", FAILED["error"]),
        (
            {"status": "cancelled"},
            "error",
            {"code": -32603, "message": "Not recorded: the end of the task that this call became"},
        ),
    ],
)
def test_a_client_without_tasks_gets_the_recorded_end_of_a_task(
    end: Any, member: str, replayed: Any
) -> None:
    replay = replay_of(
        ("client", call("add", id=0)),
        ("server", {"id": 0, "result": TASK}),
        ("client", request("tasks/get", {"taskId": "t"}, id=1)),
        ("server", {"id": 1, "result": {**TASK, **end, "resultType": "complete"}}),
    )

    [response] = replay.receive(json.dumps(call("add", id="here")).encode())

    assert json.loads(response) == {"jsonrpc": "2.0", "id": "here", member: replayed}


def test_a_legacy_client_can_be_answered_from_a_modern_recording(tmp_path: Path) -> None:
    path = recorded(tmp_path, "modern", lambda client: client.call_tool("add", {"a": 1}))
    with replaying(path, era="legacy") as client:
        assert client.server_info["name"] == "tools"
        assert client.call_tool("add", {"a": 1}).structured == {"result": 2}


def test_what_was_not_recorded_is_an_error_that_says_what_was(tmp_path: Path) -> None:
    path = recorded(tmp_path, "legacy", lambda client: client.call_tool("add", {"a": 1}))
    with running("-m", "toolwire", "replay", str(path)) as replay:
        wrong = replay.ask(call("add", {"a": 2}))
        unknown = replay.ask(request("prompts/list", {}, id=2))
        assert replay.ask(call("add", {"a": 1}, id=3))["result"]["structuredContent"] == {
            "result": 2
        }
        replay.hang_up()
        assert (wrong["error"]["code"], unknown["error"]["code"]) == (-32602, -32601)
        args = '{"name": "add", "arguments": {"a": 2}}'
        assert wrong["error"]["message"].startswith(
            f"Not recorded: tools/call with {args}; recorded: tools/call with "
        )
        assert "recorded: initialize, tools/call" in unknown["error"]["message"]
        assert "Not recorded: tools/call" in replay.stderr()
        assert replay.wait() == 1


def test_a_strict_replay_names_the_line_that_is_due(tmp_path: Path) -> None:
    def scenario(client: Client) -> None:
        client.call_tool("add", {"a": 1})
        client.call_tool("count")

    path = recorded(tmp_path, "legacy", scenario)
    with running("-m", "toolwire", "replay", "--strict", str(path)) as replay:
        early = replay.ask(call("count", {}))
        assert "Not recorded in this order: tools/call with" in early["error"]["message"]
        assert (
            'line 5 has tools/call with {"name": "add", "arguments": {"a": 1}}'
            in early["error"]["message"]
        )
        assert "result" in replay.ask(call("add", {"a": 1}))
        assert "result" in replay.ask(call("count", {}))
        late = replay.ask(call("count", {}))
        assert late["error"]["message"].endswith("nothing more was recorded")


def test_a_replay_answers_in_the_framing_of_editors(tmp_path: Path) -> None:
    path = recorded(tmp_path, "legacy", lambda client: client.call_tool("add", {"a": 1}))
    with running("-m", "toolwire", "replay", str(path)) as replay:
        body = json.dumps(call("add", {"a": 1})).encode()
        replay.send(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        assert replay.popen.stdout is not None
        head = replay.popen.stdout.readline()
        assert replay.popen.stdout.readline() == b"\r\n"
        answer = json.loads(replay.popen.stdout.read(int(head.removeprefix(b"Content-Length: "))))
        assert answer["result"]["structuredContent"] == {"result": 2}


def test_a_call_that_ended_the_server_is_answered_with_how_it_ended(tmp_path: Path) -> None:
    def scenario(client: Client) -> None:
        with pytest.raises(Exception, match="exit status 3"):
            client.call_tool("crash")

    path = recorded(tmp_path, "legacy", scenario)
    entries = [entry for _, entry in read(str(path))]
    assert (entries[-1].type, entries[-1].reason) == (
        "Ended",
        "the server ended with exit status 3",
    )
    assert "the end is near" in str(entries[-1].stderr)
    with running("-m", "toolwire", "replay", str(path)) as replay:
        answer = replay.ask(call("crash", {}))
        assert answer["error"]["message"].endswith("the server ended with exit status 3")


def test_secrets_are_hidden_and_still_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_API_KEY", "very-secret-value")

    def scenario(client: Client) -> None:
        client.call_tool("login", {"password": "hunter2hunter2"})
        client.call_tool("login", {"password": "very-secret-value"})
        client.call_tool("fail", {"x": "it is very-secret-value."})

    path = recorded(tmp_path, "legacy", scenario)
    text = path.read_text()
    assert not [secret for secret in ("hunter2", "very-secret", "abcdefgh") if secret in text]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with replaying(path) as client:
        assert (
            client.call_tool("login", {"password": "anything"}).text
            == "Authorization: Bearer [hidden]"
        )


def test_a_recording_starts_with_names_alone_and_the_command_that_makes_a_copy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_SETTING", "planted-value")
    recording = Recording(str(tmp_path / "my record.jsonl"))
    recording.add_start(["npx", "-y", "some-server", "--config", "planted", "--pin=planted"])
    recording.add_frame("server", b"x" * 1990 + b" planted-value")
    recording.close()
    (_, entry), (_, noise) = read(str(tmp_path / "my record.jsonl"))
    assert entry.command == ["npx", "-y", "some-server", "--config", "[hidden]", "--pin=[hidden]"]
    assert entry.environment == sorted(os.environ)
    assert entry.note.endswith("toolwire replay 'my record.jsonl' --shapes OUT")
    assert "planted" not in str(entry) + str(noise)


def test_a_copy_for_a_bug_report_has_no_text_of_the_recording(tmp_path: Path) -> None:
    path = recorded(
        tmp_path,
        "legacy",
        lambda client: client.call_tool("login", {"password": "x", "b": "planted"}),
    )
    out = tmp_path / "shapes.jsonl"
    with running("-m", "toolwire", "replay", str(path), "--shapes", str(out)) as replay:
        assert replay.wait() == 0
    assert "planted" in path.read_text()
    assert "planted" not in out.read_text()
    assert len(read(str(out))) == len(read(str(path)))


def test_a_copy_does_not_overwrite_its_recording(tmp_path: Path) -> None:
    path = recorded(tmp_path, "legacy", lambda client: client.call_tool("count"))
    before = path.read_bytes()
    with running("-m", "toolwire", "replay", str(path), "--shapes", str(path)) as replay:
        assert replay.wait() == 2
        assert "is the recording, which the copy would overwrite" in replay.stderr()
    assert path.read_bytes() == before


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_every_line_fits_the_published_schema(tmp_path: Path, era: Any) -> None:
    path = recorded(tmp_path, era, outcomes, on_ask=lambda _: {"answer": "Ada"})
    judge = load_validator("recording-entry")
    lines = path.read_text().splitlines()
    assert [
        list(judge.iter_errors(json.loads(line)))
        for line in lines
        if not judge.is_valid(json.loads(line))
    ] == []
    assert {json.loads(line)["type"] for line in lines} >= {"Started", "Message"}
    assert len(lines) > 10


# --- the file ---


def test_noise_and_messages_over_the_limit_are_kept_as_noise(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    recording = Recording(str(path))
    for frame in (b"Server is ready", b"\xff\xfe", b"[" * 100_000, b"12", b'{"a": 1e999}'):
        recording.add_frame("server", frame)
    recording.close()
    assert [entry.type for _, entry in read(str(path))] == ["Noise"] * 5
    assert max(len(line) for line in path.read_bytes().splitlines()) < 3000


def test_a_recording_ends_at_its_limit(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "record.jsonl"
    recording = Recording(str(path), 1000)
    for number in range(100):
        recording.add_frame("client", json.dumps(request("ping", {"n": number})).encode())
    recording.close()
    assert [entry.type for _, entry in read(str(path))][-1] == "Cut"
    assert path.stat().st_size < 1200
    assert capfd.readouterr().err.count("has reached 1000 bytes") == 1


def test_a_second_session_is_added_to_the_first(tmp_path: Path) -> None:
    for answer in (3, 4):
        path = recorded(tmp_path, "legacy", lambda client: client.call_tool("count"))
        assert len([entry for _, entry in read(str(path)) if entry.type == "Started"]) == answer - 2


def test_two_processes_cannot_write_one_file(tmp_path: Path) -> None:
    recording = Recording(str(tmp_path / "record.jsonl"))
    with pytest.raises(BlockingIOError):
        Recording(str(tmp_path / "record.jsonl"))
    recording.close()
    Recording(str(tmp_path / "record.jsonl")).close()


def test_a_full_disk_stops_the_recording_and_not_the_traffic(
    capfd: pytest.CaptureFixture[str],
) -> None:
    recording = Recording("/dev/full")
    for _ in range(2):
        recording.add_frame("client", b'{"jsonrpc": "2.0", "method": "x"}')
    recording.close()
    assert capfd.readouterr().err.count("cannot be written, nothing more is recorded") == 1


def test_a_last_line_that_was_cut_off_is_left_out_and_any_other_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    recording = Recording(str(path))
    recording.add(type="Started", version=1, command=["a"])
    recording.close()
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"type": "Mess')
    assert [entry.command for _, entry in read(str(path))] == [["a"]]
    path.write_bytes(b'{"type": "Mess\n' + whole)
    with pytest.raises(BadRecording, match="line 1 is not an entry of a recording"):
        read(str(path))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "no such file"),
        (b"", "no entries"),
        (b"{}", "line 1 is not an entry"),
        (b"\xff", "line 1 is not an entry"),
    ],
)
def test_a_file_that_is_no_recording_is_refused_in_a_sentence(
    tmp_path: Path, content: bytes | None, says: str
) -> None:
    path = tmp_path / "record.jsonl"
    if content is not None:
        path.write_bytes(content)
    with running("-m", "toolwire", "replay", str(path)) as replay:
        assert replay.hang_up() == []
        assert replay.wait() == 2
        assert says in replay.stderr().lower()
        assert replay.stderr().count("\n") == 1


# --- hostile input ---

_MEMBERS = st.sampled_from(
    ["id", "method", "params", "result", "error", "requestId", "progressToken", "_meta"]
)
_IDS = st.sampled_from([0, 1, "1", True, None, [], {}])
_MESSAGES = st.dictionaries(
    _MEMBERS, _IDS | JSON | st.sampled_from(["initialize", "tools/call", "notifications/cancelled"])
)
_ENTRIES = st.builds(
    RecordedLine,
    type=st.sampled_from(["Started", "Message", "Ended"]),
    sender=st.sampled_from(["client", "server", ""]),
    message=_MESSAGES | st.lists(_MESSAGES | JSON, max_size=3),
)


@given(st.lists(_ENTRIES, max_size=8), st.lists(_MESSAGES, max_size=5), st.booleans())
def test_whatever_was_recorded_and_comes_a_replay_answers_each_request_or_none(
    entries: list[RecordedLine], sent: list[Any], strictly: bool
) -> None:
    replay = Replay(read_exchanges(enumerate(entries, 1)), strictly=strictly, report=lambda _: None)
    for message in sent:
        for answer in replay.receive(json.dumps(message).encode()):
            json.loads(answer)


def test_a_message_that_is_no_request_is_answered_by_the_rules_of_json_rpc() -> None:
    replay = Replay([], strictly=False, report=partial(pytest.fail))
    codes = [
        json.loads(replay.receive(frame)[0])["error"]["code"]
        for frame in (b"{", b"[]", b"3", b"[" * 50_000)
    ]
    assert codes == [-32700, -32600, -32600, -32700]
    assert (
        replay.receive(b'{"jsonrpc": "2.0", "method": "x"}')
        == replay.receive(b'{"id": 1, "result": {}}')
        == []
    )


def test_a_recorded_message_that_is_too_deep_to_be_sent_is_an_error() -> None:
    deep: Any = "x"
    for _ in range(300):
        deep = [deep]
    sent = RecordedLine(type="Message", sender="client", message=request("tools/list"))
    came = RecordedLine(
        type="Message",
        sender="server",
        message={"jsonrpc": "2.0", "id": 1, "result": {"tools": deep}},
    )
    replay = Replay(read_exchanges([(1, sent), (2, came)]), strictly=False, report=lambda _: None)
    (answer,) = replay.receive(json.dumps(request("tools/list")).encode())
    assert "nested too deeply" in json.loads(answer)["error"]["message"]
