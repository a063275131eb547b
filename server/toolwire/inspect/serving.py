"""Serves a page on a port of this machine."""

from __future__ import annotations

import os
import socket
import sys
import threading
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from .app import Page

_END_SECONDS = 1
"""How long a browser that does not read may delay the end."""


def listening(port: int) -> socket.socket:
    """Return a socket that listens on *port* of this machine, any free one if 0. Raises `OSError`."""
    listener = socket.socket()
    if os.name == "posix":  # elsewhere it would let two programs have one port
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
        listener.listen(128)  # a browser may connect from here on
    except OSError:
        listener.close()
        raise
    return listener


def open_browser(url: str) -> None:
    """Show *url* in a graphical browser, if there is one; a browser in the terminal would take that over."""
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return
    import webbrowser

    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()


@asynccontextmanager
async def served(page: Page, listener: socket.socket) -> AsyncIterator[None]:
    """Serve *page* within the block. Not in the main thread, where uvicorn would handle signals."""
    import anyio
    import uvicorn

    config = uvicorn.Config(
        page,
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=_END_SECONDS,
    )
    server = uvicorn.Server(config)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.serve, [listener])
        try:
            yield
        finally:
            page.close()
            server.should_exit = True
