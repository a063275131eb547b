"""What can be typed behind `toolwire`: one file for each command, imported when it is asked for.

Each says in `COMMAND` how the command is written, and `run` does it: it takes the words behind the command's name and
returns the exit status. A server that is started waits for nothing that other commands need.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import msgspec

from ..options import Option, Words  # noqa: TC001  # the Struct reads its fields' types

COMMANDS = {
    "serve": "serve Python functions as tools over standard input and output",
    "list": "list the tools of a target, or of any MCP server that COMMAND starts",
    "call": "call one tool and print what it answers",
    "ask": "have a language model answer a question with tools",
    "chat": "ask a language model with tools one question after the other",
    "config": "tell a host how to start the tools: what to paste, or --write it",
    "schema": "the published schemas of the wire, for hosts in any language",
    "check": "test whether a tool server keeps the contract: any that COMMAND starts",
    "diff": "tell what changed between two lists of tools, and whom that breaks",
    "demo": "show a server at work: list, call, stream, fail, cancel, solve",
}
"""What each command is for, in the order in which `toolwire --help` lists them."""


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """How a command is written.

    The options that it *passes_on* to another program it takes as they were typed.
    """

    usage: tuple[str, ...]
    details: str
    options: tuple[Option, ...]
    examples: tuple[str, ...]
    passes_on: tuple[Option, ...] = ()


def command(name: str) -> Command:
    """Return how the command *name* is written."""
    described: Command = _module(name).COMMAND
    return described


def run(name: str, words: Words) -> int:
    """Do what *words* say behind the command *name*, and return the exit status."""
    status: int = _module(name).run(words)
    return status


def _module(name: str) -> Any:
    return import_module(f".{name}", __name__)
