"""How the page of `toolwire inspect` shows results: tables, texts, links, and what is malformed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from interop.page_in_browser import NARROW, call, choose, result
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.process, pytest.mark.slow]

FILE = """
from toolwire import tool_api
from toolwire_tools import ResourceLink, resource

NAMES = ["Ada", "=cmd", "Alan", 'a "b"']


@tool_api(read_only=True)
def people(count: int = 4) -> list[dict]:
    return [{"id": 10 - n % 10, "name": NAMES[n % 4], "tags": [n]} for n in range(count)]


@tool_api(read_only=True)
def late() -> dict[str, str]:
    return {"when": "It is late."}


@tool_api(read_only=True)
def report() -> str:
    return "# Report\\n\\none\\nline\\n\\n- [x] a\\n- [ ] b\\n\\n|n|\\n|---:|\\n|1|\\n"


@resource("notes://milk")
def milk() -> str:
    return "Buy milk."


@tool_api(read_only=True)
def where() -> ResourceLink:
    return ResourceLink(uri="notes://milk", name="milk")
"""

MALFORMED = """
import json, sys

CONTENT = [{"type": "text", "text": "before"}, {"type": "text", "text": 7, "more": "raw"}]
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = {
        "initialize": {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "malformed", "version": "1"},
        },
        "tools/list": {"tools": [{"name": "broken", "inputSchema": {"type": "object"}}]},
        "tools/call": {"content": CONTENT},
    }.get(message["method"])
    answer = {"result": result} if result else {"error": {"code": -32601, "message": "no"}}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}), flush=True)
"""


@pytest.fixture
def page(open_page: Callable[..., Page], tmp_path: Path) -> Page:
    (tmp_path / "tools.py").write_text(FILE, "utf-8")
    return open_page("tools.py")


def cells(page: Page, column: int) -> list[str]:
    return result(page).locator(f"tbody td:nth-child({column})").all_inner_texts()


def test_records_are_sorted_filtered_and_copied_as_csv(page: Page) -> None:
    choose(page, "people")
    output = call(page)
    expect(output).to_contain_text("4 rows")
    output.get_by_role("button", name="id", exact=True).click()
    assert cells(page, 1) == ["7", "8", "9", "10"]
    output.get_by_role("button", name="id", exact=True).press("Enter")
    assert cells(page, 1) == ["10", "9", "8", "7"]
    expect(output.locator("th").first).to_have_attribute("aria-sort", "descending")
    output.get_by_role("button", name="Copy as CSV").click()
    expect(output.get_by_text("Copied")).to_be_visible()
    lines = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert lines == ["id,name,tags", "10,Ada,[0]", "9,'=cmd,[1]", "8,Alan,[2]", '7,"a ""b""",[3]']
    output.get_by_role("searchbox").fill("AL")
    expect(output).to_contain_text("1 of 4 rows")
    assert cells(page, 2) == ["Alan"]


def test_many_records_are_few_elements(page: Page) -> None:
    choose(page, "people")
    page.get_by_label("count", exact=True).fill("20000")
    output = call(page)
    expect(output).to_contain_text("20000 rows")
    assert len(cells(page, 1)) == 100
    output.get_by_role("button", name="Show 500 more").click()
    assert len(cells(page, 1)) == 600


def test_text_and_data_are_shown_once_and_copied(page: Page) -> None:
    choose(page, "late")
    output = call(page)
    expect(output.get_by_text("It is late.")).to_have_count(1)
    output.get_by_role("button", name="Copy text").click()
    expect(output.get_by_role("button", name="Copied")).to_be_visible()
    assert json.loads(page.evaluate("navigator.clipboard.readText()")) == {"when": "It is late."}
    output.get_by_text("Raw message").press("Enter")
    expect(output.get_by_text("It is late.")).to_have_count(3)  # as the server sent both


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_markdown_is_laid_out(page: Page, scheme: Any) -> None:
    choose(page, "report")
    page.set_viewport_size(NARROW)
    page.emulate_media(color_scheme=scheme)
    output = call(page)
    expect(output.locator("p", has_text="one line")).to_be_visible()
    expect(output.get_by_label("done", exact=True)).to_be_checked()
    expect(output.get_by_label("not done", exact=True)).not_to_be_checked()
    expect(output.locator("td")).to_have_css("text-align", "right")
    assert page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]


def test_a_link_to_a_resource_opens_in_its_place(page: Page) -> None:
    choose(page, "where")
    call(page).get_by_role("button", name="Read", exact=True).click()
    expect(result(page)).to_contain_text("Buy milk.")


def test_a_malformed_block_is_shown_next_to_the_others(
    open_page: Callable[..., Page], tmp_path: Path
) -> None:
    (tmp_path / "malformed.py").write_text(MALFORMED, "utf-8")
    page = open_page("--", sys.executable, "malformed.py")
    choose(page, "broken")
    output = call(page)
    expect(output).to_contain_text("The result is malformed")
    expect(output.get_by_text("before")).to_be_visible()
    expect(output.get_by_text('"raw"')).to_be_visible()
