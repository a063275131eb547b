"""Programs in pydantic-monty: what they call, their limits, and what they leave behind."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import anyio
import pytest
from support.program_tools import Library, add, fail, introduce, read_much, reply, run_program, wipe
from support.running_processes import own_children
from support.server_process import PATIENCE_SECONDS, call, request, wait_until
from support.talk import Talk
from toolwire import Server, tool_api
from toolwire.showing.program_approvals import ALL
from toolwire_bundled.programs import program
from toolwire_bundled.programs.program import NoSandbox, find_sandbox
from toolwire_bundled.python_interpreter.sandbox_probe import Protection

pytest.importorskip("pydantic_monty")

pytestmark = pytest.mark.process


TOOLS = [add, wipe, fail, read_much, Library]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with Server(TOOLS, show="code", sandbox="monty") as server:
        yield server


def run(server: Server, code: str) -> tuple[bool, list[str]]:
    result = run_program(server, code)
    return result["isError"], [block["text"] for block in result["content"]]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("add(1, b=2)", "3"),
        ("Library.find('x', limit=2)", "{'title': 'x', 'limit': 2}"),
        ("sum([add(number) for number in range(10)])", "55"),
        (
            "await asyncio.gather(add(1), add(2), Library.find('y'))",
            "[2, 3, {'title': 'y', 'limit': 1}]",
        ),
        ("len(read_much())", "10000000"),
        ("try:\n    fail()\nexcept ToolFailed as error:\n    print(error)", "No such luck.\n"),
    ],
)
def test_value_of_a_program_is_that_of_its_last_expression(
    server: Server, code: str, expected: str
) -> None:
    assert run(server, code) == (False, [expected.rstrip("\n")])


def test_result_has_what_was_printed(server: Server) -> None:
    assert run(server, "print('so far')\nadd(1)") == (False, ["2", "Printed:\nso far"])


def test_calls_run_side_by_side() -> None:
    together = threading.Barrier(3)

    @tool_api(read_only=True)
    def meet() -> str:
        together.wait(PATIENCE_SECONDS)
        return "met"

    with Server([meet], show="code", sandbox="monty") as server:
        code = "await asyncio.gather(meet(), meet(), meet())"
        assert run(server, code) == (False, ["['met', 'met', 'met']"])


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("fail()", "RuntimeError: No such luck."),
        ("add()", "arguments.a: is missing"),
        ("add(float('nan'))", "the arguments of add are no JSON"),
        ("nothing()", "NameError"),
        ("list(map(add, [1]))", "[tool(x) for x in values]"),
        ("wipe('x')", "wipe did not run: it may change something"),
        ("{", "SyntaxError"),
        ("class A(int): pass", "does not yet support class inheritance"),
        ("import socket", "ModuleNotFoundError"),
        ("open('/etc/passwd').read()", "PermissionError"),
        ("def f():\n    f()\nf()", "RecursionError"),
        ("x = 'x' * 10 ** 10", "MemoryError"),
    ],
)
def test_failure_of_a_program_says_why(server: Server, code: str, problem: str) -> None:
    is_error, [text] = run(server, code)

    assert is_error
    assert problem in text


def test_program_ends_at_its_time_limit() -> None:
    with Server([add], show="code", sandbox="monty", program_seconds=0.5) as server:
        is_error, [text] = run(server, "print('here')\nwhile True: pass")

    assert is_error
    assert text == "The code was ended at its time limit, 0.5 s.\n\nIt had printed:\nhere"


@pytest.mark.parametrize(
    ("limits", "code", "problem"),
    [
        ({"max_program_calls": 2}, "for n in range(3):\n    add(n)", "--limit max_program_calls"),
        ({"max_program_bytes": 1_000_000}, "read_much()", "--limit max_program_bytes"),
        ({"max_program_memory_bytes": 10_000_000}, "'x' * 20_000_000", "MemoryError"),
    ],
)
def test_program_has_the_limits_of_other_programs(
    limits: dict[str, int], code: str, problem: str
) -> None:
    with Server(TOOLS, show="code", sandbox="monty", **limits) as server:
        is_error, [text] = run(server, code)

    assert is_error
    assert problem in text


def test_program_asks_before_a_change_and_names_the_line(server: Server) -> None:
    talk = Talk(server)
    introduce(talk)
    talk.send(call("run_program", {"code": "add(1)\nfor p in 'ab':\n    print(wipe(p))"}))
    asked = talk.next()
    reply(talk, asked, allow=ALL)

    assert "> 3      print(wipe(p))" in asked["params"]["message"]
    assert talk.next()["result"]["content"][0]["text"] == "wiped a\nwiped b"
    talk.session.end()


@pytest.mark.parametrize("code", ["sleep()", "await sleep()", "sleep()\nwhile True: pass"])
def test_cancelled_program_leaves_no_call_and_no_process(code: str) -> None:
    began = threading.Event()

    @tool_api(read_only=True)
    async def sleep() -> None:
        began.set()
        await anyio.sleep_forever()

    with Server([sleep], show="code", sandbox="monty") as server:
        talk = Talk(server)
        before = own_children()
        talk.send(call("run_program", {"code": code}, 7))
        assert began.wait(PATIENCE_SECONDS)
        talk.send(request("notifications/cancelled", {"requestId": 7}, ...))

        wait_until(lambda: not talk.session.in_flight.list_running())
        wait_until(lambda: own_children() <= before)
        talk.session.end()


# Which sandbox


@pytest.mark.parametrize(
    ("wanted", "has_bubblewrap", "has_monty", "expected"),
    [
        ("auto", True, True, "bubblewrap"),
        ("auto", True, False, "bubblewrap"),
        ("auto", False, True, "monty"),
        ("auto", False, False, None),
        ("bubblewrap", True, True, "bubblewrap"),
        ("bubblewrap", False, True, None),
        ("monty", True, True, "monty"),
        ("monty", True, False, None),
    ],
)
def test_sandbox_is_the_wanted_one_or_bubblewrap_first(
    monkeypatch: pytest.MonkeyPatch,
    wanted: str,
    has_bubblewrap: bool,
    has_monty: bool,
    expected: str | None,
) -> None:
    found = Protection(has_bubblewrap, "" if has_bubblewrap else "no bwrap")
    monkeypatch.setattr(program, "find_protection", lambda wanted: found)
    monkeypatch.setattr(program, "find_spec", lambda name: object() if has_monty else None)

    if expected is None:
        with pytest.raises(NoSandbox, match=r"toolwire\[monty\]"):
            find_sandbox(wanted)
    else:
        assert find_sandbox(wanted) == expected
