"""Tools that ask the user, and tools that come and go; a server of its own, run as a script."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import toolwire
from toolwire_tools import AsyncContext, Context, tool_api


@dataclass
class Order:
    """What the user wants of something."""

    count: int
    size: Literal["small", "large"]
    gift: bool = False


@tool_api
def order(what: str, context: Context) -> Order:
    """Order something, in a thread."""
    return context.ask(f"How much {what}?", Order)


@tool_api
async def order_async(what: str, context: AsyncContext) -> Order:
    """Order something, on the event loop."""
    return await context.ask(f"How much {what}?", Order)


@tool_api
def travel(context: Context) -> str:
    """Ask one question after the other."""
    place = context.ask("Where to?", str)
    return f"{place} {context.ask(f'How many days in {place}?', int)}"


@tool_api
def careful(context: Context) -> bool:
    """Ask, or assume the worst."""
    return context.ask("Sure?", default=False)


@tool_api
def learn() -> str:
    """Offer one more tool."""
    server.add(taught)
    return "learnt"


@tool_api
def taught() -> str:
    """What was learnt."""
    return "as taught"


server = toolwire.Server([order, order_async, travel, careful, learn], name="living")

if __name__ == "__main__":
    server.serve()
