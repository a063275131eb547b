"""Plain methods of JSON-RPC: functions that a program has decorated with `jsonrpcserver.method`.

Strategy. A plain method is an entry of the kind `methods`, which no list of MCP shows. Its handler
has the library dispatch the request: that binds the parameters, runs the function, and decides what
its `Success`, `Error`, `InvalidParams` or exception means. All else is as for a tool: threads, the
event loop, limits, cancellation, batches.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import msgspec
from jsonrpcserver import async_dispatch_to_serializable, dispatch_to_serializable
from jsonrpcserver.methods import global_methods
from toolwire_tools import Entry, Tool
from toolwire_tools.discovery import Offer, Skipped
from toolwire_tools.schema.annotations import is_async

from ..errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from toolwire_tools import Caller

_OF_MCP = ("initialize", "ping")
"""Methods of MCP that programs may have, too; the others have a `/` in their names."""

_offered_by: WeakKeyDictionary[Any, ModuleType] = WeakKeyDictionary()
"""The target that offers each function: the library has one table for all modules."""


def add_methods(module: ModuleType, offer: Offer) -> Offer:
    """Return what *module* offers, with the methods that it, or what it imports, has defined; those
    are no tools.
    """
    methods = {
        name: function
        for name, function in global_methods.items()
        if _is_of(function, module) and _offered_by.setdefault(function, module) is module
    }
    functions = list(methods.values())
    own = vars(module)
    tools = [tool for tool in offer.tools if tool.entry.function not in functions]
    skipped = [each for each in offer.skipped if own.get(each.name) not in functions]
    for name, function in methods.items():
        if name in _OF_MCP:
            skipped.append(Skipped(name, "Toolwire answers this method of MCP itself"))
            continue
        tools.append(make_method(name, function))
    return Offer(tools, skipped)


def _is_of(function: Any, module: ModuleType) -> bool:
    """Return whether *function* is one of *module* or of another that is still imported: after a
    reload, the table still has the methods from before.
    """
    its_globals = getattr(function, "__globals__", None)
    if its_globals is vars(module):
        return True
    other = sys.modules.get(function.__module__)
    return other is not None and vars(other) is its_globals


class MethodHandler(msgspec.Struct, frozen=True, eq=False):
    """Runs the calls of a plain method, whose arguments are the params as they were sent."""

    name: str
    function: Callable[..., Any]
    is_async: bool
    gate: None = None
    is_generator: bool = False

    @property
    def notices_cancellation(self) -> bool:
        return self.is_async

    def call(
        self, arguments: Any, caller: Caller, strict_arguments: bool = False
    ) -> dict[str, Any]:
        """Return the response to a request with these *arguments*, as its member `result`.

        Raises:
            RequestError: if the response is an error.
        """
        response = dispatch_to_serializable("", **self._read_options(arguments))
        return _read_response(response)

    async def call_async(
        self, arguments: Any, caller: Caller, strict_arguments: bool = False
    ) -> dict[str, Any]:
        response = await async_dispatch_to_serializable("", **self._read_options(arguments))
        return _read_response(response)

    def with_name(self, name: str) -> MethodHandler:
        return MethodHandler(name, self.function, self.is_async)

    def _read_options(self, arguments: Any) -> dict[str, Any]:
        request = {"jsonrpc": "2.0", "method": self.name, "id": 0}
        if arguments is not None:
            request["params"] = arguments
        return {
            "methods": {self.name: self.function},
            "deserializer": lambda text: request,
            "validator": lambda element: element,  # the protocol has judged the request
        }


def _read_response(response: Any) -> dict[str, Any]:
    if "error" not in response:
        return {"result": response["result"]}
    error = response["error"]
    raise RequestError(error["code"], error["message"], error.get("data"))


def make_method(name: str, function: Callable[..., Any]) -> Tool:
    """Return *function* as the plain method *name*."""
    entry = Entry(kind="methods", name=name, parts=(name,), shown={"name": name}, function=function)
    return Tool(entry, MethodHandler(name, function, is_async(function)))
