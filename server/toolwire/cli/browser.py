"""Opens an address in the user's browser without writing it on a command line, which every user can
read.

A private file leads there, as in Jupyter: only its path is on the command line.
"""

from __future__ import annotations

import os
import sys
import tempfile
import webbrowser
from contextlib import contextmanager, suppress
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from toolwire_schemas.threads import start_thread

if TYPE_CHECKING:
    from collections.abc import Iterator

_PAGE = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>Toolwire</title>
<p><a href="{address}">Open the page of Toolwire</a></p>
"""


def has_screen() -> bool:
    """Return whether a browser can be shown. One in the terminal would take that over."""
    return not sys.platform.startswith("linux") or bool(
        {"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys()
    )


@contextmanager
def open_privately(address: str) -> Iterator[None]:
    """Open *address* in the browser, without waiting for it; the file that leads there is deleted
    after the block.
    """
    folder = Path(tempfile.mkdtemp(prefix="toolwire-"))  # for this user alone
    page = folder / "open.html"
    try:
        descriptor = os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(_PAGE.format(address=escape(address)))
        start_thread(webbrowser.open, "toolwire-browser", page.as_uri())
        yield
    finally:
        with suppress(OSError):
            page.unlink()
        with suppress(OSError):
            folder.rmdir()
