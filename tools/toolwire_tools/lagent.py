"""The place to import Lagent's names from, whichever of its modules defines them there."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import _MODULES

if TYPE_CHECKING:
    from . import *  # noqa: F403

_NEW = {"Calculator", "Clock", "CodeExecutor", "Files", "WebSearch"}
"""Bundled tools that Lagent has not."""

_NAMES = {name for name, module in _MODULES.items() if module.startswith((".actions", ".bundled"))}

__all__ = sorted(_NAMES - _NEW | {"tool_api"})

_INSTEAD = {
    "GPTAPI": "from toolwire_client.models import GPTAPI",
    "ReAct": "from toolwire_client import Agent, or from toolwire_client.groot import ReAct",
    "IPythonInteractive": "use IPythonInterpreter, whose sessions are processes of their own",
    "IPythonInteractiveManager": "use IPythonInterpreter, whose sessions are processes of their own",
    "BatchIPythonInterpreter": "use IPythonInterpreter, whose sessions are processes of their own",
}
"""Remedies for names of Lagent that Toolwire has not."""


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module(__package__), name)
    twin = name.removeprefix("Async")
    if twin != name and twin in __all__:
        raise ImportError(f"there is no {name}: use {twin}, which AsyncActionExecutor runs in a thread")
    if name in _INSTEAD:
        raise ImportError(f"{name} is not in {__name__}; {_INSTEAD[name]}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
