"""Modules that were not written for Toolwire: their public functions are tools."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from toolwire import Server
from toolwire.errors import LoadError
from toolwire.loading.diagnostics.not_offered import explain
from toolwire.loading.targets import load


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("math", {"sqrt", "pow", "isclose", "factorial"}),
        ("os.path", {"basename", "splitext"}),
        ("hashlib", {"file_digest"}),
        ("json", {"dumps", "loads"}),
        ("statistics", {"mean", "median"}),
        ("random", {"randint", "choice", "random"}),
    ],
)
def test_functions_of_a_module_of_the_library_are_tools(module: str, names: set[str]) -> None:
    listed = {tool.name for tool in load([module])}

    assert names <= listed
    assert not [name for name in listed if name.startswith("_")]


def test_a_module_without_a_file_is_served_next_to_files_for_fastmcp() -> None:
    importlib.import_module("toolwire_compat.fastmcp")
    assert "isenabled" in {tool.name for tool in load(["gc"])}


def test_a_builtin_function_is_called_by_the_names_in_its_text_signature() -> None:
    server = Server(load(["math"]))

    result = server.call("pow", {"x": 2, "y": 10})

    assert result["content"] == [{"type": "text", "text": "1024.0"}]


def test_what_cannot_be_a_tool_is_reported_with_its_reason(
    capfd: pytest.CaptureFixture[str],
) -> None:
    load(["math"])

    assert "math: gcd is not served:" in capfd.readouterr().err


def test_a_function_is_called_what_the_module_calls_it(tmp_path: Path) -> None:
    file = tmp_path / "named.py"
    file.write_text(
        "def _hidden(a: int) -> int: return a\n"
        "shown = _hidden\n"
        "def wrapped(function):\n"
        "    def inner(a: int) -> int: return function(a)\n"
        "    return inner\n"
        "first = wrapped(_hidden)\n"
        "second = wrapped(_hidden)\n",
        "utf-8",
    )

    names = {tool.name for tool in load([str(file)])}

    assert names >= {"shown", "first", "second"}
    assert not names & {"_hidden", "inner"}


MIXED = """
from os.path import basename
from toolwire import tool_api

@tool_api
def add(a: int, b: int) -> int: return a + b

def helper(a: int) -> int: return a

def _hidden(): pass

class Plain: pass

class Caller:
    def __call__(self): pass

caller = Caller()
"""


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        (
            MIXED,
            {
                "basename": "it is imported from posixpath",
                "tool_api": "it is imported from toolwire_tools.decorator",
                "helper": "other names of the module are decorated",
                "_hidden": "its name begins with an underscore",
                "Plain": "it is a class",
                "Caller": "it is a class",
                "caller": "it is an object of the class Caller",
            },
        ),
        (
            "__all__ = ['first', 'second']\n"
            "def first(a: int) -> int: return a\n"
            "def second(*a): return a\n"
            "def third(a: int) -> int: return a\n",
            {"second": "tool 'second', parameter '*a'", "third": "the module's __all__ does not"},
        ),
        (
            "__tools__ = ['first']\n"
            "def first(a: int) -> int: return a\n"
            "def second(a: int) -> int: return a\n",
            {"second": "__tools__ does not list it"},
        ),
    ],
    ids=["decorated", "exported", "listed"],
)
def test_each_name_that_is_no_tool_has_a_reason(
    tmp_path: Path, text: str, reasons: dict[str, str]
) -> None:
    file = tmp_path / "why.py"
    file.write_text(text)

    found = dict(explain(str(file)))

    assert list(found) == list(reasons)
    for name, reason in reasons.items():
        assert found[name].startswith(reason)


@pytest.mark.parametrize("text", ["Clock", "tools.yaml"])
def test_only_modules_are_explained(tmp_path: Path, text: str) -> None:
    (tmp_path / "tools.yaml").write_text("tools: []")

    with pytest.raises(LoadError, match="is no module: --why explains"):
        explain(text if text == "Clock" else str(tmp_path / text))
