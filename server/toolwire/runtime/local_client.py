"""A client in the process of its server, for tests."""

from __future__ import annotations

import threading
from _queue import SimpleQueue
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from toolwire_schemas.wire import messages
from toolwire_schemas.wire.codec import decode
from toolwire_schemas.wire.messages import INTERNAL_ERROR

from ..errors import RequestError

if TYPE_CHECKING:
    from .session import Session
    from .writer import Write

OnProgress = Callable[[dict[str, Any]], None]


class LocalClient:
    """Sends requests to *session* and waits for their responses. Thread-safe."""

    def __init__(self, session: Callable[[Write], Session]) -> None:
        self._session = session(self._receive)
        self._lock = threading.Lock()
        self._requests = 0
        self._answers: dict[int, SimpleQueue[dict[str, Any]]] = {}

    def request(
        self, method: str, params: dict[str, Any] | None, on_progress: OnProgress | None
    ) -> Any:
        answers: SimpleQueue[dict[str, Any]] = SimpleQueue()
        with self._lock:
            self._requests += 1
            number = self._requests
            self._answers[number] = answers
            if on_progress is not None:
                params = {**(params or {})}
                params["_meta"] = {"progressToken": number, **params.get("_meta", {})}
            self._session.feed(messages.encode_request(number, method, params) + b"\n")
        while "id" not in (message := answers.get()):
            if on_progress is not None:
                on_progress(message["params"])
        del self._answers[number]
        if "error" in message:
            error = message["error"]
            raise RequestError(error["code"], error["message"], error.get("data"))
        return message["result"]

    def end(self) -> None:
        self._session.end()
        closed = {"code": INTERNAL_ERROR, "message": "The server was closed before it responded"}
        for answers in list(self._answers.values()):  # for other threads that wait
            answers.put({"id": None, "error": closed})

    def _receive(self, data: bytes) -> None:
        for line in data.splitlines():  # several messages may be written together
            message = decode(line)
            token = message.get("params", {}).get("progressToken")  # other notifications have none
            answers = self._answers.get(message.get("id", token))
            if answers is not None:
                answers.put(message)
