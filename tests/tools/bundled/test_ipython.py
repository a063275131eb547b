"""IPythonInterpreter: a session that keeps what it was told, shows pictures, and ends when nobody
needs it.
"""

from __future__ import annotations

import base64
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.recording_caller import RecordingCaller
from support.sandbox_runs import NAMED, called_by
from support.server_process import Process, call, request, running, wait_until
from toolwire_bundled.ipython import IPythonInterpreter
from toolwire_bundled.ipython.cell import Cell
from toolwire_bundled.ipython.code import extract_code
from toolwire_compat.lagent import ActionExecutor, ActionStatusCode, TupleParser, get_tool
from toolwire_tools import Cancelled, Context

pytestmark = pytest.mark.process

TOOL = "IPythonInterpreter"
PICTURE = "from PIL import Image; Image.new('RGB', (3, 2), 'red')"


@pytest.fixture(scope="module")
def shared() -> Iterator[IPythonInterpreter]:
    """A session for tests that do not mind what others have done in it."""
    action = IPythonInterpreter()
    yield action
    action.reset()


@pytest.fixture
def made() -> Iterator[Any]:
    """Makes sessions of one's own, and ends them."""
    actions: list[IPythonInterpreter] = []

    def make(**settings: Any) -> IPythonInterpreter:
        actions.append(IPythonInterpreter(**settings))
        return actions[-1]

    yield make
    for action in actions:
        action.reset()


def told(action: IPythonInterpreter, command: str, **more: Any) -> list[Any]:
    answer = action({"command": command, **more})
    assert answer.state == ActionStatusCode.SUCCESS, answer.errmsg
    return [item["content"] for item in answer.result or []]


def failure(action: IPythonInterpreter, command: str, **more: Any) -> str:
    answer = action({"command": command, **more})
    assert answer.state == ActionStatusCode.API_ERROR
    return str(answer.errmsg)


def test_the_four_calls_of_the_document_give_its_results() -> None:
    first, second = IPythonInterpreter(), IPythonInterpreter(parser=TupleParser)
    answers = [
        first('{"command": "import math;math.sqrt(100)"}'),
        first({"command": "import math;math.sqrt(100)"}),
        second('("import math;math.sqrt(100)", )'),
        second(("import math;math.sqrt(100)",)),
    ]
    first.reset()
    second.reset()

    assert [answer.result for answer in answers] == 4 * [[{"type": "text", "content": "10.0"}]]


def test_an_executor_calls_it_by_its_name() -> None:
    executor = ActionExecutor([get_tool(TOOL)])
    answer = executor(TOOL, '{"command": "import math;math.sqrt(100)"}')
    executor.actions[TOOL].reset()

    assert answer.result == [{"type": "text", "content": "10.0"}]


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("print('one')\n2", "one\n2"),
        ("x = 1", ""),
        ("", ""),
        ("```python\n1 + 1\n```", "2"),
        ("Here:\n```\n3\n```\nthat was it", "3"),
        ("```python\n4", "4"),
        ("```5```", "5"),
        ("'''\n```\n1\n```\n'''", repr("\n```\n1\n```\n")),
        ("import sys; _ = sys.stderr.write('to stderr')", "to stderr"),
        ("%precision 2\n1/3", "0.33"),
        ("from IPython.display import clear_output\nprint('a'); clear_output(); print('b')", "b\n"),
        ("print('\\x1b[31mred\\x1b[0m')", "red\n"),
        ("'蜜蜂 𝄞'", "'蜜蜂 𝄞'"),
    ],
)
def test_what_is_printed_and_shown_is_reported_in_its_order(
    shared: IPythonInterpreter, command: str, text: str
) -> None:
    assert told(shared, command) == [text]


def test_variables_are_kept_from_call_to_call_and_gone_after_a_reset(made: Any) -> None:
    action = made()
    told(action, "kept = [1]")
    assert told(action, "kept + [2]") == ["[1, 2]"]

    action.reset()

    assert "NameError" in failure(action, "kept")


def test_an_error_is_reported_with_its_line_and_what_was_printed_before(
    shared: IPythonInterpreter,
) -> None:
    error = failure(shared, "print('before')\nfor n in (1, 0):\n    1 / n")

    assert error.startswith("before\n")
    assert "----> 3     1 / n" in error
    assert error.endswith("ZeroDivisionError: division by zero")
    assert "\x1b" not in error


@pytest.mark.parametrize(
    "command",
    [
        '{"code": "x = 1\\nx + 1"}',
        "{'code': 'x = 1\\nx + 1'}",
        '```json\n{"code": "x = 1\\nx + 1"}\n```',
        '{"code": "```python\\nx = 1\\nx + 1\\n```"}',
    ],
)
def test_code_in_an_object_is_unwrapped(command: str) -> None:
    assert extract_code(command) == "x = 1\nx + 1"


@pytest.mark.parametrize(
    "command", ['{"code": 1}', '{"code": "1", "a": 2}', '{"a": "1"}', "{code}", "{'code': x}"]
)
def test_other_objects_are_python(command: str) -> None:
    assert extract_code(command) == command


def test_an_object_with_code_runs_as_that_code(shared: IPythonInterpreter) -> None:
    assert told(shared, '{"code": "6 * 7"}') == ["42"]


def test_the_time_limit_is_described_as_in_lagent() -> None:
    action = IPythonInterpreter()

    assert {each["name"]: each["type"] for each in action.description["parameters"]} == {
        "command": "STRING",
        "timeout": "NUMBER",
    }


def test_input_is_refused(shared: IPythonInterpreter) -> None:
    assert "Error" in failure(shared, "input()")


@pytest.mark.parametrize(
    "command", ["!pip install x", "%pip install x", "x = !pip install x", "!!pip install x"]
)
def test_a_command_of_the_shell_prints_a_line_and_the_cell_goes_on(
    shared: IPythonInterpreter, command: str
) -> None:
    [text] = told(shared, f"{command}\nprint('after')")

    line, rest = text.split("\n", 1)
    assert line.startswith("Not run")
    assert "pip install x" in line
    assert rest.endswith("after\n")


def test_the_output_of_a_skipped_command_is_empty(shared: IPythonInterpreter) -> None:
    [text] = told(shared, "lines = !echo yes\nprint(lines, repr(lines.s))")

    assert text.endswith("[] ''\n")


def test_the_shell_can_be_allowed(made: Any) -> None:
    assert told(made(shell=True), "words = !echo yes\nwords[0]") == ["'yes'"]


def test_pictures_are_content_for_hosts_and_data_or_files_for_actions(
    shared: IPythonInterpreter, made: Any, tmp_path: Path
) -> None:
    [uri] = told(shared, PICTURE)
    [path] = told(made(work_dir=str(tmp_path / "new")), PICTURE)

    assert uri.startswith("data:image/png;base64,")
    data = base64.b64decode(uri.partition(",")[2])
    assert data.startswith(b"\x89PNG")
    assert Path(path).read_bytes()[:4] == b"\x89PNG"
    assert Path(path).parent == tmp_path / "new"


def test_late_code_is_interrupted_and_the_session_goes_on(shared: IPythonInterpreter) -> None:
    told(shared, "kept = 1")

    error = failure(shared, "print('begun')\nwhile True: pass", timeout=1)

    assert error.startswith("Timeout. No response after 1 seconds.")
    assert "begun" in error
    assert told(shared, "kept") == ["1"]


def test_code_that_heeds_no_interruption_ends_the_session_and_the_next_call_is_reported(
    made: Any,
) -> None:
    action = made()
    stubborn = (
        "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True:"
        " time.sleep(60)"
    )

    error = failure(action, stubborn, timeout=3)

    assert "its variables are gone" in error
    news, answer = told(action, "1")
    assert "its variables are gone" in news
    assert answer == "1"
    assert told(action, "2") == ["2"]


@pytest.mark.parametrize(
    ("command", "how"),
    [
        ("import os; os._exit(3)", "exit status 3"),
        ("import os; os.kill(os.getpid(), 9)", "signal 9"),
        ("exit()", ""),
    ],
)
def test_code_that_ends_the_session_is_reported_and_the_next_call_begins_another(
    made: Any, command: str, how: str
) -> None:
    action = made()
    told(action, "kept = 1")

    error = failure(action, command)

    assert f"The code ended the session ({how}" in error
    assert "NameError" in failure(action, "kept")


def test_a_temporary_folder_with_a_very_long_path_will_do(
    made: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))

    assert told(made(), "1 + 1") == ["2"]


@pytest.mark.skipif(sys.platform != "linux", reason="it is found in /proc")
def test_what_left_the_process_group_ends_with_the_session(made: Any) -> None:
    action, name = made(), f"tw-away-{os.getpid() % 10_000}"
    daemon = (
        f"import os, time\n{NAMED.format(name)}os.setsid()\nprint(flush=True)\nwhile True:"
        " time.sleep(60)"
    )
    start = (
        "import subprocess, sys\np = subprocess.Popen([sys.executable, '-c', {!r}],"
        " stdout=-1)\np.stdout.readline()"
    )
    told(action, start.format(daemon))
    assert called_by(name)

    action.reset()

    wait_until(lambda: not called_by(name))


def test_an_idle_session_ends(made: Any) -> None:
    action = made(idle_seconds=0.05)
    name = f"tw-idle-{os.getpid() % 10_000}"
    told(action, NAMED.format(name))
    wait_until(lambda: not called_by(name))

    news, answer = told(action, "1")

    assert "was not used for 0.05 seconds" in news
    assert answer == "1"


def test_the_code_sees_no_key_of_the_servers(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")

    assert told(made(), "import os; 'OPENAI_API_KEY' in os.environ") == ["False"]


LOOKS_AROUND = """
import glob
def environment(path):
    try:
        with open(path, 'rb') as file:
            return file.read()
    except OSError:
        return b''
any(b'sk-secret' in environment(path) for path in glob.glob('/proc/[0-9]*/environ'))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_the_environment_of_the_server_and_of_its_parent_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    parent = (
        "import subprocess, sys; subprocess.run([sys.executable, '-m', 'toolwire', 'serve',"
        " sys.argv[1]])"
    )
    with running("-c", parent, TOOL, env=dict(os.environ)) as process:
        found = process.ask(call(TOOL, {"command": LOOKS_AROUND}))["result"]
        process.popen.stdin.close()
        process.popen.wait(60)

    if kernel_namespace():
        assert [block["text"] for block in found["content"]] == ["False"]
    elif os.environ.get("TOOLWIRE_REQUIRE_PEERS") == "1":
        pytest.fail("bubblewrap is needed: apt-get install bubblewrap")


@pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="only root becomes another user"
)
def test_without_bubblewrap_a_server_that_is_not_root_hides_its_environment(tmp_path: Path) -> None:
    code = """
import ctypes, os
from toolwire_bundled.ipython import kernel
os.setgid(61000)
os.setuid(61000)
ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # as it is in a server that has not become another user
def look():
    child = os.fork()
    if child == 0:
        parent = os.getppid()
        os.execv("/bin/cat", ["cat", f"/proc/{parent}/environ"])
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
before = look()
kernel._hide_environment()
print(before, look())
"""
    done = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, timeout=60
    )

    assert done.stdout.endswith("True False\n")


@pytest.mark.skipif(sys.platform != "linux", reason="it is found in /proc")
@pytest.mark.parametrize("has_namespace", [True, False])
def test_what_hides_from_the_search_for_it_ends_with_the_session(
    made: Any, monkeypatch: pytest.MonkeyPatch, has_namespace: bool
) -> None:
    action, name = made(), f"tw-hide-{os.getpid() % 10_000}"
    if not has_namespace:
        monkeypatch.setattr("toolwire_bundled.ipython.kernel._find_namespace_command", lambda: ())
        monkeypatch.setattr("toolwire_bundled.ipython.kernel._hide_environment", lambda: None)
    daemon = (
        f"import os, time\n{NAMED.format(name)}os.setsid()\nprint(flush=True)\nwhile True:"
        " time.sleep(60)"
    )
    start = (
        "import subprocess, sys\np = subprocess.Popen([sys.executable, '-c', {!r}], stdout=-1,"
        " env={{}}, cwd='/')\np.stdout.readline()"
    )
    told(action, start.format(daemon))
    assert called_by(name)

    action.reset()

    wait_until(lambda: not called_by(name))


def kernel_namespace() -> tuple[str, ...]:
    from toolwire_bundled.ipython.kernel import _find_namespace_command

    return _find_namespace_command()


def test_the_code_runs_in_the_users_folder_or_one_that_goes_with_the_session(
    made: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    where = "import os; print(os.getcwd(), end='')"
    monkeypatch.setenv("USER_DATA_DIR", str(tmp_path))
    assert told(made(), where) == [str(tmp_path)]

    monkeypatch.delenv("USER_DATA_DIR")
    action = made()
    [folder] = told(action, where)
    assert os.path.isdir(folder)
    action.reset()
    assert not os.path.exists(folder)


def test_invalid_settings_are_refused_at_once(tmp_path: Path) -> None:
    for settings in ({"timeout": 0}, {"max_out_len": -1}, {"idle_seconds": float("nan")}):
        with pytest.raises(ValueError, match=f"{next(iter(settings))}: a positive number"):
            IPythonInterpreter(**settings)
    with pytest.raises(ValueError, match="there is no folder"):
        IPythonInterpreter(user_data_dir=str(tmp_path / "none"))
    assert "arguments.timeout" in str(IPythonInterpreter()({"command": "1", "timeout": -1}).errmsg)


def test_long_output_is_cut_in_the_middle(shared: IPythonInterpreter) -> None:
    [text] = told(shared, "print('a' * 10**6 + 'z')")

    assert text.startswith("aaaa")
    assert text.endswith("z\n")
    assert "characters left out" in text
    assert len(text) < 8192 + 100


def test_what_is_too_large_to_receive_is_lost_and_the_session_goes_on(
    shared: IPythonInterpreter,
) -> None:
    [text] = told(shared, "kept = 2\n'z' * (70 * 2**20)", timeout=60)

    assert "what was shown is lost" in text
    assert told(shared, "kept") == ["2"]


def test_calls_of_several_threads_take_turns(shared: IPythonInterpreter) -> None:
    told(shared, "count = 0")
    answers: list[Any] = []

    def add() -> None:
        answers.append(told(shared, "seen = count\ncount = seen + 1\ncount"))

    threads = [threading.Thread(target=add) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(answers) == [[str(n)] for n in range(1, 9)]


def test_a_cancelled_call_is_interrupted_and_reports_its_progress(
    shared: IPythonInterpreter,
) -> None:
    told(shared, "kept = 3")
    caller = RecordingCaller(patience=1)

    with pytest.raises(Cancelled):
        shared.run(
            "print('working', flush=True)\nimport time\ntime.sleep(600)", context=Context(caller)
        )

    assert caller.told == [(1, None, "working\n")]
    assert told(shared, "kept") == ["3"]


# In a server


@pytest.fixture
def server() -> Iterator[Process]:
    with running("-m", "toolwire", "serve", TOOL) as process:
        yield process


def test_a_host_gets_texts_pictures_and_errors(server: Process) -> None:
    said = [
        server.ask(call(TOOL, {"command": code}))["result"]
        for code in ("x = 2\nprint('{')", "x", PICTURE, "1/0")
    ]

    assert [block["text"] for result in said[:2] for block in result["content"]] == ["{\n", "2"]
    [image] = said[2]["content"]
    assert (image["type"], image["mimeType"]) == ("image", "image/png")
    assert base64.b64decode(image["data"]).startswith(b"\x89PNG")
    assert said[3]["isError"]
    assert "ZeroDivisionError" in said[3]["content"][0]["text"]


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.parametrize("end", ["input", signal.SIGTERM, signal.SIGKILL])
def test_no_kernel_outlives_the_server(server: Process, end: Any) -> None:
    name = f"tw-kernel-{os.getpid() % 10_000}"
    code = NAMED.format(name) + "import os, time\nos.fork()\nwhile True:\n    time.sleep(60)"
    server.send(call(TOOL, {"command": code}))
    wait_until(lambda: len(called_by(name)) == 2)

    if end == "input":
        server.popen.stdin.close()
    else:
        server.popen.send_signal(end)

    wait_until(lambda: not called_by(name))


def test_a_cancelled_call_leaves_the_session_to_the_next(server: Process) -> None:
    server.ask(call(TOOL, {"command": "kept = 1"}, id=1))
    server.send(call(TOOL, {"command": "import time; time.sleep(600)"}, id=2))
    server.send(request("notifications/cancelled", {"requestId": 2}, id=...))

    assert server.ask(call(TOOL, {"command": "kept"}, id=3))["result"]["content"][0]["text"] == "1"


# What a kernel says


@given(st.lists(st.text(max_size=40), max_size=20), st.integers(1, 50))
def test_of_any_output_both_ends_are_kept(texts: list[str], limit: int) -> None:
    cell = Cell(limit)
    for text in texts:
        cell.add({"msg_type": "stream", "content": {"text": text.replace("\x1b", "")}})

    whole, half = "".join(texts).replace("\x1b", ""), max(1, limit // 2)
    if len(whole) <= 2 * half:
        assert cell.text == whole
    else:
        note = f"\n[... {len(whole) - 2 * half:,} characters left out ...]\n"
        assert cell.text == whole[:half] + note + whole[-half:]


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.sampled_from(
        ["stream", "execute_result", "display_data", "error", "clear_output", "status", "else"]
    ),
    st.fixed_dictionaries({}, optional=dict.fromkeys(("text", "ename", "evalue", "wait"), _JSON)),
)
def test_a_message_with_odd_members_is_no_reason_to_crash(
    kind: str, content: dict[str, Any]
) -> None:
    assert isinstance(Cell(10).add({"msg_type": kind, "content": content}), str)


def test_pictures_are_limited_in_all() -> None:
    cell = Cell(1000)
    for _ in range(3):
        cell.add(
            {"msg_type": "display_data", "content": {"data": {"image/png": "A" * 3 * 1024 * 1024}}}
        )

    assert len(cell.pictures) == 2
    assert "a picture of 2,359,296 bytes left out" in cell.text
