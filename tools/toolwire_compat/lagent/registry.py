"""Every action class by its name, from its definition on."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Literal, overload

from toolwire_schemas.did_you_mean import explain_unknown_name
from toolwire_tools.discovery import import_named

from .metaclass import classes

if TYPE_CHECKING:
    from .base import BaseAction

_BUNDLED = "toolwire_bundled"
"""A path, since bundled tools are above actions."""

_LAGENTS = (
    "BaseAction",
    "InvalidAction",
    "NoAction",
    "FinishAction",
    "ArxivSearch",
    "BINGMap",
    "GoogleScholar",
    "GoogleSearch",
    "IPythonInterpreter",
    "PPT",
    "PythonInterpreter",
)
"""The names that Lagent 0.2.4 lists before those of its user, in its order."""


class UnknownAction(KeyError):
    """There is no action class of this name; the text lists the known ones."""

    def __str__(self) -> str:
        return str(self.args[0])  # a KeyError would show its repr


@overload
def list_tools(with_class: Literal[False] = False) -> list[str]: ...


@overload
def list_tools(with_class: Literal[True]) -> list[tuple[str, type[BaseAction]]]: ...


def list_tools(with_class: bool = False) -> Any:
    """Return the names of all action classes, Toolwire's own first, or pairs, for which the bundled
    are imported.
    """
    # It defines the actions that are part of every executor, and not bundled.
    importlib.import_module(f"{__package__}.executor")
    known = {**import_named(f"{_BUNDLED}:BUNDLED"), **classes}
    lagents_first = dict.fromkeys([*_LAGENTS, *known])
    names = [name for name in lagents_first if name in known]
    if not with_class:
        return names
    return [(name, _load_class(name)) for name in names]


def get_tool_cls(name: str) -> type[BaseAction]:
    """Return the action class called *name*.

    Raises:
        UnknownAction: a KeyError that lists those there are, the closest first.
    """
    known = list_tools()
    if name not in known:
        raise UnknownAction(explain_unknown_name("action", name, known))
    return _load_class(name)  # type: ignore[no-any-return]


def get_tool(name: str, *args: Any, **kwargs: Any) -> BaseAction:
    """Return a new action of the class called *name*, made with the other arguments. Raises as
    `get_tool_cls` does.
    """
    return get_tool_cls(name)(*args, **kwargs)


def make_action(settings: Any) -> Any:
    """Return the action that `{"type": ..., **arguments}` describes, or an object as it is.

    The type is a class, the name of one that `get_tool` knows, or the path of one:
    `package.module.Name`. Raises an UnknownAction, an ImportError or a TypeError if it leads to
    none, or the class does not take the arguments.
    """
    if isinstance(settings, type):
        return settings()
    if not isinstance(settings, dict):
        return settings
    arguments = dict(settings)
    if "type" not in arguments:
        example = '{"type": "FinishAction"}'
        raise TypeError(
            f"the settings of an action need its type, like {example}, not {settings!r}"
        )
    kind = arguments.pop("type")
    if isinstance(kind, str):
        kind = _find_class(kind)
    return kind(**arguments)


def _find_class(path: str) -> Any:
    if path in classes:
        return get_tool_cls(path)
    module, _, name = path.rpartition(".")
    # Settings that were written for Lagent name its own modules.
    if module.startswith("lagent.hooks"):
        module = f"{__package__}.messages"
    if not module or module.partition(".")[0] == "lagent":
        return get_tool_cls(name)
    found = getattr(importlib.import_module(module), name, None)
    if found is None:
        raise ImportError(f"there is no {name} in {module}")
    return found


def _load_class(name: str) -> Any:
    if name in classes:
        return classes[name]
    return import_named(f"{_BUNDLED}:find_class")(name)
