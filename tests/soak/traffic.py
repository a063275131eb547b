"""What is sent: exchanges of all kinds, mixed, with what each makes the server owe."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any

from ledger import Exchange, Id, Message, Owed, elicited

Fits = Callable[[Message], bool]

GREETING = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"elicitation": {"form": {}}},
    "clientInfo": {"name": "soak", "version": "1"},
}
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}},
}
CANCELLED = -32800
LONG_TEXT = "é" * 2500


def request(method: str, id: Id | None, params: Any = None) -> Message:
    """A request; without an *id*, a notification."""
    message: Message = {"jsonrpc": "2.0", "method": method}
    if id is not None:
        message["id"] = id
    if params is not None:
        message["params"] = params
    return message


def call(id: Id | None, name: str, arguments: dict[str, Any], **more: Any) -> Message:
    """A call of a tool; *more* goes into its params."""
    return request("tools/call", id, {"name": name, "arguments": arguments, **more})


def says(text: str) -> Fits:
    """A result of this text."""
    return lambda message: _text(message, failed=False) == text


def fails(text: str) -> Fits:
    """A failure whose text begins like this."""
    return lambda message: (_text(message, failed=True) or "").startswith(text)


def refused(code: int) -> Fits:
    """A JSON-RPC error of this code."""
    return lambda message: message.get("error", {}).get("code") == code


def _text(message: Message, *, failed: bool) -> str | None:
    result = message.get("result")
    if not isinstance(result, dict) or result.get("isError") is not failed:
        return None
    text: str = result["content"][0]["text"]
    return text


class Traffic:
    """Exchanges without end, of the *kinds* by their weights; *framing* says how calls are
    cancelled.
    """

    def __init__(self, framing: str, seed: int, kinds: dict[str, float]) -> None:
        self._lsp = framing == "headers"
        self._random = random.Random(seed)
        self._ids = itertools.count(1)
        makers: list[Callable[[], Exchange]] = [getattr(self, name) for name in kinds]
        self._kinds = self._random.choices(makers, list(kinds.values()), k=100_000)

    def __iter__(self) -> Iterator[Exchange]:
        for kind in itertools.cycle(self._kinds):
            yield kind()

    def one(self, name: str, arguments: dict[str, Any], fits: Fits, **more: Any) -> Exchange:
        """One call and its answer."""
        id = next(self._ids)
        return Exchange([call(id, name, arguments, **more)], {id: Owed(name, fits)})

    def no_call(self, method: str, fits: Fits, params: Any = None) -> Exchange:
        """One request of another method and its answer."""
        id = next(self._ids)
        return Exchange([request(method, id, params)], {id: Owed(method, fits)}, calls=0)

    # Calls that are answered

    def add(self) -> Exchange:
        a = self._random.randrange(10**6)
        return self.one("add", {"a": a, "b": 3}, says(str(a + 3)))

    def add_async(self) -> Exchange:
        a = self._random.randrange(10**6)
        return self.one("add_async", {"a": a, "b": 3}, says(str(a + 3)))

    def add_modern(self) -> Exchange:
        a = self._random.randrange(10**6)
        return self.one("add", {"a": a, "b": 3}, says(str(a + 3)), _meta=MODERN)

    def swallow(self) -> Exchange:
        return self.one("swallow", {"text": LONG_TEXT}, says(str(len(LONG_TEXT))))

    def produce(self) -> Exchange:
        return self.one("produce", {"size": 20_000}, says("x" * 20_000))

    def produce_much(self) -> Exchange:
        return self.one("produce", {"size": 300_000}, says("x" * 300_000))

    def count(self) -> Exchange:
        return self._reports("count", {"to": 3}, says("0 1 2 "))

    def count_quietly(self) -> Exchange:
        return self.one("count", {"to": 3}, says("0 1 2 "))

    def count_async(self) -> Exchange:
        return self._reports("count_async", {"to": 3}, says("0 1 2 "))

    def report(self) -> Exchange:
        return self._reports("report", {"total": 3}, says("done"))

    def _reports(self, name: str, arguments: dict[str, Any], fits: Fits) -> Exchange:
        id = next(self._ids)
        owed = Owed(f"{name}, with progress", fits, progress=[1, 2, 3])
        return Exchange([call(id, name, arguments, _meta={"progressToken": id})], {id: owed})

    def change(self) -> Exchange:
        exchange = self.one("change", {}, says("changed"))
        exchange.changes = 1
        return exchange

    def call_without_id(self) -> Exchange:
        return Exchange([call(None, "add", {"a": 1, "b": 2})])

    def batch(self) -> Exchange:
        """Five members, one of them a notification, in one array."""
        pinged, added, waited, failed = ids = [next(self._ids) for _ in range(4)]
        members = [
            request("ping", pinged),
            call(added, "add", {"a": added, "b": 1}),
            call(waited, "add_async", {"a": waited, "b": 2}),
            call(None, "add", {"a": 1, "b": 2}),
            call(failed, "fail", {"reason": "in a batch"}),
        ]
        fits = [
            lambda message: message.get("result") == {},
            says(str(added + 1)),
            says(str(waited + 2)),
        ]
        together = frozenset(ids)
        checks = zip(ids, [*fits, fails("in a batch")], strict=True)
        return Exchange(
            [members], {id: Owed("batch", fit, batch=together) for id, fit in checks}, calls=4
        )

    # Failures

    def fail(self) -> Exchange:
        return self.one("fail", {"reason": "no"}, fails("no"))

    def crash(self) -> Exchange:
        return self.one("crash", {"reason": "broken"}, fails("ValueError: broken"))

    def wrong_arguments(self) -> Exchange:
        return self.one("add", {"a": "one"}, fails("arguments"))

    def unknown_tool(self) -> Exchange:
        return self.one("subtract", {"a": 1}, refused(-32602))

    def unknown_method(self) -> Exchange:
        return self.no_call("tools/lost", refused(-32601))

    def garbage(self) -> Exchange:
        return Exchange([b"this is no JSON"], nameless=1, calls=0)

    def late(self) -> Exchange:
        return self.one("late", {}, fails("late did not finish within"))

    def late_async(self) -> Exchange:
        return self.one("late_async", {}, fails("late_async did not finish within"))

    # In processes of their own

    def add_apart(self) -> Exchange:
        a = self._random.randrange(10**6)
        return self.one("add_apart", {"a": a, "b": 3}, says(str(a + 3)))

    def report_apart(self) -> Exchange:
        return self._reports("report_apart", {"total": 3}, says("done"))

    def die(self) -> Exchange:
        return self.one("die", {}, fails("die"))

    def cancel_apart(self) -> Exchange:
        return self._until_begun(call(None, "linger_apart", {}))

    # Other requests

    def ping(self) -> Exchange:
        return self.no_call("ping", lambda message: message.get("result") == {})

    def list(self) -> Exchange:
        return self.no_call(
            "tools/list", lambda message: len(message["result"]["tools"]) in (22, 23)
        )

    def listen(self) -> Exchange:
        """A subscription that is cancelled when it has been acknowledged."""
        params = {"notifications": {"toolsListChanged": True}, "_meta": MODERN}
        return self._until_begun(request("subscriptions/listen", None, params), calls=0)

    # Cancelled

    def cancel_thread(self) -> Exchange:
        return self._until_begun(call(None, "linger", {}))

    def cancel_task(self) -> Exchange:
        return self._until_begun(call(None, "sleep", {}))

    def cancel_at_once(self) -> Exchange:
        """The call may not even have begun."""
        id = next(self._ids)
        exchange = self._cancellation(id, refused(CANCELLED))
        return Exchange([call(id, "linger", {}), *exchange.send], exchange.owed, exchange.silent)

    def cancel_too_late(self) -> Exchange:
        """The call may have been answered already."""
        id = next(self._ids)
        cancelled = refused(CANCELLED)
        done = says("3")
        owed = Owed(
            "add, cancelled too late",
            lambda message: done(message) or cancelled(message),
            maybe=not self._lsp,
        )
        return Exchange([call(id, "add", {"a": 1, "b": 2}), self._cancel(id)], {id: owed})

    def _until_begun(self, message: Message, *, calls: int = 1) -> Exchange:
        id = next(self._ids)
        params = {
            **message["params"],
            "_meta": {**message["params"].get("_meta", {}), "progressToken": id},
        }
        name = params.get("name", message["method"])
        owed = Owed(
            f"{name}, cancelled", refused(CANCELLED), begun=lambda: self._cancellation(id, None)
        )
        return Exchange([{**message, "id": id, "params": params}], {id: owed}, calls=calls)

    def _cancellation(self, id: Id, fits: Fits | None) -> Exchange:
        """The cancellation of a call that does not end by itself: MCP's is not answered, LSP's
        is.
        """
        owed = {id: Owed("cancelled", fits)} if self._lsp and fits is not None else {}
        return Exchange([self._cancel(id)], owed, [] if self._lsp else [id], calls=0)

    def _cancel(self, id: Id) -> Message:
        if self._lsp:
            return request("$/cancelRequest", None, {"id": id})
        return request("notifications/cancelled", None, {"requestId": id, "reason": "soaked"})

    # Asking

    def ask(self) -> Exchange:
        return self._ask("ask")

    def ask_async(self) -> Exchange:
        return self._ask("ask_async")

    def ask_modern(self) -> Exchange:
        return self._ask_modern("ask")

    def ask_modern_async(self) -> Exchange:
        return self._ask_modern("ask_async")

    def ask_and_leave(self) -> Exchange:
        """The call is cancelled while the question is open."""
        name = self._random.choice(["ask", "ask_async"])
        id = next(self._ids)
        owed = Owed(
            f"{name}, cancelled", refused(CANCELLED), begun=lambda: self._cancellation(id, None)
        )
        return Exchange([call(id, name, {"question": f"leave {id}"})], {id: owed})

    def _ask(self, name: str) -> Exchange:
        question, fits = self._question()
        return self.one(name, {"question": question}, fits)

    def _ask_modern(self, name: str) -> Exchange:
        question, fits = self._question()
        asked = self.one(name, {"question": question}, _asks, _meta=MODERN)
        [owed] = asked.owed.values()
        owed.kind += ", modern"

        def again(answer: Message) -> Exchange:
            if not _asks(answer):
                return Exchange([], calls=0)
            state, responses = answer["result"]["requestState"], {"answer": elicited(question)}
            return self.one(
                name,
                {"question": question},
                fits,
                _meta=MODERN,
                requestState=state,
                inputResponses=responses,
            )

        owed.then = again
        return asked

    def _question(self) -> tuple[str, Fits]:
        number = self._random.randrange(100)
        match number % 4:
            case 0:
                return "decline", fails("The user declined")
            case 1:
                return "cancel", fails("The user closed")
        return f"accept {number}", says(str(number))


def _asks(message: Message) -> bool:
    return bool(message.get("result", {}).get("resultType") == "input_required")


# How often each kind comes, in a thousand and some.
KINDS: dict[str, float] = {
    "add": 350,
    "add_async": 180,
    "add_modern": 60,
    "swallow": 40,
    "produce": 20,
    "produce_much": 1,
    "count": 30,
    "count_quietly": 30,
    "count_async": 40,
    "report": 40,
    "change": 2,
    "call_without_id": 10,
    "batch": 20,
    "fail": 40,
    "crash": 5,
    "wrong_arguments": 40,
    "unknown_tool": 10,
    "unknown_method": 5,
    "garbage": 5,
    "late": 5,
    "late_async": 5,
    "ping": 10,
    "list": 5,
    "listen": 3,
    "cancel_thread": 10,
    "cancel_task": 10,
    "cancel_at_once": 10,
    "cancel_too_late": 10,
    "add_apart": 5,
    "report_apart": 5,
    "die": 0.2,  # a new process is started for each
    "cancel_apart": 0.2,
    "ask": 5,
    "ask_async": 5,
    "ask_modern": 5,
    "ask_modern_async": 5,
    "ask_and_leave": 5,
}
