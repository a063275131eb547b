"""Toolwire: Python functions as tools for any program.

import toolwire

def add(a: int, b: int) -> int:
    "Add two whole numbers."
    return a + b

toolwire.serve([add])
"""

from __future__ import annotations

from toolwire_tools import Context, ToolError, tool_api

from .errors import RequestError
from .server import Server, serve

__version__ = "0.1.0"

__all__ = ["Context", "RequestError", "Server", "ToolError", "__version__", "serve", "tool_api"]
