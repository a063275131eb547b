"""Modules that were not written for Toolwire: their public functions are tools."""

from __future__ import annotations

from pathlib import Path

import pytest
from toolwire import Server
from toolwire.loading.targets import load


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("math", {"sqrt", "pow", "isclose", "factorial"}),
        ("os.path", {"basename", "splitext"}),
        ("hashlib", {"new", "file_digest"}),
        ("json", {"dumps", "loads"}),
        ("statistics", {"mean", "median"}),
    ],
)
def test_functions_of_a_module_of_the_library_are_tools(module: str, names: set[str]) -> None:
    listed = {tool.name for tool in load([module])}

    assert names <= listed
    assert not [name for name in listed if name.startswith("_")]


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
