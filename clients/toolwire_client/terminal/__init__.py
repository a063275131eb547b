"""A run of an agent at a terminal: how it is shown, and how the person there is asked."""

from __future__ import annotations

from .faces import Face, JsonFace, PlainFace
from .keyboard import Keyboard
from .main_thread import Interrupted, MainThread
from .person import Person
from .story import Line, closing, told

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
