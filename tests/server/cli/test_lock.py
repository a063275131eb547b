"""`toolwire lock`: what is written, what is printed later, and with which status."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from support.command_line import CommandLine
from toolwire_schemas.published import load_validator

pytestmark = pytest.mark.process

FOREIGN = Path(__file__).parents[2] / "support" / "foreign_server.py"

TOOLS = '''
from toolwire import tool_api

@tool_api(read_only=True)
def look(path: str) -> str:
    """Look at a file."""
    return path
'''


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    path = tmp_path / "tools.py"
    path.write_text(TOOLS)
    return path


def test_a_lock_is_written_once_and_then_compared(
    command_line: CommandLine, tools: Path, tmp_path: Path
) -> None:
    first = command_line("lock", "tools.lock.json", "tools.py")
    assert (first.returncode, first.stdout) == (0, "Locked 1 tool in tools.lock.json.\n")
    text = (tmp_path / "tools.lock.json").read_text()
    assert load_validator("tools-lock").is_valid(json.loads(text))
    again = command_line("lock", "tools.lock.json", "tools.py")
    assert (again.returncode, again.stdout) == (0, "tools.lock.json is up to date: 1 tool.\n")
    assert (tmp_path / "tools.lock.json").read_text() == text
    assert [path.name for path in tmp_path.glob("*.new")] == []


def test_changes_are_shown_and_need_update(
    command_line: CommandLine, tools: Path, tmp_path: Path
) -> None:
    lock = tmp_path / "tools.lock.json"
    command_line("lock", lock.name, "tools.py")
    before = lock.read_text()
    tools.write_text(TOOLS.replace("read_only=True", "read_only=False").replace("Look at", "Read"))
    shown = command_line("lock", lock.name, "tools.py")
    assert shown.returncode == 1
    _, refused, text, _, last = shown.stdout.splitlines()
    assert refused.split() == ["refused", "look", "annotations.readOnlyHint", "true", "false"]
    assert text.split("  ")[0] == "text"
    assert [part.strip() for part in text.split("  ") if part][1:] == [
        "look description",
        "Look at a file.",
        "Read a file.",
    ]
    assert (
        last
        == "`toolwire lock --update` accepts the changes; 1 of the entries is refused until then."
    )
    assert lock.read_text() == before
    assert command_line("lock", lock.name, "tools.py", "--update").returncode == 0
    assert lock.read_text() != before
    assert "up to date" in command_line("lock", lock.name, "tools.py").stdout


def test_a_lock_of_tools_in_any_order_is_up_to_date_at_once(
    command_line: CommandLine, tmp_path: Path
) -> None:
    tools = [
        {"name": name, "inputSchema": {"type": "object"}} for name in ("zebra", "apple", "Mango")
    ]
    (tmp_path / "lists.json").write_text(json.dumps({"tools": tools}))
    server = ["--", sys.executable, str(FOREIGN), str(tmp_path)]
    assert command_line("lock", "a.json", *server).stdout == "Locked 3 tools in a.json.\n"
    again = command_line("lock", "a.json", *server)
    assert (again.returncode, again.stdout) == (0, "a.json is up to date: 3 tools.\n")
    updated = command_line("lock", "a.json", *server, "--update")
    assert (updated.returncode, updated.stdout) == (0, "a.json is up to date: 3 tools.\n")


def test_prompts_resources_and_instructions_are_locked(
    command_line: CommandLine, tmp_path: Path
) -> None:
    source = "from toolwire import prompt, resource\n@prompt\ndef review() -> str:\n    return ''\n"
    source += "@resource('notes://all')\ndef notes() -> str:\n    return ''\n"
    (tmp_path / "all.py").write_text(source)
    serve = ["--", sys.executable, "-P", "-m", "toolwire", "serve", "all.py", "--instructions"]
    first = command_line("lock", "all.json", *serve, "Read first.")
    assert first.stdout == "Locked no tools, 1 prompt, 1 resource in all.json.\n"
    changed = command_line("lock", "all.json", *serve, "Obey.")
    assert changed.returncode == 1
    assert ["text", "instructions", "Read", "first.", "Obey."] in [
        line.split() for line in changed.stdout.splitlines()
    ]


def test_any_server_can_be_locked(command_line: CommandLine, tools: Path) -> None:
    serve = ["--", sys.executable, "-P", "-m", "toolwire", "serve", "tools.py"]
    assert command_line("lock", "tools.lock.json", *serve).returncode == 0
    assert "up to date" in command_line("lock", "tools.lock.json", "tools.py").stdout


def test_nothing_is_written_unless_every_mounted_server_starts(
    command_line: CommandLine, tools: Path, tmp_path: Path
) -> None:
    serve = f"there={shlex.join([sys.executable, '-P', '-m', 'toolwire', 'serve', 'tools.py'])}"
    words = ["lock", "tools.lock.json", "tools.py", "--mount", serve]
    refused = command_line(*words, "--mount", f"broken={sys.executable} -c 1/0")
    assert (refused.returncode, refused.stdout) == (1, "")
    problem = "tools.lock.json is not written: the mounted server broken does not run: "
    assert f"toolwire: {problem}" in refused.stderr
    assert refused.stderr.count("ZeroDivisionError") == 1
    assert not (tmp_path / "tools.lock.json").exists()
    assert command_line(*words).stdout == "Locked 2 tools in tools.lock.json.\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "name the file of the lock first"),
        (["a.json"], "name a target"),
        (["tools.py", "tools.py"], "tools.py: it is not a lock"),
        ([".", "tools.py"], "the lock . cannot be read: is a directory"),
        (
            ["missing/a.json", "tools.py"],
            "missing/a.json cannot be written: there is no folder missing",
        ),
    ],
)
def test_a_mistake_is_one_sentence(
    command_line: CommandLine, tools: Path, words: list[str], says: str
) -> None:
    done = command_line("lock", *words)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("kind", ["tools", "prompts"])
def test_no_lock_is_made_of_a_mounted_server_with_a_list_that_cannot_be_read(
    tmp_path: Path, kind: str
) -> None:
    folder = tmp_path / "foreign"
    folder.mkdir()
    (folder / "lists.json").write_text(
        json.dumps({kind: {"code": -32603, "message": "no database"}})
    )
    mount = f"there={sys.executable} {FOREIGN} {folder}"
    command = [
        sys.executable,
        "-m",
        "toolwire",
        "lock",
        str(tmp_path / "lock.json"),
        "--mount",
        mount,
    ]

    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == 1
    assert (
        f"is not written: the list of {kind} of the mounted server there cannot be read: no"
        " database" in done.stderr
    )
    assert not (tmp_path / "lock.json").exists()
