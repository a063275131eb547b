"""What a user does on the page of `toolwire inspect`, in a real headless Chromium.

Each test opens the page of a server of its own. After it, no script has failed, the page's policy
was never broken, and the browser has asked for nothing but this page.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from clients.languages.driving import run, toolchain
from interop.page_in_browser import (
    HERE,
    NARROW,
    ROOT,
    STATIC,
    TOOLS,
    WIDE,
    arguments,
    call,
    choose,
    entries,
    inspected,
    json_of,
    recording,
    result,
    tab,
    view,
)
from playwright.sync_api import BrowserContext, Page, expect

pytestmark = [pytest.mark.process, pytest.mark.slow]

# --- tools ---


def test_a_tool_is_searched_filled_in_and_called(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.get_by_role("searchbox", name="Search tools, resources and prompts").fill("regis")
    expect(page.get_by_role("link", name=re.compile("^echo"))).to_be_hidden()
    choose(page, "register")
    person = page.get_by_role("group", name="person")
    person.get_by_label("name", exact=True).fill("Ada")
    person.get_by_label("born", exact=True).fill("1815-12-10")
    person.get_by_role("group", name="addresses").get_by_role("button", name="Add item").click()
    person.get_by_label("street", exact=True).fill("St James's Square")
    person.get_by_label("city", exact=True).fill("London")
    person.get_by_label("colour", exact=True).select_option("green")
    person.get_by_role("group", name="tags").get_by_role("button", name="Add item").click()
    person.get_by_role("textbox", name="Name", exact=True).fill("field")
    person.get_by_role("textbox", name="Value").fill("mathematics")
    page.get_by_label("notify", exact=True).uncheck()
    page.get_by_role("button", name="Remove limit").click()
    expected = {
        "person": {
            "name": "Ada",
            "born": "1815-12-10",
            "addresses": [{"street": "St James's Square", "city": "London"}],
            "colour": "green",
            "tags": {"field": "mathematics"},
        },
        "notify": False,
    }
    assert arguments(page) == expected

    expect(call(page)).to_contain_text(re.compile(r"Result after \d.*s · \d+ B"))
    expect(result(page).get_by_text('"St James\'s Square"', exact=True)).to_be_visible()


def test_a_field_that_is_needed_is_asked_for_before_the_call(
    open_page: Callable[..., Page],
) -> None:
    page = open_page()
    choose(page, "register")
    page.get_by_role("button", name="Call", exact=True).click()
    expect(page.get_by_label("name", exact=True)).to_be_focused()
    page.get_by_label("name", exact=True).fill("Ada")
    page.get_by_role("button", name="Call", exact=True).click()
    expect(page.get_by_label("born", exact=True)).to_be_focused()
    expect(result(page)).to_have_text("The result appears here.")

    tab(page, "JSON")  # where anything can be sent, to see what the server says
    expect(call(page)).to_contain_text("born")


def test_the_form_and_the_json_are_in_step(open_page: Callable[..., Page]) -> None:
    page = open_page()
    choose(page, "register")
    given = {
        "person": {"name": "Bob", "born": "2001-02-03", "addresses": [{"street": "s", "city": 7}]},
        "note": None,
    }
    json_of(page).fill(json.dumps(given))
    tab(page, "Form")
    expect(page.get_by_label("name", exact=True)).to_have_value("Bob")
    expect(page.get_by_label("city", exact=True)).to_have_value("7")  # not a text: a field for JSON
    page.get_by_label("city", exact=True).fill('"Rome"')
    page.get_by_label("name", exact=True).fill("Eve")
    given["person"]["name"], given["person"]["addresses"] = "Eve", [{"street": "s", "city": "Rome"}]  # type: ignore[index]
    assert arguments(page) == given

    json_of(page).fill('{"person": ')
    page.get_by_role("button", name="Call", exact=True).click()
    expect(result(page)).to_have_text("The result appears here.")
    assert (
        page.get_by_label("Arguments as JSON", exact=True).evaluate(
            "field => field.validationMessage"
        )
        != ""
    )


def test_a_number_keeps_all_its_digits(open_page: Callable[..., Page]) -> None:
    page = open_page()
    choose(page, "echo")
    json_of(page).fill('{"value": {"id": 12345678901234567890, "half": 0.5}}')
    expect(call(page).get_by_text("12345678901234567890").first).to_be_visible()
    tab(page, "Form")
    page.get_by_label("value", exact=True).fill("98765432109876543210")
    expect(call(page).get_by_text("98765432109876543210").first).to_be_visible()


def test_a_number_that_is_written_as_a_fraction_is_one(
    open_page: Callable[..., Page], tmp_path: Path
) -> None:
    limits = {"type": "number", "minimum": 1.0, "maximum": 9.50, "default": 2.0}
    members = {
        "it": limits,
        "text": {"type": "string", "minLength": 1.0},
        "list": {"type": "array", "maxItems": 1.0},
    }
    page = open_page(
        *entries(
            tmp_path, it={"description": 3.0, "properties": members, "required": ["it", "list"]}
        )
    )
    expect(page.get_by_label("it", exact=True)).to_have_value("2.0")
    expect(page.get_by_text("number · minimum 1.0 · maximum 9.5 · default 2.0")).to_be_visible()
    page.get_by_role("group", name="list").get_by_role("button", name="Add item").click()
    expect(
        page.get_by_role("group", name="list").get_by_role("button", name="Add item")
    ).to_have_count(0)
    page.get_by_label("Item 1", exact=True).fill("1e1")
    expect(call(page)).to_contain_text("Result after")
    assert '"it": 2.0' in json_of(page).input_value()
    assert "1e1" in json_of(page).input_value()


# Each kind of field: the schema of a member `it`, what a user does, and what is sent.
FIELDS: dict[str, tuple[Any, Callable[[Page], object], Any]] = {
    "text": (
        {"type": "string"},
        lambda page: page.get_by_label("it", exact=True).fill("two\nlines"),
        "two\nlines",
    ),
    "number": (
        {"type": "number"},
        lambda page: page.get_by_label("it", exact=True).fill("-1.5e3"),
        -1500,
    ),
    "default": ({"type": "integer", "default": 3}, lambda page: None, 3),
    "constant": ({"const": {"a": 1}}, lambda page: None, {"a": 1}),
    "null": ({"type": "null"}, lambda page: None, None),
    "boolean": (
        {"type": "boolean"},
        lambda page: page.get_by_label("it", exact=True).check(),
        True,
    ),
    "choice": (
        {"enum": ["a", 1, None]},
        lambda page: page.get_by_label("it", exact=True).select_option("1"),
        1,
    ),
    "titled choice": (
        {"oneOf": [{"const": 1, "title": "one"}, {"const": 2, "title": "two"}]},
        lambda page: page.get_by_label("it", exact=True).select_option("two"),
        2,
    ),
    "several": (
        {"type": "array", "items": {"enum": ["a", "b", "c"]}},
        lambda page: (
            page.get_by_role("button", name="Add item").click(),
            page.get_by_label("Item 1", exact=True).select_option("c"),
            page.get_by_role("button", name="Add item").click(),
            page.get_by_label("Item 2", exact=True).select_option("a"),
        ),
        ["c", "a"],
    ),
    "time": (
        {"type": "string", "format": "time"},
        lambda page: page.get_by_label("it", exact=True).fill("12:30:00"),
        "12:30:00Z",
    ),
    "date and time": (
        {"type": "string", "format": "date-time"},
        lambda page: page.get_by_label("it", exact=True).fill("2024-02-29T12:30:00"),
        "2024-02-29T12:30:00Z",
    ),
    "file": (
        {"type": "string", "contentEncoding": "base64"},
        lambda page: page.get_by_label("it", exact=True).set_input_files(
            {"name": "a.bin", "mimeType": "x/y", "buffer": b"\0\xff"}
        ),
        "AP8=",
    ),
    "one of several": (
        {
            "anyOf": [
                {"type": "integer"},
                {"type": "object", "properties": {"x": {"type": "string"}}, "title": "Point"},
            ]
        },
        lambda page: (
            page.get_by_label("Kind", exact=True).select_option("Point"),
            page.get_by_role("button", name="Add x").click(),
            page.get_by_label("x", exact=True).fill("y"),
        ),
        {"x": "y"},
    ),
    "several types": (
        {"type": ["integer", "string", "null"]},
        lambda page: (
            page.get_by_label("Kind", exact=True).select_option("string"),
            page.get_by_label("Value", exact=True).fill("7"),
        ),
        "7",
    ),
    "tuple": (
        {
            "type": "array",
            "prefixItems": [{"type": "integer"}, {"type": "boolean"}],
            "items": False,
        },
        lambda page: (
            page.get_by_role("button", name="Add item").click(),
            page.get_by_label("Item 1", exact=True).fill("5"),
            page.get_by_role("button", name="Add item").click(),
            page.get_by_label("Item 2", exact=True).check(),
        ),
        [5, True],
    ),
    "removed item": (
        {"type": "array", "items": {"type": "string"}, "default": ["a", "b", "c"]},
        lambda page: page.get_by_role("button", name="Remove item 2").click(),
        ["a", "c"],
    ),
    "any JSON": (
        {},
        lambda page: page.get_by_label("it", exact=True).fill('{"deep": [1, {}]}'),
        {"deep": [1, {}]},
    ),
    "merged": (
        {
            "allOf": [
                {"$ref": "#/$defs/a~1b"},
                {"properties": {"y": {"const": 2}}, "required": ["y"]},
            ]
        },
        lambda page: (
            page.get_by_role("button", name="Add x").click(),
            page.get_by_label("x", exact=True).fill("1"),
        ),
        {"x": 1, "y": 2},
    ),
    "itself": (
        {"$ref": "#/$defs/node"},
        lambda page: (
            page.get_by_role("button", name="Add next").click(),
            page.get_by_role("button", name="Add next").first.click(),
            page.get_by_role("button", name="Add value").first.click(),
            page.get_by_label("value", exact=True).fill("3"),
        ),
        {"next": {"next": {"value": 3}}},
    ),
    "reference to nothing": (
        {"$ref": "#/$defs/none"},
        lambda page: page.get_by_label("it", exact=True).fill("[1]"),
        [1],
    ),
}
DEFS = {
    "a/b": {"type": "object", "properties": {"x": {"type": "integer"}}},
    "node": {
        "type": "object",
        "properties": {"value": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}},
    },
}


def test_each_kind_of_field_makes_its_json(open_page: Callable[..., Page], tmp_path: Path) -> None:
    entries = [
        {
            "name": f"tool{number}",
            "inputSchema": {
                "type": "object",
                "properties": {"it": schema},
                "required": ["it"],
                "$defs": DEFS,
            },
        }
        for number, (schema, _, _) in enumerate(FIELDS.values())
    ]
    (tmp_path / "entries.json").write_text(json.dumps(entries))
    page = open_page(
        "--", sys.executable, str(ROOT / "tests/clients/languages/echo_server.py"), "entries.json"
    )
    page.emulate_media(color_scheme="dark")
    made = {}
    for number, (name, (_, act, _)) in enumerate(FIELDS.items()):
        choose(page, f"tool{number}")
        act(page)
        made[name] = arguments(page).get("it", "left out")
    assert made == {name: expected for name, (_, _, expected) in FIELDS.items()}


def test_a_member_of_any_name_is_filled_in_and_sent(
    open_page: Callable[..., Page], tmp_path: Path
) -> None:
    names = [
        "",
        "__proto__",
        "constructor",
        "toString",
        "id",
        "a b",
        "q\"u'o",
        "[x]",
        "<b>",
        "long_" * 80,
    ]
    properties = {name: {"type": "string"} for name in names}
    optional = {f"optional_{name}": {} for name in names}
    page = open_page(
        *entries(tmp_path, it={"properties": properties | optional, "required": names})
    )
    for name in names:
        page.get_by_label(name or '""', exact=True).fill(f"of {name}")
    call(page)
    expect(result(page)).to_contain_text("Result after")
    assert arguments(page) == {name: f"of {name}" for name in names}
    tab(page, "Form")
    view_of_tool = page.locator("#detail")
    assert view_of_tool.evaluate("view => view.scrollWidth - view.clientWidth") == 0


def test_a_list_grows_by_as_many_items_as_are_added(
    open_page: Callable[..., Page], tmp_path: Path
) -> None:
    many = {
        "properties": {"it": {"type": "array", "items": {"type": "string"}}},
        "required": ["it"],
    }
    page = open_page(*entries(tmp_path, many=many))
    for number in range(60):
        page.get_by_role("button", name="Add item").click()
        page.keyboard.type(f"{number}")
    assert arguments(page) == {"it": [str(number) for number in range(60)]}


def test_a_form_is_bounded_whatever_the_schema_asks_for(
    open_page: Callable[..., Page], tmp_path: Path
) -> None:
    names = [f"p{number}" for number in range(500)]
    parts = [{"type": "object", "properties": {name: {} for name in names}}] * 50
    schemas = {
        "choices": {"enum": names},
        "adders": {"type": "object", "properties": {name: {} for name in names}},
        "merged": {"allOf": parts},
        "circle": {"allOf": [{"$ref": "#/$defs/it"}]},
    }
    wide = {"properties": {name: {"$ref": "#/$defs/it"} for name in names}, "required": names}
    page = open_page(
        *entries(tmp_path, **{name: wide | {"$defs": {"it": one}} for name, one in schemas.items()})
    )
    for name in schemas:
        choose(page, name)
        expect(page.get_by_role("heading", name=name)).to_be_visible()
        assert page.evaluate("document.querySelectorAll('*').length") < 40_000


def test_progress_and_log_arrive_while_the_tool_works(
    open_page: Callable[..., Page], tmp_path: Path
) -> None:
    page = open_page()
    choose(page, "work")
    page.get_by_label("until", exact=True).fill(str(tmp_path / "go"))
    output = call(page)
    expect(output.get_by_text("1 of 4 · one step")).to_be_visible()
    expect(output.get_by_role("progressbar")).to_have_attribute("value", "1")
    expect(output.get_by_role("log").get_by_role("listitem")).to_contain_text("begun")
    (tmp_path / "go").touch()
    expect(output).to_contain_text("Result after")
    expect(output.get_by_role("log")).to_contain_text("begun")


TALKATIVE = """
from toolwire import Context, tool_api


@tool_api
def talk(context: Context, lines: int = 2000) -> None:
    for number in range(lines):
        context.log(f"line {number} of {lines}")


@tool_api
def halves(context: Context) -> None:
    context.progress(1.0, 2.0)
    context.ask("Go on?", bool)


@tool_api
def table() -> str:
    head = "".join(f"| column {number} " for number in range(40))
    return f"{head}|\\n{'|---' * 40}|\\n{head}|\\n\\n1. first\\n2. **second**\\n"


@tool_api
def deep() -> dict:
    value = {}
    for _ in range(50):
        value = {"in": value}
    return value


@tool_api
def lengthy(text: str = "x") -> str:
    return text * 7_000_000


@tool_api
def fail() -> None:
    raise ValueError("first line\\nsecond line")
"""


@pytest.fixture
def talkative(open_page: Callable[..., Page], tmp_path: Path) -> Page:
    (tmp_path / "talkative.py").write_text(TALKATIVE)
    return open_page("talkative.py")


def test_the_log_shows_its_last_lines(talkative: Page) -> None:
    choose(talkative, "talk")
    expect(call(talkative)).to_contain_text("Result after")
    lines = result(talkative).get_by_role("log").get_by_role("listitem")
    expect(lines).to_have_count(500)
    expect(lines.last).to_contain_text("line 1999 of 2000")
    expect(lines.last).to_be_in_viewport()


def test_progress_in_fractions_is_shown(talkative: Page) -> None:
    choose(talkative, "halves")
    expect(call(talkative).get_by_role("status")).to_have_text("1.0 of 2.0")
    expect(result(talkative).get_by_role("progressbar")).to_have_attribute("value", "1")
    result(talkative).get_by_role("button", name="Accept").click()
    expect(result(talkative)).to_contain_text("Result after")


@pytest.mark.parametrize("size", [WIDE, NARROW])
@pytest.mark.parametrize("tool", ["table", "deep"])
def test_a_wide_result_is_scrolled_alone(talkative: Page, tool: str, size: Any) -> None:
    choose(talkative, tool)
    talkative.set_viewport_size(size)
    expect(call(talkative)).to_contain_text("Result after")
    assert talkative.locator("#detail").evaluate("view => view.scrollWidth - view.clientWidth") == 0
    if tool == "table":
        expect(result(talkative).locator("ol > li").first).to_have_css("list-style-type", "decimal")


def test_the_page_keeps_no_more_of_the_traffic_than_it_says(talkative: Page) -> None:
    choose(talkative, "lengthy")
    for _ in range(5):
        expect(call(talkative)).to_contain_text("Result after")
        tab(talkative, "JSON")
    view(talkative, "Traffic").click()
    messages = talkative.get_by_role("listbox", name="Messages").get_by_role("option")
    expect(messages.filter(has_text="7.0 MB")).to_have_count(4)
    expect(messages.filter(has_text="Started")).to_have_count(0)


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_what_comes_of_a_call_is_in_view_below_a_long_form_too(
    open_page: Callable[..., Page], size: Any
) -> None:
    page = open_page()
    choose(page, "register")
    page.set_viewport_size({**size, "height": 500})
    tab(page, "JSON")
    json_of(page).fill(
        json.dumps({"person": {"name": "x", "born": "2001-02-03", "addresses": [{}] * 9}})
    )
    tab(page, "Form")
    page.get_by_role("button", name="Call", exact=True).scroll_into_view_if_needed()
    call(page)
    expect(result(page).get_by_role("status")).to_contain_text("Result after")
    expect(result(page).get_by_role("status")).to_be_in_viewport()


def test_a_call_is_cancelled_and_another_can_follow(
    open_page: Callable[..., Page], tmp_path: Path
) -> None:
    page = open_page()
    choose(page, "work")
    page.get_by_label("until", exact=True).fill(str(tmp_path / "go"))
    output = call(page)
    expect(output.get_by_text("1 of 4")).to_be_visible()
    page.get_by_role("button", name="Cancel", exact=True).click()
    expect(output).to_contain_text("Cancelled after")
    (tmp_path / "go").touch()
    expect(call(page)).to_contain_text("Result after")


def test_a_call_goes_on_while_another_tool_is_looked_at(
    open_page: Callable[..., Page], tmp_path: Path
) -> None:
    page = open_page()
    choose(page, "work")
    page.get_by_label("until", exact=True).fill(str(tmp_path / "go"))
    expect(call(page).get_by_text("1 of 4")).to_be_visible()
    choose(page, "picture")
    expect(call(page).get_by_role("img")).to_be_visible()
    (tmp_path / "go").touch()
    choose(page, "work")
    expect(result(page)).to_contain_text("worked")


def test_the_question_of_a_tool_is_answered(open_page: Callable[..., Page]) -> None:
    page = open_page()
    choose(page, "book")
    output = call(page)
    expect(output).to_contain_text("Your stay in Paris?")
    output.get_by_label("Nights", exact=True).fill("3")
    output.get_by_label("Room", exact=True).select_option("single")
    output.get_by_role("button", name="Accept").click()
    expect(output).to_contain_text("3 nights in a single room in Paris")


@pytest.mark.parametrize("answer", ["Decline", "Cancel the question"])
def test_a_question_is_refused(open_page: Callable[..., Page], answer: str) -> None:
    page = open_page()
    choose(page, "book")
    output = call(page)
    output.get_by_role("button", name=answer, exact=True).click()
    expect(output).to_contain_text(re.compile("(Error|Failed|Result)"))
    expect(output.get_by_role("button", name="Accept")).to_be_hidden()


def test_an_image_is_seen(open_page: Callable[..., Page]) -> None:
    page = open_page()
    choose(page, "picture")
    image = call(page).get_by_role("img")
    expect(image).to_be_visible()
    assert image.evaluate("image => image.decode().then(() => image.naturalWidth)") == 1


def test_a_call_is_copied_as_code(open_page: Callable[..., Page]) -> None:
    page = open_page()
    choose(page, "echo")
    page.get_by_label("value", exact=True).fill('"it\'s"')
    for language, word in [
        ("Command", "toolwire call"),
        ("Python", "connect("),
        ("TypeScript", "await"),
    ]:
        page.get_by_role("button", name=language, exact=True).click()
        expect(page.locator("form pre")).to_contain_text(word)
        expect(page.get_by_text("Copied")).to_be_visible()
        assert word in page.evaluate("navigator.clipboard.readText()")


def test_resources_are_read_and_prompts_are_got(open_page: Callable[..., Page]) -> None:
    page = open_page()
    choose(page, "notes")
    page.get_by_role("button", name="Read", exact=True).click()
    expect(result(page)).to_contain_text("milk")

    choose(page, "note")
    page.get_by_label("name", exact=True).fill("te")
    expect(page.locator("datalist option")).to_have_count(1)
    expect(page.locator("datalist option")).to_have_attribute("value", "tea")
    page.get_by_label("name", exact=True).fill("a b")
    expect(page.get_by_label("URI", exact=True)).to_have_value("notes://note/a%20b")
    page.get_by_role("button", name="Read", exact=True).click()
    expect(result(page).get_by_role("strong")).to_have_text("a b")

    choose(page, "plan")
    page.get_by_role("button", name="Get", exact=True).click()
    expect(page.get_by_label("note", exact=True)).to_be_focused()
    page.get_by_label("note", exact=True).fill("tea")
    page.get_by_role("button", name="Add hours").click()
    page.get_by_label("hours", exact=True).fill("two")
    page.get_by_role("button", name="Get", exact=True).click()
    expect(result(page).get_by_role("alert")).to_be_visible()
    page.get_by_label("hours", exact=True).fill("2")
    page.get_by_role("button", name="Get", exact=True).click()
    expect(result(page)).to_contain_text("I have 2 hours for tea.")


# --- the page ---


def test_a_reload_stays_where_it_was(open_page: Callable[..., Page]) -> None:
    page = open_page()
    choose(page, "picture")
    page.reload()
    expect(page.get_by_role("heading", name="picture")).to_be_visible()
    page.go_back()
    view(page, "Traffic").click()
    page.reload()
    expect(view(page, "Traffic")).to_have_attribute("aria-current", "page")
    expect(page.get_by_role("listbox", name="Messages")).to_be_visible()
    page.evaluate("location.hash = 'tools/tool/%E0%'")  # not an address of the page
    expect(view(page, "Tools")).to_have_attribute("aria-current", "page")


def test_the_chosen_tool_is_shown_from_its_top_and_seen_in_the_list(
    open_page: Callable[..., Page], tmp_path: Path
) -> None:
    long = {"properties": {f"p{number}": {"type": "string"} for number in range(30)}}
    long["required"] = list(long["properties"])  # type: ignore[assignment]
    page = open_page(
        *entries(tmp_path, **{f"tool{number}": long for number in range(60)}),
        place="#tools/tool/tool50",
    )
    last = page.get_by_role("link", name="tool50")
    expect(last).to_be_in_viewport()
    page.locator("#detail").evaluate("view => view.scrollTo(0, 500)")
    page.get_by_role("link", name="tool49").click()
    expect(page.get_by_role("heading", name="tool49")).to_be_in_viewport()
    page.go_back()
    expect(page.get_by_role("heading", name="tool50")).to_be_in_viewport()


def test_a_narrow_page_goes_back_to_the_place_in_the_list(
    open_page: Callable[..., Page], tmp_path: Path
) -> None:
    page = open_page(
        *entries(tmp_path, **{f"tool{number}": {"type": "object"} for number in range(60)})
    )
    expect(page.locator("#status")).to_have_text("ready")
    page.set_viewport_size(NARROW)
    page.reload()
    link = page.get_by_role("link", name="tool50")
    link.click()
    expect(page.get_by_role("heading", name="tool50")).to_be_focused()
    page.get_by_role("link", name="← All").click()
    expect(link).to_be_focused()
    expect(link).to_be_in_viewport()
    link.click()
    page.go_back()
    page.go_back()
    page.go_back()
    expect(link).to_be_visible()


def test_a_second_tab_of_the_browser_sees_the_same(open_page: Callable[..., Page]) -> None:
    first = open_page()
    second = open_page(place="#traffic")
    second.get_by_role("searchbox", name="Search messages").fill("of the second tab")
    choose(first, "echo")
    first.get_by_label("value", exact=True).fill('"of the second tab"')
    expect(call(first)).to_contain_text("Result after")
    expect(second.get_by_role("listbox", name="Messages").get_by_role("option")).to_have_count(2)


def test_a_server_that_dies_says_why_and_is_restarted(open_page: Callable[..., Page]) -> None:
    page = open_page(TOOLS)
    choose(page, "die")
    expect(call(page)).to_contain_text("✗ failed")
    expect(result(page).get_by_role("alert")).to_have_css(
        "white-space", "pre-wrap"
    )  # the lines of its stderr
    expect(page.locator("#status")).to_have_text("ended")
    expect(page.locator("#ended")).to_contain_text("the disk is full")
    page.get_by_role("button", name="Restart").click()
    expect(page.locator("#status")).to_have_text("ready")
    expect(page.locator("#ended")).to_be_hidden()
    choose(page, "picture")
    expect(call(page)).to_contain_text("Result after")


def test_the_end_of_the_command_is_said(context: BrowserContext, tmp_path: Path) -> None:
    page = context.new_page()
    with inspected(tmp_path, TOOLS) as address:
        page.goto(address)
        expect(page.locator("#status")).to_have_text("ready")
    expect(page.locator("#status")).to_have_text("not connected")
    expect(page.locator("#ended")).to_contain_text("has ended")
    choose(page, "picture")
    expect(call(page).get_by_role("alert")).to_be_visible()


def test_all_is_done_with_the_keyboard(open_page: Callable[..., Page]) -> None:
    page = open_page()
    expect(page.locator("#status")).to_have_text("ready")
    press = page.keyboard.press
    view(page, "Tools").focus()
    press("Tab")
    expect(view(page, "History")).to_be_focused()
    press("Tab")
    expect(view(page, "Traffic")).to_be_focused()
    press("Enter")
    expect(page.get_by_role("listbox", name="Messages")).to_be_focused()
    view(page, "Tools").focus()
    press("Enter")
    search = page.get_by_role("searchbox", name="Search tools, resources and prompts")
    expect(search).to_be_visible()
    expect(page.locator("#list [aria-current]")).to_be_focused()  # where the arrow keys work
    press("/")
    expect(search).to_be_focused()
    page.keyboard.type("b")
    press("ArrowDown")
    press("ArrowUp")
    expect(search).to_be_focused()
    press("ArrowDown")
    expect(page.get_by_role("link", name=re.compile("^book"))).to_be_focused()
    press("Enter")
    expect(page.get_by_role("heading", name="book")).to_be_focused()
    page.get_by_label("city", exact=True).focus()
    press("Control+Enter")
    expect(page.get_by_text("Your stay in Paris?")).to_be_visible()
    while not page.evaluate("document.activeElement.closest('.asking')"):
        press("Tab")
    page.get_by_role("region", name="Result").get_by_label("Nights", exact=True).focus()
    page.keyboard.type("2")
    press("Enter")
    expect(result(page)).to_contain_text("2 nights in a double room in Paris")
    expect(result(page)).to_be_focused()


CONTRAST = """element => {
  const pen = new OffscreenCanvas(1, 1).getContext("2d");
  const grounds = [];
  for (let one = element; one; one = one.parentElement) grounds.unshift(getComputedStyle(one).backgroundColor);
  const luminance = colours => {
    for (pen.fillStyle of colours) pen.fillRect(0, 0, 1, 1);
    const [red, green, blue] = [...pen.getImageData(0, 0, 1, 1).data]
      .map(part => part / 255).map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ratio = colour => {
    const [low, high] = [luminance(grounds), luminance([...grounds, colour])].sort((one, other) => one - other);
    return (high + 0.05) / (low + 0.05);
  };
  const style = getComputedStyle(element);
  const placed = getComputedStyle(element, "::placeholder");
  return { text: ratio(style.color), edge: ratio(style.borderTopColor), placeholder: ratio(placed.color) };
}"""  # noqa: E501


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_and_fields_stand_out_from_their_ground(
    open_page: Callable[..., Page], scheme: Any
) -> None:
    page = open_page()
    page.emulate_media(color_scheme=scheme)
    choose(page, "register")
    for text in page.locator(
        "header .badge, #list :is(small, b, .badge), #detail :is(.hint, .description)"
    ).all():
        assert text.evaluate(CONTRAST)["text"] >= 4.5, text.text_content()
    for field in page.locator(
        "#search, #detail form :is(input:not([type=checkbox]), select, textarea)"
    ).all():
        contrast = field.evaluate(CONTRAST)
        assert contrast["edge"] >= 3
        assert contrast["placeholder"] >= 4.5


VIEWS = ("tools", "tools/tool/register", "tools/tool/book", "traffic", "check")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_narrow_page_is_never_scrolled_sideways(
    open_page: Callable[..., Page], scheme: Any
) -> None:
    page = open_page()
    page.set_viewport_size(NARROW)
    page.emulate_media(color_scheme=scheme)
    address = re.sub("#.*", "", page.url)
    for place in VIEWS:
        page.goto(f"{address}#{place}")
        page.reload()
        expect(view(page, place.split("/")[0].title())).to_have_attribute("aria-current", "page")
        assert page.evaluate("document.documentElement.scrollWidth") == NARROW["width"], place
    page.goto(f"{address}#tools/tool/echo")
    long = json.dumps({"value": {"k" * 300: "v" * 3000}})
    json_of(page).fill(long)
    expect(call(page)).to_contain_text("Result after")
    assert page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]


# --- traffic, checks, runs ---


def test_traffic_is_paired_filtered_and_searched(open_page: Callable[..., Page]) -> None:
    page = open_page(TOOLS)
    choose(page, "echo")
    page.get_by_label("value", exact=True).fill('"needle"')
    expect(call(page)).to_contain_text("Result after")
    view(page, "Traffic").click()
    rows = page.get_by_role("listbox", name="Messages").get_by_role("option")
    page.get_by_role("searchbox", name="Search messages").fill("NEEDLE")
    expect(rows).to_have_count(2)
    page.get_by_label("Direction", exact=True).select_option("server → client")
    expect(rows).to_have_count(1)
    rows.click()
    expect(page.get_by_role("article", name="Message")).to_contain_text(
        re.compile(r"tools/call response.*after \d+.*s", re.DOTALL)
    )
    expect(
        page.get_by_role("article", name="Message").get_by_text('"needle"').first
    ).to_be_visible()
    page.get_by_label("Direction", exact=True).select_option("both directions")
    page.get_by_role("button", name="Go to the request").click()
    expect(rows.first).to_have_attribute("aria-selected", "true")
    page.get_by_role("searchbox", name="Search messages").fill("tools/list")
    expect(rows).to_have_count(2)
    with page.expect_download() as download:
        page.get_by_role("link", name="Export").click()
    assert download.value.suggested_filename == "recording.jsonl"
    lines = [json.loads(line) for line in download.value.path().read_text("utf-8").splitlines()]
    assert lines[0]["type"] == "Started"
    assert "needle" in json.dumps(lines)


def test_a_recording_is_opened_and_gone_through_with_keys(
    open_page: Callable[..., Page], tmp_path: Path
) -> None:
    recording(tmp_path / "session.jsonl", 3)
    page = open_page("session.jsonl")
    expect(page.locator("#views").get_by_role("link")).to_have_text(["Traffic", "Time"])
    messages, detail = (
        page.get_by_role("listbox", name="Messages"),
        page.get_by_role("article", name="Message"),
    )
    expect(messages.get_by_role("option")).to_have_count(7)
    messages.focus()
    page.keyboard.press("ArrowDown")
    expect(detail).to_contain_text("1 of 7")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(detail).to_contain_text("after 250 ms")
    expect(detail).to_contain_text("answer 0")
    page.keyboard.press("End")
    expect(detail).to_contain_text("7 of 7")
    detail.get_by_role("button", name="Previous").press("Enter")
    page.keyboard.press("Enter")
    expect(detail).to_contain_text("5 of 7")
    detail.locator("summary").first.focus()
    page.keyboard.press("ArrowDown")
    expect(messages).to_be_focused()
    expect(detail).to_contain_text("6 of 7")
    back = (
        "new KeyboardEvent('keydown', { key: 'ArrowLeft', altKey: true, bubbles: true, cancelable:"
        " true })"
    )
    assert messages.evaluate(f"list => list.dispatchEvent({back})"), "left to the browser"
    expect(detail).to_contain_text("6 of 7")
    expect(page.locator("#status")).to_have_class(
        "badge muted"
    )  # a recording is nothing that failed
    expect(page.get_by_role("button", name="Restart")).to_be_hidden()


def test_a_hundred_thousand_messages_are_few_elements(
    open_page: Callable[..., Page], tmp_path: Path
) -> None:
    recording(tmp_path / "session.jsonl", 50_000)
    page = open_page("session.jsonl")
    expect(page.get_by_text("100001 messages")).to_be_visible()
    messages = page.get_by_role("listbox", name="Messages")
    messages.focus()
    page.keyboard.press("End")
    expect(page.get_by_role("article", name="Message")).to_contain_text("answer 49999")
    expect(messages.get_by_role("option", selected=True)).to_be_in_viewport()
    assert messages.get_by_role("option").count() < 100
    page.get_by_role("searchbox", name="Search messages").fill("answer 37777")
    expect(messages.get_by_role("option")).to_have_count(1)


def test_a_check_is_run_and_its_findings_come_first(open_page: Callable[..., Page]) -> None:
    page = open_page(
        "--",
        sys.executable,
        str(HERE / "servers" / "hostile_server.py"),
        "http://127.0.0.1:9",
        place="#check",
    )
    expect(page.locator("#status")).to_have_text("ready")
    page.get_by_role("textbox", name="Cases").fill("tools/*")
    page.get_by_role("button", name="Run the check").click()
    report = page.locator("#report")
    expect(report.get_by_role("button", name="Cancel")).to_be_visible()
    expect(report.get_by_role("status")).to_contain_text(re.compile(r"\d+ of \d+ · tools/"))
    expect(report.get_by_role("status")).to_contain_text("Checked", timeout=120_000)
    expect(report).to_contain_text("tools/")
    assert report.get_by_role("heading", level=2).all_inner_texts()[0] == "Findings"
    outcomes = report.locator(".verdict h3 .badge").all_inner_texts()
    assert set(outcomes) == {"fail", "warn"}
    assert outcomes == sorted(outcomes)


def test_the_transcript_of_a_run_is_a_timeline(
    open_page: Callable[..., Page], tmp_path: Path
) -> None:
    tools = str(ROOT / "server" / "toolwire" / "cli" / "example_tools.py")
    options = [
        "--tools",
        tools,
        "--model",
        "arithmetic",
        "--trust-hints",
        "yes",
        "--transcript",
        "run.jsonl",
    ]
    run([sys.executable, "-m", "toolwire", "ask", "How much is 12 * (3 + 4)?", *options], tmp_path)
    page = open_page("run.jsonl")
    expect(page.locator("#views").get_by_role("link")).to_have_text(["Run", "Time"])
    events = page.locator("#events > li")
    expect(events.filter(has_text="multiply").first).to_be_visible()
    expect(events.last).to_contain_text("84")


# --- servers that mean harm ---


def test_nothing_that_a_server_says_becomes_markup_or_a_request(
    open_page: Callable[..., Page],
) -> None:
    with ExitStack() as stack:
        import socket

        listener = stack.enter_context(
            socket.create_server(("127.0.0.1", 0))
        )  # to accept would be to be asked
        elsewhere = f"http://127.0.0.1:{listener.getsockname()[1]}"
        page = open_page(
            "--", sys.executable, str(HERE / "servers" / "hostile_server.py"), elsewhere
        )
        kinds = page.locator("#list a")
        expect(kinds).to_have_count(4)
        for number in range(4):
            kinds.nth(number).click()
            expect(page.get_by_role("heading", level=2).last).to_contain_text(
                r"\u{1b}]0;owned\u{7}\u{202e}\u{200b}"
            )
            tab(page, "JSON")  # the form asks for what is needed
            page.locator("#detail form button.primary").click()
            expect(result(page)).to_contain_text(re.compile(r"Result after \d"))
        view(page, "Traffic").click()
        page.get_by_role("listbox", name="Messages").focus()
        for _ in range(12):
            page.keyboard.press("ArrowDown")
        assert page.evaluate("window.owned") is None
        assert page.evaluate("({}).own") is None
        assert (
            page.locator(
                "main iframe, main script, main object, main img[src^=http], main"
                " a[href^='javascript']"
            ).count()
            == 0
        )
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()


# --- what is shipped ---


def test_the_page_has_no_type_error(tmp_path: Path) -> None:
    options = {
        "allowJs": True,
        "checkJs": True,
        "noEmit": True,
        "strict": True,
        "exactOptionalPropertyTypes": True,
        "noUncheckedIndexedAccess": True,
        "noImplicitReturns": True,
        "noFallthroughCasesInSwitch": True,
        "noUnusedLocals": True,
        "noUnusedParameters": True,
        "module": "esnext",
        "moduleResolution": "bundler",
        "target": "es2024",
        "lib": ["es2024", "dom", "dom.iterable", "dom.asynciterable"],
        "types": [],
        "paths": {"toolwire": [str(ROOT / "schemas/toolwire_schemas/v1/toolwire.d.ts")]},
    }
    files = {"compilerOptions": options, "include": [f"{STATIC}/*.js"]}
    (tmp_path / "tsconfig.json").write_text(json.dumps(files))
    run([toolchain("node_modules/.bin/tsc"), "--project", "tsconfig.json"], tmp_path)


def test_the_page_is_small() -> None:
    texts = {path.name: path.read_text("utf-8").splitlines() for path in STATIC.iterdir()}
    modules = {name: len(text) for name, text in texts.items() if name.endswith(".js")}
    assert sum(modules.values()) <= 2600
    assert max(modules.values()) <= 200
    assert [line for text in texts.values() for line in text if len(line) > 120] == []
