"""One running server: requests, calls, handshake, elicitation, tool list."""
