"""A run of an agent at a terminal: how it is shown, and how the person there is asked."""

from __future__ import annotations

from .event_lines import Line, closing, told
from .keyboard import Keyboard
from .main_thread import Interrupted, MainThread
from .prompts import Person
from .renderers import Face, JsonFace, PlainFace

__all__ = [
    "Face",
    "Interrupted",
    "JsonFace",
    "Keyboard",
    "Line",
    "MainThread",
    "Person",
    "PlainFace",
    "closing",
    "told",
]
