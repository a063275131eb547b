"""A host: `toolwire config notebook tools.py` prints the entry for its config file."""

HOST = {
    "title": "Notebook",
    "source": "https://example.org/notebook/mcp",
    "holds": "mcpServers",
    "places": [{"whose": "all projects", "template": "{config}/notebook/mcp.json"}],
    "then": "Then restart Notebook.",
}
