"""Results as HTML: each kind of content, any text only as text, limited sizes."""

from __future__ import annotations

import json
from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.parsed_html import ATTACKS, Parsed, assert_inert, texts
from toolwire_client.pages.result_html import write_result_html, write_text_html
from toolwire_client.pages.tree import write_tree
from toolwire_schemas.output import make_printable

values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), texts),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
members = st.sampled_from(
    ("type", "text", "mimeType", "data", "blob", "uri", "name", "resource", "annotations")
)
kinds = st.sampled_from(
    ("text", "image", "audio", "resource", "resource_link", "image/png", "text/markdown")
)
blocks = st.dictionaries(members, st.one_of(kinds, values), max_size=6) | values
names = (
    st.sampled_from(("content", "contents", "messages", "structuredContent", "isError", "_meta"))
    | texts
)
results = st.dictionaries(names, st.lists(blocks, max_size=4) | values, max_size=5)

# Elements that a result may need; those of Markdown are among them.
KNOWN = {
    "div",
    "section",
    "p",
    "ul",
    "ol",
    "li",
    "details",
    "summary",
    "span",
    "pre",
    "code",
    "img",
    "audio",
    "a",
}
KNOWN |= {
    "h3",
    "h4",
    "h5",
    "h6",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "em",
    "strong",
    "s",
    "blockquote",
    "br",
    "hr",
    "caption",
    "input",
}


def make_text_result(*texts: str, **about: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text} for text in texts], **about}


@settings(max_examples=examples(50))
@given(results)
def test_any_result_of_a_hostile_server_is_inert(result: dict[str, Any]) -> None:
    page = Parsed(write_result_html(result, problems=ATTACKS))
    assert_inert(page)
    assert {*page.tags} <= KNOWN


@given(texts)
def test_any_text_is_shown_whole_and_as_text(text: str) -> None:
    page = Parsed(write_text_html(text))
    assert make_printable(text) in page.text
    assert_inert(page)


@given(texts, texts)
def test_any_data_is_text_in_the_tree(key: str, value: str) -> None:
    page = Parsed(write_tree({key: [value]}))
    assert page.tags == Parsed(write_tree({"x": ["y"]})).tags
    assert (
        make_printable(json.dumps(value, ensure_ascii=False)) in page.text
        or make_printable(value) in page.text
    )
    assert make_printable(key) in page.text


@given(texts)
def test_any_markdown_has_only_the_elements_of_markdown(text: str) -> None:
    page = Parsed(write_text_html(text, "text/markdown"))
    assert_inert(page)
    assert {*page.tags} <= KNOWN - {"img", "audio"}


MARKDOWN = """# Title

Some **bold** text with [a link](https://example.com/), ![a picture](https://example.com/a.png) and <b>no HTML</b>.

| a | b |
|---|---|
| 1 | 2 |
"""  # noqa: E501


def test_markdown_is_rendered_with_its_pictures_as_links_and_its_source_below() -> None:
    page = Parsed(write_result_html(make_text_result(MARKDOWN)))
    assert {"h3", "strong", "table", "th", "td"} <= {*page.tags}
    assert "img" not in page.tags
    links = [attributes for tag, attributes in page.elements if tag == "a"]
    assert [link["href"] for link in links] == ["https://example.com/", "https://example.com/a.png"]
    assert all("noreferrer" in str(link["rel"]) for link in links)
    assert "<b>no HTML</b>" in page.text
    assert "# Title" in page.text


@pytest.mark.parametrize(
    "code",
    [
        "# a comment\nx = 2 ** 3\n- y",
        "key:\n- one\n- two\n# three",
        "def f(**kwargs): ...\n# end",
        "1. one\n2. two",
    ],
)
def test_code_is_not_taken_for_markdown(code: str) -> None:
    assert Parsed(write_text_html(code)).tags == ["pre", "code"]


def test_pictures_and_sounds_of_known_types_are_in_the_page_and_other_data_is_described() -> None:
    data = b64encode(b"x" * 3000).decode()
    kinds = ("image/png", "audio/wav", "application/pdf", "image/x-unknown", "text/html")
    page = Parsed(
        write_result_html(
            {"content": [{"type": "image", "data": data, "mimeType": kind} for kind in kinds]}
        )
    )
    sources = [attributes["src"] for _, attributes in page.elements if "src" in attributes]
    assert sources == [f"data:image/png;base64,{data}", f"data:audio/wav;base64,{data}"]
    assert page.text.count("3.0 kB") == len(kinds)


def test_data_that_is_no_base64_is_shown_as_it_is() -> None:
    page = Parsed(
        write_result_html({"content": [{"type": "image", "data": "<b>", "mimeType": "image/png"}]})
    )
    assert "img" not in page.tags
    assert "not Base64" in page.text
    assert "<b>" in page.text


@pytest.mark.parametrize("data", [{"a": [1, {"b": None}]}, {"result": [1, 2]}])
def test_a_text_that_repeats_the_data_is_left_out(data: Any) -> None:
    page = Parsed(
        write_result_html(make_text_result(json.dumps(data), "another", structuredContent=data))
    )
    inner = make_text_result(json.dumps(data.get("result")), "another", structuredContent=data)
    assert page.tags.count("pre") == 1
    assert "another" in page.text
    if "result" in data:
        assert write_result_html(inner) == write_result_html(
            make_text_result(json.dumps(data), "another", structuredContent=data)
        )


@pytest.mark.parametrize("member", ["result", "content"])
def test_data_that_only_wraps_the_text_is_left_out(member: str) -> None:
    page = Parsed(write_result_html(make_text_result("late", structuredContent={member: "late"})))
    assert page.tags == ["div", "section", "pre", "code"]


RECORDS = [{"name": "Ada", "born": 1815}, {"name": "Alan", "wife": None, "born": {"year": 1912}}]


@pytest.mark.parametrize(
    ("result", "path"),
    [
        ({"structuredContent": {"result": RECORDS, "count": 2}}, ["structuredContent", "result"]),
        ({"structuredContent": RECORDS}, ["structuredContent"]),
        (make_text_result("first", json.dumps(RECORDS)), ["content", 1, "text"]),
        (
            {"contents": [{"uri": "a:b", "text": json.dumps({"all": RECORDS})}]},
            ["contents", 0, "text", "all"],
        ),
    ],
)
def test_a_list_of_records_is_a_table_with_its_place_in_the_result(
    result: dict[str, Any], path: list[str | int]
) -> None:
    page = Parsed(write_result_html(result))
    assert page.tags.count("tr") == 3
    assert page.tags.count("th") == 3 + 2  # the head, and the first of each row
    assert '{"year":1912}' in page.text
    places = [attributes["data-at"] for _, attributes in page.elements if "data-at" in attributes]
    assert list(map(json.loads, filter(None, places))) == [path]


@pytest.mark.parametrize(
    "value", [[], [{"a": 1}], [{"a": 1}, 2], [{}, {}], [{f"m{n}": n for n in range(31)}] * 2]
)
def test_what_makes_no_table_is_a_tree(value: Any) -> None:
    assert "table" not in Parsed(write_result_html({"structuredContent": value})).tags


def test_markdown_has_soft_breaks_alignment_and_tasks() -> None:
    text = "one\nline\\\nnext\n\n- [x] a\n- [ ] **b**\n\n|n|m|\n|-:|:-:|\n|1|2|\n"
    page = Parsed(write_text_html(text, "text/markdown"))
    assert page.tags.count("br") == 1
    boxes = [attributes for tag, attributes in page.elements if tag == "input"]
    assert ["checked" in box for box in boxes] == [True, False]
    assert all("disabled" in box for box in boxes)
    classes = [attributes.get("class") for tag, attributes in page.elements if tag == "td"]
    assert classes == ["right", "center"]


def test_a_malformed_block_is_shown_raw_and_the_others_as_usual() -> None:
    broken = {"type": "text", "text": 7, "more": "raw"}
    result = {"content": [{"type": "text", "text": "before"}, broken, "nonsense"]}
    page = Parsed(write_result_html(result, fault="content is wrong"))
    parts = ("malformed: content is wrong", "before", "more", "raw", "nonsense")
    assert [part for part in parts if part not in page.text] == []


def test_a_link_to_a_resource_has_its_address() -> None:
    links = [
        {"type": "resource_link", "uri": uri, "name": "A note"}
        for uri in ("notes://a", "https://example.com/a", "javascript:alert(1)")
    ]
    page = Parsed(write_result_html({"content": links}))
    assert_inert(page)
    places = [attributes["data-uri"] for _, attributes in page.elements if "data-uri" in attributes]
    assert places == [link["uri"] for link in links]
    addresses = [attributes.get("href") for tag, attributes in page.elements if tag == "a"]
    assert addresses == [None, "https://example.com/a", None]


def test_errors_and_problems_are_said_first() -> None:
    text = Parsed(
        write_result_html(
            make_text_result("it broke", isError=True), problems=["result.a: 1 is not a string"]
        )
    ).text
    order = [
        "The tool reports an error.",
        "does not fit the output schema",
        "1 is not a string",
        "it broke",
    ]
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)


def test_resources_and_prompts_are_shown_with_their_address_and_role() -> None:
    read = Parsed(
        write_result_html(
            {"contents": [{"uri": "notes://a", "mimeType": "text/plain", "text": "hello"}]}
        )
    ).text
    assert "notes://a" in read
    assert "hello" in read
    prompt = {
        "messages": [{"role": "user", "content": {"type": "text", "text": "Say it"}}],
        "description": "About",
    }
    assert all(
        part in Parsed(write_result_html(prompt)).text for part in ("user", "Say it", "About")
    )


def test_huge_results_make_small_pages_that_say_what_is_left_out() -> None:
    text = Parsed(write_result_html(make_text_result("x" * 5_000_000, "y" * 100))).text
    assert "4,800,000 more characters" in text
    assert len(text) < 210_000
    wide = write_result_html(
        {"structuredContent": {"list": [{"n": number} for number in range(100_000)]}}
    )
    assert len(wide) < 400_000
    assert "more" in wide
    many = write_result_html(make_text_result(*map(str, range(10_000))))
    assert "9,800 more blocks" in many
    assert len(many) < 100_000
    dashes = write_result_html(
        make_text_result(*["-" * 20_000 + "x"] * 200)
    )  # a pattern that tries every place takes minutes
    assert "more characters" in dashes


def test_deep_data_and_deep_markdown_are_cut() -> None:
    deep: Any = "end"
    for _ in range(5000):
        deep = [deep]
    assert "nested more deeply" in write_tree(deep)
    assert Parsed(write_text_html("*a **b " * 2000 + "> " * 2000, "text/markdown")).tags


def test_pictures_above_the_limit_are_described() -> None:
    data = b64encode(b"x" * 5_000_000).decode()
    page = Parsed(
        write_result_html(
            {"content": [{"type": "image", "data": data, "mimeType": "image/png"}] * 3}
        )
    )
    assert page.tags.count("img") == 1
    assert page.text.count("5.0 MB") == 3
