"""One mounted server as the lists show it, whether it runs or not.

Strategy. Lists are taken over from the running server (`Mount`), and stay when it ends. A lock has
them before it is started for the first time. So the lists of a hundred servers need neither their
processes nor what starts these, which `open_mount` imports.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from toolwire_schemas.wire.messages import INVALID_PARAMS

from .. import log
from ..errors import UpstreamError
from .foreign_stderr import ForeignStderr
from .mounted_entry import mount_entry
from .remembered_lists import load_lists, save_lists

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future

    from toolwire_client.async_client import Running
    from toolwire_client.errors import ClientError
    from toolwire_dialects.compare.lock import Lock
    from toolwire_tools import Entry, Tool

    from ..protocol.call import Call
    from ..protocol.lifecycle import Capabilities
    from ..timers import Timers
    from .locking import LockedEntries, Refusal
    from .mount import Mount
    from .mounted_entry import Response

    Listed = dict[str, Any]
    OpenMount = Callable[["MountedServer"], Mount]


CACHE_PATIENCE_SECONDS = 1.0
"""How long a list waits for a server of which it is known what it listed last time."""


class IdleLimit:
    """Ends servers that no call has used for this number of *seconds*."""

    def __init__(self, seconds: float, timers: Timers) -> None:
        self.seconds = seconds
        self.timers = timers


class MountedServer:
    """The server called *name* in messages, whose names begin with *prefix*.

    *open_mount* returns a new `Mount` of it, which runs *call* and *take_lists*. *changed* is
    called, on any thread, when its lists differ from those shown. *lock* has its first lists.
    """

    def __init__(
        self,
        name: str,
        prefix: str,
        open_mount: OpenMount,
        changed: Callable[[], None],
        lock: LockedEntries | None = None,
        idle: IdleLimit | None = None,
    ) -> None:
        self.name = name
        self.prefix = prefix
        self.title = f"the mounted server {name}"
        """What messages call it."""
        self.lock = lock
        self.stderr = ForeignStderr(name)
        """One for all starts: a server that ends again and again has one limit, too."""
        self.tools: list[Tool] = []
        """Everything that it offers, without what its lock refuses."""
        self.refused: list[Refusal] = []
        self.is_listed = False
        """Whether its lists are known: from its lock, or since they were read."""
        self.is_remembered = False
        """Whether the lists are those of an earlier process, so that it is to be started."""
        self.patience_seconds = CACHE_PATIENCE_SECONDS
        """How long a list waits for the start if the lists are remembered."""
        self._list_key = ""
        self.capabilities: dict[str, Any] = {}
        """The capabilities that it declared at its last start."""
        self._open_mount = open_mount
        self._changed = changed
        self._idle = idle
        self._lock = threading.Lock()
        self._mount: Mount | None = None
        self._closing: Future[None] | None = None
        """The end of an idle process, which the next start waits for."""
        self._is_closed = False
        self._calls = 0
        self._last_used = 0.0
        self._is_end_planned = False
        self._offered: set[tuple[str, str]] = set()
        """The entries of its last lists, without those that its lock refuses, by kind and name."""

    # Lists

    def remember(self, key: str) -> None:
        """Offer what the server listed last time, kept under *key*, until it has started; and keep
        what it lists then.
        """
        self._list_key = key
        lists = load_lists(key) if key else None
        if lists is not None:
            self.show(lists)
            self.is_remembered = True

    def show(self, lists: Mapping[Any, Sequence[Listed]]) -> None:
        """Offer the entries in *lists*, by kind, until the server has listed what it has."""
        tools = []
        for kind, entries in lists.items():
            for entry in entries:
                tools.append(mount_entry(self.prefix, self.call, kind, entry))
        self.tools = tools
        self.is_listed = True

    def take_lists(self) -> None:
        """Offer what the running server lists, and report it if that differs."""
        mount = self._mount
        if mount is None:  # it has ended since
            return
        lists = mount.lists
        self._offered = {(tool.kind, tool.name) for tool in lists.tools}
        self.refused = lists.refused
        self.capabilities = mount.client.capabilities
        self.is_remembered = False
        if self._list_key:
            save_lists(self._list_key, lists.tools)
        if self.is_listed and _are_same(self.tools, lists.tools):
            return
        self.tools = lists.tools
        self.is_listed = True
        self._changed()

    @property
    def is_read(self) -> bool:
        """Whether the lists are those of a server that was started."""
        return self._mount is not None and self._mount.lists.listed is not None

    @property
    def unread(self) -> list[str]:
        """Why lists could not be read the last time, in a sentence each."""
        return [] if self._mount is None else list(self._mount.lists.unread.values())

    @property
    def reading(self) -> Future[None] | None:
        """The latest reading of its lists after a change."""
        return None if self._mount is None else self._mount.lists.reading

    @property
    def is_up_to_date(self) -> bool:
        """Whether a list waits for nothing of this server."""
        reading = self.reading
        is_known = self.is_listed and not self.is_remembered
        return is_known and (reading is None or reading.done())

    # The process

    @property
    def is_resting(self) -> bool:
        """Whether it has ended so often, and so recently, that no call waits for the next start."""
        return self._mount is not None and self._mount.is_resting

    @property
    def end(self) -> ClientError | None:
        """Why the server does not run; `None` if it does, or was never started."""
        return None if self._mount is None else self._mount.client.end

    def start(self, capabilities: Capabilities | None = None) -> Future[Running]:
        """Start the server, unless it runs or that is under way, and read its lists; as
        `Mount.start`.
        """
        with self._lock:
            mount = self._provide_mount()
            starting = mount.start() if capabilities is None else mount.start(capabilities)
            self._plan_end()
        return starting

    def notify(self, method: str) -> None:
        """As `Mount.notify`."""
        mount = self._mount
        if mount is not None:
            mount.notify(method)

    def close(self) -> None:
        """End the server, for good."""
        with self._lock:
            self._is_closed = True
            mount = self._mount
        if mount is not None:
            mount.close()

    @property
    def is_ending(self) -> bool:
        """Whether an idle process is to end, and still runs."""
        return self._closing is not None and not self._closing.done()

    def wait_for_end(self) -> None:
        """Wait until an idle process, if there was one, has ended: two at once could disagree."""
        closing = self._closing
        if closing is not None:
            closing.exception()

    def _provide_mount(self) -> Mount:
        if self._mount is None:
            self._mount = self._open_mount(self)
            if self._is_closed:
                self._mount.close()
        return self._mount

    # Calls

    async def call(self, params: dict[str, Any], call: Call) -> dict[str, Any]:
        """Return the result of the request with *params*, for *call*; raises what `Mount.call`
        raises.

        Raises:
            UpstreamError: if the server that was started for it does not offer what was approved.
        """
        if self._idle is None:
            return await self._send(self._mount or self._open(), params, call)
        with self._lock:
            self._calls += 1
            mount = self._provide_mount()
        try:
            return await self._send(mount, params, call)
        finally:
            with self._lock:
                self._calls -= 1
                self._plan_end()

    def _open(self) -> Mount:
        with self._lock:
            return self._provide_mount()

    def _send(self, mount: Mount, params: dict[str, Any], call: Call) -> Response:
        running = mount.start_for(call)
        self._check_offered(params, call.entry)
        return mount.send(running, params, call)

    def _check_offered(self, params: dict[str, Any], entry: Entry) -> None:
        """Raise an `UpstreamError` if the lock refuses *entry*, or the server has it no more.

        The lists that the caller knows may be those of the lock.
        """
        if self.lock is None:
            return
        is_named = entry.kind in ("tools", "prompts")
        # The host may know it by another name.
        name = self._add_prefix(params["name"]) if is_named else entry.name
        for refusal in self.refused:
            if (refusal.kind, refusal.name) == (entry.kind, name):
                raise UpstreamError(INVALID_PARAMS, refusal.why)
        if is_named and (entry.kind, name) not in self._offered:
            raise UpstreamError(
                INVALID_PARAMS,
                f"{name} is in the lock, but {self.title} does not offer it any more",
            )

    def _add_prefix(self, name: str) -> str:
        return f"{self.prefix}_{name}" if self.prefix else name

    # Idle servers

    def _plan_end(self) -> None:
        if self._idle is None or self._calls:
            return
        self._last_used = time.monotonic()
        if not self._is_end_planned:
            self._is_end_planned = True
            self._idle.timers.after(self._idle.seconds, self._end_if_idle)

    def _end_if_idle(self) -> None:
        from toolwire_client.waiting.base import run_in_daemon_thread

        if self._idle is None:
            return
        with self._lock:
            self._is_end_planned = False
            mount = self._mount
            if mount is None or self._calls or self._is_closed:
                return
            left = self._last_used + self._idle.seconds - time.monotonic()
            if mount.running is None:  # it is being started, for a list, or did not start
                left = self._idle.seconds
            if left > 0:
                self._is_end_planned = True
                self._idle.timers.after(left, self._end_if_idle)
                return
            # The next one has no pauses before a restart: this one has not failed.
            self._mount = None
            self._closing = run_in_daemon_thread(mount.close)
        log.info(f"{self.title} ends: no call for {self._idle.seconds:g} seconds")


def _are_same(shown: Sequence[Tool], tools: Sequence[Tool]) -> bool:
    """Return whether the entries of both are the same, in any order."""
    from toolwire_dialects.compare.lock import BadLock

    try:
        return _make_canonical(shown) == _make_canonical(tools)
    except BadLock:  # two of one name, or nested too deeply
        return False


def _make_canonical(tools: Sequence[Tool]) -> Lock:
    """Return the entries of *tools* in the form in which a lock has them."""
    from toolwire_dialects.compare.lock import KEYS, Offer, lock_offer

    entries: dict[Any, list[Any]] = {kind: [] for kind in KEYS}
    for tool in tools:
        entries[tool.kind].append(tool.describe())
    return lock_offer(Offer(entries))
