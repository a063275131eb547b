from __future__ import annotations

import io
import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support import SUPPORT
from support.command_line import CommandLine
from toolwire.cli import COMMANDS, commands
from toolwire.cli.commands import serve
from toolwire.cli.help import format_help
from toolwire.cli.main import main
from toolwire.cli.printing.own_stderr import OwnStderr
from toolwire.settings import LIMITS
from toolwire_client import connect

if TYPE_CHECKING:
    from collections.abc import Sequence

SECONDS = 60
FAKE = SUPPORT / "fake_server.py"

TOOLS = '''
import os
from dataclasses import dataclass
from toolwire import Context, ToolError, tool_api
from toolwire_tools import Image

@tool_api
def add(a: int, b: int = 2) -> int:
    """Add two numbers."""
    return a + b

@tool_api
def echo(text: str, tags: list[str] | None = None) -> str:
    """Say it again."""
    return f"{text} {tags}"

@tool_api
def fail() -> None:
    raise ToolError("no luck today")

@tool_api
def picture() -> Image:
    return Image(data=b"\\x89PNG", media_type="image/png")

@tool_api
def steps(context: Context) -> str:
    for number in range(3):
        context.progress(number + 1, 3, f"step {number + 1}")
    return "done"

@tool_api
def crash() -> None:
    os._exit(9)

@tool_api
def wait(context: Context) -> None:
    if os.path.exists("running"):
        with open("running", "w") as file:
            file.write(str(os.getpid()))
    while True:
        context.check()
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tools.py").write_text(TOOLS)
    return tmp_path


def run(
    *words: str, cwd: Path, stdin: str = "", program: Sequence[str] = ("-m", "toolwire"), **env: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *program, *words],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        env={**os.environ, **env},
        timeout=SECONDS,
        check=False,
    )


@pytest.mark.process
def test_list_prints_arguments_result_and_purpose(command_line: CommandLine, folder: Path) -> None:
    done = command_line("list", "tools.py:add", cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == ["add(a: int, b: int = 2) -> int", "    Add two numbers."]


@pytest.mark.process
def test_list_prints_json_as_the_server_sent_it(command_line: CommandLine, folder: Path) -> None:
    (tool,) = json.loads(command_line("list", "--json", "tools.py:add", cwd=folder).stdout)
    assert (tool["name"], tool["inputSchema"]["required"]) == ("add", ["a"])


@pytest.mark.process
def test_any_server_can_be_listed_and_called(command_line: CommandLine, folder: Path) -> None:
    server = ["--", sys.executable, str(FAKE), "Server"]
    assert "echo" in command_line("list", *server, cwd=folder).stdout
    done = command_line("call", "echo", "a=1", "b=x", *server, cwd=folder)
    assert (done.returncode, json.loads(done.stdout)) == (0, {"a": 1, "b": "x"})


@pytest.mark.process
@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["call", "tools.py", "one"], "1"),
        (["list", "tools.py"], "one()"),
        (["check", "tools.py", "--replay", "ids/zero"], "ids/zero"),
    ],
)
def test_a_file_whose_tools_run_on_an_engine_gets_it_from_each_command(
    command_line: CommandLine, tmp_path: Path, words: list[str], part: str
) -> None:
    source = (
        "from toolwire import tool_api\n\n@tool_api(runs_in='there')\ndef one() -> int:\n   "
        " return 1\n"
    )
    (tmp_path / "tools.py").write_text(source)

    without = command_line(*words, cwd=tmp_path)
    done = command_line(*words, "--run-on", "there=process", cwd=tmp_path)

    assert without.returncode == 2
    assert (done.returncode, part in done.stdout) == (0, True), done.stderr


@pytest.mark.process
@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (["add", "a=40"], "42"),
        (["add", '{"a": 1, "b": 1}'], "2"),
        (["add", f"a={2**70}", "b=0"], str(2**70)),
        (["echo", "text=5", "tags=a", "tags=b"], "5 ['a', 'b']"),
        (["picture"], "[image/png, 4 bytes; -o FILE saves it]"),
        (["steps"], "done"),
    ],
)
def test_call_reads_arguments_and_prints_the_answer(
    command_line: CommandLine, folder: Path, words: list[str], printed: str
) -> None:
    done = command_line("call", "tools.py", *words, cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, printed + "\n", "")


@pytest.mark.process
def test_call_prints_the_whole_result_as_json(command_line: CommandLine, folder: Path) -> None:
    result = json.loads(command_line("call", "--json", "tools.py", "add", "a=1", cwd=folder).stdout)
    assert result["structuredContent"] == {"result": 3}


@pytest.mark.process
def test_call_saves_what_is_no_text(command_line: CommandLine, folder: Path) -> None:
    done = command_line("call", "tools.py", "picture", "-o", "p.png", cwd=folder)
    assert (done.returncode, (folder / "p.png").read_bytes()) == (0, b"\x89PNG")
    done = command_line("call", "tools.py", "add", "a=1", "-o", "sum", cwd=folder)
    assert (done.returncode, done.stdout, "nothing was saved" in done.stderr) == (0, "3\n", True)
    done = command_line("call", "tools.py", "picture", "-o", "no/p.png", cwd=folder)
    assert (done.returncode, done.stderr) == (
        2,
        "toolwire: cannot open no/p.png: No such file or directory\n",
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["call", "tools.py", "add", "--a", "3"], "arguments of the tool are given as a=VALUE"),
        (
            ["list", "--with", "x"],
            "list has no option --with: that is one of serve; a server's command, with",
        ),
        (
            ["replay", "--html", "x"],
            "replay has no option --html: that is one of ask, chat, transcript, inspect, check,"
            " bench, diff",
        ),
        (
            ["serve", "tools.py", "--max-workers", "3"],
            "serve has no option --max-workers: write --limit max_workers=NUMBER\n",
        ),
        (
            ["config", "vscode", "tools.py", "--grace=3"],
            "config has no option --grace: write --limit grace_seconds=SECONDS\n",
        ),
        (["wrap", "--heartbeat", "3"], "write --limit heartbeat_seconds=SECONDS\n"),
        (["inspect", "t.py", "--memory-limit", "1GiB"], "write --limit memory_limit=SIZE\n"),
        (
            ["wrap", "--limit", "max_workers=3", "--", "true"],
            "--limit: no limit 'max_workers', did you mean 'max_programs'? Known: heartbeat_",
        ),
        (["list", "--limit", "max_workers=3", "--", "true"], "--limit goes with a target"),
        (["call"], "name a target, or a server's command"),
        (["call", "--"], "command is missing"),
        (["list"], "a target"),
        (["list", "tools.py", "--", "x"], "leave out tools.py"),
        (["list", "--"], "command is missing"),
        (["list", "sh", "-y"], "a server's command, with its options, goes after --"),
        (["call", "add", "a=1", "sh", "-y"], "a server's command, with its options, goes after --"),
        (["serve"], "serve tools.py"),
        (["serve", "tools.py", "--log-level", "loud"], "debug, info"),
        (["demo", "x"], "no arguments"),
        (
            ["serve", "tools.py", "--transport", "http"],
            "over standard input and output, and nothing else",
        ),
        (["lst"], "did you mean 'list'"),
        (["run", "server.py:mcp", "--transport", "stdio"], "write `toolwire serve server.py:mcp`"),
        (["mcp", "run", "my server.py"], "write `toolwire serve 'my server.py'`"),
        (["fastmcp", "dev", "inspector", "server.py"], "write `toolwire serve --reload server.py`"),
        (
            ["fastmcp", "install", "cursor", "server.py"],
            "write `toolwire config cursor server.py --write`",
        ),
        (
            ["mcp", "install", "server.py"],
            "write `toolwire config claude-desktop server.py --write`",
        ),
        (["fastmcp", "list", "server.py"], "write `toolwire list server.py`"),
        (["install", "--name", "x", "s.py"], "write `toolwire config claude-desktop s.py --write`"),
        (["ls"], "write `toolwire list tools.py`"),
        (["inspector"], "write `toolwire inspect tools.py`"),
        (["mcp", "inspector", "server.py"], "write `toolwire inspect server.py`"),
        (["tools/call", "tools.py", "add"], "write `toolwire call tools.py add`"),
        (["start"], "write `toolwire serve tools.py`"),
        (["mcp"], "write `toolwire serve tools.py`"),
        (["init"], "write functions to a file, then `toolwire serve tools.py`"),
        (["npx", "-y", "some-server", "a b"], "as in `toolwire list -- npx -y some-server 'a b'`"),
        (["version"], "write `toolwire --version`"),
        (
            ["ask", "what", "is it?", "tools.py", "Files"],
            '`ask "what is it?" --tools tools.py --tools Files`',
        ),
        (["tools.py"], "toolwire serve tools.py"),
        (["--verbose"], "after a command"),
        ([], "toolwire --help"),
    ],
)
def test_a_mistake_on_the_command_line_is_one_sentence_with_its_remedy(
    command_line: CommandLine, folder: Path, words: list[str], told: str
) -> None:
    done = command_line(*words, cwd=folder)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert told in done.stderr


@pytest.mark.process
@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (["call", "tools.py", "fail"], 1, "no luck today"),
        (["call", "tools.py", "add", "a=three"], 1, "arguments.a"),
        (["call", "tools.py", "crash"], 1, "toolwire: the server ended with exit status 9"),
        (["call", "tools.py"], 2, "name the tool to call: add, "),
        (["call", "tools.py", "ad", "a=1"], 2, "did you mean 'add'"),
        (["call", "tools.py", "add", "3"], 2, "name=value"),
        (["call", "Calculater", "1/3"], 2, "did you mean 'Calculator'"),
        (["list", "--", "no-such-program"], 2, "no-such-program"),
        (["list", "https://example.com/mcp", "tools.py"], 2, "a remote server is named alone"),
        (["list", "tols.py"], 2, "did you mean 'tools.py'"),
        (["call", "Calculator", "1/3"], 2, "if that is an argument, give its name: expression=1/3"),
        (["call", "Files", "write"], 2, "writing needs a setting: --set Files.writable=true"),
        (
            ["call", "Files", "write", "path=a", "--set", "Files.writable=true"],
            1,
            "arguments.content: is missing",
        ),
        (
            ["call", "Files", "Files.edit", "path=a"],
            2,
            "writing needs a setting: --set Files.writable=true",
        ),
        (["list", "Files:write"], 2, "writing needs a setting: --set Files.writable=true"),
        (["call", "Files.write", "path=a"], 2, "write a tool of the bundled Files as Files:write"),
    ],
)
def test_a_mistake_that_a_server_notices_is_one_sentence_with_its_remedy(
    command_line: CommandLine, folder: Path, words: list[str], status: int, told: str
) -> None:
    done = command_line(*words, cwd=folder)
    assert (done.returncode, done.stdout) == (status, "")
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    if status == 2:
        assert done.stderr.count("\n") == 1


@pytest.mark.process
def test_a_call_without_an_answer_ends_at_its_timeout(
    command_line: CommandLine, folder: Path
) -> None:
    (folder / "running").touch()
    for limit in (
        "1",
        "4",
        "16",
        "50",
    ):  # which includes the server's start, however slow the machine is
        done = command_line("call", "tools.py", "wait", "--timeout", limit, cwd=folder)
        if (folder / "running").read_text():
            break
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"toolwire: no answer within {limit} s\n"


@pytest.mark.process
def test_a_folder_whose_tools_are_one_level_deeper_is_an_error_that_says_so(
    command_line: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "inner").mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "inner" / "tools.py").write_text(TOOLS)

    done = command_line("list", ".", cwd=tmp_path)

    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert done.stderr.endswith("; to serve its subfolders, name them as targets: inner\n")


def test_a_command_that_starts_no_server_says_nothing_of_one(
    command_line: CommandLine, folder: Path
) -> None:
    done = command_line("serve", "sh", "-y", cwd=folder)
    assert (done.returncode, "after --" in done.stderr) == (2, False)


@pytest.mark.process
@pytest.mark.parametrize("words", [["list", "broken.py"], ["call", "broken.py", "x"]])
def test_an_import_that_fails_shows_the_user_s_traceback_once(
    command_line: CommandLine, folder: Path, words: list[str]
) -> None:
    (folder / "broken.py").write_text("import os\nos.nonsense()\n")
    done = command_line(*words, cwd=folder)
    check_traceback(done.returncode, done.stderr)


@pytest.mark.process
def test_a_server_whose_import_fails_shows_the_user_s_traceback_once(folder: Path) -> None:
    (folder / "broken.py").write_text("import os\nos.nonsense()\n")
    done = run("serve", "broken.py", cwd=folder)
    check_traceback(done.returncode, done.stderr)


def check_traceback(status: int, stderr: str) -> None:
    assert status == 2
    assert stderr.splitlines()[0] == "Traceback (most recent call last):"
    assert stderr.count("nonsense()") == 1
    assert "cli.py" not in stderr
    assert stderr.splitlines()[-1].startswith(
        "toolwire: broken.py cannot be loaded: AttributeError"
    )


@pytest.mark.process
def test_a_server_with_a_wrong_setting_does_not_start(folder: Path) -> None:
    done = run("serve", "tools.py", "--separator", "", cwd=folder)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "separator" in done.stderr


@pytest.mark.process
def test_a_file_that_would_shadow_the_standard_library_does_not(folder: Path) -> None:
    for name in ("random", "types", "enum", "asyncio", "json", "select"):
        (folder / f"{name}.py").write_text(
            "import random\ndef dice() -> int: return random.randint(1, 6)"
        )
    done = run("call", "random.py", "dice", cwd=folder, program=["-P", "-m", "toolwire"])
    assert (done.returncode, done.stdout.strip() in set("123456"), done.stderr) == (0, True, "")


@pytest.mark.parametrize(
    "words", [["--help"], ["-h"], ["help"], *([name, "--help"] for name in COMMANDS)]
)
def test_help_fits_the_terminal_and_shows_examples(
    command_line: CommandLine, folder: Path, words: list[str]
) -> None:
    done = command_line(*words, cwd=folder, COLUMNS="70")
    assert (done.returncode, done.stderr) == (0, "")
    assert "toolwire" in done.stdout
    usage = [
        line
        for line in done.stdout.splitlines()
        if not line.lstrip().startswith(("toolwire", "usage"))
    ]
    assert max(map(len, usage)) <= 80


def test_help_of_serve_is_short_and_names_the_option_that_shows_the_rest() -> None:
    short, whole = format_help("serve", 100), format_help("serve", 100, shows_all=True)
    assert len(re.findall(r"^  --?[a-z]", short, re.MULTILINE)) <= 25
    assert "--help-all" in short
    for option in serve.COMMAND.options:
        assert option.flag in whole
    for limit in LIMITS:
        assert f"\n  {limit}=" in whole
        assert f"\n  {limit}=" not in short


def test_help_of_a_command_without_help_all_shows_everything() -> None:
    assert "--lock-texts" in format_help("wrap", 100)
    assert "\n  heartbeat_seconds=SECONDS  " in format_help("wrap", 100)


@pytest.mark.process
def test_the_version_is_reported(folder: Path) -> None:
    assert run("--version", cwd=folder).stdout.startswith("toolwire 0.")


@pytest.mark.process
def test_serve_passes_its_options_on(folder: Path) -> None:
    options = [
        *(
            "--name",
            "mine",
            "--instructions",
            "Be kind.",
            "--include",
            "[ae]*",
            "--exclude",
            "echo",
        ),
        *(
            "--timeout",
            "20",
            "--limit",
            "page_size=1",
            "--limit",
            "max_message_bytes=1MiB",
            "--limit",
            "max_result_bytes=1MiB",
        ),
        *("--limit", "max_workers=2", "--limit", "grace_seconds=0.1", "--separator", "_"),
        *("--strict-arguments", "--mask-errors", "--log-json"),
    ]
    command = [sys.executable, "-m", "toolwire", "serve", "tools.py", *options]
    with connect(command, cwd=folder) as client:
        assert client.server_info["name"] == "mine"
        assert client.instructions == "Be kind."
        assert [tool.name for tool in client.list_tools()] == ["add"]
        assert client.call_tool("add", {"a": "1"}).text == 'arguments.a: "1" is not an integer'


@pytest.mark.process
def test_a_server_is_called_like_what_it_serves(folder: Path) -> None:
    with connect([sys.executable, "-m", "toolwire", "serve", "tools.py:add"], cwd=folder) as client:
        assert client.server_info["name"] == "tools"


@pytest.mark.process
def test_a_hanging_thread_of_the_user_s_does_not_keep_a_failed_server_alive(folder: Path) -> None:
    text = "import threading\nthreading.Thread(target=threading.Event().wait).start()\n1 / 0\n"
    (folder / "hangs.py").write_text(text)
    assert run("serve", "hangs.py", cwd=folder).returncode == 2


@pytest.mark.process
def test_a_closed_output_is_no_error(folder: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "toolwire", "list", "tools.py"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        assert process.stdout is not None
        process.stdout.close()
        _, stderr = process.communicate(timeout=SECONDS)
    assert (process.returncode, stderr) == (1, b"")


@pytest.mark.process
def test_ctrl_c_ends_quietly_and_takes_the_server_along(folder: Path) -> None:
    os.mkfifo(folder / "running")
    process = subprocess.Popen(
        [sys.executable, "-m", "toolwire", "call", "tools.py", "wait"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        server = int((folder / "running").read_text())  # waits until the tool writes there
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=SECONDS)
    assert (process.returncode, stderr) == (-signal.SIGINT, b"")
    assert not Path(f"/proc/{server}").exists()


def on_a_terminal(*words: str, cwd: Path, **env: str) -> str:
    """What the command writes to a terminal it runs on."""
    controller, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "toolwire", *words],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=terminal,
        stderr=terminal,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "80", **env},
    )
    os.close(terminal)
    written = b""
    with process:
        while chunk := _read(controller):
            written += chunk
        process.wait(SECONDS)
    os.close(controller)
    return written.decode()


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 65536)
    except OSError:  # Linux says so when the last writer has gone
        return b""


@pytest.mark.process
def test_progress_is_a_bar_on_a_terminal(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    written = on_a_terminal("call", "tools.py", "steps", cwd=folder)
    assert "[################........]  67%  step 2" in written
    assert written.endswith("\r\x1b[Kdone\r\n")


@pytest.mark.process
@pytest.mark.skipif(
    not os.path.exists("/dev/full"), reason="this system has no device that is always full"
)
def test_output_that_cannot_be_written_is_one_sentence(folder: Path) -> None:
    command = [sys.executable, "-m", "toolwire", "list", "tools.py"]
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command, cwd=folder, stdout=full, stderr=-1, text=True, timeout=SECONDS
        )
    told = "toolwire: the output cannot be written: no space is left on the device\n"
    assert (done.returncode, done.stderr) == (1, told)
    closed = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *command],
        cwd=folder,
        stderr=-1,
        text=True,
        timeout=SECONDS,
    )
    told = "toolwire: standard output is closed; start it with one, such as > /dev/null\n"
    assert (closed.returncode, closed.stderr) == (2, told)


@pytest.mark.process
def test_colour_is_left_out_if_that_is_wanted(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[1m" in on_a_terminal("list", "tools.py", cwd=folder)
    assert "\x1b" not in on_a_terminal("list", "tools.py", cwd=folder, NO_COLOR="1")


def imported_by_serving(folder: Path, *options: str) -> set[str]:
    (folder / "spy.py").write_text(
        "import sys\ndef modules() -> list[str]: return sorted(sys.modules)"
    )
    with connect(
        [sys.executable, "-m", "toolwire", "serve", "spy.py", *options], cwd=folder
    ) as client:
        structured: Any = client.call_tool("modules").structured
    return set(structured["result"])


@pytest.mark.process
def test_serving_imports_nothing_that_only_asking_or_failing_needs(folder: Path) -> None:
    loaded = imported_by_serving(folder)
    unwanted = {
        "argparse",
        "gettext",
        "shutil",
        "difflib",
        "traceback",
        "subprocess",
        "toolwire_client",
        "toolwire_agent",
        "toolwire_check",
        "toolwire_compat",
        "toolwire_bundled",
        "fnmatch",
    }
    unwanted |= {"importlib.metadata", "json.tool", "logging"}
    unwanted |= {f"toolwire.{name}" for name in ("output", "show", "usage", "values")}
    assert loaded & unwanted == set()


@pytest.mark.process
def test_serving_imports_no_other_command(folder: Path) -> None:
    loaded = imported_by_serving(folder)
    assert {name for name in loaded if name.startswith("toolwire.cli.commands.")} == {
        "toolwire.cli.commands.serve"
    }


def test_each_command_is_a_file_or_a_folder_of_its_name() -> None:
    places = Path(commands.__file__).parent.iterdir()
    names = {
        path.stem for path in places if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert names == {*COMMANDS, "__init__"}


@pytest.mark.parametrize(
    ("is_terminal", "start"), [(True, "\x1b[31merror:\x1b[0m no command"), (False, "toolwire: no")]
)
def test_a_failure_starts_with_a_red_word_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, is_terminal: bool, start: str
) -> None:
    stream = replace_stderr(monkeypatch, is_terminal=is_terminal)

    assert main(["lsit"]) == 2
    assert stream.getvalue().startswith(start)


def replace_stderr(monkeypatch: pytest.MonkeyPatch, *, is_terminal: bool) -> io.StringIO:
    class Stream(io.StringIO):
        def isatty(self) -> bool:
            return is_terminal

    stream = Stream()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    return stream


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("toolwire: no file a.py", "\x1b[31merror:\x1b[0m no file a.py\n"),
        ("toolwire: warning: a name is taken", "toolwire: warning: a name is taken\n"),
        ("a line of a tool", "a line of a tool\n"),
        ("no toolwire: line", "no toolwire: line\n"),
    ],
)
def test_a_target_that_cannot_be_loaded_is_a_red_error_too(
    monkeypatch: pytest.MonkeyPatch, line: str, shown: str
) -> None:
    stream = replace_stderr(monkeypatch, is_terminal=True)

    OwnStderr().write_line(line)

    assert stream.getvalue() == shown
