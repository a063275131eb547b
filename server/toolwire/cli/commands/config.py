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
from ...wrapping.host_results import find_max_tokens
from ..open_client import connect_to, is_attended
from ..option_values import check_sharing
from ..options import Option, collect_settings
from ..printing.terminal import print_data, print_remark
from . import Command
from .serve import COMMAND as SERVE
from .serve import choose_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..options import Words


def _read_variable(text: str) -> tuple[str, str]:
    """Accept `KEY=VALUE`."""
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise ValueError("KEY=VALUE")
    return key, value


_NAMED_HOSTS = ", ".join(name for name in hosts.HOSTS if name != "json")
_ENDINGS = (".json", ".jsonc", ".toml", ".yaml", ".yml")

COMMAND = Command(
    usage=("toolwire config HOST TARGET... [OPTIONS]",),
    details=(
        f"A HOST is {_NAMED_HOSTS}, or json for any that reads mcpServers. All options of `serve`"
        " can be given too, and are passed on. --write keeps everything else in the file, including"
        " comments, and makes a backup next to it. Without FILE, writes the host's own config;"
        " `--user` picks the global one. With --with, or for a file with `# /// script` metadata,"
        " uv starts the server. The server is started once; a failure to start is reported."
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
            _read_variable,
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
    options = dict(words.options)
    if named[0] in DIALECTS_OF:  # of the others, no rules are known
        options.setdefault("for", named[0])
    server = _make_server(named[1:], options)
    is_for_user = "user" in options
    if "force" in options and "write" not in options:
        raise UsageError("--force goes with --write")
    if "write" in options and not host.is_lisp:
        path = options["write"]
        if path:
            _provide_folder(path)
        else:
            path = _find_path(_list_places(host, is_for_user=is_for_user)[0])
        status = _write(host, server, path, force="force" in options)
    else:
        advice = _explain_place(host, server, is_for_user=is_for_user)
        # What --write asks for is left to the user.
        status = 1 if "write" in options else 0
        _print(hosts.format_snippet(host, server), advice)
    print_remark(warn_of_result_tokens(named[0], collect_settings(options)))
    print_remark(_find_fault(host, server))
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


def _print(text: str, advice: str) -> None:
    """Write *text* to stdout and *advice* to stderr, in this order."""
    print_data(text)
    sys.stdout.flush()
    print_remark(advice)


def _find_fault(host: hosts.Host, server: hosts.HostServer) -> str:
    """Return a warning if the server does not start, or lists very much; the host's environment may
    have what is missing here.
    """
    quietly = [server.command, *server.args, "--log-level", "warning"]
    if "--share" in quietly:  # whose process would stay for a while
        quietly.remove("--share")
    # `config` must not leave compiled code next to the user's files.
    environment = {**server.env, "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        with connect_to(quietly, is_ours=True, env=environment) as client:
            entries = client.list_entries()  # the tools are imported after the handshake
            return _warn_of_tokens(host, entries)
    except Failed as failure:
        reason = f" ({failure})" if str(failure) else ""
        return (
            f"started from here, this server fails{reason}: {host.title} will not show its tools"
            " until this is fixed"
        )


def warn_of_result_tokens(host: str, settings: Mapping[str, Any]) -> str:
    """Return a warning if the *settings* allow results of more tokens than *host* shows."""
    shown = find_max_tokens(host)
    allowed = settings.get("max_result_tokens")
    if shown is None or allowed is None or allowed <= shown:
        return ""
    return (
        f"{hosts.find_host(host).title} shows its model {shown:,} tokens of a result, fewer than"
        f" --limit max_result_tokens={allowed}; without that option, the server keeps to them"
    )


_MANY_TOKENS = 20_000
"""A tenth of the context of Claude's models (200,000 tokens), from which on Claude Code searches
tools: code.claude.com/docs/en/mcp. Other hosts have similar models.
"""


def _warn_of_tokens(host: hosts.Host, entries: Sequence[Any]) -> str:
    """Return a warning if the list takes a large part of a model's context."""
    from toolwire_schemas.tokens import estimate_list_tokens

    tokens = estimate_list_tokens(entries)
    if tokens < _MANY_TOKENS:
        return ""
    return (
        f"the list of its tools takes about {tokens:,} tokens of the model's context in"
        f" {host.title}; --show auto lists a search instead"
    )


def _list_names(targets: list[str], options: Mapping[str, Any]) -> list[str]:
    """Return *targets*, but programs that are adopted without their arguments."""
    if "adopt" not in options:
        return targets
    from toolwire_compat.fastmcp.programs import name_program

    return [name_program(target) for target in targets]


def _make_server(targets: list[str], options: Mapping[str, Any]) -> hosts.HostServer:
    if "share" in options:
        check_sharing(options)
    env = dict(options.get("env", ()))
    # Hosts start servers in folders of their own choice, where a module of this folder would not be
    # found.
    if "PYTHONPATH" not in env and any(map(_is_module_here, targets)):
        env["PYTHONPATH"] = os.getcwd()
    targets_elsewhere = list(map(_make_absolute, targets))
    words = choose_program(targets_elsewhere, options.get("with", ()))
    words += ["serve", *targets_elsewhere, *format_passed_options(options)]
    name = options.get("server_name", options.get("name"))
    if name is None:
        # Claude Code accepts only these letters; other hosts accept more.
        readable = choose_name(_list_names(targets, options))
        name = re.sub(r"[^A-Za-z0-9_-]+", "-", readable).strip("-") or "toolwire"
    if not name:
        raise UsageError("--server-name needs a name")
    server = hosts.HostServer(name, words[0], words[1:], env, targets_elsewhere)
    try:
        "\0".join([name, *words, *env, *env.values()]).encode()
    except UnicodeEncodeError:
        raise UsageError(
            "a path or value is not text in UTF-8, and so no file of a host can name it"
        ) from None
    return server


def choose_program(targets: list[str], packages: Sequence[str]) -> list[str]:
    """Return the start of the server's command: this Python, or uv if it has to add packages."""
    uv = dependencies.find_uv()
    if packages and uv is None:
        raise UsageError(
            "--with needs uv (https://docs.astral.sh/uv), which a host would start the server with"
        )
    wanted = _list_wanted(targets, packages)
    if uv is not None and is_ephemeral():  # our own environment may be deleted
        return [uv, "tool", "run", *wanted, "toolwire"]
    python = [sys.executable]
    if wanted and uv is not None:
        python = [*dependencies.format_uv_run(wanted), "python"]
    # -P: files in the folder where the host starts the server must not shadow our imports.
    return [*python, "-P", "-m", "toolwire"]


def _list_wanted(targets: list[str], packages: Sequence[str]) -> list[str]:
    """Return the options of uv for *packages*, and for those that the files of *targets* ask
    for.
    """
    words: list[str] = []
    for package in packages:
        words += ["--with", package]
    for target in targets:
        file = load.parse(target).place
        if file.endswith(".py") and dependencies.ScriptMetadata(file).dependencies:
            words += ["--with-requirements", file]
    return words


def _make_absolute(target: str) -> str:
    taken = load.parse(target)
    if not taken.is_path:
        return target
    if not os.path.exists(taken.place):
        from ...loading.diagnostics.not_found import explain_missing_file

        raise LoadError(explain_missing_file(taken.place))
    return str(msgspec.structs.replace(taken, place=os.path.abspath(taken.place)))


def _is_module_here(target: str) -> bool:
    taken = load.parse(target)
    head = taken.place.partition(".")[0]
    if taken.is_path or taken.is_bundled:
        return False
    return os.path.isdir(head) or os.path.isfile(f"{head}.py")


def format_passed_options(options: Mapping[str, Any]) -> list[str]:
    """Return those *options* that are passed on to `serve`, as words of a command line."""
    words: list[str] = []
    for option in COMMAND.passes_on:
        if option.key not in options or option.key == "with":
            continue
        if not option.metavar:
            words.append(option.flag)
            continue
        value = options[option.key]
        texts = value if option.many else [value]
        for text in texts:
            words += [option.flag, _make_valid_elsewhere(option, text)]
    return words


def _make_valid_elsewhere(option: Option, text: str) -> str:
    """Return the value *text* of *option* for a server that is started in another folder."""
    if option.metavar == "FILE":
        return os.path.abspath(text)
    if option.key == "set":
        from ...loading.bundled_targets import make_paths_absolute

        return make_paths_absolute(text)
    return text


def _explain_place(host: hosts.Host, server: hosts.HostServer, *, is_for_user: bool) -> str:
    """Return where the text belongs, and what is left to do."""
    if not host.places:
        return ""
    paths = []
    for place in _list_places(host, is_for_user=is_for_user):
        paths.append(f"{_find_path(place)} ({place.whose})")
    how = ". --write puts it there"
    if host.is_lisp:
        how = ", a program, which Toolwire does not edit"
    sentence = f"{host.title} reads this from {' or '.join(paths)}{how}. Then {host.then}."
    if host.link:
        sentence += f" This link does it too:\n{hosts.format_link(host, server)}"
    return sentence


def _find_path(place: hosts.ConfigPlace) -> str:
    return place.path(sys.platform, os.environ, os.getcwd())


def _list_places(host: hosts.Host, *, is_for_user: bool) -> list[hosts.ConfigPlace]:
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
        _print(hosts.format_snippet(host, server), f"{path} was left as it is: {error}")
        return 1
    if not done.changed:
        print_data(f"{path} has this server {server.name!r} already; nothing was changed.")
        return 0
    print_data(f"Wrote the server {server.name!r} to {path}.")
    if done.backup:
        print_data(f"The file as it was: {done.backup}")
    if host.then:
        print_data(f"Then {host.then}.")
    return 0
