"""`toolwire chat`: has a language model answer one question after the other, as they are typed."""

from __future__ import annotations

import io
from functools import partial
from typing import TYPE_CHECKING

from toolwire_schemas.did_you_mean import unknown_name

from ...errors import UsageError
from ..agent_options import check_set
from ..agent_run import OPTIONS, Exchange
from ..output import Style, tools_table, width
from . import Command

if TYPE_CHECKING:
    from ..options import Words

COMMAND = Command(
    usage=("toolwire chat --model NAME [OPTIONS] [-- COMMAND]",),
    details="Each question is a line, and the model remembers those before it. /help lists what else can be typed.",
    options=OPTIONS,
    examples=("toolwire chat --tools tools.py --model anthropic:claude-sonnet-4-5",),
)

_TYPED = {
    "/help": "this list",
    "/tools": "the tools that the model may use",
    "/continue": "go on with a question that was interrupted, or waits for you",
    "/quit": "the end, as is Ctrl-D",
}


def run(words: Words) -> int:
    """Answer what is typed until that ends."""
    check_set(words.options)
    if words.words:
        raise UsageError("chat asks for its questions itself; `toolwire ask` takes one")
    exchange = Exchange(words)
    return exchange.run(partial(_chat, exchange))


async def _chat(exchange: Exchange) -> int:
    if exchange.is_attended:
        exchange.tell("/help lists the commands")
    if exchange.session.can_go_on:
        exchange.tell("the last question is not answered yet; /continue goes on with it")
    read = partial(exchange.line, "\n> " if exchange.is_attended else "", "Ctrl-D or /quit ends the chat")
    while (line := await read()) is not None and line.strip() != "/quit":
        if line.strip():
            await _do(line.strip(), exchange)
    return 0


async def _do(line: str, exchange: Exchange) -> None:
    session = exchange.session
    match line:
        case "/help":
            exchange.tell("\n".join(f"{name:<10} {what}" for name, what in _TYPED.items()))
        case "/tools":
            await _show_tools(exchange)
        case "/continue" if session.can_go_on:
            await exchange.show(session.go_on())
        case "/continue":
            exchange.tell("the last question is done")
        case _ if line.startswith("/"):
            exchange.tell(unknown_name("command", line.split()[0], _TYPED))
        case _:
            await exchange.show(session.run(line))


async def _show_tools(exchange: Exchange) -> None:
    from toolwire_client import AsyncToolbox

    tools = [tool.raw for tool in await AsyncToolbox(exchange.tools).list_tools()] if exchange.tools else []
    table = tools_table(tools, width() - 2, Style(io.StringIO())) if tools else "There are no tools."
    exchange.tell(table)
