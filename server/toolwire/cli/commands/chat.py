"""`toolwire chat`: has a language model answer one question after the other, as they are typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolwire_schemas.did_you_mean import say_unknown_name
from toolwire_schemas.language import say
from toolwire_schemas.output import remove_emphasis

from ...errors import UsageError
from ..agent.agent_options import OPTIONS
from ..agent.agent_run import AgentRun
from ..printing.layout import find_width, format_tools
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


def _describe_commands() -> dict[str, str]:
    """Return what each command of the chat does, in the language of the run."""
    return {
        "/help": say("this list"),
        "/tools": say("the tools that the model may use"),
        "/continue": say("resume a question that was interrupted or waits for you"),
        "/quit": say("end the chat, as Ctrl-D does"),
    }


def run(words: Words) -> int:
    """Answer each line of input until the end."""
    if words.words:
        raise UsageError("chat reads its questions from standard input; `toolwire ask` takes one")
    return AgentRun(words).run(_chat)


async def _chat(running: AgentRun) -> int:
    if running.terminal.is_attended:
        running.terminal.tell(say("/help lists the commands"))
    if running.session.can_go_on:
        running.terminal.tell(say("the last question is not answered yet; /continue resumes it"))
    prompt = "\n> " if running.terminal.is_attended else ""
    how_to_leave = say("Ctrl-D or /quit ends the chat")
    while True:
        line = await running.terminal.read_line(prompt, how_to_leave)
        if line is None or line.strip() == "/quit":
            return 0
        if line.strip():
            await _obey(line.strip(), running)


async def _obey(line: str, running: AgentRun) -> None:
    session = running.session
    match line:
        case "/help":
            listed = [f"{name:<10} {what}" for name, what in _describe_commands().items()]
            running.terminal.tell("\n".join(listed))
        case "/tools":
            running.terminal.tell(await _list_tools(running))
        case "/continue" if session.can_go_on:
            await running.show(session.go_on())
        case "/continue":
            running.terminal.tell(say("the last question is done"))
        case _ if line.startswith("/"):
            name = line.split()[0]
            running.terminal.tell(say_unknown_name("command", name, _describe_commands()))
        case _:
            await running.show(session.run(line))


async def _list_tools(running: AgentRun) -> str:
    from toolwire_agent import AsyncToolbox

    tools = await AsyncToolbox(running.tools).list_tools()
    if not tools:
        return say("no tools")
    return remove_emphasis(format_tools([tool.raw for tool in tools], find_width() - 2))
