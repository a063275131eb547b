"""A command: `toolwire count TARGET...` prints how many tools there are."""

from __future__ import annotations

from toolwire.cli.commands import Command
from toolwire.cli.options import Words
from toolwire.cli.printing.terminal import print_data
from toolwire.loading.targets import load

COMMAND = Command(
    usage=("toolwire count TARGET...",),
    details="Prints the number of tools that the targets have.",
    options=(),
    examples=("toolwire count tools.py",),
)


def run(words: Words) -> int:
    """Print the number of tools; return the exit status."""
    print_data(str(len(load(words.words))))
    return 0
