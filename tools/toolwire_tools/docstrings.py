"""What a docstring tells about a tool: a description, a text for each parameter, and what is returned.

Strategy. docstring-parser knows the four styles, but trying them all on every docstring costs more than everything
else about a tool, and it is imported in vain for a docstring that is one sentence. So the style is recognised first.
A docstring is read when its function is decorated and again when that becomes a tool, so readings are kept.
"""

from __future__ import annotations

import functools
import inspect
from functools import partial
from itertools import takewhile
from typing import Any

import msgspec

from .entries import Entry, entries
from .hints import innermost


class DocParameter(msgspec.Struct, frozen=True):
    """One parameter as the docstring tells it; *type* as written there."""

    name: str
    type: str | None = None
    description: str | None = None


class Docstring(msgspec.Struct, frozen=True):
    """A docstring taken apart. *description* has neither parameters nor returns nor exceptions in it."""

    description: str = ""
    parameters: dict[str, DocParameter] = {}
    returns: tuple[Entry, ...] = ()


_SECTIONS = frozenset(
    (
        *("args", "arguments", "parameters", "params", "keyword args", "keyword arguments", "other parameters"),
        *("attributes", "return", "returns", "yield", "yields", "raise", "raises", "except", "exceptions"),
    )
)
_REST = frozenset(
    (
        *("param", "parameter", "arg", "argument", "key", "keyword", "type"),
        *("return", "returns", "rtype", "raise", "raises", "yield", "yields"),
    )
)


def of(function: Any) -> Docstring:
    """What the docstring of a callable says: of a function below partials and wrappers, or of an object's class."""
    return read(_written(function))


def text_of(function: Any) -> str:
    """The whole docstring of a callable, without its margin."""
    return _dedented(_written(function) or "")


def _written(function: Any) -> str | None:
    for candidate in (function, getattr(function, "func", None), innermost(function)):
        text = getattr(candidate, "__doc__", None) if candidate is not None else None
        if isinstance(text, str) and text != getattr(type(candidate), "__doc__", None):
            return text
    # What stands in the place of something else says nothing by its own class.
    is_stand_in = inspect.isroutine(function) or any(hasattr(function, link) for link in ("func", "__wrapped__"))
    return None if is_stand_in else type(function).__doc__


@functools.lru_cache(maxsize=4096)
def read(text: str | None) -> Docstring:
    """Return what *text* says; text in no known style is all description."""
    if not text:
        return Docstring()
    text = _dedented(text)
    style = _style(text)
    return Docstring(text) if style is None else _parsed(text, style)


def _style(text: str) -> str | None:
    """The style that the first marked section of *text* is written in. (Regular expressions would cost start-up.)"""
    lines = [line.strip() for line in text.split("\n")]
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line.endswith((":", "：")) and line[:-1].rstrip().lower() in _SECTIONS:
            return "GOOGLE"
        if len(following) > 2 and set(following) == {"-"} and line.lower() in _SECTIONS:
            return "NUMPYDOC"
        if line[:1] in (":", "@") and ":" in line[1:]:
            word = line[1:].partition(":")[0].partition(" ")[0]
            if word in _REST:
                return "REST" if line[0] == ":" else "EPYDOC"
    return None


def _dedented(text: str) -> str:
    first, *rest = text.expandtabs().split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in rest if line.strip()), default=0)
    return "\n".join([first.strip(), *(line[margin:].rstrip() for line in rest)]).strip("\n")


def _parsed(text: str, style: str) -> Docstring:
    import docstring_parser

    if style == "GOOGLE":
        text = _with_room(text)
        parse = _google().parse
    else:
        parse = partial(docstring_parser.parse, style=docstring_parser.DocstringStyle[style])
    try:
        found = parse("\n" + text)
    except (docstring_parser.ParseError, ValueError, IndexError):
        return Docstring(text)
    parameters = [_parameter(p, name) for p in found.params if _is_parameter(p) for name in p.arg_name.split(",")]
    returns = entries(_returns_section(text)) if style == "GOOGLE" else map(_returned, found.many_returns)
    return Docstring(_described(found), {parameter.name: parameter for parameter in parameters}, tuple(returns))


@functools.cache
def _google() -> Any:
    """docstring-parser for Google's style, with more sections: of two of one title it keeps the last, and no others."""
    from docstring_parser.google import DEFAULT_SECTIONS, GoogleParser, Section, SectionType

    usual = [section for section in DEFAULT_SECTIONS if section.key not in _KEPT]
    more = [Section(title, "param", SectionType.MULTIPLE) for title in _MORE_ARGUMENTS]
    return GoogleParser([*usual, *more, *(Section(_below(word), word, SectionType.SINGULAR) for word in _KEPT)])


def _below(title: str) -> str:
    """What the parser knows a section of text below others by. Above them it belongs to the description as it is."""
    return f"Below, {title}"


def _with_room(text: str) -> str:
    """Google's sections as the parser sees them: after an empty line, by names it knows, with ASCII colons."""
    lines: list[str] = []
    entry_margin: int | None = None  # of the entries of the section, known from its first one
    for line in text.split("\n"):
        title = line.strip()[:-1].rstrip().lower()
        margin = len(line) - len(line.lstrip())
        is_title = title in _SECTIONS or (title in _KEPT and entry_margin is not None)
        if line.endswith((":", "：")) and is_title and not (entry_margin and margin >= entry_margin):
            if lines and lines[-1].strip():
                lines.append("")
            line = _KNOWN_TITLES.get(title, title.capitalize()) + ":"
            entry_margin = 0
        elif entry_margin is not None and line.strip():
            entry_margin = entry_margin or margin
            if margin == entry_margin and ("：" in line or "`" in line):
                line = _entry(line)
        lines.append(line)
    return "\n".join(lines)


def _entry(line: str) -> str:
    """`name (:class:`int`)： text` without the role in the type, whose colons the parser would split at."""
    import re

    if found := re.match(r"(\s*[*\w.]+\s*)(\((?:[^()`]|`[^`]*`|\([^()]*\))*\))?\s*[:：]\s*", line):
        name, type_ = found[1].rstrip(), found[2] or ""
        type_ = re.sub(r":[\w:]+:`~?([^`]*)`", r"\1", type_)
        return f"{name} {type_}".rstrip() + f": {line[found.end() :]}"
    return line


_MORE_ARGUMENTS = ("Keyword args", "Keyword arguments", "Other parameters")
_KEPT = ("example", "examples", "note", "notes", "warning", "warnings")
_KNOWN_TITLES = {"return": "Returns", "yield": "Yields", "raise": "Raises", **{word: _below(word) for word in _KEPT}}


def _described(found: Any) -> str:
    gap = "\n\n" if found.blank_after_short_description else "\n"
    parts = [part for part in (found.short_description, found.long_description) if part]
    examples = [meta for meta in found.meta if meta.args and meta.args[0] in _KEPT]
    kept = [f"{meta.args[0].capitalize()}:\n{meta.description or getattr(meta, 'snippet', '')}" for meta in examples]
    return "\n\n".join([gap.join(parts), *kept]).strip()


def _is_parameter(found: Any) -> bool:
    return bool(found.args) and found.args[0] != "attribute"


def _parameter(found: Any, name: str) -> DocParameter:
    text = " ".join(found.description.split()) if found.description else None
    return DocParameter(name.strip().lstrip("*"), found.type_name, text)


def _returned(found: Any) -> Entry:
    return Entry(found.return_name, found.type_name, found.description or "")


def _returns_section(text: str) -> str:
    """What stands below Google's `Returns:`, which the parser takes for a single entry, margins lost."""
    below = ("\n" + text).partition("\nReturns:\n")[2].split("\n")
    return inspect.cleandoc("\n" + "\n".join(takewhile(lambda line: not line or line[0].isspace(), below)))
