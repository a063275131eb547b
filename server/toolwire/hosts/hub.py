"""What `hub` changes: which servers of a host's config move behind one entry of Toolwire, and the
text of the file before and after.

Strategy. Only what Toolwire starts exactly as the host does is moved: a command, its arguments and
its variables, with nothing that the host fills in. Everything else stays, with a reason.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import msgspec

from .edits import read_member
from .hosts import EDITORS, make_entry
from .safe_write import NotRewritten

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .hosts import Host, HostServer

_STARTING = ("command", "args", "env", "cwd")
"""The members of an entry that the file of the hub keeps."""

_OTHERS = ("type", "source", "disabled", "enabled", "name", "description", "display_name")
"""Those that do not matter for a server behind Toolwire."""

_LISTS_OF_GOOSE = ("env_keys", "available_tools")
"""Members that say nothing if they are empty."""


class Hub(msgspec.Struct, frozen=True, kw_only=True):
    """A host's config whose servers stand behind Toolwire.

    *path* is that of the host's file, and *servers* are the entries that were in it. *before* and
    *after* are its whole texts, for an undo that brings back every comment; *before* is empty if
    servers were moved at different times. *wrapper* are the words before the command of each
    server.
    """

    host: str
    path: str
    name: str
    servers: dict[str, Any]
    before: str
    after: str
    wrapper: list[str] = []


class Choice(msgspec.Struct, frozen=True):
    """The servers of a config that can be moved, and why each other one stays."""

    moved: dict[str, Any]
    kept: dict[str, str]


def read_servers(host: Host, text: str) -> dict[str, Any]:
    """Return the entries of all servers in the *text* of the host's file.

    Raises:
        NotRewritten: if the host could not read it, or Toolwire does not edit its servers.
    """
    if host.is_lisp:
        raise NotRewritten(
            f"{host.title} keeps its servers in a program, which `hub` does not edit"
        )
    table = read_member(text, (host.holds,), EDITORS[host.format].loads)
    if table is None:
        return {}
    if not isinstance(table, dict):
        raise NotRewritten(f"{host.holds} is not an object")
    return table


def rename_members(host: Host, entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return the *entry* of a server with the members that `mcpServers` has: `command`, `args`,
    `env`. Those that every entry of *host* has, and those that say nothing, are left out.
    """
    names = {theirs: ours for ours, theirs in host.members.items()}
    renamed = {}
    for member, value in entry.items():
        is_usual = member in host.extra and member not in _OTHERS
        is_empty = value is None or (member in _LISTS_OF_GOOSE and not value)
        if not is_usual and not is_empty:
            renamed[names.get(member, member)] = value
    return renamed


def choose_servers(host: Host, table: Mapping[str, Any], own: str) -> Choice:
    """Return which servers in the *table* of *host* can be moved; *own* is the entry of Toolwire,
    if any.
    """
    moved, kept = {}, {}
    for name, entry in table.items():
        if name == own:
            continue
        reason = "its entry is not an object"
        if isinstance(entry, dict):
            reason = _explain_kept(name, rename_members(host, entry))
        if reason:
            kept[name] = reason
        else:
            moved[name] = entry
    return Choice(moved, kept)


def _explain_kept(name: str, entry: dict[str, Any]) -> str:
    """Return why the host starts this server itself; "" if Toolwire can."""
    if not entry.keys().isdisjoint(("url", "httpUrl", "serverUrl", "uri")):
        return "it is remote"
    if entry.get("type", "stdio") in ("builtin", "platform"):
        return "it is a part of the host"
    if entry.get("type", "stdio") != "stdio":
        return "it is remote"
    if entry.get("disabled") is True or entry.get("enabled") is False:
        return "it is switched off"
    if not isinstance(entry.get("command"), str):
        return "it has no command"
    others = sorted(entry.keys() - {*_STARTING, *_OTHERS})
    if others:
        return f"only the host understands its {', '.join(others)}"
    folder = entry.get("cwd")
    if folder is not None and not (isinstance(folder, str) and os.path.isabs(folder)):
        return "its folder depends on the host"
    if "${" in str([entry.get(member) for member in _STARTING]):
        return "the host fills in variables of it"
    if not any(letter.isascii() and letter.isalnum() for letter in name):
        return "its name has no letter or digit"
    return ""


def make_mount_config(host: Host, hub: Hub) -> str:
    """Return the text of the file that `serve --mount-config` reads, which also remembers the *hub*
    of *host*.
    """
    servers = {}
    for name, entry in hub.servers.items():
        renamed = rename_members(host, entry)
        started = {member: renamed[member] for member in _STARTING if member in renamed}
        if hub.wrapper:
            program, *words = hub.wrapper
            arguments = [*words, started["command"], *(started.get("args") or ())]
            started |= {"command": program, "args": arguments}
        servers[name] = started
    whole = {"mcpServers": servers, "hub": hub}
    return msgspec.json.format(msgspec.json.encode(whole), indent=2).decode() + "\n"


class _Remembered(msgspec.Struct):
    hub: Hub


def read_hub(text: bytes) -> Hub:
    """Return what `make_mount_config` remembers.

    Raises:
        NotRewritten: if *text* is no such file.
    """
    try:
        return msgspec.json.decode(text, type=_Remembered).hub
    except msgspec.DecodeError as error:
        raise NotRewritten(f"it is no file of `hub`: {error}") from None


def replace_servers(host: Host, text: str, moved: Mapping[str, Any], own: HostServer) -> str:
    """Return the *text* of the host's file with the entry *own* in place of those *moved*."""
    table = read_servers(host, text)
    left = {name: entry for name, entry in table.items() if name not in moved}
    left[own.name] = make_entry(host, own)
    return EDITORS[host.format].set_member(text, (host.holds,), left)


def restore_servers(host: Host, text: str, hub: Hub) -> str:
    """Return the *text* of the host's file with the servers of *hub*, and without Toolwire's entry.

    Other changes of the file stay.
    """
    if hub.before and text == hub.after:
        return hub.before
    table = read_servers(host, text)
    table.pop(hub.name, None)
    return EDITORS[host.format].set_member(text, (host.holds,), {**hub.servers, **table})
