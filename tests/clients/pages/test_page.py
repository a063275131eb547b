"""A page is one document that needs no other file, and whose policy lets nothing else in."""

from __future__ import annotations

import re
from base64 import b64decode
from hashlib import sha256

from hypothesis import given
from support.parsed_html import Parsed, assert_inert, texts
from toolwire_client.pages.markup import element
from toolwire_client.pages.page import read_style, section, write_page
from toolwire_schemas.output import make_printable


def test_the_style_fetches_nothing_and_ends_where_it_ends() -> None:
    assert not re.search(r"url\(|@import|@font-face|image-set|expression|<", read_style())


def test_the_policy_allows_exactly_the_style_of_the_page() -> None:
    made = write_page("A title", element("h1", "Heading"))
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', made)
    (digest,) = re.findall(r"sha256-([A-Za-z0-9+/=]+)", policy)
    (inline,) = re.findall(r"<style>(.*?)</style>", made, re.DOTALL)
    assert b64decode(digest) == sha256(inline.encode()).digest()
    assert "unsafe" not in policy
    assert "script-src" not in policy  # so default-src 'none' is for scripts, too


def test_a_page_has_a_language_landmarks_and_one_heading_of_the_first_level() -> None:
    parsed = Parsed(
        write_page(
            "A title",
            element("header", element("h1", "Heading")),
            section("Part", element("p", "x")),
        )
    )
    assert_inert(parsed)
    assert ("html", {"lang": "en"}) in parsed.elements
    assert [parsed.tags.count(tag) for tag in ("main", "footer", "h1", "section", "h2")] == [
        1,
        1,
        1,
        1,
        1,
    ]


def test_a_part_without_content_is_left_out() -> None:
    assert section("Part", None, []) == ""


@given(texts)
def test_any_title_is_text(title: str) -> None:
    parsed = Parsed(write_page(title))
    assert make_printable(title) in parsed.text
    assert parsed.tags == Parsed(write_page("x")).tags
