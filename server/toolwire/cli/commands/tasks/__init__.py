"""`toolwire tasks`: lists, waits for and cancels calls that go on at their servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....errors import UsageError
from ...options import JSON, LOADING, Option
from .. import Command

if TYPE_CHECKING:
    from ...options import Words

COMMAND = Command(
    usage=(
        "toolwire tasks ls [--json]",
        "toolwire tasks get ID [OPTIONS]",
        "toolwire tasks cancel ID",
        "toolwire tasks get|cancel ID TARGET... | -- COMMAND",
    ),
    details=(
        "`toolwire call --task` leaves a call at its server, which keeps the result, and notes the"
        " task. ls lists these tasks with their last known state. get starts the server again,"
        " waits for the task and prints its result, as call does; on a terminal, elicitations of"
        " the tool are put to you, and Ctrl-C leaves the task running. cancel asks the server to"
        " end it. An ID may be shortened. A task that is not noted here needs its whole ID and its"
        " server. Only a server that keeps tasks when it ends, as with `toolwire serve --task-store"
        " FILE`, or one with --share, knows them the next time."
    ),
    options=(
        JSON,
        *LOADING,
        Option("--no-wait", "with get: print the state now"),
        Option("-o, --output FILE", "with get: save images and other data to FILE"),
        Option("--timeout SECONDS", "time limit, including the start of the server"),
    ),
    examples=(
        "toolwire tasks ls",
        "toolwire tasks get 3fa2",
        "toolwire tasks cancel 3fa2",
        "toolwire tasks get 786512e2-9e0d-44bd -- npx -y some-mcp-server",
    ),
)


def run(words: Words) -> int:
    """Do what the first word says."""
    from .actions import cancel_task, get_task, list_tasks

    verb, *rest = words.words or [""]
    if verb == "ls" and not rest and words.command is None:
        return list_tasks(as_json="json" in words.options)
    if verb == "get" and rest:
        return get_task(rest[0], rest[1:], words)
    if verb == "cancel" and rest:
        return cancel_task(rest[0], rest[1:], words)
    raise UsageError("say what to do: tasks ls, tasks get ID, or tasks cancel ID")
