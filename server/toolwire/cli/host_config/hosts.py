"""The config file of each host, and the form of a server's entry in it.

Strategy. The hosts are data, in `hosts.json`, as looked up in October 2026; the functions turn values into text and
read and write no other file.
"""

from __future__ import annotations

import json
import ntpath
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.did_you_mean import closest_first, unknown_name

from ...errors import UsageError
from . import jsonc_edit as jsonc
from .safe_write import NotRewritten

if TYPE_CHECKING:
    from collections.abc import Mapping


class HostServer(msgspec.Struct, frozen=True):
    """A server in a host's config: its name there, and how to start it."""

    name: str
    command: str
    args: list[str]
    env: dict[str, str] = {}


class ConfigPlace(msgspec.Struct, frozen=True):
    """A file that a host reads: for one project (relative to its folder) or for a user.

    The *template* may contain `{folder}`, `{home}`, `{config}` (of the user) and `{support}` (where programs of the
    system keep their settings); *windows* replaces it on Windows.
    """

    whose: str
    template: str
    windows: str = ""

    def path(self, system: str, environment: Mapping[str, str], folder: str) -> str:
        """Return where that is; *system* is one of `sys.platform`, *folder* the project's."""
        is_windows = system == "win32"
        home = environment.get("USERPROFILE" if is_windows else "HOME") or "~"
        config = f"{home}/.config"
        match system:
            case "win32":
                support = environment.get("APPDATA") or f"{home}/AppData/Roaming"
            case "darwin":
                support = f"{home}/Library/Application Support"
            case _:
                support = config = environment.get("XDG_CONFIG_HOME") or config
        template = (is_windows and self.windows) or self.template
        path = template.format(home=home, config=config, support=support, folder=folder)
        return ntpath.normpath(path) if is_windows else path


PROJECT, USER = "this project", "all projects"
"""The values of `Place.whose`."""


class Host(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One host, as documented in *source*: the member *holds* of its file holds its servers, with *extra* in each.

    *then* is left to do.
    """

    title: str
    source: str
    holds: str
    places: tuple[ConfigPlace, ...]
    then: str = ""
    extra: dict[str, str] = {}
    is_lisp: bool = False


HOSTS = msgspec.json.decode((files(__package__) / "hosts.json").read_bytes(), type=dict[str, Host])


def host(name: str) -> Host:
    """Return the host called *name*."""
    if name not in HOSTS:
        known = closest_first(name.lower(), HOSTS)
        raise UsageError(unknown_name("host", name, known) + "; `json` is for any other")
    return HOSTS[name]


def entry(host: Host, server: HostServer) -> dict[str, Any]:
    """Return the entry of *server* in the file of *host*."""
    made: dict[str, Any] = {**host.extra, "command": server.command, "args": server.args}
    return {**made, "env": server.env} if server.env else made


def snippet(host: Host, server: HostServer) -> str:
    """Return the text to paste into the host's file."""
    if host.is_lisp:
        return _lisp(host, server)
    return json.dumps({host.holds: {server.name: entry(host, server)}}, indent=2, ensure_ascii=False)


def merged(host: Host, text: str, server: HostServer, *, force: bool = False) -> str:
    """Return the *text* of the host's file with the server in it, and everything else as it was.

    Variables of the environment that the server has there are kept, unless *server* gives them another value.

    Raises:
        NotRewritten: if the host could not read it, or there is another server of that name; *force* replaces that.
    """
    path, made = (host.holds, server.name), entry(host, server)
    there = jsonc.member(text, path)
    kept = there.get("env") if isinstance(there, dict) and is_ours(there) else None
    if isinstance(kept, dict):
        made = {**made, "env": {**kept, **server.env}}
    if there == made:
        return text
    if there is not None and not (force or is_ours(there)):
        started = " ".join(_words(there)) or json.dumps(there, ensure_ascii=False)
        remedy = "--force replaces it; --server-name gives ours another name"
        raise NotRewritten(f"its server {server.name!r} is another one ({started}). {remedy}")
    return jsonc.with_member(text, path, made)


def is_ours(entry: Any) -> bool:
    """Whether a host's *entry* starts Toolwire: `python -m toolwire serve ...` or `toolwire serve ...`."""
    words = _words(entry)
    if not words:
        return False
    program = words[0].replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe")
    if program == "toolwire":
        return words[1:2] == ["serve"]
    return any(words[place : place + 3] == ["-m", "toolwire", "serve"] for place in range(1, len(words)))


def _words(entry: Any) -> list[str]:
    """The command line of an entry, if it has one."""
    if not isinstance(entry, dict):
        return []
    args = entry.get("args")
    words = [entry.get("command"), *(args if isinstance(args, list) else ())]
    return words if all(isinstance(word, str) for word in words) else []


def _lisp(host: Host, server: HostServer) -> str:
    lines = [f":command {_quoted(server.command)}", f":args ({' '.join(map(_quoted, server.args))})"]
    if server.env:
        pairs = " ".join(f":{_symbol(key)} {_quoted(value)}" for key, value in server.env.items())
        lines.append(f":env ({pairs})")
    head = f"  (add-to-list '{host.holds} '({_quoted(server.name)} . ("
    entry = ("\n" + " " * len(head)).join(lines)
    return f"(with-eval-after-load 'mcp-hub\n{head}{entry}))))"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _symbol(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "_-" else f"\\{letter}" for letter in name)
