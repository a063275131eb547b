"""The language of texts for models: descriptions of bundled tools, errors in arguments, prompts of
agents.

Strategy. The environment variable is the only state of the process, so that the processes it starts
agree with it. An object with a language of its own speaks it for the length of a call (`speaking`).
Sentences are written in English where they are needed, as
`say("{value} is not a number", value=...)`; `chinese.json` has a translation of each of these
templates, and is not read before Chinese is spoken.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from json import JSONDecodeError

VARIABLE = "TOOLWIRE_LANG"
LANGUAGES = ("en", "zh")

_spoken: ContextVar[str | None] = ContextVar("toolwire_language", default=None)


def set_language(name: str) -> None:
    """Set the language, "en" or "zh", of this process and of those that it starts.

    A name may be written as in locales: `zh-CN`, `zh_CN.UTF-8`.

    Raises:
        ValueError: for another language.
    """
    os.environ[VARIABLE] = check_language(name)


def get_language() -> str:
    """Return the language spoken here: that of the present call, or else of the process.

    The environment may also say `zh_CN.UTF-8`, as locales are written. A language that is not known
    is English.
    """
    if (spoken := _spoken.get()) is not None:
        return spoken
    set_to = _normalize_language(os.environ.get(VARIABLE, ""))
    if set_to in LANGUAGES:
        return set_to
    return "en"


def _normalize_language(name: str) -> str:
    """Return the language in a name such as `zh-CN`, `zh_CN.UTF-8` or `ZH`."""
    return name.strip().replace("_", "-").replace(".", "-").partition("-")[0].lower()


def check_language(name: str) -> str:
    """Return the language of `LANGUAGES` that *name* means, which may be written as in locales.

    Raises:
        ValueError: if it means another one.
    """
    language = _normalize_language(name)
    if language not in LANGUAGES:
        raise ValueError(f"no language {name!r}. Known: {', '.join(LANGUAGES)}, or as in zh-CN")
    return language


@contextmanager
def use_language(name: str) -> Iterator[None]:
    """Set the language within this context only."""
    token = _spoken.set(name)
    try:
        yield
    finally:
        _spoken.reset(token)


def describe_json_error(error: JSONDecodeError) -> str:
    """Return what Python's decoder says of a text that is not JSON, in the language spoken here."""
    return say(
        "{problem}: line {line} column {column} (char {place})",
        problem=say(error.msg),
        line=error.lineno,
        column=error.colno,
        place=error.pos,
    )


def say(template: str, /, **values: object) -> str:
    """Return *template* in the language spoken here, with *values* in place of their names in
    braces.
    """
    if get_language() == "zh":
        template = load_chinese().get(template, template)
    return template.format(**values)


@cache
def load_chinese() -> dict[str, str]:
    """Return the Chinese sentences by the English ones, from `chinese.json`, where they are in
    sections.
    """
    from pathlib import Path

    import msgspec

    sections = msgspec.json.decode(
        Path(__file__).with_name("chinese.json").read_bytes(), type=dict[str, dict[str, str]]
    )
    return {
        english: sentence
        for sentences in sections.values()
        for english, sentence in sentences.items()
    }
