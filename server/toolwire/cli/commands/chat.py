"""`toolwire chat`: has a language model answer one question after the other, as they are typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolwire_schemas.did_you_mean import unknown_name
from toolwire_schemas.output import remove_emphasis

from ...errors import UsageError
from ..agent_options import OPTIONS
from ..agent_run import AgentRun
from ..output import tools_listing, width
from . import Command

if TYPE_CHECKING:
    from ..options import Words

COMMAND = Command(
    usage=("toolwire chat --model NAME [OPTIONS] [-- COMMAND]",),
    details=(
        "Each line is a question; the model remembers the earlier ones. /help lists the commands."
    ),
    options=OPTIONS,
    examples=("toolwire chat --tools tools.py --model anthropic:claude-sonnet-4-5",),
)

_COMMANDS = {
    "/help": "this list",
    "/tools": "the tools that the model may use",
    "/continue": "resume a question that was interrupted or waits for you",
    "/quit": "end the chat, as Ctrl-D does",
}


def run(words: Words) -> int:
    """Answer each line of input until the end."""
    if words.words:
        raise UsageError("chat reads its questions from standard input; `toolwire ask` takes one")
    return AgentRun(words).run(_chat)


async def _chat(running: AgentRun) -> int:
    if running.terminal.is_attended:
        running.terminal.tell("/help lists the commands")
    if running.session.can_go_on:
        running.terminal.tell("the last question is not answered yet; /continue resumes it")
    prompt = "\n> " if running.terminal.is_attended else ""
    while (
        line := await running.terminal.read_line(prompt, "Ctrl-D or /quit ends the chat")
    ) is not None and line.strip() != "/quit":
        if line.strip():
            await _do(line.strip(), running)
    return 0


async def _do(line: str, running: AgentRun) -> None:
    session = running.session
    match line:
        case "/help":
            listed = [f"{name:<10} {what}" for name, what in _COMMANDS.items()]
            running.terminal.tell("\n".join(listed))
        case "/tools":
            running.terminal.tell(await _tools(running))
        case "/continue" if session.can_go_on:
            await running.show(session.go_on())
        case "/continue":
            running.terminal.tell("the last question is done")
        case _ if line.startswith("/"):
            running.terminal.tell(unknown_name("command", line.split()[0], _COMMANDS))
        case _:
            await running.show(session.run(line))


async def _tools(running: AgentRun) -> str:
    from toolwire_agent import AsyncToolbox

    tools = (
        [tool.raw for tool in await AsyncToolbox(running.tools).list_tools()]
        if running.tools
        else []
    )
    return remove_emphasis(tools_listing(tools, width() - 2)) if tools else "no tools"
