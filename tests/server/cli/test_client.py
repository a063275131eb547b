"""`toolwire client`: what it writes, where, when it refuses to, and that FILE can be checked."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support.command_line import CommandLine
from toolwire_dialects.typed_clients import list_languages

pytestmark = pytest.mark.process

TOOLS = '''
def add(a: int, b: int = 1) -> int:
    """Add two whole numbers."""
    return a + b
'''


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    path = tmp_path / "tools.py"
    path.write_text(TOOLS)
    return path


@pytest.mark.parametrize("language", list_languages())
def test_each_language_writes_one_file_and_finds_it_current(
    command_line: CommandLine, tools: Path, tmp_path: Path, language: str
) -> None:
    wrote = command_line("client", language, "tools.py", "-o", "made")
    assert (wrote.returncode, wrote.stdout, wrote.stderr) == (0, "Wrote made.\n", "")
    text = (tmp_path / "made").read_text("utf-8")
    package = ["--package=made"] if language == "lua" else []
    assert " ".join(["toolwire client", language, *package, "tools.py"]) in text
    assert "Add two whole numbers." in text
    assert command_line("client", language, *package, "tools.py").stdout == text
    checked = command_line("client", language, "tools.py", "-o", "made", "--check")
    assert (checked.returncode, checked.stdout) == (0, "made is up to date.\n")
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "__pycache__") == [
        "made",
        "tools.py",
    ]


@pytest.mark.parametrize(
    ("language", "ending", "imports"),
    [
        ("typescript", ".ts", 'from "./toolwire.ts"'),
        ("go", ".go", "package adder"),
        ("rust", ".rs", "pub use super::toolwire as runtime;"),
        ("lua", ".lua", 'local toolwire = require("toolwire")'),
    ],
)
def test_the_runtime_is_a_file_of_its_own(
    command_line: CommandLine,
    tools: Path,
    tmp_path: Path,
    language: str,
    ending: str,
    imports: str,
) -> None:
    package = ["--package", "adder"] if language == "go" else []
    words = ("client", language, "tools.py", "-o", f"adder{ending}", "--runtime", "file", *package)
    runtime = tmp_path / f"toolwire{ending}"
    assert command_line(*words).stdout == f"Wrote adder{ending}.\nWrote toolwire{ending}.\n"
    assert imports in (tmp_path / f"adder{ending}").read_text("utf-8")
    if language == "go":
        assert "\npackage adder\n" in runtime.read_text("utf-8")
    assert command_line(*words, "--check").returncode == 0
    assert command_line(*words).returncode == 0
    with runtime.open("a") as file:
        file.write(" ")
    assert command_line(*words, "--check").returncode == 1
    runtime.write_text("mine")
    refused = command_line(*words)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert f"toolwire{ending} exists and is no generated client" in refused.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["go", "--package", "Adder"], "--package 'Adder' is no name of a package"),
        (["go", "--package", "type"], "--package 'type' is no name of a package"),
        (["lua", "--package", "a b"], "--package 'a b' is no name of a package"),
        (["rust", "--package", "adder"], "a client in rust has no name of a package"),
        (["rust", "--runtime", "file"], "--runtime file goes with -o FILE"),
        (["python", "--runtime", "file"], "a client in python has no runtime to choose about"),
        (["go", "--runtime", "file", "-o", "toolwire.go"], "is the name of the runtime's file"),
    ],
)
def test_names_that_a_client_cannot_have_are_refused(
    command_line: CommandLine, tools: Path, words: list[str], sentence: str
) -> None:
    output = [] if "-o" in words or "goes with -o" in sentence else ["-o", "made"]
    refused = command_line("client", *words, "tools.py", *output)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert sentence in refused.stderr


def test_a_client_that_is_not_current_is_reported_and_kept(
    command_line: CommandLine, tools: Path, tmp_path: Path
) -> None:
    command_line("client", "python", "tools.py", "-o", "made.py")
    before = (tmp_path / "made.py").read_text("utf-8")
    tools.write_text(TOOLS.replace("two whole", "2 whole"))
    checked = command_line("client", "python", "tools.py", "-o", "made.py", "--check")
    assert checked.returncode == 1
    assert "made.py is not up to date; leave out --check to write it. Line " in checked.stdout
    assert (
        '-         """Add two whole numbers.\n+         """Add 2 whole numbers.' in checked.stdout
    )
    assert (tmp_path / "made.py").read_text("utf-8") == before
    assert command_line("client", "python", "tools.py", "-o", "made.py").returncode == 0
    assert command_line("client", "python", "tools.py", "-o", "made.py", "--check").returncode == 0


def test_a_file_that_is_missing_is_not_current(command_line: CommandLine, tools: Path) -> None:
    checked = command_line("client", "python", "tools.py", "-o", "made.py", "--check")
    assert (checked.returncode, checked.stderr) == (1, "")
    assert checked.stdout == "made.py does not exist; leave out --check to write it.\n"


def test_the_order_of_the_tools_changes_nothing(
    command_line: CommandLine, tools: Path, tmp_path: Path
) -> None:
    more = "\n\ndef subtract(a: int) -> int:\n    return -a\n"
    tools.write_text(TOOLS + more)
    command_line("client", "python", "tools.py", "-o", "made.py")
    tools.write_text(more + TOOLS)
    assert command_line("client", "python", "tools.py", "-o", "made.py", "--check").returncode == 0


def test_any_server_has_a_client_that_starts_it_by_default(
    command_line: CommandLine, tools: Path
) -> None:
    serve = [sys.executable, "-P", "-m", "toolwire", "serve", "tools.py"]
    done = command_line("client", "python", "--", *serve)
    assert done.returncode == 0
    assert "toolwire client python -- " in done.stdout
    assert '"-P", "-m", "toolwire", "serve", "tools.py"]' in done.stdout


def test_the_tools_that_are_left_out_are_left_out_of_the_command_too(
    command_line: CommandLine, tools: Path
) -> None:
    tools.write_text(TOOLS + "\n\ndef subtract(a: int) -> int:\n    return -a\n")
    done = command_line("client", "python", "tools.py", "--exclude", "sub*")
    assert "def add" in done.stdout
    assert "def subtract" not in done.stdout
    assert 'COMMAND = ["toolwire", "serve", "--exclude=sub*", "tools.py"]' in done.stdout


def test_a_file_that_is_not_ours_is_never_overwritten(
    command_line: CommandLine, tools: Path, tmp_path: Path
) -> None:
    by_hand = "from toolwire import tool_api\n"
    (tmp_path / "main.py").write_text(by_hand)
    for language in list_languages():
        done = command_line("client", language, "tools.py", "-o", "main.py")
        assert done.returncode == 2
        assert "main.py exists and is no generated client" in done.stderr
        assert (tmp_path / "main.py").read_text() == by_hand


def test_a_client_gets_a_folder_of_its_own(
    command_line: CommandLine, tools: Path, tmp_path: Path
) -> None:
    assert (
        command_line("client", "go", "tools.py", "-o", "made/tools.go").stdout
        == "Wrote made/tools.go.\n"
    )
    assert (tmp_path / "made" / "tools.go").is_file()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name a language first"),
        (["ptyhon", "tools.py"], "no language 'ptyhon', did you mean 'python'?"),
        (["python"], "name a target"),
        (["python", "tools.py", "--check"], "--check goes with -o FILE"),
        (["python", "tools.py", "--runtime", "embed"], "has no runtime"),
        (
            ["python", "tools.py", "--runtime", "other"],
            "--runtime takes one of embed, file, import, only",
        ),
        (
            ["python", "tools.py", "-o", "no/such/folder.py"],
            "cannot be written: there is no folder no/such",
        ),
        (["python", "tools.py", "-o", "."], "is no file"),
        (["python", "tools.py", "-o", "/dev/full"], "is no file"),
    ],
)
def test_a_mistake_is_one_sentence(
    command_line: CommandLine, tools: Path, words: list[str], said: str
) -> None:
    done = command_line("client", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "language", [language for language in list_languages() if language != "python"]
)
def test_the_runtime_can_be_had_alone(
    command_line: CommandLine, tools: Path, tmp_path: Path, language: str
) -> None:
    alone = command_line("client", language, "--runtime", "only", "-o", "runtime")
    assert (alone.returncode, alone.stdout) == (0, "Wrote runtime.\n")
    assert (
        command_line("client", language, "--runtime", "only", "-o", "runtime", "--check").returncode
        == 0
    )
    without = command_line("client", language, "tools.py", "--runtime", "import")
    whole = command_line("client", language, "tools.py")
    assert len(without.stdout) < len(whole.stdout)
    assert f"toolwire client {language} --runtime=import tools.py" in without.stdout
    refused = command_line("client", language, "--runtime", "only", "tools.py")
    assert (refused.returncode, refused.stdout) == (2, "")
