"""The page of `toolwire inspect`: what a model reads, several servers, the theme and the keys."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from interop import peers
from interop.page_in_browser import HERE, NARROW, WIDE, call, choose, tab, view
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


def test_one_of_three_foreign_servers_is_chosen_and_called(
    open_page: Callable[..., Page], tmp_path: Path
) -> None:
    package = peers.installed_package("@modelcontextprotocol")
    node = peers.installed_program("node")
    everything = str(package / "server-everything/dist/index.js")
    files = str(package / "server-filesystem/dist/index.js")
    [python, _] = peers.python_driver("mcp1", "")
    servers = {
        "everything": {"command": node, "args": [everything, "stdio"]},
        "files": {"command": node, "args": [files, str(tmp_path)]},
        "sdk": {"command": python, "args": [str(HERE / "servers" / "mcp1_server.py")]},
    }
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    page = open_page("--mount-config", "mcp.json")
    names = page.locator("#list a b")
    for name in ("everything_echo", "files_read_text_file", "sdk_add"):
        expect(names.filter(has_text=name)).to_have_count(1)
    server = page.get_by_label("Server", exact=True)
    options = ["all 3 servers", "everything", "files", "sdk"]
    expect(server.locator("option")).to_have_text(options)
    server.select_option("everything")
    expect(names.filter(has_text="sdk_add")).to_have_count(0)
    choose(page, "everything_echo")
    page.get_by_label("message", exact=True).fill("tea")
    expect(call(page)).to_contain_text("Echo: tea")
    server.select_option("all 3 servers")
    expect(names.filter(has_text="sdk_add")).to_have_count(1)


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
