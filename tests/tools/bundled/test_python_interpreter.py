"""PythonInterpreter: how the answer is found, what is told of failures, and what the process is
granted.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.recording_caller import RecordingCaller
from support.sandbox_runs import called, failure, need_sandbox, texts
from toolwire_bundled import find_class
from toolwire_bundled.python_interpreter import action as action_module
from toolwire_bundled.python_interpreter import process as process_module
from toolwire_bundled.python_interpreter import sandbox_probe as protecting
from toolwire_bundled.python_interpreter.job import Ended, Job
from toolwire_bundled.python_interpreter.outcome import write_outcome
from toolwire_compat.lagent import ActionExecutor, ActionStatusCode, get_tool
from toolwire_schemas.wire.codec import decode, encode
from toolwire_tools import ToolError

pytestmark = pytest.mark.process


@pytest.mark.parametrize(
    ("settings", "code", "told"),
    [
        ({}, "def solution():\n    return 6 * 7", ["42"]),
        ({}, "def solution():\n    return 1\n2", ["1"]),
        ({}, "def solution(): pass", ["None"]),
        ({}, "x = 20\nx + 1", ["21"]),
        ({}, "'text'", ["text"]),
        ({}, "[1, 'a', None]", ["[1, 'a', None]"]),
        ({}, "print('one')\nprint('two')", ["one\ntwo"]),
        ({}, "print('one')\n2", ["2", "Printed:\none"]),
        ({}, "import sys\nsys.stderr.write('to stderr')\n0", ["0", "Printed:\nto stderr"]),
        (
            {},
            "x = 1",
            ["(The code printed nothing, and its last statement is no expression with a value.)"],
        ),
        (
            {},
            "",
            ["(The code printed nothing, and its last statement is no expression with a value.)"],
        ),
        ({"answer_expr": None}, "def solution():\n    return 1\n2", ["2"]),
        ({"answer_expr": "a + b"}, "a = 1\nb = 2\n9", ["3"]),
        ({"answer_symbol": "answer"}, "answer = 5\ndef solution():\n    return 1", ["5"]),
        ({"answer_symbol": "answer"}, "answer = None", ["None"]),
        ({"answer_from_stdout": True, "answer_symbol": "x"}, "print('a')\nprint('b')\n3", ["b"]),
        (
            {"answer_from_stdout": True},
            "print('a', 'b', sep='\\n', end='\\n\\n')\nprint(' ')",
            ["b"],
        ),
        ({}, "```python\n1 + 1\n```", ["2"]),
        ({}, "```python\n1 + 2", ["3"]),
        ({}, "```1 + 3```", ["4"]),
        ({}, "Here it is:\n\n```\nx = 3\nx\n```\nand that is all", ["3"]),
        ({}, "'''\n```python\n1\n```\n'''", ["\n```python\n1\n```\n"]),
        ({}, "\ufeff7", ["7"]),
        ({}, "1\r\n2\r\n", ["2"]),
        ({}, "float('nan')", ["nan"]),
        ({}, "'\\ud800'", ["\\ud800"]),
        ({}, "print('\\udfff ü')", ["\\udfff ü"]),
        ({}, "object", ["<class 'object'>"]),
        ({}, "import sys\nprint(1)\nsys.exit()", ["1"]),
    ],
)
def test_the_answer_is_found_where_it_is_asked_for(
    settings: dict[str, Any], code: str, told: list[str]
) -> None:
    assert texts(code, **settings) == told


@pytest.mark.parametrize(
    ("settings", "code", "told"),
    [
        (
            {"answer_symbol": "answer"},
            "1",
            "The code defines no answer, which is to be its answer.",
        ),
        ({"answer_expr": "a"}, "1", "NameError: name 'a' is not defined"),
        (
            {"answer_from_stdout": True},
            "1",
            "The code printed nothing; its answer is the last line that it prints.",
        ),
        ({}, "solution = 1", "TypeError: 'int' object is not callable"),
        ({}, "import sys\nsys.exit('no way')", "SystemExit: no way"),
        (
            {},
            "import os\nos._exit(7)",
            "The code ended its process, with exit status 7, before it had a result.",
        ),
        ({}, "import os\nos.abort()", "The code's process was killed by signal 6 (SIGABRT)."),
        ({}, "print('so far')\nraise KeyError(1)", "KeyError: 1\n\nIt had printed:\nso far"),
        ({}, "raise KeyboardInterrupt", "KeyboardInterrupt"),
        ({}, "input()", "EOFError"),
        ({}, "10 ** 10000", "Exceeds the limit (4300 digits) for integer string conversion"),
    ],
)
def test_a_failure_is_reported(settings: dict[str, Any], code: str, told: str) -> None:
    assert told in failure(code, **settings)


def test_a_traceback_shows_the_code_and_nothing_of_toolwire() -> None:
    code = "def half(x):\n    return x / 0\n\ndef solution():\n    return half(1)"

    lines = failure(f"```python\n{code}\n```").splitlines()

    assert [line for line in lines if "^" not in line] == [
        "Traceback (most recent call last):",
        '  File "<code>", line 5, in solution',
        "    return half(1)",
        '  File "<code>", line 2, in half',
        "    return x / 0",
        "ZeroDivisionError: division by zero",
    ]


def test_a_fence_within_code_does_not_shift_its_lines() -> None:
    told = failure('text = """\n```\nx\n```\n"""\nfail(text)')
    assert '  File "<code>", line 6, in <module>\n    fail(text)\n' in told


def test_an_error_in_the_syntax_is_reported_with_its_line() -> None:
    assert failure("x = 1\ny = (2\nz").splitlines()[:2] == ['  File "<code>", line 2', "    y = (2"]


def test_a_deep_recursion_is_reported_in_a_few_lines() -> None:
    told = failure("def f():\n    f()\nf()")
    assert "RecursionError" in told
    assert len(told.splitlines()) < 20


def test_a_call_knows_nothing_of_the_one_before() -> None:
    assert texts("x = 1\nopen('note', 'w').write('x')") == ["1"]
    assert texts("import os\n'x' in globals(), os.listdir()") == ["(False, [])"]


def test_too_much_is_cut_in_the_middle_with_a_note() -> None:
    answer, printed = texts("print('a' * 5000 + 'z')\n'b' * 1000 + 'y'", max_output_bytes=100)

    assert answer == "b" * 50 + "\n[... 901 characters left out ...]\n" + "b" * 49 + "y"
    assert (
        printed == "Printed:\n" + "a" * 50 + "\n[... 4,902 bytes left out ...]\n" + "a" * 48 + "z"
    )


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_the_limit_of_output_holds_down_to_a_single_byte(limit: int) -> None:
    answer, printed = texts("print('a' * 5000)\n'b' * 1000", max_output_bytes=limit)

    assert answer.count("b") == limit
    assert printed.removeprefix("Printed:\n").count("a") <= limit + "characters".count("a")
    assert failure("raise ValueError('x' * 1000)", max_output_bytes=limit).count("x") < 5


@pytest.mark.parametrize("sandbox", ["auto", "off"])
def test_what_programs_use_is_there(sandbox: Any) -> None:
    code = """
import concurrent.futures, dataclasses, multiprocessing, pickle, sqlite3, subprocess, sys, tempfile, threading
import msgspec

@dataclasses.dataclass
class Point:
    x: int

def double(x):
    return 2 * x

with concurrent.futures.ThreadPoolExecutor(4) as threads:
    assert list(threads.map(double, range(3))) == [0, 2, 4]
with multiprocessing.get_context('fork').Pool(2) as pool:
    assert pool.map(double, range(3)) == [0, 2, 4]
assert subprocess.run([sys.executable, '-c', 'print(5)'], capture_output=True, text=True).stdout == '5\\n'
assert pickle.loads(pickle.dumps(Point(1))) == Point(1)
with tempfile.TemporaryFile() as file:
    file.write(b'x')
open('mine.py', 'w').write('value = 8')
import mine
sqlite3.connect('data.db').execute('create table t (a)')
msgspec.json.encode(Point(mine.value))
"""  # noqa: E501
    assert texts(code, sandbox=sandbox) == ["b'{\"x\":8}'"]


# As an action


def test_an_action_answers_with_the_codes_of_the_original() -> None:
    executor = ActionExecutor([get_tool("PythonInterpreter", timeout=30)])

    good = executor("PythonInterpreter", '{"command": "def solution():\\n    return 5"}')
    bad = executor("PythonInterpreter", {"command": "1 / 0"})
    none = executor("PythonInterpreter", {"code": "1"})

    assert (good.state, good.type, good.errmsg) == (
        ActionStatusCode.SUCCESS,
        "PythonInterpreter",
        None,
    )
    assert good.result == [{"type": "text", "content": "5"}]
    assert (bad.state, bad.result) == (ActionStatusCode.API_ERROR, None)
    assert bad.errmsg.endswith("ZeroDivisionError: division by zero")
    assert none.state == ActionStatusCode.ARGS_ERROR


def test_groot_has_a_name_of_its_own_for_it_and_for_its_parameter() -> None:
    executor = get_tool("CodeExecutor", answer_expr="a + b")
    assert executor('{"code": "a = b = 2"}').format_result() == "4"


@pytest.mark.parametrize(
    ("settings", "named"),
    [
        ({"sandbox": "on"}, "sandbox"),
        ({"timeout": 0}, "timeout"),
        ({"timeout": float("inf")}, "timeout"),
        ({"memory_limit": "2 GB"}, "a number of bytes such as 500000 or 64MiB"),
        ({"max_processes": 0}, "max_processes"),
        ({"max_output_bytes": -1}, "max_output_bytes"),
        ({"readable": ["/no/such"]}, "readable"),
        ({"readable": ["/"]}, "readable"),
    ],
)
def test_a_setting_that_means_nothing_is_refused(settings: dict[str, Any], named: str) -> None:
    with pytest.raises(ValueError, match=named):
        find_class("PythonInterpreter")(**settings)


# What protection there is


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """An empty folder of programs, and nothing known of any sandbox."""
    folder = tmp_path / "programs"
    folder.mkdir()
    protecting._find_obstacle.cache_clear()
    monkeypatch.setenv("PATH", str(folder))
    yield folder
    protecting._find_obstacle.cache_clear()


def test_a_result_says_that_the_code_was_in_a_sandbox() -> None:
    need_sandbox()
    (block,) = called("1")["content"]
    assert block == {
        "type": "text",
        "text": "1",
        "_meta": {"toolwire/python": {"sandbox": "bubblewrap"}},
    }


def test_without_bubblewrap_each_result_says_so_and_the_log_once(
    programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(action_module, "_warned", set())
    caller = RecordingCaller()

    called("1", caller)
    (block,) = called("1", caller)["content"]

    reason = "bwrap is not installed (Debian has it in bubblewrap)"
    assert block["_meta"] == {"toolwire/python": {"sandbox": "none", "reason": reason}}
    assert [line[:2] for line in caller.logged] == [
        ("warning", f"the code runs without a sandbox: {reason}")
    ]


def test_a_sandbox_without_permission_is_unavailable_with_its_own_reason(
    programs: Path,
) -> None:
    for name in ("bwrap", "setpriv"):
        (programs / name).write_text(
            "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n"
        )
        (programs / name).chmod(0o755)

    (block,) = called("1")["content"]

    reason = "bwrap: No permissions to create new namespace"
    assert block["_meta"] == {"toolwire/python": {"sandbox": "none", "reason": reason}}


def test_what_requires_a_sandbox_does_not_run_without(programs: Path, tmp_path: Path) -> None:
    file = tmp_path / "file"

    told = failure(f"open({str(file)!r}, 'w')", sandbox="required")

    assert "not run" in told
    assert "bwrap is not installed" in told
    assert not file.exists()


def test_a_sandbox_can_be_switched_off() -> None:
    (block,) = called("1", sandbox="off")["content"]
    assert block["_meta"]["toolwire/python"]["sandbox"] == "none"


# What comes from the process is what anybody may have written


@given(
    status=st.none() | st.integers(-64, 255),
    result=st.binary(max_size=60),
    output=st.text(max_size=20),
)
def test_whatever_is_read_as_a_result_is_one_or_a_failure_of_the_tool(
    status: int | None, result: bytes, output: str
) -> None:
    job = Job(code="")
    try:
        told = write_outcome(Ended(status, result, output), job)
    except ToolError as error:
        told = [str(error)]
    assert decode(encode(told)) == told
    assert 1 <= len(told) <= 2


def test_the_private_folder_is_gone_afterwards() -> None:
    (folder,) = texts(
        "import os\nos.mkdir('deep')\nos.chmod('deep', 0)\nos.getcwd()", sandbox="off"
    )
    assert "toolwire-python-" in folder
    assert not os.path.exists(folder)


SLOW_SANDBOX = """
import os, sys

pipe, *program = sys.argv[1:]
killed = os.getpid()
if os.fork():
    os.close(0)
    os.waitpid(-1, 0)
else:
    os.setsid()
    os.set_inheritable(os.open(pipe, os.O_WRONLY), True)
    while os.getppid() == killed:
        os.sched_yield()
    os.execv(program[0], program)
"""
"""Does as bubblewrap while it makes a sandbox: the process in it outlives the one that is killed.
"""


@pytest.mark.process
def test_code_is_not_run_if_the_sandbox_is_killed_before_it_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Cancelled(Exception):
        pass

    path = tmp_path / "pipe"
    os.mkfifo(path)
    pipes = []

    def wrap(program: list[str], readable: Any, *, filter_from: int | None = None) -> list[str]:
        return [sys.executable, "-c", SLOW_SANDBOX, str(path), *program]

    def cancel_when_started() -> None:
        pipes.append(os.open(path, os.O_RDONLY))  # waits for the process in the sandbox
        raise Cancelled

    monkeypatch.setattr(process_module, "wrap_in_sandbox", wrap)
    job = Job(code=f"open({str(path)!r}, 'w').write('it runs')")

    with pytest.raises(Cancelled):
        process_module.execute(job, sandboxed=True, check=cancel_when_started)

    (pipe,) = pipes
    assert os.read(pipe, 100) == b""  # the process has ended
    os.close(pipe)
