"""A client of a session in this process that can have tasks, in either form."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from typing import Any

from support.server_process import MODERN
from toolwire import Server
from toolwire_schemas.published import load_validator

EXTENSION = "io.modelcontextprotocol/tasks"
CAPABILITIES = {"elicitation": {"form": {}}, "extensions": {EXTENSION: {}}}
META = {**MODERN, "io.modelcontextprotocol/clientCapabilities": CAPABILITIES}
ACCEPT = {"action": "accept", "content": {"answer": True}}
SECONDS = 60.0


class Client:
    """Sends requests, and waits for what comes. Each message is checked by its published schema."""

    def __init__(self, server: Server, *, is_modern: bool = True, version: str = "2025-11-25"):
        self.is_modern = is_modern
        self.messages: list[Any] = []
        self._arrived = threading.Condition()
        self._session = server.open_session(self._take)
        self._sent = 0
        self._schema = f"messages-{'2026-07-28' if is_modern else version}"
        if not is_modern:
            capabilities = {"elicitation": {}}
            self.ask("initialize", protocolVersion=version, capabilities=capabilities)

    def _take(self, data: bytes) -> None:
        with self._arrived:
            for line in data.splitlines():
                self.messages.append(json.loads(line))
            self._arrived.notify_all()

    def send(self, method: str, **params: Any) -> int:
        """Send a request, and return its id."""
        self._sent += 1
        if self.is_modern:
            params = {"_meta": META, **params}
        request = {"jsonrpc": "2.0", "id": self._sent, "method": method, "params": params}
        self.feed(request)
        return self._sent

    def feed(self, message: Any) -> None:
        """Send a message as it is."""
        self._session.feed(json.dumps(message).encode() + b"\n")

    def wait(self, wanted: Callable[[Any], bool]) -> Any:
        """Return the first message that is *wanted*."""
        with self._arrived:

            def find() -> Any:
                single = [message for message in self.messages if isinstance(message, dict)]
                return next(filter(wanted, single), None)

            found = self._arrived.wait_for(find, SECONDS)
            assert found is not None, self.messages
        problems = list(load_validator(f"{self._schema}#/$defs/server-message").iter_errors(found))
        assert not problems, (found, problems)
        return found

    def response(self, id: int) -> Any:
        """Return the response to the request *id*."""
        return self.wait(lambda message: message.get("id") == id and "method" not in message)

    def ask(self, method: str, **params: Any) -> Any:
        """Return the response to a request."""
        return self.response(self.send(method, **params))

    def call(self, name: str, arguments: Any = None, **params: Any) -> Any:
        """Return the response to a call; in the older form, it asks for a task."""
        if not self.is_modern:
            params = {"task": {}, **params}
        return self.ask("tools/call", name=name, arguments=arguments or {}, **params)

    def begin(self, name: str, arguments: Any = None, **params: Any) -> str:
        """Return the handle of a task."""
        result = self.call(name, arguments, **params)["result"]
        task: dict[str, Any] = result if self.is_modern else result["task"]
        handle: str = task["taskId"]
        return handle

    def get(self, task: str) -> Any:
        """Return the state of a task."""
        return self.ask("tasks/get", taskId=task)["result"]

    def until(self, task: str, *statuses: str) -> Any:
        """Return the state of a task once its status is one of *statuses*."""
        deadline = time.monotonic() + SECONDS
        while True:
            state = self.get(task)
            if state["status"] in statuses:
                return state
            assert time.monotonic() < deadline, state

    def end(self) -> list[Any]:
        """End the session, and return all messages."""
        self._session.end()
        return self.messages


def code_of(response: Any) -> int:
    """Return the code of the error that *response* is."""
    code: int = response["error"]["code"]
    return code
