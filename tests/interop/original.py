"""Serves the FastMCP or MCPServer object of a file with its own package: `original.py FILE`."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any, get_type_hints

KINDS = ("FastMCP", "MCPServer")


def server_in(held: dict[str, Any]) -> Any:
    servers = {name: value for name, value in held.items() if type(value).__name__ in KINDS}
    for name in (*("mcp", "server", "app"), *servers):
        if name in servers:
            return servers[name]
    makers = [
        value
        for value in held.values()
        if type(value).__name__ == "function" and makes_server(value)
    ]
    return makers[0]() if makers else sys.exit("it makes no server")


def makes_server(function: Any) -> bool:
    try:
        return getattr(get_type_hints(function).get("return"), "__name__", "") in KINDS
    except NameError:
        return False


path = Path(sys.argv.pop(1)).resolve()
sys.argv[0] = str(path)
sys.path[0] = str(path.parent)
folder, parts = path.parent, [path.stem]
while (folder / "__init__.py").exists():
    folder, parts = folder.parent, [folder.name, *parts]
if len(parts) > 1:
    sys.path.insert(0, str(folder))
server_in(vars(importlib.import_module(".".join(parts)))).run()
