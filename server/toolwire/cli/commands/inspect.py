"""`toolwire inspect`: opens a local page to try a server, watch its traffic, check it, or look at a
recorded run.
"""

from __future__ import annotations

import math
import os
import shutil
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ...errors import UsageError
from ..local_page import OPTIONS, local_page
from ..open_client import command_of, loading_words
from ..options import LOADING
from . import Command

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...inspect.traffic import Feed
    from ..options import Words

COMMAND = Command(
    usage=(
        "toolwire inspect TARGET... [OPTIONS]",
        "toolwire inspect [OPTIONS] -- COMMAND",
        "toolwire inspect FILE.jsonl [OPTIONS]",
    ),
    details=(
        "Opens a page in the browser, served to this machine only, at an address that is printed:"
        " call tools with a form, read all messages, check the server. FILE.jsonl is a recording of"
        " `wrap --record`, or a transcript of `ask --transcript`. The page loads nothing from"
        " elsewhere. Ctrl-C ends it, and the server."
    ),
    options=(*LOADING, *OPTIONS),
    examples=(
        "toolwire inspect tools.py",
        "toolwire inspect -- npx -y some-mcp-server",
        "toolwire inspect recording.jsonl",
    ),
)


def run(words: Words) -> int:
    """Serve the page until Ctrl-C."""
    import anyio
    from toolwire_client.waiting.main_thread import MainThread

    from ...inspect.traffic import Feed

    names, is_ours, feed, state = words.words, words.command is None, Feed(), dict[str, Any]()
    is_plain = (
        is_ours and len(names) == 1 and not loading_words(words.options)
    )  # so that its name says it all
    if is_plain and names[0].endswith(".jsonl"):
        feed = Feed(math.inf, math.inf)  # all of it is in memory already
        state = {"title": names[0], "views": [_read(names[0], feed)], "status": "ended"}
    else:
        command = command_of(words, names)
        _need_files(names) if is_ours else _need_program(command[0])
        state = {"title": " ".join(names or command), "views": ["tools", "traffic", "check"]}
        state |= {"command": command, "target": names[0] if is_plain else None}
    ended = anyio.Event()

    async def serve() -> int:
        async with (
            local_page(feed, words.options, **state) as page,
            anyio.create_task_group() as tasks,
        ):
            if page.state["command"]:
                # In a thread, since its imports would delay the page.
                session = await anyio.to_thread.run_sync(import_module, "toolwire.inspect.session")
                page.server = session.InspectedServer(
                    feed, page.state, "modern" if is_ours else "auto"
                )
                tasks.start_soon(page.server.run)
            await ended.wait()
            tasks.cancel_scope.cancel()
        return 130

    return MainThread(ended.set, ended.set).run(serve)


def _need_files(targets: Sequence[str]) -> None:
    """Refuse files that do not exist, before a page opens that has nothing to show."""
    from ...loading.not_found import explain_missing_file
    from ...loading.targets import parse

    for target in map(parse, targets):
        if target.is_path and not os.path.exists(target.place):
            raise UsageError(explain_missing_file(target.place))


def _need_program(name: str) -> None:
    if shutil.which(name) is None:
        raise UsageError(f"cannot start {name!r}: no such program, or it may not be run")


def _read(name: str, feed: Feed) -> str:
    """Add the events in the file *name* to *feed*, and return the view that shows them."""
    from toolwire_agent.agent.transcript import BrokenTranscript, load
    from toolwire_agent.run_page import event_html

    from ...wrapping.recording import BadRecording, read

    try:
        for _, entry in read(name):
            feed.add("message", entry=entry)
    except BadRecording as problem:
        try:
            events = load(name)
        except BrokenTranscript as error:
            raise UsageError(
                f"{name} is no recording ({problem}) and no transcript ({error})"
            ) from None
        for html in filter(None, map(event_html, events, [None, *events])):
            feed.add("run", html=html)
        return "run"
    return "traffic"
