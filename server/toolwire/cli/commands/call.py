"""`toolwire call`: calls one tool with arguments from the command line, and prints the result."""

from __future__ import annotations

import sys
from shlex import quote
from typing import TYPE_CHECKING, Any

from ...errors import Failed, UsageError
from ...loading import argument_text as values
from ..open_client import (
    ask_user,
    choose_command,
    connect_to,
    is_mounting,
    is_own_server,
    make_limit,
)
from ..options import JSON, LOADING, Option
from ..printing.call_result import print_result
from ..printing.progress import ProgressLine
from ..printing.terminal import print_remark
from . import Command

if TYPE_CHECKING:
    from toolwire_client import Client, Task, ToolDescription
    from toolwire_schemas.deadline import Deadline

    from ..options import Words

COMMAND = Command(
    usage=(
        "toolwire call TARGET NAME [KEY=VALUE... | JSON] [OPTIONS]",
        "toolwire call NAME [KEY=VALUE... | JSON] [OPTIONS] -- COMMAND",
        "toolwire call NAME [KEY=VALUE... | JSON] --mount [NAME=]COMMAND",
        "toolwire call [TARGET] --saved NAME [KEY=VALUE...]",
    ),
    details=(
        "Values are parsed by the tool's schema: text stays text, the rest is JSON. KEY=@FILE takes"
        " what a file holds (in Base64 if the tool takes data) and KEY=@- standard input (KEY=@@x"
        " is the text @x), A.B=VALUE reaches into an object, a repeated KEY adds to a list. NAME is"
        " optional if there is one tool. TARGET and COMMAND may be the URL of a remote"
        " server. On a terminal, elicitations of the tool are put to you."
        " The exit status is 1 if the tool fails."
    ),
    options=(
        JSON,
        *LOADING,
        Option(
            "--saved NAME",
            "make the call that the page of `inspect` has saved as NAME in .toolwire/calls.json, of"
            " the same server unless another one is named; KEY=VALUE replaces an argument",
        ),
        Option("-o, --output FILE", "save images and other data to FILE"),
        Option(
            "--timeout SECONDS",
            "time limit, including the start of the server; then the call is cancelled",
        ),
        Option(
            "--task",
            "with COMMAND: print the id of the task that the server makes of the call, and leave"
            " it there; `toolwire tasks get ID` waits for it",
        ),
    ),
    examples=(
        "toolwire call tools.py add a=2 b=3",
        "toolwire call Calculator expression='1/3 + 1/6'",
        """toolwire call tools.py search '{"query": "tea", "limit": 3}'""",
        "toolwire call --saved tea limit=5",
        "toolwire call tools.py resize image=@photo.jpg",
        "toolwire call read_file path=notes.txt -- npx -y some-mcp-server",
    ),
)


def run(words: Words) -> int:
    """Print the result, and return 1 if the tool failed."""
    saved: dict[str, Any] = {}
    if "saved" in words.options:
        words, saved = _read_saved(words)
    rest = list(words.words)
    targets: list[str] = []
    if rest and words.command is None and not is_mounting(words.options):
        targets.append(rest.pop(0))
    if "task" in words.options and words.command is None:
        raise UsageError(
            "--task leaves the call at its server, and that of a target ends with this command:"
            " name one that goes on, as in -- toolwire serve --share tools.py"
        )
    limit = make_limit(words)
    line = ProgressLine(sys.stderr)
    command = choose_command(words, targets)
    is_ours = is_own_server(words, command)
    on_ask = ask_user(before=line.clear)
    connecting = connect_to(command, is_ours=is_ours, limit=limit, on_ask=on_ask, calls_tools=True)
    with connecting as client:
        tools = client.list_tools(timeout_seconds=limit.seconds_left)
        tool = _take_tool(rest, tools, targets)
        arguments = saved | values.read(rest, tool.input_schema)
        try:
            if "task" in words.options:
                task = _start_task(client, tool.name, arguments, limit, line)
                if task.id:  # the server has answered with a handle
                    from .tasks.actions import note_task

                    note_task(task, command, is_ours=is_ours)
                    return 0
                answer = task.result()
            else:
                answer = client.call_tool(
                    tool.name, arguments, on_progress=line, timeout_seconds=limit.seconds_left
                )
        finally:
            line.clear()
        print_result(answer, words.options)
        if answer.is_error:
            for name in values.find_unencoded(arguments, tool.input_schema):
                print_remark(f"{name} takes data in Base64: {name}=@FILE sends what a file holds")
    return 1 if answer.is_error else 0


def _read_saved(words: Words) -> tuple[Words, dict[str, Any]]:
    """Return the words of a call that is saved, and its arguments."""
    from ...inspect.saved_calls import find_call

    saved = find_call(words.options["saved"])
    rest = list(words.words)
    targets: list[str] = []
    command = words.command
    if rest and "=" not in rest[0]:
        targets.append(rest.pop(0))
    is_named = bool(targets) or command is not None or is_mounting(words.options)
    if not is_named and saved.target is not None:
        targets.append(saved.target)
    elif not is_named:
        command = saved.command
    return type(words)(words.options, [*targets, saved.tool, *rest], command), saved.arguments


def _start_task(
    client: Client, name: str, arguments: dict[str, Any], limit: Deadline, line: ProgressLine
) -> Task:
    """Call the tool *name* as a task; until the server has answered, *line* shows the progress."""
    from toolwire_client import NoTasks

    left = limit.seconds_left
    try:
        return client.call_tool(name, arguments, on_progress=line, timeout_seconds=left, task=True)
    except NoTasks:
        raise Failed("the server has no tasks: leave out --task") from None


def _take_tool(
    words: list[str], tools: list[ToolDescription], targets: list[str]
) -> ToolDescription:
    """Return the tool that the first of *words* names, which is removed, or the only one."""
    if not _names_tool(words, tools):
        return tools[0]
    return _find_tool(words.pop(0), tools, targets)


def _names_tool(words: list[str], tools: list[ToolDescription]) -> bool:
    """Return whether the first of *words* is the name of the tool, which is optional for a single
    one.

    Raises:
        UsageError: if a name is needed and missing.
    """
    if len(tools) == 1:
        if not words:
            return False
        is_argument = "=" in words[0] or words[0].startswith("{")
        return not is_argument or words[0] == tools[0].name
    if not words:
        raise UsageError(f"name the tool to call: {', '.join(tool.name for tool in tools)}")
    return True


def _find_tool(name: str, tools: list[ToolDescription], targets: list[str]) -> ToolDescription:
    spellings = [name]
    for target in targets:  # of a toolkit's method, of a bundled one's
        spellings += [name.replace(".", "_", 1), f"{target}_{name}"]
    by_name = {tool.name: tool for tool in tools}
    for spelling in spellings:
        if spelling in by_name:
            return by_name[spelling]
    raise UsageError(_explain_unknown(name, tools, targets))


def _explain_unknown(name: str, tools: list[ToolDescription], targets: list[str]) -> str:
    from toolwire_schemas.did_you_mean import (  # only a mistake needs these
        explain_unknown_name,
        find_closest,
    )

    from ...loading import bundled_targets
    from ...loading import targets as loading

    for target in targets:
        if not loading.parse(target).is_bundled:
            continue
        need = bundled_targets.explain_need(target, name)
        if need is not None:
            return need
    problem = explain_unknown_name("tool", name, [tool.name for tool in tools])
    if len(tools) == 1 and not find_closest(name, [tools[0].name]):
        argument = next(iter(tools[0].input_schema.get("properties", {})), "NAME")
        problem += f"; if that is an argument, give its name: {quote(f'{argument}={name}')}"
    return problem
