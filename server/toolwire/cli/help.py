"""Help texts, generated from the commands' descriptions."""

from __future__ import annotations

from textwrap import fill, wrap

from .commands import COMMANDS, Command, module
from .options import HELP, Option

_MAX_COLUMNS = 100


def overview() -> str:
    """Return the text of `toolwire --help`."""
    lines = ["Python functions as tools for any program.", "", "usage: toolwire COMMAND ...", ""]
    width = max(map(len, COMMANDS)) + 2
    lines += [f"  {name:<{width}}{summary}" for name, summary in COMMANDS.items()]
    return "\n".join(
        [
            *lines,
            "",
            (
                "toolwire COMMAND --help describes a command; toolwire --version prints the version"
                " (-v: its place)."
            ),
        ]
    )


def help_text(name: str, width: int, command: Command | None = None) -> str:
    """Return the text of `toolwire COMMAND --help` for the command *name*, at most *width* columns
    wide. A *command* is that of an extension.
    """
    asked: Command = command or module(name).COMMAND
    columns = min(width, _MAX_COLUMNS)
    usage = "\n".join(
        f"{'usage:' if number == 0 else '':<7}{line}" for number, line in enumerate(asked.usage)
    )
    summary = COMMANDS.get(name, "")
    if summary:
        summary = summary[0].upper() + summary[1:] + "."
    options = _options((*asked.options, HELP), columns)
    examples = "\n".join(f"  {line}" for line in asked.examples)
    about = "\n\n".join(fill(text, columns) for text in (summary, asked.details) if text)
    return f"{usage}\n\n{about}\n\noptions:\n{options}\n\nexamples:\n{examples}"


def _options(options: tuple[Option, ...], columns: int) -> str:
    indent = 2 + max(len(option.usage) for option in options) + 2
    lines: list[str] = []
    for option in options:
        text = wrap(option.help, max(columns - indent, 30))
        lines.append(f"  {option.usage:<{indent - 2}}{text[0]}")
        lines += [" " * indent + line for line in text[1:]]
    return "\n".join(lines)
