"""Serves the `server` of a file of this folder over Streamable HTTP, and prints its address.

python over_http.py FILE [stateless] [json]
"""

from __future__ import annotations

import socket
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import uvicorn


def make_app(file: Path, words: list[str]) -> Any:
    spec = spec_from_file_location(file.stem, file)
    module = module_from_spec(spec)
    sys.modules[file.stem] = module
    spec.loader.exec_module(module)
    server = module.server
    settings = {"stateless_http": "stateless" in words, "json_response": "json" in words}
    if hasattr(server, "http_app"):  # fastmcp
        return server.http_app(**settings)
    if hasattr(server.settings, "stateless_http"):  # mcp 1
        server.settings.stateless_http = settings["stateless_http"]
        server.settings.json_response = settings["json_response"]
        return server.streamable_http_app()
    return server.streamable_http_app(**settings)


def main(file: str, *words: str) -> None:
    app = make_app(Path(file), list(words))
    listening = socket.create_server(("127.0.0.1", 0))
    print(f"http://127.0.0.1:{listening.getsockname()[1]}/mcp", flush=True)
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[listening])


main(*sys.argv[1:])
