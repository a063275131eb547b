"""Text with places for a call's arguments, as command lines in YAML have it: `--max={limit}`.

A place is `{name}`, or `{name?}` for what may be absent, or `{name?text}`, which is *text* if the argument is true or
given. `{*}` is all arguments as JSON. `{{` and `}}` stand for braces. A template is filled once: what an argument
brings with it is never read as a template again, and no attribute or index can be reached.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.wire.codec import encode

if TYPE_CHECKING:
    from collections.abc import Mapping

EVERYTHING = "*"
"""The name of the place that takes all arguments."""


class Place(msgspec.Struct, frozen=True):
    """Where an argument goes. *instead* is what stands there if the argument is true or given; None: its value."""

    name: str
    optional: bool = False
    instead: str | None = None

    def fill(self, arguments: Mapping[str, Any]) -> str | None:
        """What stands here for *arguments*; None if nothing does."""
        value = dict(arguments) if self.name == EVERYTHING else arguments.get(self.name)
        if value is None:
            return None
        if self.instead is not None:
            return None if value is False else self.instead
        return value if isinstance(value, str) else encode(value).decode()


class Template(msgspec.Struct, frozen=True):
    """Text and places, in their order."""

    parts: tuple[str | Place, ...]

    @property
    def places(self) -> list[Place]:
        """The places alone."""
        return [part for part in self.parts if isinstance(part, Place)]

    def fill(self, arguments: Mapping[str, Any]) -> str | None:
        """The text with *arguments* in their places; None if one of these is absent."""
        filled = [part if isinstance(part, str) else part.fill(arguments) for part in self.parts]
        texts = [text for text in filled if text is not None]
        return "".join(texts) if len(texts) == len(filled) else None


def parse(text: str) -> Template:
    """Return *text* taken apart.

    Raises:
        ValueError: if a brace belongs to no place; says which.
    """
    parts: list[str | Place] = []
    for found in _PART.finditer(text):
        part = found[0]
        if found["name"] is not None:
            parts.append(Place(found["name"].strip(), found["optional"] is not None, found["instead"] or None))
        elif part in "{}":
            raise ValueError(f"the {part!r} at character {found.start() + 1} belongs to no place; write {part * 2!r}")
        else:
            parts.append(part[0] if part in ("{{", "}}") else part)
    return Template(tuple(parts))


_PART = re.compile(r"\{\{|\}\}|\{(?P<name>[^{}?]+)(?P<optional>\?(?P<instead>[^{}]*))?\}|[^{}]+|[{}]")
