"""`toolwire inspect`: opens a local page to try a server, watch its traffic, check it, or look at a recorded run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ....errors import UsageError
from ...local_page import OPTIONS, LocalPage
from ...open_client import command_of, loading_words
from ...options import LOADING
from .. import Command

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    import anyio

    from ....inspect.traffic import Feed
    from ...options import Words

COMMAND = Command(
    usage=(
        "toolwire inspect TARGET... [OPTIONS]",
        "toolwire inspect [OPTIONS] -- COMMAND",
        "toolwire inspect FILE.jsonl [OPTIONS]",
    ),
    details="Opens a page in the browser, served to this machine only, at an address that is printed: call tools with "
    "a form, read all messages, check the server. FILE.jsonl is a recording of `wrap --record`, or a transcript of "
    "`ask --transcript`. The page loads nothing from elsewhere. Ctrl-C ends it, and the server.",
    options=(*LOADING, *OPTIONS),
    examples=(
        "toolwire inspect tools.py",
        "toolwire inspect -- npx -y some-mcp-server",
        "toolwire inspect recording.jsonl",
    ),
)


def run(words: Words) -> int:
    """Serve the page until Ctrl-C."""
    from ....inspect.traffic import Feed

    names, is_ours = words.words, words.command is None
    if is_ours and len(names) == 1 and names[0].endswith(".jsonl"):
        feed = Feed(math.inf, math.inf)  # all of it is in memory already
        return _until_ctrl_c(
            LocalPage(feed, words.options, title=names[0], views=[_read(names[0], feed)], status="ended")
        )
    command = command_of(words, names)
    is_plain = is_ours and len(names) == 1 and not loading_words(words.options)  # so that its name says it all
    target = names[0] if is_plain else None
    facts: dict[str, Any] = {"title": " ".join(names or command), "command": command, "target": target}
    page = LocalPage(Feed(), words.options, views=["tools", "traffic", "check"], **facts)

    async def work() -> None:
        from importlib import import_module

        import anyio

        # In a thread, since its imports would delay the page.
        session = await anyio.to_thread.run_sync(import_module, "toolwire.inspect.session")
        page.app.server = server = session.InspectedServer(command, target, page.app.feed, is_ours=is_ours)
        await server.run()

    return _until_ctrl_c(page, work)


def _read(name: str, feed: Feed) -> str:
    """Add the events in the file *name* to *feed*, and return the view that shows them."""
    import msgspec
    from toolwire_client.agent.transcript import BrokenTranscript, load
    from toolwire_client.pages.run_page import event_html

    from ....wrapping.recording import BadRecording, read

    try:
        for _, entry in read(name):
            feed.add("message", msgspec.json.encode(entry))
    except BadRecording as problem:
        try:
            events = load(name)
        except BrokenTranscript as error:
            raise UsageError(f"{name} is no recording ({problem}) and no transcript ({error})") from None
        for before, event in zip([None, *events], events, strict=False):
            if html := event_html(event, before):
                feed.add("run", html=html)
        return "run"
    return "traffic"


def _until_ctrl_c(page: LocalPage, work: Callable[[], Awaitable[object]] | None = None) -> int:
    from toolwire_client.waiting.main_thread import MainThread

    scopes: list[anyio.CancelScope] = []

    async def serve() -> int:
        import anyio

        async with page.served():
            with anyio.CancelScope() as scope:
                scopes.append(scope)
                await (work or anyio.sleep_forever)()
        return 130

    def end() -> None:
        for scope in scopes:
            scope.cancel()

    return MainThread(end, end).run(serve)
