"""Finds what can be measured of a server: its revision, a call that succeeds, and its results.

Strategy. The call is made once for trial, by the machinery of the check, which keeps what the
server says of its failures. Without the name of a tool, only tools are tried that declare that they
only read and that do not declare to reach other systems: a benchmark calls thousands of times.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.wire import codec
from toolwire_schemas.wire.messages import LATEST_LEGACY, MODERN_VERSIONS

from ..facts.handshake import (
    INITIALIZED,
    complete_message,
    find_trouble,
    is_modern,
    list_all_tools,
    make_initialize,
    make_probe,
    open_session,
)
from ..facts.sample_arguments import SampleArguments
from ..facts.server_facts import UnknownTool
from ..facts.server_process import ServerUnderTest
from ..judging.conversation import find_answers
from ..judging.expectations import shorten_json
from .driven_server import MeasuringFailed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MAX_TRIED = 24
_ID = "toolwire-bench-"
_PLACEHOLDER = f"{_ID}0"

ANY_ID = f'"{_ID}'.encode()
"""How the id of each request begins. Only a response has it, however its server writes JSON."""


class Patience(msgspec.Struct, frozen=True):
    """How long to wait for the first response of a server, and for each later one."""

    start_seconds: float = 20.0
    answer_seconds: float = 10.0


DEFAULT_PATIENCE = Patience()


class WantedCall(msgspec.Struct, frozen=True):
    """The call that a user wants to measure; without *tool*, one that only reads is found."""

    tool: str = ""
    arguments: dict[str, Any] | None = None


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """A server, and the request that is measured: a call of *tool*, or a ping if that is empty."""

    name: str
    command: Sequence[str]
    revision: str
    tool: str = ""
    arguments: dict[str, Any] = {}
    remark: str = ""
    """Why a ping is measured."""
    results: dict[str, Any]
    """The result of each method that a measurement uses."""

    def iterate_opening_requests(self) -> Iterator[tuple[bytes, bytes]]:
        """Yield the requests up to the first list, each with the mark of its response."""
        lines = INITIALIZED + b"\n"
        if is_modern(self.revision):
            lines = b""
        else:
            identity = f"{_ID}initialize"
            yield codec.encode(make_initialize(identity, self.revision)) + b"\n", _mark(identity)
        identity = f"{_ID}list"
        request = {"id": identity, "method": "tools/list", "params": {}}
        yield lines + _encode_line(request, self.revision), _mark(identity)

    def request(self) -> Request:
        """Return the request that is measured."""
        if not self.tool:
            return Request(_encode_line(make_probe(_PLACEHOLDER, self.revision), self.revision))
        params = {"name": self.tool, "arguments": self.arguments}
        call = {"id": _PLACEHOLDER, "method": "tools/call", "params": params}
        return Request(_encode_line(call, self.revision))


class Request:
    """A request as a line, encoded once for all ids."""

    def __init__(self, line: bytes) -> None:
        self._head, _, self._tail = line.partition(_mark(_PLACEHOLDER))

    def make_line(self, number: int) -> bytes:
        """Return the request with the id of *number*."""
        return self._head + self.mark(number) + self._tail

    @staticmethod
    def mark(number: int) -> bytes:
        """Return the id of *number*, which is in no other line than the response."""
        return _mark(make_id(number))


def make_id(number: int) -> str:
    """Return the id of the request with this *number*."""
    return f"{_ID}{number}"


def _mark(identity: str) -> bytes:
    return f'"{identity}"'.encode()


def _encode_line(message: dict[str, Any], revision: str) -> bytes:
    return codec.encode(complete_message(message, revision)) + b"\n"


def find_subject(
    command: Sequence[str], name: str, wanted: WantedCall, patience: Patience
) -> Subject:
    """Start *command*, and return what is measured of it; *name* is for a server without one.

    Raises:
        NotStarted: if the command cannot be run.
        MeasuringFailed: if the server does not respond, or the wanted call fails.
        UnknownTool: if it has no tool with the wanted name.
    """
    trouble = ""
    for revision in (LATEST_LEGACY, MODERN_VERSIONS[-1]):
        with closing(ServerUnderTest(command)) as server:
            obstacle = open_session(server, revision, patience.start_seconds)
            if obstacle is not None and not obstacle.is_choice:
                trouble = trouble or obstacle.why
                continue
            trial = _Trial(server, revision, patience)
            tools, trouble_of_list = trial.list_tools()
            if is_modern(revision) and trouble_of_list:
                break
            call = trial.find_call(tools, wanted)
            return Subject(
                name=trial.find_name() or name,
                command=command,
                revision=revision,
                tool=call.tool,
                arguments=call.arguments,
                remark=call.remark,
                results=trial.results,
            )
    raise MeasuringFailed(trouble)


class _Call(msgspec.Struct, frozen=True):
    """A call of *tool*; without it a ping, with the reason as *remark*."""

    tool: str = ""
    arguments: dict[str, Any] = {}
    remark: str = ""


class _Trial:
    """The conversation in which a call is looked for."""

    def __init__(self, server: ServerUnderTest, revision: str, patience: Patience) -> None:
        self._server = server
        self._revision = revision
        self._patience = patience
        self._count = 0
        self.results: dict[str, Any] = {}
        """The last result of each method."""
        for answer in find_answers(server.conversation.events, "open"):
            self.results["initialize"] = answer.get("result")

    def list_tools(self) -> tuple[list[dict[str, Any]], str]:
        """Return the tools, and what is wrong with the list; "" if nothing."""
        patience = self._patience.start_seconds
        listed, trouble = list_all_tools(self._server, self._revision, patience, "bench")
        tools = []
        for tool in listed:
            if isinstance(tool, dict) and isinstance(tool.get("name"), str):
                tools.append(tool)
        self.results["tools/list"] = {"tools": listed}
        return tools, trouble

    def find_name(self) -> str:
        """Return the name that the server gives itself; "" if it gives none."""
        opening = self.results.get("initialize")
        info = opening.get("serverInfo") if isinstance(opening, dict) else None
        name = info.get("name") if isinstance(info, dict) else None
        return name if isinstance(name, str) else ""

    def find_call(self, tools: Sequence[dict[str, Any]], wanted: WantedCall) -> _Call:
        """Return the *wanted* call, or one that only reads, or a ping."""
        if wanted.tool:
            return self._try_wanted(tools, wanted)
        candidates = [tool for tool in tools if may_be_called_often(tool)]
        for tool in candidates[:_MAX_TRIED]:
            arguments = SampleArguments(tool.get("inputSchema")).valid
            if arguments is None:
                continue
            if not self._try(tool["name"], arguments):
                return _Call(tool["name"], arguments)
        remark = "no tool says that it only reads (readOnlyHint)"
        if candidates:
            remark = "no tool that only reads succeeds with generated arguments"
        return self._try_ping(remark)

    def _try_wanted(self, tools: Sequence[dict[str, Any]], wanted: WantedCall) -> _Call:
        known = {tool["name"]: tool for tool in tools}
        if wanted.tool not in known:
            raise UnknownTool(wanted.tool, list(known))
        arguments = wanted.arguments
        if arguments is None:
            arguments = SampleArguments(known[wanted.tool].get("inputSchema")).valid
        if arguments is None:
            raise MeasuringFailed(f"no arguments for {wanted.tool} can be made from its schema")
        if trouble := self._try(wanted.tool, arguments):
            raise MeasuringFailed(f"{wanted.tool} fails with {shorten_json(arguments)}: {trouble}")
        return _Call(wanted.tool, arguments)

    def _try_ping(self, remark: str) -> _Call:
        probe = make_probe(self._make_id(), self._revision)
        if trouble := self._request(probe):
            raise MeasuringFailed(f"{probe['method']} fails: {trouble}")
        return _Call(remark=remark)

    def _try(self, tool: str, arguments: dict[str, Any]) -> str:
        """Call *tool*; return how it failed, "" if it succeeded."""
        params = {"name": tool, "arguments": arguments}
        trouble = self._request({"id": self._make_id(), "method": "tools/call", "params": params})
        if trouble:
            return trouble
        result = self.results["tools/call"]
        if result.get("isError"):
            return shorten_json(result.get("content"))
        if result.get("resultType", "complete") != "complete":
            return "it needs more than one request"
        return ""

    def _request(self, message: dict[str, Any]) -> str:
        """Send *message* and keep the result; return what went wrong, "" if nothing."""
        seconds = self._patience.answer_seconds
        answer = self._server.request(complete_message(message, self._revision), seconds)
        if answer is None:
            return find_trouble(self._server) or f"no answer in {seconds:g} s"
        result = answer.get("result")
        if not isinstance(result, dict):
            return shorten_json(answer.get("error"))
        self.results[message["method"]] = result
        return ""

    def _make_id(self) -> str:
        self._count += 1
        return f"bench-try-{self._count}"


def may_be_called_often(tool: dict[str, Any]) -> bool:
    """Whether *tool* says that it only reads, and does not say that it reaches other systems."""
    annotations = tool.get("annotations")
    if not isinstance(annotations, dict) or annotations.get("readOnlyHint") is not True:
        return False
    return annotations.get("openWorldHint") is not True
