"""Tools by the name `dice`: `toolwire serve dice`."""

from __future__ import annotations

import random

from toolwire import tool_api


@tool_api(read_only=True)
def roll(sides: int = 6) -> int:
    """Roll a die."""
    return random.randint(1, sides)
