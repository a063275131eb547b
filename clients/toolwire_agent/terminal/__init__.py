"""Shows a run of an agent at a terminal, and asks the user there."""

from __future__ import annotations

from toolwire_client.waiting.main_thread import Interrupted, MainThread

from .event_lines import Line, make_event_lines
from .keyboard import Keyboard
from .prompts import Person
from .renderer_choice import choose_renderer
from .renderers import JsonRenderer, PlainRenderer, Renderer
from .terminal_run import TerminalRun

__all__ = [
    "Interrupted",
    "JsonRenderer",
    "Keyboard",
    "Line",
    "MainThread",
    "Person",
    "PlainRenderer",
    "Renderer",
    "TerminalRun",
    "choose_renderer",
    "make_event_lines",
]
