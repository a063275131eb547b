"""A session as one file, opened in a browser without a server."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from clients.languages.driving import run
from interop.page_in_browser import NARROW, Scheme, call, choose, recording, view
from playwright.sync_api import Browser, Page, Request, expect

pytestmark = [pytest.mark.process, pytest.mark.slow]

HOSTILE = "</script><script>window.owned = 1</script><!--"


@pytest.fixture
def offline(chromium: Browser) -> Iterator[Page]:
    """A page of a browser that fails the test if it asks for anything but files."""
    context = chromium.new_context(viewport=NARROW, offline=True)
    asked: list[str] = []
    faults: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.url.partition(":")[0])

    context.on("request", note)
    context.on("weberror", lambda error: faults.append(str(error.error)))
    context.on("console", lambda message: faults.append(message.text))
    yield context.new_page()
    context.close()
    assert set(asked) <= {"file", "data", "blob"}
    assert faults == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_saved_session_is_gone_through_with_keys(
    open_page: Callable[..., Page], offline: Page, tmp_path: Path, scheme: Scheme
) -> None:
    live = open_page()
    choose(live, "echo")
    live.get_by_label("value", exact=True).fill(json.dumps(HOSTILE))
    expect(call(live)).to_contain_text("Result after")
    view(live, "Traffic").click()
    with live.expect_download() as download:
        live.get_by_role("link", name="Save this session").click()
    assert download.value.suggested_filename == "session.html"
    download.value.save_as(tmp_path / "session.html")

    offline.emulate_media(color_scheme=scheme)
    offline.goto((tmp_path / "session.html").as_uri())
    expect(offline.locator("#replay")).to_have_text("Replay: toolwire replay recording.jsonl")
    messages = offline.get_by_role("listbox", name="Messages")
    messages.focus()
    offline.keyboard.press("End")
    detail = offline.get_by_role("article", name="Message")
    expect(detail).to_contain_text("</script><script>window.owned")
    offline.keyboard.press("ArrowUp")
    expect(messages.get_by_role("option", selected=True)).to_contain_text("tools/call")
    assert offline.evaluate("window.owned") is None
    assert offline.evaluate("document.documentElement.scrollWidth") == NARROW["width"]
    with offline.expect_download() as download:
        offline.get_by_role("link", name="Export").click()
    lines = download.value.path().read_text("utf-8").splitlines()
    assert json.loads(lines[0])["type"] == "Started"
    assert "window.owned" in lines[-1]


def test_a_recording_is_written_as_one_file(offline: Page, tmp_path: Path) -> None:
    recording(tmp_path / "session.jsonl", 5000)
    command = [sys.executable, "-m", "toolwire", "inspect", "session.jsonl", "--html", "page.html"]
    run(command, tmp_path)
    offline.goto((tmp_path / "page.html").as_uri())
    expect(offline.locator("#count")).to_have_text("10001 messages")
    expect(offline.locator("#replay")).to_contain_text("toolwire replay session.jsonl")
    offline.get_by_role("searchbox", name="Search messages").fill("answer 4321")
    messages = offline.get_by_role("listbox", name="Messages")
    expect(messages.get_by_role("option")).to_have_count(1)
