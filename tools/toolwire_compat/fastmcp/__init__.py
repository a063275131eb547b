"""FastMCP and the SDK's server classes, on Toolwire: the same names, for files that import them
unchanged.
"""

from .context import Context
from .mcp_types import Audio, File, Image, ToolError, ToolResult
from .server import FastMCP, MCPServer

__all__ = ["Audio", "Context", "FastMCP", "File", "Image", "MCPServer", "ToolError", "ToolResult"]
