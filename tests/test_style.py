"""`tests/style`: what it counts as a line of code, a docstring and a comment, and when a file is
too dense.
"""

from __future__ import annotations

import importlib.util
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[1]

SOURCE = '''"""A module

of one function."""

# A comment.
LIMIT = 3
"""A docstring of an attribute."""


def double(numbers: list[int]) -> list[int]:
    """Double."""
    text = """not a docstring
    """
    return [2 * number if number else 0 for number in numbers]  # a comment after code
'''


@pytest.fixture(scope="module")
def style() -> ModuleType:
    loader = SourceFileLoader("style", str(ROOT / "tests" / "style"))
    spec = importlib.util.spec_from_loader("style", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def test_docstrings_comments_and_empty_lines_are_no_lines_of_code(
    style: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(style, "ROOT", tmp_path)
    file = tmp_path / "double.py"
    file.write_text(SOURCE, "utf-8")

    measure = style.measure_file(file)

    assert (measure.lines, measure.conditionals, measure.comprehensions, measure.comments) == (
        5,
        1,
        1,
        1,
    )


@pytest.mark.parametrize(
    ("lines", "nodes", "is_too_dense"),
    [(59, 6000, False), (60, 660, False), (60, 661, True), (1000, 9000, False)],
)
def test_a_file_is_too_dense_above_the_limit_if_it_is_long(
    style: ModuleType, lines: int, nodes: int, is_too_dense: bool
) -> None:
    file = style.Measure("file.py", 1, lines, nodes, conditionals=0, comprehensions=0, comments=0)
    assert style.is_too_dense(file) is is_too_dense
