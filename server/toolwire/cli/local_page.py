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
    if missing := [
        name for name in ("markdown_it", "starlette", "uvicorn") if find_spec(name) is None
    ]:
        from toolwire_schemas.install_command import install_command

        raise Failed(
            f"the page needs {' and '.join(missing)}: {install_command('toolwire[inspect]')}", 2
        )
    import asyncio

    import uvicorn

    from ..inspect.app import Page
    from ..inspect.listener import PageProtocol

    port = options.get("port", 0)
    if port > 65535:
        raise UsageError(f"port {port} cannot be used: the last is 65535")
    try:
        listener = socket.create_server(("127.0.0.1", port), backlog=128)
    except OSError as error:
        raise UsageError(
            f"port {port} cannot be used: {os.strerror(error.errno or 0).lower()}"
        ) from None
    page = Page(listener.getsockname()[1], feed, state)
    tell(say("Open {url} (Ctrl-C ends it)", url=page.guard.url))
    sys.stdout.flush()
    opened = ExitStack()
    if "no_browser" not in options and has_screen():
        opened.enter_context(open_privately(page.guard.url_once))
    quiet: dict[str, Any] = {
        "log_config": None,
        "log_level": "error",
        "access_log": False,
        "server_header": False,
    }
    parts: dict[str, Any] = {
        "http": PageProtocol,
        "ws": "none",
        "lifespan": "off",
        "proxy_headers": False,
    }
    # A browser that does not read may delay the end by a second.
    server = uvicorn.Server(
        uvicorn.Config(page, timeout_graceful_shutdown=1, backlog=16, **quiet, **parts)
    )
    serving = asyncio.ensure_future(
        server.serve([listener])
    )  # a task group would wrap the errors of the block
    try:
        yield page
    finally:
        feed.close()
        logging.getLogger(
            "uvicorn.error"
        ).disabled = True  # a response that it cuts off now is no error
        server.should_exit = True
        await serving
        opened.close()
