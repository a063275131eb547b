"""What a worker process is told to do, and the command line that tells it."""

from __future__ import annotations

import sys
from typing import Any

import msgspec


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker process is to load, from where, and how it is to serve that.

    `settings` are some fields of `Settings`, `memory_limit` is for tools that set none of their own.
    """

    targets: list[str]
    include: list[str] = []
    exclude: list[str] = []
    tool_settings: list[str] = []
    keep_going: bool = False
    folder: str = "."
    settings: dict[str, Any] = {}
    memory_limit: int | None = None
    log_level: str = "info"
    log_as_json: bool = False


def command(order: Order, life: int) -> list[str]:
    """Return the command of Python as it runs here, with the same path and words, doing what *order* says.

    *life* is the descriptor that tells it of the server's end.
    """
    import subprocess

    flags: list[str] = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    if sys.dont_write_bytecode and "-B" not in flags:
        flags.append("-B")
    path = [entry for entry in sys.path if isinstance(entry, str)]
    code = (
        f"import sys; sys.path[:] = {path!a}; sys.argv[:] = {sys.argv!a}; "
        f"from toolwire.worker import main; main({msgspec.to_builtins(order)!a}, {life})"
    )
    return [sys.executable, *flags, "-c", code]
