"""What command lines of other tools mean here: `fastmcp run`, `mcp install`, `npx ...`. Imported
only for a mistake.
"""

from __future__ import annotations

import os
from itertools import takewhile
from shlex import join
from typing import TYPE_CHECKING

from toolwire_schemas.did_you_mean import explain_unknown_name

from ..settings import LIMITS, SETTINGS
from . import COMMANDS
from .commands import import_command
from .options import LIMIT

if TYPE_CHECKING:
    from .commands import Command
    from .options import UnknownOption

_WORDS = {
    "serve": ("run", "start", "stdio", "up", "mcp", "fastmcp", "mcp-server", "server"),
    "serve --reload": ("dev", "watch"),
    "inspect": ("inspector", "ui", "gui", "playground", "dashboard"),
    "list": ("ls", "show", "describe", "tools", "tool", "tools/list", "list-tools"),
    "list --lint": ("lint", "audit"),
    "list --as python": ("generate", "codegen", "generate-cli", "stubs"),
    "call": ("exec", "invoke", "tools/call", "call-tool"),
    "check": ("test", "validate", "verify"),
    "config": ("install", "add", "setup", "connect", "configure", "mcp-json"),
    "diff": ("compare", "snapshot"),
    "chat": ("repl", "shell"),
    "ask": ("agent", "query", "prompt"),
    "pack": ("build", "bundle", "mcpb", "dxt", "package", "publish"),
    "--version": ("version",),
}
_MEANT = {word: command for command, words in _WORDS.items() for word in words}

_FAMILIES = ("mcp", "fastmcp", "tools", "tool", "server")
"""Words that other tools have before a command: `fastmcp run`, `mcp install`, `tools list`."""

_STARTERS = (
    "npx",
    "uvx",
    "uv",
    "pipx",
    "bunx",
    "bun",
    "deno",
    "node",
    "python",
    "python3",
    "docker",
    "podman",
)
"""Programs that start a server of another package."""

TRANSPORTS = ("--transport", "-t", "--stdio", "--http", "--sse", "--host", "--port")
"""Options of other tools that `serve` does not have."""


def suggest_instead(words: list[str]) -> str | None:
    """Return what to write here instead of *words* on the command line of another tool; None if
    that is not known.
    """
    first, *rest = words
    if first in _STARTERS:
        return (
            f"a command that starts a server goes after --, as in `toolwire list -- {join(words)}`"
        )
    if first in ("init", "new", "create"):
        return "no project is needed: write functions to a file, then `toolwire serve tools.py`"
    if first in _FAMILIES and rest and rest[0] in (*_MEANT, *COMMANDS):
        return suggest_instead(rest) or _write(rest[0], rest[1:])
    return _write(_MEANT[first], rest) if first in _MEANT else None


def _write(command: str, rest: list[str]) -> str:
    named = list(takewhile(lambda word: word[0] != "-", rest)) or [
        word for word in rest if ".py" in word
    ]
    if named[:1] in (["inspector"], ["apps"]):  # as in `fastmcp dev inspector`
        del named[0]
    if command == "config" and (not named or "." in named[0]):
        named.insert(0, "claude-desktop")
    if (command == "config" and len(named) == 1) or (
        command.startswith(("serve", "list", "inspect")) and not named
    ):
        named.append("tools.py")
    words = [command]
    if named:
        words.append(join(named))
    if command == "config":
        words.append("--write")
    return f"write `toolwire {' '.join(words)}`"


def explain_unknown_option(error: UnknownOption, name: str, command: Command) -> str:
    """Suggest what an option that the command *name* lacks may be: a limit, a tool's argument, or
    an option of another command or of a server.
    """
    flag, usage = error.flag, " ".join(command.usage)
    options = [option.flag for option in (*command.options, *command.passes_on)]
    limit = _find_limit(flag)
    if limit is not None and LIMIT.flag in options:
        return f"{name} has no option {flag}: write {LIMIT.flag} {limit}={SETTINGS[limit].unit}"
    argument = flag.removeprefix("--")
    if "KEY=VALUE" in usage and argument.isidentifier():
        return f"{error}; arguments of the tool are given as {argument}=VALUE"
    sentence = str(error)
    others = _list_commands(flag)
    if others:
        sentence = f"{name} has no option {flag}: that is one of {', '.join(others)}"
    if "-- COMMAND" in usage:
        return f"{sentence}; a server's command, with its options, goes after --"
    if flag in TRANSPORTS:
        return (
            f"no option {flag!r}: a server speaks over standard input and output, and nothing else"
        )
    return sentence


def _find_limit(flag: str) -> str | None:
    """Return the limit that *flag* would set if it were an option: `--grace` means
    `grace_seconds`.
    """
    name = flag.removeprefix("--").replace("-", "_")
    for limit in (name, f"{name}_seconds"):
        if limit in LIMITS:
            return limit
    return None


def _list_commands(flag: str) -> list[str]:
    """Return the names of the commands that have the option *flag*."""
    found = []
    for name in COMMANDS:
        options = import_command(name).COMMAND.options
        if any(flag in option.flags for option in options):
            found.append(name)
    return found


def explain_unknown_command(words: list[str]) -> str:
    """Return a sentence about *words*, which begin with no command of `toolwire`."""
    word = words[0]
    if word.startswith("-"):
        return (
            explain_unknown_name("option", word, ["--help", "--version"])
            + "; other options go after a command"
        )
    if word.endswith((".py", ".yaml", ".yml")) or os.path.exists(word):
        return f"say what to do with {word}, as in `toolwire serve {word}`"
    if instead := suggest_instead(words):
        return f"no command {word!r}; {instead}"
    return explain_unknown_name("command", word, COMMANDS)
