"""Tools that programs of models call, and a client that such programs ask."""

from __future__ import annotations

from typing import Any

from toolwire import Server, ToolError, tool_api

from support.server_process import request
from support.talk import Talk


@tool_api(read_only=True)
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@tool_api(destructive=True)
def wipe(path: str) -> str:
    """Remove a file."""
    return f"wiped {path}"


@tool_api(read_only=True)
def fail() -> str:
    """Fail as its author says."""
    raise ToolError("No such luck.")


@tool_api(read_only=True)
def read_much() -> str:
    """Return much text."""
    return "x" * 10_000_000


class Library:
    """A toolkit."""

    @tool_api(read_only=True)
    def find(self, title: str, limit: int = 1) -> dict[str, Any]:
        """Find a book."""
        return {"title": title, "limit": limit}


def run_program(server: Server, code: str) -> dict[str, Any]:
    """Return the result of a program."""
    result: dict[str, Any] = server.call("run_program", {"code": code})
    return result


def introduce(talk: Talk) -> None:
    """Say as a client that the user can be asked."""
    able = {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}}
    talk.send(request("initialize", {**able, "clientInfo": {"name": "t", "version": "1"}}, 0))
    talk.next()


def reply(talk: Talk, asked: dict[str, Any], **content: Any) -> None:
    """Answer an elicitation with *content*."""
    result = {"action": "accept", "content": content}
    talk.send({"jsonrpc": "2.0", "id": asked["id"], "result": result})
