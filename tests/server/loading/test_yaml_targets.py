"""Tools described in YAML, served: commands, functions and executors, by real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from support.running_processes import is_running, read_pid
from support.server_process import PATIENCE_SECONDS, Process, call, request, running, wait_until
from toolwire_schemas.install_command import install_command

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="the commands are those of POSIX"),
    pytest.mark.process,
]

GREP = """
    use_guide: {tool_name: grep, description: Find lines in a file.}
    parameters:
      pattern: {type: string, description: a regular expression}
      file: {type: string, default: notes.txt}
      most: {type: integer, minimum: 1, required: false}
      any_case: {type: boolean, default: false}
    command: [grep, "{any_case?-i}", [-m, "{most}"], -e, "{pattern}", "{file}"]
    allow_leading_dash: [pattern]
    success: [0, 1]
    read_only: true
"""
NOTES = "Tea\ncoffee\ntea again\n"
RAG = '''
from toolwire_compat.mas import Executor

@Executor.register(executor_type="tool", executor_name="RAG")
class RagTool(Executor):
    """Not what the YAML says."""
    def __init__(self):
        super().__init__()

    def execute(self, step_id, agent_state):
        step = agent_state["agent_step"].get_step(step_id)
        if step.instruction_content == "fail":
            raise ValueError("no such book")
        return {"state": step.execution_state, "asked": step.instruction_content}

def helper(): ...
'''
RAG_CONFIG = """
    use_guide: {tool_name: rag, description: 检索知识库}
    use_prompt:
      tool_name: rag
      tool_prompt: Say what to look for.
      return_format: '<RAG>{"query": ...}</RAG>'
"""
WAIT = """
    use_guide: {{tool_name: wait, description: Waits.}}
    parameters: {{}}
    command: [sh, -c, "sleep 1000 & echo $! > child.new; mv child.new child; wait"]
    {more}
"""
PIPE = """
    name: wait
    description: Waits.
    shell: true
    command: |
        echo tea | {{ cat; sleep 1000 & echo $! > child.new; mv child.new child; wait; }} | cat
    {more}
"""
WAITING = pytest.mark.parametrize("text", [WAIT, PIPE], ids=["command", "pipe"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "notes.txt").write_text(NOTES, "utf-8")
    return tmp_path


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        stem, _, ending = name.rpartition("_")
        (folder / f"{stem}.{ending}").write_text(dedent(text), "utf-8")


@contextmanager
def serving(folder: Path, *targets: str, **more: Any) -> Iterator[Process]:
    with running("-m", "toolwire", "serve", *targets, cwd=folder, **more) as process:
        yield process


def listed(process: Process) -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = process.ask(request("tools/list"))["result"]["tools"]
    return tools


def called(process: Process, name: str, **arguments: Any) -> Any:
    """What a call answers: structured content, or its text; a list of one if it is an error."""
    result = process.ask(call(name, arguments))["result"]
    answer = result.get("structuredContent", result["content"][0]["text"])
    return [answer] if result["isError"] else answer


def is_tied(pid: Path) -> bool:
    """Whether the process has a descriptor that signals: with O_ASYNC among its flags, which are
    octal.
    """
    flags = []
    for info in Path(f"/proc/{pid.read_text().strip()}/fdinfo").iterdir():
        with suppress(FileNotFoundError):  # it was closed just now
            flags += [
                int(line.split()[1], 8)
                for line in info.read_text().splitlines()
                if line.startswith("flags:")
            ]
    return any(flag & os.O_ASYNC for flag in flags)


needs_proc = pytest.mark.skipif(
    not os.path.isdir("/proc/self"), reason="looks at processes in /proc"
)


def test_a_command_is_listed_and_called(folder: Path) -> None:
    write(folder, grep_yaml=GREP)
    with serving(folder, "grep.yaml") as process:
        (tool,) = listed(process)

        assert (tool["name"], tool["description"]) == ("grep", "Find lines in a file.")
        assert tool["inputSchema"]["required"] == ["pattern"]
        assert tool["annotations"] == {"readOnlyHint": True}
        assert called(process, "grep", pattern="tea") == "tea again"
        assert called(process, "grep", pattern="tea", any_case=True) == "Tea\ntea again"
        assert called(process, "grep", pattern="tea", any_case=True, most=1) == "Tea"
        assert called(process, "grep", pattern="cocoa") == ""
        assert called(process, "grep", pattern="-v") == ""


def test_a_failure_of_a_command_is_an_answer(folder: Path) -> None:
    write(folder, grep_yaml=GREP)
    with serving(folder, "grep.yaml") as process:
        assert called(process, "grep", pattern="x", file="none.txt") == [
            "grep ended with exit status 2.\ngrep: none.txt: No such file or directory"
        ]
        assert called(process, "grep", pattern="x", file="--version") == [
            'arguments.file: "--version" begins with "-", so grep could read it as an option'
        ]
        assert called(process, "grep", pattern="x", most=0) == ["arguments.most: 0 is less than 1"]


def test_a_tool_in_any_language_answers_with_json(folder: Path) -> None:
    text = """
        use_guide: {tool_name: sum, description: Adds numbers.}
        parameters: {numbers: {type: array, items: {type: integer}}}
        command: [awk, '{{ split($0, n, /[^0-9]+/); for (i in n) s += n[i] }} END {{ print "{{\\"sum\\":" s "}}" }}']
        stdin: "{*}"
        output: json
        output_schema: {type: object, properties: {sum: {type: integer}}, required: [sum]}
    """  # noqa: E501
    write(folder, sum_yaml=text)
    with serving(folder, "sum.yaml") as process:
        assert called(process, "sum", numbers=[1, 2, 39]) == {"sum": 42}


def test_a_folder_mixes_python_and_yaml_and_other_targets_join_it(folder: Path) -> None:
    tools = folder / "tools"
    tools.mkdir()
    write(
        tools,
        grep_yaml=GREP,
        rag_py=RAG,
        rag_config_yaml=RAG_CONFIG,
        add_py="def add(a: int) -> int: return a",
    )
    write(tools, compose_yaml="services: {}", _draft_yaml="use_guide: [")
    write(folder, one_py="def one() -> int: return 1")
    with serving(folder, "tools", "one.py") as process:
        described = {tool["name"]: tool.get("description") for tool in listed(process)}

        assert described == {
            "add": None,
            "rag": "检索知识库",
            "grep": "Find lines in a file.",
            "one": None,
        }
        assert called(process, "add", a=3) == {"result": 3}
        assert called(process, "rag", instruction="x") == {"state": "running", "asked": "x"}


@pytest.mark.parametrize(
    "targets", [["rag.py"], ["rag_config.yaml"], ["rag.py", "rag_config.yaml"], ["rag.py:RAG"]]
)
def test_an_executor_and_its_yaml_belong_together_however_they_are_named(
    folder: Path, targets: list[str]
) -> None:
    write(folder, rag_py=RAG, rag_config_yaml=RAG_CONFIG)
    with serving(folder, *targets) as process:
        (tool,) = listed(process)

        assert (tool["name"], tool["description"]) == ("rag", "检索知识库")
        instruction = tool["inputSchema"]["properties"]["instruction"]
        assert instruction["description"] == 'Say what to look for.\n\n<RAG>{"query": ...}</RAG>'
        block = '<think>...</think><RAG>{"query": "tea"}</RAG>'
        assert called(process, "rag", instruction=block) == {
            "state": "running",
            "asked": {"query": "tea"},
        }
        assert called(process, "rag", instruction="fail") == ["ValueError: no such book"]
        none = "There is no complete block for rag: write the instruction as <RAG>...</RAG>."
        assert called(process, "rag", instruction="<RAG>tea") == [none]


def test_an_executor_without_yaml_is_described_by_its_docstring(folder: Path) -> None:
    write(folder, rag_py=RAG)
    with serving(folder, "rag.py") as process:
        (tool,) = listed(process)

        assert (tool["name"], tool["description"]) == ("RAG", "Not what the YAML says.")
        assert list(tool["inputSchema"]["properties"]) == ["instruction"]


def test_one_tool_of_a_file_can_be_named(folder: Path) -> None:
    write(folder, tools_yaml=dedent(GREP) + "---\n" + dedent(GREP).replace("grep,", "find,"))
    with serving(folder, "tools.yaml:find") as process:
        assert [tool["name"] for tool in listed(process)] == ["find"]


def test_a_function_next_to_the_yaml_is_found_and_described_by_it(folder: Path) -> None:
    (folder / "sub").mkdir()
    write(folder / "sub", adder_py="def add(a: int, b: int = 1) -> int: return a + b")
    write(
        folder / "sub",
        plus_yaml="use_guide: {tool_name: plus, description: Adds.}\nfunction: adder:add",
    )
    with serving(folder, "sub/plus.yaml") as process:
        (tool,) = listed(process)

        assert (tool["name"], tool["description"]) == ("plus", "Adds.")
        assert called(process, "plus", a=2) == {"result": 3}


def test_all_faults_of_a_folder_are_reported_before_anything_is_served(folder: Path) -> None:
    write(
        folder,
        a_yaml="use_guide: {tool_name: a}",
        b_yaml="use_guide: {tool_name: b, descripton: x}",
    )
    with serving(folder, ".") as process:
        assert process.wait() == 2
        assert process.stderr().splitlines() == [
            "toolwire: ./a.yaml:1: use_guide.description: is missing",
            "./b.yaml:1: use_guide.description: is missing",
            (
                "./b.yaml:1: use_guide.descripton: is unknown; did you mean description? "
                "Known here: description, tool_name"
            ),
        ]
    with serving(folder, ".", "--keep-going") as process:
        assert process.wait() == 2
        assert "leave no tool" not in process.stderr()


@pytest.mark.parametrize("options", [[], ["--keep-going"]])
def test_the_faults_of_a_tool_of_two_files_are_reported_once(
    folder: Path, options: list[str]
) -> None:
    write(
        folder,
        rag_py=RAG,
        rag_config_yaml="use_guide: {tool_name: rag}",
        add_py="def add(a: int): ...",
    )
    with serving(folder, ".", *options) as process:
        process.hang_up()
        process.wait()
        assert process.stderr().count("use_guide.description: is missing") == 1


def test_the_rest_of_a_folder_is_served_if_that_is_wanted(folder: Path) -> None:
    write(folder, a_yaml="use_guide: {tool_name: a}", grep_yaml=GREP)
    with serving(folder, ".", "--keep-going") as process:
        assert [tool["name"] for tool in listed(process)] == ["grep"]


def test_a_file_that_is_not_there_is_reported_with_the_closest(folder: Path) -> None:
    write(folder, grep_yaml=GREP)
    with serving(folder, "gerp.yaml") as process:
        assert process.wait() == 2
        assert "no file 'gerp.yaml', did you mean 'grep.yaml'" in process.stderr()


def test_without_pyyaml_the_way_to_get_it_is_reported(folder: Path) -> None:
    write(folder, grep_yaml=GREP)
    start = (
        "import sys; sys.modules['yaml'] = None; from toolwire.cli.main import main;"
        " sys.exit(main(sys.argv[1:]))"
    )
    with running("-c", start, "serve", "grep.yaml", cwd=folder) as process:
        assert process.wait() == 2
        remedy = install_command("toolwire[yaml]")
        assert process.stderr() == f"toolwire: grep.yaml: YAML needs PyYAML; run: {remedy}\n"


# --- no command outlives its call ---


@needs_proc
@WAITING
@pytest.mark.parametrize("options", [[], ["--isolate"]])
def test_a_cancelled_command_ends_and_the_server_goes_on(
    folder: Path, text: str, options: list[str]
) -> None:
    write(folder, wait_yaml=text.format(more=""), grep_yaml=GREP)
    with serving(folder, ".", *options) as process:
        process.send(call("wait", id="long"))
        wait_until((folder / "child").exists)
        assert called(process, "grep", pattern="coffee") == "coffee"  # meanwhile

        process.send(request("notifications/cancelled", {"requestId": "long"}, id=...))

        wait_until(lambda: not is_running(read_pid(folder / "child")))
        assert called(process, "grep", pattern="coffee") == "coffee"
        assert process.hang_up() == []
        assert process.wait() == 0


@needs_proc
@WAITING
def test_a_command_that_takes_too_long_ends_and_the_call_is_answered(
    folder: Path, text: str
) -> None:
    write(folder, wait_yaml=text.format(more="timeout_seconds: 6.5"))
    with serving(folder, "wait.yaml") as process:
        (told,) = called(process, "wait")

        assert "6.5" in told
        assert (folder / "child").exists()
        wait_until(lambda: not is_running(read_pid(folder / "child")))


@needs_proc
@WAITING
@pytest.mark.parametrize("options", [[], ["--isolate"]])
def test_a_command_ends_with_the_server_that_hangs_up(
    folder: Path, text: str, options: list[str]
) -> None:
    write(folder, wait_yaml=text.format(more=""))
    with serving(folder, "wait.yaml", "--limit", "grace_seconds=0.1", *options) as process:
        process.send(call("wait"))
        wait_until((folder / "child").exists)

        process.hang_up()

        assert process.wait() == 0
        wait_until(lambda: not is_running(read_pid(folder / "child")))


@needs_proc
@WAITING
@pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux tells a process group that a pipe has been closed"
)
@pytest.mark.parametrize("options", [[], ["--isolate"]])
def test_a_command_ends_with_a_server_that_is_killed(
    folder: Path, text: str, options: list[str]
) -> None:
    write(folder, wait_yaml=text.format(more=""))
    with serving(folder, "wait.yaml", *options) as process:
        process.send(call("wait"))
        wait_until((folder / "child").exists)
        wait_until(lambda: is_tied(folder / "child"))

        process.popen.send_signal(signal.SIGKILL)

        wait_until(lambda: not is_running(read_pid(folder / "child")))


# --- what it costs ---


def test_an_edit_of_the_yaml_shows_while_the_server_runs(folder: Path) -> None:
    write(folder, rag_py=RAG, rag_config_yaml=RAG_CONFIG, grep_yaml=GREP)
    with serving(folder, "rag.py", "grep.yaml", "--reload") as process:
        assert {tool["description"] for tool in listed(process)} == {
            "检索知识库",
            "Find lines in a file.",
        }

        edits = {
            "rag_config": RAG_CONFIG.replace("检索知识库", "New."),
            "grep": GREP.replace("Find", "New"),
        }
        for name, text in edits.items():
            write(folder, beside_new=text)
            os.replace(folder / "beside.new", folder / f"{name}.yaml")
            told = f"{name}.yaml changed; serving 2 tools"
            wait_until(lambda told=told: told in b"".join(process._stderr).decode())

        assert {tool["description"] for tool in listed(process)} == {"New.", "New lines in a file."}


def test_yaml_is_imported_for_yaml_only(folder: Path) -> None:
    write(folder, rag_py=RAG)
    show = (
        "import sys; from toolwire.loading.targets import load; [tool.describe() for tool in"
        " load(['rag.py'])]; print(*sorted(sys.modules.keys() & {'yaml', 'jsonschema', 'anyio',"
        " 'asyncio', 'subprocess'}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", show],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    )

    assert done.stdout.split() == []
