"""`toolwire schema`: what it prints and writes."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from support.command_line import CommandLine
from toolwire_schemas.cases import load_cases
from toolwire_schemas.published import (
    iterate_files_to_export,
    list_names,
    load_validator,
    read_text,
)


def test_the_list_has_a_line_for_each_schema(command_line: CommandLine) -> None:
    first, *rows = command_line("schema", "list").stdout.splitlines()
    assert first.split("  ")[0] == "schema"
    assert [row.split()[0] for row in rows if not row.startswith(" ")] == list(list_names())


def test_a_schema_is_shown_as_it_stands_in_its_file(command_line: CommandLine) -> None:
    assert command_line("schema", "show", "tool").stdout == read_text("tool")


def test_all_files_are_written_to_a_folder_and_can_be_used_from_there(
    command_line: CommandLine, tmp_path: Path
) -> None:
    done = command_line("schema", "export", "new/folder")
    written = {
        path.name: path.read_text("utf-8") for path in (tmp_path / "new" / "folder").iterdir()
    }
    assert done.stdout == f"Wrote {len(written)} files to {Path('new/folder')}.\n"
    assert set(written) == {"toolwire.d.ts", *(f"{name}.schema.json" for name in list_names())}
    assert written["tool.schema.json"] == read_text("tool")


def test_a_bundle_is_one_document_that_needs_nothing_else(command_line: CommandLine) -> None:
    judge = Draft202012Validator(
        json.loads(command_line("schema", "bundle", "tools-list-result").stdout)
    )
    assert judge.is_valid({"tools": [{"name": "now", "inputSchema": {"type": "object"}}]})
    assert not judge.is_valid({"tools": [{"name": "now"}]})
    assert list(json.loads(command_line("schema", "bundle").stdout)["$defs"]) == list(list_names())


@pytest.mark.process
def test_the_contract_cases_are_exported_with_the_schemas(
    command_line: CommandLine, tmp_path: Path
) -> None:
    done = command_line("schema", "export", "contract", "--cases")
    files = dict(iterate_files_to_export(with_cases=True))

    assert (done.returncode, done.stdout) == (0, f"Wrote {len(files)} files to contract.\n"), (
        done.stderr
    )
    exported = json.loads(files["cases/ids.json"])
    assert exported == json.loads((tmp_path / "contract" / "cases" / "ids.json").read_text("utf-8"))
    areas = {
        name.removeprefix("cases/").removesuffix(".json")
        for name in files
        if name.startswith("cases/")
    }
    assert areas - {"README.md"} == {case.area for case in load_cases()}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "say what to do: list, show, export, bundle, reply; as in `schema show tool`"),
        (["reply"], "usage: toolwire schema reply TARGET... [--strict]"),
        (["list", "--strict"], "--strict goes with schema reply"),
        (["list", "--cases"], "--cases goes with schema export"),
        (["lst"], "no command of schema 'lst', did you mean 'list'?"),
        (["list", "tool"], "usage: toolwire schema list"),
        (["show"], "usage: toolwire schema show NAME"),
        (["show", "tol"], "no schema 'tol', did you mean 'tool'?"),
        (["bundle", "tool", "tol"], "no schema 'tol', did you mean 'tool'?"),
        (["export"], "usage: toolwire schema export DIR"),
        (["export", __file__], f"{__file__} is no folder: name one, new or not"),
    ],
)
def test_an_impossible_command_is_an_error_that_lists_the_commands(
    command_line: CommandLine, words: list[str], told: str
) -> None:
    done = command_line("schema", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"toolwire: {told}")


@pytest.mark.process
def test_a_target_that_does_not_exist_is_named(command_line: CommandLine) -> None:
    done = command_line("schema", "reply", "tols.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("toolwire: no file tols.py")


TOOLS = """
def add(a: int, b: int = 1) -> int:
    return a + b

def now() -> str:
    return "noon"
"""


@pytest.mark.process
def test_a_model_that_knows_certain_tools_is_held_to_a_schema_of_its_replies(
    command_line: CommandLine, tmp_path: Path
) -> None:
    (tmp_path / "tools.py").write_text(TOOLS)
    judge = Draft202012Validator(json.loads(command_line("schema", "reply", "tools.py").stdout))
    strict = Draft202012Validator(
        json.loads(command_line("schema", "reply", "tools.py", "--strict").stdout)
    )
    calls = {"thought": "t", "type": "ACTION", "tool": "add"}
    for fits, reply in (
        (True, {**calls, "params": {"a": 1, "b": 2}}),
        (True, {**calls, "tool": "now", "params": {}}),
        (True, {"thought": "t", "type": "ASK", "content": "Which?"}),
        (True, {"thought": "t", "type": "FINAL_ANSWER", "ok": True, "result": "3"}),
        (False, {**calls, "params": {"a": "1", "b": 2}}),
        (False, {**calls, "tool": "subtract", "params": {"a": 1, "b": 2}}),
        (False, {"type": "ASK", "content": "Which?"}),
    ):
        assert judge.is_valid(reply) == strict.is_valid({"reply": reply}) == fits, reply
        assert load_validator("react-reply").is_valid(reply) or not fits
    assert judge.is_valid({**calls, "params": {"a": 1}})
    assert strict.schema["type"] == "object"
    command = [sys.executable, "-m", "toolwire", "serve", "tools.py"]
    assert json.loads(command_line("schema", "reply", "--", *command).stdout) == judge.schema
