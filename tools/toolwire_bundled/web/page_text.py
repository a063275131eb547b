"""The text of a page, made by a process of its own (`extracting.py`) within limits of time, memory
and length.
"""

from __future__ import annotations

import os
import sys
import time
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from toolwire_schemas.language import say
from toolwire_tools.processes.child_group import ChildGroup

from ..requirements import import_extra
from .errors import Unusable
from .extract_process import without_links
from .rate_limit import Pace
from .ssrf_guard import show_url

if TYPE_CHECKING:
    from subprocess import Popen

    from .call import Call, Leaving
    from .pages import Page

MAX_SECONDS = 10.0
_GLANCE_SECONDS = 0.05
# What Python needs of the environment. The rest may hold keys, and a page may know a fault of the
# parser.
_NEEDED = ("PATH", "PYTHONPATH", "PYTHONHOME", "SYSTEMROOT", "TEMP", "TMPDIR", "LANG")
# Each may take a gigabyte.
_TURNS = Pace("the reader of pages", at_once=2)


class Text(msgspec.Struct, frozen=True):
    """The text of a page, in Markdown."""

    title: str
    text: str

    @property
    def without_links(self) -> str:
        """The text with the words of the links alone."""
        return without_links(self.text)


def read(page: Page, call: Call, *, max_seconds: float = MAX_SECONDS) -> Text:
    """The text of *page*: its article if there is one, and otherwise all that is to be seen.

    Raises:
        Unusable: if it has none, or takes more than it may.
        Cancelled: if the call was cancelled.
    """
    _check_installed()
    call.say(f"reading {show_url(page.url)}")
    seconds = min(max_seconds, max(call.seconds_left, 0.0))
    with _TURNS.turn(call):
        output = call.attend(partial(_extract, page, seconds), f"reading {show_url(page.url)}")
    lines = [line for line in output.splitlines(keepends=True) if line.endswith(b"\n")]
    if not lines:
        raise Unusable(
            say(
                "{url} cannot be read: its markup takes too long, or too much memory",
                url=show_url(page.url),
            )
        )
    text = msgspec.json.decode(lines[-1], type=Text)
    if not text.text:
        raise Unusable(
            say(
                "{url} has no text; perhaps it is made by scripts, which do not run here",
                url=show_url(page.url),
            )
        )
    return text


def _check_installed() -> None:
    from importlib.util import find_spec

    with import_extra("web"):
        if find_spec("trafilatura") is None:  # to import it here would take a quarter of a second
            raise ModuleNotFoundError(name="trafilatura")


def _extract(page: Page, seconds: float, leaving: Leaving) -> bytes:
    """Return the output of the process until it ended, or was ended."""
    import subprocess
    import tempfile

    command = [
        sys.executable,
        "-P",
        "-m",
        f"{__package__}.extract_process",
        page.content_type[:200],
        page.url,
    ]
    with tempfile.TemporaryFile() as body:  # which the process reads when it likes
        body.write(page.body)
        body.seek(0)
        group = ChildGroup()
        try:
            process = group.start(
                command,
                env=_without_secrets(),
                stdin=body,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
            return _read_output(process, group, seconds, leaving)
        finally:
            group.end()


def _read_output(
    process: Popen[bytes], group: ChildGroup, seconds: float, leaving: Leaving
) -> bytes:
    import subprocess

    end = time.monotonic() + seconds
    while True:
        try:
            return process.communicate(timeout=_GLANCE_SECONDS)[0]
        except subprocess.TimeoutExpired:
            if leaving.has_left or time.monotonic() > end:
                group.kill()


def _without_secrets() -> dict[str, str]:
    return {name: os.environ[name] for name in _NEEDED if name in os.environ}
