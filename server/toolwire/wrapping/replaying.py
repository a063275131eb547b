"""Answers requests from a recording. No I/O.

Strategy. A request is answered by the exchange with the same method and parameters, apart from
`_meta`; ids and progress tokens are those of the new client, and so is the era of what it gets.
"""

from __future__ import annotations

import math
from itertools import count
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.wire import messages
from toolwire_schemas.wire.codec import DecodingError, EncodingError, decode, encode
from toolwire_schemas.wire.messages import (
    META_CLIENT_CAPABILITIES,
    META_SUBSCRIPTION_ID,
    Fault,
)
from toolwire_schemas.wire.tasks import declares_tasks

from ..protocol.catalog import LIST_METHODS
from . import get_object
from .exchanges import HANDSHAKES, Exchange, Questions, as_id, find_progress_token
from .replayed_eras import Handshake, is_modern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from toolwire_schemas.wire.messages import Frame, Id

    Object = dict[str, Any]

_IN_ANY_ORDER = {
    *HANDSHAKES,
    *LIST_METHODS,
    "logging/setLevel",
    "subscriptions/listen",
    "tasks/get",
    "tasks/list",
}
"""Requests that ask what there is: of a host and of the wrap that has recorded its server, each
sends them when it needs them, and a host that polls does so at other times.
"""

_SHOWN = 3


class Playing(msgspec.Struct, eq=False):
    """An exchange that is played to a client, for its *request*: the first, or the one that has
    answered a question.
    """

    request: Object
    steps: Iterator[Object | Questions]


class Replay:
    """Answers one client from *recorded* exchanges. *strictly*: requests have to come in the
    recorded order, apart from those that only ask what there is.

    *report* receives each request that is refused, in words.
    """

    def __init__(
        self, recorded: list[Exchange], *, strictly: bool, report: Callable[[str], object]
    ) -> None:
        self._recorded = recorded
        self._due: list[Exchange] | None = None
        if strictly:
            self._due = [each for each in recorded if each.method not in _IN_ANY_ORDER]
        self._report = report
        self._handshake = Handshake(recorded)
        self._tools = _find_tools(recorded)
        self._used: set[Exchange] = set()
        self._asking: dict[Id, Playing] = {}
        """What follows each question that the client has not answered."""
        self._listening: Id | None = None
        """The id of the subscription of a modern client."""
        self._ids = map("replay-{}".format, count(1))

    def receive(self, frame: Frame) -> list[bytes]:
        """Return what the server sends after *frame* of the client."""
        if isinstance(frame, Fault):
            return [_refuse_frame(frame.message)]
        try:
            message = decode(frame)
        except DecodingError as error:
            return [messages.encode_error(None, messages.PARSE_ERROR, f"Parse error: {error}")]
        if not isinstance(message, dict):
            return [_refuse_frame("a replay takes single messages, each an object")]
        id = as_id(message.get("id"))
        if id is None:
            return []
        try:
            return self._receive(message, id)
        except (EncodingError, RecursionError):
            problem = "Not replayed: it is nested too deeply"
            return [messages.encode_error(id, messages.INTERNAL_ERROR, problem)]

    def _receive(self, message: Object, id: Id) -> list[bytes]:
        """Return what follows a request, or the response to a question."""
        if isinstance(message.get("method"), str):
            return self._answer(message)
        playing = self._asking.pop(id, None)
        if playing is None:
            return []
        return self._continue(playing)

    def _answer(self, request: Object) -> list[bytes]:
        playing = self._take_next_round(request)
        if playing is not None:
            return self._continue(playing)
        if request["method"] in ("initialize", "server/discover"):
            result = self._handshake.answer(request)
            if result is not None:
                return [self._respond(request, result)]
        exchange = self._find(Exchange(0, request))
        if isinstance(exchange, Exchange):
            return self._continue(Playing(request, iter(exchange.steps)))
        return [self._answer_unrecorded(request, exchange)]

    def _take_next_round(self, request: Object) -> Playing | None:
        """Return what a modern client continues by repeating its *request* with answers."""
        state = as_id(get_object(request, "params").get("requestState"))
        playing = None if state is None else self._asking.pop(state, None)
        if playing is not None:
            playing.request = request
        return playing

    def _answer_unrecorded(self, request: Object, problem: str) -> bytes:
        """Return the response to a request that was not recorded, which *problem* says in words."""
        method = request["method"]
        if method == "subscriptions/listen":
            return self._confirm(request)
        if method in ("ping", "logging/setLevel"):
            return self._respond(request, {})
        if self._is_unknown_tool(request):
            # The wrap that has recorded its server answered such calls itself.
            unknown = f"Unknown tool: {get_object(request, 'params')['name']}"
            return messages.encode_error(request["id"], messages.INVALID_PARAMS, unknown)
        if method not in HANDSHAKES:  # clients try both eras
            self._report(problem)
        is_known = any(method == other.method for other in self._recorded)
        code = messages.INVALID_PARAMS if is_known else messages.METHOD_NOT_FOUND
        return messages.encode_error(request["id"], code, problem)

    def _respond(self, request: Object, result: Any) -> bytes:
        return messages.encode_response(request["id"], self._handshake.translate(result, request))

    def _confirm(self, request: Object) -> bytes:
        """Return the confirmation of a subscription that was not recorded: of a legacy server."""
        self._listening = request["id"]
        params = {
            "notifications": get_object(request, "params").get("notifications", {}),
            "_meta": {META_SUBSCRIPTION_ID: request["id"]},
        }
        return messages.encode_notification("notifications/subscriptions/acknowledged", params)

    def _is_unknown_tool(self, request: Object) -> bool:
        """Return whether *request* calls a tool that no recorded list has, if there is one."""
        name = get_object(request, "params").get("name")
        if request["method"] != "tools/call" or not isinstance(name, str):
            return False
        return bool(self._tools) and name not in self._tools

    # Finding an exchange

    def _find(self, asked: Exchange) -> Exchange | str:
        """Return the recorded exchange of a request, or why it has no such exchange."""
        if self._due is not None and asked.method not in _IN_ANY_ORDER:
            return self._find_due(self._due, asked)
        fitting = [exchange for exchange in self._recorded if exchange.fits(asked)]
        if not fitting:
            return f"Not recorded: {asked}; recorded: {self._list_known(asked.method)}"
        if self._due and asked.method in LIST_METHODS:
            return _find_latest(fitting, self._due[0].line)
        # A repeated request gets the recorded answers in turn, and from then on the last.
        for exchange in fitting:
            if exchange not in self._used:
                self._used.add(exchange)
                return exchange
        return fitting[-1]

    def _list_known(self, method: str) -> str:
        """Return what was recorded of *method*, or which methods were, in words."""
        known = [str(exchange) for exchange in self._recorded if exchange.method == method]
        if not known:
            known = list(dict.fromkeys(exchange.method for exchange in self._recorded))
        if not known:
            return "nothing"
        shown = ", ".join(known[:_SHOWN])
        more = len(known) - _SHOWN
        return f"{shown} and {more} more" if more > 0 else shown

    def _find_due(self, due: list[Exchange], asked: Exchange) -> Exchange | str:
        """Remove and return the first exchange of *due* that fits.

        Requests that were open at the same time have no order: one may come before another that
        had no response yet when it was sent.
        """
        first_end = math.inf
        for exchange in due:
            if exchange.line > first_end:
                break
            if exchange.fits(asked):
                due.remove(exchange)
                return exchange
            first_end = min(first_end, exchange.end)
        expected = "nothing more was recorded"
        if due:
            expected = f"line {due[0].line} has {due[0]}"
        return f"Not recorded in this order: {asked}; {expected}"

    # Playing it

    def _continue(self, playing: Playing) -> list[bytes]:
        """Return what is *playing* up to the next question, whose answer continues it."""
        sent: list[bytes] = []
        for step in playing.steps:
            if isinstance(step, Questions):
                if step.requests:
                    return [*sent, self._ask(step.requests, playing)]
            elif "method" in step:
                sent += self._notify(step, playing.request)
            else:
                sent.append(self._end(playing.request, step))
        return sent

    def _end(self, request: Object, response: Object) -> bytes:
        """Return the recorded *response* for *request*."""
        task = get_object(response, "result")
        if task.get("resultType") == "task" and not _takes_tasks(request):
            response = self._find_outcome(task)
        if "result" in response:
            return self._respond(request, response["result"])
        return encode({"jsonrpc": "2.0", **response, "id": request["id"]})

    def _find_outcome(self, task: Object) -> Object:
        """Return the recorded end of *task* as the response to its call."""
        for exchange in reversed(self._recorded):
            if exchange.method != "tasks/get" or exchange.params.get("taskId") != task.get(
                "taskId"
            ):
                continue
            for step in exchange.steps:
                state = {} if isinstance(step, Questions) else get_object(step, "result")
                for member in ("result", "error"):
                    if member in state:
                        return {member: state[member]}
        problem = "Not recorded: the end of the task that this call became"
        return {"error": {"code": messages.INTERNAL_ERROR, "message": problem}}

    def _ask(self, requests: dict[str, Object], playing: Playing) -> bytes:
        """Return the message that asks the client: a legacy one for the first, and for the rest
        afterwards.
        """
        key = next(self._ids)
        self._asking[key] = playing
        if is_modern(playing.request):
            result = {
                "resultType": "input_required",
                "inputRequests": requests,
                "requestState": key,
            }
            return self._respond(playing.request, result)
        (_, first), *rest = requests.items()
        if rest:
            playing.steps = _join(Questions(dict(rest)), playing.steps)
        return encode({"jsonrpc": "2.0", **first, "id": key})

    def _notify(self, message: Object, request: Object) -> list[bytes]:
        """Return a notification for a client that has sent *request*; none if it wants none."""
        if message["method"] == "notifications/subscriptions/acknowledged":
            self._listening = request["id"]
        params = get_object(message, "params")
        is_change = str(message["method"]).endswith("list_changed")
        is_of_subscription = META_SUBSCRIPTION_ID in get_object(params, "_meta")
        if is_of_subscription or (is_change and is_modern(request)):
            return self._notify_subscriber(message, request)
        if "progressToken" not in params:
            return [encode(message)]
        token = find_progress_token(request)
        if token is None:
            return []
        return [encode({**message, "params": {**params, "progressToken": token}})]

    def _notify_subscriber(self, message: Object, request: Object) -> list[bytes]:
        """Return a notification with the subscription of a modern client, if it has one."""
        params = get_object(message, "params")
        meta = get_object(params, "_meta")
        if not is_modern(request):
            meta = {name: value for name, value in meta.items() if name != META_SUBSCRIPTION_ID}
        elif self._listening is None:
            return []
        else:
            meta = {**meta, META_SUBSCRIPTION_ID: self._listening}
        return [encode({**message, "params": {**params, "_meta": meta}})]


def _takes_tasks(request: Object) -> bool:
    """Return whether the client that has sent *request* can have a task in place of a result."""
    meta = get_object(get_object(request, "params"), "_meta")
    return declares_tasks(get_object(meta, META_CLIENT_CAPABILITIES))


def _refuse_frame(problem: str) -> bytes:
    return messages.encode_error(None, messages.INVALID_REQUEST, f"Invalid request: {problem}")


def _find_tools(recorded: list[Exchange]) -> set[str]:
    """Return the names of the tools that lists or calls of *recorded* have."""
    names = set()
    for exchange in recorded:
        if exchange.method == "tools/call":
            names.add(str(exchange.params.get("name")))
        if exchange.method != "tools/list":
            continue
        for step in exchange.steps:
            tools = get_object(step, "result").get("tools")
            if not isinstance(tools, list):
                continue
            for tool in tools:
                if isinstance(tool, dict):
                    names.add(str(tool.get("name")))
    return names


def _find_latest(fitting: list[Exchange], next_line: int) -> Exchange:
    """Return the exchange of a list that was the last one before *next_line*."""
    found = fitting[0]
    for exchange in fitting:
        if exchange.line < next_line:
            found = exchange
    return found


def _join(first: Questions, rest: Iterator[Object | Questions]) -> Iterator[Object | Questions]:
    yield first
    yield from rest
