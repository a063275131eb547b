"""A server under test without a process: it answers each request at once, as a function says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from toolwire_check.judging.conversation import CaseConversation, find_answers
from toolwire_check.judging.conversation import Message as Message
from toolwire_schemas.wire import codec

Answer = Callable[[Message, list[Message]], list[Message]]
"""Returns the messages that follow a request; it receives those before it too."""


class ScriptedServer:
    """Takes the place of `ServerUnderTest`. Nothing waits: an answer that is late never comes."""

    def __init__(self, answer: Answer) -> None:
        self.conversation = CaseConversation()
        self._answer = answer
        self._requests: list[Message] = []

    def send(self, message: bytes) -> None:
        request = codec.decode(message)
        self.conversation.record_input(self.conversation.wrap(message))
        replies = self._answer(request, self._requests)
        self._requests.append(request)
        for reply in replies:
            self.conversation.record_output(codec.encode(reply) + b"\n")

    def request(self, message: Message, _: float) -> Message | None:
        self.send(codec.encode(message))
        answers = find_answers(self.conversation.events, message["id"])
        return answers[0] if answers else None

    def wait(self, is_done: Callable[[], bool], _: float) -> bool:
        return is_done()

    def list_descendants(self) -> set[int]:
        return set()

    def close(self) -> None:
        self.conversation.record_end(0)


def result(request: Message, **members: Any) -> Message:
    return {"jsonrpc": "2.0", "id": request["id"], "result": members}


def error(request: Message, code: int = -32603) -> Message:
    about = {"code": code, "message": "broken"}
    return {"jsonrpc": "2.0", "id": request["id"], "error": about}
