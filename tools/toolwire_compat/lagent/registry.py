"""Every action class by its name, from its definition on."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Literal, overload

from toolwire_schemas.did_you_mean import unknown_name
from toolwire_tools.discovery import named_by

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
    importlib.import_module(
        f"{__package__}.executor"
    )  # defines what is part of every executor, and not bundled
    there = {**named_by(f"{_BUNDLED}:BUNDLED"), **classes}
    names = [name for name in dict.fromkeys([*_LAGENTS, *there]) if name in there]
    return [(name, _class(name)) for name in names] if with_class else names


def get_tool_cls(name: str) -> type[BaseAction]:
    """The action class called *name*.

    Raises:
        UnknownAction: a KeyError that lists those there are, the closest first.
    """
    if name not in (known := list_tools()):
        raise UnknownAction(unknown_name("action", name, known))
    return _class(name)  # type: ignore[no-any-return]


def get_tool(name: str, *args: Any, **kwargs: Any) -> BaseAction:
    """A new action of the class called *name*; further arguments are passed to it. Raises as
    `get_tool_cls` does.
    """
    return get_tool_cls(name)(*args, **kwargs)


def action_from(settings: Any) -> Any:
    """Return the action that `{"type": ..., **arguments}` describes, or an object as it is.

    The type is a class, the name of one that `get_tool` knows, or the path of one:
    `package.module.Name`. Raises an UnknownAction, an ImportError or a TypeError if it leads to
    none, or the class does not take the arguments.
    """
    if isinstance(settings, type):
        return settings()
    if not isinstance(settings, dict):
        return settings
    arguments = {**settings}
    if "type" not in arguments:
        raise TypeError(
            'the settings of an action need its type, like {"type": "FinishAction"}, not'
            f" {settings!r}"
        )
    kind = arguments.pop("type")
    return (_class_at(kind) if isinstance(kind, str) else kind)(**arguments)


def _class_at(place: str) -> Any:
    module, _, name = place.rpartition(".")
    # Settings that were written for Lagent name its own modules.
    if module.startswith("lagent.hooks"):
        module = f"{__package__}.messages"
    if not module or module.partition(".")[0] == "lagent" or place in classes:
        return get_tool_cls(place if place in classes else name)
    found = getattr(importlib.import_module(module), name, None)
    if found is None:
        raise ImportError(f"there is no {name} in {module}")
    return found


def _class(name: str) -> Any:
    return classes[name] if name in classes else named_by(f"{_BUNDLED}:class_of")(name)
