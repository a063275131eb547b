"""Serves a page to the browser of this machine, while a command runs."""

from __future__ import annotations

import logging
import os
import socket
import sys
from contextlib import ExitStack, asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from toolwire_schemas.language import say

from ..errors import Failed, UsageError
from .browser import has_screen, open_privately
from .options import Option
from .printing.terminal import print_data

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from ..inspect.app import Page
    from ..inspect.traffic import Feed

_NEEDED = ("markdown_it", "starlette", "uvicorn")
_MAX_PORT = 65535

OPTIONS = (
    Option("--port NUMBER", "port of the page (default: any free one)"),
    Option("--no-browser", "print the address of the page, but open no browser"),
)


@asynccontextmanager
async def local_page(
    feed: Feed, options: dict[str, Any], tell: Callable[[str], object] = print_data, **state: Any
) -> AsyncIterator[Page]:
    """Serve a page that shows *feed* and *state* within the block, and *tell* its address.

    Not for the main thread, where uvicorn would handle signals.

    Raises:
        Failed: if the extra is not installed.
        UsageError: if the port is not free.
    """
    _check_installed()
    from ..inspect.app import Page

    listener = _open_port(options.get("port", 0))
    page = Page(listener.getsockname()[1], feed, state)
    tell(say("Open {url} (Ctrl-C ends it)", url=page.guard.url))
    sys.stdout.flush()
    with ExitStack() as opened:
        if "no_browser" not in options and has_screen():
            opened.enter_context(open_privately(page.guard.url_once))
        async with _serve(page, listener):
            try:
                yield page
            finally:
                feed.close()


def _check_installed() -> None:
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        from toolwire_schemas.install_command import install_command

        how = install_command("toolwire[inspect]")
        raise Failed(f"the page needs {' and '.join(missing)}: {how}", 2)


def _open_port(port: int) -> socket.socket:
    if port > _MAX_PORT:
        raise UsageError(f"port {port} cannot be used: the last is {_MAX_PORT}")
    try:
        return socket.create_server(("127.0.0.1", port), backlog=128)
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise UsageError(f"port {port} cannot be used: {reason}") from None


@asynccontextmanager
async def _serve(page: Page, listener: socket.socket) -> AsyncIterator[None]:
    """Serve *page* within the block."""
    import asyncio

    import uvicorn

    from ..inspect.listener import PageProtocol

    config = uvicorn.Config(
        page,
        http=PageProtocol,
        ws="none",
        lifespan="off",
        backlog=16,
        log_config=None,
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=1,  # a browser that does not read delays the end by that much
    )
    server = uvicorn.Server(config)
    # A task group would wrap the errors of the block.
    serving = asyncio.ensure_future(server.serve([listener]))
    try:
        yield
    finally:
        # A response that it cuts off now is no error.
        logging.getLogger("uvicorn.error").disabled = True
        server.should_exit = True
        await serving
