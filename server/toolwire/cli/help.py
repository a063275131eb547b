"""Help texts, generated from the commands' descriptions."""

from __future__ import annotations

from textwrap import fill, wrap

from ..settings import DEFAULTS, SETTINGS, Setting
from . import COMMANDS
from .commands import Command, import_command
from .options import HELP, HELP_ALL

_MAX_COLUMNS = 100


def format_help(
    name: str, width: int, command: Command | None = None, *, shows_all: bool = False
) -> str:
    """Return the text of `toolwire COMMAND --help` for the command *name*, at most *width* columns
    wide. A *command* is that of an extension. With *shows_all* it has rare options, too.
    """
    asked: Command = command or import_command(name).COMMAND
    columns = min(width, _MAX_COLUMNS)
    # The lines after the first are aligned with it.
    parts = ["usage: " + "\n       ".join(asked.usage)]
    summary = COMMANDS.get(name)
    if summary:
        sentence = summary[0].upper() + summary[1:] + "."
        parts.append(fill(sentence, columns))
    if asked.details:
        parts.append(fill(asked.details, columns))
    shows_all = shows_all or HELP_ALL not in asked.options
    rows = []
    for option in (*asked.options, HELP):
        if shows_all or not option.is_rare:
            rows.append((option.usage, option.help))
    parts.append(_format_section("options", rows, columns))
    if asked.limits and shows_all:
        limits = [_describe_limit(limit) for limit in asked.limits]
        parts.append(_format_section("limits, for --limit NAME=VALUE", limits, columns))
    examples = "\n".join(f"  {line}" for line in asked.examples)
    parts.append(f"examples:\n{examples}")
    return "\n\n".join(parts)


def _describe_limit(name: str) -> tuple[str, str]:
    """Return the usage and the help of a limit."""
    setting = SETTINGS[name]
    default = _format_default(setting, DEFAULTS[name])
    return f"{name}={setting.unit}", f"{setting.help} (default: {default})"


def _format_default(setting: Setting, default: float | None) -> str:
    from toolwire_tools.byte_sizes import format_size  # the help of most commands needs no tools

    if default is None:
        return "none"
    if setting.unit == "SIZE":
        return format_size(int(default)).replace(" ", "")
    if setting.unit == "SECONDS":
        return f"{default:g}"
    return str(default)


def _format_section(title: str, rows: list[tuple[str, str]], columns: int) -> str:
    """Return *rows*, each a usage and its help, under *title*."""
    indent = 2 + max(len(usage) for usage, _ in rows) + 2
    lines = [f"{title}:"]
    for usage, text in rows:
        first, *others = wrap(text, max(columns - indent, 30))
        lines.append(f"  {usage:<{indent - 2}}{first}")
        lines += [" " * indent + line for line in others]
    return "\n".join(lines)
