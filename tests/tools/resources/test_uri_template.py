"""Which URIs a template matches, and what the variables are then."""

from __future__ import annotations

import sys
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire_tools.resources.uri_template import UriTemplate

MATCHES: list[tuple[str, str, dict[str, str] | None]] = [
    ("config://app", "config://app", {}),
    ("config://app", "config://app2", None),
    ("config://app?x=1", "config://app?x=1", {}),
    ("config://app?x=1", "config://app?x=2", None),
    ("notes://{name}", "notes://tea", {"name": "tea"}),
    ("notes://{name}", "notes://", None),
    ("notes://{name}", "notes://a/b", None),
    ("notes://{name}", "notes://a%20b", {"name": "a b"}),
    ("notes://{name}", "notes://a%2Fb", None),
    ("notes://{name}", "notes://..%2F..%2Fetc%2Fpasswd", None),
    ("notes://{name}", "notes://%FF", None),
    ("notes://{name}", "notes://a?b=1", None),
    ("notes://{name}", "notes://a#b", None),
    ("notes://{name}", "NOTES://a", None),
    ("files://{path*}", "files://a/b/c.txt", {"path": "a/b/c.txt"}),
    ("files://{+path}", "files://a/b", {"path": "a/b"}),
    ("files://{path*}/raw", "files://a/b/raw", {"path": "a/b"}),
    ("files://{root}/{path*}", "files://r/a/b", {"root": "r", "path": "a/b"}),
    ("files://{path*}/{name}", "files://a/b/c", {"path": "a/b", "name": "c"}),
    ("files://{path*}/{name}", "files://c", None),
    ("logs://{day}{?level,limit}", "logs://1", {"day": "1"}),
    ("logs://{day}{?level,limit}", "logs://1?limit=3", {"day": "1", "limit": "3"}),
    (
        "logs://{day}{?level,limit}",
        "logs://1?limit=3&level=a%26b",
        {"day": "1", "limit": "3", "level": "a&b"},
    ),
    ("logs://{day}{?level,limit}", "logs://1?color=red", None),
    ("x://{a}-{b}.txt", "x://1-2-3.txt", {"a": "1", "b": "2-3"}),
    ("x://{a}-{b}.txt", "x://1-.txt", None),
    ("x://{a}.txt", "x://a.txt.txt", {"a": "a.txt"}),
]


@pytest.mark.parametrize(("template", "uri", "values"), MATCHES)
def test_a_uri_matches_a_template_or_not(
    template: str, uri: str, values: dict[str, str] | None
) -> None:
    assert UriTemplate(template).match(uri) == values


@pytest.mark.parametrize(
    "text",
    [
        *(
            "notes",
            "notes://{}",
            "notes://{name",
            "notes://name}",
            "notes://{a}{b}",
            "notes://{a}/{a}",
            "notes://{a b}",
        ),
        *(
            "notes://{#a}",
            "notes://{?a}/b",
            "notes://{a*}/{b*}",
            "notes://{a}-{b*}",
            "notes://ä",
            "notes://a b",
        ),
        *("notes://{a}?x=1", "{a}://b", "notes://{?a b}", "notes://x#y"),
    ],
)
def test_what_is_no_template_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        UriTemplate(text)


NAMES = st.text(min_size=1).filter(
    lambda text: "/" not in text and not any("\ud800" <= letter < "\ue000" for letter in text)
)


@given(NAMES, st.lists(NAMES, min_size=1, max_size=4).map("/".join), NAMES)
def test_what_a_client_fills_in_arrives(name: str, path: str, limit: str) -> None:
    template = UriTemplate("x://{name}.y/{path*}/end{?limit}")

    uri = f"x://{quote(name, safe='')}.y/{quote(path)}/end?limit={quote(limit, safe='')}"

    assert template.match(uri) == {"name": name, "path": path, "limit": limit}


def steps_to_match(template: UriTemplate, uri: str) -> int:
    """Return how many lines of Python the match takes."""
    steps = 0

    def count(frame: object, event: str, argument: object) -> object:
        nonlocal steps
        steps += event == "line"
        return count

    sys.settrace(count)  # type: ignore[arg-type]
    try:
        assert template.match(uri) is None
    finally:
        sys.settrace(None)
    return steps


@pytest.mark.parametrize("template", ["x://{a}-{b}-{c}-{d}!", "x://{a}/{b*}/{c}-{d}!", "x://{b*}!"])
def test_the_steps_of_a_match_do_not_grow_faster_than_the_uri(template: str) -> None:
    made = UriTemplate(template)
    few, many = (
        steps_to_match(made, "x://" + "a-" * length + "/b" * length) for length in (100, 1000)
    )

    assert many <= 11 * few
