"""The history of the page of `toolwire inspect`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from interop.page_in_browser import NARROW, Scheme, arguments, call, choose, result, tab, view
from playwright.sync_api import Locator, Page, expect

pytestmark = [pytest.mark.process, pytest.mark.slow]

FILE = '''
from toolwire import ToolError, tool_api

@tool_api(read_only=True)
def add(a: int, b: int = 2) -> int:
    """Add two numbers."""
    return a + b

@tool_api
def fail(text: str) -> str:
    """Fail with a text."""
    raise ToolError(text)
'''


@pytest.fixture
def page(open_page: Callable[..., Page], tmp_path: Path) -> Page:
    """A page on which three calls were made, with its history shown."""
    (tmp_path / "tools.py").write_text(FILE, "utf-8")
    page = open_page("tools.py")
    for number in (3, 4):
        page.get_by_label("a", exact=True).fill(str(number))
        expect(call(page)).to_contain_text("Result after")
    choose(page, "fail")
    page.get_by_label("text", exact=True).fill("<b>no luck</b>")
    expect(call(page)).to_contain_text("<b>no luck</b>")
    view(page, "History").click()
    expect(calls(page)).to_have_count(3)
    return page


def calls(page: Page) -> Locator:
    return page.get_by_role("navigation", name="Calls").get_by_role("button")


def detail(page: Page) -> Locator:
    return page.get_by_role("article", name="Call", exact=True)


def test_calls_survive_a_reload_with_arguments_result_and_time(page: Page) -> None:
    page.reload()
    expect(calls(page).first).to_contain_text("✗ error")
    expect(calls(page).last).to_contain_text('{"a":3')
    calls(page).first.click()
    expect(detail(page)).to_contain_text("<b>no luck</b>")
    expect(detail(page).locator("b")).to_have_count(0)
    calls(page).last.click()
    expect(detail(page)).to_contain_text("✓ success")
    expect(detail(page)).to_contain_text("result")


def test_a_call_is_sent_again_or_edited_first(page: Page) -> None:
    calls(page).last.click()
    detail(page).get_by_role("button", name="Edit and send").click()
    expect(page.get_by_label("a", exact=True)).to_have_value("3")
    assert arguments(page)["a"] == 3
    tab(page, "Form")
    page.get_by_label("a", exact=True).fill("30")
    expect(call(page)).to_contain_text("32")
    view(page, "History").click()
    expect(calls(page)).to_have_count(4)
    calls(page).nth(2).click()
    detail(page).get_by_role("button", name="Send again").click()
    expect(result(page)).to_contain_text("6")
    view(page, "History").click()
    expect(calls(page)).to_have_count(5)


def test_a_call_is_pinned_saved_compared_and_removed(page: Page, tmp_path: Path) -> None:
    calls(page).nth(1).click()
    detail(page).get_by_role("button", name="Pin", exact=True).click()
    expect(detail(page).get_by_role("button", name="Unpin")).to_be_visible()
    detail(page).get_by_role("button", name="Compare with").click()
    expect(detail(page).locator(".come")).to_contain_text(['"a": 4', '"result": 6'])
    detail(page).get_by_label("Name", exact=True).fill("it's six")
    page.keyboard.press("Enter")
    saved = calls(page).filter(has_text="it's six")
    saved.click()
    expect(detail(page)).to_contain_text(r"toolwire call --saved 'it'\''s six'")
    assert "it's six" in (tmp_path / ".toolwire" / "calls.json").read_text("utf-8")
    detail(page).get_by_role("button", name="Remove").click()
    expect(saved).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_history_is_used_with_keys_and_in_a_narrow_page(page: Page, scheme: Scheme) -> None:
    page.emulate_media(color_scheme=scheme)
    calls(page).first.focus()
    page.keyboard.press("Enter")
    expect(detail(page)).to_contain_text("fail")
    page.keyboard.press("ArrowDown")
    expect(calls(page).nth(1)).to_be_focused()
    expect(detail(page)).to_contain_text("✓ success")
    page.set_viewport_size(NARROW)
    expect(detail(page)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
    detail(page).get_by_role("button", name="← All").click()
    expect(calls(page).first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
