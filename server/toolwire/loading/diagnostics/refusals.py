"""Sentences about targets that cannot be served together, or offer nothing. Imported when one is
needed.
"""

from __future__ import annotations

import os
import sys
from glob import glob
from typing import TYPE_CHECKING, Protocol

from ...errors import LoadError
from ...log import warning
from ...tool_patterns import TAG

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolwire_tools import Tool

    class Part(Protocol):
        """A target, which is in a room that imports this one."""

        @property
        def load_program(self) -> object: ...


_REMEDIES = {
    "tool": "rename one, with @tool_api(name=...) or in its YAML",
    "prompt": "rename one, with @prompt(name=...)",
    "resource": "give one another URI",
}


def explain_duplicate(tool: Tool, here: str, there: str) -> str:
    """Return why *tool*, which *here* and *there* offer, cannot be served."""
    places = f"defined in {there} and in {here}"
    if here == there:
        places = f"defined twice in {here}"
    noun = tool.entry.noun
    return f"the {noun} {tool.name!r} is {places}; {_REMEDIES[noun]}, or serve only one"


def explain_empty_folder(folder: str, names: Sequence[str]) -> str:
    """Return why *folder*, which has files and folders of these *names*, offers nothing."""
    sentence = (
        f"the folder {folder} holds no Python files and no YAML that describes tools (names that"
        " begin with _ are skipped)"
    )
    subfolders = [name for name in names if glob(os.path.join(folder, name, "*.py"))]
    if not subfolders:
        return sentence
    return f"{sentence}; to serve its subfolders, name them as targets: {', '.join(subfolders)}"


def check_empty(tools: Sequence[Tool], targets: Sequence[str], parts: Sequence[Part]) -> None:
    """Check whether nothing may be served: a program may start a server that has nothing, which its
    own package would serve, too.

    Raises:
        LoadError: if not; says why nothing is left of the *tools* that *targets* offer.
    """
    has_started_server = any(part.load_program for part in parts)
    if tools or not has_started_server:
        raise LoadError(explain_no_tools(tools, targets))
    warning(f"{', '.join(targets)} has started a server without tools, resources and prompts")


def explain_no_tools(tools: Sequence[Tool], targets: Sequence[str]) -> str:
    """Return why nothing is left of the *tools* that *targets* offer."""
    if not tools:
        places = ", ".join(targets)
        if "toolwire_compat.fastmcp" in sys.modules:
            return (
                f"the server in {places} has no tools, resources or prompts: register functions"
                " with @mcp.tool(), or those of a low-level Server with @server.list_tools() and"
                " @server.call_tool()"
            )
        return (
            f"no tools to serve in {places}: define public functions there, or decorate some with"
            " @tool_api"
        )
    names = [tool.name for tool in tools]
    for tool in tools:
        names += [TAG + tag for tag in tool.entry.options.tags]
    available = ", ".join(dict.fromkeys(names))
    return f"--include and --exclude leave no tool; available: {available}"
