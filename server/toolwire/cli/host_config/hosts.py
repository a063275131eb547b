"""The config file of each host, and the form of a server's entry in it.

Strategy. One table; everything else here makes text of values and text of text, and touches no file. The formats were
looked up in October 2026; the source of each is above its entry. Hosts differ in little: the name of the member that
holds the servers, a word or two in each server's entry, and the place of the file on each system.
"""

from __future__ import annotations

import json
import ntpath
import posixpath
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.did_you_mean import unknown_name

from ...errors import UsageError
from . import jsonc_edit as jsonc

if TYPE_CHECKING:
    from collections.abc import Mapping


class Server(msgspec.Struct, frozen=True):
    """A server in a host's config: its name there, and how to start it."""

    name: str
    command: str
    args: list[str]
    env: dict[str, str] = {}


class Place(msgspec.Struct, frozen=True):
    """A file that a host reads: for one project (relative to its folder) or for a user, on each system."""

    whose: str
    unix: str
    mac: str = ""
    windows: str = ""

    def path(self, system: str, environment: Mapping[str, str], folder: str) -> str:
        """Return where that is; *system* is one of `sys.platform`, *folder* the project's."""
        windows = system == "win32"
        template = (self.windows if windows else self.mac if system == "darwin" else "") or self.unix
        home = environment.get("USERPROFILE" if windows else "HOME") or "~"
        join = ntpath.join if windows else posixpath.join
        path = template.format(
            home=home,
            config=environment.get("XDG_CONFIG_HOME") or join(home, ".config"),
            appdata=environment.get("APPDATA") or join(home, "AppData", "Roaming"),
            folder=folder,
        )
        return ntpath.normpath(path) if windows else path


PROJECT, USER = "this project", "all projects"


class Host(msgspec.Struct, frozen=True):
    """One host: the member *holds* of its file holds its servers, *extra* goes into each entry.

    With *comments* it reads JSON that has some, and trailing commas. *then* is what is left to do.
    """

    name: str
    title: str
    holds: str
    places: tuple[Place, ...]
    then: str = ""
    extra: dict[str, str] = {}
    comments: bool = False
    is_lisp: bool = False


HOSTS = {
    host.name: host
    for host in (
        # modelcontextprotocol.io/docs/develop/connect-local-servers. There it is for macOS and Windows only; on Linux
        # there is no such program from its makers, and this is where the unofficial builds look.
        Host(
            "claude-desktop",
            "Claude Desktop",
            "mcpServers",
            (
                Place(
                    USER,
                    "{config}/Claude/claude_desktop_config.json",
                    "{home}/Library/Application Support/Claude/claude_desktop_config.json",
                    "{appdata}/Claude/claude_desktop_config.json",
                ),
            ),
            then="quit Claude Desktop altogether and start it again",
        ),
        # code.claude.com/docs/en/mcp: project scope in .mcp.json, user scope in ~/.claude.json
        Host(
            "claude-code",
            "Claude Code",
            "mcpServers",
            (Place(PROJECT, "{folder}/.mcp.json"), Place(USER, "{home}/.claude.json")),
            then="start Claude Code anew; /mcp shows its servers",
            extra={"type": "stdio"},
        ),
        # code.visualstudio.com/docs/copilot/reference/mcp-configuration: `type` is required there. The path of the
        # user's file is not in that reference (it depends on the profile); this is the default profile's.
        Host(
            "vscode",
            "VS Code",
            "servers",
            (
                Place(PROJECT, "{folder}/.vscode/mcp.json"),
                Place(
                    USER,
                    "{config}/Code/User/mcp.json",
                    "{home}/Library/Application Support/Code/User/mcp.json",
                    "{appdata}/Code/User/mcp.json",
                ),
            ),
            then="in VS Code, run MCP: List Servers and start it",
            extra={"type": "stdio"},
            comments=True,
        ),
        # cursor.com/docs/mcp. Whether Cursor reads comments is not said; those that are there are kept.
        Host(
            "cursor",
            "Cursor",
            "mcpServers",
            (Place(PROJECT, "{folder}/.cursor/mcp.json"), Place(USER, "{home}/.cursor/mcp.json")),
            then="restart Cursor",
            comments=True,
        ),
        # zed.dev/docs/ai/mcp and /docs/configuring-zed. `source` was required until late 2025 and is ignored since
        # (crates/settings_content/src/project.rs); the path on Windows is from users' pages.
        Host(
            "zed",
            "Zed",
            "context_servers",
            (
                Place(
                    USER,
                    "{config}/zed/settings.json",
                    "{home}/.config/zed/settings.json",
                    "{appdata}/Zed/settings.json",
                ),
                Place(PROJECT, "{folder}/.zed/settings.json"),
            ),
            then="Zed starts it as soon as the file is saved",
            extra={"source": "custom"},
            comments=True,
        ),
        # github.com/ravitemer/mcphub.nvim, doc/mcp/servers_json.md (its examples have comments)
        Host(
            "neovim",
            "Neovim with mcphub.nvim",
            "mcpServers",
            (Place(USER, "{home}/.config/mcphub/servers.json"),),
            then="mcphub.nvim follows the file; without it, see examples/hosts/neovim",
            comments=True,
        ),
        # github.com/lizqwerscott/mcp.el, mcp-hub.el: `mcp-hub-servers`
        Host(
            "emacs",
            "Emacs with mcp.el",
            "mcp-hub-servers",
            (Place(USER, "{home}/.emacs.d/init.el", windows="{appdata}/.emacs.d/init.el"),),
            then="run M-x mcp-hub; without mcp.el, see examples/hosts/emacs",
            is_lisp=True,
        ),
        # The common form; gofastmcp.com/integrations/mcp-json-configuration describes it.
        Host("json", "any host that reads mcpServers", "mcpServers", ()),
    )
}


def host(name: str) -> Host:
    """Return the host called *name*.

    Raises:
        UsageError: if the host is unknown; lists the known ones, the closest first.
    """
    if name not in HOSTS:
        import difflib

        likeness = {other: difflib.SequenceMatcher(None, name.lower(), other).ratio() for other in HOSTS}
        known = sorted(HOSTS, key=likeness.__getitem__, reverse=True)
        raise UsageError(unknown_name("host", name, known) + "; `json` is for any other")
    return HOSTS[name]


def entry(host: Host, server: Server) -> dict[str, Any]:
    """Return the entry of *server* in the file of *host*."""
    made: dict[str, Any] = {**host.extra, "command": server.command, "args": server.args}
    return {**made, "env": server.env} if server.env else made


def snippet(host: Host, server: Server) -> str:
    """Return the text to paste into the host's file."""
    if host.is_lisp:
        return _lisp(host, server)
    return json.dumps({host.holds: {server.name: entry(host, server)}}, indent=2, ensure_ascii=False)


class Taken(Exception):
    """The file has a server of that name which is not ours. The text is how that one is started."""


def merged(host: Host, text: str, server: Server, *, force: bool = False) -> str:
    """Return the *text* of the host's file with the server in it, and everything else as it was.

    Variables of the environment that the server has there are kept, unless *server* gives them another value.

    Raises:
        jsonc.NotJson: if it is not what the host could read.
        Taken: if there is another server of that name; with *force* it is replaced.
    """
    path, made = (host.holds, server.name), entry(host, server)
    there = jsonc.member(text, path, comments=host.comments)
    kept = there.get("env") if isinstance(there, dict) and is_ours(there) else None
    if isinstance(kept, dict):
        made = {**made, "env": {**kept, **server.env}}
    if there == made:
        return text
    if there is not None and not (force or is_ours(there)):
        raise Taken(_start_of(there))
    return jsonc.with_member(text, path, made, comments=host.comments)


def holds(host: Host, text: str, name: str) -> bool:
    """Whether the *text* of the host's file has a server called *name*."""
    return jsonc.member(text, (host.holds, name), comments=host.comments) is not None


def is_ours(entry: Any) -> bool:
    """Whether a host's *entry* starts Toolwire: `python -m toolwire serve ...` or `toolwire serve ...`."""
    words = _words(entry)
    if not words:
        return False
    program = words[0].replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe")
    if program == "toolwire":
        return words[1:2] == ["serve"]
    return any(words[place : place + 3] == ["-m", "toolwire", "serve"] for place in range(1, len(words)))


def _start_of(entry: Any) -> str:
    return " ".join(_words(entry)) or json.dumps(entry, ensure_ascii=False)


def _words(entry: Any) -> list[str]:
    if not isinstance(entry, dict):
        return []
    args = entry.get("args")
    words = [entry.get("command"), *(args if isinstance(args, list) else ())]
    return words if all(isinstance(word, str) for word in words) else []


def _lisp(host: Host, server: Server) -> str:
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
