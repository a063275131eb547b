"""Client side of MCP, sans-IO: what to send, what events mean."""
