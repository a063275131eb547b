"""A bare server of the same SDK as the one that is checked: a failure that both have comes from the
SDK.

Strategy. The interpreter that runs the server also runs `bare_server.py`, with one class of the
SDK after the other, until one answers the two requests of `sdks.py` as the server does. So no
version of an SDK has to be known. Only Linux shows the interpreter of a process.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_client.errors import NotStarted

from ..report import is_bad
from .bare_server import CLASSES
from .sdks import ask_for_signs
from .server_facts import find_revision, find_server_name, try_handshake

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ..judging.conversation import Message
    from ..report import Verdict
    from .server_facts import Facts
    from .server_process import ServerUnderTest

    StartCommand = Callable[[Sequence[str]], ServerUnderTest]

_SOURCE = Path(__file__).with_name("bare_server.py")

# As `python FILE`, but the folder of the file is no place to import from, nor is the current one.
_LAUNCH = (
    "import runpy, sys; file, *rest = sys.argv[1:]; sys.argv = [file, *rest];"
    " sys.path[:] = [each for each in sys.path if each]; runpy.run_path(file, run_name='__main__')"
)


class Control(msgspec.Struct, frozen=True):
    """A bare server: the *command* that starts it, and its *title*, `MCPServer 2.3.0`."""

    command: list[str]
    title: str

    @property
    def reason(self) -> str:
        """Why a failure of both is a known gap."""
        return f"a bare {self.title} does the same"


def find_control(facts: Facts, start: StartCommand) -> Control | None:
    """Return the bare server that answers as the server with these *facts*; `None` if there is
    none. *start* starts a command as the server was started.
    """
    signs = facts.signs
    if signs is None or signs.interpreter is None or not signs.answers:
        return None
    for name in CLASSES:
        command = [signs.interpreter, "-c", _LAUNCH, str(_SOURCE), name]
        try:
            server = start(command)
        except NotStarted:
            return None
        with closing(server):
            opening = try_handshake(server, signs.era, facts.start_seconds)
            if opening is None:  # the environment has no such class
                continue
            answers = ask_for_signs(server, find_revision(opening, signs.era))
            if answers and _read_errors(answers) == _read_errors(signs.answers):
                return Control(command, find_server_name(opening))
    return None


def _read_errors(signs: Mapping[str, Message]) -> list[tuple[Any, Any]]:
    errors = []
    for name in sorted(signs):
        error = signs[name].get("error")
        if not isinstance(error, dict):
            error = {}
        errors.append((error.get("code"), error.get("message")))
    return errors


def mark_shared_gaps(
    verdicts: Sequence[Verdict], control: Control, verdicts_of_control: Sequence[Verdict]
) -> list[Verdict]:
    """Return *verdicts*, where failures that the bare server has too are known gaps."""
    shared = set()
    for verdict in verdicts_of_control:
        if is_bad(verdict):
            shared.add((verdict.case, verdict.revision, verdict.framing))
    marked = []
    for verdict in verdicts:
        key = (verdict.case, verdict.revision, verdict.framing)
        is_lasting = not verdict.after  # else it is a state of this server
        if key in shared and is_bad(verdict) and is_lasting:
            verdict = msgspec.structs.replace(
                verdict, outcome="known gap", reason=control.reason, sdk=control.title
            )
        marked.append(verdict)
    return marked
