"""Runs of an agent on the page of `toolwire inspect`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from clients.languages.driving import run
from interop.page_in_browser import NARROW, ROOT, Scheme
from playwright.sync_api import Locator, Page, expect

pytestmark = [pytest.mark.process, pytest.mark.slow]

EXAMPLE = str(ROOT / "server" / "toolwire" / "cli" / "example_tools.py")
TOOLS = ["--tools", EXAMPLE, "--trust-hints", "yes"]


def ask(folder: Path, transcript: str, question: str) -> None:
    options = [*TOOLS, "--model", "arithmetic", "--transcript", transcript]
    run([sys.executable, "-m", "toolwire", "ask", question, *options], folder)


def steps(page: Page) -> Locator:
    return page.locator("#events > li")


def controls(page: Page) -> Locator:
    return page.get_by_role("group", name="Step", exact=True)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_run_is_gone_through_with_keys(
    open_page: Callable[..., Page], tmp_path: Path, scheme: Scheme
) -> None:
    ask(tmp_path, "run.jsonl", "How much is 12 * (3 + 4)?")
    page = open_page("run.jsonl")
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size(NARROW)
    expect(controls(page)).to_contain_text("13 steps")
    page.get_by_role("list", name="Events").focus()
    page.keyboard.press("ArrowDown")
    expect(controls(page)).to_contain_text("step 1 of 13")
    page.keyboard.press("End")
    expect(steps(page).last).to_have_attribute("aria-current", "step")
    expect(steps(page).last).to_be_in_viewport()
    controls(page).get_by_role("button", name="Previous").click()
    expect(controls(page)).to_contain_text("step 12 of 13")
    assert page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]


def test_a_run_is_forked_with_another_result(
    open_page: Callable[..., Page], tmp_path: Path
) -> None:
    ask(tmp_path, "a run.jsonl", "How much is 12 * (3 + 4)?")
    page = open_page("a run.jsonl")
    steps(page).and_(page.locator(".good")).first.click()
    controls(page).get_by_role("button", name="Fork here").click()
    command = controls(page).locator("pre")
    expect(command).to_have_text("toolwire ask --fork 'a run.jsonl' --at 8 --tools TARGET")
    expect(controls(page)).to_contain_text("Paste it in a terminal")
    controls(page).get_by_role("button", name="Copy").click()
    expect(controls(page)).to_contain_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == command.inner_text()

    controls(page).get_by_role("button", name="Change the result").click()
    field = controls(page).get_by_label("Result as JSON")
    expect(field).to_have_value("7")
    field.fill("{")
    controls(page).get_by_role("button", name="Save the changed run").click()
    expect(controls(page).get_by_role("alert")).to_be_visible()
    field.fill("70")
    with page.expect_download() as download:
        controls(page).get_by_role("button", name="Save the changed run").click()
    name = download.value.suggested_filename
    assert name == "a run-changed.jsonl"
    download.value.save_as(tmp_path / name)
    expect(command).to_have_text(f"toolwire ask --fork '{name}' --at 8 --tools TARGET")
    fork = ["ask", "--fork", name, "--at", "8", *TOOLS]
    done = subprocess.run(
        [sys.executable, "-m", "toolwire", *fork],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (0, "12 * (3 + 4) = 840\n")


def test_two_runs_are_compared(open_page: Callable[..., Page], tmp_path: Path) -> None:
    ask(tmp_path, "one.jsonl", "How much is 12 * (3 + 4)?")
    ask(tmp_path, "two.jsonl", "How much is 12 * (3 + 5)?")
    page = open_page("one.jsonl", "two.jsonl")
    table = page.get_by_role("table")
    expect(table.get_by_role("columnheader")).to_have_text(["one.jsonl", "two.jsonl"])
    expect(table.locator(".gone").last).to_contain_text("12 * (3 + 4) = 84")
    expect(table.locator(".come").last).to_contain_text("12 * (3 + 5) = 96")
    page.set_viewport_size(NARROW)
    assert page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
