from __future__ import annotations

import json
import os
import select
import sys
import threading
from typing import Any

import pytest
from support import SUPPORT
from support.client_backends import WAIT, nothing_leaks
from support.running_processes import is_running
from support.server_process import wait_until
from toolwire import Context, Server
from toolwire_client import (
    BrokenRules,
    CallCancelled,
    Closed,
    LogEntry,
    NotStarted,
    PendingConnection,
    PromptArgument,
    PromptDescription,
    RequestFailed,
    ResourceContent,
    ServerGone,
    TimedOut,
    connect,
)

pytestmark = pytest.mark.process

FAKE = SUPPORT / "fake_server.py"


def fake(behaviour: str, **options: Any) -> PendingConnection:
    return connect([sys.executable, str(FAKE), behaviour], **options)


def test_a_legacy_server_is_initialized_after_it_refused_the_probe() -> None:
    with nothing_leaks(), fake("Server") as client:
        assert client.version == "2025-06-18"
        assert client.server_info == {"name": "fake", "version": "1"}
        assert [tool.name for tool in client.list_tools()] == ["echo"]
        assert client.call_tool("echo", {"a": 2**70}).text == f'{{"a": {2**70}}}'
        assert client.ping(timeout_seconds=WAIT) > 0


def test_a_modern_server_is_spoken_to_in_the_modern_way() -> None:
    with fake("Modern") as client:
        params = client.call_tool("x", {"a": 1}).structured
        assert client.version == "2026-07-28"
        assert client.server_info == {"name": "fake", "version": "2"}
    assert params == {
        "name": "x",
        "arguments": {"a": 1},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "toolwire", "version": "0.1.0"},
            "io.modelcontextprotocol/clientCapabilities": {
                "extensions": {"io.modelcontextprotocol/tasks": {}}
            },
        },
    }


def test_a_modern_server_is_pinged_by_asking_it_for_its_description() -> None:
    with fake("Modern") as client:
        assert client.ping(timeout_seconds=WAIT) > 0


def test_a_server_that_ends_at_the_probe_is_started_again_for_the_old_handshake() -> None:
    with nothing_leaks(), fake("EndsAtTheProbe") as client:
        assert client.version == "2025-06-18"


def test_the_era_can_be_demanded() -> None:
    with fake("Server", era="legacy") as client:
        assert client.version == "2025-06-18"
    with pytest.raises(RequestFailed), fake("Server", era="modern"):
        pass


def test_an_unknown_revision_is_refused() -> None:
    with nothing_leaks(), pytest.raises(BrokenRules, match="2999-01-01"), fake("Future"):
        pass


def test_a_server_that_ends_at_the_handshake_is_an_error_with_its_last_words() -> None:
    with nothing_leaks(), pytest.raises(ServerGone) as caught, fake("DiesAtTheHandshake"):
        pass
    assert (caught.value.exit_status, caught.value.stderr) == (1, "no licence found")


def test_a_command_that_does_not_exist_is_an_error_that_names_it() -> None:
    with (
        nothing_leaks(),
        pytest.raises(NotStarted, match="no-such-program"),
        connect(["no-such-program"]),
    ):
        pass
    with pytest.raises(NotStarted), connect([]):
        pass


def test_all_pages_of_the_list_are_read() -> None:
    with fake("Pages") as client:
        assert [tool.name for tool in client.list_tools()] == ["tool0", "tool1", "tool2"]
        assert client.list_entries()[2] == {"name": "tool2", "inputSchema": {"type": "object"}}


def test_progress_is_reported_before_the_result() -> None:
    seen: list[tuple[float, float | None, str | None]] = []
    with fake("Progresses") as client:
        result = client.call_tool("x", on_progress=lambda *report: seen.append(report))
    assert seen == [(1, 2, "step 1"), (2, 2, "step 2")]
    assert not result.is_error


@pytest.mark.parametrize(
    ("behaviour", "status", "stderr"),
    [("Dies", 7, "out of ideas"), ("Crashes", -9, ""), ("LeavesItsOutputOpen", 7, "")],
)
def test_a_server_that_dies_wakes_everyone_who_waits(
    behaviour: str, status: int, stderr: str
) -> None:
    with nothing_leaks(), fake(behaviour) as client:
        calls = [client.start("wait"), client.start("wait"), client.start("fatal")]
        for call in calls:
            with pytest.raises(ServerGone) as caught:
                call.result(WAIT)
            assert (caught.value.exit_status, caught.value.stderr) == (status, stderr)
        with pytest.raises(ServerGone):
            client.call_tool("x", timeout_seconds=WAIT)


def test_a_server_that_closes_its_output_is_gone_too() -> None:
    with (
        nothing_leaks(),
        fake("ClosesItsOutput") as client,
        pytest.raises(ServerGone, match="closed its output"),
    ):
        client.call_tool("x", timeout_seconds=WAIT)


def test_noise_on_the_output_is_logged_and_skipped() -> None:
    entries: list[LogEntry] = []
    with fake("Noisy", on_log=entries.append) as client:
        assert client.call_tool("echo", {"a": 1}, timeout_seconds=WAIT).text == '{"a": 1}'
    noise = [entry.text for entry in entries if entry.source == "output"]
    assert (len(noise), noise[0]) == (5, "Loading model... 100%")


def test_questions_of_the_server_are_answered() -> None:
    with fake("Asks") as client:
        replies = client.call_tool("x", timeout_seconds=WAIT).structured["replies"]
    assert replies[0] == {"jsonrpc": "2.0", "id": "q1", "result": {}}
    assert (replies[1]["id"], replies[1]["error"]["code"]) == ("q2", -32601)


def test_a_call_that_takes_too_long_is_cancelled() -> None:
    with fake("Waits") as client:
        call = client.start("wait")
        with pytest.raises(TimedOut):
            call.result(0.0)
        assert client.call_tool("report").structured == {"cancelled": [call.id]}


def test_a_call_can_be_cancelled_from_another_thread() -> None:
    with fake("Waits") as client:
        call = client.start("wait")
        threading.Thread(target=call.cancel, args=("changed my mind",)).start()
        with pytest.raises(CallCancelled, match="changed my mind"):
            call.result(WAIT)
        assert client.call_tool("report").structured == {"cancelled": [call.id]}


def test_a_call_whose_progress_callback_raises_is_cancelled() -> None:
    def stop(done: float, total: float | None, message: str | None) -> None:
        raise KeyboardInterrupt

    with fake("Waits") as client:
        with pytest.raises(KeyboardInterrupt):
            client.call_tool("wait", on_progress=stop, timeout_seconds=WAIT)
        assert len(client.call_tool("report").structured["cancelled"]) == 1


@pytest.mark.parametrize("how", ["call_tool", "start"])
def test_an_interrupt_as_soon_as_a_call_is_sent_cancels_it(how: str) -> None:
    begun, noticed = threading.Event(), threading.Event()

    def wait(context: Context) -> None:
        """Wait until the call is cancelled."""
        begun.set()
        while not context.cancelled:
            continue
        noticed.set()

    class Interrupts(Server):
        def open_session(self, write: Any) -> Any:
            conversation = super().open_session(write)
            feed = conversation.feed

            def feed_and_interrupt(data: bytes) -> None:
                feed(data)
                if b"tools/call" in data:
                    assert begun.wait(WAIT)
                    raise KeyboardInterrupt

            conversation.feed = feed_and_interrupt  # type: ignore[method-assign]
            return conversation

    with nothing_leaks(), connect(Interrupts([wait])) as client:
        with pytest.raises(KeyboardInterrupt):
            getattr(client, how)("wait")
        assert noticed.wait(WAIT)


@pytest.mark.parametrize(
    "result",
    [
        None,
        1,
        {"content": 1},
        {"content": [1]},
        {"content": [{"type": "text"}]},
        {"resultType": "input_required"},
    ],
)
def test_an_invalid_result_is_an_error(result: Any) -> None:
    with fake("Garbled") as client, pytest.raises(BrokenRules):
        client.call_tool("x", {"result": result})


def nested(levels: int) -> Any:
    """An object in a list in an object, nested this many *levels*."""
    value: Any = {}
    for _ in range(levels):
        value = {"x": [value]}
    return value


NO_RESULTS: list[Any] = [
    None,
    1,
    "x",
    [],
    [1],
    {},
    {"resultType": "input_required", "inputRequests": [1]},
]
NO_LISTS: list[Any] = [
    None,
    1,
    "x",
    {},
    [None],
    [1],
    ["x"],
    [[]],
    [{}],
    [{"name": 1}],
    [{"name": "x", "title": 1}],
]
NO_MESSAGES: list[Any] = [
    {"role": "user"},
    {"role": "system", "content": {"type": "text", "text": "x"}},
    {"role": "user", "content": "x"},
    {"role": "user", "content": {"type": "text"}},
    {"role": "user", "content": {"type": "text", "text": 1}},
]
NO_CONTENTS: list[Any] = [
    {"uri": "x:y"},
    {"uri": 1, "text": "x"},
    {"uri": "x:y", "text": 1},
    {"uri": "x:y", "text": None, "blob": None},
    *({"uri": "x:y", "blob": blob} for blob in (1, "x", "=", "é", ["QQ=="], {})),
]


def lists(member: str, *entries: Any) -> list[Any]:
    """Results whose *member* is no valid list, or is a list of one of these *entries*."""
    return [{member: value} for value in [*NO_LISTS, *([entry] for entry in entries)]] + [
        {member: [], "nextCursor": 1}
    ]


MALFORMED: dict[str, tuple[list[Any], list[Any]]] = {
    "list_resources": (
        [],
        lists("resources", {"name": "x"}, {"name": "x", "uri": "x:y", "size": "x"}),
    ),
    "list_resource_templates": ([], lists("resourceTemplates", {"name": "x", "uriTemplate": 1})),
    "list_prompts": (
        [],
        lists(
            "prompts",
            *({"name": "x", "arguments": it} for it in (1, "x", {"x": 1}, ["x"], [{"name": 1}])),
        ),
    ),
    "read_resource": (
        ["x:y"],
        [{"contents": it} for it in (None, 1, "x", {"x": 1}, *([it] for it in NO_CONTENTS))],
    ),
    "get_prompt": (
        ["x"],
        [{"messages": it} for it in (None, 1, "x", {}, *([it] for it in NO_MESSAGES), ["x"])],
    ),
    "complete": (
        ["x", "a"],
        [{"completion": it} for it in (None, 1, [], {}, *({"values": v} for v in (1, [1], {})))],
    ),
}


@pytest.mark.parametrize("method", MALFORMED)
def test_malformed_answers_about_resources_and_prompts_are_errors(method: str) -> None:
    arguments, malformed = MALFORMED[method]
    results = NO_RESULTS + malformed
    with garbling(*results, {}) as client:
        accepted = [
            result
            for result in results
            if not _raises_broken_rules(getattr(client, method), arguments)
        ]
        assert client.request("anything") == {}  # the connection survives
    assert accepted == []


def _raises_broken_rules(method: Any, arguments: list[Any]) -> bool:
    try:
        method(*arguments, timeout_seconds=WAIT)
    except BrokenRules:
        return True
    return False


def garbling(*results: Any) -> PendingConnection:
    return connect(
        [sys.executable, str(FAKE), "Garbles", json.dumps(results)], on_ask=lambda question: {}
    )


def test_answers_that_are_odd_but_clear_are_understood() -> None:
    resource = {
        "uri": "x:y",
        "name": "x",
        "title": None,
        "size": 0,
        "annotations": [],
        "icons": nested(300)["x"],
    }
    prompt = {"name": "x", "arguments": [{"name": "a", "description": None, "required": None}]}
    part = {"uri": "x:y", "mimeType": None, "text": "", "blob": None, "data": "?"}
    results = [
        {"resources": [resource]},
        {"prompts": [prompt]},
        {"contents": []},
        {"contents": [part]},
    ]
    with garbling(
        *results, {"messages": [], "description": None}, {"completion": {"values": []}}
    ) as client:
        [found] = client.list_resources()
        assert (found.uri, found.title, found.size, found.annotations) == ("x:y", None, 0, {})
        assert client.list_prompts() == [
            PromptDescription(name="x", arguments=[PromptArgument(name="a")], raw=prompt),
        ]
        assert client.read_resource("x:y").contents == []
        assert client.read_resource("x:y").contents == [ResourceContent(uri="x:y", text="")]
        assert client.get_prompt("x").messages == []
        assert client.complete("x", "a") == []


def test_a_server_that_reads_nothing_holds_up_neither_calls_nor_the_end() -> None:
    with nothing_leaks(), fake("Deaf") as client:
        client.start("x")
        with pytest.raises(TimedOut):
            client.call_tool("x", {"text": "x" * 2_000_000}, timeout_seconds=0.0)


def test_a_server_that_will_not_end_is_made_to() -> None:
    with nothing_leaks(), fake("Stays") as client:
        client.call_tool("echo")
        pid = client.pid
    assert pid is not None
    assert not is_running(pid)


def test_what_a_server_leaves_behind_is_ended_with_it() -> None:
    with nothing_leaks(), fake("LeavesAChild") as client:
        pid = client.call_tool("x").structured["pid"]
        assert is_running(pid)
    wait_until(lambda: not is_running(pid))  # the signal is sent, and its effect is the kernel's


@pytest.fixture(
    params=["no descriptors of processes", "no looking without reaping", "no waiting for pipes"]
)
def lesser_system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """As other systems are than Linux: macOS, since Python 3.13 the first, before it the second;
    Windows the third.
    """
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    monkeypatch.setattr("toolwire_client.transport.child_process._LOOK_SECONDS", 0.05)
    if request.param != "no descriptors of processes":
        monkeypatch.delattr(os, "waitid")
    if request.param == "no waiting for pipes":
        monkeypatch.delattr(select, "poll")


@pytest.mark.usefixtures("lesser_system")
class TestOnLesserSystems:
    def test_servers_are_asked_and_end(self) -> None:
        with nothing_leaks(), fake("Server") as client:
            calls = [
                client.start("echo", {"text": "x" * size}) for size in (1, 100_000, 1, 1_000_000)
            ]
            assert [len(call.result(WAIT).text) for call in calls] == [13, 100_012, 13, 1_000_012]

    def test_servers_that_will_not_end_are_made_to(self) -> None:
        with nothing_leaks(), fake("Stays") as client:
            client.call_tool("echo")

    @pytest.mark.parametrize(("behaviour", "status"), [("Dies", 7), ("Crashes", -9)])
    def test_the_end_of_a_server_is_reported(self, behaviour: str, status: int) -> None:
        with nothing_leaks(), fake(behaviour) as client:
            with pytest.raises(ServerGone) as caught:
                client.call_tool("fatal", timeout_seconds=WAIT)
            assert caught.value.exit_status == status


def test_the_end_of_a_server_whose_output_stays_open_is_noticed_by_looking(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(os, "pidfd_open", raising=False)
    monkeypatch.setattr("toolwire_client.transport.child_process._LOOK_SECONDS", 0.05)
    with nothing_leaks(), fake("LeavesItsOutputOpen") as client, pytest.raises(ServerGone):
        client.call_tool("fatal", timeout_seconds=WAIT)


def test_only_the_usual_environment_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("API_KEY", "secret")
    with fake("Environment", env={"GIVEN": "1"}) as client:
        seen = client.call_tool("x").structured
    assert "API_KEY" not in seen
    assert seen["GIVEN"] == "1"
    assert seen["PATH"] == os.environ["PATH"]
    with fake("Environment", inherit_env=True) as client:
        assert client.call_tool("x").structured["API_KEY"] == "secret"


def test_what_is_asked_without_a_block_says_where_the_client_is() -> None:
    with pytest.raises(AttributeError, match=r"no 'list_tools'.* with connect"):
        _ = connect([sys.executable]).list_tools  # type: ignore[attr-defined]


def test_a_closed_client_says_so() -> None:
    with fake("Server") as client:
        pass
    with pytest.raises(Closed):
        client.list_tools()


def test_a_call_that_is_over_has_the_same_result_each_time_it_is_asked() -> None:
    with fake("Waits") as client:
        done, cancelled = client.start("echo", {"a": 1}), client.start("wait")
        result = done.result(WAIT)
        assert done.result(WAIT) is result
        done.cancel()
        assert done.result(WAIT) is result
        cancelled.cancel("enough")
        for _ in range(2):
            with pytest.raises(CallCancelled, match="enough"):
                cancelled.result(WAIT)


def test_closing_wakes_everyone_who_waits() -> None:
    with nothing_leaks(), fake("Waits") as client:
        call = client.start("wait")
        client.close()
        with pytest.raises(Closed):
            call.result(WAIT)


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_fork_of_the_process_does_not_end_its_servers() -> None:
    with nothing_leaks(), fake("Server") as client:
        child = os.fork()
        if child == 0:
            try:
                client.close()
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        assert client.call_tool("echo", {"a": 1}, timeout_seconds=WAIT).text == '{"a": 1}'


def test_an_exception_inside_the_block_ends_the_server_too() -> None:
    with nothing_leaks(), pytest.raises(ZeroDivisionError), fake("Server"):
        raise ZeroDivisionError
