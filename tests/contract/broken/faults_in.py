"""What a server may do wrong with what it is sent."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from typing import Any

from toolwire_schemas.wire.tasks import TASKS_EXTENSION as TASKS

from .proxy import MODERN, Fault, Headed, die, fails, parse_line


class Dies(Fault):
    """Dies of some lines."""

    def of(self, line: bytes, message: Any) -> bool:
        raise NotImplementedError

    def line(self, line: bytes) -> None:
        if self.of(line, parse_line(line)):
            die()
        super().line(line)


@fails("batch/answered", "batch/no-harm")
class DiesOfBatches(Dies):
    def of(self, line: bytes, message: Any) -> bool:
        return isinstance(message, list)


@fails("malformed/number", "malformed/empty-list")
class DiesOfWhatIsNoObject(Dies):
    def of(self, line: bytes, message: Any) -> bool:
        return isinstance(message, int) or message == []


@fails("malformed/truncated", "malformed/no-json", "malformed/nul")
class DiesOfWhatIsNoJson(Dies):
    def of(self, line: bytes, message: Any) -> bool:
        return message is None and bool(line.strip()) and line.isascii() and len(line) < 10_000


@fails("malformed/invalid-utf8")
class DiesOfInvalidText(Dies):
    def of(self, line: bytes, message: Any) -> bool:
        return b"\xff" in line or line.decode("utf-8", "replace") != line.decode("utf-8", "ignore")


@fails("malformed/lone-surrogate")
class DiesOfSurrogates(Dies):
    def of(self, line: bytes, message: Any) -> bool:
        return b"\\ud8" in line.lower() and b"\\udc" not in line.lower()


@fails("malformed/nan")
class DiesOfNaN(Dies):
    def of(self, line: bytes, message: Any) -> bool:
        return b"NaN" in line


@fails("malformed/deep")
class DiesOfDepth(Dies):
    def of(self, line: bytes, message: Any) -> bool:
        return b"[" * 1000 in line


@fails("malformed/blank-lines")
class DiesOfBlankLines(Dies):
    def of(self, line: bytes, message: Any) -> bool:
        return not line.strip()


@fails("malformed/crlf")
class DiesOfCarriageReturns(Dies):
    def of(self, line: bytes, message: Any) -> bool:
        return line.endswith(b"}\r")


@fails("malformed/byte-order-mark")
class DiesOfAByteOrderMark(Dies):
    def of(self, line: bytes, message: Any) -> bool:
        return line.startswith(b"\xef\xbb\xbf")


@fails("large/1-mib", "large/16-mib", "large/argument")
class DiesOfLongLines(Fault):
    def read(self, data: bytes) -> None:
        if len(self._buffer) + len(data) > 512 * 1024 and b"\n" not in data:
            die()
        super().read(data)


@fails(
    "jsonrpc/old-version",
    "jsonrpc/no-version",
    "jsonrpc/no-method",
    "jsonrpc/method-no-text",
    "jsonrpc/params-list",
    "jsonrpc/params-text",
)
class DiesOfInvalidRequests(Dies):
    def of(self, line: bytes, message: Any) -> bool:
        if not isinstance(message, dict) or "result" in message or "error" in message:
            return False
        return (
            message.get("jsonrpc") != "2.0"
            or not isinstance(message.get("method"), str)
            or not isinstance(message.get("params", {}), dict)
        )


@fails("ids/null", "ids/fraction", "ids/object")
class DiesOfOddIds(Dies):
    def of(self, line: bytes, message: Any) -> bool:
        return (
            isinstance(message, dict)
            and "id" in message
            and not isinstance(message["id"], str | int)
        )


@fails("cancellation/unknown-id", "cancellation/malformed")
class DiesOfCancellationsOfNothing(Dies):
    def of(self, line: bytes, message: Any) -> bool:
        if not isinstance(message, dict) or message.get("method") != "notifications/cancelled":
            return False
        params = message.get("params")
        return not isinstance(params, dict) or params.get("requestId") not in list(self.asked)


@fails("cancellation/of-editors")
class DiesOfWhatEditorsCancel(Headed):
    def request(self, message: dict[str, Any]) -> dict[str, Any] | None:
        return die() if message.get("method") == "$/cancelRequest" else message


@fails("lifecycle/discover-first")
class DiesOfDiscovery(Dies):
    """A server of the older era that takes no question it does not know."""

    def of(self, line: bytes, message: Any) -> bool:
        return isinstance(message, dict) and MODERN in json.dumps(message)


# Reading


@fails("concurrency/pieces")
class TakesEachReadForMessages(Fault):
    def read(self, data: bytes) -> None:
        for line in data.split(b"\n")[:-1]:
            self.line(line)


@fails("concurrency/several-in-one", "lifecycle/pipelined")
class ReadsOneMessageAtATime(Fault):
    late_seconds = 0.3

    def read(self, data: bytes) -> None:
        end = data.find(b"\n") + 1
        super().read(data[:end] if end else data)


@fails("ids/line-separators")
class EndsLinesWhereverTextMay(Fault):
    def line(self, line: bytes) -> None:
        for part in line.decode("utf-8", "replace").splitlines():
            super().line(part.encode())


@fails("concurrency/while-a-call-runs")
class DoesOneThingAfterTheOther(Fault):
    """Reads on when the call that is under way has been answered."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: list[bytes] = []
        self._busy: Any = None

    def line(self, line: bytes) -> None:
        if self._busy is not None:
            self._waiting.append(line)
            return
        message = parse_line(line)
        if isinstance(message, dict) and message.get("method") == "tools/call" and "id" in message:
            self._busy = message["id"]
        super().line(line)

    def answer(self, message: dict[str, Any]) -> Any:
        if self._busy is not None and message.get("id") == self._busy:
            self._busy = None
            waiting, self._waiting = self._waiting, []
            for line in waiting:
                self.line(line)
        return message


@fails("ending/during-a-call")
class WaitsForItsToolsAtTheEnd(Fault):
    """Never gives up a call, and has one that takes for ever."""

    def ended(self) -> None:
        if not any(asked.get("method") == "tools/call" for asked in self.asked.values()):
            super().ended()


# Ids


@fails("ids/zero", "ids/empty-text")
class TakesAFalseIdForNone(Fault):
    def request(self, message: dict[str, Any]) -> dict[str, Any] | None:
        if "id" in message and not message["id"]:
            del message["id"]
        return message


class Changes(Fault):
    """Knows requests by another id than was sent."""

    def changed(self, key: Any) -> Any:
        raise NotImplementedError

    def request(self, message: dict[str, Any]) -> dict[str, Any] | None:
        if isinstance(message.get("id"), str | int):
            message["id"] = self.changed(message["id"])
            self.asked[message["id"]] = message
        return message


@fails("ids/negative")
class KnowsNoSigns(Changes):
    def changed(self, key: Any) -> Any:
        return abs(key) if isinstance(key, int) else key


@fails("ids/large")
class KnowsNumbersAsJavaScriptDoes(Changes):
    def changed(self, key: Any) -> Any:
        return int(float(key)) if isinstance(key, int) else key


@fails("ids/text-of-digits")
class TakesDigitsForNumbers(Changes):
    def changed(self, key: Any) -> Any:
        return int(key) if isinstance(key, str) and key.isdecimal() else key


@fails("ids/unicode")
class KnowsOnlyAscii(Changes):
    def changed(self, key: Any) -> Any:
        return key.encode("ascii", "replace").decode() if isinstance(key, str) else key


@fails("ids/long")
class KeepsIdsShort(Changes):
    def changed(self, key: Any) -> Any:
        return key[:64] if isinstance(key, str) else key


# Methods


class Answers(Fault):
    """Answers some requests itself."""

    def own(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """The result or error of its own; None leaves it to the server."""
        raise NotImplementedError

    def request(self, message: dict[str, Any]) -> dict[str, Any] | None:
        own = self.own(message) if isinstance(message.get("method"), str) else None
        if own is None:
            return message
        if "id" in message:
            self.say({"jsonrpc": "2.0", "id": message["id"], **own})
        return None


class Older(Answers):
    """No fault: a server that knows only the older era."""

    def own(self, message: dict[str, Any]) -> dict[str, Any] | None:
        modern = MODERN in json.dumps(message.get("params"))
        return {"error": {"code": -32601, "message": "Method not found"}} if modern else None


@fails("jsonrpc/unknown-method")
class KnowsEveryMethod(Answers):
    def own(self, message: dict[str, Any]) -> dict[str, Any] | None:
        return {"result": {}} if "no-such" in message["method"] else None


@fails("jsonrpc/unknown-notification")
class AnswersUnknownNotifications(Fault):
    def request(self, message: dict[str, Any]) -> dict[str, Any] | None:
        if "id" not in message and "no-such" in str(message.get("method")):
            self.say(
                {
                    "jsonrpc": "2.0",
                    "id": None,
                    "error": {"code": -32601, "message": "Method not found"},
                }
            )
        return message


@fails("jsonrpc/notified-request")
class AnswersNotifiedRequests(Fault):
    def request(self, message: dict[str, Any]) -> dict[str, Any] | None:
        if "id" not in message and message.get("method") == "tools/list":
            self.say({"jsonrpc": "2.0", "id": None, "result": {"tools": []}})
        return message


@fails("jsonrpc/stray-response")
class AnswersResponses(Fault):
    def request(self, message: dict[str, Any]) -> dict[str, Any] | None:
        if "result" in message and "method" not in message:
            error = {"code": -32600, "message": "No such request"}
            self.say({"jsonrpc": "2.0", "id": message.get("id"), "error": error})
        return message


@fails("lifecycle/ping")
class DoesNotKnowPing(Answers):
    def own(self, message: dict[str, Any]) -> dict[str, Any] | None:
        return (
            {"error": {"code": -32601, "message": "Method not found"}}
            if message["method"] == "ping"
            else None
        )


@fails("lifecycle/ping-before-initialize", "lifecycle/plain")
class RequiresInitialize(Answers):
    def own(self, message: dict[str, Any]) -> dict[str, Any] | None:
        known = any(asked.get("method") == "initialize" for asked in self.asked.values())
        modern = MODERN in json.dumps(message.get("params"))
        return (
            None if known or modern else {"error": {"code": -32602, "message": "initialize first"}}
        )


@fails("lifecycle/without-initialized", "lifecycle/pipelined")
class RequiresTheInitializedNotification(Answers):
    def __init__(self) -> None:
        super().__init__()
        self._ready = False

    def own(self, message: dict[str, Any]) -> dict[str, Any] | None:
        if message["method"] == "notifications/initialized":
            # It takes note a little later, on a thread of its own.
            threading.Timer(1, lambda: setattr(self, "_ready", True)).start()
        if (
            self._ready
            or message["method"] in ("initialize", "ping")
            or MODERN in json.dumps(message.get("params"))
        ):
            return None
        return {"error": {"code": -32600, "message": "not initialized"}}


@fails("lifecycle/unknown-version", "lifecycle/modern-version")
class SpeaksWhateverIsAskedFor(Fault):
    def answer(self, message: dict[str, Any]) -> Any:
        if self.method_of(message) == "initialize" and "result" in message:
            message["result"]["protocolVersion"] = self.asked[message["id"]]["params"][
                "protocolVersion"
            ]
        return message


@fails("modern/first-message")
class WantsToBeDiscoveredFirst(Answers):
    def own(self, message: dict[str, Any]) -> dict[str, Any] | None:
        known = any(
            asked.get("method") in ("server/discover", "initialize")
            for asked in self.asked.values()
        )
        modern = MODERN in json.dumps(message.get("params"))
        return (
            {"error": {"code": -32600, "message": "discover first"}}
            if modern and not known
            else None
        )


class Completes(Fault):
    """Adds to what was sent in the modern era."""

    def add(self, meta: dict[str, Any]) -> None:
        raise NotImplementedError

    def request(self, message: dict[str, Any]) -> dict[str, Any] | None:
        params = message.get("params")
        if (
            isinstance(params, dict)
            and isinstance(params.get("_meta"), dict)
            and MODERN in params["_meta"]
        ):
            self.add(params["_meta"])
        return message


@fails("modern/unknown-version")
class TakesAnyRevision(Completes):
    def add(self, meta: dict[str, Any]) -> None:
        meta[MODERN] = "2026-07-28"


@fails("modern/no-capabilities")
class NeedsNoCapabilities(Completes):
    def add(self, meta: dict[str, Any]) -> None:
        meta.setdefault("io.modelcontextprotocol/clientCapabilities", {})


@fails("modern/no-meta")
class GuessesTheRevision(Fault):
    """Takes a request without one for one of the revision before."""

    def request(self, message: dict[str, Any]) -> dict[str, Any] | None:
        if any(MODERN in json.dumps(asked) for asked in self.asked.values()) and "id" in message:
            params = message.setdefault("params", {})
            if (
                isinstance(params, dict)
                and "_meta" not in params
                and message.get("method") == "tools/list"
            ):
                params["_meta"] = {
                    MODERN: "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": {},
                }
        return message


@fails("modern/removed-methods")
class StillKnowsPing(Answers):
    def own(self, message: dict[str, Any]) -> dict[str, Any] | None:
        return {"result": {"resultType": "complete"}} if message["method"] == "ping" else None


@fails("tasks/unknown", "tasks/unknown-update", "tasks/legacy-unknown")
class KnowsEveryTask(Answers):
    def own(self, message: dict[str, Any]) -> dict[str, Any] | None:
        times = {"createdAt": "2026-11-28T10:00:00Z", "lastUpdatedAt": "2026-11-28T10:00:00Z"}
        task = {"taskId": "toolwire-no-such-task", "status": "working", **times, "ttl": None}
        params = message.get("params")
        if message["method"] not in ("tasks/get", "tasks/update", "tasks/cancel", "tasks/result"):
            return None
        if MODERN not in json.dumps(params):
            return {"result": task}
        # One who has not declared the extension gets the error of the server.
        return {"result": {"resultType": "complete", **task}} if TASKS in str(params) else None


@fails("tasks/undeclared")
class ServesTasksToAll(Completes):
    def add(self, meta: dict[str, Any]) -> None:
        capabilities = meta.setdefault("io.modelcontextprotocol/clientCapabilities", {})
        if isinstance(capabilities, dict):
            capabilities["extensions"] = {TASKS: {}}


@fails("tasks/removed-methods")
class StillListsTasks(Answers):
    def own(self, message: dict[str, Any]) -> dict[str, Any] | None:
        is_list = message["method"] == "tasks/list" and MODERN in json.dumps(message.get("params"))
        return {"result": {"resultType": "complete", "tasks": []}} if is_list else None


@fails("tasks/legacy-list")
class ListsTasksByTheirIds(Answers):
    def own(self, message: dict[str, Any]) -> dict[str, Any] | None:
        is_list = message["method"] == "tasks/list" and MODERN not in json.dumps(message)
        return {"result": {"tasks": {"toolwire-no-such-task": "working"}}} if is_list else None


@fails("tasks/legacy-created")
class IgnoresWishesForTasks(Fault):
    def request(self, message: dict[str, Any]) -> dict[str, Any] | None:
        params = message.get("params")
        if message.get("method") == "tools/call" and isinstance(params, dict):
            params.pop("task", None)
        return message


@fails("tasks/whole")
class LosesResultsOfTasks(Fault):
    def answer(self, message: dict[str, Any]) -> Any:
        result = message.get("result")
        if isinstance(result, dict) and result.get("status") == "completed":
            result.pop("result", None)
        return message


@fails("modern/listen")
class HasNoNews(Answers):
    def own(self, message: dict[str, Any]) -> dict[str, Any] | None:
        listens = message["method"] == "subscriptions/listen"
        return {"result": {"resultType": "complete"}} if listens else None


@fails("tools/list-without-params")
class WantsParams(Answers):
    def own(self, message: dict[str, Any]) -> dict[str, Any] | None:
        lists = message["method"] == "tools/list" and "params" not in message
        return {"error": {"code": -32602, "message": "params are required"}} if lists else None


@fails("tools/unknown-cursor", "tools/cursor-no-text")
class IgnoresCursors(Fault):
    def request(self, message: dict[str, Any]) -> dict[str, Any] | None:
        if message.get("method") == "tools/list" and isinstance(message.get("params"), dict):
            message["params"].pop("cursor", None)
        return message


@fails("tools/unknown", "tools/no-name", "tools/name-no-text", "tools/arguments-list")
class CallsAnything(Answers):
    def own(self, message: dict[str, Any]) -> dict[str, Any] | None:
        params = message.get("params")
        if message["method"] != "tools/call" or not isinstance(params, dict):
            return None
        known = params.get("name") in ("add", "wait", "greet") and not isinstance(
            params.get("arguments"), list
        )
        return None if known else {"result": {"resultType": "complete", "content": []}}


@fails("calls/wrong-type", "calls/missing-argument", "calls/unknown-argument")
class TakesAnyArguments(Fault):
    def answer(self, message: dict[str, Any]) -> Any:
        if message.get("result", {}).get("isError"):
            message["result"] = {
                **message["result"],
                "content": [{"type": "text", "text": "0"}],
                "isError": False,
            }
        return message


@fails("calls/for-the-model")
class KeepsFaultsFromTheModel(Fault):
    def answer(self, message: dict[str, Any]) -> Any:
        if message.get("result", {}).get("isError"):
            error = {"code": -32602, "message": "Invalid arguments"}
            return {"jsonrpc": "2.0", "id": message["id"], "error": error}
        return message


@fails("cancellation/running")
class AnswersCancelledCalls(Fault):
    def request(self, message: dict[str, Any]) -> dict[str, Any] | None:
        return None if message.get("method") == "notifications/cancelled" else message


# Headers


class Faultless(Headed):
    """The same in headers, and nothing wrong."""


@fails("headers/content-type")
class WantsTheLengthFirst(Headed):
    def length(self, head: bytes) -> int:
        return (
            int(head.partition(b":")[2])
            if head.startswith(b"Content-Length") and b"\r\n" not in head
            else die()
        )


@fails("headers/lower-case")
class KnowsOneSpelling(Headed):
    def length(self, head: bytes) -> int:
        return (
            int(head.partition(b"Content-Length:")[2].split()[0])
            if b"Content-Length:" in head
            else die()
        )


@fails("headers/no-length")
class DiesWithoutALength(Headed):
    def length(self, head: bytes) -> int:
        return super().length(head) or die()


@fails("headers/pieces", "headers/too-long", "headers/too-short")
class TakesEachReadForABody(Headed):
    late_seconds = 0.3

    def read(self, data: bytes) -> None:
        head, _, body = data.partition(b"\r\n\r\n")
        if body and self.length(head) == len(body):
            self.line(body)


@fails("headers/cut-off")
class WaitsForTheRest(Headed):
    def ended(self) -> None:
        if not self._buffer:
            super().ended()


# Ends


@fails("ending/end-of-input", "ending/no-input", "ending/half-a-message")
class DoesNotNoticeTheEnd(Fault):
    def ended(self) -> None:
        pass


@fails("ending/status")
class TakesTheEndForAFailure(Fault):
    def leave(self, status: int) -> None:
        os._exit(1)


@fails("ending/answers-first")
class ForgetsWhatItWasAsked(Fault):
    late = b""

    def read(self, data: bytes) -> None:
        self.late += data
        threading.Timer(0.3, self._read_late).start()

    def _read_late(self) -> None:
        late, self.late = self.late, b""
        super().read(late)

    def ended(self) -> None:
        os._exit(0)


@fails("ending/last-line")
class WantsALineEnd(Fault):
    def ended(self) -> None:
        self.server.stdin.close()


@fails("ending/sigterm", "ending/sigterm-during-a-call")
class IgnoresSigterm(Fault):
    apart = True

    def terminated(self) -> None:
        pass


@fails("ending/no-orphans", "ending/no-orphans-after-sigterm")
class LeavesAProcessBehind(Fault):
    def run(self) -> None:
        start_sleeper()
        super().run()


@fails(
    "ending/no-orphans-of-a-call",
    "ending/no-orphans-of-a-call-after-sigterm",
    "ending/no-orphans-of-a-call-after-sigkill",
)
class LeavesAProcessOfACall(Fault):
    def request(self, message: dict[str, Any]) -> dict[str, Any] | None:
        if message.get("method") == "tools/call" and message["params"]["name"] == "start_process":
            start_sleeper()
        return message


def start_sleeper() -> None:
    """Start a process that outlives this one."""
    code = "import time; time.sleep(60)"
    nothing = subprocess.DEVNULL
    subprocess.Popen([sys.executable, "-c", code], stdin=nothing, stdout=nothing, stderr=nothing)


# Tools in place of a long list


class AnswersDoors(Answers):
    """Answers calls of one tool itself: of the one that is called *door*."""

    door = ""

    def own(self, message: dict[str, Any]) -> dict[str, Any] | None:
        params = message.get("params")
        if message["method"] != "tools/call" or not isinstance(params, dict):
            return None
        if params.get("name") != self.door:
            return None
        return self.of(params.get("arguments", {}))

    def of(self, arguments: dict[str, Any]) -> dict[str, Any] | None:
        """The result or error of a call with *arguments*; None leaves it to the server."""
        raise NotImplementedError


def text_result(text: str) -> dict[str, Any]:
    """A result with *text*, in both eras."""
    content = [{"type": "text", "text": text}]
    return {"result": {"resultType": "complete", "content": content, "isError": False}}


@fails("search/result", "search/nothing-found")
class FindsNothing(AnswersDoors):
    show, door = "search", "search_tools"

    def of(self, arguments: dict[str, Any]) -> dict[str, Any] | None:
        return {"result": {"resultType": "complete", "content": [], "isError": False}}


@fails("search/no-syntax")
class TakesQueriesForExpressions(AnswersDoors):
    show, door = "search", "search_tools"

    def of(self, arguments: dict[str, Any]) -> dict[str, Any] | None:
        if '"' not in arguments.get("query", ""):
            return None
        return {"error": {"code": -32603, "message": "unterminated string"}}


@fails("search/long-query")
class DiesOfLongQueries(Dies):
    show = "search"

    def of(self, line: bytes, message: Any) -> bool:
        return b'"query"' in line and len(line) > 1_000_000


@fails("search/unknown-tool", "search/itself", "search/no-name")
class CallsAnyName(AnswersDoors):
    show, door = "search", "call_tool"

    def of(self, arguments: dict[str, Any]) -> dict[str, Any] | None:
        return text_result("called")


@fails(
    "programs/output",
    "programs/not-python",
    "programs/exception",
    "programs/unknown-tool",
    "programs/no-files",
    "programs/large-memory",
)
class RunsNoProgram(AnswersDoors):
    show, door = "code", "run_program"

    def of(self, arguments: dict[str, Any]) -> dict[str, Any] | None:
        return text_result("done")


@fails("programs/large-output")
class ReturnsAllThatIsPrinted(AnswersDoors):
    show, door = "code", "run_program"

    def of(self, arguments: dict[str, Any]) -> dict[str, Any] | None:
        return text_result("x" * 3_000_000)


@fails("programs/endless")
class AnswersCancelledPrograms(Fault):
    show = "code"

    def request(self, message: dict[str, Any]) -> dict[str, Any] | None:
        if message.get("method") == "notifications/cancelled":
            of = message["params"]["requestId"]
            self.say({"jsonrpc": "2.0", "id": of, **text_result("cancelled")})
        return message
