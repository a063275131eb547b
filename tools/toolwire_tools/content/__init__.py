"""MCP content blocks (text, image, audio, file, link) and media types."""
