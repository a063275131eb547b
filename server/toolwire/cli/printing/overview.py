"""The text of `toolwire --help`, which needs neither the commands nor what they import."""

from __future__ import annotations

# as that of `typing`, which `--help` does not need
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def format_overview(commands: Mapping[str, str]) -> str:
    """Return the text of `toolwire --help` for *commands*, with their summaries."""
    lines = ["Python functions as tools for any program.", "", "usage: toolwire COMMAND ...", ""]
    width = max(map(len, commands)) + 2
    lines += [f"  {name:<{width}}{summary}" for name, summary in commands.items()]
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
