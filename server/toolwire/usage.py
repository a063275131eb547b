"""Help texts, made from the table of commands."""

from __future__ import annotations

from collections.abc import Callable  # noqa: TC003 (the Struct reads its fields' types)
from textwrap import fill, wrap
from typing import TYPE_CHECKING

import msgspec

from .options import HELP, Option, Words

if TYPE_CHECKING:
    from collections.abc import Mapping

_MAX_COLUMNS = 100


class Command(msgspec.Struct, frozen=True):
    """One command: how it is written, what it is for, and what does it (and returns the exit status).

    With *passes_on* it takes the options of that command too, as they were typed.
    """

    name: str
    usage: tuple[str, ...]
    summary: str
    details: str
    options: tuple[Option, ...]
    examples: tuple[str, ...]
    run: Callable[[Words], int]
    passes_on: str = ""


def overview(commands: Mapping[str, Command]) -> str:
    """Return what `toolwire --help` says."""
    lines = ["Python functions as tools for any program.", "", "usage: toolwire COMMAND ...", ""]
    lines += [f"  {name:<8}{command.summary}" for name, command in commands.items()]
    return "\n".join([*lines, "", "toolwire COMMAND --help tells more; toolwire --version prints the version."])


def help_text(command: Command, width: int) -> str:
    """Return what `toolwire COMMAND --help` says, no wider than *width*."""
    columns = min(width, _MAX_COLUMNS)
    usage = "\n".join(f"{'usage:' if number == 0 else '':<7}{line}" for number, line in enumerate(command.usage))
    summary = command.summary[0].upper() + command.summary[1:] + "."
    options = _options((*command.options, HELP), columns)
    examples = "\n".join(f"  {line}" for line in command.examples)
    about = "\n\n".join(fill(text, columns) for text in (summary, command.details) if text)
    return f"{usage}\n\n{about}\n\noptions:\n{options}\n\nexamples:\n{examples}"


def _value(option: Option) -> str:
    return f"[{option.metavar}]" if option.endings else option.metavar


def _options(options: tuple[Option, ...], columns: int) -> str:
    heads = [f"{', '.join(filter(None, (option.short, option.flag)))} {_value(option)}".rstrip() for option in options]
    indent = 2 + max(map(len, heads)) + 2
    lines: list[str] = []
    for head, option in zip(heads, options, strict=True):
        text = wrap(option.help, max(columns - indent, 30))
        lines.append(f"  {head:<{indent - 2}}{text[0]}")
        lines += [" " * indent + line for line in text[1:]]
    return "\n".join(lines)
