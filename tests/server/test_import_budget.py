"""What a server imports before its first answer to `tools/list`: each module more is start-up that
every host pays.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

# The whole budget beyond the standard library; the last is imported by msgspec wherever it is
# installed.
ALLOWED = {"orjson", "msgspec", "docstring_parser", "typing_extensions"}
OURS = {"toolwire", "toolwire_tools", "toolwire_schemas"}
# Of the standard library, what would be felt and is needed by no `tools/list`.
TOO_MUCH = {
    "argparse",
    "asyncio",
    "concurrent.futures",
    "email",
    "fractions",
    "hashlib",
    "http",
    "importlib.metadata",
    "importlib.resources",
    "logging",
    "multiprocessing",
    "pathlib",
    "pdb",
    "pkgutil",
    "random",
    "selectors",
    "shutil",
    "socket",
    "sqlite3",
    "ssl",
    "statistics",
    "string",
    "subprocess",
    "tempfile",
    "traceback",
    "unittest",
    "urllib",
    "xml",
    "zipfile",
}

FILE = '''
import sys
from dataclasses import dataclass
from typing import Literal, Optional

@dataclass
class Point:
    """A point."""
    x: int
    y: Optional[float] = None

def measure(points: list[Point], unit: Literal["m", "km"] = "m") -> dict[str, int]:
    """Do something with points.

    Args:
        points: Where.
        unit: In what.
    """
    return {}

def loaded() -> list[str]:
    """The modules imported so far."""
    return sorted(sys.modules)
'''


def modules_after_the_first_list(folder: Path) -> set[str]:
    """The modules of a real server; what Python itself loads for a file of this environment is left
    out.
    """
    target = folder / "tools_of_a_user.py"
    target.write_text(FILE, encoding="utf-8")
    questions = [
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "loaded"}},
    ]
    done = subprocess.run(
        [sys.executable, "-m", "toolwire", "serve", str(target)],
        input="".join(json.dumps(question) + "\n" for question in questions),
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
    bare = subprocess.run(
        [sys.executable, "-c", "import runpy, sys; print(*sys.modules)"],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    # Environments may import modules of their own at the start of any Python (through .pth files).
    return (
        set(answers[2]["result"]["structuredContent"]["result"])
        - set(bare.stdout.split())
        - {target.stem}
    )


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    return modules_after_the_first_list(tmp_path_factory.mktemp("tools"))


@pytest.mark.process
def test_only_the_budgeted_libraries_are_imported_before_the_first_list(loaded: set[str]) -> None:
    packages = {name.partition(".")[0] for name in loaded}

    assert {
        name for name in packages if name not in sys.stdlib_module_names
    } - OURS - ALLOWED == set()


@pytest.mark.process
def test_nothing_heavy_of_the_standard_library_is_imported_before_the_first_list(
    loaded: set[str],
) -> None:
    assert loaded & TOO_MUCH == set()


# They include what watches over calls. Syntax nodes are what is compiled and run: lines would count
# names and comments, which cost no start-up.
MOST_MODULES, MOST_NODES = 56, 54_800
PLAIN = """
import sys

def ours() -> list:
    return [module for name, module in [*sys.modules.items()] if name.startswith("toolwire")]

def modules() -> int:
    for module in ours():
        print(module.__file__)  # to standard error: a result of text would need more modules
    return len(ours())

def unneeded() -> int:
    found = {"orjson", "inspect", "ast", "dataclasses"} & sys.modules.keys()
    if sys.version_info >= (3, 14):
        found.discard("ast")  # msgspec imports annotationlib there, which imports it
    return len(found)

__tools__ = [modules, unneeded]
"""


def count_nodes(path: str) -> int:
    """Return the number of syntax nodes of a source file."""
    tree = ast.parse(Path(path).read_bytes())
    return sum(1 for _ in ast.walk(tree))


@pytest.mark.process
def test_a_server_of_integers_imports_few_modules_of_toolwire(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text(PLAIN, encoding="utf-8")
    requests: list[dict[str, object]] = [{"jsonrpc": "2.0", "id": 0, "method": "tools/list"}]
    for name in ("modules", "unneeded"):
        requests.append(
            {"jsonrpc": "2.0", "id": name, "method": "tools/call", "params": {"name": name}}
        )
    done = subprocess.run(
        [sys.executable, "-m", "toolwire", "serve", "plain.py"],
        cwd=tmp_path,
        input="".join(json.dumps(request) + "\n" for request in requests),
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    results = {
        answer["id"]: answer["result"] for answer in map(json.loads, done.stdout.splitlines())
    }
    assert results["modules"]["structuredContent"]["result"] <= MOST_MODULES
    files = [line for line in done.stderr.splitlines() if line.endswith(".py")]
    assert len(files) == results["modules"]["structuredContent"]["result"]
    assert sum(map(count_nodes, files)) <= MOST_NODES
    assert results["unneeded"]["structuredContent"]["result"] == 0


@pytest.mark.process
@pytest.mark.parametrize("called", [False, True])
def test_what_watches_over_calls_is_imported_for_the_first_call(
    tmp_path: Path, called: bool
) -> None:
    (tmp_path / "tools_of_a_user.py").write_text(FILE, encoding="utf-8")
    request: dict[str, object] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    if called:
        request |= {"method": "tools/call", "params": {"name": "loaded"}}
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "toolwire", "serve", "tools_of_a_user.py"],
        cwd=tmp_path,
        input=json.dumps(request) + "\n",
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    watching = {
        "toolwire.watchdog.watchdog",
        "mmap",
    }  # not select: a quick host's next request is polled for, too
    assert imported & watching == (watching if called else set())


@pytest.mark.process
@pytest.mark.parametrize("words", [["--version"], ["--help"], ["list", "tools_of_a_user.py"]])
def test_commands_that_serve_nothing_themselves_import_no_tools(
    tmp_path: Path, words: list[str]
) -> None:
    (tmp_path / "tools_of_a_user.py").write_text(FILE, encoding="utf-8")
    script = (
        "import sys; from toolwire.__main__ import main; main(); print(*sys.modules,"
        " file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *words],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    loaded = {name.partition(".")[0] for name in done.stderr.split()}
    assert done.stdout
    # What msgspec would import first, unless it is deferred, takes as long as all of msgspec.
    rare = {"toolwire_tools", "typing_extensions", "orjson", "hashlib", "html"}
    if words[0] != "list":
        rare |= {"msgspec", "typing"}
    assert loaded & rare == set()


@pytest.mark.process
@pytest.mark.parametrize("show", ["all", "search"])
def test_a_list_from_a_lock_imports_no_more_of_the_standard_library(
    tmp_path: Path, show: str
) -> None:
    server = {"command": "never-started"}
    tool = {"name": "a_add", "inputSchema": {"type": "object"}}
    (tmp_path / "servers.json").write_text(json.dumps({"mcpServers": {"a": server}}))
    (tmp_path / "lock.json").write_text(json.dumps({"version": 2, "tools": [tool]}))
    options = ["--mount-config", "servers.json", "--lock", "lock.json", "--show", show]
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "toolwire", "serve", *options],
        cwd=tmp_path,
        input='{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n',
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "toolwire.mounting.mounts" in imported
    needed_later = TOO_MUCH | {"dataclasses", "inspect", "json", "unicodedata"}
    assert imported & needed_later == set()


@pytest.mark.process
def test_a_subscription_to_the_list_imports_no_encoder_of_unusual_values(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text(PLAIN, encoding="utf-8")
    meta = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    wanted = {"toolsListChanged": True}
    requests: list[dict[str, object]] = [
        {"id": 1, "method": "subscriptions/listen", "params": {"notifications": wanted}},
        {"id": 2, "method": "tools/list", "params": {}},
        {"id": 3, "method": "unheard/of", "params": {}},
    ]
    lines = []
    for request in requests:
        params = {**request["params"], "_meta": meta}  # type: ignore[dict-item]
        lines.append(json.dumps({"jsonrpc": "2.0", **request, "params": params}) + "\n")
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "toolwire", "serve", "plain.py"],
        cwd=tmp_path,
        input="".join(lines),
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert answers[0]["params"]["notifications"] == wanted
    assert {answer.get("id") for answer in answers[1:]} == {1, 2, 3}
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert imported & {"orjson", "dataclasses", "inspect"} == set()
