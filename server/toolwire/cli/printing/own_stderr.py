"""The stderr of a Toolwire server that a command starts for its targets."""

from __future__ import annotations

from ...mounting.foreign_stderr import ForeignStderr
from .terminal import print_failure

_PREFIX = "toolwire: "


class OwnStderr(ForeignStderr):
    """Writes the lines of such a server; why it could not start looks like a failure of the
    command.
    """

    def _print(self, text: str) -> None:
        from ...log import LEVELS  # most servers write nothing

        sentence = text.removeprefix(_PREFIX)
        level, _, _ = sentence.partition(": ")
        is_failure = sentence != text and level not in LEVELS
        if is_failure:
            print_failure(sentence)
        else:
            super()._print(text)
