"""The faults that are planted in modules, one at a time."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from .equivalent import EQUIVALENT
from .mutants import mutants_of, plant
from .plugin import VARIABLE
from .targets import TARGETS

ROOT = Path(__file__).parents[2]


def source_of(module: str) -> str:
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).read_text("utf-8")


@pytest.mark.parametrize(
    ("source", "planted"),
    [
        ("a < b", ["a <= b"]),
        ("a == b", ["a != b"]),
        ("a is None", ["a is not None"]),
        ("a in b", ["a not in b"]),
        ("a < b < c", []),
        ("a and b", ["a or b"]),
        ("not a", ["a"]),
        ("a + b", ["a - b"]),
        ("a += b", ["a -= b"]),
        ("x = 3", ["x = 4"]),
        ("x = True", ["x = False"]),
        ("x = 'text'", []),
        ("f(x)", ["pass"]),
        ("def f():\n    return x", ["def f():\n    return None"]),
        ("def f():\n    return None", []),
        ("if f(x):\n    y = z", ["if not f(x):\n    y = z"]),
        ("def f(x: Literal[1]) -> Literal[2]: ...", []),
        ("if TYPE_CHECKING:\n    f(1)", []),
    ],
)
def test_each_place_gets_its_fault_and_types_get_none(source: str, planted: list[str]) -> None:
    numbers = range(len(mutants_of(source)))
    assert [ast.unparse(plant(source, number)) for number in numbers] == planted


@pytest.mark.parametrize("module", TARGETS)
def test_every_module_has_tests_and_the_faults_that_are_equivalent(module: str) -> None:
    keys = {mutant.key for mutant in mutants_of(source_of(module))}
    assert len(keys) >= 10
    assert EQUIVALENT.get(module, {}).keys() <= keys
    assert all((ROOT / path).exists() for path in TARGETS[module])


def test_equivalent_faults_are_of_modules_that_get_faults() -> None:
    assert EQUIVALENT.keys() <= TARGETS.keys()


def test_the_key_of_a_fault_has_its_statement_and_no_line() -> None:
    faults = mutants_of("x = 1\nif a < 2:\n    f(3)\n")
    assert [fault.key for fault in faults] == [
        "x = 1: 1 -> 2",
        "if a < 2:: a < 2 -> a <= 2",
        "if a < 2:: 2 -> 3",
        "f(3) -> pass",
        "f(3): 3 -> 4",
    ]


@pytest.mark.process
@pytest.mark.parametrize(("value", "printed"), [(None, "3"), ("planted:0", "-1")])
def test_the_plug_in_plants_the_fault_while_the_module_is_imported(
    tmp_path: Path, value: str | None, printed: str
) -> None:
    (tmp_path / "planted.py").write_text("def add(a, b):\n    return a + b\n")
    (tmp_path / "test_it.py").write_text(
        "import planted\n\ndef test_it():\n    print(planted.add(1, 2))\n"
    )
    faults = mutants_of((tmp_path / "planted.py").read_text())
    number = [fault.after for fault in faults].index("a - b")
    environment = dict(os.environ, PYTHONPATH=f"{tmp_path}:{ROOT / 'tests'}")
    if value is not None:
        environment[VARIABLE] = f"planted:{number}"

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-s", "-p", "mutation.plugin", "test_it.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert printed in done.stdout.split("\n")[0]
