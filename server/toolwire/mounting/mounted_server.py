"""One mounted server as the lists show it, whether it runs or not.

Strategy. Lists are taken over from the running server (`Mount`), and stay when it ends. A lock has
them before it is started for the first time. So the lists of a hundred servers need neither their
processes nor what starts these, which `open_mount` imports.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from toolwire_schemas.wire.messages import INVALID_PARAMS

from ..errors import UpstreamError
from ..idle_end import NEVER
from .mount_on_demand import MountOnDemand
from .mounted_entry import has_name, mount_entry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from concurrent.futures import Future

    from toolwire_dialects.compare.lock import Lock
    from toolwire_tools import Entry, Tool

    from ..protocol.call import Call
    from ..timers import Timers
    from .locking import LockedEntries, Refusal
    from .mount import Mount
    from .remembered_lists import RememberedLists

    Listed = dict[str, Any]
    OpenMount = Callable[["MountedServer"], Mount]


class ShownLists(msgspec.Struct, frozen=True):
    """What clients see of a server. *source* is whose lists these are: those of the lock, those of
    an earlier process, or those that the server itself has listed.
    """

    source: Literal["", "lock", "cache", "server"] = ""
    tools: Sequence[Tool] = ()
    """Everything that it offers, without what its lock refuses."""
    refused: Sequence[Refusal] = ()
    offered: frozenset[tuple[str, str]] = frozenset()
    """The kinds and names of *tools*, if the server has listed them."""
    capabilities: dict[str, Any] = {}
    """Those that it declared at its last start."""


class MountedServer:
    """The server called *name* in messages, whose names begin with *prefix*.

    *open_mount* returns a new `Mount` of it, which runs *call* and *take_lists*. *changed* is
    called, on any thread, when its lists differ from those shown. *lock* has its first lists, or
    else *remembered*. It ends when no call has used it for *idle_seconds*.
    """

    def __init__(
        self,
        name: str,
        prefix: str,
        open_mount: OpenMount,
        changed: Callable[[], None],
        timers: Timers,
        *,
        idle_seconds: float = NEVER,
        lock: LockedEntries | None = None,
        remembered: RememberedLists | None = None,
    ) -> None:
        self.name = name
        self.prefix = prefix
        self.title = f"the mounted server {name}"
        """What messages call it."""
        self.lock = lock
        self.shown = ShownLists()
        self.process = MountOnDemand(self.title, partial(open_mount, self), timers, idle_seconds)
        self._changed = changed
        self._remembered = remembered

    # Lists

    def show_remembered(self) -> None:
        """Offer what the server listed last time, if that is known, until it has started."""
        lists = None if self._remembered is None else self._remembered.load()
        if lists is not None:
            self.show("cache", lists)

    def show(self, source: Literal["lock", "cache"], lists: Mapping[Any, Sequence[Listed]]) -> None:
        """Offer the entries in *lists*, by kind, until the server has listed what it has."""
        tools = []
        for kind, entries in lists.items():
            for entry in entries:
                tools.append(mount_entry(self.prefix, self.call, kind, entry))
        self.shown = ShownLists(source, tools)

    def take_lists(self) -> None:
        """Offer what the running server lists, and report it if that differs."""
        mount = self.process.current
        if mount is None:  # it has ended since
            return
        lists = mount.lists.latest
        if self._remembered is not None:
            self._remembered.save(lists.tools)
        is_known = self.is_listed and _are_same(self.shown.tools, lists.tools)
        self.shown = ShownLists(
            "server",
            tools=self.shown.tools if is_known else lists.tools,
            refused=lists.refused,
            offered=frozenset((tool.kind, tool.name) for tool in lists.tools),
            capabilities=mount.client.capabilities,
        )
        if not is_known:
            self._changed()

    @property
    def is_listed(self) -> bool:
        """Whether its lists are known: from its lock or an earlier process, or since they were
        read.
        """
        return self.shown.source != ""

    @property
    def is_remembered(self) -> bool:
        """Whether the lists are those of an earlier process, so that it is to be started."""
        return self.shown.source == "cache"

    @property
    def patience_seconds(self) -> float:
        """How long a list waits for the start if the lists are remembered."""
        return 0.0 if self._remembered is None else self._remembered.patience_seconds

    @property
    def is_read(self) -> bool:
        """Whether the lists are those of a server that was started."""
        mount = self.process.current
        return mount is not None and mount.lists.latest.listed is not None

    @property
    def unread(self) -> list[str]:
        """Why lists could not be read the last time, in a sentence each."""
        mount = self.process.current
        return [] if mount is None else list(mount.lists.latest.unread.values())

    @property
    def reading(self) -> Future[None] | None:
        """The latest reading of its lists after a change."""
        mount = self.process.current
        return None if mount is None else mount.lists.rereading.latest

    @property
    def is_up_to_date(self) -> bool:
        """Whether a list waits for nothing of this server."""
        reading = self.reading
        is_known = self.is_listed and not self.is_remembered
        return is_known and (reading is None or reading.done())

    # Calls

    async def call(self, params: dict[str, Any], call: Call) -> dict[str, Any]:
        """Return the result of the request with *params*, for *call*; raises what `Mount.call`
        raises.

        Raises:
            UpstreamError: if the server that was started for it does not offer what was approved.
        """
        mount = self.process.begin_use()
        try:
            running = mount.start_for(call)
            self._check_offered(params, call.entry)
            return await mount.send(running, params, call)
        finally:
            self.process.end_use()

    def _check_offered(self, params: dict[str, Any], entry: Entry) -> None:
        """Raise an `UpstreamError` if the lock refuses *entry*, or the server has it no more.

        The lists that the caller knows may be those of the lock.
        """
        if self.lock is None:
            return
        is_named = has_name(entry.kind)
        # The host may know it by another name.
        name = self._add_prefix(params["name"]) if is_named else entry.name
        for refusal in self.shown.refused:
            if (refusal.kind, refusal.name) == (entry.kind, name):
                raise UpstreamError(INVALID_PARAMS, refusal.why)
        if is_named and (entry.kind, name) not in self.shown.offered:
            raise UpstreamError(
                INVALID_PARAMS,
                f"{name} is in the lock, but {self.title} does not offer it any more",
            )

    def _add_prefix(self, name: str) -> str:
        return f"{self.prefix}_{name}" if self.prefix else name


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
