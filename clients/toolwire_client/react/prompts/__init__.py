"""Texts for models in each language: the prompts, and the sentences of errors and notes."""

from __future__ import annotations

import msgspec
from toolwire_schemas.language import language as spoken

from . import en, zh
from .template import Detail, Remark, Template, remark


class Language(msgspec.Struct, frozen=True):
    """One language: its prompts as templates, its sentences by kind, and the `gap` between sentences."""

    name: str
    gap: str
    structured: str
    tokens: str
    native: str
    sentences: dict[str, str]

    def say(self, kind: str, **details: Detail) -> str:
        """Return the sentence of this kind, filled with *details*."""
        words = {name: self.tell(each) if isinstance(each, Remark) else each for name, each in details.items()}
        return Template(self.sentences[kind], optional=words).filled(**words)

    def tell(self, *remarks: Remark) -> str:
        """Return the sentences of several remarks, one after the other."""
        return self.together(*(self.say(remark.kind, **remark.details) for remark in remarks))

    def together(self, *sentences: str) -> str:
        """Return *sentences* as one text, without empty ones."""
        return self.gap.join(filter(None, sentences))


LANGUAGES = {
    module.NAME: Language(module.NAME, module.GAP, module.STRUCTURED, module.TOKENS, module.NATIVE, module.SENTENCES)
    for module in (en, zh)
}


def language(name: str | None = None) -> Language:
    """Return the language of this name, by default that of the process (`TOOLWIRE_LANG`).

    Raises:
        ValueError: if it has no prompts.
    """
    if name is None:
        name = spoken()
    if name not in LANGUAGES:
        raise ValueError(f"there are no prompts in {name!r}; there are some in {', '.join(LANGUAGES)}")
    return LANGUAGES[name]


class Unreadable(ValueError):
    """A reply, or a part of it, that cannot be parsed. `remark` says why, in any language."""

    def __init__(self, kind: str, **details: Detail) -> None:
        super().__init__(kind, details)
        self.remark = Remark(kind, details)

    def __str__(self) -> str:
        return language("en").tell(self.remark)


__all__ = ["LANGUAGES", "Detail", "Language", "Remark", "Unreadable", "language", "remark"]
