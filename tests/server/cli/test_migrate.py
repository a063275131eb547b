"""`toolwire migrate`: which imports change, what stays as it was, and what is reported."""

from __future__ import annotations

import ast
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.command_line import CommandLine
from toolwire.cli.migration.imports import NotPython, migrate

TOOLS = "toolwire_compat.lagent"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from lagent import tool_api\n", f"from {TOOLS} import tool_api\n"),
        (
            "from lagent.actions.bing_browser import BingBrowser\n",
            f"from {TOOLS} import BingBrowser\n",
        ),
        (
            "from lagent import tool_api as api  # why\n",
            f"from {TOOLS} import tool_api as api  # why\n",
        ),
        ("from lagent.llms.openai import GPTAPI\n", "from toolwire_agent.models import GPTAPI\n"),
        ("def f():\n\tfrom lagent import PPT\n", f"def f():\n\tfrom {TOOLS} import PPT\n"),
        ("from lagent import PPT; x = 1\r\n", f"from {TOOLS} import PPT; x = 1\r\n"),
        ("from groot.agent import ReAct\n", "from toolwire_agent.groot import ReAct\n"),
        (
            "from mas.agent.base.executor_base import Executor\n",
            "from toolwire_compat.mas import Executor\n",
        ),
        ("from .lagent import PPT\n", "from .lagent import PPT\n"),
        ("from lagents import PPT\n", "from lagents import PPT\n"),
        (
            "# from lagent import PPT\ns = 'from lagent import PPT'\n",
            "# from lagent import PPT\ns = 'from lagent import PPT'\n",
        ),
        (
            "from lagent import PPT, GPTAPI\n",
            f"from {TOOLS} import PPT\nfrom toolwire_agent.models import GPTAPI\n",
        ),
        (
            "if x:\n    from lagent import PPT, ReAct  # both\n",
            f"if x:\n    from {TOOLS} import PPT\n    from lagent import ReAct  # both\n",
        ),
        (
            "# head\nfrom lagent import (\n    PPT,  # slides\n    ReAct,\n    ArxivSearch,\n)\n",
            f"# head\nfrom {TOOLS} import (\n    PPT,  # slides\n    ArxivSearch,\n)\n"
            "from lagent import (\n    ReAct,\n)\n",
        ),
        (
            "from lagent import PPT, \\\n    ReAct\n",
            f"from {TOOLS} import PPT\nfrom lagent import ReAct\n",
        ),
        (
            "from lagent import GPTAPI, PPT; x = 1\n",
            f"from toolwire_agent.models import GPTAPI; from {TOOLS} import PPT; x = 1\n",
        ),
    ],
)
def test_imports_change_and_everything_else_stays(before: str, after: str) -> None:
    assert migrate(before).text == after


@pytest.mark.parametrize(
    ("statement", "remark"),
    [
        (
            "from lagent.agents import ReWOO",
            "ReWOO stays in lagent.agents: use toolwire_agent.Agent",
        ),
        ("from lagent.actions import AsyncPPT", "AsyncPPT stays in lagent.actions: use PPT"),
        (
            "from lagent.actions import PTT",
            "PTT stays in lagent.actions: no name 'PTT', did you mean 'PPT'?",
        ),
        ("import os, lagent.actions as actions", "import lagent.actions stays: import its names"),
        ("from lagent.schema import *", "from lagent.schema import * stays: write the names"),
        ("from groot.action import Nope", "Nope stays in groot.action: no name 'Nope'"),
    ],
)
def test_what_cannot_be_changed_stays_with_a_remark(statement: str, remark: str) -> None:
    migrated = migrate(f"\n{statement}\n")
    assert migrated.text == f"\n{statement}\n"
    (left,) = migrated.remarks
    assert (left.line, left.is_open) == (2, True)
    assert left.text.startswith(remark)


@given(
    st.lists(
        st.sampled_from(["PPT", "GPTAPI", "ReAct", "tool_api", "Nonsense"]), min_size=1, unique=True
    ),
    st.data(),
)
def test_any_mix_of_names_stays_valid_python_with_every_name_once(
    names: list[str], data: st.DataObject
) -> None:
    is_in_brackets = data.draw(st.booleans())
    comma = (
        data.draw(st.sampled_from([", ", ",\n    ", ",  # why\n    "])) if is_in_brackets else ", "
    )
    end = data.draw(st.sampled_from(["", ",", ",\n", "\n"])) if is_in_brackets else ""
    listed = comma.join(names) + end
    before = (
        f"from lagent import ({listed})\n" if is_in_brackets else f"from lagent import {listed}\n"
    )

    after = migrate(before).text

    imported = {}
    for statement in ast.parse(after).body:
        assert isinstance(statement, ast.ImportFrom)
        for alias in statement.names:
            assert alias.name not in imported
            imported[alias.name] = statement.module
    places = {"GPTAPI": "toolwire_agent.models", "ReAct": "lagent", "Nonsense": "lagent"}
    assert imported == {name: places.get(name, "toolwire_compat.lagent") for name in names}
    assert after.count("# why") == before.count("# why")
    assert migrate(after).text == after


@pytest.mark.parametrize("text", ["def x(:\n", "x = (", "from lagent import\n", "\tx\n"])
def test_a_text_that_is_not_python_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(NotPython, match=r"^line \d+ is not valid Python$"):
        migrate(text)


OLD = "from lagent import tool_api\n"
NEW = f"from {TOOLS} import tool_api\n"


@pytest.mark.parametrize(
    ("options", "text", "status", "written"),
    [
        ([], OLD, 0, OLD),
        (["--write"], OLD, 0, NEW),
        (["--check"], OLD, 1, OLD),
        (["--check"], NEW, 0, NEW),
        (["--diff"], OLD, 0, OLD),
        (["--write"], OLD + "import lagent\n", 1, NEW + "import lagent\n"),
        (["--write"], NEW, 0, NEW),
    ],
)
def test_files_are_written_on_request_and_the_status_says_what_is_left(
    command_line: CommandLine,
    tmp_path: Path,
    options: list[str],
    text: str,
    status: int,
    written: str,
) -> None:
    file = tmp_path / "agent.py"
    file.write_text(text, "utf-8")
    done = command_line("migrate", "agent.py", *options)
    assert done.returncode == status
    assert file.read_text("utf-8") == written
    backup = tmp_path / "agent.py.backup-1"
    assert backup.exists() == (written != text)
    if written != text:
        assert backup.read_text("utf-8") == text
    assert (f"+{NEW}" in done.stdout) == ("--diff" in options)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("missing.py", None, "no such file or directory"),
        ("broken.py", b"def x(:\n", "line 1 is not valid Python"),
        ("latin.py", b"x = '\xe9'\n", "it is not text in UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_before_any_is_written(
    command_line: CommandLine, tmp_path: Path, name: str, content: bytes | None, reason: str
) -> None:
    (tmp_path / "agent.py").write_text(OLD, "utf-8")
    if content is not None:
        (tmp_path / name).write_bytes(content)
    done = command_line("migrate", "agent.py", name, "--write")
    assert done.returncode == 2
    assert done.stderr == f"toolwire: {name} cannot be read: {reason}\n"
    assert (tmp_path / "agent.py").read_text("utf-8") == OLD


def test_a_name_with_control_characters_in_a_path_reaches_no_terminal(
    command_line: CommandLine, tmp_path: Path
) -> None:
    name = "a\x1b[31m.py"
    try:
        (tmp_path / name).write_text(OLD, "utf-8")
    except OSError:
        pytest.skip(f"no such names on {os.name}")
    assert "\x1b" not in command_line("migrate", name).stdout
