"""`toolwire config`: configures a host to start a server, by text to paste or by editing its
file.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.install_command import is_ephemeral

from ...errors import Failed, LoadError, UsageError
from ...hosts import hosts
from ...hosts.safe_write import NotRewritten, rewrite
from ...loading import dependencies
from ...loading import targets as load
from ...wrapping import DIALECTS_OF
from ..open_client import connected, is_attended
from ..options import Option
from ..printing.output import print_data, print_remark
from . import Command
from .serve import COMMAND as SERVE
from .serve import name_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..options import Words


def _variable(text: str) -> tuple[str, str]:
    """Accept `KEY=VALUE`."""
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise ValueError("KEY=VALUE")
    return key, value


_ENDINGS = (".json", ".jsonc", ".toml", ".yaml", ".yml")

COMMAND = Command(
    usage=("toolwire config HOST TARGET... [OPTIONS]",),
    details=(
        "A HOST is claude-desktop, claude-code, codex, gemini, vscode, cursor, windsurf, zed,"
        " cline, goose, lmstudio, neovim, emacs, or json for any that reads mcpServers. All options"
        " of `serve` can be given too, and are passed on. --write keeps everything else in the"
        " file, including comments, and makes a backup next to it. Without FILE, writes the host's"
        " own config; `--user` picks the global one. With --with, or for a file with `# /// script`"
        " metadata, uv starts the server. The server is started once; a failure to start is"
        " reported."
    ),
    options=(
        Option(
            "--write [FILE]", "write to FILE (default: the host's own config)", endings=_ENDINGS
        ),
        Option("--user", "use the config for all projects, if the host also has one per project"),
        Option("--force", "replace a different server of the same name"),
        Option(
            "--server-name NAME", "name of the server in the host (default: that of the target)"
        ),
        Option(
            "--env KEY=VALUE",
            "environment variable for the server; repeatable",
            _variable,
            many=True,
        ),
    ),
    examples=(
        "toolwire config claude-desktop tools.py --write",
        "toolwire config vscode tools.py --timeout 60 --env API_KEY=abc",
    ),
    passes_on=SERVE.options,
)


def run(words: Words) -> int:
    """Print what to paste, or change the host's file; return 1 if the user has to do it."""
    named = [*words.words, *(words.command or [])]
    if len(named) < 2:
        raise UsageError(
            "name a host and a target, as in `config vscode tools.py`; --help lists the hosts"
        )
    host = hosts.find_host(named[0])
    given_options = dict(words.options)
    if named[0] in DIALECTS_OF:  # of the others, no rules are known
        given_options.setdefault("for", named[0])
    server = _server(named[1:], given_options)
    is_for_user = words.options.get("user", False)
    if words.options.get("force") and "write" not in words.options:
        raise UsageError("--force goes with --write")
    if "write" in words.options and not host.is_lisp:
        given = words.options["write"]
        if given:
            _provide_folder(given)
        path = given or _path(_places(host, is_for_user=is_for_user)[0])
        status = _write(host, server, path, force=words.options.get("force", False))
    else:
        advice = _where(host, server, is_for_user=is_for_user)
        status = _print(
            hosts.format_snippet(host, server), advice, 1 if "write" in words.options else 0
        )
    print_remark(_fault(host, server))
    return status


def _provide_folder(path: str) -> None:
    """Create the folder of *path*, which the user has typed, if it is missing and the user agrees.

    A host's own file needs no question: its place is known, and hosts create that folder only when
    they need it.

    Raises:
        UsageError: if the folder is missing, and the user does not agree or cannot be asked.
    """
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(folder):
        return
    if is_attended():
        from toolwire_agent.terminal import Keyboard

        answer = Keyboard(nullcontext).read(f"There is no folder {folder}. Create it? [y/N] ") or ""
        if answer.strip().lower() in ("y", "yes"):
            return
    raise UsageError(
        f"{path} was not written: there is no folder {folder}; create it, or name another file"
    )


def _print(text: str, advice: str = "", status: int = 0) -> int:
    """Write *text* to stdout and *advice* to stderr, in this order, and return *status*."""
    if text:
        print_data(text)
        sys.stdout.flush()
    print_remark(advice)
    return status


def _fault(host: hosts.Host, server: hosts.HostServer) -> str:
    """Return a warning if the server does not start; the host's environment may have what is
    missing here.
    """
    quietly = [server.command, *server.args, "--log-level", "warning"]
    # `config` must not leave compiled code next to the user's files.
    environment = {**server.env, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        with connected(quietly, is_ours=True, env=environment):
            return ""
    except Failed as failure:
        reason = f" ({failure})" if str(failure) else ""
        return (
            f"started from here, this server fails{reason}: {host.title} will not show its tools"
            " until this is fixed"
        )


def _server(targets: list[str], given: Mapping[str, Any]) -> hosts.HostServer:
    env = dict(given.get("env", ()))
    # Hosts start servers in folders of their own choice, where a module of this folder would not be
    # found.
    if "PYTHONPATH" not in env and any(map(_is_module_here, targets)):
        env["PYTHONPATH"] = os.getcwd()
    served = [*map(_absolute, targets)]
    words = [*_program(served, given.get("with", ())), "serve", *served, *passed_on(given)]
    name = given.get("server_name", given.get("name"))
    if name is None:
        # Claude Code accepts only these letters; other hosts accept more.
        name = re.sub(r"[^A-Za-z0-9_-]+", "-", name_of(targets)).strip("-") or "toolwire"
    if not name:
        raise UsageError("--server-name needs a name")
    server = hosts.HostServer(name, words[0], words[1:], env, served)
    try:
        "\0".join([name, *words, *env, *env.values()]).encode()
    except UnicodeEncodeError:
        raise UsageError(
            "a path or value is not text in UTF-8, and so no file of a host can name it"
        ) from None
    return server


def _program(targets: list[str], packages: Sequence[str]) -> list[str]:
    """The start of the server's command: this Python, or uv if it has to add packages."""
    files = [place for target in targets if (place := load.parse(target).place).endswith(".py")]
    scripts = [file for file in files if dependencies.ScriptMetadata(file).dependencies]
    wanted = [word for package in packages for word in ("--with", package)]
    wanted += [word for file in scripts for word in ("--with-requirements", file)]
    uv = dependencies.find_uv()
    if packages and uv is None:
        raise UsageError(
            "--with needs uv (https://docs.astral.sh/uv), which a host would start the server with"
        )
    if uv is not None and is_ephemeral():  # our own environment may be deleted
        return [uv, "tool", "run", *wanted, "toolwire"]
    # -P: files in the folder where the host starts the server must not shadow our imports.
    ours = ["-P", "-m", "toolwire"]
    return (
        [*dependencies.format_uv_run(wanted), "python", *ours]
        if wanted and uv
        else [sys.executable, *ours]
    )


def _absolute(target: str) -> str:
    taken = load.parse(target)
    if not taken.is_path:
        return target
    if not os.path.exists(taken.place):
        from ...loading.not_found import explain_missing_file

        raise LoadError(explain_missing_file(taken.place))
    return str(msgspec.structs.replace(taken, place=os.path.abspath(taken.place)))


def _is_module_here(target: str) -> bool:
    taken = load.parse(target)
    head = taken.place.partition(".")[0]
    return (
        not taken.is_path
        and not taken.is_bundled
        and (os.path.isdir(head) or os.path.isfile(f"{head}.py"))
    )


def passed_on(given: Mapping[str, Any]) -> list[str]:
    """Return the options of `serve` among those *given*, as words of a command line."""
    words: list[str] = []
    for option in COMMAND.passes_on:
        if option.key not in given or option.key == "with":
            continue
        value = given[option.key]
        if option.key == "set":
            from ...loading.bundled_targets import make_paths_absolute

            value = list(map(make_paths_absolute, value))
        for one in value if option.many else [value]:
            if option.metavar == "FILE":
                one = os.path.abspath(one)  # the host starts the server in another folder
            words += [option.flag, one] if option.metavar else [option.flag]
    return words


def _where(host: hosts.Host, server: hosts.HostServer, *, is_for_user: bool) -> str:
    if not host.places:
        return ""
    link = f" This link does it too:\n{hosts.format_link(host, server)}" if host.link else ""
    paths = " or ".join(
        f"{_path(place)} ({place.whose})" for place in _places(host, is_for_user=is_for_user)
    )
    how = ", a program, which Toolwire does not edit" if host.is_lisp else ". --write puts it there"
    return f"{host.title} reads this from {paths}{how}. Then {host.then}.{link}"


def _path(place: hosts.ConfigPlace) -> str:
    return place.path(sys.platform, os.environ, os.getcwd())


def _places(host: hosts.Host, *, is_for_user: bool) -> list[hosts.ConfigPlace]:
    if not host.places:
        raise UsageError(f"{host.title}: say which file, as in --write=FILE")
    places = [place for place in host.places if place.whose == hosts.USER or not is_for_user]
    if not places:
        raise UsageError(f"{host.title} has no file for all projects: leave out --user")
    return places


def _write(host: hosts.Host, server: hosts.HostServer, path: str, *, force: bool) -> int:
    try:
        done = rewrite(path, lambda text: hosts.merge_server(host, text, server, force=force))
    except NotRewritten as error:
        return _print(hosts.format_snippet(host, server), f"{path} was left as it is: {error}", 1)
    if not done.changed:
        return _print(f"{path} has this server {server.name!r} already; nothing was changed.")
    lines = [f"Wrote the server {server.name!r} to {path}."]
    lines += [f"The file as it was: {done.backup}"] if done.backup else []
    lines += [f"Then {host.then}."] if host.then else []
    return _print("\n".join(lines))
