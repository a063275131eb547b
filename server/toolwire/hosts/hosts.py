"""The config file of each host, and the form of a server's entry in it.

Strategy. The hosts are data, in `hosts.json`, as looked up in October and November 2026; the
functions turn values into text and read and write no other file.
"""

from __future__ import annotations

import base64
import json
import ntpath
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

import msgspec
from toolwire_schemas.did_you_mean import closest_first, unknown_name
from toolwire_schemas.extensions import ExtensionFailed, find_extension, list_extensions

from ..errors import UsageError
from . import jsonc_edit as jsonc
from .safe_write import NotRewritten

if TYPE_CHECKING:
    from collections.abc import Mapping


class HostServer(msgspec.Struct, frozen=True):
    """A server in a host's config: its name there, and how to start it.

    *targets* are the words after `serve` in *args* by which a former entry of the same server is
    known.
    """

    name: str
    command: str
    args: list[str]
    env: dict[str, str] = {}
    targets: list[str] = []


class ConfigPlace(msgspec.Struct, frozen=True):
    """A file that a host reads: for one project (relative to its folder) or for a user.

    The *template* may contain `{folder}`, `{home}`, `{config}` (of the user) and `{support}` (where
    programs of the system keep their settings); *windows* replaces it on Windows.
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
    """One host, as documented in *source*: the member *holds* of its file holds its servers, with
    *extra* in each.

    *members* are the names of an entry's members where they are not `command`, `args` and `env`;
    one for `name` puts the server's name into its entry. *link* is a link that adds a server, with
    `{name}`, the entry as Base64 in `{base64}` or as quoted JSON with the name in `{json}`. *then*
    is left to do.
    """

    title: str
    source: str
    holds: str
    places: tuple[ConfigPlace, ...]
    then: str = ""
    extra: dict[str, str | int | bool] = {}
    members: dict[str, str] = {}
    format: Literal["json", "toml", "yaml", "lisp"] = "json"
    link: str = ""

    @property
    def is_lisp(self) -> bool:
        """Whether the file is a program, which is not edited."""
        return self.format == "lisp"


HOSTS = msgspec.json.decode((files(__package__) / "hosts.json").read_bytes(), type=dict[str, Host])


def host(name: str) -> Host:
    """Return the host called *name*, which may be that of an installed extension."""
    if name in HOSTS:
        return HOSTS[name]
    announced = _announced_host(name)
    if announced is None:
        known = closest_first(name.lower(), [*HOSTS, *list_extensions("hosts")])
        raise UsageError(unknown_name("host", name, known) + "; `json` is for any other")
    return announced


def _announced_host(name: str) -> Host | None:
    """Return the host that an installed distribution announces: a `Host`, or a dict like an entry
    of `hosts.json`.
    """
    try:
        announced = find_extension("hosts", name)
    except ExtensionFailed as error:
        raise UsageError(f"the host {error}") from None
    if announced is None or isinstance(announced, Host):
        return announced
    try:
        return msgspec.convert(announced, Host)
    except msgspec.ValidationError as error:
        raise UsageError(
            f"the host {name!r} of an extension is not described well: {error}"
        ) from None


def entry(host: Host, server: HostServer) -> dict[str, Any]:
    """Return the entry of *server* in the file of *host*."""
    values = {
        "name": server.name,
        "command": server.command,
        "args": server.args,
        "env": server.env,
    }
    names = {"command": "command", "args": "args", "env": "env", **host.members}
    return {
        **host.extra,
        **{names[key]: value for key, value in values.items() if key in names and value != {}},
    }


def snippet(host: Host, server: HostServer) -> str:
    """Return the text to paste into the host's file."""
    path, made = (host.holds, server.name), entry(host, server)
    match host.format:
        case "lisp":
            return _lisp(host, server)
        case "json":
            return json.dumps(jsonc.with_value({}, path, made), indent=2, ensure_ascii=False)
        case _:
            text: str = _editor(host).dumps(path, made)
            return text


def link(host: Host, server: HostServer) -> str:
    """Return a link that adds the server when it is opened; "" for a host without such links."""
    made = json.dumps(entry(host, server))
    return host.link.format(
        name=quote(server.name, safe=""),
        base64=quote(base64.b64encode(made.encode()), safe=""),
        json=quote(json.dumps({"name": server.name, **entry(host, server)}), safe=""),
    )


def merged(host: Host, text: str, server: HostServer, *, force: bool = False) -> str:
    """Return the *text* of the host's file with the server in it, and everything else as it was.

    Variables of the environment that the server has there are kept, unless *server* gives them
    another value.

    Raises:
        NotRewritten: if the host could not read it, or there is another server of that name;
            *force* replaces that.
    """
    editor = _editor(host)
    path, made = (host.holds, server.name), entry(host, server)
    there, env = jsonc.member(text, path, editor.loads), host.members.get("env", "env")
    is_same = _is_same(host, there, server)
    kept = there.get(env) if isinstance(there, dict) and is_same else None
    if isinstance(kept, dict) and kept:
        made = {**made, env: {**kept, **server.env}}
    if there == made:
        return text
    if there is not None and not (force or is_same):
        started = " ".join(_words(host, there)) or json.dumps(
            there, ensure_ascii=False, default=str
        )
        remedy = "--force replaces it; --server-name gives ours another name"
        raise NotRewritten(f"its server {server.name!r} is another one ({started}). {remedy}")
    changed: str = editor.with_member(text, path, made)
    return changed


def _editor(host: Host) -> Any:
    """The module that edits the format of the host's file: `loads`, `with_member`, `dumps`."""
    match host.format:
        case "toml":
            from . import toml_edit

            return toml_edit
        case "yaml":
            from . import yaml_edit

            return yaml_edit
    return jsonc


def _is_same(host: Host, entry: Any, server: HostServer) -> bool:
    """Whether a host's *entry* serves the targets of *server*, with whatever options."""
    served, count = served_by(_words(host, entry)), len(server.targets)
    return (
        served is not None
        and served[:count] == server.targets
        and (served[count:] or ["-"])[0].startswith("-")
    )


def served_by(words: list[str]) -> list[str] | None:
    """Return what follows `serve` in a command that starts Toolwire: by name, by `-m toolwire` or
    by uv.
    """
    stems = [
        word.replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe") for word in words
    ]
    for place in range(len(words) - 1):
        if words[place + 1] == "serve" and stems[place] == "toolwire":
            is_program = place == 0 or words[place - 1] == "-m" or stems[0] in ("uv", "uvx")
            return words[place + 2 :] if is_program else None
    return None


def _words(host: Host, entry: Any) -> list[str]:
    """The command line of an entry, if it has one."""
    if not isinstance(entry, dict):
        return []
    command, args = (entry.get(host.members.get(key, key)) for key in ("command", "args"))
    words = [command, *(args if isinstance(args, list) else ())]
    return words if all(isinstance(word, str) for word in words) else []


def _lisp(host: Host, server: HostServer) -> str:
    lines = [
        f":command {_quoted(server.command)}",
        f":args ({' '.join(map(_quoted, server.args))})",
    ]
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
    return "".join(
        letter if letter.isalnum() or letter in "_-" else f"\\{letter}" for letter in name
    )
