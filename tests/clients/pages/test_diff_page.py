"""Changes between two lists of tools as a page and as Markdown."""

from __future__ import annotations

import pytest
from hypothesis import given
from markdown_it import MarkdownIt
from support.parsed_html import Parsed, assert_inert, texts
from toolwire_check.pages.diff_page import write_diff_markdown, write_diff_page
from toolwire_check.pages.side_by_side import align, compare_side_by_side, keep_near_changes
from toolwire_dialects.compare import Change, compare_lists
from toolwire_schemas.output import make_printable

OLD = [
    {"name": "add", "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}}}},
    {"name": "gone"},
]
NEW = [
    {
        "name": "add",
        "description": "Adds.",
        "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}},
    },
    {"name": "new"},
]


def test_a_page_has_the_verdict_first_and_breaking_changes_before_others() -> None:
    page = Parsed(
        write_diff_page(compare_lists(OLD, NEW), old="old.json, a saved list", new="a server")
    )
    assert_inert(page)
    order = [
        "2 changes break users.",
        "major",
        "old.json, a saved list",
        "a server",
        "Breaking",
        "gone",
        "Compatible",
        "Other",
    ]
    places = [page.text.index(part) for part in order]
    assert places == sorted(places)


def test_what_is_removed_stands_under_no_heading_of_new_things() -> None:
    result = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}
    shorter = {"type": "object", "properties": {"a": {"type": "string"}}}
    old = [{"name": "read", "outputSchema": result}]
    new = [{"name": "read", "outputSchema": shorter}, {"name": "write"}]
    changes = compare_lists(old, new)

    page = Parsed(write_diff_page(changes, old="a", new="b"))

    minor = [change.text for change in changes if change.level == "minor"]
    assert any(text.startswith("removed") for text in minor)
    assert "Compatible" in page.text
    assert 'aria-label="New"' not in write_diff_page(changes, old="a", new="b")


def test_texts_and_both_schemas_stand_side_by_side() -> None:
    page = Parsed(compare_side_by_side(TEXTS_OLD, TEXTS_NEW))

    assert_inert(page)
    assert page.text.index("Description") < page.text.index("Arguments")
    assert page.text.index("Arguments") < page.text.index("Result")
    html = compare_side_by_side(TEXTS_OLD, TEXTS_NEW)
    assert "<code>Add <del>two</del> numbers.</code>" in html
    assert "<code>Add <ins>whole</ins> numbers.</code>" in html
    assert html.count("old</th>") == 3


TEXTS_OLD = [
    {
        "name": "add",
        "description": "Add two numbers.",
        "inputSchema": {"type": "object", "properties": {"a": {"type": "number"}}},
        "outputSchema": {"type": "object", "properties": {"result": {"type": "number"}}},
    },
    {"name": "same", "description": "As before."},
    {"name": "gone"},
]
TEXTS_NEW = [
    {
        "name": "add",
        "description": "Add whole numbers.",
        "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}}},
        "outputSchema": {"type": "object", "properties": {"result": {"type": "integer"}}},
    },
    {"name": "same", "description": "As before."},
]


def test_equal_tools_and_tools_of_one_list_are_not_compared() -> None:
    assert compare_side_by_side(TEXTS_OLD, TEXTS_NEW).count("<summary>") == 1
    assert compare_side_by_side(TEXTS_OLD, TEXTS_OLD) == ""


@pytest.mark.parametrize(
    ("old", "new", "rows"),
    [
        (["a", "b"], ["a", "c"], [("a", "a"), ("b", "c")]),
        (["a"], ["a", "b"], [("a", "a"), (None, "b")]),
        (["a", "b", "c"], ["c"], [("a", None), ("b", None), ("c", "c")]),
        ([], ["a"], [(None, "a")]),
    ],
)
def test_equal_lines_stand_in_one_row(
    old: list[str], new: list[str], rows: list[tuple[str | None, str | None]]
) -> None:
    assert align(old, new) == rows


def test_equal_lines_far_from_a_change_are_counted() -> None:
    old = [str(number) for number in range(20)]
    rows = list(keep_near_changes(align(old, [*old[:10], "x", *old[11:]])))
    assert rows[0] == ("… 7 equal lines", "… 7 equal lines")
    assert rows[4] == ("10", "x")
    assert rows[-1] == ("… 6 equal lines", "… 6 equal lines")
    assert len(rows) == 9


@given(texts, texts)
def test_any_text_in_any_place_of_a_tool_is_text_only(old: str, new: str) -> None:
    before = [{"name": old, "description": old, "inputSchema": {old: old}}]
    after = [{"name": old, "description": new, "inputSchema": {new: new}}]
    assert_inert(Parsed(write_diff_page([], old="a", new="b", old_tools=before, new_tools=after)))


def test_long_texts_are_compared_in_bounded_time() -> None:
    old = [{"name": "a", "description": "x " * 100_000, "inputSchema": {"enum": ["y"] * 50_000}}]
    new = [{"name": "a", "description": "z " * 100_000, "inputSchema": {"enum": ["w"] * 50_000}}]
    assert len(compare_side_by_side(old, new)) < 500_000


def test_equal_lists_have_a_short_page() -> None:
    text = Parsed(write_diff_page([], old="a", new="b")).text
    assert "Nothing changed." in text
    assert "Breaking" not in text
    assert write_diff_markdown([]) == "**none**: nothing changed.\n"


def hostile(text: str) -> list[Change]:
    return [Change(text, text, "tool-removed", "major", "callers", text, example=text)]


@given(texts)
def test_any_text_in_any_place_of_a_change_is_text_only(text: str) -> None:
    page, usual = (Parsed(write_diff_page(hostile(one), old=one, new=one)) for one in (text, "x"))
    assert_inert(page)
    assert page.tags == usual.tags
    assert make_printable(text) in page.text


@given(texts)
def test_any_text_in_any_place_of_a_change_is_code_in_markdown(text: str) -> None:
    renderer = MarkdownIt("commonmark", {"html": True}).enable("table")
    made, usual = (
        Parsed(renderer.render(write_diff_markdown(hostile(one)))).tags for one in (text, "x")
    )
    assert made == usual


def test_many_changes_make_a_page_and_a_comment_of_limited_size() -> None:
    many = [
        Change("x" * 5000, str(place), "tool-removed", "major", "callers", "y" * 5000)
        for place in range(5000)
    ]
    assert len(write_diff_page(many, old="a", new="b")) < 1000 * 3500
    made = write_diff_markdown(many)
    assert len(made) < 65_536
    assert "more parts are too long for a comment" in made
