"""A list with programs in place of its tools: what they call, ask, report and leave behind."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.program_tools import Library, add, fail, introduce, read_much, reply, run_program, wipe
from support.sandbox_runs import NAMED, called_by, need_sandbox
from support.server_process import MODERN, PATIENCE_SECONDS, call, request, wait_until
from support.talk import Talk
from toolwire import Context, Server, tool_api
from toolwire.showing.program_approvals import ALL, NO, ONCE
from toolwire_bundled.programs import program as program_in_sandbox
from toolwire_bundled.python_interpreter import sandbox_probe
from toolwire_schemas.meta_tools import META_PROGRAM

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="bubblewrap is Linux's"),
    pytest.mark.process,
]


@pytest.fixture(autouse=True)
def sandbox() -> None:
    need_sandbox()


@tool_api(read_only=True)
async def wait_a_moment(word: str = "waited") -> str:
    """Run on the event loop."""
    await anyio.sleep(0)
    return word


@tool_api(read_only=True, timeout_seconds=0.05)
async def hang() -> None:
    """Wait for ever."""
    await anyio.sleep_forever()


@tool_api(read_only=True)
def count_up(context: Context) -> str:
    """Report progress."""
    context.progress(1, 2, "half")
    return "counted"


@tool_api(read_only=True)
def ask_age(context: Context) -> int:
    """Ask the user for an age."""
    return context.ask("Your age?", int)


@tool_api(read_only=True)
def look() -> list[dict[str, str]]:
    """Return blocks."""
    return [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]


TOOLS = [add, wipe, fail, wait_a_moment, hang, count_up, ask_age, read_much, look, Library]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    need_sandbox()
    with Server(TOOLS, show="code") as server:
        yield server


def value_of(server: Server, code: str) -> str:
    result = run_program(server, code)
    assert result["isError"] is False, result
    return str(result["content"][0]["text"])


def failure_of(server: Server, code: str) -> str:
    result = run_program(server, code)
    assert result["isError"] is True, result
    return str(result["content"][0]["text"])


# The list


def test_list_has_a_search_and_programs_in_place_of_the_tools(server: Server) -> None:
    listed = server.request("tools/list")

    assert [tool["name"] for tool in listed["tools"]] == ["search_tools", "run_program"]
    assert len(json.dumps(listed)) <= 2000


def test_search_returns_stubs_of_functions_for_programs(server: Server) -> None:
    result = server.call("search_tools", {"query": "find a book", "limit": 1})

    assert result["content"][0]["text"] == (
        "class Library:\n    def find(title: str, limit: int = 1) -> dict[str, Any]:\n"
        '        """Find a book."""'
    )


def test_pinned_tools_stay_in_the_list_and_are_functions_too() -> None:
    with Server(TOOLS, show="code", pin=["add"]) as server:
        names = [tool["name"] for tool in server.request("tools/list")["tools"]]

        assert names == ["search_tools", "run_program", "add"]
        assert value_of(server, "add(1)") == "2"


def test_tool_that_has_the_name_of_the_program_keeps_it() -> None:
    @tool_api(read_only=True)
    def run_program(number: int) -> int:
        return number

    with Server([run_program], show="code") as server:
        names = [tool["name"] for tool in server.request("tools/list")["tools"]]
        assert names == ["search_tools", "run_program_2"]
        result = server.call("run_program_2", {"code": "run_program(3)"})

    assert result["content"][0]["text"] == "3"


def test_programs_without_a_sandbox_are_refused_with_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sandbox_probe, "_find_obstacle", lambda: "bwrap is not installed")
    monkeypatch.setattr(program_in_sandbox, "find_spec", lambda name: None)

    with pytest.raises(ValueError, match="programs need a sandbox: bwrap is not installed; "):
        Server(TOOLS, show="code")


# Calls


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("add(1, b=2)", "3"),
        ("Library.find('x', limit=2)", "{'title': 'x', 'limit': 2}"),
        ("wait_a_moment()", "waited"),
        ("look()", "[{'type': 'text', 'text': 'a'}, {'type': 'text', 'text': 'b'}]"),
        ("await add(1)", "2"),
        ("import asyncio\nawait asyncio.gather(add(1), add(2))", "[2, 3]"),
        ("import asyncio\nasync def main():\n    return await add(1)\nasyncio.run(main())", "2"),
        ("sum(add(number) for number in range(10))", "55"),
        ("len(read_much())", "10000000"),  # stays inside
        ("```python\nadd(4)\n```", "5"),
        (
            "from concurrent.futures import *\nlist(ThreadPoolExecutor(4).map(add, range(4)))",
            "[1, 2, 3, 4]",
        ),
    ],
)
def test_value_of_a_program_is_that_of_its_last_expression(
    server: Server, code: str, expected: str
) -> None:
    assert value_of(server, code) == expected


def test_result_has_what_was_printed_and_the_number_of_calls(server: Server) -> None:
    result = run_program(server, "print('so far')\nadd(1)\nadd(2)")

    first, second = result["content"]
    assert (first["text"], second["text"]) == ("3", "Printed:\nso far")
    assert first["_meta"][META_PROGRAM]["calls"] == 2


def test_calls_run_side_by_side() -> None:
    together = threading.Barrier(3)

    @tool_api(read_only=True)
    def meet() -> str:
        together.wait(PATIENCE_SECONDS)
        return "met"

    with Server([meet], show="code") as server:
        code = "await asyncio.gather(meet(), meet(), meet())"
        assert value_of(server, code) == "['met', 'met', 'met']"


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("fail()", "ToolFailed: No such luck."),
        ("add()", "ToolFailed: arguments.a: is missing"),
        ("add(1, 2, 3)", "ToolFailed: add takes at most 2 positional arguments, not 3."),
        ("add(1, a=2)", "ToolFailed: add has two values for a."),
        ("add(object())", "TypeError: the arguments of add are no JSON: "),
        ("add(float('nan'))", "TypeError: the arguments of add are no JSON: "),
        ("hang()", "ToolFailed: hang did not finish within 0.05 seconds."),
        ("nothing()", "NameError: name 'nothing' is not defined"),
        ("ask_age()", "ToolFailed: This tool asks the user, but the client"),
        ("wipe('x')", "ToolFailed: wipe did not run: it may change something, and this host"),
        ("x = add(1)\nif await add(2) and x:\n    pass", "TypeError: add(...) has no value yet"),
        ("async def f():\n    pass\nadd(1)", "RuntimeError: in a program with `await`, write"),
        ("{", "SyntaxError"),
        ("function add() { return 1 }", "SyntaxError"),
        ("def f():\n    f()\nf()", "RecursionError"),
        ("x = 'x' * 2 ** 40", "MemoryError"),
        ("import socket\nsocket.create_connection(('1.1.1.1', 53), 5)", "OSError"),
        ("open('/etc/passwd').read()", "FileNotFoundError"),
        ("import os\nos._exit(3)", "exit status 3"),
    ],
)
def test_failure_of_a_program_says_why(server: Server, code: str, problem: str) -> None:
    assert problem in failure_of(server, code)


def test_traceback_has_the_places_of_the_program_alone(server: Server) -> None:
    assert failure_of(server, "\nfail()") == (
        'Traceback (most recent call last):\n  File "<code>", line 2, in <module>\n    fail()\n'
        "ToolFailed: No such luck."
    )


def test_program_catches_failures_and_goes_on(server: Server) -> None:
    code = (
        "try:\n    fail()\nexcept ToolFailed as error:\n    print(error.text, error.data)\nadd(1)"
    )

    result = run_program(server, code)

    assert [block["text"] for block in result["content"]] == ["2", "Printed:\nNo such luck. None"]


def test_tool_that_disappears_during_a_program_fails_its_next_call() -> None:
    @tool_api(read_only=True)
    def leave() -> None:
        server.remove("leave")

    with Server([leave, add], show="code") as server:
        problem = failure_of(server, "leave()\nadd(1)\nleave()")

    assert problem.endswith("ToolFailed: There is no tool leave any more; search again.")
    assert "line 3" in problem


def test_tools_of_mounted_servers_are_members_of_their_name(tmp_path: Path) -> None:
    (tmp_path / "far.py").write_text(
        "from toolwire import tool_api\n\n@tool_api(read_only=True)\ndef double(n: int) -> int:\n"
        "    return 2 * n\n"
    )
    command = [sys.executable, "-m", "toolwire", "serve", str(tmp_path / "far.py")]

    with Server([add], show="code", trust_hints=["far"]) as server:
        server.mount(command, "far")
        assert value_of(server, "add(far.double(4))") == "9"


# Limits


def test_program_ends_at_its_time_limit() -> None:
    with Server([add], show="code", program_seconds=0.5) as server:
        problem = failure_of(server, "print('here')\nwhile True: pass")

    assert problem == "The code was ended at its time limit, 0.5 s.\n\nIt had printed:\nhere"


def test_program_makes_no_more_calls_than_it_may() -> None:
    with Server([add], show="code", max_program_calls=2) as server:
        problem = failure_of(server, "for number in range(3):\n    add(number)")

    assert "made 2 calls, which is the limit (--limit max_program_calls)" in problem


def test_program_moves_no_more_bytes_than_it_may() -> None:
    with Server([add, read_much], show="code", max_program_bytes=1_000_000) as server:
        problem = failure_of(server, "read_much()")

    assert "take more than 1,000,000 bytes (--limit max_program_bytes)" in problem


def test_program_has_no_more_memory_than_it_may() -> None:
    with Server([add], show="code", max_program_memory_bytes=256 * 2**20) as server:
        assert failure_of(server, "len(bytearray(2**29))").endswith("MemoryError")


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("x = 1\n" * 100_000, "MemoryError: the code is too large, or nested too deeply"),
        ("(" * 5000, '  File "<code>", line 1\nSyntaxError: too many nested parentheses'),
    ],
    ids=["long", "nested"],
)
def test_program_that_cannot_be_compiled_fails_with_a_sentence(code: str, problem: str) -> None:
    with Server([add], show="code", max_program_memory_bytes=64 * 2**20) as server:
        assert failure_of(server, code) == problem


def test_long_output_of_a_program_is_cut_and_says_so() -> None:
    with Server([add], show="code", max_program_output_bytes=100) as server:
        result = run_program(server, "print('y' * 5000)\n'x' * 1000")

    value, printed = [block["text"] for block in result["content"]]
    assert "[... 900 characters left out ...]" in value
    assert "[... 4,901 bytes left out ...]" in printed


def test_no_more_programs_run_than_may() -> None:
    began, goes_on = threading.Event(), threading.Event()

    @tool_api(read_only=True)
    def wait() -> None:
        began.set()
        assert goes_on.wait(PATIENCE_SECONDS)

    with Server([wait], show="code", max_programs=1) as server:
        talk = Talk(server)
        talk.send(call("run_program", {"code": "wait()"}, 1))
        assert began.wait(PATIENCE_SECONDS)
        talk.send(call("run_program", {"code": "1"}, 2))
        refused = talk.next()
        goes_on.set()
        talk.next()
        talk.session.end()

    assert refused["id"] == 2
    assert "(--limit max_programs)" in refused["result"]["content"][0]["text"]


def test_programs_wait_without_taking_the_threads_of_their_calls() -> None:
    with Server([add], show="code", max_workers=1) as server:
        talk = Talk(server)
        for number in range(3):
            talk.send(call("run_program", {"code": f"add({number})"}, number))
        texts = sorted(talk.next()["result"]["content"][0]["text"] for _ in range(3))
        talk.session.end()

    assert texts == ["1", "2", "3"]


# The client: progress, questions, cancellation


@pytest.fixture
def talk() -> Iterator[Talk]:
    with Server(TOOLS, show="code") as server:
        talk = Talk(server)
        yield talk
        talk.session.end()


def program(code: str, id: int = 1, **meta: Any) -> dict[str, Any]:
    return call("run_program", {"code": code}, id, **meta)


def test_progress_counts_calls_and_passes_messages_of_tools(talk: Talk) -> None:
    talk.send(program("count_up()\nadd(1)", progressToken="p"))

    reports = [talk.next()["params"] for _ in range(3)]

    assert [report["progress"] for report in reports][1:] == [1, 2]
    messages = [report["message"] for report in reports]
    assert messages[0].startswith("0 calls, ")
    assert messages[0].endswith(" s; count_up: half")
    assert messages[1].startswith("1 call, ")
    assert messages[2].startswith("2 calls, ")


def test_tool_asks_the_user_in_the_name_of_the_program(talk: Talk) -> None:
    introduce(talk)
    talk.send(program("ask_age() + 1"))
    asked = talk.next()

    reply(talk, asked, answer=36)

    assert talk.next()["result"]["content"][0]["text"] == "37"


def test_program_stops_before_its_first_change_and_asks_once(talk: Talk) -> None:
    introduce(talk)
    talk.send(program("add(1)\nfor path in 'abc':\n    print(wipe(path))"))
    asked = talk.next()
    message = asked["params"]["message"]
    reply(talk, asked, allow=ALL)

    assert 'wipe, which may change something.\n  path = "a"\n' in message
    assert "> 3      print(wipe(path))" in message
    assert talk.next()["result"]["content"][0]["text"] == "wiped a\nwiped b\nwiped c"


def test_change_that_the_user_refuses_fails(talk: Talk) -> None:
    introduce(talk)
    talk.send(program("wipe('a')"))
    reply(talk, talk.next(), allow=NO)

    result = talk.next()["result"]

    assert result["content"][0]["text"].endswith("ToolFailed: wipe did not run: the user said no.")


def test_program_asks_a_modern_client(talk: Talk) -> None:
    able = {**MODERN, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
    first = program("wipe('a')", **able)
    talk.send(first)
    asked = talk.next()["result"]
    ((key, _),) = asked["inputRequests"].items()
    again = {
        **first["params"],
        "requestState": asked["requestState"],
        "inputResponses": {key: {"action": "accept", "content": {"allow": ONCE}}},
    }

    talk.send({**first, "id": 2, "params": again})

    assert talk.next()["result"]["content"][0]["text"] == "wiped a"


def test_questions_of_calls_side_by_side_come_one_after_the_other(talk: Talk) -> None:
    introduce(talk)
    talk.send(program("await asyncio.gather(ask_age(), ask_age())"))
    for age in (1, 2):
        asked = talk.next()
        assert asked["method"] == "elicitation/create"
        reply(talk, asked, answer=age)

    assert sorted(json.loads(talk.next()["result"]["content"][0]["text"])) == [1, 2]


SLEEPER = NAMED.format("sleeping-prog")


def test_cancelled_program_cancels_its_calls_and_leaves_no_process() -> None:
    began, cancelled = threading.Event(), threading.Event()

    @tool_api(read_only=True)
    async def sleep() -> None:
        began.set()
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()

    with Server([sleep], show="code") as server:
        talk = Talk(server)
        talk.send(program(f"{SLEEPER}\nimport os\nos.fork()\nsleep()", 7))
        assert began.wait(PATIENCE_SECONDS)
        talk.send(request("notifications/cancelled", {"requestId": 7}, ...))

        assert cancelled.wait(PATIENCE_SECONDS)
        wait_until(lambda: not called_by("sleeping-prog"))
        wait_until(lambda: not talk.session.in_flight.list_running())
        talk.send(request("ping", id=8))
        assert talk.next() == {"jsonrpc": "2.0", "id": 8, "result": {}}
        talk.session.end()


def test_program_that_is_killed_leaves_no_call() -> None:
    began, cancelled = threading.Event(), threading.Event()

    @tool_api(read_only=True)
    async def sleep() -> None:
        began.set()
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()

    code = (
        "import os, threading\nthreading.Thread(target=sleep, daemon=True).start()\n"
        "add(1)\nos.kill(os.getpid(), 9)"
    )
    with Server([sleep, add], show="code") as server:
        talk = Talk(server)
        talk.send(program(code))
        result = talk.next()["result"]
        assert began.wait(PATIENCE_SECONDS)
        assert cancelled.wait(PATIENCE_SECONDS)
        wait_until(lambda: not talk.session.in_flight.list_running())
        talk.session.end()

    assert "killed by signal" in result["content"][0]["text"]


def test_program_that_ends_leaves_no_call_that_it_does_not_await(talk: Talk) -> None:
    talk.send(program("hang()\nawait add(1)"))

    assert talk.next()["result"]["content"][0]["text"] == "2"
    wait_until(lambda: not talk.session.in_flight.list_running())


# Any program

NAMES = st.sampled_from(["add", "fail", "Library.find", "wait_a_moment", "wipe", "print", "x"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20) | NAMES.map(str),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


@st.composite
def programs(draw: st.DrawFn) -> str:
    lines = []
    for _ in range(draw(st.integers(0, 4))):
        value = repr(draw(VALUES))
        name = draw(NAMES)
        lines.append(
            draw(
                st.sampled_from(
                    [
                        f"{name}({value})",
                        f"await {name}({value})",
                        f"x = {name}(*[{value}], **{{'a': 1}})",
                        f"try:\n    {name}({value})\nexcept ToolFailed as error:\n    print(error)",
                        f"[{name}(n) for n in range(3)]",
                        f"def {name.partition('.')[0]}(*a): return a",
                        f"raise ValueError({value})",
                        f"del {name}",
                        "import os; os.close(3)",
                        "import os; os.write(3, b'x' * 9)",
                        draw(st.text(max_size=30)),
                    ]
                )
            )
        )
    return "\n".join(lines)


def check_any_program(server: Server, code: str) -> None:
    result = run_program(server, code)
    assert result["content"][0]["type"] == "text"
    assert isinstance(result["isError"], bool)


RANDOM_PROGRAMS = int(os.environ.get("TOOLWIRE_RANDOM_PROGRAMS", "300"))
"""How many programs the slow test runs: 10,000 take a quarter of an hour."""


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(code=programs())
def test_any_program_has_a_result(server: Server, code: str) -> None:
    check_any_program(server, code)


@pytest.mark.slow
@settings(max_examples=RANDOM_PROGRAMS, deadline=None, suppress_health_check=list(HealthCheck))
@given(code=programs())
def test_many_programs_have_results_and_leave_nothing(server: Server, code: str) -> None:
    check_any_program(server, code)
