"""Shows of a mounted server what a lock allows, with the texts that a person has approved."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, cast

import msgspec
from msgspec.structs import replace
from toolwire_dialects.compare.lock import KEYS, BadLock, Offer, check, read
from toolwire_schemas.output import make_printable
from toolwire_tools import Entry, Tool, ToolError

from .. import log
from ..errors import UsageError
from ..protocol.connection_handler import ConnectionHandler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolwire_dialects.compare.lock import Checked, Kind, Lock, Texts

    from ..protocol.call import Call

    Lists = dict[Kind, list[Any]]
    """Entries by the list that has them."""

_MAX_REMARKS = 1000
"""How many remarks are logged in all, since a server may change its tools again and again."""


def read_lock(name: str) -> Lock:
    """Return the lock in the file *name*.

    Raises:
        UsageError: if it cannot be read, or is no lock.
    """
    try:
        with open(name, "rb") as file:
            return read(file.read())
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UsageError(f"the lock {name} cannot be read: {reason}") from None
    except BadLock as error:
        raise UsageError(f"{name}: {error}; `toolwire lock FILE -- COMMAND` writes one") from None


class LockedEntries:
    """The lock in the file *name*; raises what `read_lock` raises. Each remark is logged once.

    *texts* is what becomes of entries whose texts have changed.
    """

    def __init__(self, name: str, texts: Texts = "approved") -> None:
        self._name = name
        self._lock = read_lock(name)
        self._texts = texts
        self._logged: set[str] = set()

    def split(self, prefixes: Sequence[str]) -> dict[str, Lists]:
        """Return the approved entries, by list, of each of the mounted servers with *prefixes*,
        with the names that they have there.

        Left out are those of other servers, and resources of which the lock does not say whose they
        are.
        """
        known = frozenset(prefixes)
        lists = {prefix: _make_lists() for prefix in known}
        for kind in KEYS:
            for entry in self._lock.list_entries(kind).values():
                owner = find_owner(self._lock, kind, entry, known)
                if owner is None or not _can_be_shown(kind, entry):
                    continue
                lists[owner][kind].append(_remove_prefix(owner, kind, entry))
        return lists

    def check(self, tools: Sequence[Tool]) -> tuple[list[Tool], list[Refusal]]:
        """Return what the lock allows of *tools*, entries of any list, and for each other one what
        says why not.
        """
        lists = _make_lists()
        for tool in tools:
            lists[_get_kind(tool)].append(tool.describe())
        checked = self._check(Offer(lists, self._lock.instructions))
        refused = []
        for (kind, key), why in checked.refused.items():
            refused.append(_refuse(kind, key, f"{self._name}: {why}"))
        return _select_allowed(tools, checked), refused

    def check_instructions(self, instructions: str | None) -> str | None:
        """Return the instructions that a host is given, of a server with these *instructions*."""
        checked = self._check(Offer({}, instructions or ""))
        return checked.instructions or None

    def _check(self, offer: Offer) -> Checked:
        """Return what the lock allows of *offer*, and log what it does not allow."""
        checked = check(self._lock, offer, self._texts)
        remarks = set(checked.write_remarks(self._texts).values())
        room = _MAX_REMARKS - len(self._logged)
        new = sorted(remarks - self._logged)[:room]
        for remark in new:
            log.warning(f"{self._name}: {remark}")
        self._logged.update(new)
        return checked


def _make_lists() -> Lists:
    return {kind: [] for kind in KEYS}


def _select_allowed(tools: Sequence[Tool], checked: Checked) -> list[Tool]:
    """Return the allowed ones of *tools*, with their approved texts if these replace others."""
    allowed = []
    for tool in tools:
        place = tool.kind, _get_key(tool)
        if place not in checked.allowed:
            continue
        approved = checked.replaced.get(place)
        if approved is not None:
            tool = Tool(replace(tool.entry, shown=approved), tool.handler)
        allowed.append(tool)
    return allowed


def _get_kind(tool: Tool) -> Kind:
    return cast("Kind", tool.kind)


def _get_key(tool: Tool) -> Any:
    entry = tool.describe()
    if not isinstance(entry, dict):
        return None
    return entry.get(KEYS[_get_kind(tool)])


def _remove_prefix(prefix: str, kind: Kind, entry: Any) -> Any:
    """Return an *entry* of a lock with the name that it has at the mounted server with *prefix*."""
    if KEYS[kind] != "name" or not prefix:
        return entry
    return {**entry, "name": entry["name"].removeprefix(f"{prefix}_")}


def _can_be_shown(kind: Kind, entry: Any) -> bool:
    """Return whether hosts can read *entry*, of a lock that a person may have edited."""
    if kind != "tools":
        return True
    schema = entry.get("inputSchema")
    if not isinstance(schema, dict) or schema.get("type") != "object":
        return False
    return isinstance(entry.get("outputSchema", {}), dict)


def find_owner(lock: Lock, kind: Kind, entry: Any, prefixes: frozenset[str]) -> str | None:
    """Return which of the mounted servers with *prefixes* has *entry*; `None` if none has, or the
    lock does not say it.
    """
    key: str = entry[KEYS[kind]]
    if KEYS[kind] == "name":
        return _find_prefix(key, prefixes)
    if key in lock.servers:
        owner = lock.servers[key]
        return owner if owner in prefixes else None
    if len(prefixes) == 1:
        (only,) = prefixes
        return only
    return None


def _find_prefix(name: str, prefixes: frozenset[str]) -> str | None:
    """Return the one of *prefixes* that *name* begins with; `None` without one."""
    for end, letter in enumerate(name):
        if letter == "_" and name[:end] in prefixes:
            return name[:end]
    if "" in prefixes:
        return ""
    return None


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

    async def _refuse(self, arguments: Any, call: Call) -> NoReturn:
        raise ToolError(self.why)


def _refuse(kind: str, name: str, why: str) -> Refusal:
    text = f"{name} is refused, since it is not what was approved: {why}"
    return Refusal(kind, name, make_printable(text))
