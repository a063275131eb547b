"""Texts for models in each language, from `en.toml` and `zh.toml`: the prompts, and the sentences
of errors and notes.

A text has named slots, such as `{{tools}}`. They are filled in one pass over the text, never over
the values: braces in a tool's description stay text. So do other braces of the text, such as
TypeScript's.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from toolwire_schemas.language import check_language
from toolwire_schemas.language import get_language as spoken

if TYPE_CHECKING:
    from collections.abc import Iterable

_SLOT = re.compile(r"\{\{\s*(\w+)\s*\}\}(\n*)")

Detail = str | int


class Remark(msgspec.Struct, frozen=True):
    """A sentence for the model, independent of its language: `Language.say` fills sentence `kind`
    with `details`.
    """

    kind: str
    details: dict[str, Detail] = {}


def remark(kind: str, **details: Detail) -> Remark:
    """Return a remark with these details."""
    return Remark(kind, details)


class TemplateError(ValueError):
    """A template lacks a slot or has an unknown one. The text names both."""


class Template:
    """A text with slots.

    Raises:
        TemplateError: if one of the *required* slots is not in it, or a slot that is neither
            required nor *optional*.
    """

    def __init__(
        self, text: str, *, required: Iterable[str] = (), optional: Iterable[str] = ()
    ) -> None:
        self.text = text
        required = set(required)
        known = required.union(optional)
        slots = {found[1] for found in _SLOT.finditer(text)}
        if required - slots:
            raise TemplateError(f"the template lacks {_list_slots(required - slots)}")
        if slots - known:
            allowed = _list_slots(known) or "no slots"
            raise TemplateError(f"nothing fills {_list_slots(slots - known)}; there are {allowed}")

    def fill(self, **values: Detail) -> str:
        """Return the text with *values* in its slots. An empty value also removes the blank lines
        below its slot.
        """
        return _fill(self.text, values)


def _fill(text: str, values: dict[str, Detail]) -> str:
    return _SLOT.sub(
        lambda slot: f"{value}{slot[2]}" if (value := str(values[slot[1]])) else "", text
    )


def _list_slots(names: Iterable[str]) -> str:
    return ", ".join(f"{{{{{name}}}}}" for name in sorted(names))


class Language(msgspec.Struct, frozen=True):
    """One language: its prompts as templates, its sentences by kind, and the `gap` between
    sentences.
    """

    name: str
    gap: str
    structured: str
    small: str
    tokens: str
    native: str
    sentences: dict[str, str]

    def say(self, kind: str, **details: Detail) -> str:
        """Return the sentence of this kind, filled with *details*."""
        return _fill(self.sentences[kind], details)

    def format_remarks(self, *remarks: Remark) -> str:
        """Return the sentences of several remarks, one after the other."""
        return self.join(*(self.say(remark.kind, **remark.details) for remark in remarks))

    def join(self, *sentences: str) -> str:
        """Return *sentences* as one text, without empty ones."""
        return self.gap.join(filter(None, sentences))


LANGUAGES = {
    name: msgspec.toml.decode(Path(__file__).with_name(f"{name}.toml").read_bytes(), type=Language)
    for name in ("en", "zh")
}


def load_language(name: str | None = None) -> Language:
    """Return the language of this name, by default that of the process (`TOOLWIRE_LANG`).

    Raises:
        ValueError: if there are no prompts in it.
    """
    return LANGUAGES[spoken() if name is None else check_language(name)]


class Unreadable(ValueError):
    """A reply, or a part of it, that cannot be parsed. `remark` says why, in any language."""

    def __init__(self, kind: str, **details: Detail) -> None:
        super().__init__(kind, details)
        self.remark = Remark(kind, details)

    def __str__(self) -> str:
        return load_language("en").format_remarks(self.remark)
