"""The process that `serve --share` or `wrap --share` starts for all sessions."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    raise ImportError("shared processes need Unix sockets, which Windows lacks")

import os
from functools import partial
from shutil import which
from typing import TYPE_CHECKING, Any, NoReturn

import msgspec

from ....errors import UsageError
from ....sharing.common_parts import CommonParts, SharingServer, SharingSession
from ....sharing.log_file import write_without_errors
from ....sharing.place import Place
from ....sharing.shared_process import REPORT, SharedProcess, Sharing
from ....transport.stdio import claim
from ...option_values import check_sharing
from ...options import parse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ....runtime.session import Session
    from ....settings import Settings
    from ....sharing.connection import ClientConnection
    from ....wrapping.server_side import WrapSettings
    from ...options import Words

_IDLE_SECONDS = 60.0


def serve_sessions(arguments: Sequence[str], command: list[str]) -> NoReturn:
    """Serve the sessions at a socket: *arguments* are its path and `many` or `alone`, *command* is
    the command line of each session.
    """
    path, mode = arguments
    os.closerange(REPORT + 1, 65536)  # what the host has passed on by mistake
    os.set_inheritable(REPORT, False)
    folder, name = os.path.split(path)
    sharing = Sharing(
        place=Place(folder, name.removesuffix(".sock")),
        words=command,
        files=[],
        idle_seconds=_IDLE_SECONDS,
        is_alone=mode == "alone",
    )
    write_without_errors()
    serve = _serve_wraps if command[0] == "wrap" else _serve_tools
    try:
        serve(sharing, command[1:])
    except UsageError as error:
        os.write(REPORT, str(error).encode())
        raise


def _with_options(sharing: Sharing, options: dict[str, Any], files: list[str]) -> Sharing:
    """Return *sharing* with what *options* say, and the *files* that exist."""
    idle_seconds = options.pop("idle", _IDLE_SECONDS)
    return msgspec.structs.replace(
        sharing,
        files=[path for path in files if os.path.exists(path)],
        idle_seconds=0.0 if sharing.is_alone else idle_seconds,
    )


# Our own tools


def _serve_tools(sharing: Sharing, arguments: list[str]) -> NoReturn:
    from ....loading.env_file import apply_env_file
    from ....log import configure
    from ....settings import make_settings
    from ..serve import (
        COMMAND,
        SELECTION,
        choose,
        choose_targets,
        load_tools,
        make_server,
        outline,
    )

    words = parse(arguments, COMMAND.options)
    options = words.options
    check_sharing(options)
    if "env_file" in options:
        apply_env_file(options["env_file"])
    targets = choose_targets(words)
    sharing = _with_options(sharing, options, _list_files(targets, options))
    streams = claim(keep_children="keep_children" in options)
    configure(level=options.get("log_level", "info"), as_json="log_json" in options)
    server, settings = make_server(SharingServer, targets, options)
    server.loading = {"targets": targets, **choose(options, SELECTION)}
    declares = outline(server, targets, options)
    # It gets the tools while they are loaded, and with them their lifespans.
    quiet = server.open_session(lambda data: None)
    quiet.notifies_of_changes = False

    def open_session(connection: ClientConnection) -> Session:
        from ....protocol.catalog import ALL_CAPABILITIES

        session = server.open_session(connection.write)
        if declares == "everything":
            session.declare(ALL_CAPABILITIES)
        return session

    process = SharedProcess(server.common, open_session, make_settings(settings), streams, sharing)
    load = partial(load_tools, server, targets, options, settings, lambda: None)
    process.serve(load, answers_handshake=declares != "unknown")


def _list_files(targets: Sequence[str], options: dict[str, Any]) -> list[str]:
    """Return the files and folders that count in addition to modules."""
    from ....loading.targets import parse as parse_target

    files = [parse_target(target).place for target in targets]
    return files + [options[name] for name in ("env_file", "lock") if options.get(name)]


# Servers of others


def _serve_wraps(sharing: Sharing, arguments: list[str]) -> NoReturn:
    from ....sharing.common_servers import CommonServers
    from ....wrapping.server_side import start_foreign
    from ..wrap import COMMAND, read_settings

    words = parse(arguments, COMMAND.options)
    streams = claim()
    wrapped, settings = read_settings(words)
    sharing = _with_options(sharing, words.options, _list_command_files(words))
    common = CommonParts()
    common.servers = CommonServers(
        partial(start_foreign, wrapped), common.timers, sharing.idle_seconds
    )
    open_session = partial(_open_wrap, common, wrapped, settings)
    SharedProcess(common, open_session, settings, streams, sharing).serve()


def _open_wrap(
    common: CommonParts, wrapped: WrapSettings, settings: Settings, connection: ClientConnection
) -> Session:
    """Return a session of a wrap whose server is one of those in *common*."""
    from ....wrapping.wrap import begin_wrap
    from ..wrap import make_search

    assert common.servers is not None
    wrapped = msgspec.structs.replace(
        wrapped,
        launch=partial(common.servers.open, connection.note),
        search=make_search(settings),  # since programs call the tools of its session
    )
    make_session = partial(SharingSession, common)
    session = begin_wrap(connection.write, wrapped, settings, make_session)
    # The thread that reads from the server must not wait for one of its hosts.
    session.wait_for_room = lambda: None
    return session


def _list_command_files(words: Words) -> list[str]:
    """Return the program of the command, and the files that it names."""
    command = words.command or []
    program = which(command[0]) or command[0]
    files = [program, *filter(os.path.isfile, command[1:])]
    if "lock" in words.options:
        files.append(words.options["lock"])
    return files
