"""`toolwire completion`: prints the script with which a shell completes `toolwire`.

`candidates` finds the words that may follow, `scripts` has the part that runs in each shell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....errors import UsageError
from ...options import Option
from ...printing.terminal import print_data
from .. import Command

if TYPE_CHECKING:
    from ...options import Words

COMMAND = Command(
    usage=("toolwire completion SHELL",),
    details=(
        "A SHELL is bash (4.4 or later), zsh or fish. It completes commands, options and their"
        " values, targets, and for `call` tools and arguments: then the server of the target is"
        " started and asked for its tools."
    ),
    options=(
        Option(
            "--next bash|zsh|fish",
            "print what may follow the words after `--`; the scripts use this",
            is_rare=True,
        ),
    ),
    examples=(
        "toolwire completion bash > ~/.local/share/bash-completion/completions/toolwire",
        "toolwire completion zsh > ~/.zfunc/_toolwire",
        "toolwire completion fish > ~/.config/fish/completions/toolwire.fish",
    ),
)


def run(words: Words) -> int:
    """Print the script of a shell, or what may follow a line that it completes."""
    from .scripts import SCRIPTS

    if "next" in words.options:
        print_data(_complete(words.options["next"], words.command or []))
        return 0
    if len(words.words) != 1 or words.words[0] not in SCRIPTS:
        raise UsageError(f"name the shell: {', '.join(SCRIPTS)}")
    print_data(SCRIPTS[words.words[0]].rstrip("\n"))
    return 0


def _complete(shell: str, typed: list[str]) -> str:
    from .candidates import find_candidates
    from .scripts import format_lines, split_line

    if shell == "bash":  # gives the line, since it divides words at `=` and `:`, too
        typed = split_line(typed[0])[1:] if typed else []
    if not typed:
        return "words"
    return format_lines(find_candidates(typed), shell, typed[-1])
