"""Return value or exception → MCP result."""
