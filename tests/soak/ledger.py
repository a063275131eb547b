"""What is owed by the server, and whether it pays: each request answered once, as it should be, or
not at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Message = dict[str, Any]
Id = int


@dataclass(slots=True)
class Owed:
    """One request under way. `maybe`: whether it is answered was still open when it was
    cancelled.
    """

    kind: str
    fits: Callable[[Message], bool]
    maybe: bool = False
    batch: frozenset[Id] | None = None
    """The ids that must be answered in the same array."""
    progress: list[float] | None = None
    """What must have come before the answer."""
    begun: Callable[[], Exchange] | None = None
    """What is sent when the first progress has come."""
    then: Callable[[Message], Exchange] | None = None
    """What is sent when the answer has come."""


@dataclass(slots=True)
class Exchange:
    """Messages to be sent, and what is owed for them."""

    send: list[Message | bytes]
    owed: dict[Id, Owed] = field(default_factory=dict)
    silent: list[Id] = field(default_factory=list)
    """Requests that must not be answered any more."""
    nameless: int = 0
    """How many errors without an id are owed."""
    changes: int = 0
    """How often the client is to be told that the tools have changed."""
    calls: int = 1


class Ledger:
    """Keeps account of one conversation; `faults` is what was wrong, in words."""

    def __init__(self) -> None:
        self.calls = 0
        self.counts: Counter[str] = Counter()
        self.faults: list[str] = []
        self._open: dict[Id, Owed] = {}
        self._maybe: dict[Id, Owed] = {}
        self._silent: set[Id] = set()
        self._heard: dict[Id, list[float]] = {}
        self._questions: dict[str, Id] = {}
        self._nameless = 0
        self._changes = 0

    @property
    def under_way(self) -> int:
        """How many requests are not answered yet."""
        return len(self._open)

    @property
    def settled(self) -> bool:
        """Whether nothing is owed."""
        return not (self._open or self._nameless or self._changes)

    def begin(self, exchange: Exchange) -> list[Message | bytes]:
        """Take note of what *exchange* makes the server owe; return what is to be sent."""
        self.calls += exchange.calls
        self._nameless += exchange.nameless
        self._changes += exchange.changes
        for id, owed in exchange.owed.items():
            (self._maybe if owed.maybe else self._open)[id] = owed
            self.counts[owed.kind] += 1
        for id in exchange.silent:
            self._open.pop(id, None)
            self._silent.add(id)
        self.counts["cancelled, unanswered"] += len(exchange.silent)
        return exchange.send

    def take(self, message: Any) -> list[Message | bytes]:
        """Cross off what *message* answers; return what is to be sent now."""
        if isinstance(message, list):
            ids = frozenset(answer.get("id") for answer in message)
            return [more for answer in message for more in self._answered(answer, ids)]
        if "method" in message:
            return self._told(message)
        return self._answered(message, None)

    def missing(self) -> str:
        """Return what is owed still, in words."""
        kinds = Counter(owed.kind for owed in self._open.values())
        return (
            f"owed: {dict(kinds)}, {self._nameless} errors without id, {self._changes} list_changed"
        )

    def _answered(self, answer: Message, batch: frozenset[Id] | None) -> list[Message | bytes]:
        id = answer.get("id")
        if id is None and "error" in answer:
            self._nameless -= 1
            if self._nameless < 0:
                self._fault("an error without id for nothing", answer)
            return []
        owed = self._open.pop(id, None) or self._maybe.pop(id, None)
        if owed is None:
            silent = id in self._silent
            self._fault(
                "an answer to a cancelled call"
                if silent
                else "an answer to nothing, or a second one",
                answer,
            )
            return []
        self.counts["answers"] += 1
        if owed.batch != batch:
            self._fault(f"{owed.kind}: not in the array of its batch", answer)
        if not owed.fits(answer):
            self._fault(f"{owed.kind}: a wrong answer", answer)
        heard = self._heard.pop(id, [])
        if owed.progress is not None and heard != owed.progress:
            self._fault(f"{owed.kind}: progress was {heard}", answer)
        return [] if owed.then is None else self.begin(owed.then(answer))

    def _told(self, message: Message) -> list[Message | bytes]:
        method, params = message["method"], message.get("params", {})
        self.counts[method] += 1
        match method:
            case "notifications/progress":
                return self._progress(params["progressToken"], params["progress"], message)
            case "elicitation/create":
                return self._asked(message)
            case "notifications/cancelled" if params["requestId"] in self._questions:
                return []
            case "notifications/tools/list_changed":
                # A subscription that is being cancelled may hear of it or not; the client as a
                # whole must.
                if "_meta" not in params:
                    self._changes -= 1
                    if self._changes < 0:
                        self._fault("list_changed, though nothing has", message)
                return []
            case "notifications/subscriptions/acknowledged":
                id = params["_meta"]["io.modelcontextprotocol/subscriptionId"]
                owed = self._open.get(id)
                if owed is None or owed.begun is None:
                    self._fault("a subscription that nobody asked for", message)
                    return []
                return self.begin(owed.begun())
        self._fault("unexpected", message)
        return []

    def _progress(self, token: Id, done: float, message: Message) -> list[Message | bytes]:
        owed = self._open.get(token)
        if owed is None:
            if token not in self._silent and token not in self._maybe:
                self._fault("progress after the answer", message)
            return []
        self._heard.setdefault(token, []).append(done)
        if owed.begun is None:
            return []
        begun, owed.begun = owed.begun, None
        self._heard.pop(token)
        return self.begin(begun())

    def _asked(self, message: Message) -> list[Message | bytes]:
        """The user's answer stands in the question: `accept 3`, `decline`, `cancel`; `leave 17`
        cancels that call.
        """
        if message["id"] in self._questions:
            self._fault("the same question twice", message)
        question = message["params"]["message"]
        self._questions[message["id"]] = 0
        action, _, rest = question.partition(" ")
        if action == "leave":
            owed = self._open[int(rest)]
            assert owed.begun is not None
            return self.begin(owed.begun())
        return [{"jsonrpc": "2.0", "id": message["id"], "result": elicited(question)}]

    def _fault(self, what: str, message: Message) -> None:
        self.faults.append(f"{what}: {str(message)[:300]}")


def elicited(question: str) -> Message:
    """What the user answers to *question*."""
    action, _, rest = question.partition(" ")
    return (
        {"action": "accept", "content": {"answer": int(rest)}}
        if action == "accept"
        else {"action": action}
    )
