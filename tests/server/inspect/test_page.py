"""The page of `toolwire inspect`: what a user does with it, by HTTP, with real servers."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from server.inspect.inspecting import SUPPORT, foreign_page, inspected, set_tools, tools_page
from support.parsed_html import Parsed, assert_inert
from support.running_processes import is_running
from support.server_process import PATIENCE_SECONDS, wait_until
from toolwire_schemas.json_schema.bounded_validator import MAX_STEPS

pytestmark = pytest.mark.process


# --- tools ---


def test_the_state_has_the_server_and_its_tools_with_findings(tmp_path: Path) -> None:
    with tools_page(tmp_path) as page:
        state = page.get("state")
        assert (state["title"], state["target"]) == (str(tmp_path / "tools.py"),) * 2
        assert state["views"] == ["tools", "history", "traffic", "time", "check"]
        assert state["server"]["name"] == "tools"
        assert state["server"]["revision"] == "2026-07-28"
        assert is_running(state["server"]["pid"])
        assert page.tools() == ["add", "steps", "order", "wait", "wrong", "die"]
        finding = next(finding for finding in state["findings"] if finding["tool"] == "add")
        assert (finding["severity"], finding["where"]) == ("note", "inputSchema")
        assert "description of a, b" in finding["problem"]
        assert finding["concerns"] == "every model"


def test_mounted_server_that_does_not_start_keeps_no_list_waiting(tmp_path: Path) -> None:
    sleeping = tmp_path / "sleeps.py"
    sleeping.write_text("import time\ntime.sleep(1000)\n")
    (tmp_path / "tools.py").write_text("def add(a: int) -> int: return a\n")
    commands = {"slow": f"{sys.executable} {sleeping}", "bad": f"{sys.executable} {tmp_path}"}
    mounts = [word for name in commands for word in ("--mount", f"{name}={commands[name]}")]
    with inspected(str(tmp_path / "tools.py"), *mounts) as (page, _):
        state = page.ready()
        wait_until(lambda: any(each["problem"] for each in page.get("state")["unlisted"]))
        slow, bad = page.get("state")["unlisted"]

    assert (state["status"], state["problem"]) == ("ready", "")
    assert [tool["name"] for tool in state["tools"]] == ["add"]
    assert (slow["prefix"], slow["problem"]) == ("slow", "")
    assert bad["problem"].startswith("the mounted server bad does not run: the server ended")


def test_the_title_of_mounted_servers_is_their_file(tmp_path: Path) -> None:
    config = tmp_path / "mcp.json"
    server = {"command": sys.executable, "args": ["-m", "toolwire", "serve", "math"]}
    config.write_text(json.dumps({"mcpServers": {"math": server}}))
    with inspected("--mount-config", str(config)) as (page, _):
        assert page.get("state")["title"] == str(config)


def test_a_call_gives_the_result_as_data_and_as_html(tmp_path: Path) -> None:
    with tools_page(tmp_path) as page:
        (result,) = page.call("add", a=2, b=40)
        assert result["type"] == "result"
        assert result["result"]["structuredContent"] == {"result": 42}
        assert result["problems"] == []
        assert result["bytes"] == len(json.dumps(result["result"], separators=(",", ":")))
        assert 0 < result["seconds"] < PATIENCE_SECONDS
        html = Parsed(result["html"])
        assert_inert(html)
        assert "42" in html.text


def test_integers_of_any_size_survive(tmp_path: Path) -> None:
    with foreign_page(tmp_path, "echo") as page:
        given = {"value": 98765432109876543210, "deep": json.loads("[" * 150 + "]" * 150)}
        assert page.call("echo", **given)[-1]["result"]["structuredContent"] == {"given": given}
        assert (
            "98765432109876543210" in page.post("snippets", tool="echo", arguments=given)["python"]
        )


def test_progress_and_log_messages_come_before_the_result(tmp_path: Path) -> None:
    with tools_page(tmp_path) as page:
        lines = page.call("steps")
        log, progress = sorted(lines[:-1], key=lambda line: str(line["type"]))
        assert (log["type"], log["data"]) == ("log", "on the way")
        half = {"type": "progress", "progress": 1, "total": 2, "message": "half"}
        assert {**progress, **half} == progress
        assert lines[-1]["type"] == "result"


def test_the_failure_of_a_tool_is_a_result_and_an_unknown_tool_a_failure(tmp_path: Path) -> None:
    with tools_page(tmp_path) as page:
        failed = page.call("wrong")[-1]
        assert failed["type"] == "result"
        assert failed["result"]["isError"] is True
        unknown = page.call("ad")[-1]
        assert (unknown["type"], unknown["code"]) == ("failure", -32602)
        assert "add" in unknown["message"]


def test_a_result_that_does_not_fit_its_output_schema_is_reported(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"given": {"type": "string"}}, "required": ["other"]}
    entry = {"name": "echo", "inputSchema": {"type": "object"}, "outputSchema": schema}
    with foreign_page(tmp_path, tools=[entry]) as page:
        result = page.call("echo", a=1)[-1]
        assert len(result["problems"]) == 1
        assert "structuredContent.given" in result["problems"][0]
        assert "other" in result["problems"][0]
        assert "structuredContent.given" in Parsed(result["html"]).text
        assert page.post("history")["calls"][0]["outcome"] == "error"


def test_result_that_is_too_large_to_be_checked_is_no_failure(tmp_path: Path) -> None:
    many = {"properties": {"many": {"items": {"type": "integer"}}}}
    schema = {"type": "object", "properties": {"given": many}}
    entry = {"name": "echo", "inputSchema": {"type": "object"}, "outputSchema": schema}
    with foreign_page(tmp_path, tools=[entry]) as page:
        result = page.call("echo", many=[1] * MAX_STEPS)[-1]
        assert result["problems"] == []
        assert "Not checked against the output schema" in Parsed(result["html"]).text


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_a_question_is_answered_on_the_page(tmp_path: Path, era: str) -> None:
    opened = tools_page(tmp_path) if era == "modern" else foreign_page(tmp_path, "ask")
    tool, member = ("order", "size") if era == "modern" else ("ask", "name")
    with (
        opened as page,
        page.open("POST", "call", {"tool": tool, "arguments": {"what": "tea"}}) as response,
    ):
        question = response.until(type="question")
        assert member in question["form"][0]["properties"]
        id = question["question"]
        status, problem = page.refused("answer", question=id, answer={member: []})
        assert status == 409
        assert member in problem
        content = {member: 3 if era == "modern" else "I"}
        assert page.post("answer", question=id, answer=content) is None
        result = response.until(type="result")
        assert str(content[member]) in json.dumps(result["result"]["content"])
        assert page.refused("answer", question=id, answer=content) == (
            409,
            "this question is no longer open",
        )


def test_a_question_can_be_declined(tmp_path: Path) -> None:
    body = {"tool": "ask", "arguments": {}}
    with foreign_page(tmp_path, "ask") as page, page.open("POST", "call", body) as response:
        page.post("answer", question=response.until(type="question")["question"], answer="decline")
        assert response.until(type="result")["result"]["structuredContent"]["given"] == {
            "action": "decline"
        }


def test_an_open_question_is_withdrawn_with_its_call(tmp_path: Path) -> None:
    with tools_page(tmp_path) as page:
        with page.open("POST", "call", {"tool": "order", "arguments": {"what": "tea"}}) as response:
            question = response.until(type="question")["question"]
        answer = {"question": question, "answer": {"size": []}}
        wait_until(
            lambda: page.refused("answer", **answer) == (409, "this question is no longer open")
        )


def test_a_call_is_cancelled_when_its_response_is_closed(tmp_path: Path) -> None:
    with tools_page(tmp_path) as page:
        with page.open("POST", "call", {"tool": "wait", "arguments": {"folder": str(tmp_path)}}):
            wait_until((tmp_path / "waits").exists)
        wait_until((tmp_path / "cancelled").exists)


TASKS = """
from toolwire import Context, tool_api

@tool_api(task="required")
def report(context: Context) -> str:
    context.status("reading")
    return "written" if context.ask("Really?", bool) else "not written"

@tool_api(task="required")
def endless(context: Context, folder: str) -> str:
    while True:
        open(f"{folder}/waits", "w").close()
        try:
            context.check()
        except BaseException:
            open(f"{folder}/cancelled", "w").close()
            raise
"""


def test_a_task_shows_its_status_asks_and_ends_with_its_call(tmp_path: Path) -> None:
    (tmp_path / "tasks.py").write_text(TASKS, encoding="utf-8")
    with inspected(str(tmp_path / "tasks.py")) as (page, _):
        page.ready()
        with page.open("POST", "call", {"tool": "report", "arguments": {}}) as response:
            assert response.until(type="progress")["message"] == "reading"
            question = response.until(type="question")["question"]
            page.post("answer", question=question, answer={"answer": True})
            result = response.until(type="result")["result"]
        assert result["content"][0]["text"] == "written"
        body = {"tool": "endless", "arguments": {"folder": str(tmp_path)}}
        with page.open("POST", "call", body):
            wait_until((tmp_path / "waits").exists)
        wait_until((tmp_path / "cancelled").exists)


def test_calls_run_at_the_same_time_up_to_a_limit(tmp_path: Path) -> None:
    with foreign_page(tmp_path, "hang", "echo") as page:
        opened = [page.open("POST", "call", {"tool": "hang", "arguments": {}}) for _ in range(100)]
        assert {response.status for response in opened} == {200}
        assert page.call("echo")[-1]["message"] == "100 calls are open: wait for one, or cancel one"
        for response in opened:
            response.close()
        wait_until(lambda: page.call("echo")[-1]["type"] == "result")


def test_resources_prompts_and_completions(tmp_path: Path) -> None:
    resource, prompt = (
        {"uri": "text:a", "name": "a"},
        {"name": "greet", "arguments": [{"name": "whom"}]},
    )
    template = {"uriTemplate": "text:{a}", "name": "t"}
    with foreign_page(
        tmp_path, resources=[resource], resourceTemplates=[template], prompts=[prompt]
    ) as page:
        state = page.get("state")
        assert (state["resources"], state["templates"], state["prompts"]) == (
            [resource],
            [template],
            [prompt],
        )
        assert "held" in Parsed(page.lines("read", uri="text:a")[-1]["html"]).text
        failed = page.lines("read", uri="text:missing")[-1]
        assert failed["type"] == "failure"
        assert "no method resources/read" in failed["message"]
        shown = page.lines("prompt", name="greet", arguments={"whom": "Ann"})[-1]
        assert shown["result"]["messages"][0]["role"] == "user"
        assert "Ann" in Parsed(shown["html"]).text
        assert page.post("complete", name="greet", argument="whom", value="A") == {
            "values": ["greet"]
        }


# --- its life ---


def test_a_changed_list_is_read_again(tmp_path: Path) -> None:
    with foreign_page(tmp_path, "change") as page, page.open("GET", "events") as events:
        events.until(type="status", status="ready")
        set_tools(tmp_path, "change", "new")
        page.call("change")
        events.until(type="status", status="ready")
        assert page.tools() == ["change", "new"]


def test_the_lists_are_never_shown_half_read(tmp_path: Path) -> None:
    with foreign_page(tmp_path, "flood") as page, page.open("GET", "events") as events:
        for _ in range(3):
            assert page.call("flood", count=100)[-1]["type"] == "result"
            events.until(type="status", status="ready")
            assert [page.tools() for _ in range(20)] == [["flood"]] * 20


def test_a_server_that_dies_fails_its_call_and_can_be_started_again(tmp_path: Path) -> None:
    with tools_page(tmp_path) as page, page.open("GET", "events") as events:
        last = page.call("die")[-1]
        assert last["type"] == "failure"
        assert "exit status 7" in last["message"]
        end = events.until(type="status", status="ended")
        assert (
            end["problem"] == "the server ended with exit status 7, and wrote nothing to its stderr"
        )
        state = page.get("state")
        assert (state["status"], state["server"]) == ("ended", None)
        assert page.refused("call", tool="add", arguments={"a": 1})[0] == 409
        assert page.post("restart") is None
        assert events.until(type="status", status="ready")["problem"] == ""
        assert page.call("add", a=1)[-1]["result"]["structuredContent"] == {"result": 2}


def test_a_server_that_hangs_while_it_starts_can_be_started_again(tmp_path: Path) -> None:
    set_tools(tmp_path, "echo")
    (tmp_path / "wait").touch()
    with inspected("--", sys.executable, str(SUPPORT / "foreign_server.py"), str(tmp_path)) as (
        page,
        _,
    ):
        wait_until((tmp_path / "journal").exists)
        assert page.get("state")["status"] == "starting"
        assert page.refused("call", tool="echo", arguments={}) == (409, "the server is starting")
        (tmp_path / "wait").unlink()
        assert page.post("restart") is None
        assert page.ready()["status"] == "ready"
        assert page.tools() == ["echo"]


def test_what_is_nested_too_deeply_fails_its_list_or_call_alone(tmp_path: Path) -> None:
    deep = {"uri": "a:b", "name": "deep", "_meta": json.loads('{"a":' * 500 + "1" + "}" * 500)}
    with foreign_page(tmp_path, "deep", resources=[deep]) as page:
        state = page.get("state")
        assert (page.tools(), state["resources"]) == (["deep"], [])
        assert state["problem"].startswith("resources: nested more than 200 levels deep")
        assert page.call("deep")[-1]["message"].startswith("nested more than 200 levels deep")
        assert page.ready()["status"] == "ready"


def test_a_restart_fails_the_open_calls(tmp_path: Path) -> None:
    with foreign_page(tmp_path, "hang") as page:
        with page.open("POST", "call", {"tool": "hang", "arguments": {}}) as response:
            assert page.post("restart") is None
            assert response.until(type="failure")["message"] == "the client was closed"
        assert page.ready()["status"] == "ready"


def test_the_page_and_the_terminal_show_why_a_server_does_not_start(tmp_path: Path) -> None:
    code = "import sys; print('no \x1bdatabase', file=sys.stderr); sys.exit(4)"
    with inspected("--", sys.executable, "-c", code) as (page, process):
        state = page.ready()
        assert state["status"] == "ended"
        assert "exit status 4" in state["problem"]
        assert state["tools"] == []
        with page.open("GET", "events") as events:
            assert events.until(type="stderr")["text"] == "no \x1bdatabase"
            assert "no \x1bdatabase" in events.until(type="status", status="ended")["problem"]
        assert process.stderr is not None
        assert "the server ended with exit status 4" in process.stderr.readline()
        assert process.stderr.readline() == "no \\u001bdatabase\n"


def test_a_list_that_fails_leaves_the_others(tmp_path: Path) -> None:
    with foreign_page(tmp_path, "echo", resources=["no object"]) as page:
        state = page.get("state")
        assert page.tools() == ["echo"]
        assert state["resources"] == []
        assert state["problem"] == "resources: the server listed a resource without a name"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_page_and_the_server_quietly(
    tmp_path: Path, number: signal.Signals
) -> None:
    (tmp_path / "lists.json").write_text('{"tools": []}')
    server = [sys.executable, str(SUPPORT / "foreign_server.py"), str(tmp_path)]
    with inspected("--", *server) as (page, process):
        pid = page.ready()["server"]["pid"]
        with page.open("GET", "events") as events:
            events.until(type="status", status="ready")
            process.send_signal(number)
            assert process.wait(PATIENCE_SECONDS) == -number
        assert process.stderr is not None
        assert process.stderr.read() == ""
        wait_until(lambda: not is_running(pid))


def test_a_browser_that_does_not_read_does_not_delay_the_end(tmp_path: Path) -> None:
    (tmp_path / "lists.json").write_text(
        '{"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}'
    )
    server = [sys.executable, str(SUPPORT / "foreign_server.py"), str(tmp_path)]
    with inspected("--", *server) as (page, process):
        page.ready()
        with page.open("GET", "events"):  # unread, and longer than any buffer between
            for _ in range(6):
                page.call("echo", text="x" * 3_000_000)
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE_SECONDS) == -signal.SIGINT
            assert process.stderr is not None
            assert process.stderr.read() == ""


def test_a_signal_ends_a_check_quietly(tmp_path: Path) -> None:
    (tmp_path / "lists.json").write_text('{"tools": []}')
    server = [sys.executable, str(SUPPORT / "foreign_server.py"), str(tmp_path)]
    with inspected("--", *server) as (page, process):
        page.ready()
        with page.open("POST", "check", {"only": [], "destructive": False}) as response:
            response.until(type="verdict")
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE_SECONDS) == -signal.SIGINT
            assert process.stderr is not None
            assert process.stderr.read() == ""


# --- traffic ---


def test_traffic_has_both_directions_with_times_and_stderr(tmp_path: Path) -> None:
    with foreign_page(tmp_path, "echo", "die") as page, page.open("GET", "events") as events:
        page.call("echo")
        page.call("die")
        lines = []
        for line in events.lines():
            lines.append(line)
            if line.get("status") == "ended":
                break
        entries = [line["entry"] for line in lines if line["type"] == "message"]
        calls = [
            entry for entry in entries if entry.get("message", {}).get("method") == "tools/call"
        ]
        answers = [
            entry
            for entry in entries
            if entry.get("message", {}).get("id") == calls[0]["message"]["id"]
        ]
        assert [entry["sender"] for entry in answers] == ["client", "server"]
        assert answers[0]["at"] < answers[1]["at"]
        assert entries[-1]["type"] == "Ended"
        assert [line["text"] for line in lines if line["type"] == "stderr"] == ["the disk is full"]
        assert [line["number"] for line in lines] == list(range(1, len(lines) + 1))


def test_a_second_tab_sees_the_same_and_continues_where_it_was(tmp_path: Path) -> None:
    with (
        tools_page(tmp_path) as page,
        page.open("GET", "events") as one,
        page.open("GET", "events") as other,
    ):
        page.call("add", a=1)
        first = [line["number"] for line, _ in zip(one.lines(), range(8), strict=False)]
        assert first == [line["number"] for line, _ in zip(other.lines(), range(8), strict=False)]
        assert first == list(range(1, 9))
        with page.open("GET", "events?after=5") as third:
            assert next(third.lines())["number"] == 6


def test_secrets_are_hidden_in_the_traffic(tmp_path: Path) -> None:
    with foreign_page(tmp_path, "echo") as page:
        page.call("echo", password="open sesame", header="Bearer abcdefghijklmnop")
        with page.open("GET", "recording.jsonl") as response:
            text = response.read().decode()
        assert "open sesame" not in text
        assert "abcdefghijklmnop" not in text
        assert '"password":"[hidden]"' in text


def test_a_downloaded_recording_can_be_opened_and_replayed(tmp_path: Path) -> None:
    with foreign_page(tmp_path, "echo") as page:
        page.call("echo", a=1)
        with page.open("GET", "recording.jsonl") as response:
            recording = response.read()
    (tmp_path / "recording.jsonl").write_bytes(recording)
    with inspected(str(tmp_path / "recording.jsonl")) as (page, _):
        state = page.get("state")
        assert (state["views"], state["status"], state["command"]) == (
            ["traffic", "time"],
            "ended",
            None,
        )
        with page.open("GET", "recording.jsonl") as response:
            assert response.read() == recording
        assert page.refused("call", tool="echo", arguments={}) == (409, "no server runs")
    with inspected(
        "--", sys.executable, "-m", "toolwire", "replay", str(tmp_path / "recording.jsonl")
    ) as (page, _):
        page.ready()
        assert page.call("echo", a=1)[-1]["result"]["structuredContent"] == {"given": {"a": 1}}


def test_a_name_that_ends_in_jsonl_is_a_target_if_options_say_how_to_load_it(
    tmp_path: Path,
) -> None:
    (tmp_path / "a.jsonl").write_text("{}")
    with inspected("--adopt", str(tmp_path / "a.jsonl")) as (page, _):
        assert "a.jsonl is not a Python file" in page.ready()["problem"]


# --- check, snippets, runs ---


def test_the_texts_of_a_call_keep_how_the_target_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text("def add(a: int) -> int:\n    return a\n")
    with inspected("--adopt", str(tmp_path / "tools.py")) as (page, _):
        assert page.ready()["title"] == str(tmp_path / "tools.py")
        command = page.post("snippets", tool="add", arguments={"a": 1})["command"]
        assert command.startswith("toolwire call add '{\"a\":1}' -- ")
        assert command.endswith(f"--adopt -- {tmp_path / 'tools.py'}")


def test_a_check_streams_verdicts_and_ends_with_the_report(tmp_path: Path) -> None:
    with tools_page(tmp_path) as page:
        with page.open(
            "POST", "check", {"only": ["tools/list*"], "destructive": False}
        ) as response:
            *verdicts, report = response.lines()
        assert [verdict["number"] for verdict in verdicts] == list(
            range(1, verdicts[0]["total"] + 1)
        )
        assert {verdict["verdict"]["outcome"] for verdict in verdicts} <= {"pass", "not applicable"}
        counts = report["report"]["counts"]
        assert counts["fail"] == 0
        assert sum(counts.values()) == len(verdicts)
        assert_inert(Parsed(report["html"]))
        with page.open("POST", "check", {"only": ["nonsense"], "destructive": False}) as response:
            assert "nonsense" in response.until(type="failure")["message"]


def test_one_check_runs_at_a_time_and_ends_with_its_page(tmp_path: Path) -> None:
    def refusal(only: list[str]) -> str:
        return str(page.lines("check", only=only, destructive=False)[-1].get("message"))

    with tools_page(tmp_path) as page:
        with page.open(
            "POST", "check", {"only": [], "destructive": False}
        ):  # no verdict is awaited
            assert refusal([]) == "a check is running: wait for its end, or cancel it"
        wait_until(lambda: refusal(["tools/list"]) == "None")


def test_a_transcript_is_shown_as_a_run(tmp_path: Path) -> None:
    events = [
        {"type": "Started", "at": "2026-01-01T00:00:00Z", "version": 1},
        {
            "type": "QuestionAsked",
            "at": "2026-01-01T00:00:01Z",
            "content": "<b>How much</b> is 2 + 2?",
        },
    ]
    (tmp_path / "run.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    with inspected(str(tmp_path / "run.jsonl")) as (page, _):
        assert page.get("state")["views"] == ["run", "time"]
        with page.open("GET", "events") as response:
            shown = [response.until(type="run")["html"] for _ in events]
        html = Parsed("".join(shown))
        assert "<b>How much</b> is 2 + 2?" in html.text


def test_a_run_is_watched_live_and_stays_until_ctrl_c(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(
        "def multiply(a: float, b: float) -> float:\n    '''Multiply.'''\n    return a * b\n"
    )
    words = (
        "What is 6 * 7?",
        "--tools",
        str(tmp_path / "tools.py"),
        "--model",
        "arithmetic",
        "--approve",
        "all",
        "--transcript",
        str(tmp_path / "run.jsonl"),
    )
    records = []
    with inspected(*words, "--inspect", command="ask") as (page, process):
        assert page.get("state")["servers_of_run"] == f"--tools {tmp_path / 'tools.py'}"
        with page.open("GET", "events") as response:
            shown = ""
            while "answered" not in shown:
                event = response.until(type="run")
                shown += Parsed(event["html"]).text
                records.append(event["record"])
            assert "What is 6 * 7?" in shown
            assert "multiply" in shown
            assert process.stderr is not None
            while "the page stays until Ctrl-C" not in process.stderr.readline():
                assert process.poll() is None
            process.send_signal(signal.SIGINT)
            assert process.wait(PATIENCE_SECONDS) == 0
        assert process.stdout is not None
        assert process.stdout.read() == "6 * 7 = 42\n"
    lines = (tmp_path / "run.jsonl").read_text().splitlines()
    assert [record["text"] for record in records] == lines
    assert [record["line"] for record in records] == [*range(1, len(lines) + 1)]


# --- hostile servers ---


def test_whatever_a_server_calls_itself_is_only_data(tmp_path: Path) -> None:
    with inspected("--", sys.executable, str(SUPPORT / "escape_sequence_server.py")) as (
        page,
        process,
    ):
        state = page.ready()
        assert "\x1b" in state["server"]["name"]  # JSON, which the page makes visible
        failed = page.call(page.tools()[0])[-1]
        assert failed["type"] == "failure"
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
        assert "\x1b" not in out + err


def test_html_in_what_a_server_says_stays_text(tmp_path: Path) -> None:
    attack = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
    with foreign_page(tmp_path, attack) as page:
        result = page.call(attack, a=attack)[-1]
        html = Parsed(result["html"])
        assert_inert(html)
        assert "<script>alert(1)</script>" in html.text
        with page.open("GET", "state") as response:
            assert response.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    "entry", [5, None, {}, {"name": 5}, {"name": ""}, [1], {"name": None, "inputSchema": "x"}]
)
def test_any_entry_of_the_tool_list_is_shown(tmp_path: Path, entry: Any) -> None:
    with foreign_page(tmp_path, tools=[entry, {"name": "good", "inputSchema": {}}]) as page:
        assert [str(name) for name in page.tools()][1:] == ["good"]


def test_noise_and_a_flood_of_changes_do_not_stop_the_page(tmp_path: Path) -> None:
    with foreign_page(tmp_path, "noise", "flood") as page:
        assert page.call("noise")[-1]["type"] == "result"
        assert page.call("flood", count=20_000)[-1]["type"] == "result"
        with page.open("GET", "events") as events:
            assert events.until(type="gap")["dropped"] > 0
        assert page.tools() == ["noise", "flood"]
