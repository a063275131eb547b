"""The page of `toolwire inspect`: what a model reads, several servers, the theme and the keys."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from interop.page_in_browser import NARROW, TOOLS, WIDE, choose, tab, view
from playwright.sync_api import Page, expect
from toolwire_schemas.tokens import estimate_tokens, write_text_for_models

pytestmark = [pytest.mark.process, pytest.mark.slow]

FILE = '''
from datetime import date

from toolwire import tool_api


@tool_api
def plan(day: date, note: str = "") -> str:
    """Plan a day."""
    return note
'''


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_a_tool_is_shown_as_a_model_reads_it(
    open_page: Callable[..., Page], tmp_path: Path, scheme: Any, size: Any
) -> None:
    (tmp_path / "tools.py").write_text(FILE, "utf-8")
    page = open_page("tools.py")
    choose(page, "plan")
    page.set_viewport_size(size)
    page.emulate_media(color_scheme=scheme)
    tab(page, "Model")
    text = page.locator(".model")
    read = json.loads(text.inner_text())
    assert list(read) == ["name", "description", "inputSchema"]
    tokens = estimate_tokens(write_text_for_models(read))
    expect(page.locator("#detail")).to_contain_text(f"About {tokens} tokens of {tokens}")
    marked = text.locator(".lint")
    expect(marked.filter(has_text='"day"')).to_have_attribute(
        "title", re.compile("no description of day, note")
    )
    expect(marked.filter(has_text='"format"')).to_have_attribute("title", re.compile("Gemini"))
    expect(page.get_by_label("Tokens of plan")).to_have_js_property("value", tokens)
    assert page.evaluate("document.documentElement.scrollWidth") == size["width"]


def test_one_of_several_servers_is_chosen(open_page: Callable[..., Page], tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(FILE, "utf-8")
    serve = [sys.executable, "-m", "toolwire", "serve"]
    servers = {
        "days": {"command": serve[0], "args": [*serve[1:], str(tmp_path / "tools.py")]},
        "shown": {"command": serve[0], "args": [*serve[1:], TOOLS]},
    }
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    page = open_page("--mount-config", "mcp.json")
    names = page.locator("#list a b")
    expect(names.filter(has_text="days_plan")).to_be_visible()
    expect(names.filter(has_text="shown_echo")).to_be_visible()
    server = page.get_by_label("Server", exact=True)
    expect(server.locator("option")).to_have_text(["all 2 servers", "days", "shown"])
    server.select_option("days")
    expect(names).to_have_text(["days_plan"])
    server.select_option("all 2 servers")
    expect(names.filter(has_text="shown_echo")).to_be_visible()


def test_the_theme_is_chosen_and_kept(open_page: Callable[..., Page]) -> None:
    page = open_page()
    page.emulate_media(color_scheme="dark")
    theme = page.get_by_role("button", name="Theme")
    dark = "rgb(17, 20, 24)"
    expect(page.locator("body")).to_have_css("background-color", dark)
    theme.press("Enter")
    expect(theme).to_have_text("Theme: light")
    expect(page.locator("body")).to_have_css("background-color", "rgb(255, 255, 255)")
    page.reload()
    expect(theme).to_have_text("Theme: light")
    page.emulate_media(color_scheme="light")
    theme.press("Enter")
    expect(theme).to_have_text("Theme: dark")
    expect(page.locator("body")).to_have_css("background-color", dark)


def test_the_keys_are_shown_and_work(open_page: Callable[..., Page]) -> None:
    page = open_page()
    expect(page.locator("#status")).to_have_text("ready")
    keys = page.get_by_role("dialog", name="Keys")
    page.keyboard.press("?")
    expect(keys).to_contain_text("call, from any field")
    page.keyboard.press("Escape")
    expect(keys).to_be_hidden()
    page.keyboard.press("/")
    search = page.get_by_role("searchbox", name="Search tools, resources and prompts")
    expect(search).to_be_focused()
    page.keyboard.type("?/")
    expect(search).to_have_value("?/")
    search.fill("")
    view(page, "Traffic").press("Enter")
    messages = page.get_by_role("listbox", name="Messages")
    expect(messages).to_be_focused()
    page.keyboard.press("End")
    expect(messages.get_by_role("option", selected=True)).to_be_visible()
    view(page, "Tools").press("Enter")
    expect(page.locator("#list [aria-current]")).to_be_focused()
