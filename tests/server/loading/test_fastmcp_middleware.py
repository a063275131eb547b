"""FastMCP's middleware: its hooks run around calls, reads and prompts, and once for each list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from support.recording_caller import RecordingCaller
from toolwire.errors import LoadError
from toolwire.loading.targets import load
from toolwire_tools import RegistrationError, ToolError

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolwire_tools.tool import Tool

pytestmark = [pytest.mark.usefixtures("own_imports"), pytest.mark.anyio]

SERVER = """
from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.prompts import Message, PromptResult
from fastmcp.resources import ResourceContent, ResourceResult
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import ToolResult
from mcp.types import CallToolResult

mcp = FastMCP("hooked")
seen = []

@mcp.tool(tags={"plain"})
def echo(text: str) -> str:
    "Echo."
    return text

@mcp.resource("notes://{name}")
def note(name: str) -> bytes: return b"note"

@mcp.prompt
def ask(topic: str) -> str: return topic

"""


@pytest.fixture
def load_server(write: Callable[[str, str], str]) -> Callable[[str], dict[str, Tool]]:
    """Return what a server offers with more lines in its file, by names."""

    def load_server(lines: str) -> dict[str, Tool]:
        tools = load([write("server.py", SERVER + lines)], adopt=True)
        return {tool.name: tool for tool in tools}

    return load_server


async def call(tool: Tool, **arguments: Any) -> dict[str, Any]:
    return await tool.call_async(arguments, RecordingCaller())


async def test_hooks_run_from_the_first_middleware_to_the_last_and_back(
    load_server: Callable[[str], dict[str, Tool]],
) -> None:
    tools = load_server(
        "class Note(Middleware):\n"
        "    def __init__(self, word): self.word = word\n"
        "    async def on_message(self, context, call_next):\n"
        "        seen.append(f'{self.word} {context.type}')\n"
        "        return await call_next(context)\n"
        "    async def on_request(self, context: MiddlewareContext, call_next: CallNext):\n"
        "        seen.append(f'{self.word} {context.method}')\n"
        "        return await call_next(context)\n"
        "    async def on_call_tool(self, context: MiddlewareContext[str], call_next):\n"
        "        seen.append(f'{self.word} {context.message.name}')\n"
        "        result = await call_next(context)\n"
        "        seen.append(f'{self.word} {context.fastmcp_context.fastmcp.name}')\n"
        "        return result\n"
        "async def last(context, call_next):\n"
        "    if context.method == 'tools/call':\n"
        "        seen.append('a function')\n"
        "    return await call_next(context)\n"
        "mcp = FastMCP('inner', middleware=[Note('first')])\n"
        "mcp.add_middleware(Note('second'))\nmcp.add_middleware(last)\n"
        "@mcp.tool\ndef look() -> list[str]: return seen[-7:] + ['the tool']\n"
        "@mcp.tool\ndef recall() -> list[str]: return seen\n"
    )

    looked = await call(tools["look"])
    recalled = await call(tools["recall"])

    expected = [
        *("first request", "first tools/call", "first look"),
        *("second request", "second tools/call", "second look"),
        *("a function", "the tool"),
    ]
    assert looked["structuredContent"] == {"result": expected}
    after = recalled["structuredContent"]["result"]
    assert after[-9:-7] == ["second inner", "first inner"]


CALLS = {
    "changes arguments in a copy": (
        "message = context.message.model_copy(update={'arguments': {'text': 'changed'}})\n"
        "        return await call_next(context.copy(message=message))",
        {"content": [{"type": "text", "text": "changed"}], "isError": False}
        | {"structuredContent": {"result": "changed"}},
    ),
    "changes arguments in place": (
        "context.message.arguments['text'] += '!'\n        return await call_next(context)",
        {"content": [{"type": "text", "text": "x!"}], "isError": False}
        | {"structuredContent": {"result": "x!"}},
    ),
    "changes the result": (
        "result = await call_next(context)\n"
        "        return ToolResult(result.content + result.content, meta={'from': 'hook'})",
        {"content": [{"type": "text", "text": "x"}] * 2, "isError": False}
        | {"_meta": {"from": "hook"}},
    ),
    "answers itself": (
        "return ToolResult(structured_content={'a': 1})",
        {"content": [{"type": "text", "text": '{"a":1}'}], "isError": False}
        | {"structuredContent": {"a": 1}},
    ),
    "presents the result by a class of its own": (
        "class Failed(ToolResult):\n"
        "            def to_mcp_result(self):\n"
        "                return CallToolResult(content=self.content, is_error=True)\n"
        "        return Failed('no')",
        {"content": [{"type": "text", "text": "no"}], "isError": True},
    ),
    "calls without middleware": (
        "server = context.fastmcp_context.fastmcp\n"
        "        return await server.call_tool('echo', {'text': 'in'}, run_middleware=False)",
        {"content": [{"type": "text", "text": "in"}], "isError": False}
        | {"structuredContent": {"result": "in"}},
    ),
}


@pytest.mark.parametrize("case", CALLS)
async def test_a_hook_of_calls(case: str, load_server: Callable[[str], dict[str, Tool]]) -> None:
    body, expected = CALLS[case]
    tools = load_server(
        "class Change(Middleware):\n"
        f"    async def on_call_tool(self, context, call_next):\n        {body}\n"
        "mcp.add_middleware(Change())\n"
    )

    assert await call(tools["echo"], text="x") == expected


async def test_an_error_of_a_hook_is_that_of_the_call_and_a_hook_may_catch_that_of_the_tool(
    load_server: Callable[[str], dict[str, Tool]],
) -> None:
    tools = load_server(
        "class Guard(Middleware):\n"
        "    async def on_call_tool(self, context, call_next):\n"
        "        if context.message.name == 'echo':\n            raise ToolError('closed')\n"
        "        try:\n            return await call_next(context)\n"
        "        except ZeroDivisionError:\n            return ToolResult('caught')\n"
        "mcp.add_middleware(Guard())\n@mcp.tool\ndef divide() -> float: return 1 / 0\n"
    )

    with pytest.raises(ToolError, match=r"^closed$"):
        await call(tools["echo"], text="x")
    assert (await call(tools["divide"]))["content"] == [{"type": "text", "text": "caught"}]


async def test_hooks_change_what_lists_show(load_server: Callable[[str], dict[str, Tool]]) -> None:
    tools = load_server(
        "class Show(Middleware):\n"
        "    async def on_list_tools(self, context, call_next):\n"
        "        tools = [t for t in await call_next(context) if 'plain' in t.tags]\n"
        "        empty = {'type': 'object'}\n"
        "        return [t.model_copy(update={'parameters': empty}) for t in tools]\n"
        "    async def on_list_resource_templates(self, context, call_next):\n"
        "        found = await call_next(context)\n"
        "        return [t.model_copy(update={'description': t.uri_template}) for t in found]\n"
        "    async def on_list_prompts(self, context, call_next): return []\n"
        "mcp.add_middleware(Show())\n@mcp.tool\ndef hidden(): ...\n"
    )

    assert list(tools) == ["echo", "notes://{name}"]
    assert tools["echo"].describe()["inputSchema"] == {"type": "object"}
    assert tools["notes://{name}"].describe()["description"] == "notes://{name}"
    assert not any(tool.is_async for tool in tools.values())  # no hook concerns their calls


READING = """
class Read(Middleware):
    def __init__(self, word): self.word = word
    async def check_resource_access(self, context):
        if context.message.uri.endswith("secret"):
            raise ToolError("not allowed")
    async def on_read_resource(self, context, call_next):
        await self.check_resource_access(context)
        [content] = (await call_next(context)).contents
        text = f"{self.word} {content.content.decode()}".encode()
        return ResourceResult([ResourceContent(text, mime_type=content.mime_type)])
    async def on_get_prompt(self, context, call_next):
        context.message.arguments["topic"] += f" {self.word}"
        result = await call_next(context)
        return PromptResult([*result.messages, Message(context.message.name)])
mcp.add_middleware(Read("inner"))
inner, mcp = mcp, FastMCP("outer", middleware=[Read("outer")])
mcp.mount(inner, "in")
"""


async def test_reads_and_prompts_of_a_mounted_server_pass_the_hooks_of_both(
    load_server: Callable[[str], dict[str, Tool]],
) -> None:
    tools = load_server(READING)
    template = tools["notes://in/{name}"]

    read = await call(template, uri="notes://in/a")
    prompt = await call(tools["in_ask"], topic="x")

    [content] = read["contents"]
    assert content["blob"] == "b3V0ZXIgaW5uZXIgbm90ZQ=="  # outer inner note
    texts = [message["content"]["text"] for message in prompt["messages"]]
    assert texts == ["x outer inner", "in_ask", "in_ask"]
    with pytest.raises(ToolError, match=r"^not allowed$"):
        await call(template, uri="notes://in/secret")


@pytest.mark.parametrize("hook", ["on_initialize", "on_discover", "on_notification"])
async def test_a_hook_that_would_not_run_is_refused_with_its_line(
    hook: str, load_server: Callable[[str], dict[str, Tool]]
) -> None:
    lines = f"class Odd(Middleware):\n    async def {hook}(self, context, call_next): ...\nOdd()\n"

    with pytest.raises((LoadError, RegistrationError)) as refusal:
        load_server(lines)

    line = (SERVER + lines).count("\n")
    assert f"server.py:{line}: Toolwire does not support Odd.{hook}" in str(refusal.value)


async def test_a_hook_cannot_lead_a_call_to_another_tool(
    load_server: Callable[[str], dict[str, Tool]],
) -> None:
    tools = load_server(
        "class Lead(Middleware):\n"
        "    async def on_call_tool(self, context, call_next):\n"
        "        context.message.name = 'other'\n        return await call_next(context)\n"
        "mcp.add_middleware(Lead())\n"
    )

    with pytest.raises(RegistrationError, match="goes on to other for a request of echo"):
        await call(tools["echo"], text="x")
