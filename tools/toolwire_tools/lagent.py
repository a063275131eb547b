"""A function described as Lagent describes it: the dict that its agents show to the model.

Strategy. The description is made when the function is decorated, long before anybody serves it, so it takes the short
way: each hint is only looked at far enough to name its type. What the names then say agrees with the JSON Schema.
"""

from __future__ import annotations

import collections.abc
import enum
import inspect
import types
import typing
from functools import partial
from typing import Any, Literal

from . import docstrings
from .choices import in_json
from .context import Context
from .hints import Names, Unresolved, bare, innermost, members, names_of
from .options import Options, options_of
from .signature import _docstring

if typing.TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_OTHERS = "STRING"
"""What Lagent calls everything that is none of its other four."""

_NAMES: dict[Any, str] = {
    bool: "BOOLEAN",
    int: "NUMBER",
    float: "FLOAT",
    **dict.fromkeys((list, tuple, set, frozenset, collections.deque), "Array"),
    **dict.fromkeys((collections.abc.Set, collections.abc.MutableSet), "Array"),
    **dict.fromkeys((collections.abc.Sequence, collections.abc.MutableSequence), "Array"),
    **dict.fromkeys((collections.abc.Collection, collections.abc.Iterable, collections.abc.Reversible), "Array"),
}


def description_of(
    function: Callable[..., Any], options: Options | None = None, *, name: str | None = None
) -> dict[str, Any]:
    """What Lagent calls the `api_description` of *function*: name, description, parameters, required, return_data.

    A first parameter called `self` or `cls`, the context, `*args` and `**kwargs` are left out. Nothing is raised for
    what cannot be read yet: the type of such a parameter is STRING.
    """
    options = options or options_of(function) or Options()
    names = names_of(function)
    doc = docstrings.read(_docstring(function))
    shown = list(_shown(function, names))
    return {
        "name": name or options.name or _name(function),
        "description": doc.description if options.description is None else options.description,
        "parameters": [_parameter(parameter, doc, names) for parameter in shown],
        "required": [parameter.name for parameter in shown if parameter.default is parameter.empty],
    }


def _name(function: Any) -> str:
    while isinstance(function, partial):
        function = function.func
    return getattr(function, "__name__", None) or type(function).__name__


def _shown(function: Any, names: Names) -> Iterable[inspect.Parameter]:
    try:
        found = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):
        return
    for index, parameter in enumerate(found):
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        if index == 0 and parameter.name in ("self", "cls"):
            continue
        if not _is_context(parameter.annotation, names):
            yield parameter


def _is_context(annotation: Any, names: Names) -> bool:
    try:
        hint = bare(annotation, names).hint
        options = members(hint, names) or (hint,)
    except Unresolved as error:
        return error.annotation.rpartition(".")[2] == Context.__name__
    return any(isinstance(option, type) and issubclass(option, Context) for option in options)


def _parameter(parameter: inspect.Parameter, doc: docstrings.Docstring, names: Names) -> dict[str, str]:
    written = doc.parameters.get(parameter.name)
    hint = parameter.annotation if parameter.annotation is not parameter.empty else Any
    text = written.description if written else None
    try:
        text = bare(hint, names).notes.texts.get("description") or text
    except Unresolved:
        pass
    if hint is Any and written and written.type:
        hint = {"str": str, "int": int, "float": float, "bool": bool}.get(written.type, Any)
    return {"name": parameter.name, "type": type_name(hint, names), "description": text or ""}


def type_name(hint: Any, names: Names) -> str:
    """Lagent's name for a type: STRING, NUMBER (whole), FLOAT, BOOLEAN or Array.

    What has none of its own, dictionaries and objects above all, is STRING, as it always was. A union has the name
    of a member, so that a value of the type that the name suggests is accepted.
    """
    try:
        plain = bare(hint, names).hint
        union = members(plain, names)
    except Unresolved:
        return _OTHERS
    if union is not None:
        return _joined(type_name(member, names) for member in union if member not in (None, types.NoneType))
    origin = getattr(plain, "__origin__", plain)
    if origin is Literal:
        return _joined(_NAMES.get(type(value), _OTHERS) for value in plain.__args__ if value is not None)
    if isinstance(origin, type) and issubclass(origin, enum.Enum):
        return _joined(_NAMES.get(type(value), _OTHERS) for value in in_json(origin).values())
    return _NAMES.get(origin, _OTHERS)


def _joined(found: Iterable[str]) -> str:
    several = list(dict.fromkeys(found))
    if not several or _OTHERS in several:
        return _OTHERS
    return "FLOAT" if "FLOAT" in several and "NUMBER" in several else several[0]
