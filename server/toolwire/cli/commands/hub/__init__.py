"""`toolwire hub`: puts all servers of a host behind one entry of Toolwire, and back."""

from __future__ import annotations

import difflib
import hashlib
import os
import re
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from ....errors import Failed, UsageError
from ....hosts import hosts, hub
from ....hosts.safe_write import NotRewritten, rewrite, write_private
from ...options import Option, accept_one_of
from ...printing.layout import format_count
from ...printing.terminal import print_data, print_remark
from .. import Command

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...options import Words

COMMAND = Command(
    usage=("toolwire hub HOST... [OPTIONS]",),
    details=(
        "Moves the servers in the config of each HOST (see `config`) behind one entry of Toolwire,"
        " which lists a search in place of their tools, or programs that call them, and starts a"
        " server with its first call."
        " Each server is started once, for a lock; one that does not start stays where it is, as do"
        " remote servers. With --share, all hosts and sessions that start a server in the same way"
        " use one process of it. The entries move to a file that only you can read, and a backup is"
        " made next to the config. --undo brings everything back. A second run moves servers that"
        " were added since."
    ),
    options=(
        Option("--file FILE", "the config of the host (default: the one for all projects)"),
        Option(
            "--show search|code|auto|all",
            "what the list shows: as `serve --show` (default: search)",
            accept_one_of("search", "code", "auto", "all"),
        ),
        Option("--share", "have all sessions use one process of each server, as `wrap --share`"),
        Option("--dry-run", "print the change of the config, and write and start nothing"),
        Option("--undo", "put the servers back, and remove the entry of Toolwire"),
        Option("--timeout SECONDS", "time limit for the starts of all servers"),
    ),
    examples=(
        "toolwire hub claude-code --dry-run",
        "toolwire hub claude-code cursor --share",
        "toolwire hub claude-code --undo",
    ),
)

_MASK = "***"
_LEAST_SECRET = 4
"""Shorter values of variables are not masked: they stand in other words."""


def run(words: Words) -> int:
    """Change the config of each host; return 1 if one was left as it was."""
    if not words.words:
        raise UsageError("name a host, as in `hub claude-code`; `config --help` lists the hosts")
    if "share" in words.options and sys.platform == "win32":
        raise UsageError("--share needs Unix sockets, which Windows lacks")
    if "file" in words.options and len(words.words) > 1:
        raise UsageError("--file goes with one host")
    if words.options.get("show") == "code":
        _check_sandbox()
    status = 0
    for name in words.words:
        place = _Place(name, words.options.get("file"))
        try:
            if "undo" in words.options:
                _undo(place, is_dry="dry_run" in words.options)
            else:
                _move(place, words.options)
        except NotRewritten as error:
            print_remark(f"{place.path} was left as it was: {error}")
            status = 1
    return status


def _check_sandbox() -> None:
    """Raise a `UsageError` if `serve --show code` would be refused here."""
    from toolwire_bundled.programs.program import NoSandbox, find_sandbox

    try:
        find_sandbox("auto")
    except NoSandbox as error:
        raise UsageError(f"--show code: {error}; or use --show search") from None


class _Place:
    """The config of a host, and the files in which Toolwire keeps its servers."""

    def __init__(self, name: str, file: str | None) -> None:
        self.name = name
        self.host = hosts.find_host(name)
        self.path = os.path.realpath(file or _find_user_config(self.host))
        digest = hashlib.sha256(self.path.encode()).hexdigest()[:8]
        config = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
        if sys.platform == "win32":
            config = os.environ.get("APPDATA") or config
        self.mounts = os.path.join(config, "toolwire", "hub", f"{name}-{digest}.json")
        self.lock = self.mounts.removesuffix(".json") + ".lock.json"

    def read(self) -> str:
        """Return the text of the config.

        Raises:
            NotRewritten: if it cannot be read.
        """
        try:
            with open(self.path, encoding="utf-8-sig", newline="") as file:
                return file.read()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not text in UTF-8"
            raise NotRewritten(reason.lower()) from None

    def read_hub(self) -> hub.Hub | None:
        """Return what was moved before; `None` if nothing was."""
        try:
            with open(self.mounts, "rb") as file:
                return hub.read_hub(file.read())
        except FileNotFoundError:
            return None
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise NotRewritten(f"{self.mounts} cannot be read: {reason}") from None


def _find_user_config(host: hosts.Host) -> str:
    for place in host.places:
        if place.whose == hosts.USER:
            return place.path(sys.platform, os.environ, os.getcwd())
    raise UsageError(f"{host.title}: say which file, as in --file=FILE")


def _move(place: _Place, options: Mapping[str, Any]) -> None:
    """Move servers of a config behind Toolwire."""
    text = place.read()
    known = place.read_hub()
    table = hub.read_servers(place.host, text)
    if known is not None and known.name not in table:
        raise NotRewritten("Toolwire's entry was removed from it; `--undo` puts its servers back")
    earlier = known or hub.Hub(
        host=place.name, path=place.path, name=_find_name(table), servers={}, before="", after=""
    )
    choice = hub.choose_servers(place.host, table, earlier.name)
    for name, reason in choice.kept.items():
        print_remark(f"{name} stays in {place.path}: {reason}")
    if not choice.moved:
        if known is None:
            raise NotRewritten("it has no server that could be moved")
        print_data(f"All servers of {place.path} are behind Toolwire already.")
        return
    own = _make_own_server(place, earlier.name, options)
    if "dry_run" in options:
        after = hub.replace_servers(place.host, text, choice.moved, own)
        print_data(_format_diff(place, text, after, choice.moved))
        return
    wrapper = _choose_wrapper(earlier, options)
    trial = replace(earlier, servers={**earlier.servers, **choice.moved}, wrapper=wrapper)
    moved = _lock_servers(place, trial, choice.moved, options)
    if not moved:
        raise NotRewritten("none of its servers starts")
    made = replace(
        trial,
        servers={**earlier.servers, **moved},
        before="" if earlier.servers else text,
        after=hub.replace_servers(place.host, text, moved, own),
    )
    # First, so that no server is in neither file.
    write_private(place.mounts, hub.make_mount_config(place.host, made))
    try:
        done = rewrite(place.path, lambda now: hub.replace_servers(place.host, now, moved, own))
    except NotRewritten:
        if known is None:
            os.unlink(place.mounts)
        else:
            write_private(place.mounts, hub.make_mount_config(place.host, known))
        raise
    print_data(f"{len(moved)} of {len(table)} servers of {place.path} are behind Toolwire now:")
    print_data(f"  {', '.join(moved)}")
    print_data(f"The file as it was: {done.backup}")
    print_data(f"`toolwire hub {place.name} --undo` puts them back. Then {place.host.then}.")


def _find_name(table: Mapping[str, Any]) -> str:
    name, number = "toolwire", 2
    while name in table:
        name = f"toolwire-{number}"
        number += 1
    return name


def _choose_wrapper(earlier: hub.Hub, options: Mapping[str, Any]) -> list[str]:
    """Return the words before the command of each server: those that share it, if that is asked for
    now, or was when the others were moved.
    """
    if "share" in options:
        from ..config import choose_program

        program, *words = choose_program([], ())
        return [program, *words, "wrap", "--share=auto", "--"]
    return earlier.wrapper


def _make_own_server(place: _Place, name: str, options: Mapping[str, Any]) -> hosts.HostServer:
    from ..config import choose_program

    program, *words = choose_program([], ())
    show = options.get("show", "search")
    words += ["serve", "--mount-config", place.mounts, "--lock", place.lock, "--show", show]
    return hosts.HostServer(name, program, words)


def _lock_servers(
    place: _Place, trial: hub.Hub, moved: Mapping[str, Any], options: Mapping[str, Any]
) -> dict[str, Any]:
    """Lock all servers of *trial*; return those of *moved* that have started."""
    from ..lock import lock_config

    path = place.mounts.removesuffix(".json") + ".new.json"
    write_private(path, hub.make_mount_config(place.host, trial))
    try:
        problems = lock_config(place.lock, path, options)
    except Failed as error:
        raise NotRewritten(str(error) or "its servers do not start") from None
    finally:
        with suppress(OSError):
            os.unlink(path)
    started = {}
    for name, entry in moved.items():
        problem = problems.get(name, "its entry cannot be read")
        if problem:
            print_remark(f"{name} stays in {place.path}: {problem}")
        else:
            started[name] = entry
    return started


def _undo(place: _Place, *, is_dry: bool) -> None:
    """Put the servers of a config back."""
    known = place.read_hub()
    if known is None:
        raise NotRewritten(f"its servers are not behind Toolwire: there is no {place.mounts}")
    text = place.read()
    if is_dry:
        after = hub.restore_servers(place.host, text, known)
        print_data(_format_diff(place, text, after, known.servers))
        return
    done = rewrite(place.path, lambda now: hub.restore_servers(place.host, now, known))
    for path in (place.mounts, place.lock):
        with suppress(FileNotFoundError):
            os.unlink(path)
    count = format_count(len(known.servers), "server")
    print_data(f"Put {count} back into {place.path}.")
    if done.backup:
        print_data(f"The file as it was: {done.backup}")
    print_data(f"Then {place.host.then}.")


def _format_diff(place: _Place, before: str, after: str, moved: Mapping[str, Any]) -> str:
    """Return the change of a file, without the values of the variables of servers."""
    path = place.path
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), path, path, n=2, lineterm=""
    )
    text = "\n".join(lines)
    for entry in moved.values():
        for value in (hub.rename_members(place.host, entry).get("env") or {}).values():
            if isinstance(value, str) and len(value) >= _LEAST_SECRET:
                quoted = msgspec.json.encode(value).decode()[1:-1]
                text = re.sub(f"{re.escape(quoted)}|{re.escape(value)}", _MASK, text)
    return text
