"""A server whose start waits for a file, in a folder with a list cache of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.server_process import MODERN, Process, filtered_environment, request, running

INITIALIZED = request("notifications/initialized", id=...)
LIST = request("tools/list", id="list")
MODERN_LIST = request("tools/list", {"_meta": MODERN}, id="list")


class GatedFolder:
    """A folder for servers that start as soon as there is a file called gate."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.importing = folder / "importing"
        """Is there when a start waits for the gate."""
        self._gate = folder / "gate"
        self._caches = folder / "caches"

    @contextmanager
    def run(self, *words: str, **variables: str) -> Iterator[Process]:
        """Run `toolwire` with *words*; its server waits from now on."""
        self._gate.unlink(missing_ok=True)
        self.importing.unlink(missing_ok=True)
        env = {**filtered_environment(), "XDG_CACHE_HOME": str(self._caches), **variables}
        with running("-m", "toolwire", *words, env=env, cwd=self.folder) as process:
            yield process

    def open_gate(self) -> None:
        """Let the server start."""
        self._gate.touch()

    def files(self) -> list[Path]:
        """Return the files of cached lists."""
        return [path for path in self._caches.rglob("*") if path.is_file()]


def tool_names(response: Any) -> list[str]:
    """Return the names that a response to `tools/list` has."""
    return [tool["name"] for tool in response["result"]["tools"]]


def listen_for_changes(process: Process) -> None:
    """Subscribe to changes of the tool list, as a modern client does."""
    listen = {"notifications": {"toolsListChanged": True}, "_meta": MODERN}
    acknowledged = process.ask(request("subscriptions/listen", listen, id="listen"))
    assert acknowledged["method"] == "notifications/subscriptions/acknowledged"


def check_change(process: Process, listing: Any, *names: str) -> None:
    """Check that the client is notified, and that *listing* gives *names* from then on."""
    assert process.receive()["method"] == "notifications/tools/list_changed"
    assert tool_names(process.ask(listing)) == [*names]
