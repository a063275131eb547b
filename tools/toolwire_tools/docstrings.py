"""What a docstring tells about a tool: a description, and a text for each parameter.

Strategy. docstring-parser knows the four styles, but trying them all on every docstring costs more than everything
else about a tool, and it is imported in vain for a docstring that is one sentence. So the style is recognised first.
"""

from __future__ import annotations

import re
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


_GOOGLE_TITLES = (
    "Args|Arguments|Parameters|Params|Keyword Arg(?:ument)?s|Other Parameters|Attributes"
    "|Returns?|Yields?|Raises|Except|Exceptions"
)
_GOOGLE = re.compile(rf"^[ \t]*({_GOOGLE_TITLES})[ \t]*[:：][ \t]*$", re.MULTILINE)
_NUMPY = re.compile(
    r"^[ \t]*(Parameters|Params|Arguments|Other Parameters|Returns|Yields|Raises|Attributes)[ \t]*\n[ \t]*-{3,}[ \t]*$",
    re.MULTILINE,
)
_REST = re.compile(
    r"^[ \t]*:(param|parameter|arg|argument|key|keyword|type|returns?|rtype|raises?|yields?)\b[^:\n]*:", re.MULTILINE
)
_EPYDOC = re.compile(r"^[ \t]*@(param|type|return|rtype|raise)\b[^:\n]*:", re.MULTILINE)


def read(text: str | None) -> Docstring:
    """Return what *text* says; text in no known style is all description."""
    if not text:
        return Docstring()
    text = _dedented(text)
    for pattern, style in _STYLES:
        if pattern.search(text):
            return _parsed(text, style)
    return Docstring(text)


_STYLES = [(_NUMPY, "NUMPYDOC"), (_GOOGLE, "GOOGLE"), (_REST, "REST"), (_EPYDOC, "EPYDOC")]


def _dedented(text: str) -> str:
    lines = text.expandtabs().strip("\n").rstrip().split("\n")
    margin = min((len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()), default=0)
    return "\n".join([lines[0].strip(), *(line[margin:].rstrip() for line in lines[1:])]).strip()


def _parsed(text: str, style: str) -> Docstring:
    import docstring_parser

    if style == "GOOGLE":
        text = _with_room(text)
    try:
        found = docstring_parser.parse(text, style=docstring_parser.DocstringStyle[style])
    except (docstring_parser.ParseError, ValueError, IndexError):
        return Docstring(text)
    parameters = {_name(p.arg_name): _parameter(p) for p in found.params if p.args and p.args[0] != "attribute"}
    returns = found.returns.description if found.returns is not None else None
    return Docstring(_described(found), parameters, returns or None)


def _with_room(text: str) -> str:
    """Sections in the form the parser sees: after an empty line, with an ASCII colon."""
    return re.sub(
        rf"(\n?)^[ \t]*({_GOOGLE_TITLES})[ \t]*[:：][ \t]*$",
        lambda m: f"{m[1]}\n{m[2]}:" if m[1] else f"{m[2]}:",
        text,
        flags=re.MULTILINE,
    )


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
