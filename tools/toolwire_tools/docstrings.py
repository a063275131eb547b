"""What a docstring tells about a tool: a description, and a text for each parameter.

Strategy. docstring-parser knows the four styles, but trying them all on every docstring costs more than everything
else about a tool, and it is imported in vain for a docstring that is one sentence. So the style is recognised first.
"""

from __future__ import annotations

from typing import Any

import msgspec


class DocParameter(msgspec.Struct, frozen=True):
    """One parameter as the docstring tells it; *type* as written there."""

    name: str
    type: str | None = None
    description: str | None = None


class Docstring(msgspec.Struct, frozen=True):
    """A docstring taken apart. *description* has neither parameters nor returns nor exceptions in it."""

    description: str = ""
    parameters: dict[str, DocParameter] = {}
    returns: str | None = None


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
    try:
        found = docstring_parser.parse("\n" + text, style=docstring_parser.DocstringStyle[style])
    except (docstring_parser.ParseError, ValueError, IndexError):
        return Docstring(text)
    parameters = {_name(p.arg_name): _parameter(p) for p in found.params if p.args and p.args[0] != "attribute"}
    returns = found.returns.description if found.returns is not None else None
    return Docstring(_described(found), parameters, returns or None)


def _with_room(text: str) -> str:
    """Google's sections as the parser sees them: after an empty line, by names it knows, with ASCII colons."""
    lines: list[str] = []
    entry_margin: int | None = None  # of the entries of the section, known from its first one
    for line in text.split("\n"):
        title = line.strip()[:-1].rstrip().lower()
        margin = len(line) - len(line.lstrip())
        if line.endswith((":", "：")) and title in _SECTIONS and not (entry_margin and margin >= entry_margin):
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


_KNOWN_TITLES = {
    **dict.fromkeys(("keyword args", "keyword arguments", "other parameters", "parameters"), "Args"),
    "return": "Returns",
    "yield": "Yields",
    "raise": "Raises",
}


def _described(found: Any) -> str:
    gap = "\n\n" if found.blank_after_short_description else "\n"
    parts = [part for part in (found.short_description, found.long_description) if part]
    examples = [meta for meta in found.meta if meta.args and meta.args[0] in _KEPT]
    kept = [f"{meta.args[0].capitalize()}:\n{meta.description or getattr(meta, 'snippet', '')}" for meta in examples]
    return "\n\n".join([gap.join(parts), *kept]).strip()


_KEPT = ("example", "examples", "note", "notes", "warning", "warnings")


def _name(written: str) -> str:
    return written.lstrip("*").strip()


def _parameter(found: Any) -> DocParameter:
    text = " ".join(found.description.split()) if found.description else None
    return DocParameter(_name(found.arg_name), found.type_name, text)
