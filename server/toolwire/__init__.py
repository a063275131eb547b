"""Toolwire: Python functions as tools for any program.

import toolwire

def add(a: int, b: int) -> int:
    "Add two whole numbers."
    return a + b

toolwire.serve([add])
"""

from __future__ import annotations

# as that of `typing`, which `__main__` imports after it has switched garbage collection off
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from toolwire_tools import (
        AsyncContext,
        Context,
        ToolError,
        complete,
        prompt,
        resource,
        tool_api,
    )

    from .errors import RequestError
    from .server import Server, serve
    from .version import __version__

__all__ = [
    "AsyncContext",
    "Context",
    "RequestError",
    "Server",
    "ToolError",
    "__version__",
    "complete",
    "prompt",
    "resource",
    "serve",
    "tool_api",
]

_LATER = {
    "AsyncContext": "toolwire_tools",
    "Context": "toolwire_tools",
    "RequestError": "toolwire.errors",
    "Server": "toolwire.server",
    "ToolError": "toolwire_tools",
    "__version__": "toolwire.version",
    "complete": "toolwire_tools",
    "load_ipython_extension": "toolwire.notebook",
    "prompt": "toolwire_tools",
    "resource": "toolwire_tools",
    "serve": "toolwire.server",
    "tool_api": "toolwire_tools",
}
"""Names imported at first use, each with its module: every command imports this file, and few need
a server.
"""


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        from toolwire_schemas.misplaced_names import make_missing_error

        raise make_missing_error(__name__, name)
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_LATER[name]), name)
    return value
