"""The page of `toolwire inspect`, judged by axe-core: contrast, names, roles, landmarks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from interop import peers
from interop.page_in_browser import NARROW, WIDE, call, choose, view
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.process, pytest.mark.slow]


def find_faults(page: Page) -> list[Any]:
    """Return the rules that the page breaks, each with its first element."""
    report = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [(rule["id"], rule["nodes"][0]["html"]) for rule in report["violations"]]


@pytest.mark.parametrize(
    ("scheme", "size", "views"),
    [
        ("light", WIDE, ["History", "Traffic", "Time", "Check"]),
        ("dark", NARROW, ["Time"]),
    ],
)
def test_axe_finds_nothing(
    open_page: Callable[..., Page], scheme: Any, size: Any, views: list[str]
) -> None:
    axe = (peers.installed_package("axe-core") / "axe.min.js").read_text("utf-8")
    page = open_page()
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    choose(page, "echo")
    page.get_by_label("value", exact=True).fill("1")
    expect(call(page).get_by_role("status")).to_contain_text("Result after")
    page.set_viewport_size(size)
    page.evaluate(f"{axe};0")
    faults = {"Tools": find_faults(page)}
    for name in views:
        view(page, name).click()
        faults[name] = find_faults(page)
    assert faults == {name: [] for name in faults}
