"""The wrapped server: how it is started again and again, and what it lists.

Strategy. It is a mount without a prefix that gets the identity and the capabilities of the host, as
if the host had started it. The host's first message decides in which era that is.
"""

from __future__ import annotations

import os
import shlex
import textwrap
from collections import Counter
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from toolwire_client.async_client import OWN_NAME, ClientSettings
from toolwire_client.errors import BrokenRules, RequestFailed
from toolwire_client.protocol.tasks import has_tasks
from toolwire_client.remote import as_process
from toolwire_client.transport.child_process import ServerProcess
from toolwire_schemas.output import make_printable
from toolwire_schemas.wire.messages import DEFAULT_MAX_MESSAGE_BYTES

from .. import log
from ..guarded_process import GuardedProcess, start_guarded
from ..mounting.foreign_stderr import ForeignStderr
from ..mounting.mount import Mount
from ..protocol.catalog import Catalog
from .entry_rules import RepairedEntries, UnchangedTools
from .host_rules import fix_tools, offer_tasks
from .recording import Recorder
from .routes import FIRST_ID

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from toolwire_client.async_client import Running
    from toolwire_client.errors import ServerGone
    from toolwire_client.session.connection import TakeFrame
    from toolwire_client.session.handshake import Era, HandshakeResult
    from toolwire_client.transport.base import Transport
    from toolwire_tools import Tool

    from ..mounting.listed_entries import EntryRules
    from ..mounting.locking import LockedEntries
    from ..protocol.lifecycle import Capabilities
    from ..protocol.unlisted_tools import CallToolDoor
    from ..showing.tool_search import ToolSearch
    from .host_side import HostDeclaration
    from .recording import Recording


class WrapSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What to wrap, and how.

    *host* is one of `DIALECTS_OF`, and *without* names the `FIXES` that are switched off. *lock*
    refuses tools, *recording* gets the traffic with the server, and *search* chooses which tools
    its list shows; `None` for all. *list_cache* is when lists of the last start may answer, and
    *options* are those of the command line. *launch* returns a transport to the server if it is
    one of a shared process. A message of the server has at most *max_message_bytes*. If the server
    has no tasks, *offers_tasks* lets its tools be tasks of the wrap for hosts that ask for them.
    """

    command: Sequence[str]
    host: str
    without: Collection[str] = ()
    lock: LockedEntries | None = None
    recording: Recording | None = None
    search: ToolSearch | None = None
    list_cache: Literal["late", "always", "never"] = "never"
    options: dict[str, Any] = {}
    launch: Callable[[], Transport] | None = None
    max_message_bytes: int = DEFAULT_MAX_MESSAGE_BYTES
    offers_tasks: bool = False


def shorten_command(command: Sequence[str]) -> str:
    """Return *command* as messages show it."""
    return textwrap.shorten(shlex.join(command), 80, placeholder=" …")


def start_foreign(settings: WrapSettings) -> ServerProcess:
    """Start the process of the server; its stderr goes to ours.

    Raises:
        NotStarted: if it cannot be started.
    """
    start = ServerProcess if "orphans" in settings.without else start_guarded
    stderr = ForeignStderr(shorten_command(settings.command))
    command = as_process(list(settings.command))
    return start(command, env=dict(os.environ), show_stderr=stderr)


class WrappedCatalog(Catalog):
    """The *tools* of a server with the capabilities *theirs*, which a host gets too: messages about
    those that are unknown here pass.
    """

    def __init__(
        self,
        tools: Iterable[Tool],
        theirs: Capabilities,
        *,
        hidden: Iterable[Tool] = (),
        door: CallToolDoor | None = None,
    ) -> None:
        super().__init__(tools, hidden=hidden, door=door)
        self._theirs = theirs

    def describe_capabilities(self, keeps_results: bool) -> Capabilities:
        """As `Catalog.capabilities`."""
        declared: Capabilities = {}
        for name, members in self._theirs.items():
            if isinstance(members, dict):
                declared[name] = members
        for name, members in super().describe_capabilities(keeps_results).items():
            if name == "resources":  # results that were too large: they never change
                members = {"listChanged": True}
            declared[name] = {**declared.get(name, {}), **members}
        return declared


class WrappedServer:
    """The server of *settings*. Starting it is left to `connect`, and after a crash to its calls.

    *take_frame* gets its messages first, as in `ClientSettings`. *on_change* is called when its
    lists were read and differ, *on_end* when its process has ended.
    """

    def __init__(
        self,
        settings: WrapSettings,
        *,
        take_frame: TakeFrame,
        on_change: Callable[[], None],
        on_end: Callable[[ServerGone], None],
    ) -> None:
        self.counts: Counter[str] = Counter()
        """How often each of `COUNTED` was done."""
        self._settings = settings
        self._on_end = on_end
        self._process: ServerProcess | None = None
        self.name = shorten_command(settings.command)
        rules: EntryRules = RepairedEntries(self.name)
        if "schemas" in settings.without:
            rules = UnchangedTools(self.name, self.counts)
        self._mount = Mount(
            self.name,
            "",
            ClientSettings(
                launch=self._launch,
                take_frame=take_frame,
                first_request_id=FIRST_ID,
                log_level=None,
                max_message_bytes=settings.max_message_bytes,
            ),
            on_change,
            list,
            settings.lock,
            kind="wrapped",
            rules=rules,
            on_output=self._move_noise,
        )
        self.close = self._mount.close

    @property
    def running(self) -> Running | None:
        """What runs, or ran last; `None` before the first start."""
        return self._mount.running

    def connect(self, host: HostDeclaration) -> HandshakeResult:
        """Wait until the server runs for *host*, in the era of the host if possible.

        Raises:
            ClientError: if it does not start in any era.
        """
        eras = self._list_eras(host)
        for era in eras[:-1]:
            try:
                return self._connect(host, era)
            except (RequestFailed, BrokenRules):
                continue
        return self._connect(host, eras[-1])

    def _list_eras(self, host: HostDeclaration) -> tuple[Era, ...]:
        """Return the eras to try, in this order."""
        if self.running is not None:  # the one that it spoke before
            return (self._mount.client.settings.era,)
        if "eras" in self._settings.without:
            return ("modern",) if host.is_modern else ("legacy",)
        return ("auto",) if host.is_modern else ("legacy", "modern")

    def _connect(self, host: HostDeclaration, era: Era) -> HandshakeResult:
        client = self._mount.client
        # A legacy host sends the level itself, when it wants log messages.
        level = "debug" if host.is_modern else client.settings.log_level
        client.settings = msgspec.structs.replace(
            client.settings,
            era=era,
            log_level=level,
            name=str(host.client_info.get("name", OWN_NAME)),
            version=str(host.client_info.get("version", "")),
        )
        self._mount.declared = host.capabilities
        running = self._mount.start(host.capabilities).result()
        self.counts["eras"] = int(running.connection.protocol.is_modern != host.is_modern)
        return running.handshake

    def keep_log_level(self, level: str) -> None:
        """Have the server send log messages of this *level* after a restart, too."""
        client = self._mount.client
        client.settings = msgspec.structs.replace(client.settings, log_level=level)

    # Its processes

    def _launch(self) -> Transport:
        self.count_orphans()
        self.counts["restart"] += self.running is not None
        command, recording = self._settings.command, self._settings.recording
        if self._settings.launch is not None:
            return Recorder(self._settings.launch(), recording, command, self._on_end)
        self._process = start_foreign(self._settings)
        return Recorder(self._process, recording, command, self._on_end)

    def count_orphans(self) -> None:
        """Count what the process that was closed last has left behind."""
        process, self._process = self._process, None
        if isinstance(process, GuardedProcess):
            self.counts["orphans"] += process.orphans

    def _move_noise(self, line: str) -> None:
        self.counts["noise"] += 1
        log.write("info", make_printable(line), {})

    # Its lists

    def read_instructions(self, running: Running) -> str | None:
        """Return the instructions of the server as the lock, if any, lets a host read them."""
        instructions = running.handshake.instructions
        if self._settings.lock is None:
            return instructions
        return self._settings.lock.check_instructions(instructions)

    def make_catalog(self, running: Running) -> Catalog:
        """Return what the server lists now, as the host takes it."""
        settings, lists = self._settings, self._mount.lists.latest
        self.counts["lock"] = max(self.counts["lock"], len(lists.refused))
        tools = fix_tools(lists.tools, settings.host, settings.without, self.counts)
        handshake = running.handshake
        capabilities = handshake.capabilities
        if settings.offers_tasks and not has_tasks(handshake.version, capabilities):
            tools = map(offer_tasks, tools)
        if settings.search is None:
            catalog = WrappedCatalog(tools, capabilities)
        else:
            chosen = settings.search.choose(list(tools))
            catalog = WrappedCatalog(
                chosen.shown, capabilities, hidden=chosen.hidden, door=chosen.door
            )
        for refusal in lists.refused:
            catalog.add_unlisted(refusal.as_tool())
        return catalog
