"""Why names of a module are no tools: for `toolwire list TARGET --why`."""

from __future__ import annotations

from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, NamedTuple

from toolwire_tools.discovery import Offer, find_offer

from ...errors import LoadError
from .. import importing
from ..modules import find_module_or_installed
from ..targets import parse


class UnofferedName(NamedTuple):
    """A name of a module that can be called and is not offered, and the reason."""

    name: str
    reason: str


def explain(text: str) -> list[UnofferedName]:
    """Import the file or module *text*, and return its names that can be called and are no tools,
    in their order.

    Raises:
        LoadError: if it cannot be imported, or is no file of Python and no module.
    """
    target = parse(text)
    if target.is_bundled or target.place.endswith(importing.YAML):
        raise LoadError(f"{text} is no module: --why explains the names of a module of Python")
    if target.is_path:
        module: Any = importing.import_file(target.place)
    else:
        module = find_module_or_installed(target.place)
    if not isinstance(module, ModuleType):
        raise LoadError(f"{text} is no module: --why explains the names of a module of Python")
    return _explain_module(module)


def _explain_module(module: ModuleType) -> list[UnofferedName]:
    offer = find_offer(module)
    reasons = {skipped.name: skipped.reason for skipped in offer.skipped}
    offered = {id(_get_function(tool.entry.function)) for tool in offer.tools}
    found = []
    for name, value in vars(module).items():
        if name.startswith("__") or not callable(value) or id(_get_function(value)) in offered:
            continue
        reason = reasons.get(name) or _find_reason(module, name, value, offer)
        found.append(UnofferedName(name, reason))
    return found


def _get_function(value: Any) -> Any:
    """Return the function of a method, which is another object each time it is looked up."""
    return value.__func__ if type(value) is MethodType else value


def _find_reason(module: ModuleType, name: str, value: Any, offer: Offer) -> str:
    origin = getattr(value, "__module__", None)
    exported = vars(module).get("__all__")
    if "__tools__" in vars(module):
        return "__tools__ does not list it"
    if name.startswith("_"):
        return "its name begins with an underscore"
    if origin != module.__name__ and (exported is None or name not in exported):
        return f"it is imported from {origin}; list it in __tools__ to offer it"
    if isinstance(value, type):
        return "it is a class, and no method of it is decorated with @tool_api"
    if exported is not None and name not in exported:
        return "the module's __all__ does not name it"
    if not isinstance(value, FunctionType | BuiltinFunctionType | MethodType):
        return f"it is an object of the class {type(value).__name__}; list it in __tools__"
    if offer.tools:
        return "other names of the module are decorated with @tool_api, and it is not"
    return "it is no function of this module; list it in __tools__ to offer it"
