"""The command `config`: tells a host how to start our server, by text to paste or by a change of its file."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, Any

import msgspec

from . import hosts, imports, load
from .errors import LoadError, UsageError
from .jsonc import NotJson
from .rewrite import NotRewritten, rewrite

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .options import Option, Words


class Outcome(msgspec.Struct, frozen=True):
    """What the command came to: *text* is the result, *told* is for the person who typed it."""

    text: str
    told: str = ""
    status: int = 0


def configure(words: Words, serve_options: Sequence[Option], default_name: str) -> Outcome:
    """Do what the command line says; *default_name* is what the server calls itself unless told otherwise.

    Raises:
        UsageError, LoadError: if the command line or a target is wrong.
    """
    host = hosts.host(words.words[0])
    given = dict(words.options)
    server = _server([*words.words[1:], *(words.command or [])], given, serve_options, default_name)
    snippet = hosts.snippet(host, server)
    if "write" not in given:
        if given.get("force"):
            raise UsageError("--force goes with --write")
        return Outcome(snippet, _where(host, user=given.get("user", False)))
    if host.is_lisp:
        where = _path(host, host.places[0])
        told = f"the settings of {host.title} are a program, which is left to you: put this into {where}"
        return Outcome(snippet, told, 1)
    return _written(
        host, server, given["write"] or _file(host, user=given.get("user", False)), given.get("force", False)
    )


def _server(
    targets: list[str], given: Mapping[str, Any], serve_options: Sequence[Option], default_name: str
) -> hosts.Server:
    if not sys.executable:
        raise UsageError("Python does not know where it is itself: run toolwire by the full path of its interpreter")
    env = dict(given.get("env", ()))
    # Hosts start servers in folders of their own choice, where a module of this folder would not be found.
    if "PYTHONPATH" not in env and any(map(_is_module_here, targets)):
        env["PYTHONPATH"] = os.getcwd()
    # -P: whatever folder the host starts it in, what lies there does not get in the way of what we import.
    args = ["-P", "-m", "toolwire", "serve", *map(_absolute, targets), *_options(given, serve_options)]
    name = given.get("server_name", given.get("name"))
    if name is None:
        # The letters that Claude Code takes, which is the strictest; others show what they are given.
        name = re.sub(r"[^A-Za-z0-9_-]+", "-", default_name).strip("-") or "toolwire"
    if not name:
        raise UsageError("--server-name wants a name")
    server = hosts.Server(name, sys.executable, args, env)
    try:
        "\0".join([name, sys.executable, *args, *env, *env.values()]).encode()
    except UnicodeEncodeError:
        raise UsageError("a path or value is not text in UTF-8, and so no file of a host can name it") from None
    return server


def _absolute(target: str) -> str:
    taken = load.parse(target)
    if not taken.is_path:
        return target
    if not os.path.exists(taken.place):
        raise LoadError(imports.missing(taken.place))
    return str(msgspec.structs.replace(taken, place=os.path.abspath(taken.place)))


def _is_module_here(target: str) -> bool:
    taken = load.parse(target)
    head = taken.place.partition(".")[0]
    return not taken.is_path and not taken.is_bundled and (os.path.isdir(head) or os.path.isfile(f"{head}.py"))


def _options(given: Mapping[str, Any], known: Sequence[Option]) -> list[str]:
    """The options of `serve` among those *given*, as they would be typed again."""
    words: list[str] = []
    for option in known:
        if option.key not in given:
            continue
        value = given[option.key]
        if option.key == "set":
            from .bundled import with_absolute_paths

            value = list(map(with_absolute_paths, value))
        for one in value if option.many else [value]:
            words += [option.flag, one] if option.metavar else [option.flag]
    return words


def _where(host: hosts.Host, *, user: bool) -> str:
    if not host.places:
        return ""
    if user:
        _file(host, user=True)
    first, *others = host.places
    told = f"{host.title} reads this from {_path(host, first)}" + (f" ({first.whose})" if others else "")
    for place in others:
        told += f" or {_path(host, place)} ({place.whose})"
    if not host.is_lisp:
        told += ". --write puts it there"
        if any(place.whose == hosts.USER for place in others):
            told += "; with --user, into the second"
    return f"{told}. Then {host.then}."


def _path(host: hosts.Host, place: hosts.Place) -> str:
    return place.path(sys.platform, os.environ, os.getcwd())


def _file(host: hosts.Host, *, user: bool) -> str:
    if not host.places:
        raise UsageError(f"{host.title}: say which file, as in --write=FILE")
    places = [place for place in host.places if place.whose == hosts.USER] if user else host.places
    if not places:
        raise UsageError(f"{host.title} has no file for all projects: leave out --user")
    return _path(host, places[0])


def _written(host: hosts.Host, server: hosts.Server, path: str, force: bool) -> Outcome:
    snippet = hosts.snippet(host, server)
    was_there = False

    def change(text: str) -> str:
        nonlocal was_there
        after = hosts.merged(host, text, server, force=force)
        was_there = hosts.holds(host, text, server.name)
        return after

    try:
        done = rewrite(path, change)
    except NotJson as error:
        told = (
            f"{path} was left as it is, since {host.title} could not read it: {error}. Mend it, or paste this into it"
        )
        return Outcome(snippet, told, 1)
    except hosts.Taken as taken:
        told = (
            f"{path} was left as it is: its server {server.name!r} is another one ({taken}). "
            "--force replaces it; --server-name gives ours another name"
        )
        return Outcome("", told, 1)
    except NotRewritten as error:
        return Outcome(snippet, f"{path} was left as it is: {error}", 1)
    if not done.changed:
        return Outcome(f"{path} has this server {server.name!r} already; nothing was changed.")
    told = f"{'Replaced' if was_there else 'Added'} the server {server.name!r} in {path}."
    if done.backup:
        told += f"\nThe file as it was: {done.backup}"
    return Outcome(told + (f"\nThen {host.then}." if host.then else ""))
