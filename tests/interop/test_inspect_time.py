"""Time on the page of `toolwire inspect`."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from clients.languages.driving import run
from interop.page_in_browser import NARROW, ROOT, Scheme, call, choose, recording, result, view
from playwright.sync_api import Locator, Page, expect

pytestmark = [pytest.mark.process, pytest.mark.slow]


def bars(page: Page, kind: str) -> Locator:
    return page.locator(f"#waterfall rect.{kind}")


def rows(page: Page) -> Locator:
    return page.get_by_role("region", name="Latency").get_by_role("row")


def write_recording(path: Path, *messages: tuple[float, str, dict[str, Any]]) -> None:
    """Write messages, each with its second and its sender."""
    entries: list[dict[str, Any]] = [
        {"type": "Started", "at": "2026-01-02T03:04:00Z", "version": 1, "command": ["server"]}
    ]
    for second, sender, message in messages:
        at = f"2026-01-02T03:04:{second:06.3f}Z"
        message = {"jsonrpc": "2.0", **message}
        entries.append({"type": "Message", "at": at, "sender": sender, "message": message})
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), "utf-8")


def request(number: int, name: str, **params: Any) -> dict[str, Any]:
    return {"id": number, "method": "tools/call", "params": {"name": name, **params}}


def test_calls_progress_questions_and_pauses_are_on_one_axis(
    open_page: Callable[..., Page], tmp_path: Path
) -> None:
    ask = {"id": "q", "method": "elicitation/create", "params": {"message": "Which?"}}
    progress = {"progressToken": 1, "progress": 1, "total": 2, "message": "half <b>"}
    hostile = "<img src=x onerror=alert(1)>"
    write_recording(
        tmp_path / "session.jsonl",
        (1.0, "client", request(1, "slow", _meta={"progressToken": 1})),
        (1.5, "server", {"method": "notifications/progress", "params": progress}),
        (1.6, "server", ask),
        (1.9, "client", {"id": "q", "result": {"action": "decline"}}),
        (2.0, "server", {"id": 1, "result": {"content": []}}),
        (50.0, "client", request(2, hostile)),
        (50.1, "server", {"id": 2, "error": {"code": 1, "message": "no"}}),
        (50.2, "client", request(3, "form")),
        (50.3, "server", {"id": 3, "result": {"resultType": "input_required"}}),
        (50.7, "client", request(4, "form", inputResponses={})),
        (50.8, "server", {"id": 4, "result": {"content": []}}),
        (50.9, "client", request(5, "never")),
    )
    page = open_page("session.jsonl", place="#time")
    expect(bars(page, "call")).to_have_count(5)
    expect(bars(page, "question")).to_have_count(2)
    expect(bars(page, "failed")).to_have_count(1)
    expect(bars(page, "open")).to_have_count(1)
    expect(page.locator("#waterfall circle title")).to_have_text("1 of 2 half <b>")
    expect(page.locator("#waterfall .idle title").first).to_have_text("48.0 s without a call")
    texts = page.locator("#waterfall text:not(.took)").all_text_contents()
    assert [text.strip() for text in texts][1:3] == [
        "? elicitation/create",
        "✗ <img src=x onerror=aler…",
    ]
    assert page.locator("#waterfall img").count() == 0
    expect(rows(page).nth(1)).to_contain_text("slow")
    expect(rows(page).filter(has_text="form")).to_contain_text(re.compile(r"form\s*2\s*0\s*100 ms"))


def press(page: Page, *keys: str) -> None:
    page.get_by_role("region", name="Waterfall").focus()
    for key in keys:
        page.keyboard.press(key)


def test_the_waterfall_is_zoomed_by_a_click_by_keys_and_by_the_wheel(
    open_page: Callable[..., Page], tmp_path: Path
) -> None:
    messages: list[tuple[float, str, dict[str, Any]]] = []
    for number in range(40):
        messages.append((number, "client", request(number, f"tool{number}")))
        messages.append((number + 0.5, "server", {"id": number, "result": {"content": []}}))
    write_recording(tmp_path / "session.jsonl", *messages)
    page = open_page("session.jsonl", place="#time")
    zoom = page.get_by_role("group", name="Zoom", exact=True)
    everything = zoom.get_by_role("button", name="All")
    waterfall = page.get_by_role("region", name="Waterfall")
    expect(everything).to_be_disabled()
    expect(waterfall.get_by_role("img")).to_have_attribute("aria-label", re.compile("^40 spans"))
    narrow = float(bars(page, "call").nth(3).get_attribute("width") or 0)

    bars(page, "call").nth(3).click()
    expect(zoom).to_contain_text("1 of 40 spans")
    assert float(bars(page, "call").get_attribute("width") or 0) > 10 * narrow
    expect(page.locator("#waterfall text:not(.took)")).to_have_text("tool3")
    press(page, "ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight")
    expect(page.locator("#waterfall text:not(.took)").last).to_have_text("tool4")
    press(page, "-", "-")
    expect(zoom).to_contain_text(re.compile("[3-6] of 40 spans"))
    press(page, "0")
    expect(zoom).not_to_contain_text("of 40 spans")
    expect(everything).to_be_disabled()

    waterfall.hover()
    page.keyboard.down("Control")
    page.mouse.wheel(0, -400)
    page.keyboard.up("Control")
    expect(zoom).to_contain_text(re.compile("1[0-2] of 40 spans"))
    page.set_viewport_size(NARROW)
    assert page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
    everything.click()
    expect(everything).to_be_disabled()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_call_is_seen_while_it_runs_also_in_a_narrow_page(
    open_page: Callable[..., Page], tmp_path: Path, scheme: Scheme
) -> None:
    page = open_page()
    page.emulate_media(color_scheme=scheme)
    choose(page, "work")
    page.get_by_label("until", exact=True).fill(str(tmp_path / "go"))
    expect(call(page).get_by_text("1 of 4 · one step")).to_be_visible()
    view(page, "Time").click()
    expect(bars(page, "open")).to_have_count(1)
    page.set_viewport_size(NARROW)
    (tmp_path / "go").touch()
    expect(bars(page, "open")).to_have_count(0)
    expect(rows(page).filter(has_text="work")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
    view(page, "Tools").click()
    expect(result(page)).to_contain_text("worked")


def test_the_waterfall_of_many_calls_is_few_elements_and_scrolled_with_keys(
    open_page: Callable[..., Page], tmp_path: Path
) -> None:
    recording(tmp_path / "session.jsonl", 10_000)
    page = open_page("session.jsonl", place="#time")
    expect(page.get_by_role("region", name="Waterfall").get_by_role("img")).to_have_attribute(
        "aria-label", re.compile("^10000 spans")
    )
    assert bars(page, "call").count() < 200
    page.get_by_role("region", name="Waterfall").focus()
    page.keyboard.press("End")
    expect(page.locator("#waterfall text:not(.took)").last).to_have_text("tool9")
    expect(rows(page)).to_have_count(11)


def test_the_time_of_the_model_is_shown_for_a_run(
    open_page: Callable[..., Page], tmp_path: Path
) -> None:
    tools = str(ROOT / "server" / "toolwire" / "cli" / "example_tools.py")
    options = ["--tools", tools, "--model", "arithmetic", "--trust-hints", "yes"]
    command = [sys.executable, "-m", "toolwire", "ask", "How much is 12 * (3 + 4)?", *options]
    run([*command, "--transcript", "run.jsonl"], tmp_path)
    lines = (tmp_path / "run.jsonl").read_text("utf-8").splitlines()
    events = [json.loads(line) for line in lines]
    for event in events:
        if event["type"] == "ModelReplied":
            event["reply"]["usage"] = {"input_tokens": 1000, "output_tokens": 100}
    (tmp_path / "run.jsonl").write_text("".join(json.dumps(one) + "\n" for one in events), "utf-8")
    page = open_page("run.jsonl", place="#time")
    expect(bars(page, "model")).to_have_count(3)
    expect(bars(page, "call")).to_have_count(2)
    latency = page.get_by_role("region", name="Latency")
    expect(latency).to_contain_text("3000 tokens read, 300 written")
    latency.get_by_label("Price of a million tokens read").fill("10")
    latency.get_by_label("Price of a million tokens written").fill("100")
    expect(latency).to_contain_text("cost 0.060000")
