"""Imports point one way, and each package shows exactly what it lists."""

from __future__ import annotations

import ast
import importlib
import re
import types
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.source_imports import read_imports

ROOT = Path(__file__).parents[1]

# Each package with the shelf it stands on and those of ours it may import.
SHELVES = {
    "toolwire_schemas": ("schemas", set()),
    "toolwire_dialects": ("schemas", {"toolwire_schemas"}),
    "toolwire_tools": ("tools", {"toolwire_schemas"}),
    "toolwire_compat": ("tools", {"toolwire_schemas", "toolwire_dialects", "toolwire_tools"}),
    "toolwire_bundled": ("tools", {"toolwire_schemas", "toolwire_tools", "toolwire_compat"}),
    "toolwire": ("server", {"toolwire_schemas", "toolwire_tools"}),
    "toolwire_client": ("clients", {"toolwire_schemas"}),
    "toolwire_agent": ("clients", {"toolwire_schemas", "toolwire_dialects", "toolwire_client"}),
    "toolwire_check": ("clients", {"toolwire_schemas", "toolwire_dialects", "toolwire_client"}),
}

# Calls that another process answers stand on the client. What is imported before the first of them
# imports none of those files; `test_only_who_wants_a_process_pays_for_it` and
# `test_import_budget.py` look at that.
AT_ONCE = {
    (f"server/toolwire/{room}", package)
    for room in (
        "workers/",
        "mounting/",
        "forwarding.py",
        "polled_outputs.py",
        "guarded_process.py",
        "wrapping/",
    )
    for package in ("toolwire_client", "toolwire_dialects")
}
# Servers of others in a shared process.
AT_ONCE |= {
    (f"server/toolwire/sharing/{file}.py", "toolwire_client")
    for file in ("common_conversation", "common_servers")
}
AT_ONCE |= {
    ("server/toolwire/inspect/", package)
    for package in ("toolwire_client", "toolwire_check", "toolwire_dialects")
}
# Files that a command imports when it runs, and a target when it is of their kind.
AT_ONCE |= {
    ("server/toolwire/cli/", "toolwire_compat"),
    ("server/toolwire/cli/", "toolwire_dialects"),
    ("server/toolwire/bundles/", "toolwire_bundled"),
    ("server/toolwire/bundles/", "toolwire_compat"),
    ("server/toolwire/loading/bundled_targets.py", "toolwire_bundled"),
    ("server/toolwire/loading/yaml_targets.py", "toolwire_compat"),
}
# Rooms and files that may import another shelf, inside functions only. The command line knows all
# packages, and a target may be a file for any of the libraries.
LATE = {
    (f"server/toolwire/{room}/", package)
    for room in ("cli", "hosts", "loading")
    for package in (
        *("toolwire_client", "toolwire_agent", "toolwire_check"),
        *("toolwire_compat", "toolwire_bundled"),
    )
}
# A search finds tools and writes their stubs.
LATE |= {("server/toolwire/showing/", "toolwire_dialects")}
# The sandbox of programs is that of a bundled tool, and their calls are imported for the first.
LATE |= {("server/toolwire/showing/", "toolwire_bundled")}
AT_ONCE |= {
    (f"server/toolwire/showing/{file}.py", package)
    for file in ("program_calls", "program_approvals")
    for package in ("toolwire_bundled", "toolwire_dialects")
}
LATE |= {
    (f"clients/toolwire_agent/agent/{file}.py", "toolwire_bundled")
    for file in ("agent", "tool_search")
}
AT_ONCE |= {
    ("clients/toolwire_agent/agent/programs.py", package)
    for package in ("toolwire_bundled", "toolwire_tools")
}
# What Lagent has under one name is in two packages here.
LATE |= {("tools/toolwire_compat/lagent/__init__.py", "toolwire_bundled")}
# A plain function of the client's own process is described as a server describes it.
LATE |= {("clients/toolwire_agent/toolbox/local_tools.py", "toolwire_tools")}
# It hands on Groot's names that are the tools', to those who import them from there.
LATE |= {
    ("clients/toolwire_agent/groot.py", package)
    for package in ("toolwire_tools", "toolwire_compat", "toolwire_bundled")
}


def files_of(package: str) -> list[Path]:
    return sorted((ROOT / SHELVES[package][0] / package).rglob("*.py"))


def imported(path: Path) -> Iterator[tuple[str, bool]]:
    """The packages of ours that a file imports, each with whether that happens as soon as the file
    is imported.
    """
    for each in read_imports(path):
        package = each.module.partition(".")[0]
        if each.level == 0 and package in SHELVES:
            yield package, not each.is_late


@pytest.mark.parametrize("package", SHELVES)
def test_a_file_imports_only_from_the_shelves_below_it(package: str) -> None:
    allowed = SHELVES[package][1] | {package}
    wrong = []
    for path in files_of(package):
        place = path.relative_to(ROOT).as_posix()
        for other, at_once in imported(path):
            exceptions = AT_ONCE if at_once else AT_ONCE | LATE
            is_excepted = any(
                place.startswith(start) and other == shelf for start, shelf in exceptions
            )
            wrong += [] if other in allowed or is_excepted else [f"{place} imports {other}"]
    assert wrong == []


def test_the_rule_sees_imports_wherever_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "sample.py"
    path.write_text(
        "import toolwire.cli.main\ndef f():\n    from toolwire_client import Client\nfrom . import"
        " toolwire_tools\n"
    )
    assert list(imported(path)) == [("toolwire", True), ("toolwire_client", False)]


@pytest.mark.parametrize(
    "package",
    [
        "toolwire",
        "toolwire_tools",
        "toolwire_client",
        "toolwire_compat.lagent",
        "toolwire_agent.groot",
    ],
)
def test_dir_shows_the_public_names_of_a_package(package: str) -> None:
    module = importlib.import_module(package)
    assert dir(module) == sorted(module.__all__)


@pytest.mark.parametrize("package", SHELVES)
def test_a_package_lists_what_it_shows_in_order(package: str) -> None:
    module = importlib.import_module(package)
    listed = getattr(module, "__all__", ())  # a package without it shows its modules alone
    assert list(listed) == sorted(set(listed))
    unlisted = ("annotations", "TYPE_CHECKING", "Any")
    shown = {
        name for name, value in vars(module).items() if not isinstance(value, types.ModuleType)
    }
    shown = {name for name in shown if not name.startswith("_") and name not in unlisted}
    assert shown <= set(listed)
    assert all(hasattr(module, name) for name in listed)


@pytest.mark.parametrize(
    ("package", "shelf"), [(package, shelf) for package, (shelf, _) in SHELVES.items()]
)
def test_a_shelf_holds_one_typed_package_and_explains_itself(package: str, shelf: str) -> None:
    assert (ROOT / shelf / package / "py.typed").is_file()
    assert not (ROOT / shelf / "__init__.py").exists()
    assert (ROOT / shelf / "README.md").is_file()


# Files that write to the standard streams themselves, each with its reason.
WRITERS = {
    "schemas/toolwire_schemas/output.py": "it is what all others write through",
    "clients/toolwire_agent/terminal/rich_renderer.py": (
        "rich writes what it was given as printable"
    ),
    "clients/toolwire_agent/terminal/keyboard.py": (
        "input() writes the prompt, which is printable by then"
    ),
    "clients/toolwire_client/bridge.py": "messages for the host, as the remote server sent them",
    "server/toolwire/log.py": "the log of a server, which is written from any thread",
    "server/toolwire/sharing/carrier.py": (
        "bytes for the host, and sentences that it escapes: each session pays for its imports"
    ),
}


def _written_directly(tree: ast.AST) -> Iterator[str]:
    """Calls that write to a standard stream, or hand one to what is not known to write safely."""
    safe = {"Output", "ProgressLine", "PlainRenderer", "JsonRenderer", "isinstance"}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        if called in ("print", "input", "Console", "os.write") and (
            called != "os.write" or _is_standard(node.args[0])
        ):
            yield called
        if re.fullmatch(r"sys\.(__)?std(out|err)(__)?(\.buffer)?\.write(lines)?", called):
            yield called
        given = [
            ast.unparse(argument)
            for argument in (*node.args, *(keyword.value for keyword in node.keywords))
        ]
        if called.rpartition(".")[2] not in safe and {"sys.stdout", "sys.stderr"} & set(given):
            yield f"{called}({', '.join(given)})"


def _is_standard(descriptor: ast.AST) -> bool:
    return isinstance(descriptor, ast.Constant) and descriptor.value in (1, 2)


# A file without any of them writes nothing; most are parsed in vain otherwise.
_MAY_WRITE = re.compile(r"std(out|err)|\b(print|input|Console|os\.write)\(")


@pytest.mark.parametrize("package", ["toolwire", "toolwire_client", "toolwire_schemas"])
def test_everything_that_is_printed_passes_through_one_output(package: str) -> None:
    texts = {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for path in files_of(package)
    }
    written = {
        place: list(_written_directly(ast.parse(text)))
        for place, text in texts.items()
        if place not in WRITERS and _MAY_WRITE.search(text)
    }
    assert {place: calls for place, calls in written.items() if calls} == {}


@pytest.mark.parametrize(
    "code", ["print(1)", "sys.stderr.write(a)", "json.dump(a, sys.stdout)", "os.write(2, a)"]
)
def test_what_bypasses_that_output_is_noticed(code: str) -> None:
    assert _MAY_WRITE.search(code)
    assert list(_written_directly(ast.parse(code)))
