"""Tools, resources and prompts for the page of `toolwire inspect`: each shows one thing that the
page can do.
"""

from __future__ import annotations

import base64
import os
import sys
import time
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from toolwire_tools import Context, Image, Message, complete, prompt, resource, tool_api

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
)
PATIENCE_SECONDS = 60.0


@dataclass
class Address:
    street: str
    city: str


@dataclass
class Person:
    name: str
    born: date
    addresses: list[Address] = field(default_factory=list)
    colour: Literal["red", "green", "blue"] = "red"
    tags: dict[str, str] = field(default_factory=dict)


@dataclass
class Trip:
    nights: int
    breakfast: bool = True
    room: Literal["single", "double"] = "double"


@tool_api(read_only=True)
def register(
    person: Person, notify: bool = True, limit: int = 10, note: str | None = None
) -> dict[str, Any]:
    """Register a person, and return what was given.

    Args:
        person: The person.
        notify: Whether a mail is sent.
        limit: At most so many.
        note: Anything else.
    """
    return {"person": person, "notify": notify, "limit": limit, "note": note}


@tool_api(read_only=True)
def echo(value: Any) -> Any:
    """Return any value."""
    return value


@tool_api
def work(context: Context, until: str) -> str:
    """Report one step, and wait until a file exists.

    Args:
        until: The path of the file.
    """
    context.log("begun")
    context.progress(1, 4, "one step")
    end = time.monotonic() + PATIENCE_SECONDS
    while not Path(until).exists() and time.monotonic() < end:
        context.check()
        time.sleep(0.01)
    return "worked"


@tool_api
def book(context: Context, city: str = "Paris") -> str:
    """Book a stay, and ask for its details."""
    trip = context.ask(f"Your stay in {city}?", Trip)
    return f"{trip.nights} nights in a {trip.room} room in {city}"


@tool_api(read_only=True)
def picture() -> Image:
    """Return a red pixel."""
    return Image(data=PIXEL)


@tool_api
def die() -> None:
    """End the server's process."""
    print("the disk is full", file=sys.stderr, flush=True)
    os._exit(3)


@resource("notes://note/{name}", media_type="text/markdown")
def note(name: Annotated[str, complete(["milk", "tea"])]) -> str:
    """Read one note."""
    return f"Buy **{name}**."


@resource("notes://all")
def notes() -> list[str]:
    """List all notes."""
    return ["milk", "tea"]


@prompt
def plan(note: Annotated[str, complete(["milk", "tea"])], hours: int = 8) -> list[Any]:
    """Plan a day around a note."""
    return [Message("I plan days.", role="assistant"), f"I have {hours} hours for {note}."]
