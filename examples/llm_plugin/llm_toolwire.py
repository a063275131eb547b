"""Gives `llm` (https://llm.datasette.io) the tools of any MCP server.

    llm install ./examples/llm_plugin
    llm -T 'Toolwire("toolwire serve my_tools.py")' 'How much is 2 + 40?' --ta

`--ta` has you approve each call: `llm` runs every tool that a model asks for, whatever its
annotations say.
"""

from __future__ import annotations

import atexit
import shlex
from base64 import b64decode
from typing import TYPE_CHECKING, Any

import llm
from toolwire_client import CallResult, Client, ToolDescription, connect
from toolwire_dialects.name_mapping import Names

if TYPE_CHECKING:
    from collections.abc import Callable


class Toolwire(llm.Toolbox):
    """The tools of the MCP server that a command starts."""

    def __init__(self, command: str) -> None:
        self.command = command
        self._made: list[llm.Tool] = []

    def tools(self) -> list[llm.Tool]:
        """Start the server at the first call, and return its tools. It ends with this process."""
        if not self._made:
            client = connect(shlex.split(self.command)).__enter__()
            atexit.register(client.close)
            self._made = _make_tools(client)
        return self._made


def _make_tools(client: Client) -> list[llm.Tool]:
    tools = client.list_tools()
    names = Names([tool.name for tool in tools], "openai").theirs  # the strictest API of all
    return [_make_tool(client, tool, names[tool.name]) for tool in tools]


def _make_tool(client: Client, tool: ToolDescription, name: str) -> llm.Tool:
    return llm.Tool(
        name=name,
        description=tool.description,
        input_schema=tool.input_schema,
        implementation=_make_call(client, tool.name),
    )


def _make_call(client: Client, name: str) -> Callable[..., llm.ToolOutput]:
    def call(**arguments: Any) -> llm.ToolOutput:
        result = client.call_tool(name, arguments)
        if result.is_error:
            raise RuntimeError(result.text)  # which llm shows to the model
        return llm.ToolOutput(output=result.text, attachments=_find_media(result))

    return call


def _find_media(result: CallResult) -> list[llm.Attachment]:
    """Return the images and audio of a result, for models that take them."""
    media = []
    for block in result.content:
        if block.get("type") in ("image", "audio"):
            content = b64decode(block["data"])
            media.append(llm.Attachment(type=block["mimeType"], content=content))
    return media


@llm.hookimpl
def register_tools(register: Callable[[type[llm.Toolbox]], None]) -> None:
    """Tell `llm` of the toolbox."""
    register(Toolwire)
