"""The resources and prompts that every peer is tried with; served as a file."""

from __future__ import annotations

from toolwire import AsyncContext, prompt, resource
from toolwire_tools import Image, Message
from toolwire_tools.resources.resource import ResourceNotFound

PIXEL = b"\x89PNG\r\n\x1a\n"


@resource("config://app", title="Settings")
def settings() -> dict[str, int]:
    """The settings."""
    return {"size": 3}


@resource("notes://{day}/{path*}{?limit}", media_type="text/markdown")
async def note(day: int, path: str, context: AsyncContext, limit: int = 9) -> str:
    """A note of a day."""
    context.progress(1)
    if day > 31:
        raise ResourceNotFound(f"no day {day}")
    return f"{day} {path} {limit}"


@resource("pixel://one")
def pixel() -> Image:
    return Image(PIXEL)


@prompt(title="Review")
def review(code: str, level: int = 1) -> list[object]:
    """Review code.

    Args:
        code: the code
    """
    return [Message("I review code.", "assistant"), f"{code} at {level + 1}", Image(PIXEL)]
