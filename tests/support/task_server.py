"""A server in this process that answers calls with tasks, in both forms of MCP. Nothing of it runs
by itself: a task goes through its states one by one, as the client asks for it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from toolwire_client import PendingConnection, connect

Message = dict[str, Any]
State = dict[str, Any]
Write = Callable[[bytes], None]

MODERN, LEGACY = "2026-07-28", "2025-11-25"
EXTENSION = "io.modelcontextprotocol/tasks"
TEXT = {"content": [{"type": "text", "text": "done"}]}
QUESTION = {
    "method": "elicitation/create",
    "params": {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}},
}


def working(message: str = "", **members: Any) -> State:
    return {"status": "working", **({"statusMessage": message} if message else {}), **members}


def completed(result: Any = TEXT, **members: Any) -> State:
    return {"status": "completed", "result": result, **members}


def asking(*keys: str) -> State:
    return {"status": "input_required", "inputRequests": dict.fromkeys(keys, QUESTION)}


class TaskServer:
    """Makes each call the task `t`, whose states are *states*: each `tasks/get` gets the next one,
    and the last one for ever. `requests` are those that it got.
    """

    def __init__(self, *states: State, version: str = MODERN, poll: Any = 1) -> None:
        self.version = version
        self.requests: list[Message] = []
        self.states = list(states)
        self.poll = poll
        self.task_id = "t"
        self.capabilities: Message = {}
        if version == MODERN:
            self.capabilities = {"extensions": {EXTENSION: {}}}
        elif version == LEGACY:
            tasks = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
            self.capabilities = {"tasks": tasks}

    def connect(self, **options: Any) -> PendingConnection:
        return connect(self, era=self._era, **options)

    def list_requests(self, method: str) -> list[Message]:
        """Return the parameters of the requests of *method*, without `_meta`."""
        found = []
        for request in self.requests:
            if request["method"] == method:
                params = request.get("params", {})
                found.append({name: params[name] for name in params if name != "_meta"})
        return found

    def open_session(self, write: Write) -> TaskServer:
        self._write = write
        return self

    def feed(self, data: bytes) -> None:
        for line in data.splitlines():
            message = json.loads(line)
            self.requests.append(message)
            if "id" in message and "method" in message:
                self.handle(message)

    def end(self) -> None: ...

    def send(self, **message: Any) -> None:
        self._write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def answer(self, request: Message, **result: Any) -> None:
        if self.version == MODERN:
            result = {"resultType": "complete", **result}
        self.send(id=request["id"], result=result)

    def refuse(self, request: Message, code: int, message: str = "no") -> None:
        self.send(id=request["id"], error={"code": code, "message": message})

    def handle(self, request: Message) -> None:
        """Answer *request*."""
        handlers: dict[str, Callable[[Message], None]] = {
            "server/discover": self.discover,
            "initialize": self.initialize,
            "tools/list": self.list_tools,
            "tools/call": self.call,
            "tasks/get": self.get,
            "tasks/result": self.give_result,
            "tasks/update": self.update,
            "tasks/cancel": self.cancel,
            "tasks/list": self.list_tasks,
        }
        handlers.get(request["method"], self.refuse_method)(request)

    def refuse_method(self, request: Message) -> None:
        self.refuse(request, -32601)

    def discover(self, request: Message) -> None:
        self.answer(request, supportedVersions=[MODERN], capabilities=self.capabilities)

    def initialize(self, request: Message) -> None:
        self.answer(request, protocolVersion=self.version, capabilities=self.capabilities)

    def list_tools(self, request: Message) -> None:
        self.answer(request, tools=[{"name": "work", "inputSchema": {"type": "object"}}])

    def call(self, request: Message) -> None:
        state = working(**self._times())
        if self.version == MODERN:
            self.answer(request, resultType="task", taskId=self.task_id, **state)
        elif "task" in request["params"]:
            self.answer(request, task={"taskId": self.task_id, **state})
        else:
            self.answer(request, **TEXT)

    def get(self, request: Message) -> None:
        state = self.states[0]
        if len(self.states) > 1:
            self.states.pop(0)
        hidden = ("result", "error", "inputRequests") if self.version == LEGACY else ()
        shown = {name: state[name] for name in state if name not in hidden}
        self.answer(request, taskId=self.task_id, **{**self._times(), **shown})

    def give_result(self, request: Message) -> None:
        state = self.states[-1]
        if "error" in state:
            self.send(id=request["id"], error=state["error"])
        else:
            self.answer(request, **state["result"])

    def update(self, request: Message) -> None:
        self.answer(request)

    def cancel(self, request: Message) -> None:
        self.states = [{"status": "cancelled"}]
        shown = {} if self.version == MODERN else {"taskId": self.task_id, **self.states[0]}
        self.answer(request, **shown)

    def list_tasks(self, request: Message) -> None:
        self.answer(request, tasks=[{"taskId": self.task_id, **self.states[0], **self._times()}])

    @property
    def _era(self) -> Any:
        return "modern" if self.version == MODERN else "legacy"

    def _times(self) -> Message:
        names = ("ttlMs", "pollIntervalMs") if self.version == MODERN else ("ttl", "pollInterval")
        times = {"createdAt": "2026-11-28T10:00:00Z", "lastUpdatedAt": "2026-11-28T10:00:00Z"}
        return {**times, names[0]: 60_000, names[1]: self.poll}
