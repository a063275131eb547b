"""A server of fastmcp with middleware of its own."""

from __future__ import annotations

from typing import Any

from fastmcp import FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.prompts import Message, PromptResult
from fastmcp.resources import ResourceContent, ResourceResult
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools import ToolResult

seen: list[str] = []


class Note(Middleware):
    """Notes each request but lists: these are asked at other times than by the original."""

    def __init__(self, word: str) -> None:
        self.word = word

    async def on_message(self, context: MiddlewareContext, call_next: CallNext) -> Any:
        method = str(context.method)
        if method.startswith(("tools/call", "resources/read", "prompts/get")):
            seen.append(f"{self.word} {context.type} {method}")
        return await call_next(context)

    async def on_call_tool(self, context: MiddlewareContext, call_next: CallNext) -> Any:
        seen.append(f"{self.word} calls {context.message.name}")
        result = await call_next(context)
        seen.append(f"{self.word} has {result.content[0].type} {result.structured_content}")
        return result


class Change(Middleware):
    """Changes arguments, results and lists."""

    async def on_call_tool(self, context: MiddlewareContext, call_next: CallNext) -> Any:
        message = context.message
        match message.name:
            case "closed":
                raise ToolError("it is closed")
            case "cached":
                return ToolResult(structured_content={"from": "the cache"}, meta={"age": 1})
            case "echo":
                message = message.model_copy(update={"arguments": {"text": "another"}})
                return await call_next(context.copy(message=message))
        return await call_next(context)

    async def on_list_tools(self, context: MiddlewareContext, call_next: CallNext) -> Any:
        shown = [tool for tool in await call_next(context) if "hidden" not in tool.tags]
        return [tool.model_copy(update={"description": f"The {tool.name}."}) for tool in shown]

    async def on_read_resource(self, context: MiddlewareContext, call_next: CallNext) -> Any:
        [content] = (await call_next(context)).contents
        return ResourceResult([ResourceContent(content.content.upper(), mime_type="text/x-loud")])

    async def on_get_prompt(self, context: MiddlewareContext, call_next: CallNext) -> Any:
        result = await call_next(context)
        return PromptResult([*result.messages, Message("Be short.", role="assistant")])

    async def on_list_prompts(self, context: MiddlewareContext, call_next: CallNext) -> Any:
        return [prompt for prompt in await call_next(context) if prompt.name != "secret"]


mcp = FastMCP("hooked", middleware=[Note("outer")])
mcp.add_middleware(Note("inner"))
mcp.add_middleware(Change())


@mcp.tool
def echo(text: str) -> ToolResult:
    return ToolResult(text, structured_content={"text": text}, meta={"size": len(text)})


@mcp.tool
def fail() -> str:
    raise ToolError("no")


@mcp.tool
def closed() -> str:
    return "open"


@mcp.tool
async def cached() -> dict[str, Any]:
    return {"from": "the tool"}


@mcp.tool(tags={"hidden"})
def private() -> None: ...


@mcp.resource("notes://{name}")
def note(name: str) -> str:
    return f"note {name}"


@mcp.prompt
def secret() -> str:
    return "secret"


@mcp.prompt
def recall() -> str:
    return ", ".join(seen)
