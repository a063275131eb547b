"""Changes between two lists of tools as a page and as Markdown."""

from __future__ import annotations

from hypothesis import given
from markdown_it import MarkdownIt
from support.parsed_html import Parsed, assert_inert, texts
from toolwire_check.pages.diff_page import diff_markdown, diff_page
from toolwire_dialects.compare import Change, between
from toolwire_schemas.output import printable

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
    page = Parsed(diff_page(between(OLD, NEW), old="old.json, a saved list", new="a server"))
    assert_inert(page)
    order = [
        "2 changes break users.",
        "major",
        "old.json, a saved list",
        "a server",
        "Breaking",
        "gone",
        "New",
        "Other",
    ]
    places = [page.text.index(part) for part in order]
    assert places == sorted(places)


def test_equal_lists_have_a_short_page() -> None:
    text = Parsed(diff_page([], old="a", new="b")).text
    assert "Nothing changed." in text
    assert "Breaking" not in text
    assert diff_markdown([]) == "**none**: nothing changed.\n"


def hostile(text: str) -> list[Change]:
    return [Change(text, text, "tool-removed", "major", "callers", text, example=text)]


@given(texts)
def test_any_text_in_any_place_of_a_change_is_text_only(text: str) -> None:
    page, usual = (Parsed(diff_page(hostile(one), old=one, new=one)) for one in (text, "x"))
    assert_inert(page)
    assert page.tags == usual.tags
    assert printable(text) in page.text


@given(texts)
def test_any_text_in_any_place_of_a_change_is_code_in_markdown(text: str) -> None:
    renderer = MarkdownIt("commonmark", {"html": True}).enable("table")
    made, usual = (Parsed(renderer.render(diff_markdown(hostile(one)))).tags for one in (text, "x"))
    assert made == usual


def test_many_changes_make_a_page_and_a_comment_of_limited_size() -> None:
    many = [
        Change("x" * 5000, str(place), "tool-removed", "major", "callers", "y" * 5000)
        for place in range(5000)
    ]
    assert len(diff_page(many, old="a", new="b")) < 1000 * 3500
    made = diff_markdown(many)
    assert len(made) < 65_536
    assert "more parts are too long for a comment" in made
