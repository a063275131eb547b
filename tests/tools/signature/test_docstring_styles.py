"""NumPy's and reST's docstrings are read as docstring-parser reads them."""

from __future__ import annotations

import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from toolwire_tools.signature import docstring_sections
from toolwire_tools.signature.docstring_entries import Sections
from toolwire_tools.signature.docstring_sections import dedent, split_sections
from toolwire_tools.signature.docstring_styles import NotUsual, read_numpy, read_rest

NUMPY_LINES = (
    "",
    "Measure something.",
    "Parameters",
    "----------",
    "Returns",
    "-------",
    "Notes",
    "-----",
    "Raises",
    "------",
    "Other Parameters",
    "----------------",
    "See Also",
    "--------",
    "a : int, optional",
    "b, c : list of str, default 3",
    "d: {'x', 'y'} (default) z",
    "*args",
    "unit :",
    "int",
    "    What it is.",
    "      Deeper.",
    "   Less deep.",
)
REST_LINES = (
    "",
    "Measure something.",
    ":param a: The a.",
    ":param int? b: The b,",
    ":param **options: Others.",
    ":type **options: dict",
    ":arg a, b: Both.",
    ":type a: int",
    ":rtype: str",
    ":rtype d: dict",
    ":returns: What it is.",
    ":return list: A list.",
    ":yields a b: Too much.",
    ":raises ValueError: If it fails.",
    ":note: Slow.",
    ":attribute x: No parameter.",
    ":param of three words: No.",
    ":no end",
    ":other: Unknown.",
    "    continued",
    "      deeper",
    "plain: text",
)


def lines_of(choices: tuple[str, ...]) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(choices), max_size=12).map("\n".join)


def read_by_docstring_parser(text: str, style: str) -> Sections:
    found = docstring_sections._read_by_docstring_parser(text, style)
    return as_read(found or Sections(text))


def as_read(sections: Sections) -> Sections:
    """The sections, with the description as it is shown."""
    return Sections(sections.description.strip(), sections.parameters, sections.returns)


@given(lines_of(NUMPY_LINES))
@example("Measure.\n\nReturns\n-------\na : int\n     Deeper first.\n    Less deep.")
@example("Measure.\n\nReturns\n\n-------\nint")
def test_usual_docstrings_of_numpy(text: str) -> None:
    text = dedent(text)
    try:
        found = read_numpy(text)
    except NotUsual:
        return
    assert as_read(found) == read_by_docstring_parser(text, "NUMPYDOC")


@given(lines_of(REST_LINES))
@example(":param a: The a.\n        margins\n    differ\n\n    more")
def test_usual_docstrings_of_rest(text: str) -> None:
    text = dedent(text)
    try:
        found = read_rest(text)
    except NotUsual:
        return
    assert as_read(found) == read_by_docstring_parser(text, "REST")


@pytest.mark.parametrize(
    "text",
    [
        "Measure.\n\nParameters\n----------\na : int\n    The a.\n\nReturns\n-------\nint",
        "Measure.\n\n:param a: The a.\n:rtype: int",
    ],
)
def test_usual_docstrings_need_no_docstring_parser(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "docstring_parser", None)

    [parameter] = split_sections(text).parameters

    assert (parameter.name, parameter.text) == ("a", "The a.")


@pytest.mark.parametrize(
    "text",
    [
        "Measure.\n\nParameters\n----------\na\n\nExamples\n--------\n>>> measure(1)\n2",
        "Measure.\n\n.. deprecated:: 1.0\n\nParameters\n----------\na",
    ],
)
def test_other_sections_of_numpy_are_left_to_docstring_parser(text: str) -> None:
    with pytest.raises(NotUsual):
        read_numpy(text)
    assert [parameter.name for parameter in split_sections(text).parameters] == ["a"]
