"""Type hints for the types written in docstrings.

Strategy. Such types are prose as often as Python: `int, optional`, `list of str`, `{'a', 'b'}`,
`int or None`. The prose is written as operators, so that Python's parser takes all of it apart; the
names are looked up, and nothing is evaluated. Known is only what JSON has itself: a function whose
types stand in its docstring alone goes on getting what it always got, text instead of a `datetime`.
"""

from __future__ import annotations

import ast
import functools
import re
from typing import TYPE_CHECKING, Any, Literal, Union

if TYPE_CHECKING:
    from collections.abc import Sequence

_LIST: Any = list
_DICT: Any = dict
_TUPLE: Any = tuple

_PLAIN: dict[str, Any] = {
    **dict.fromkeys(("str", "string", "literalstring"), str),
    **dict.fromkeys(("int", "integer"), int),
    **dict.fromkeys(("bool", "boolean"), bool),
    **dict.fromkeys(("none", "null", "nonetype"), type(None)),
    **dict.fromkeys(("any", "object"), Any),
    "float": float,
    "number": int | float,
}
_LISTS = frozenset(("list", "array", "sequence", "mutablesequence", "iterable", "collection"))
_SETS: dict[str, Any] = {"set": set, "frozenset": frozenset}
_DICTS = frozenset(("dict", "dictionary", "mapping", "mutablemapping"))
_BARE: dict[str, Any] = {
    **_PLAIN,
    **dict.fromkeys(_LISTS, list),
    **{
        name: kind[str | int | float | bool | None] for name, kind in _SETS.items()
    },  # what can be in a set
    **dict.fromkeys(_DICTS, dict),
    "tuple": tuple,
}

_MODULES = frozenset(("", "typing", "t", "typing_extensions", "builtins", "collections.abc"))
_REMARKS = re.compile(
    r"(^|,)\s*(optional|defaults?|required|(keyword|positional)(-only)?)(?=[\s:=,]|$).*",
    re.I | re.S,
)
_QUOTED = re.compile(r"""('[^']*'|"[^"]*")""")
_PROSE = [
    (re.compile(r":[\w:]+:(?=`)|[`~]"), ""),  # as Sphinx writes references: `:class:`~typing.List``
    (re.compile(r",\s*or\s"), " or "),
    (re.compile("<"), "["),
    (re.compile(">"), "]"),
    (re.compile(r"\sof\s"), " @ "),
    (re.compile(r"\sto\s"), " >> "),  # binds less closely than "of"
]
_DEEPEST = 20
"""Deeper nesting is not meant for readers, and could exceed Python's recursion limit."""


@functools.lru_cache(maxsize=1024)
def hint_of(text: str) -> Any:
    """Return the type hint for *text*; None if it is unknown, so that any value fits.

    Inside a container the unknown is `Any`: `list of Tensor` is still a list.
    """
    if (
        "\\" in text
        or sum(text.count(opening) for opening in ("[", "(", "{", "<", " of ")) > _DEEPEST
    ):
        return None
    pieces = _QUOTED.split(_REMARKS.sub("", text.strip().rstrip(".")))
    for pattern, replacement in _PROSE:
        pieces[::2] = [pattern.sub(replacement, piece) for piece in pieces[::2]]
    try:
        node = ast.parse("".join(pieces).strip(), mode="eval").body
        is_bracketed = isinstance(node, ast.Tuple) and node.col_offset < min(
            part.col_offset for part in node.elts
        )
        if is_bracketed:
            return None
        return _hint(node)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _hint(node: ast.expr) -> Any:
    match node:
        case ast.Constant(None):
            return type(None)
        case ast.Constant(str() as text):
            return hint_of(text)
        case ast.Set(values):
            return _make_choice(values)
        case ast.Tuple() | ast.BoolOp(ast.Or()) | ast.BinOp(op=ast.BitOr()):
            return _unite(_list_alternatives(node))
        case ast.BinOp(ast.BinOp(container, ast.MatMult(), key), ast.RShift(), value):
            return _read_prose(container, ast.Dict([key], [value]))
        case ast.BinOp(container, ast.MatMult(), inside):
            return _read_prose(container, inside)
        case ast.Subscript(base, ast.Tuple(arguments)) | ast.Call(base, arguments):
            return _make_generic(_name(base), arguments)
        case ast.Subscript(base, argument):
            return _make_generic(_name(base), [argument])
    return _BARE.get(_name(node))


def _list_alternatives(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.Tuple(parts) | ast.BoolOp(ast.Or(), parts):
            return [piece for part in parts for piece in _list_alternatives(part)]
        case ast.BinOp(left, ast.BitOr(), right):
            return [*_list_alternatives(left), *_list_alternatives(right)]
    return [node]


def _unite(nodes: list[ast.expr]) -> Any:
    """The union of *nodes*; of several, strings are values and not the names of types."""
    values = [node for node in nodes if len(nodes) > 1 and _is_text(node)]
    hints = [_hint(node) for node in nodes if node not in values]
    if values:
        hints.insert(0, _make_choice(values))
    if not hints or None in hints:
        return None
    return Any if Any in hints else Union[tuple(hints)]  # noqa: UP007 (an operator takes no list)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is str


def _name(node: ast.expr) -> str:
    """The name of a type in lower case, without the module if that is one of Python's own."""
    module, _, name = ast.unparse(node).lower().rpartition(".")
    if module in _MODULES:
        return name
    return f"{module}.{name}"


def _make_generic(base: str, arguments: list[ast.expr]) -> Any:
    """`base[arguments]`."""
    if base == "union":
        return _unite(arguments)
    if base == "optional":
        return _unite([*arguments, ast.Constant(None)])
    if base == "literal":
        return _make_choice(arguments)
    if base == "tuple" and arguments:
        is_open = (
            len(arguments) == 2
            and isinstance(arguments[1], ast.Constant)
            and arguments[1].value is ...
        )
        if is_open:
            return _TUPLE[_read_item(arguments[0]), ...]
        return _TUPLE[tuple(map(_read_item, arguments))]
    if base in _DICTS and len(arguments) == 2:
        return _make_dict(*arguments)
    if base == "annotated" and arguments:
        return _hint(arguments[0])
    if len(arguments) == 1:
        return _make_container(base, arguments[0])
    if arguments:
        return None
    return _BARE.get(base)


def _read_prose(container: ast.expr, inside: ast.expr) -> Any:
    """`container of inside`."""
    if isinstance(container, ast.BinOp):  # (list of list) of int
        return _read_prose(container.left, ast.BinOp(container.right, ast.MatMult(), inside))
    base = _name(container)
    base = base.removesuffix("s") if base not in _BARE else base
    if base in _DICTS:
        match inside:
            case ast.Dict([ast.expr() as key], [value]):
                return _make_dict(key, value)
        return dict
    if base == "tuple":
        return _TUPLE[_read_item(inside), ...]
    return _make_container(base, inside)


def _make_container(base: str, inside: ast.expr) -> Any:
    if base in _LISTS:
        return _LIST[_read_item(inside)]
    if base in _SETS:
        item = _read_item(inside)
        if item in _PLAIN.values() and item is not Any:
            return _SETS[base][item]
        return _BARE[base]
    return None


def _make_dict(key: ast.expr, value: ast.expr) -> Any:
    """Keys are text in JSON; those of whole numbers are numbers again for the function."""
    return _DICT[int if _read_item(key) is int else str, _read_item(value)]


def _read_item(node: ast.expr) -> Any:
    """The hint of what is in a container; in prose it may be in the plural."""
    known = _hint(node)
    if known is None:
        known = _BARE.get(_name(node).removesuffix("s"))
    if known is None:
        return Any
    return known


def _make_choice(nodes: Sequence[ast.expr]) -> Any:
    """The `Literal` of values in a row, as in NumPy's `{'a', 'b'}`."""
    values = [ast.literal_eval(node) for node in nodes]
    if {*map(type, values)} <= {str, int, bool, type(None)}:
        return Literal[tuple(values)]
    return None
