"""The forms of `toolwire inspect` for the types that Toolwire itself publishes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from interop.page_in_browser import NARROW, arguments, call, choose, json_of, result, tab
from playwright.sync_api import FilePayload, Page, expect

pytestmark = [pytest.mark.process, pytest.mark.slow]

FILE = """
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Annotated

from msgspec import Meta
from toolwire import tool_api


@dataclass
class Circle:
    radius: float


@dataclass
class Square:
    side: float


@tool_api(read_only=True)
def area(shape: Circle | Square) -> str:
    return repr(shape)


@tool_api(read_only=True)
def meet(
    start: datetime, at: time, length: timedelta, notice: timedelta = timedelta(minutes=5)
) -> str:
    return f"{start!r} {at!r} {length!r} {notice!r}"


@tool_api(read_only=True)
def upload(data: bytes, cover: bytes = b"", tags: list[str] = []) -> str:
    return f"{len(data)} and {len(cover)}"


@tool_api(read_only=True)
def order(
    name: str,
    code: Annotated[str, Meta(pattern="^[a-z]+-[0-9]+$")] = "a-1",
    note: str = "",
    count: int = 3,
) -> str:
    return f"{name} {code}"


@tool_api(read_only=True)
def now() -> str:
    return "now"
"""


@pytest.fixture
def page(open_page: Callable[..., Page], tmp_path: Path) -> Page:
    (tmp_path / "tools.py").write_text(FILE, "utf-8")
    return open_page("tools.py")


def field(page: Page, name: str) -> Any:
    return page.get_by_label(name, exact=True)


def test_a_union_of_dataclasses_shows_their_names(page: Page) -> None:
    choose(page, "area")
    expect(field(page, "Kind").locator("option")).to_have_text(["Circle", "Square"])
    field(page, "Kind").select_option("Square")
    field(page, "side").fill("2")
    expect(call(page)).to_contain_text("Square(side=2.0)")


def test_times_have_pickers_and_no_pattern(page: Page) -> None:
    choose(page, "meet")
    form = page.locator("#detail form")
    expect(form).not_to_contain_text("pattern")
    field(page, "start").fill("2026-03-01T09:30:00")
    start = form.locator(".field", has=page.locator("[aria-label=start]"))
    start.get_by_label("Time zone").select_option("UTC")
    field(page, "at").fill("14:05")
    length = page.get_by_role("group", name="length", exact=True)
    page.get_by_role("button", name="Call", exact=True).click()
    expect(length.get_by_label("days")).to_be_focused()
    length.get_by_label("hours").fill("1")
    length.get_by_label("minutes").fill("30")
    notice = page.get_by_role("group", name="notice", exact=True)
    expect(notice.get_by_label("minutes")).to_have_value("5")
    assert arguments(page) == {
        "start": "2026-03-01T09:30:00Z",
        "at": "14:05:00",
        "length": "PT1H30M",
    }
    expect(call(page)).to_contain_text("datetime.timedelta(seconds=5400)")


def test_a_time_that_no_picker_shows_stays_as_it_is(page: Page) -> None:
    choose(page, "meet")
    given = {"start": "2026-03-01 09:00:00.5+05:30", "at": "14:05", "length": "-P2W"}
    json_of(page).fill(json.dumps(given))
    tab(page, "Form")
    start = page.locator(".field", has=page.locator("[aria-label=start]"))
    expect(start.get_by_label("Time zone")).to_have_value("+05:30")
    expect(field(page, "length")).to_have_value("-P2W")
    expect(call(page)).to_contain_text("timedelta(days=-14)")
    assert arguments(page) == given


def test_a_chosen_file_keeps_its_name_and_size(page: Page) -> None:
    choose(page, "upload")
    chosen: FilePayload = {"name": "photo.bin", "mimeType": "x/y", "buffer": b"x" * 1500}
    field(page, "data").set_input_files(chosen)
    page.get_by_role("button", name="Remove tags").click()  # which draws the form again
    expect(page.locator(".file").first).to_contain_text("photo.bin · 1.5 kB")
    expect(call(page)).to_contain_text("1500 and 0")
    assert list(arguments(page)) == ["data"]


def test_needed_texts_are_asked_for_and_untouched_ones_not_sent(page: Page) -> None:
    choose(page, "order")
    page.get_by_role("button", name="Call", exact=True).click()
    expect(field(page, "name")).to_be_focused()
    field(page, "name").fill("Ada")
    expect(call(page)).to_contain_text("Ada a-1")
    assert arguments(page) == {"name": "Ada"}
    tab(page, "Form")
    field(page, "count").fill("4")
    assert arguments(page) == {"name": "Ada", "count": 4}


def test_a_pattern_is_checked_in_the_page(page: Page) -> None:
    choose(page, "order")
    field(page, "name").fill("Ada")
    field(page, "code").fill("A1")
    page.get_by_role("button", name="Call", exact=True).click()
    expect(field(page, "code")).to_be_focused()
    message = field(page, "code").evaluate("field => field.validationMessage")
    assert message == "This must match the pattern ^[a-z]+-[0-9]+$"
    expect(result(page)).to_have_text("The result appears here.")
    field(page, "code").fill("b-22")
    expect(call(page)).to_contain_text("Ada b-22")


def test_a_tool_without_parameters_has_nothing_to_fill_in(page: Page) -> None:
    choose(page, "now")
    expect(page.locator("#detail form")).to_contain_text("No arguments.")
    expect(page.get_by_role("button", name="Add item")).to_have_count(0)
    expect(call(page)).to_contain_text("now")


LINES = """label => {
  const range = document.createRange();
  range.selectNodeContents(label);
  return new Set([...range.getClientRects()].map((box) => Math.round(box.bottom / 8))).size;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("tool", ["area", "meet", "upload", "order"])
def test_labels_are_whole_on_a_narrow_page(page: Page, tool: str, scheme: Any) -> None:
    choose(page, tool)
    page.set_viewport_size(NARROW)
    page.emulate_media(color_scheme=scheme)
    for label in page.locator("#detail form :is(label:not(.unit), .unit .hint)").all():
        assert label.evaluate(LINES) == 1, label.text_content()
    units = page.locator("#detail form .unit").all()
    assert len({unit.evaluate("unit => unit.offsetWidth") for unit in units}) <= 1
    assert page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
