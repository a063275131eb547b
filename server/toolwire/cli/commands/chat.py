"""`toolwire chat`: has a language model answer one question after the other, as they are typed."""

from __future__ import annotations

import io
from functools import partial
from typing import TYPE_CHECKING

from toolwire_schemas.did_you_mean import unknown_name

from ...errors import UsageError
from ..agent_options import check_set
from ..agent_run import OPTIONS, AgentRun
from ..output import Style, tools_table, width
from . import Command

if TYPE_CHECKING:
    from ..options import Words

COMMAND = Command(
    usage=("toolwire chat --model NAME [OPTIONS] [-- COMMAND]",),
    details="Each line is a question; the model remembers the earlier ones. /help lists the commands.",
    options=OPTIONS,
    examples=("toolwire chat --tools tools.py --model anthropic:claude-sonnet-4-5",),
)

_TYPED = {
    "/help": "this list",
    "/tools": "the tools that the model may use",
    "/continue": "resume a question that was interrupted or waits for you",
    "/quit": "end the chat, as Ctrl-D does",
}


def run(words: Words) -> int:
    """Answer each line of input until the end."""
    check_set(words.options)
    if words.words:
        raise UsageError("chat reads its questions from standard input; `toolwire ask` takes one")
    agent_run = AgentRun(words)
    return agent_run.run(partial(_chat, agent_run))


async def _chat(agent_run: AgentRun) -> int:
    if agent_run.is_attended:
        agent_run.tell("/help lists the commands")
    if agent_run.session.can_go_on:
        agent_run.tell("the last question is not answered yet; /continue resumes it")
    read = partial(agent_run.line, "\n> " if agent_run.is_attended else "", "Ctrl-D or /quit ends the chat")
    while (line := await read()) is not None and line.strip() != "/quit":
        if line.strip():
            await _do(line.strip(), agent_run)
    return 0


async def _do(line: str, agent_run: AgentRun) -> None:
    session = agent_run.session
    match line:
        case "/help":
            agent_run.tell("\n".join(f"{name:<10} {what}" for name, what in _TYPED.items()))
        case "/tools":
            await _show_tools(agent_run)
        case "/continue" if session.can_go_on:
            await agent_run.show(session.go_on())
        case "/continue":
            agent_run.tell("the last question is done")
        case _ if line.startswith("/"):
            agent_run.tell(unknown_name("command", line.split()[0], _TYPED))
        case _:
            await agent_run.show(session.run(line))


async def _show_tools(agent_run: AgentRun) -> None:
    from toolwire_client import AsyncToolbox

    tools = [tool.raw for tool in await AsyncToolbox(agent_run.tools).list_tools()] if agent_run.tools else []
    table = tools_table(tools, width() - 2, Style(io.StringIO())) if tools else "no tools"
    agent_run.tell(table)
