"""Chooses the renderer for the standard streams."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from toolwire_schemas.install_command import install_command
from toolwire_schemas.language import say

from .event_lines import Line
from .renderers import JsonRenderer, PlainRenderer

if TYPE_CHECKING:
    from .renderers import Renderer


def choose_renderer(*, has_json: bool, thinks: bool) -> Renderer:
    """Return a renderer for standard output and standard error: rich on a terminal, plain text
    elsewhere, or JSON.

    Without *thinks* the model is a person at the terminal.
    """
    if has_json:
        return JsonRenderer(sys.stdout, sys.stderr)
    plain = PlainRenderer(sys.stdout, sys.stderr)
    are_terminals = sys.stdout.isatty() and sys.stderr.isatty()
    if not are_terminals or os.environ.get("TERM") == "dumb":
        return plain
    try:
        from .rich_renderer import RichRenderer
    except ImportError:
        command = install_command("toolwire[agent]")
        plain.tell(Line("note", say("with rich this looks better: {command}", command=command)))
        return plain
    return RichRenderer(thinks=thinks)
