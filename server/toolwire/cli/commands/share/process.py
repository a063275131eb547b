"""The process that `serve --share` starts for all sessions."""

from __future__ import annotations

import sys

if sys.platform == "win32":
    raise ImportError("shared processes need Unix sockets, which Windows lacks")

import os
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from ....errors import UsageError
from ...options import parse

if TYPE_CHECKING:
    from collections.abc import Sequence


def serve_sessions(arguments: Sequence[str], command: list[str]) -> NoReturn:
    """Serve the sessions at a socket: *arguments* are its path and `many` or `alone`."""
    from ....loading.env_file import apply_env_file
    from ....log import configure
    from ....settings import settings_of
    from ....sharing.common_parts import SharingServer
    from ....sharing.place import Place
    from ....sharing.shared_process import REPORT, SharedProcess, Sharing
    from ....transport.stdio import claim
    from ..serve import COMMAND as SERVE
    from ..serve import choose_targets, load_tools, make_server, outline

    path, mode = arguments
    os.closerange(REPORT + 1, 65536)  # what the host has passed on by mistake
    os.set_inheritable(REPORT, False)
    try:
        words = parse(command, SERVE.options)
        options = words.options
        idle_seconds = options.pop("idle", 60.0)
        refused = {"reload", "mount", "mount_config"} & options.keys()
        if refused:
            flag = refused.pop().replace("_", "-")
            raise UsageError(f"--share does not go with --{flag} yet")
        if "env_file" in options:
            apply_env_file(options["env_file"])
        targets = choose_targets(words)
        streams = claim(keep_children="keep_children" in options)
        configure(level=options.get("log_level", "info"), as_json="log_json" in options)
        server, settings = make_server(SharingServer, targets, options)
    except UsageError as error:
        os.write(REPORT, str(error).encode())
        raise
    folder, name = os.path.split(path)
    sharing = Sharing(
        place=Place(folder, name.removesuffix(".sock")),
        words=command,
        files=_list_files(targets, options),
        idle_seconds=0.0 if mode == "alone" else idle_seconds,
        is_alone=mode == "alone",
    )
    process = SharedProcess(server, settings_of(settings), streams, sharing)
    load = partial(load_tools, server, targets, options, settings, lambda: None)
    process.serve(load, outline(server, targets, options))


def _list_files(targets: Sequence[str], options: dict[str, Any]) -> list[str]:
    """Return the files and folders that count besides modules."""
    from ....loading.targets import parse as parse_target

    files = [parse_target(target).place for target in targets]
    files += [options[name] for name in ("env_file", "lock") if options.get(name)]
    return [path for path in files if os.path.exists(path)]
