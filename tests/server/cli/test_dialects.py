"""`toolwire list --as`: the tools of a file, or of anybody's server, for other readers."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from support.command_line import CommandLine, Done
from toolwire.cli.commands.list import translate_tools

TOOLS = '''
from typing import Any, Literal
from toolwire import tool_api

@tool_api
def paint(colour: Literal["red", "blue"], coats: int = 1) -> int:
    """Paint the wall.

    Args:
        coats: how often
    """
    return coats

class Notes:
    @tool_api
    def add(self, text: str, more: dict[str, int] | None = None) -> str:
        return text
'''
TARGET, COMMAND = "target", "command"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tools.py").write_text(TOOLS)
    return tmp_path


def listed(command_line: CommandLine, *words: str, form: str = TARGET) -> Done:
    """`toolwire list` of the tools, named as a target or served by a command."""
    command = ["--", sys.executable, "-m", "toolwire", "serve", "--log-level", "error", "tools.py"]
    return command_line("list", *words, *(["tools.py"] if form == TARGET else command))


def as_json(command_line: CommandLine, *words: str, form: str = TARGET) -> tuple[Any, str]:
    done = listed(command_line, *words, form=form)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout), done.stderr


@pytest.mark.process
@pytest.mark.parametrize("form", [TARGET, COMMAND])
def test_lagent_gets_its_descriptions(command_line: CommandLine, folder: Path, form: str) -> None:
    tools, told = as_json(command_line, "--as", "lagent", form=form)
    assert told == ""
    assert [tool["name"] for tool in tools] == ["paint", "Notes_add"]
    assert tools[0] == {
        "name": "paint",
        "description": "Paint the wall.",
        "parameters": [
            {"name": "colour", "type": "STRING", "description": "", "enum": ["red", "blue"]},
            {"name": "coats", "type": "NUMBER", "description": "how often"},
        ],
        "required": ["colour"],
        "return_data": [{"name": "result", "description": "", "type": "NUMBER"}],
    }


@pytest.mark.process
@pytest.mark.parametrize("form", [TARGET, COMMAND])
@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
def test_apis_take_the_names_of_the_tools(
    command_line: CommandLine, folder: Path, dialect: str, form: str
) -> None:
    tools, notes = as_json(command_line, "--as", dialect, form=form)
    functions = [tool.get("function", tool) for tool in tools]
    assert [function["name"] for function in functions] == ["paint", "Notes_add"]
    assert notes == ""


@pytest.mark.process
def test_a_name_that_an_api_refuses_is_changed_with_a_note(
    command_line: CommandLine, folder: Path
) -> None:
    command = [sys.executable, "-P", "-m", "toolwire", "serve", "--separator", ".", "tools.py"]
    done = command_line("list", "--as", "openai", "--", *command)
    assert [tool["function"]["name"] for tool in json.loads(done.stdout)] == ["paint", "Notes_add"]
    assert done.stderr == "toolwire: 'Notes.add' is called 'Notes_add' there\n"


@pytest.mark.process
def test_functions_are_strict_where_they_can_be_and_the_reader_is_notified_where_not(
    command_line: CommandLine, folder: Path
) -> None:
    tools, told = as_json(command_line, "--as", "openai", "--strict")
    paint, add = (tool["function"] for tool in tools)
    assert (paint["strict"], paint["parameters"]["required"]) == (True, ["colour", "coats"])
    assert "strict" not in add
    assert "toolwire: Notes_add: it cannot be strict: properties.more.anyOf[0]: " in told


@pytest.mark.process
@pytest.mark.parametrize("form", [TARGET, COMMAND])
def test_python_gets_stubs(command_line: CommandLine, folder: Path, form: str) -> None:
    done = listed(command_line, "--as", "python", form=form)
    assert (done.returncode, done.stderr) == (0, "")
    paint, add = (node for node in ast.parse(done.stdout).body if isinstance(node, ast.FunctionDef))
    assert ast.unparse(paint.args) == "colour: Literal['red', 'blue'], coats: int=1"
    assert ast.get_docstring(paint) == "Paint the wall.\n\nArgs:\n    coats: how often"
    assert add.name == "Notes_add"


@pytest.mark.process
@pytest.mark.parametrize("form", [TARGET, COMMAND])
def test_typescript_gets_declarations(command_line: CommandLine, folder: Path, form: str) -> None:
    done = listed(command_line, "--as", "typescript", form=form)
    assert (done.returncode, done.stderr) == (0, "")
    assert 'export declare function paint(args: {\n  colour: "red" | "blue";\n' in done.stdout


@pytest.mark.process
@pytest.mark.parametrize("form", [TARGET, COMMAND])
def test_people_get_a_page(command_line: CommandLine, folder: Path, form: str) -> None:
    done = listed(command_line, "--as", "markdown", form=form)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("# Tools\n\n## `paint`\n\n> Paint the wall.\n\n| parameter |")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (
            ["--as", "latin"],
            (
                "--as takes one of lagent, openai, anthropic, python, typescript, markdown, not"
                " 'latin'"
            ),
        ),
        (["--as", "python", "--json"], "--as and --json contradict each other: leave one out"),
        (["--lint", "--as", "python"], "--as and --lint contradict each other: leave one out"),
        (["--strict"], "--strict goes with --as openai"),
        (["--strict", "--as", "anthropic"], "--strict goes with --as openai"),
    ],
)
def test_what_does_not_go_together_is_refused(
    command_line: CommandLine, folder: Path, words: list[str], complaint: str
) -> None:
    done = listed(command_line, *words)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"toolwire: {complaint}\n")


def test_parameters_that_an_api_refuses_are_renamed_and_the_reader_is_notified_of_it() -> None:
    entry = {
        "name": "find",
        "inputSchema": {"type": "object", "properties": {"filter[id]": {"type": "integer"}}},
    }
    (tool,), notes = translate_tools([entry], "anthropic")
    assert list(tool["input_schema"]["properties"]) == ["filter_id_"]
    assert notes == ["find: 'filter[id]' is called 'filter_id_' there"]
