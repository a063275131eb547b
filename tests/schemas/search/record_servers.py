"""Records the lists of public servers that the questions are about.

    python tests/schemas/search/record_servers.py

Adds to servers.json the list of each server of tests/strangers/servers.txt that is installed (see
tests/strangers/compare.py) and lists tools, started by its own package or by `toolwire serve
--adopt`. Lists that are there already stay as they are. Of each tool the texts are kept that a
search reads, cut where they are long.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
LISTS = FOLDER / "servers.json"

sys.path.insert(0, str(FOLDER.parents[1] / "strangers"))

from compare import INSTALLED, SERVERS, NotStarted, Server  # noqa: E402

_MAX_CHARS = 400
_MAX_CHARS_OF_PARAMETER = 200
_AFFIXES = ("mcp", "server", "py", "awslabs")
"""Parts of a distribution's name that no user would give to a mounted server."""


def main() -> None:
    lists = json.loads(LISTS.read_text("utf-8"))
    sources = {listed["source"] for listed in lists.values()}
    for spec in SERVERS.read_text("utf-8").splitlines():
        if not spec or spec.startswith("#"):
            continue
        requirement, _, words = spec.partition(" ")
        name, _, version = requirement.partition("==")
        source = f"PyPI {name} {version}"
        if source in sources or not (INSTALLED / name / "ok").exists():
            continue
        tools = list_tools(name, words or name)
        print(f"{name:45}{len(tools):4}", flush=True)
        if tools:
            lists[shorten_name(name)] = {"source": source, "tools": list(map(trim, tools))}
    LISTS.write_text(format_lists(lists), "utf-8")


def list_tools(name: str, command: str) -> list[dict[str, Any]]:
    """Return the tools of an installed server; none if it does not start."""
    folder = INSTALLED / name
    words = command.split()
    own = [str(folder / "bin" / words[0]), *words[1:]]
    if words[0] == "-m":
        own = [str(folder / "bin" / "python"), *words]
    site = next((folder / "lib").glob("python*/site-packages"))
    ours = [sys.executable, "-P", "-m", "toolwire", "serve", "--adopt", command]
    for start, env in ((own, {}), (ours, {"PYTHONPATH": str(site)})):
        try:
            with Server(start, **env) as server:
                server.start()
                return server.list("tools/list")
        except NotStarted:
            continue
    return []


def shorten_name(name: str) -> str:
    """Return what a user would call the server of a distribution."""
    parts = [part for part in name.split("-") if part not in _AFFIXES]
    return "-".join(parts) or name


def trim(tool: dict[str, Any]) -> dict[str, Any]:
    """Return the texts of *tool* that a search reads."""
    kept = {"name": tool["name"], "description": (tool.get("description") or "")[:_MAX_CHARS]}
    kept["inputSchema"] = {"type": "object", "properties": trim_parameters(tool["inputSchema"])}
    if tool.get("title"):
        kept["title"] = tool["title"]
    return kept


def trim_parameters(schema: dict[str, Any]) -> dict[str, Any]:
    parameters = {}
    for name, parameter in schema.get("properties", {}).items():
        kept = {}
        if isinstance(parameter, dict):
            if isinstance(parameter.get("description"), str):
                kept["description"] = parameter["description"][:_MAX_CHARS_OF_PARAMETER]
            if isinstance(parameter.get("enum"), list):
                kept["enum"] = parameter["enum"][:20]
        parameters[name] = kept
    return parameters


def format_lists(lists: dict[str, Any]) -> str:
    """Return the file: a line for each tool."""
    servers = []
    for name, listed in lists.items():
        tools = ",\n".join(f"  {write(tool)}" for tool in listed["tools"])
        source = write(listed["source"])
        servers.append(f' {write(name)}: {{"source": {source}, "tools": [\n{tools}\n ]}}')
    return "{\n" + ",\n".join(servers) + "\n}\n"


def write(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    main()
