"""Words the outcome of a piece of code for its author. Runs nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolwire_schemas.language import say
from toolwire_tools.errors import ToolError
from toolwire_tools.processes.exit_status import describe_signal

if TYPE_CHECKING:
    from .job import Ended, Job

_NOTHING = "(The code printed nothing, and its last statement is no expression with a value.)"


def write_outcome(ended: Ended, job: Job) -> list[str]:
    """The texts of the result: the answer of the code, if it has one, then what it printed, if it
    did.

    Raises:
        ToolError: if it failed, or has written anything else where its result belongs.
    """
    kind, _, said = ended.result.decode("utf-8", "replace").partition("\n")
    printed = ended.output.rstrip()
    problem = _explain_problem(ended.status, kind, said, job)
    if problem:
        if printed:
            problem += "\n\n" + say("It had printed:") + f"\n{printed}"
        raise ToolError(problem)
    if kind == "none":
        return [printed or say(_NOTHING)]
    if printed and not job.answer_from_stdout:
        return [said, say("Printed:") + f"\n{printed}"]
    return [said]


def _explain_problem(status: int | None, kind: str, said: str, job: Job) -> str:
    if status is None:
        seconds = job.timeout_seconds
        return say("The code was ended at its time limit, {seconds:g} s.", seconds=seconds)
    if kind in ("value", "none"):
        return ""
    if kind == "error":
        return said or say("The code failed.")
    if kind:
        return say("The code wrote something else where its result belongs.")
    if status < 0:
        return say(
            "The code's process was killed by signal {number}.",
            number=describe_signal(-status),
        )
    return say(
        "The code ended its process, with exit status {status}, before it had a result.",
        status=status,
    )
