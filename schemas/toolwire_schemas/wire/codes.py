"""Numbers and names fixed by JSON-RPC 2.0, the Language Server Protocol and the Model Context Protocol."""

from __future__ import annotations

from typing import Final

# JSON-RPC 2.0, section 5.1.
PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603

# Language Server Protocol 3.17, ErrorCodes: the answer to a request ended by `$/cancelRequest`.
REQUEST_CANCELLED: Final = -32800

# MCP 2026-07-28, error codes.
UNSUPPORTED_PROTOCOL_VERSION: Final = -32022

# JSON-RPC leaves everything outside -32768..-32000 to applications, and MCP 2026-07-28 asks new
# implementations to put their own codes there.
OVERLOADED: Final = -31001
SHUTTING_DOWN: Final = -31002

LEGACY_VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""MCP revisions that begin with `initialize`, oldest first."""

MODERN_VERSIONS: Final = ("2026-07-28",)
"""MCP revisions whose every request names its version in `_meta`."""

LATEST_LEGACY: Final = LEGACY_VERSIONS[-1]

META_VERSION: Final = "io.modelcontextprotocol/protocolVersion"
META_CLIENT_CAPABILITIES: Final = "io.modelcontextprotocol/clientCapabilities"
META_CLIENT_INFO: Final = "io.modelcontextprotocol/clientInfo"
META_SERVER_INFO: Final = "io.modelcontextprotocol/serverInfo"
META_SUBSCRIPTION_ID: Final = "io.modelcontextprotocol/subscriptionId"
