"""A server whose behaviour the first argument names: `python fake_server.py dies`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from typing import Any

MODERN = "2026-07-28"


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer(request: dict[str, Any], result: Any) -> None:
    send({"id": request["id"], "result": result})


def refuse(request: dict[str, Any], code: int = -32601, message: str = "no such method") -> None:
    send({"id": request["id"], "error": {"code": code, "message": message}})


class Server:
    """A well-behaved server of the legacy revisions. The others are this one with one fault."""

    version = "2025-06-18"

    def discover(self, request: dict[str, Any]) -> None:
        refuse(request)

    def initialize(self, request: dict[str, Any]) -> None:
        info = {"name": "fake", "version": "1"}
        answer(
            request,
            {"protocolVersion": self.version, "capabilities": {"tools": {}}, "serverInfo": info},
        )

    def list(self, request: dict[str, Any]) -> None:
        answer(request, {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]})

    def call(self, request: dict[str, Any]) -> None:
        arguments = request["params"]["arguments"]
        answer(request, {"content": [{"type": "text", "text": json.dumps(arguments)}]})

    def other(self, message: dict[str, Any]) -> None:
        if message["method"] == "ping":
            answer(message, {})
        elif "id" in message:
            refuse(message)

    def at_end(self) -> None: ...

    def serve(self) -> None:
        methods = {
            "server/discover": self.discover,
            "initialize": self.initialize,
            "tools/list": self.list,
            "tools/call": self.call,
        }
        for line in sys.stdin:
            message = json.loads(line)
            methods.get(message.get("method"), self.other)(message)
        self.at_end()


class Modern(Server):
    def discover(self, request: dict[str, Any]) -> None:
        info = {"io.modelcontextprotocol/serverInfo": {"name": "fake", "version": "2"}}
        result = {
            "resultType": "complete",
            "supportedVersions": [MODERN],
            "capabilities": {},
            "_meta": info,
        }
        answer(request, result)

    def initialize(self, request: dict[str, Any]) -> None:
        sys.exit("a modern client has no business here")

    def call(self, request: dict[str, Any]) -> None:
        answer(
            request,
            {"resultType": "complete", "content": [], "structuredContent": request["params"]},
        )


class Future(Server):
    version = "2999-01-01"


class EndsAtTheProbe(Server):
    def discover(self, request: dict[str, Any]) -> None:
        sys.exit(3)


class DiesAtTheHandshake(Server):
    def initialize(self, request: dict[str, Any]) -> None:
        sys.exit("no licence found")


class Fatal(Server):
    """Never answers a call; one of `fatal` is its end."""

    def call(self, request: dict[str, Any]) -> None:
        if request["params"]["name"] == "fatal":
            self.die()

    def die(self) -> None: ...


class NeverReady(Server):
    def initialize(self, request: dict[str, Any]) -> None: ...


class StuckByTheProbe(Server):
    def discover(self, request: dict[str, Any]) -> None:
        threading.Event().wait()


class DiscoversNothing(Server):
    def discover(self, request: dict[str, Any]) -> None:
        answer(request, "what?")


class DiscoversTheFuture(Server):
    def discover(self, request: dict[str, Any]) -> None:
        answer(
            request,
            {"resultType": "complete", "supportedVersions": ["2999-01-01"], "capabilities": {}},
        )


class SettlesOnTheFirst(Server):
    """Refuses `initialize` once it has seen anything else."""

    seen = False

    def discover(self, request: dict[str, Any]) -> None:
        self.seen = True
        answer(request, {"resultType": "complete", "supportedVersions": [], "capabilities": {}})

    def initialize(self, request: dict[str, Any]) -> None:
        if self.seen:
            refuse(request, -32600, "too late for that")
        else:
            super().initialize(request)


class Dies(Fatal):
    def die(self) -> None:
        sys.stderr.write("out of ideas\n")
        sys.stderr.flush()
        os._exit(7)


class LeavesItsOutputOpen(Fatal):
    def die(self) -> None:
        subprocess.Popen(
            [sys.executable, "-c", "import time; time.sleep(60)"], stdin=subprocess.DEVNULL
        )
        os._exit(7)


class Crashes(Fatal):
    def die(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


class ClosesItsOutput(Server):
    def call(self, request: dict[str, Any]) -> None:
        os.close(1)

    def at_end(self) -> None:
        os._exit(0)


class Noisy(Server):
    def call(self, request: dict[str, Any]) -> None:
        print("Loading model... 100%\n[1, 2]\n{}\nnull", flush=True)
        sys.stdout.buffer.write(b"\xff\xfe\n\n")
        sys.stdout.flush()
        send({"method": "notifications/message", "params": {"data": "hello"}})
        super().call(request)


class Asks(Server):
    """Answers a call with what came back for its own questions."""

    def __init__(self) -> None:
        self.replies: list[Any] = []
        self.request: dict[str, Any] = {}

    def call(self, request: dict[str, Any]) -> None:
        self.request = request
        send({"id": "q1", "method": "ping"})
        send({"id": "q2", "method": "roots/list"})

    def other(self, message: dict[str, Any]) -> None:
        if "method" not in message:
            self.replies.append(message)
            if len(self.replies) == 2:
                answer(
                    self.request, {"content": [], "structuredContent": {"replies": self.replies}}
                )


class Pages(Server):
    def list(self, request: dict[str, Any]) -> None:
        at = int(request["params"].get("cursor", 0))
        page: dict[str, Any] = {"tools": [{"name": f"tool{at}", "inputSchema": {"type": "object"}}]}
        answer(request, page if at == 2 else {**page, "nextCursor": str(at + 1)})


class Progresses(Server):
    def call(self, request: dict[str, Any]) -> None:
        token = request["params"]["_meta"]["progressToken"]
        for done in (1, 2):
            params = {
                "progressToken": token,
                "progress": done,
                "total": 2,
                "message": f"step {done}",
            }
            send({"method": "notifications/progress", "params": params})
        super().call(request)


class Waits(Server):
    """Never answers the call of `wait`; every other call is answered with the cancellations so
    far.
    """

    def __init__(self) -> None:
        self.cancelled: list[Any] = []

    def call(self, request: dict[str, Any]) -> None:
        if request["params"]["name"] != "wait":
            answer(request, {"content": [], "structuredContent": {"cancelled": self.cancelled}})
        elif "_meta" in request["params"]:
            token = request["params"]["_meta"]["progressToken"]
            send(
                {
                    "method": "notifications/progress",
                    "params": {"progressToken": token, "progress": 0},
                }
            )

    def other(self, message: dict[str, Any]) -> None:
        if message["method"] == "notifications/cancelled":
            self.cancelled.append(message["params"]["requestId"])


class Garbled(Server):
    """Each call names the result it wants."""

    def call(self, request: dict[str, Any]) -> None:
        answer(request, request["params"]["arguments"].get("result"))


class Garbles(Modern):
    """Answers each request after the handshake with the next of the results in its second
    argument.
    """

    def discover(self, request: dict[str, Any]) -> None:
        self.results = json.loads(sys.argv[2])
        capabilities: dict[str, Any] = {"resources": {}, "prompts": {}, "completions": {}}
        answer(
            request,
            {"resultType": "complete", "supportedVersions": [MODERN], "capabilities": capabilities},
        )

    def other(self, message: dict[str, Any]) -> None:
        if "id" in message:
            answer(message, self.results.pop(0))


class Deaf(Server):
    """Reads nothing more after the handshake."""

    def call(self, request: dict[str, Any]) -> None:
        threading.Event().wait()


class Stays(Server):
    """Ignores the end of its input and SIGTERM."""

    def call(self, request: dict[str, Any]) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        super().call(request)

    def at_end(self) -> None:
        threading.Event().wait()


class LeavesAChild(Server):
    """Ends as asked, but leaves a child behind that knows nothing of it."""

    def call(self, request: dict[str, Any]) -> None:
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        answer(request, {"content": [], "structuredContent": {"pid": child.pid}})


class AnswersBackwards(Server):
    """Answers fifty calls when all of them have come, the last one first, and each of them
    twice.
    """

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    def call(self, request: dict[str, Any]) -> None:
        self.calls.append(request)
        if len(self.calls) == 50:
            for waiting in reversed(self.calls):
                super().call(waiting)
                super().call(waiting)
            self.calls.clear()


class AnswersLate(Server):
    """Answers the call of `wait` only when it is cancelled."""

    def __init__(self) -> None:
        self.waiting: dict[str, Any] = {}

    def call(self, request: dict[str, Any]) -> None:
        if request["params"]["name"] == "wait":
            self.waiting = request
        else:
            super().call(request)

    def other(self, message: dict[str, Any]) -> None:
        if message["method"] == "notifications/cancelled":
            super().call(self.waiting)


class Changes(Server):
    """Has one tool more whenever one is called, and tells; `count` tells how often the list was
    read.
    """

    def __init__(self) -> None:
        self.tools = 1
        self.reads = 0

    def initialize(self, request: dict[str, Any]) -> None:
        capabilities = {"tools": {"listChanged": True}}
        answer(
            request,
            {"protocolVersion": self.version, "capabilities": capabilities, "serverInfo": {}},
        )

    def list(self, request: dict[str, Any]) -> None:
        self.reads += 1
        answer(request, {"tools": [{"name": f"tool{number}"} for number in range(self.tools)]})

    def call(self, request: dict[str, Any]) -> None:
        if request["params"]["name"] != "count":
            self.tools += 1
            send({"method": "notifications/tools/list_changed"})
        answer(request, {"content": [], "structuredContent": {"reads": self.reads}})


class ChangesSilently(Changes):
    def initialize(self, request: dict[str, Any]) -> None:
        Server.initialize(self, request)


class ChangesLater(Changes, Modern):
    """Says that its list stays the same for as long as its description says."""

    ttl: Any = 0

    def list(self, request: dict[str, Any]) -> None:
        self.reads += 1
        tools = [{"name": f"tool{number}"} for number in range(self.tools)]
        result = {
            "resultType": "complete",
            "tools": tools,
            "ttlMs": self.ttl,
            "cacheScope": "private",
        }
        answer(
            request,
            {**result, "nextCursor": "2"}
            if "cursor" not in request["params"]
            else {**result, "ttlMs": 10**15},
        )

    def call(self, request: dict[str, Any]) -> None:
        self.ttl = request["params"]["arguments"].get("ttl", self.ttl)
        answer(
            request,
            {"resultType": "complete", "content": [], "structuredContent": {"reads": self.reads}},
        )


class GoesRound(Server):
    """Never stops giving cursors."""

    def list(self, request: dict[str, Any]) -> None:
        at = int(request["params"].get("cursor", 0))
        answer(request, {"tools": [{"name": f"tool{at}"}], "nextCursor": "2" if at == 1 else "1"})


class HasNoEnd(Server):
    def list(self, request: dict[str, Any]) -> None:
        at = int(request["params"].get("cursor", 0))
        answer(request, {"tools": [{"name": f"tool{at}"}], "nextCursor": str(at + 1)})


class StrangeCursor(Server):
    def list(self, request: dict[str, Any]) -> None:
        answer(request, {"tools": [], "nextCursor": {"page": 2}})


QUESTION = {
    "message": "Sure?",
    "requestedSchema": {"type": "object", "properties": {"sure": {"type": "boolean"}}},
}


class Inquires(Server):
    """Answers a call with what came back for its question; the call's arguments say how the
    question differs.
    """

    def __init__(self) -> None:
        self.request: dict[str, Any] = {}

    def call(self, request: dict[str, Any]) -> None:
        if request["params"]["name"] == "wait":
            return
        self.request = request
        send(
            {
                "id": "q",
                "method": "elicitation/create",
                "params": {**QUESTION, **request["params"]["arguments"]},
            }
        )

    def other(self, message: dict[str, Any]) -> None:
        if "method" not in message:
            answer(self.request, {"content": [], "structuredContent": message})
        else:
            super().other(message)


class ChangesItsMind(Inquires):
    """Withdraws its question at once, and answers the call."""

    def call(self, request: dict[str, Any]) -> None:
        super().call(request)
        send(
            {
                "method": "notifications/progress",
                "params": {"progressToken": request["id"], "progress": 1},
            }
        )
        send({"method": "notifications/cancelled", "params": {"requestId": "q"}})
        answer(request, {"content": [], "structuredContent": {"answered": "anyway"}})


class ModernInquires(Modern):
    """Asks as often as `rounds` says, then answers with the last parameters; the other arguments
    change the result.
    """

    def call(self, request: dict[str, Any]) -> None:
        params = request["params"]
        arguments, done = params["arguments"], int(params.get("requestState", "0"))
        if done == arguments["rounds"]:
            answer(request, {"resultType": "complete", "content": [], "structuredContent": params})
            return
        wanted = {"first": {"method": "elicitation/create", "params": QUESTION}}
        result = {
            "resultType": "input_required",
            "inputRequests": wanted,
            "requestState": str(done + 1),
        }
        answer(request, {**result, **arguments.get("result", {})})


class ModernAsksNothing(ModernInquires):
    """Only wants to be called again."""

    def call(self, request: dict[str, Any]) -> None:
        if "requestState" in request["params"]:
            answer(
                request,
                {"resultType": "complete", "content": [], "structuredContent": request["params"]},
            )
        else:
            answer(request, {"resultType": "input_required", "requestState": "again"})


class Diary(Server):
    """Writes every method that it is asked for into the file `$DIARY`; a call of `fatal` is its
    end.
    """

    def serve(self) -> None:
        self.write("started")
        super().serve()

    def write(self, line: str) -> None:
        with open(os.environ["DIARY"], "a", encoding="utf-8") as file:
            file.write(line + "\n")

    def discover(self, request: dict[str, Any]) -> None:
        self.write("probed")
        super().discover(request)

    def call(self, request: dict[str, Any]) -> None:
        self.write(request["params"]["name"])
        if request["params"]["name"] == "fatal":
            os._exit(7)
        super().call(request)


class Logs(Modern):
    """Logs a call in many ways."""

    def call(self, request: dict[str, Any]) -> None:
        send({"method": "notifications/message", "params": {"level": "error", "data": {"a": 1}}})
        send({"method": "notifications/message", "params": {"data": "hello"}})
        send({"method": "notifications/unknown", "params": [1]})
        send({"id": 10**9, "result": {}})
        print("no message", flush=True)
        super().call(request)


class LogsIfAsked(Server):
    def initialize(self, request: dict[str, Any]) -> None:
        capabilities = {"tools": {}, "logging": {}}
        answer(
            request,
            {"protocolVersion": self.version, "capabilities": capabilities, "serverInfo": {}},
        )

    def other(self, message: dict[str, Any]) -> None:
        if message["method"] == "logging/setLevel":
            send(
                {
                    "method": "notifications/message",
                    "params": {"level": "notice", "data": message["params"]},
                }
            )
        super().other(message)


class Environment(Server):
    def call(self, request: dict[str, Any]) -> None:
        answer(request, {"content": [], "structuredContent": dict(os.environ)})


if __name__ == "__main__":
    globals()[sys.argv[1]]().serve()
