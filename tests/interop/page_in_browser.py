"""The page of `toolwire inspect` in a real headless Chromium, for the tests of it.

After each test, no script has failed, the page's policy was never broken, and the browser has asked
for nothing but this page.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Literal

import pytest
from interop.peers import installed_program
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    ViewportSize,
    expect,
    sync_playwright,
)

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
STATIC = ROOT / "server" / "toolwire" / "inspect" / "static"
TOOLS = str(HERE / "servers" / "inspected_tools.py")
PATIENCE_SECONDS = 60
expect.set_options(timeout=PATIENCE_SECONDS * 1000)
WIDE: ViewportSize = {"width": 1280, "height": 800}
NARROW: ViewportSize = {"width": 400, "height": 800}
Scheme = Literal["light", "dark"]


@contextmanager
def inspected(folder: Path, *words: str) -> Iterator[str]:
    """Run `toolwire inspect` with *words* in a *folder*; the value is the address of its page."""
    command = [sys.executable, "-m", "toolwire", "inspect", "--no-browser", *words]
    with subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "HOME": str(folder)},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[1]
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE_SECONDS)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    program = installed_program("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=program, args=["--no-sandbox"], timeout=120_000
        )
        yield browser
        browser.close()


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    """A browser that has seen nothing; fails the test that made it ask for anything but the
    page.
    """
    context = chromium.new_context(viewport=WIDE, permissions=["clipboard-read", "clipboard-write"])
    context.set_default_timeout(PATIENCE_SECONDS * 1000)
    asked: list[str] = []
    faults: list[str] = []

    def note_violation(message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            faults.append(message.text)

    context.on("request", lambda request: asked.append(request.url))
    context.on("weberror", lambda error: faults.append(str(error.error)))
    context.on("console", note_violation)
    yield context
    context.close()
    pages = [url for url in asked if not url.startswith("data:")]
    assert faults == []
    assert {
        re.sub(r"^(http://127\.0\.0\.1:\d+/[\w-]+/).*", r"\1", url, flags=re.DOTALL)
        for url in pages
    } == {re.sub(r"#.*", "", pages[0])}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a page of the tools for it, which the tests of this file share."""
    with inspected(tmp_path_factory.mktemp("shared"), TOOLS) as address:
        yield address


@pytest.fixture
def open_page(
    context: BrowserContext, shared: str, tmp_path: Path
) -> Iterator[Callable[..., Page]]:
    """Opens the shared page, or one of a server of its own."""
    with ExitStack() as running:

        def opened(*words: str, place: str = "") -> Page:
            page = context.new_page()
            page.goto(
                (running.enter_context(inspected(tmp_path, *words)) if words else shared) + place
            )
            return page

        yield opened


def choose(page: Page, name: str) -> None:
    page.get_by_role("link", name=re.compile(rf"^{name}\b")).click()


def view(page: Page, name: str) -> Locator:
    return page.locator("#views").get_by_role("link", name=name, exact=True)


def tab(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def json_of(page: Page) -> Locator:
    """The arguments as JSON, shown."""
    tab(page, "JSON")
    return page.get_by_label("Arguments as JSON", exact=True)


def arguments(page: Page) -> Any:
    return json.loads(json_of(page).input_value())


def result(page: Page) -> Locator:
    return page.get_by_role("region", name="Result")


def call(page: Page) -> Locator:
    """Call the chosen tool; the value is where its result appears."""
    page.get_by_role("button", name="Call", exact=True).click()
    return result(page)


def entries(folder: Path, **schemas: Any) -> tuple[str, ...]:
    """Words that inspect a server of the tools of these *schemas*."""
    tools = [{"name": name, "inputSchema": schema} for name, schema in schemas.items()]
    (folder / "entries.json").write_text(json.dumps(tools))
    return (
        "--",
        sys.executable,
        str(ROOT / "tests/clients/languages/echo_server.py"),
        "entries.json",
    )


def recording(path: Path, calls: int) -> None:
    """Write a recording of so many *calls*."""
    at = "2026-01-02T03:04:{:02d}.{:03d}Z"
    entries: list[dict[str, Any]] = [
        {"type": "Started", "at": at.format(0, 0), "version": 1, "command": ["server"]}
    ]
    for number in range(calls):
        asked = {
            "jsonrpc": "2.0",
            "id": number,
            "method": "tools/call",
            "params": {"name": f"tool{number % 10}"},
        }
        answered = {
            "jsonrpc": "2.0",
            "id": number,
            "result": {"content": [{"type": "text", "text": f"answer {number}"}]},
        }
        entries.append(
            {"type": "Message", "at": at.format(1, 0), "sender": "client", "message": asked}
        )
        entries.append(
            {"type": "Message", "at": at.format(1, 250), "sender": "server", "message": answered}
        )
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
