"""HTML is made of texts that stay texts, whatever is in them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.parsed_html import Parsed
from toolwire_client.pages.markup import element, format_duration, join_html
from toolwire_schemas.output import make_printable


@given(st.text(), st.text())
def test_any_text_is_text_in_a_child_and_in_an_attribute(child: str, attribute: str) -> None:
    parsed = Parsed(element("p", child, title=attribute))
    assert parsed.elements == [("p", {"title": make_printable(attribute)})]
    assert parsed.text == make_printable(child)


def test_html_is_not_escaped_twice_and_joined_text_is_escaped() -> None:
    bold = element("b", "a & b")
    assert bold == "<b>a &amp; b</b>"
    assert element("p", bold, [None, "<", [bold]]) == f"<p>{bold}&lt;{bold}</p>"
    assert join_html("<i>" + bold) == "&lt;i&gt;&lt;b&gt;a &amp;amp; b&lt;/b&gt;"


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        " javascript:alert(1)",
        "data:text/html,x",
        "//example.com/",
        "file:///etc/passwd",
        "https:x",
    ],
)
def test_addresses_that_run_or_leave_the_page_silently_are_left_out(address: str) -> None:
    assert Parsed(element("a", "text", href=address)).elements == [("a", {})]
    assert Parsed(element("img", src=address)).elements == [("img", {})]


def test_links_to_the_web_and_pictures_in_the_page_are_kept() -> None:
    assert (
        element("a", "x", href="https://example.com/?a=1&b=2")
        == '<a href="https://example.com/?a=1&amp;b=2">x</a>'
    )
    assert (
        element("img", src="data:image/png;base64,AA==") == '<img src="data:image/png;base64,AA==">'
    )


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0.0, "0 ms"),
        (0.0015, "1.5 ms"),
        (0.9996, "1.0 s"),
        (59.9, "59.9 s"),
        (59.96, "1 min 0 s"),
        (119.7, "2 min 0 s"),
    ],
)
def test_a_duration_is_rounded_to_what_a_clock_shows(seconds: float, expected: str) -> None:
    assert format_duration(seconds) == expected
