"""Shows of a mounted server what a lock allows, with the texts that a person has approved."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, cast

import msgspec
from msgspec.structs import replace
from toolwire_dialects.compare.lock import KEYS, BadLock, Offer, check, read
from toolwire_schemas.output import printable
from toolwire_tools import Entry, Tool, ToolError

from .. import log
from ..errors import UsageError
from ..protocol.connection_handler import ConnectionHandler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolwire_dialects.compare.lock import Kind, Lock, Texts

    from ..protocol.call import Call


def read_lock(name: str) -> Lock:
    """Return the lock in the file *name*.

    Raises:
        UsageError: if it cannot be read, or is no lock.
    """
    try:
        return read(Path(name).read_bytes())
    except OSError as error:
        raise UsageError(
            f"the lock {name} cannot be read: {(error.strerror or str(error)).lower()}"
        ) from None
    except BadLock as error:
        raise UsageError(f"{name}: {error}; `toolwire lock FILE -- COMMAND` writes one") from None


_MAX_REMARKS = 1000
"""How many remarks are logged in all, since a server may change its tools again and again."""


class LockedEntries:
    """The lock in the file *name*; raises what `read_lock` raises. Each remark is logged once.

    *texts* is what becomes of entries whose texts have changed.
    """

    def __init__(self, name: str, texts: Texts = "approved") -> None:
        self._name, self._lock, self._texts = name, read_lock(name), texts
        self._logged: set[str] = set()

    def check(self, tools: Sequence[Tool]) -> tuple[list[Tool], list[Refusal]]:
        """Return what the lock allows of *tools*, entries of any list, and for each other one what
        says why not.
        """
        entries: dict[Kind, list[Any]] = {kind: [] for kind in KEYS}
        for tool in tools:
            entries[cast("Kind", tool.kind)].append(tool.describe())
        checked = check(self._lock, Offer(entries, self._lock.instructions), self._texts)
        own = {(tool.kind, _key_of(tool)) for tool in tools}
        self._log(
            [remark for place, remark in checked.remarks(self._texts).items() if place in own]
        )
        allowed = []
        for tool in tools:
            place = tool.kind, _key_of(tool)
            if place in checked.replaced:
                allowed.append(
                    Tool(replace(tool.entry, shown=checked.replaced[place]), tool.handler)
                )
            elif place in checked.allowed:
                allowed.append(tool)
        refused = [
            _refuse(kind, key, f"{self._name}: {why}")
            for (kind, key), why in checked.refused.items()
        ]
        return allowed, refused

    def check_instructions(self, instructions: str | None) -> str | None:
        """Return the instructions that a host is given, of a server with these *instructions*."""
        checked = check(self._lock, Offer({}, instructions or ""), self._texts)
        place = "instructions", ""
        self._log(
            [remark for found, remark in checked.remarks(self._texts).items() if found == place]
        )
        return checked.instructions or None

    def _log(self, remarks: Sequence[str]) -> None:
        new = sorted(set(remarks) - self._logged)[: _MAX_REMARKS - len(self._logged)]
        for remark in new:
            log.warning(f"{self._name}: {remark}")
        self._logged.update(new)


def _key_of(tool: Tool) -> Any:
    entry = tool.describe()
    return entry.get(KEYS[cast("Kind", tool.kind)]) if isinstance(entry, dict) else None


class Refusal(msgspec.Struct, frozen=True):
    """An entry of the list of *kind* that is not listed, and whose use fails; *why* is a
    sentence.
    """

    kind: str
    name: str
    why: str

    def as_tool(self) -> Tool:
        """Return a tool whose calls fail with the reason."""
        entry = Entry(kind=self.kind, name=self.name, parts=(self.name,), shown={})
        return Tool(entry, ConnectionHandler(send=self._refuse, complete=self._refuse))

    def _refuse(self, arguments: Any, call: Call) -> NoReturn:
        raise ToolError(self.why)


def _refuse(kind: str, name: str, why: str) -> Refusal:
    text = f"{name} is refused, since it is not what was approved: {why}"
    return Refusal(kind, name, printable(text))
