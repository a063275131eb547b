"""Texts with named slots, such as `{{tools}}`, and remarks that fill the slots of a sentence.

Strategy. One pass over the template, never over the values: braces in a tool's description stay text. So do other
braces of the template, such as TypeScript's.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec
from toolwire_schemas.did_you_mean import closest

if TYPE_CHECKING:
    from collections.abc import Iterable

_SLOT = re.compile(r"\{\{\s*(\w+)\s*\}\}(\n*)")


class Remark(msgspec.Struct, frozen=True):
    """A sentence for the model, independent of its language: `Language.say` fills sentence `kind` with `details`."""

    kind: str
    details: dict[str, Detail] = {}


Detail = str | int | Remark


def remark(kind: str, **details: Detail) -> Remark:
    """Return a remark with these details."""
    return Remark(kind, details)


class TemplateError(ValueError):
    """A template lacks a slot or has an unknown one. The text names both."""


class Template:
    """A text with slots.

    Raises:
        TemplateError: if one of the *required* slots is not in it, or a slot that is neither required nor *optional*.
    """

    def __init__(self, text: str, *, required: Iterable[str] = (), optional: Iterable[str] = ()) -> None:
        required = tuple(required)
        known = (*required, *optional)
        slots = {found[1] for found in _SLOT.finditer(text)}
        if missing := [name for name in required if name not in slots]:
            raise TemplateError(f"the template lacks {_listed(missing)}; it has {_listed(sorted(slots)) or 'no slots'}")
        if strange := sorted(slots.difference(known)):
            raise TemplateError(f"nothing fills {_listed(strange)}{_hint(strange[0], known)}")
        self.text = text

    def filled(self, **values: str | int) -> str:
        """Return the text with *values* in its slots. An empty value also removes the blank lines below its slot."""
        return _SLOT.sub(lambda slot: _filled(str(values[slot[1]]), slot[2]), self.text)


def _filled(value: str, blank: str) -> str:
    return value + blank if value else ""


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"{{{{{name}}}}}" for name in names)


def _hint(name: str, known: tuple[str, ...]) -> str:
    close = closest(name, known)
    question = f"; did you mean {_listed(close)}?" if close else "."
    return f"{question} There are {_listed(known) or 'no slots'}"
