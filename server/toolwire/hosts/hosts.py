"""The config file of each host, and the form of a server's entry in it.

Strategy. The hosts are data, in `hosts.json`, as looked up in October and November 2026; the
functions turn values into text and read and write no other file.
"""

from __future__ import annotations

import base64
import json
import ntpath
import re
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

import msgspec
from toolwire_schemas.did_you_mean import explain_unknown_name, sort_closest_first
from toolwire_schemas.extensions import ExtensionFailed, find_extension, list_extensions

from ..errors import UsageError
from . import jsonc_edit, toml_edit, yaml_edit
from .edits import read_member
from .safe_write import NotRewritten

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .edits import Editor


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
                config = environment.get("XDG_CONFIG_HOME") or config
                support = config
        template = self.template
        if is_windows and self.windows:
            template = self.windows
        path = template.format(home=home, config=config, support=support, folder=folder)
        return ntpath.normpath(path) if is_windows else path


PROJECT, USER = "this project", "all projects"
"""The values of `ConfigPlace.whose`."""


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


def find_host(name: str) -> Host:
    """Return the host called *name*, which may be that of an installed extension."""
    if name in HOSTS:
        return HOSTS[name]
    announced = _find_announced_host(name)
    if announced is None:
        known = sort_closest_first(name.lower(), [*HOSTS, *list_extensions("hosts")])
        raise UsageError(explain_unknown_name("host", name, known) + "; `json` is for any other")
    return announced


def _find_announced_host(name: str) -> Host | None:
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


def make_entry(host: Host, server: HostServer) -> dict[str, Any]:
    """Return the entry of *server* in the file of *host*."""
    values = {
        "name": server.name,
        "command": server.command,
        "args": server.args,
        "env": server.env,
    }
    entry: dict[str, Any] = dict(host.extra)
    for key, value in values.items():
        has_member = key != "name" or key in host.members
        if has_member and value != {}:
            entry[_find_member_name(host, key)] = value
    return entry


def _find_member_name(host: Host, key: str) -> str:
    return host.members.get(key, key)


def format_snippet(host: Host, server: HostServer) -> str:
    """Return the text to paste into the host's file."""
    if host.format == "lisp":
        return _format_lisp(host, server)
    return EDITORS[host.format].dumps((host.holds, server.name), make_entry(host, server))


def format_link(host: Host, server: HostServer) -> str:
    """Return a link that adds the server when it is opened; "" for a host without such links."""
    entry = make_entry(host, server)
    encoded = base64.b64encode(json.dumps(entry).encode())
    return host.link.format(
        name=quote(server.name, safe=""),
        base64=quote(encoded, safe=""),
        json=quote(json.dumps({"name": server.name, **entry}), safe=""),
    )


def merge_server(host: Host, text: str, server: HostServer, *, force: bool = False) -> str:
    """Return the *text* of the host's file with the server in it, and everything else as it was.

    Variables of the environment that the server has there are kept, unless *server* gives them
    another value.

    Raises:
        NotRewritten: if the host could not read it, or there is another server of that name;
            *force* replaces that.
    """
    editor = EDITORS[host.format]
    path = (host.holds, server.name)
    before = read_member(text, path, editor.loads)
    is_same = _serves_targets_of(host, before, server)
    after = make_entry(host, server)
    if is_same:
        after = _keep_variables(host, before, after)
    if before == after:
        return text
    if before is not None and not is_same and not force:
        command = " ".join(_read_command(host, before))
        shown = command or json.dumps(before, ensure_ascii=False, default=str)
        raise NotRewritten(
            f"its server {server.name!r} is another one ({shown}). --force replaces it;"
            " --server-name gives ours another name"
        )
    return editor.set_member(text, path, after)


EDITORS: dict[str, Editor] = {"json": jsonc_edit, "toml": toml_edit, "yaml": yaml_edit}
"""The editors of the formats that are edited."""


def _keep_variables(host: Host, before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Return the entry *after* with the variables that only the entry *before* has."""
    name = _find_member_name(host, "env")
    variables = before.get(name)
    if not isinstance(variables, dict) or not variables:
        return after
    return {**after, name: {**variables, **after.get(name, {})}}


def _serves_targets_of(host: Host, entry: Any, server: HostServer) -> bool:
    """Return whether a host's *entry* serves the targets of *server*, with whatever options."""
    words = find_words_of_serve(_read_command(host, entry))
    if words is None:
        return False
    count = len(server.targets)
    has_more_targets = len(words) > count and not words[count].startswith("-")
    return words[:count] == server.targets and not has_more_targets


def find_words_of_serve(words: list[str]) -> list[str] | None:
    """Return what follows `serve` in a command that starts Toolwire: by name, by `-m toolwire` or
    by uv; `None` for another command.
    """
    programs = [_find_program(word) for word in words]
    for place in range(len(words) - 1):
        if words[place + 1] != "serve" or programs[place] != "toolwire":
            continue
        is_program = place == 0 or words[place - 1] == "-m" or programs[0] in ("uv", "uvx")
        return words[place + 2 :] if is_program else None
    return None


def _find_program(path: str) -> str:
    """Return the name of the program at *path*, of any system."""
    return path.replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe")


def _read_command(host: Host, entry: Any) -> list[str]:
    """Return the command line of an entry; an empty list if it has none."""
    if not isinstance(entry, dict):
        return []
    words: list[Any] = [entry.get(_find_member_name(host, "command"))]
    args = entry.get(_find_member_name(host, "args"))
    if isinstance(args, list):
        words += args
    if not all(isinstance(word, str) for word in words):
        return []
    return words


def _format_lisp(host: Host, server: HostServer) -> str:
    args = " ".join(map(_quote, server.args))
    lines = [f":command {_quote(server.command)}", f":args ({args})"]
    if server.env:
        pairs = " ".join(f":{_escape(key)} {_quote(value)}" for key, value in server.env.items())
        lines.append(f":env ({pairs})")
    head = f"  (add-to-list '{host.holds} '({_quote(server.name)} . ("
    entry = ("\n" + " " * len(head)).join(lines)
    return f"(with-eval-after-load 'mcp-hub\n{head}{entry}))))"


def _quote(text: str) -> str:
    """Return *text* as a string of Lisp."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _escape(name: str) -> str:
    """Return *name* as a symbol of Lisp."""
    return re.sub(r"[^\w-]", lambda found: f"\\{found[0]}", name)
