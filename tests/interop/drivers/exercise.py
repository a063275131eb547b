"""What every Python client is made to do with the everyday tools; the clients differ only in
`Peer`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import anyio

OnProgress = Callable[[float, "float | None", "str | None"], Awaitable[None]]

CALLS: list[tuple[str, dict[str, Any]]] = [
    ("add", {"a": 2, "b": 3}),
    ("add", {"a": 2, "b": "three"}),
    ("split", {"cents": 1000, "people": 3}),
    ("split", {"cents": "1000", "people": "3", "currency": None}),
    ("greet", {"name": "Ωmega"}),
    ("refuse", {"reason": "not today"}),
    ("divide", {"a": 1, "b": 0}),
    ("chatter", {}),
    ("picture", {}),
]


class Peer(Protocol):
    """One connected client."""

    protocol: str

    async def tools(self) -> list[Any]: ...

    async def call(
        self, name: str, arguments: dict[str, Any], on_progress: OnProgress | None = None
    ) -> Any: ...

    async def call_until_cancelled(
        self, name: str, arguments: dict[str, Any], on_progress: OnProgress, begun: anyio.Event
    ) -> None:
        """Call the tool, cancel the call in the client's own way once *begun* is set, and
        return.
        """


async def exercise(peer: Peer) -> dict[str, Any]:
    """Everything a client sees of the server, as plain data."""
    report: dict[str, Any] = {"protocol": peer.protocol}
    report["tools"] = sorted(tool.name for tool in await peer.tools())
    report["calls"] = [
        [name, arguments, plain(await peer.call(name, arguments))] for name, arguments in CALLS
    ]
    for name, arguments in (("countdown", {"start": 3}), ("steps", {"total": 3})):
        report[name] = await with_progress(peer, name, arguments)
    for name in ("work", "doze"):
        begun = anyio.Event()

        async def begin(*_: object, begun: anyio.Event = begun) -> None:
            begun.set()

        await peer.call_until_cancelled(name, {"name": name}, begin, begun)
    report["stopped"] = plain(await peer.call("stopped", {"names": ["work", "doze"]}))
    report["afterwards"] = plain(await peer.call("add", {"a": 20, "b": 22}))
    return report


class ByName:
    """A client that calls each tool by `call_tool`, as with `--show search`."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer
        self.protocol = peer.protocol

    async def tools(self) -> list[Any]:
        return await self._peer.tools()

    async def call(
        self, name: str, arguments: dict[str, Any], on_progress: OnProgress | None = None
    ) -> Any:
        named = {"name": name, "arguments": arguments}
        return await self._peer.call("call_tool", named, on_progress)

    async def call_until_cancelled(
        self, name: str, arguments: dict[str, Any], on_progress: OnProgress, begun: anyio.Event
    ) -> None:
        named = {"name": name, "arguments": arguments}
        await self._peer.call_until_cancelled("call_tool", named, on_progress, begun)


async def searched(peer: Peer, _: None) -> dict[str, Any]:
    """The same by a search and calls by name."""
    found = await peer.call("search_tools", {"query": "two numbers", "limit": 1})
    return {"found": plain(found), **await exercise(ByName(peer))}


PROGRAMS = [
    "[add(a=number, b=1) for number in range(3)]",
    "add(a=1, b='three')",
    "add(",
    "try:\n    split(cents=1000, people=3)\nexcept ToolFailed as failure:\n    print(failure.text)",
]


async def programmed(peer: Peer, _: None) -> dict[str, Any]:
    """What a client sees of programs."""
    report: dict[str, Any] = {"protocol": peer.protocol}
    report["tools"] = sorted(tool.name for tool in await peer.tools())
    report["found"] = plain(await peer.call("search_tools", {"query": "two numbers", "limit": 1}))
    report["results"] = [plain(await peer.call("run_program", {"code": code})) for code in PROGRAMS]
    begun = anyio.Event()

    async def begin(*_: object) -> None:
        begun.set()

    endless = {"code": "add(a=1, b=2)\nwhile True: pass"}
    await peer.call_until_cancelled("run_program", endless, begin, begun)
    report["afterwards"] = plain(await peer.call("run_program", {"code": "add(a=20, b=22)"}))
    return report


FOREIGN: list[tuple[str, dict[str, Any]]] = [
    ("all_echo", {"message": "hello"}),
    ("all_get-sum", {"a": 2, "b": 3}),
    ("all_get-structured-content", {"location": "Chicago"}),
    ("files_list_allowed_directories", {}),
    ("py_add", {"a": 2, "b": 3}),
    ("py_fail", {}),
]


async def foreign(peer: Peer, _: None) -> dict[str, Any]:
    """What a client sees of mounted servers that nobody here wrote."""
    told: list[list[Any]] = []

    async def note(done: float, total: float | None, message: str | None) -> None:
        told.append([done, total])

    names = [tool.name for tool in await peer.tools()]
    calls = {name: plain(await peer.call(name, arguments)) for name, arguments in FOREIGN}
    await peer.call("all_trigger-long-running-operation", {"duration": 0.4, "steps": 2}, note)
    return {
        "prefixes": sorted({name.partition("_")[0] for name in names}),
        "calls": calls,
        "progress": told,
    }


async def documents(peer: Any, _: None) -> dict[str, Any]:
    """Everything a client sees of resources and prompts. The classes of the SDKs differ in little
    but their names.
    """
    api = peer.api

    async def entries(method: str, member: str, key: str) -> list[str]:
        listed = await getattr(api, method)()
        found = listed if isinstance(listed, list) else members(listed)[member]
        return [(members(entry) if not isinstance(entry, dict) else entry)[key] for entry in found]

    async def contents(uri: str) -> Any:
        read = await api.read_resource(uri)
        return (
            [members(part) for part in read]
            if isinstance(read, list)
            else members(read)["contents"]
        )

    failures = {}
    for uri in ("config://ap", "notes://32/a"):
        try:
            await api.read_resource(uri)
        except Exception as error:
            failures[uri] = str(error)
    made = members(await api.get_prompt("review", {"code": "x = 1", "level": "2"}))
    return {
        "resources": await entries("list_resources", "resources", "uri"),
        "templates": await entries("list_resource_templates", "resourceTemplates", "uriTemplate"),
        "prompts": await entries("list_prompts", "prompts", "name"),
        "contents": [await contents(uri) for uri in READ],
        "failures": failures,
        "messages": made["messages"],
    }


OF_OTHERS: dict[str, dict[str, Any]] = {
    "add": {"a": 1, "b": 2},
    "fail": {},
    "echo": {"message": "Grüße"},
    "get-sum": {"a": 1, "b": 2},
    "list_allowed_directories": {},
}


async def wrapped(peer: Peer, _: None) -> dict[str, Any]:
    """What a client sees of a server that others wrote, as far as this knows its tools."""
    tools = {tool.name: members(tool) for tool in await peer.tools()}
    calls = {
        name: plain(await peer.call(name, given))
        for name, given in OF_OTHERS.items()
        if name in tools
    }
    return {"protocol": peer.protocol, "tools": tools, "calls": calls}


READ = ["config://app", "notes://3/a/b%20c?limit=2", "pixel://one"]


def members(value: Any) -> dict[str, Any]:
    dumped: dict[str, Any] = value.model_dump(mode="json", by_alias=True, exclude_none=True)
    return dumped


async def with_progress(peer: Peer, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The answer of a tool that waits, at each progress, until it is told that the progress was
    seen.
    """
    told: list[list[Any]] = []
    async with anyio.create_task_group() as tasks:

        async def note(done: float, total: float | None, message: str | None) -> None:
            told.append([done, total, message])
            # Not awaited here: some clients read nothing more until this function returns.
            tasks.start_soon(peer.call, "seen", {})

        answer = await peer.call(name, arguments, note)
    return {"answer": plain(answer), "progress": told}


def plain(result: Any) -> dict[str, Any]:
    """The members of a result that every revision has."""
    dumped = result.model_dump(mode="json", by_alias=True, exclude_none=True)
    return {
        key: dumped[key] for key in ("content", "structuredContent", "isError") if key in dumped
    }
