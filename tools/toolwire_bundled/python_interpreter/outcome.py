"""Words the outcome of a piece of code for its author. Runs nothing."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from toolwire_tools.errors import ToolError

if TYPE_CHECKING:
    from .job import Ended, Job

_NOTHING = "(The code printed nothing, and its last statement is no expression with a value.)"


def outcome(ended: Ended, job: Job) -> list[str]:
    """The texts of the result: the answer of the code, if it has one, then what it printed, if it
    did.

    Raises:
        ToolError: if it failed, or has written anything else where its result belongs.
    """
    kind, _, said = ended.result.decode("utf-8", "replace").partition("\n")
    printed = ended.output.rstrip()
    problem = _problem(ended.status, kind, said, job)
    if problem:
        raise ToolError(f"{problem}\n\nIt had printed:\n{printed}" if printed else problem)
    if kind == "none":
        return [printed or _NOTHING]
    return [said, f"Printed:\n{printed}"] if printed and not job.answer_from_stdout else [said]


def _problem(status: int | None, kind: str, said: str, job: Job) -> str:
    if status is None:
        return f"The code was ended at its time limit, {job.timeout_seconds:g} s."
    if kind in ("value", "none"):
        return ""
    if kind == "error":
        return said or "The code failed."
    if kind:
        return "The code wrote something else where its result belongs."
    if status < 0:
        return f"The code's process was killed by signal {-status}{_named(-status)}."
    return f"The code ended its process, with exit status {status}, before it had a result."


def _named(number: int) -> str:
    try:
        return f" ({signal.Signals(number).name})"
    except ValueError:
        return ""
