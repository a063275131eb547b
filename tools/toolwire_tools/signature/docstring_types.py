"""Type hints for the types written in docstrings.

Strategy. Such types are prose as often as Python: `int, optional`, `list of str`, `{'a', 'b'}`, `int or None`. So the
text is taken apart at its brackets and words, and the pieces are looked up; nothing is evaluated. Known is only what
JSON has itself: a function whose types stand in its docstring alone goes on getting what it always got, text
instead of a `datetime`.
"""

from __future__ import annotations

import functools
from typing import Any, Literal, Union

from .docstring_sections import CLOSING, parts

_LIST: Any = list
_DICT: Any = dict
_TUPLE: Any = tuple

_PLAIN: dict[str, Any] = {
    **dict.fromkeys(("str", "string", "literalstring"), str),
    **dict.fromkeys(("int", "integer"), int),
    "float": float,
    "number": int | float,
    **dict.fromkeys(("bool", "boolean"), bool),
    **dict.fromkeys(("none", "null", "nonetype"), type(None)),
    **dict.fromkeys(("any", "object"), Any),
}
_LISTS = frozenset(("list", "array", "sequence", "mutablesequence", "iterable", "collection"))
_SETS: dict[str, Any] = {"set": set, "frozenset": frozenset}
_DICTS = frozenset(("dict", "dictionary", "mapping", "mutablemapping"))
_HASHABLE = str | int | float | bool | None
"""What of JSON can be in a set."""
_BARE: dict[str, Any] = {
    **_PLAIN,
    **dict.fromkeys(_LISTS, list),
    **{name: kind[_HASHABLE] for name, kind in _SETS.items()},
    **dict.fromkeys(_DICTS, dict),
    "tuple": tuple,
}

_MODULES = frozenset(("", "typing", "t", "typing_extensions", "builtins", "collections.abc"))
_REMARKS = frozenset(("optional", "default", "defaults", "required", "keyword", "keyword-only", "positional-only"))
_DEEPEST = 20
"""Deeper nesting is not meant for readers, and could exceed Python's recursion limit."""


@functools.lru_cache(maxsize=1024)
def hint_of(text: str) -> Any:
    """Return the type hint for *text*; None if it is unknown, so that any value fits.

    Inside a container the unknown is `Any`: `list of Tensor` is still a list.
    """
    if sum(text.count(opening) for opening in (*CLOSING, " of ")) > _DEEPEST:
        return None
    return _hint(_without_roles(text))


def _without_roles(text: str) -> str:
    """Types as Sphinx writes them, `:class:`~typing.List``, without their roles."""
    if "`" not in text:
        return text
    import re

    return re.sub(r"(?::[\w:]+:)?`+~?([^`]*)`+", r"\1", text)


def _hint(text: str) -> Any:
    """The hint of a whole entry: alternatives, and remarks between commas."""
    said = [part for part in parts(text.strip().rstrip("."), ",") if not _is_remark(part)]
    alternatives = [piece for part in said for piece in _alternatives(part)]
    if len(alternatives) == 1:
        return _one(alternatives[0])
    values = [piece for piece in alternatives if _is_quoted(piece)]
    types = [_one(piece) for piece in alternatives if not _is_quoted(piece)]
    return _any_of([_choice(values), *types] if values else types)


def _is_remark(part: str) -> bool:
    """True for `optional`, `default: 5` and the like."""
    word = part.lower().partition(" ")[0].partition(":")[0].partition("=")[0]
    return not word or word in _REMARKS


def _alternatives(text: str) -> list[str]:
    pieces = [piece for part in parts(text, " or ") for piece in parts(part.removeprefix("or "), "|")]
    return [piece for piece in pieces if piece]


def _any_of(hints: list[Any]) -> Any:
    if not hints or None in hints:
        return None
    return Any if Any in hints else Union[tuple(hints)]  # noqa: UP007 (an operator takes no list)


def _one(text: str) -> Any:
    """The hint of what is neither an alternative nor a remark."""
    if text[:1] == "{" and text[-1:] == "}":
        return _choice(parts(text[1:-1].rstrip(","), ","))
    for opening in ("[", "(", "<"):
        head, bracket, inside = text.partition(opening)
        if bracket and text.endswith(CLOSING[opening]):
            return _generic(_base(head), inside[:-1]) if head.strip() else _inside(opening, inside[:-1])
    head, *rest = parts(text, " of ", 1)
    return _prose(_base(head), rest[0]) if rest else _BARE.get(_base(text))


def _inside(opening: str, text: str) -> Any:
    """What stands in brackets by itself: `(int or None)` is what is in it, `[int]` could be anything."""
    return _hint(text) if opening == "(" and len(parts(text, ",")) == 1 else None


def _base(text: str) -> str:
    """The name of a type in lower case, without the module if that is one of Python's own."""
    module, _, name = text.strip("'\" ").lower().rpartition(".")
    return name if module in _MODULES else f"{module}.{name}"


def _generic(base: str, text: str) -> Any:
    """`base[text]`."""
    if not text:
        return _BARE.get(base)
    arguments = parts(text.rstrip(","), ",")
    if base == "optional":
        return _any_of([_hint(text), type(None)])
    if base == "union":
        return _any_of([_hint(argument) for argument in arguments])
    if base == "literal":
        return _choice(arguments)
    if base == "annotated":
        return _hint(arguments[0])
    if base == "tuple":
        return _tuple(arguments)
    if base in _DICTS and len(arguments) == 2:
        return _dict(*arguments)
    return _of_items(base, arguments[0]) if len(arguments) == 1 else None


def _prose(base: str, text: str) -> Any:
    """`base of text`."""
    base = base.removesuffix("s") if base not in _BARE else base
    if base in _DICTS:
        for separator in (" to ", ":"):
            pair = parts(text.strip("{}"), separator, 1)
            if len(pair) == 2:
                return _dict(*pair)
        return dict
    return _TUPLE[_item(text), ...] if base == "tuple" else _of_items(base, text)


def _of_items(base: str, text: str) -> Any:
    if base in _LISTS:
        return _LIST[_item(text)]
    if base in _SETS:
        item = _item(text)
        return _SETS[base][item] if item in _PLAIN.values() and item is not Any else _BARE[base]
    return None


def _tuple(arguments: list[str]) -> Any:
    if len(arguments) == 2 and arguments[1] == "...":
        return _TUPLE[_item(arguments[0]), ...]
    return _TUPLE[tuple(_item(argument) for argument in arguments)]


def _dict(key: str, value: str) -> Any:
    """Keys are text in JSON; those of whole numbers are numbers again for the function."""
    return _DICT[int if _item(key) is int else str, _item(value)]


def _item(text: str) -> Any:
    """The hint of what is in a container; in prose it may be in the plural."""
    known = _hint(text)
    if known is None and text.endswith("s"):
        known = _hint(text.removesuffix("s"))
    return Any if known is None else known


def _choice(written: list[str]) -> Any:
    """The `Literal` of values in a row, as in NumPy's `{'a', 'b'}`."""
    try:
        return Literal[tuple(map(_value, written))]
    except ValueError:
        return None


_WORDS = {"true": True, "false": False, "none": None}


def _value(text: str) -> Any:
    if _is_quoted(text):
        return text[1:-1]
    return _WORDS[text.lower()] if text.lower() in _WORDS else int(text)


def _is_quoted(text: str) -> bool:
    """True for one string between quotes, without escapes."""
    quote = text[:1]
    return len(text) > 1 and quote in ("'", '"') and text.find(quote, 1) == len(text) - 1 and "\\" not in text
