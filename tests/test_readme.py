"""The README and the pages of docs/ are run: files are written, commands and scripts executed, the
reference compared with `--help`.

`python tests/test_readme.py` writes the reference anew. What a page shows is told by the language
of a block and by a comment above it: `file: NAME` writes the block to a file, `not run: REASON`
leaves it alone, `install: NAME` marks one of the two commands for a fresh environment, which
`tests/fresh` runs, and `stand-in: GitHub` runs the commands with a stand-in for GitHub on this
machine.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml
from support.example_data import LOG, make_database, make_pictures, make_repository
from support.issue_tracker import issue_tracker
from support.sandbox_runs import need_sandbox
from support.server_process import PATIENCE_SECONDS
from toolwire.cli import COMMANDS
from toolwire.cli.help import format_help
from toolwire.cli.printing.overview import format_overview
from toolwire_schemas import project_links

ROOT = Path(__file__).parents[1]
COMMANDS_PAGE = ROOT / "docs" / "commands.md"
CHINESE = ROOT / "README.zh.md"
PAGES = (ROOT / "README.md", CHINESE, ROOT / "MIGRATING.md", *sorted((ROOT / "docs").glob("*.md")))

_BLOCK = re.compile(
    r"(?:^<!-- (?P<note>[^\n]*?) -->\n)?^```(?P<language>\w+)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_LINK = re.compile(r"\]\((?P<target>[^)\s]+)\)|(?:src|srcset)=\"(?P<picture>[^\"]+)\"")
_REFERENCE = re.compile(r"(?<=<!-- reference -->\n).*?(?=<!-- /reference -->)", re.DOTALL)


class Block(NamedTuple):
    note: str
    language: str
    text: str
    place: str
    """Where it stands: `README.md:31`."""


def blocks() -> list[Block]:
    """Return the blocks of all pages; those that the Chinese README shares with the English one are
    run once.
    """
    english = {(block.note, block.text) for block in blocks_of(ROOT / "README.md")}
    found = [block for page in PAGES if page != CHINESE for block in blocks_of(page)]
    found += [block for block in blocks_of(CHINESE) if (block.note, block.text) not in english]
    return found


def blocks_of(page: Path) -> list[Block]:
    # The reference is compared as a whole; its lines are counted, but its blocks are not looked at.
    text = _REFERENCE.sub(lambda found: "\n" * found[0].count("\n"), page.read_text("utf-8"))
    found_blocks = []
    for found in _BLOCK.finditer(text):
        line = text.count("\n", 0, found.start()) + 1
        found_blocks.append(
            Block(found["note"] or "", found["language"], found["text"], f"{page.name}:{line}")
        )
    return found_blocks


def rows_of_tables(page: Path) -> list[int]:
    """Return the number of lines of each table of *page*, in order."""
    tables = re.findall(r"(?:^\|.*\n)+", page.read_text("utf-8"), re.MULTILINE)
    return [table.count("\n") for table in tables]


def test_the_chinese_readme_has_every_example_and_every_row_of_the_english_one() -> None:
    english = ROOT / "README.md"
    ours = [(block.note, block.language, block.text) for block in blocks_of(english)]
    theirs = [(block.note, block.language, block.text) for block in blocks_of(CHINESE)]

    assert [block for block in theirs if block in ours] == ours
    assert rows_of_tables(CHINESE) == rows_of_tables(english)


def reference() -> str:
    texts = [
        format_overview(COMMANDS),
        *(format_help(name, 100, shows_all=True) for name in COMMANDS),
    ]
    return "\n".join(f"```text\n{text}\n```\n" for text in texts)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the pages have their reader write, the examples, and what these
    are shown with.
    """
    folder = tmp_path_factory.mktemp("readme")
    shutil.copytree(ROOT / "examples", folder / "examples")
    make_database(folder / "shop.db")
    make_repository(folder / "project")
    make_pictures(folder / "pictures")
    (folder / "access.log").write_text(LOG, "utf-8")
    for block in blocks():
        if block.note.startswith("file: "):
            (folder / block.note.removeprefix("file: ")).write_text(block.text, "utf-8")
    run(
        ["toolwire", "client", "python", "my_tools.py", "-o", "adder.py"], folder
    )  # which scripts of languages.md import
    return folder


def environment() -> dict[str, str]:
    scripts = sysconfig.get_path("scripts")
    assert shutil.which("toolwire", path=scripts), (
        "install the project first: python -m pip install -e '.[test]'"
    )
    return {
        **os.environ,
        "PATH": os.pathsep.join((scripts, os.environ["PATH"])),
        "NO_COLOR": "1",
        "COLUMNS": "100",
    }


def run(command: list[str], folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        cwd=folder,
        env=environment() | variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )


def sessions() -> dict[str, list[Block]]:
    """The sessions of each page, in its order: a later one may use the files of an earlier one."""
    pages: dict[str, list[Block]] = {}
    for block in blocks():
        if block.language == "console" and not block.note.startswith("not run: "):
            pages.setdefault(block.place.partition(":")[0], []).append(block)
    return pages


@pytest.mark.process
@pytest.mark.parametrize("page", sessions())
def test_the_commands_of_a_page_print_what_is_shown_below_them(folder: Path, page: str) -> None:
    for session in sessions()[page]:
        with issue_tracker() if session.note == "stand-in: GitHub" else nullcontext() as github:
            variables = {} if github is None else {"GITHUB_API_URL": github.url}
            for step in re.split(r"^\$ ", session.text, flags=re.MULTILINE)[1:]:
                command, _, shown = step.partition("\n")
                check_command(folder, command, shown, **variables)


def check_command(folder: Path, command: str, shown: str, **variables: str) -> None:
    # Without a sandbox, the one prints a warning as well, and the other is refused.
    if "PythonInterpreter" in command or "--show code" in command:
        need_sandbox()
    assert run(["sh", "-c", command], folder, **variables).stdout.rstrip("\n") == shown.rstrip("\n")


def scripts() -> list[Block]:
    # Without FastMCP, only `toolwire serve` runs the file written for it: the session below it
    # calls its tool.
    found = []
    for block in blocks():
        is_left_alone = block.note.startswith("not run: ")
        if block.language != "python" or is_left_alone or block.note == "file: fastmcp_server.py":
            continue
        found.append(block)
    return found


@pytest.mark.process
@pytest.mark.parametrize("block", scripts(), ids=lambda block: block.place)
def test_a_script_runs(folder: Path, block: Block) -> None:
    done = run([sys.executable, "-c", block.text], folder)
    assert done.returncode == 0, done.stdout


RUN_CELLS = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell

for cell in json.load(sys.stdin):
    InteractiveShell.instance().run_cell(cell).raise_error()
"""


@pytest.mark.process
def test_the_cells_of_a_notebook_run(folder: Path) -> None:
    cells = [block.text for block in blocks() if block.language == "ipython"]
    done = subprocess.run(
        [sys.executable, "-c", RUN_CELLS],
        cwd=folder,
        input=json.dumps(cells),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "'result': 42" in done.stdout


def test_every_block_is_run_read_or_left_alone_for_a_reason() -> None:
    for block in blocks():
        match block.language:
            case "python" | "console" | "ipython":
                continue
            case "json":
                json.loads(block.text)
            case "toml":
                tomllib.loads(block.text)
            case "yaml":
                assert list(yaml.safe_load_all(block.text))
            case "sh":
                assert block.note.startswith(("install: ", "not run: "))
            case "py" | "text":
                assert block.note.startswith("file: ")
            case "go" | "lua" | "rust" | "ts":
                assert block.note.startswith("not run: ")
            case language:
                pytest.fail(f"nothing is done with the {language} in {block.place}")


def test_the_first_tool_takes_ten_lines() -> None:
    first = next(block for block in blocks() if block.note == "file: my_tools.py")
    assert len(first.text.splitlines()) <= 10


def without_code(page: Path) -> str:
    return re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """What a link may name behind `#`, as those who show Markdown make it of headings."""
    headings = re.findall(r"^#+ (.*)$", without_code(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(page: Path) -> list[str]:
    return [
        found["target"] or found["picture"] for found in _LINK.finditer(without_code(page))
    ]  # code may have x[y](z)


def test_links_lead_to_files_and_headings_of_the_tree() -> None:
    folders = [
        ROOT / name / "README.md"
        for name in ("schemas", "tools", "server", "clients", "tests/support")
    ]
    for page in {*PAGES, *ROOT.glob("*.md"), *folders}:
        for link in links(page):
            target, _, anchor = link.partition("#")
            if "://" in target:
                continue
            where = page.parent / target if target else page
            assert where.exists(), f"{page.name}: {link}"
            assert not anchor or anchor in anchors(where), f"{page.name}: {link}"


def test_links_to_files_of_the_repository_are_relative() -> None:
    # The wheel's metadata and the site get absolute ones when they are built: tests/test_links.py.
    repository = project_links.find_repository_url()
    assert repository is not None
    for page in {*PAGES, *ROOT.glob("*.md")}:
        assert [link for link in links(page) if link.startswith(repository)] == [], page.name


def test_the_reference_is_what_help_all_prints() -> None:
    found = _REFERENCE.search(COMMANDS_PAGE.read_text("utf-8"))
    assert found is not None
    assert found[0] == reference(), "run: python tests/test_readme.py"


if __name__ == "__main__":
    text = COMMANDS_PAGE.read_text("utf-8")
    COMMANDS_PAGE.write_text(_REFERENCE.sub(lambda _: reference(), text), "utf-8")
