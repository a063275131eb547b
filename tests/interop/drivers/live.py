"""What the Python clients are made to do with the tools that ask the user, and with those that come
and go.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from exercise import Peer, plain

Reply = tuple[str, dict[str, Any] | None]

ORDER = {"count": 3, "size": "large", "gift": True}


class User:
    """Whoever sits at the client: answers each question in its turn, and remembers what was
    asked.
    """

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies)
        self.questions: list[list[Any]] = []

    def reply(self, message: str, schema: dict[str, Any]) -> Reply:
        """An action and, if that is to accept, the content of the form."""
        self.questions.append([message, schema])
        return self._replies.pop(0)


class LivePeer(Peer, Protocol):
    """A client that can hear of changes."""

    def news(
        self,
    ) -> AbstractAsyncContextManager[tuple[dict[str, Any] | None, Callable[[], Awaitable[str]]]]:
        """Be told of changed tools: what the server agreed to, if it was asked, and what waits for
        the next change.
        """


def talkative() -> User:
    """Accepts, declines and closes the form, for each of two tools; then answers two questions of
    one call.
    """
    orders: list[Reply] = [("accept", ORDER), ("decline", None), ("cancel", None)]
    return User(*orders, *orders, ("accept", {"answer": "Oslo"}), ("accept", {"answer": 4}))


async def asked(peer: Peer, user: User) -> dict[str, Any]:
    """Every answer a user can give, to a tool in a thread and to one on the event loop."""
    calls: list[list[Any]] = []
    for name in ("order", "order_async"):
        calls += [[name, plain(await peer.call(name, {"what": "tea"}))] for _ in range(3)]
    calls.append(["travel", plain(await peer.call("travel", {}))])
    return {"protocol": peer.protocol, "questions": user.questions, "calls": calls}


async def mute(peer: Peer, _: None) -> dict[str, Any]:
    """The same tools, when there is nobody to ask."""
    calls = [
        [name, plain(await peer.call(name, {"what": "tea"}))] for name in ("order", "order_async")
    ]
    calls.append(["careful", plain(await peer.call("careful", {}))])
    return {"protocol": peer.protocol, "calls": calls}


async def changes(peer: LivePeer, _: None) -> dict[str, Any]:
    """A tool adds another: the client hears of it, finds it and calls it."""
    report: dict[str, Any] = {"protocol": peer.protocol}
    async with peer.news() as (granted, next_news):
        report["granted"] = granted
        report["before"] = sorted(tool.name for tool in await peer.tools())
        report["learn"] = plain(await peer.call("learn", {}))
        report["news"] = await next_news()
        report["after"] = sorted(tool.name for tool in await peer.tools())
    report["taught"] = plain(await peer.call("taught", {}))
    return report
