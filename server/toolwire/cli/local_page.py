"""Serves a page to the browser of this machine, while a command runs."""

from __future__ import annotations

import os
import socket
import sys
import threading
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ..errors import Failed, UsageError
from .options import Option
from .output import say

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from ..inspect.traffic import Feed

OPTIONS = (
    Option("--port NUMBER", "port of the page (default: any free one)"),
    Option("--no-browser", "print the address of the page, but open no browser"),
)


class LocalPage:
    """A page that shows *feed*; *tell* gets its address at once. *facts* are members of its state.

    Raises:
        Failed: if the extra is not installed.
        UsageError: if the port is not free.
    """

    def __init__(self, feed: Feed, options: dict[str, Any], tell: Callable[[str], object] = say, **facts: Any) -> None:
        if missing := [name for name in ("uvicorn", "markdown_it") if find_spec(name) is None]:
            from toolwire_schemas.install_command import install_command

            raise Failed(f"the page needs {' and '.join(missing)}: {install_command('toolwire[inspect]')}", 2)
        from ..inspect.app import Page
        from ..inspect.guard import Guard

        self._listener, port = socket.socket(), options.get("port", 0)
        if os.name == "posix":  # elsewhere it would let two programs have one port
            self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._listener.bind(("127.0.0.1", port))
        except (OSError, OverflowError) as error:
            self._listener.close()
            problem = getattr(error, "strerror", None) or "the last is 65535"
            raise UsageError(f"port {port} cannot be used: {problem.lower()}") from None
        self._listener.listen(128)  # a browser may connect from here on
        guard = Guard(self._listener.getsockname()[1])
        self.app = Page(guard, feed, **{"command": None, "target": None, **facts})
        tell(f"Open {guard.url} (Ctrl-C ends it)")
        sys.stdout.flush()
        # A browser in the terminal would take that over.
        has_screen = not sys.platform.startswith("linux") or {"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys()
        if "no_browser" not in options and has_screen:
            import webbrowser

            threading.Thread(target=webbrowser.open, args=(guard.url_once,), daemon=True).start()

    @asynccontextmanager
    async def served(self) -> AsyncIterator[None]:
        """Serve it within the block. Not for the main thread, where uvicorn would handle signals."""
        import anyio
        import uvicorn

        quiet: dict[str, Any] = {"log_config": None, "log_level": "error", "access_log": False, "server_header": False}
        parts: dict[str, Any] = {"http": "h11", "ws": "none", "lifespan": "off", "proxy_headers": False}
        # A browser that does not read may delay the end by a second.
        server = uvicorn.Server(uvicorn.Config(self.app, timeout_graceful_shutdown=1, **quiet, **parts))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.serve, [self._listener])
            try:
                yield
            finally:
                self.app.close()
                server.should_exit = True
