"""The commands of `toolwire`: one file per command, in a folder with its relatives or here,
imported only when it runs.

`COMMAND` describes the usage; `run` takes the arguments after the command's name and returns the
exit status.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import msgspec

from ..options import Option  # noqa: TC001  # the Struct reads its fields' types


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """The usage of a command. Options in *passes_on* are kept as text, for another program;
    *limits* are the settings that its `--limit` sets.
    """

    usage: tuple[str, ...]
    details: str
    options: tuple[Option, ...]
    examples: tuple[str, ...]
    passes_on: tuple[Option, ...] = ()
    limits: tuple[str, ...] = ()


def import_command(name: str) -> Any:
    """Return the module of the command *name*, with its `COMMAND` and `run`."""
    return import_module(f".{name}", __name__)
