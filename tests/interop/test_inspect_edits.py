"""Edit, save, see: what the page of `toolwire inspect` does when the file of the tools is saved."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from interop.page_in_browser import NARROW, Scheme, call, choose, result, tab
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.process, pytest.mark.slow]

FILE = '''
from toolwire import tool_api

@tool_api(read_only=True)
def add(a: int, b: int = 2) -> int:
    """Add two numbers."""
    return a + b

@tool_api
def note(text: str) -> str:
    """Note a text."""
    return f"noted {text}"
'''


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "tools.py"
    file.write_text(FILE, "utf-8")
    return file


def save(file: Path, *changes: tuple[str, str]) -> None:
    """Save *file* with these texts of `FILE` replaced."""
    text = FILE
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    new = file.with_suffix(".new")
    new.write_text(text, "utf-8")
    os.replace(new, file)


def test_the_last_call_is_repeated_and_its_results_are_side_by_side(
    open_page: Callable[..., Page], file: Path
) -> None:
    page = open_page(str(file))
    page.get_by_label("a", exact=True).fill("3")
    expect(call(page)).to_contain_text("Result after")
    save(file, ("a + b", "a * b"))
    table = result(page).get_by_role("table")
    expect(table.locator(".gone")).to_have_text('−  "result": 5')
    expect(table.locator(".come")).to_have_text('+  "result": 6')
    save(file, ("a + b", "b * a"))
    expect(result(page)).to_contain_text("Result: no difference")


def test_a_new_schema_is_next_to_the_old_one_and_the_arguments_stay(
    open_page: Callable[..., Page], file: Path
) -> None:
    page = open_page(str(file))
    page.get_by_label("a", exact=True).fill("3")
    expect(call(page)).to_contain_text("Result after")
    save(file, ("b: int = 2", "b: int = 2, c: int = 4"), ("a + b", "a + b + c"))
    change = page.locator("#detail").get_by_role("group").filter(has_text="Definition differs")
    expect(change.locator(".come").first).to_be_visible()
    expect(change).to_contain_text('"c": {')
    expect(page.get_by_label("a", exact=True)).to_have_value("3")
    expect(result(page).locator(".come")).to_contain_text("9")
    for width in (NARROW["width"], 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_a_tool_that_may_write_is_called_again_by_one_click(
    open_page: Callable[..., Page], file: Path
) -> None:
    page = open_page(str(file))
    choose(page, "note")
    page.get_by_label("text", exact=True).fill("milk")
    expect(call(page)).to_contain_text("noted milk")
    save(file, ("noted {text}", "wrote {text}"))
    again = result(page).get_by_role("button", name="Call again")
    expect(again).to_be_visible()
    expect(result(page)).to_contain_text("noted milk")
    again.press("Enter")
    expect(result(page).locator(".come")).to_contain_text("wrote milk")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_broken_save_is_shown_while_the_last_good_version_answers(
    open_page: Callable[..., Page], file: Path, scheme: Scheme
) -> None:
    page = open_page(str(file))
    page.emulate_media(color_scheme=scheme)
    page.get_by_label("a", exact=True).fill("3")
    save(file, ("a + b", "a + <b>"))
    edit = page.get_by_role("alert", name="The last edit")
    expect(edit).to_contain_text("SyntaxError in tools.py, line 7")
    expect(edit).to_contain_text("return a + <b>")
    expect(call(page)).to_contain_text("Result after")
    page.set_viewport_size(NARROW)
    assert page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
    save(file)
    expect(edit).to_be_hidden()
    tab(page, "JSON")
