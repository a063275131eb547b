"""Counts what public MCP servers use of their library: imported names, and attributes of servers
and contexts.

    python tests/strangers/compare.py --install     once: the servers, many minutes
    python tests/strangers/count_names.py           print what occurs, the most frequent first
    python tests/strangers/count_names.py --record  write it to names.json

A name counts once for each server of servers.txt whose own files, as its distribution lists them,
have it. Attributes count where the variable was made by a class of a server (`mcp = FastMCP()`), or
is a parameter with the type `Context`.
"""

from __future__ import annotations

import ast
import json
import sys
from collections import defaultdict
from importlib.metadata import Distribution, DistributionFinder, MetadataPathFinder
from pathlib import Path
from typing import TYPE_CHECKING

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from strangers.compare import read_servers  # noqa: E402 - this file is a program, too

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strangers.compare import Stranger

NAMES = HERE / "names.json"
LIBRARIES = ("mcp", "mcp_types", "fastmcp")
SERVER_CLASSES = ("FastMCP", "MCPServer", "Server")


def main(words: list[str]) -> None:
    users: defaultdict[str, set[str]] = defaultdict(set)
    servers = 0
    for stranger in read_servers():
        sources = list(find_sources(stranger))
        if not sources:  # not installed
            continue
        servers += 1
        for source in sources:
            for used in find_names(source):
                users[used].add(stranger.name)
    counts = {used: len(found) for used, found in users.items()}
    ordered = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    if "--record" in words:
        data = {"servers": servers, "names": ordered}
        NAMES.write_text(json.dumps(data, indent=1) + "\n", "utf-8")
        return
    for used, number in ordered.items():
        print(f"{number:4} {100 * number / servers:5.1f} %  {used}")


def find_sources(stranger: Stranger) -> Iterator[str]:
    """Yield the Python files of the distribution."""
    for site in (stranger.folder / "lib").glob("python*/site-packages"):
        context = DistributionFinder.Context(name=stranger.name, path=[str(site)])
        for distribution in MetadataPathFinder.find_distributions(context):
            yield from _read_files(distribution)


def _read_files(distribution: Distribution) -> Iterator[str]:
    for file in distribution.files or []:
        is_test = "tests" in file.parts or file.name.startswith("test_")
        if file.suffix == ".py" and not is_test:
            yield Path(str(file.locate())).read_text("utf-8", errors="replace")


def find_names(source: str) -> set[str]:
    """Return the names of the libraries that a file with this *source* uses, as
    `fastmcp.Context` and `Context.info`.
    """
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return set()
    names: set[str] = set()
    variables: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level:
            module = str(node.module)
            if _is_of_library(module):
                names |= {f"{module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names if _is_of_library(alias.name)}
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            variables |= _find_server(node)
        elif isinstance(node, ast.arg) and "Context" in _words_of(node.annotation):
            variables[node.arg] = "Context"
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            kind = variables.get(node.value.id)
            if kind is not None:
                names.add(f"{kind}.{node.attr}")
    return names


def _find_server(node: ast.Assign | ast.AnnAssign) -> dict[str, str]:
    """Return the variable that *node* makes a server, and its class."""
    call = node.value
    if not isinstance(call, ast.Call):
        return {}
    made = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if isinstance(call.func, ast.Name):
        made = call.func.id
    if made not in SERVER_CLASSES:
        return {}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return {target.id: made for target in targets if isinstance(target, ast.Name)}


def _is_of_library(module: str) -> bool:
    return module.partition(".")[0] in LIBRARIES


def _words_of(annotation: ast.expr | None) -> set[str]:
    """Return the names in an annotation."""
    words = set()
    for node in ast.walk(annotation) if annotation is not None else ():
        if isinstance(node, ast.Name):
            words.add(node.id)
        elif isinstance(node, ast.Attribute):
            words.add(node.attr)
    return words


if __name__ == "__main__":
    main(sys.argv[1:])
