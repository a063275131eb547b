"""`toolwire diff`: saved lists, targets and real servers are compared; what is printed, and with
which status.
"""

from __future__ import annotations

import io
import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from support.command_line import forgotten_imports
from toolwire.cli import main as cli
from toolwire.cli.commands.diff import choose_kind
from toolwire.loading.targets import load
from toolwire_schemas.published import load_validator

OLD = '''
from typing import Literal

def search(query: str, limit: float = 10, order: Literal["new", "old"] = "new") -> list[str]:
    """Search."""
    return []

def forget() -> None:
    """Forget."""
'''
NEW = '''
from typing import Literal
from toolwire import tool_api

@tool_api(task="required")
def search(query: str, language: str, limit: int = 10, order: Literal["new", "old"] = "old") -> list[str]:
    """Search."""
    return []

@tool_api
def remember(text: str) -> int:
    """Remember."""
    return 1
'''  # noqa: E501
# What changed, and of which level.
CHANGES = {
    ("forget", "", "tool-removed", "major"),
    ("search", "arguments.language", "member-added", "major"),
    ("search", "arguments.limit", "narrowed", "major"),
    ("search", "arguments.order", "default-changed", "minor"),
    ("remember", "", "tool-added", "minor"),
}
SERVE = [sys.executable, "-P", "-m", "toolwire", "serve", "--log-level", "error"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two versions of tools, and a saved list of the old one."""
    folder = tmp_path_factory.mktemp("diff")
    (folder / "old.py").write_text(OLD)
    (folder / "new.py").write_text(NEW)
    with forgotten_imports(folder):
        tools = load([str(folder / "old.py")])
    (folder / "old.json").write_text(json.dumps([tool.describe() for tool in tools]))
    return folder


@pytest.fixture
def inside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    return folder


class Run:
    """`toolwire diff` with these words."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *words: str) -> None:
        self.status = cli.main(["diff", *words])
        captured = capsys.readouterr()
        self.out, self.err = captured.out, captured.err


def save(folder: Path, value: Any) -> str:
    path = folder / "saved.json"
    path.write_text(json.dumps(value))
    return str(path)


def entry(**properties: Any) -> dict[str, Any]:
    return {"name": "t", "inputSchema": {"type": "object", "properties": properties}}


@pytest.mark.process
def test_a_saved_list_is_compared_with_a_target(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Run(capsys, "old.json", "new.py")
    assert (run.status, run.err) == (1, "")
    assert run.out.splitlines()[:2] == [
        "old: old.json, a saved list with 2 tools",
        "new: new.py, a target with 2 tools",
    ]
    words = " ".join(run.out.split())
    assert 'major search arguments.limit type "number" -> "integer"; 1.5 is not taken' in words
    assert "major search execution.taskSupport" in words
    assert run.out.splitlines()[-1] == "major: 4 changes break users."


@pytest.mark.process
def test_two_servers_are_compared_as_json_that_is_as_published(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    commands = [shlex.join([*SERVE, file]) for file in ("old.py", "new.py")]
    run = Run(capsys, *commands, "--json")
    report = json.loads(run.out)
    load_validator("tool-changes").validate(report)
    found = {
        (change["tool"], change["place"], change["change"], change["level"])
        for change in report["changes"]
    }
    assert (run.status, report["verdict"], found) == (1, "major", CHANGES)
    assert report["old"] == {"name": commands[0], "kind": "command", "tools": 2}


@pytest.mark.parametrize("option", [(), ("--json",), ("--markdown", "-"), ("--html", "-")])
def test_of_many_changes_every_report_ends_with_their_number(
    option: tuple[str, ...], inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, kind in (("many", "string"), ("others", "integer")):
        (inside / f"{name}.json").write_text(
            json.dumps([entry(**{f"m{number}": {"type": kind} for number in range(120)})])
        )
    run = Run(capsys, "many.json", "others.json", *option)
    assert (run.status, run.err) == (1, "")
    assert run.out.count("and 20 more") == 1
    assert "arguments.m99" in run.out
    assert "arguments.m100" not in run.out
    if option == ("--json",):
        load_validator("tool-changes").validate(json.loads(run.out))
    else:
        assert "120 changes break users" in run.out


@pytest.mark.process
def test_nothing_breaks_if_nothing_changed(
    inside: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Run(capsys, "old.json", "old.py")
    assert (run.status, run.out.splitlines()[-1]) == (0, "none: nothing changed.")


@pytest.mark.process
@pytest.mark.parametrize(
    "wrap",
    [
        lambda tools: tools,
        lambda tools: {"tools": tools},
        lambda tools: {"jsonrpc": "2.0", "id": 1, "result": {"tools": tools}},
    ],
)
def test_a_list_may_be_saved_in_any_form_and_come_from_standard_input(
    inside: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, wrap: Any
) -> None:
    saved = wrap(json.loads((inside / "old.json").read_text()))
    monkeypatch.setattr(
        sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xef\xbb\xbf" + json.dumps(saved).encode()))
    )
    run = Run(capsys, "-", "old.json")
    assert (run.status, run.out.splitlines()[0]) == (
        0,
        "old: standard input, a saved list with 2 tools",
    )


NUMBER, INTEGER = entry(a={"type": "number"}), entry(a={"type": "integer"})
PATTERN, OTHER = (entry(a={"type": "string", "pattern": f"^a{{{n}}}$"}) for n in ("3", "3,4"))
TITLED = {**NUMBER, "title": "T"}


@pytest.mark.parametrize(
    ("old", "new", "options", "status"),
    [
        (NUMBER, INTEGER, [], 1),
        (NUMBER, INTEGER, ["--fail-on", "never"], 0),
        (INTEGER, NUMBER, [], 0),
        (INTEGER, NUMBER, ["--fail-on", "minor"], 1),
        (NUMBER, TITLED, ["--fail-on", "minor"], 0),
        (NUMBER, TITLED, ["--fail-on", "patch"], 1),
        (NUMBER, NUMBER, ["--fail-on", "patch"], 0),
        (PATTERN, OTHER, [], 1),
        (PATTERN, OTHER, ["--allow-unknown"], 0),
        (PATTERN, OTHER, ["--allow-unknown", "--fail-on", "minor"], 1),
    ],
)
def test_the_status_tells_whether_it_is_as_grave_as_was_asked(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    old: Any,
    new: Any,
    options: list[str],
    status: int,
) -> None:
    paths = tmp_path / "old.json", tmp_path / "new.json"
    for path, tool in zip(paths, (old, new), strict=True):
        path.write_text(json.dumps([tool]))
    assert Run(capsys, *map(str, paths), *options).status == status


def test_what_is_unknown_is_said_to_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "new.json").write_text(json.dumps([OTHER]))
    run = Run(capsys, save(tmp_path, [PATTERN]), str(tmp_path / "new.json"))
    assert run.out.splitlines()[-1] == "perhaps major: 1 change may break users."


def test_markdown_is_a_list_in_which_nothing_of_a_tool_is_markup(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "new.json").write_text("[]")
    hostile = {**entry(), "name": "`</code>`\n# Heading"}
    run = Run(capsys, save(tmp_path, [hostile]), str(tmp_path / "new.json"), "--markdown", "-")
    assert (
        run.out
        == "**major**: 1 change breaks users.\n\n### Breaking\n\n- `` `</code>` # Heading ``:"
        " `removed` (who calls it)\n"
    )


def test_what_steers_a_terminal_does_not_reach_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Run(
        capsys,
        save(tmp_path, [{**entry(), "name": "\x1b[2J"}]),
        save(tmp_path, [{**entry(), "name": "\x1b[2J"}]),
    )
    assert run.status == 0
    (tmp_path / "none.json").write_text("[]")
    run = Run(capsys, str(tmp_path / "saved.json"), str(tmp_path / "none.json"))
    assert (run.status, "\x1b" in run.out) == (1, False)


@pytest.mark.process
@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "name the old tools and the new ones: toolwire diff OLD NEW"),
        (["old.json", "npx", "server"], "put quotes round a command of several words"),
        (["-", "-"], "only one of the lists can come from standard input"),
        (["old.json", "none.json"], "cannot open none.json: No such file or directory"),
        (
            ["old.json", "old.py", "--html", "no/such.html"],
            "--html no/such.html: there is no folder no",
        ),
        (["old.json", "no_such_module"], "'no_such_module'"),
        (
            ["old.json", f"{shlex.quote(sys.executable)} -c pass"],
            "the server ended with exit status 0",
        ),
        (["old.json", "no-such-program at all"], "no-such-program"),
        (["old.json", "server 'unfinished"], "no closing quotation"),
    ],
)
def test_what_cannot_be_compared_gives_status_2_and_a_reason(
    inside: Path, capfd: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    assert cli.main(["diff", *words]) == 2
    captured = capfd.readouterr()
    assert (captured.out, told in captured.err) == ("", True), captured.err


@pytest.mark.parametrize(
    ("saved", "told"),
    [
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}}, "holds no tools"),
        ({"tools": [], "nextCursor": "2"}, "only the first page"),
        (["a"], "entry 1 of the new list is not a tool"),
        ([entry(), entry()], "two tools called 't'"),
    ],
)
def test_a_file_that_holds_no_whole_list_gives_status_2_and_a_reason(
    inside: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, saved: Any, told: str
) -> None:
    run = Run(capsys, "old.json", save(tmp_path, saved))
    assert (run.status, told in run.err) == (2, True), run.err


def test_what_a_word_is_taken_for_is_decided_by_what_is_there(inside: Path) -> None:
    (inside / "a list.txt").write_text("[]")
    (inside / "server.py --now.json").write_text("[]")
    program = inside / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    kinds = {
        "-": "saved",
        "old.json": "saved",
        "missing.json": "saved",
        "a list.txt": "saved",
        "server.py --now.json": "saved",
        "old.py": "target",
        "missing.py": "target",
        "old.py:search": "target",
        ".": "target",
        "package.module": "target",
        "python server.py": "command",
        "npx server config.json": "command",
        "./program": "command",
        "sh": "command",
    }
    assert {name: choose_kind(name) for name in kinds} == kinds
