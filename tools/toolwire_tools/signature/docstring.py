"""The parts of a docstring: a description, a text for each parameter, and the result.

Strategy. docstring-parser knows the four styles, but trying them all on every docstring costs more than everything
else about a tool, and it is imported in vain for a docstring that is one sentence. So the style is recognised first.
A docstring is read when its function is decorated and again when that becomes a tool, so readings are kept.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

import msgspec

from ..schema.annotations import unwrap_function
from .docstring_returns import Entry, entries


class DocParameter(msgspec.Struct, frozen=True):
    """One parameter in a docstring; *type* as written there."""

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
    """Return the docstring of a callable: of the function below partials and wrappers, or of an object's class."""
    return read(_written(function))


def text_of(function: Any) -> str:
    """The whole docstring of a callable, without its margin."""
    return _dedented(_written(function) or "")


def _written(function: Any) -> str | None:
    for candidate in (function, getattr(function, "func", None), unwrap_function(function)):
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
        if _is_title(line):
            return "GOOGLE"
        if len(following) > 2 and set(following) == {"-"} and line.lower() in _SECTIONS:
            return "NUMPYDOC"
        if line[:1] in (":", "@") and ":" in line[1:]:
            word = line[1:].partition(":")[0].partition(" ")[0]
            if word in _REST:
                return "REST" if line[0] == ":" else "EPYDOC"
    return None


def _is_title(line: str) -> bool:
    return line.endswith((":", "：")) and line[:-1].rstrip().lower() in _SECTIONS


def _dedented(text: str) -> str:
    first, *rest = _without_roles(text).expandtabs().split("\n")
    margins = [len(line) - len(line.lstrip()) for line in rest if line.strip()]
    margin = min(margins, default=0)
    if margins and margins[0] == margin and _is_title(first.strip()):  # its own margin is unknown, but smaller
        margin = max(margin - 4, 0)
    return "\n".join([first.strip(), *(line[margin:].rstrip() for line in rest)]).strip("\n")


def _parsed(text: str, style: str) -> Docstring:
    import docstring_parser

    sorted_ = _sorted(text) if style == "GOOGLE" else None
    try:
        if sorted_ is None:
            found = docstring_parser.parse("\n" + text, style=docstring_parser.DocstringStyle[style])
        else:
            found = _google().parse("\n" + sorted_.text)
    except (docstring_parser.ParseError, ValueError, IndexError):
        return Docstring(text)
    parameters = [_parameter(p, name) for p in found.params if _is_parameter(p) for name in p.arg_name.split(",")]
    returns = map(_returned, found.many_returns) if sorted_ is None else entries(sorted_.returns)
    below = _kept(found) if sorted_ is None else sorted_.below
    description = "\n\n".join([_described(found), *below]).strip()
    return Docstring(description, {parameter.name: parameter for parameter in parameters}, tuple(returns))


@functools.cache
def _google() -> Any:
    """docstring-parser for Google's style, with more sections of parameters, and without those of text."""
    from docstring_parser.google import DEFAULT_SECTIONS, GoogleParser, Section, SectionType

    usual = [section for section in DEFAULT_SECTIONS if section.key not in _KEPT]
    return GoogleParser([*usual, *(Section(title, "param", SectionType.MULTIPLE) for title in _MORE_ARGUMENTS)])


class _Sorted(msgspec.Struct, frozen=True):
    """A docstring in Google's style. The parser passes over what stands below a section and belongs to none."""

    text: str
    """The description and the sections as the parser sees them: after an empty line, each once, by names it knows."""
    returns: str
    """The section Returns without its margin: the parser takes it for a single entry, margins lost."""
    below: list[str]
    """What belongs to the description although it stands below: notes, examples, and text outside of sections."""


def _sorted(text: str) -> _Sorted:
    head: list[str] = []
    sections: dict[str, list[str]] = {}
    below: list[list[str]] = []
    into, margin = head, None  # where lines go; in a section, the margin of its entries: 0 before the first one
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip())
        is_title = line.endswith((":", "：")) and not (margin and indent >= margin)
        title = line.strip()[:-1].rstrip().lower() if is_title else ""
        if title in _SECTIONS:
            into, margin = sections.setdefault(_KNOWN_TITLES.get(title, title.capitalize()), []), 0
        elif title in _KEPT and sections:
            into, margin = [f"{title.capitalize()}:"], 0
            below.append(into)
        elif line and margin and not indent:
            into, margin = [line], None
            below.append(into)
        else:
            if line and margin == 0:
                margin = indent
            into.append(_entry(line) if margin and indent == margin else line)
    parts = [*head, *(line for title, lines in sections.items() for line in ("", f"{title}:", *lines))]
    return _Sorted("\n".join(parts), _flush(sections.get("Returns", [])), [_block(lines) for lines in below])


def _block(lines: list[str]) -> str:
    return f"{lines[0]}\n{_flush(lines[1:])}".strip()


def _flush(lines: list[str]) -> str:
    """The lines without their common margin."""
    return inspect.cleandoc("\n" + "\n".join(lines))


def _entry(line: str) -> str:
    """`name (type)： text` with the colon that the parser knows."""
    if "：" not in line:
        return line
    import re

    if found := re.match(r"(\s*[*\w.]+)\s*(\((?:[^()`]|`[^`]*`|\([^()]*\))*\))?\s*[:：]\s*", line):
        return f"{found[1]} {found[2] or ''}".rstrip() + f": {line[found.end() :]}"
    return line


def _without_roles(text: str) -> str:
    """*text* without the roles of reST: `:class:`~typing.List`` is `typing.List`, ``:ref:`text <place>`` is `text`."""
    if ":`" not in text:
        return text
    import re

    return re.sub(r"(?<![\w`]):[a-zA-Z][\w:.+-]*:`[~!]?([^`<]+?)(?:\s*<[^`<>]*>)?`", r"\1", text)


_MORE_ARGUMENTS = ("Keyword args", "Keyword arguments", "Other parameters")
_KEPT = ("example", "examples", "note", "notes", "warning", "warnings")
_KNOWN_TITLES = {"return": "Returns", "yield": "Yields", "raise": "Raises"}


def _described(found: Any) -> str:
    gap = "\n\n" if found.blank_after_short_description else "\n"
    return gap.join(part for part in (found.short_description, found.long_description) if part)


def _kept(found: Any) -> list[str]:
    """NumPy's notes and examples."""
    examples = [meta for meta in found.meta if meta.args and meta.args[0] in _KEPT]
    return [f"{meta.args[0].capitalize()}:\n{meta.description or getattr(meta, 'snippet', '')}" for meta in examples]


def _is_parameter(found: Any) -> bool:
    return bool(found.args) and found.args[0] != "attribute"


def _parameter(found: Any, name: str) -> DocParameter:
    text = " ".join(found.description.split()) if found.description else None
    return DocParameter(name.strip().lstrip("*"), found.type_name, text)


def _returned(found: Any) -> Entry:
    return Entry(found.return_name, found.type_name, found.description or "")
