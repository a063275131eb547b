"""The list of tools in `toolwire inspect`: three hundred of them, and how calls ended."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from interop.page_in_browser import NARROW, ROOT, WIDE, call, choose, result
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.process, pytest.mark.slow]

SERVERS = ("github", "jira", "files")
VERBS = ("get", "list", "create", "delete", "update")
NOUNS = [f"thing{number}" for number in range(20)]


def make_tools() -> list[dict[str, Any]]:
    """Make three hundred tools of three servers."""
    tools = []
    for server in SERVERS:
        for verb in VERBS:
            for noun in NOUNS:
                entry = {
                    "name": f"{server}_{verb}_{noun}",
                    "description": f"Works on {noun}. " + "A long description. " * 20,
                    "inputSchema": {"type": "object", "properties": {f"{verb}_by": {}}},
                }
                tools.append(entry)
    tools[150]["description"] = "Handles the zebra."
    tools[250]["inputSchema"]["properties"] = {"zebra": {"type": "string"}}
    tools[10]["name"] = "zebra"
    return tools


@pytest.fixture
def page(open_page: Callable[..., Page], tmp_path: Path) -> Page:
    (tmp_path / "entries.json").write_text(json.dumps(make_tools()))
    server = str(ROOT / "tests/clients/languages/echo_server.py")
    page = open_page("--", sys.executable, server, "entries.json")
    expect(page.locator("#status")).to_have_text("ready")
    return page


def names(page: Page) -> list[str]:
    return page.locator("#list a b").all_inner_texts()


def test_tools_are_in_groups_by_the_beginning_of_their_names(page: Page) -> None:
    groups = page.locator("#list summary")
    expect(groups).to_have_text(["github 99", "jira 100", "files 100"])
    assert names(page)[0] == "github_get_thing0"  # that of the chosen tool is open
    assert names(page)[-1] == "zebra"
    groups.nth(1).press("Enter")
    expect(page.get_by_role("link", name="jira_get_thing0")).to_be_visible()
    page.get_by_role("searchbox", name="Search tools").press("ArrowDown")
    expect(groups.first).to_be_focused()


def test_descriptions_have_two_lines_and_findings_a_quiet_mark(page: Page) -> None:
    row = page.get_by_role("link", name="github_get_thing0")
    heights = row.locator("small").evaluate("text => [text.clientHeight, text.scrollHeight]")
    assert heights[0] < 45
    assert heights[1] > heights[0]
    expect(row.locator(".finding")).to_have_text("△ 3")
    expect(row.locator(".badge")).to_have_count(0)


def test_search_finds_all_words_and_the_best_comes_first(page: Page) -> None:
    search = page.get_by_role("searchbox", name="Search tools")
    search.fill("zebra")
    assert names(page) == ["zebra", "jira_create_thing10", "files_create_thing10"]
    search.fill("Thing7 jira upd")
    assert names(page) == ["jira_update_thing7"]
    search.fill("thing7 nothing")
    assert names(page) == []


def test_tools_are_sorted(page: Page) -> None:
    page.get_by_label("Order").select_option("by name")
    listed = names(page)
    assert listed[0] == "files_create_thing0"
    assert len(listed) == 300


@pytest.mark.parametrize("size", [WIDE, NARROW])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_three_hundred_tools_are_a_short_list(page: Page, scheme: Any, size: Any) -> None:
    page.set_viewport_size(size)
    page.emulate_media(color_scheme=scheme)
    page.goto(page.url.split("#")[0] + "#tools/")
    page.reload()
    expect(page.locator("#list summary")).to_have_count(3)
    assert page.evaluate("document.documentElement.scrollWidth") == size["width"]
    assert page.evaluate("document.querySelectorAll('*').length") < 2000


FILE = """
from pathlib import Path
import time

from toolwire import Context, tool_api


@tool_api(read_only=True)
def works(lines: list[str] = []) -> str:
    return "worked"


@tool_api(read_only=True)
def breaks() -> str:
    raise ValueError("no luck")


@tool_api
def waits(context: Context, until: str) -> str:
    end = time.monotonic() + 20
    while not Path(until).exists() and time.monotonic() < end:
        context.check()
        time.sleep(0.01)
    return "waited"
"""


def test_how_a_call_ended_is_seen_without_colour(
    open_page: Callable[..., Page], tmp_path: Path
) -> None:
    (tmp_path / "tools.py").write_text(FILE, "utf-8")
    page = open_page("tools.py")
    choose(page, "works")
    expect(call(page).get_by_role("status")).to_contain_text("✓ succeeded")
    choose(page, "breaks")
    expect(call(page).get_by_role("status")).to_contain_text("✗ failed")
    choose(page, "waits")
    page.get_by_label("until", exact=True).fill(str(tmp_path / "go"))
    call(page)
    row = page.locator("#list a", has_text="waits")
    expect(row.get_by_role("img", name="running")).to_be_visible()
    choose(page, "works")
    (tmp_path / "go").touch()
    expect(row.get_by_role("img", name="succeeded")).to_be_visible()
    breaks = page.locator("#list a", has_text="breaks")
    expect(breaks.get_by_role("img", name="failed")).to_be_visible()


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_the_button_that_calls_stays_in_view(
    open_page: Callable[..., Page], tmp_path: Path, size: Any
) -> None:
    (tmp_path / "tools.py").write_text(FILE, "utf-8")
    page = open_page("tools.py")
    choose(page, "works")
    page.set_viewport_size({**size, "height": 500})
    for _ in range(12):
        page.get_by_role("button", name="Add item").click()
    page.get_by_label("Item 1", exact=True).scroll_into_view_if_needed()
    button = page.get_by_role("button", name="Call", exact=True)
    expect(button).to_be_in_viewport()
    button.click()
    expect(result(page)).to_contain_text("worked")
