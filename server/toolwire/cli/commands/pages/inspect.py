"""`toolwire inspect`: opens a local page to try a server, watch its traffic, check it, or look at a recorded run."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from toolwire_schemas.install_command import install_command

from ....errors import Failed, UsageError
from ...open_client import command_of
from ...options import LOADING, Option
from ...output import say
from .. import Command

if TYPE_CHECKING:
    import socket
    from collections.abc import Awaitable, Callable

    from ....inspect.app import Page
    from ....inspect.session import InspectedServer
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
    options=(
        *LOADING,
        Option("--port NUMBER", "port of the page (default: any free one)"),
        Option("--no-browser", "print the address, but open no browser"),
    ),
    examples=(
        "toolwire inspect tools.py",
        "toolwire inspect -- npx -y some-mcp-server",
        "toolwire inspect recording.jsonl",
    ),
)


def run(words: Words) -> int:
    """Serve the page until Ctrl-C."""
    need_extra()
    names = words.words
    if words.command is None and len(names) == 1 and names[0].endswith(".jsonl"):
        return _show_file(names[0], words.options)
    command = command_of(words, names)
    target = names[0] if len(names) == 1 and words.command is None else None
    title = target or " ".join(names or command)
    from ....inspect.traffic import Feed

    page, listener = opened(Feed(), words.options, title, ["tools", "traffic", "check"], command=command, target=target)

    async def inspect() -> None:
        import anyio

        def session() -> InspectedServer:  # its imports would delay the page
            from ....inspect.session import InspectedServer

            return InspectedServer(command, page.feed, is_ours=words.command is None)

        page.server = server = await anyio.to_thread.run_sync(session)
        await server.run()

    return _until_ctrl_c(page, listener, inspect)


def need_extra() -> None:
    """Raise `Failed` unless what the page needs is installed."""
    if missing := [name for name in ("uvicorn", "markdown_it") if find_spec(name) is None]:
        wanted = install_command("toolwire[inspect]")
        raise Failed(f"the page needs packages that are not installed ({', '.join(missing)}): {wanted}", 2)


def opened(
    feed: Feed, options: dict[str, Any], title: str, views: list[str], **facts: Any
) -> tuple[Page, socket.socket]:
    """Return a page that shows *feed*, and where it listens; tell the user its address."""
    from ....inspect import serving
    from ....inspect.app import Page
    from ....inspect.guard import Guard

    port = options.get("port", 0)
    try:
        listener = serving.listening(port)
    except (OSError, OverflowError) as error:
        problem = getattr(error, "strerror", None) or "a port is at most 65535"
        raise UsageError(f"port {port} cannot be used: {problem.lower()}") from None
    guard = Guard(listener.getsockname()[1])
    say(f"Open {guard.url} (Ctrl-C ends it)")
    if "no_browser" not in options:
        serving.open_browser(guard.url_once)
    return Page(guard, feed, {"title": title, "command": None, "target": None, "views": views, **facts}), listener


def _until_ctrl_c(page: Page, listener: socket.socket, work: Callable[[], Awaitable[object]]) -> int:
    import anyio
    from toolwire_client.waiting.main_thread import MainThread

    from ....inspect import serving

    ending: list[Callable[[], object]] = []

    def end() -> None:
        for cancel in ending:
            cancel()
        ending.append(int)

    async def serve() -> int:
        async with serving.served(page, listener):
            with anyio.CancelScope() as scope:
                if not ending:
                    ending.append(scope.cancel)
                    await work()
        return _CTRL_C

    return MainThread(end, end).run(serve)


_CTRL_C = 130


def _show_file(name: str, options: dict[str, Any]) -> int:
    from toolwire_client.agent.transcript import BrokenTranscript

    from ....inspect.files import recording, transcript
    from ....wrapping.recording import BadRecording

    try:
        feed, view = recording(name), "traffic"
    except BadRecording as problem:
        try:
            feed, view = transcript(name), "run"
        except BrokenTranscript as error:
            raise UsageError(f"{name} is no recording ({problem}) and no transcript ({error})") from None
    page, listener = opened(feed, options, name, [view])
    import anyio

    return _until_ctrl_c(page, listener, anyio.sleep_forever)
