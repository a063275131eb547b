"""Error messages about targets: not found, not importable, or without tools to serve."""
