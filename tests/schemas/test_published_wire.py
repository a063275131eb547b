"""What a real server and its host say to each other, in every revision and without any, is what the
schemas say.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.server_process import Process, running, wait_until
from toolwire_schemas.published import list_names, load, load_validator
from toolwire_schemas.wire.messages import (
    LEGACY_VERSIONS,
    META_CLIENT_CAPABILITIES,
    META_LOG_LEVEL,
    META_VERSION,
    MODERN_VERSIONS,
)

SERVER = '''
import threading
from dataclasses import dataclass
from typing import Annotated, Literal

import toolwire
from toolwire_tools import Audio, Context, File, Image, Message, ResourceLink, Text, ToolError, tool_api

@dataclass
class Order:
    count: int
    size: Literal["small", "large"]
    mail: str = "me@example.com"
    gift: bool = False
    weight: float | None = None

@tool_api(title="Add", read_only=True, idempotent=True, destructive=False, open_world=False, meta={"example.com/x": 1},
          icons=[{"src": "https://example.com/add.png", "sizes": ["48x48"], "theme": "dark"}])
def add(a: int, b: int = 1) -> int:
    """Add two whole numbers."""
    return a + b

def data() -> Order:
    return Order(1, "small")

def nothing() -> None:
    """Say nothing."""

def blocks():
    return [
        Text("for you", audience="user", priority=0.5), Image(b"x", media_type="image/png"),
        Audio(b"x", media_type="audio/wav"), File("text", name="a.txt"), File(b"bytes", uri="urn:x"),
        ResourceLink("https://example.com/a", title="A", description="a", media_type="text/plain", size=0), "text",
    ]

def steps():
    for number in range(3):
        yield str(number)

def fail() -> str:
    raise ToolError("as told")

def note(context: Context) -> None:
    context.log("a number", level="notice", number=7)

def wait(context: Context, path: str) -> None:
    open(path, "w").close()
    while not context.cancelled:
        threading.Event().wait(0.005)

@toolwire.tool_api(task="always")
def work(context: Context) -> bool:
    return context.ask("Go on?")

def order(context: Context) -> Order:
    return context.ask("How much?", Order)

def learn() -> str:
    server.add(taught)
    return "learnt"

def taught() -> str:
    """What was learnt."""

@toolwire.resource("config://app", title="Config", annotations={"priority": 0.5}, meta={"example.com/x": 1},
                   icons=[{"src": "https://example.com/gear.png"}])
def config():
    """The settings."""
    return {"a": 1}

@toolwire.resource("notes://{name}", media_type="text/markdown")
def page(name: Annotated[str, toolwire.complete(lambda text: [text + "oday"])]):
    return [Text(name), b"bytes"]

@toolwire.prompt(title="Review")
def review(code: str, level: Annotated[int, toolwire.complete(["1", "2", "ten"])] = 1):
    """Review code."""
    return [Message("I review", "assistant"), code, Image(b"x", media_type="image/png")]

tools = [add, data, nothing, blocks, steps, fail, note, wait, work, order, learn, config, page, review]
server = toolwire.Server(tools, name="all", title="All", version="1", instructions="Mind the gap.", page_size=4)
server.serve()
'''  # noqa: E501

# What each method takes and gives, or in 2026-07-28 what is called so and has that behind it; else
# it takes nothing.
PARAMS = {
    "initialize": "initialize-params",
    "notifications/initialized": "no-params",
    "ping": "no-params",
    "logging/setLevel": "logging-set-level-params",
    "server/discover": "server-discover-params",
    "tools/list": "tools-list-params",
    "tools/call": "tools-call-params",
    "resources/list": "resources-list-params",
    "resources/templates/list": "resources-templates-list-params",
    "resources/read": "resources-read-params",
    "prompts/list": "prompts-list-params",
    "prompts/get": "prompts-get-params",
    "completion/complete": "completion-complete-params",
    "elicitation/create": "elicitation-create-params",
    "subscriptions/listen": "subscriptions-listen-params",
    "notifications/subscriptions/acknowledged": "subscriptions-acknowledged-params",
    "notifications/tools/list_changed": "list-changed-params",
    "notifications/progress": "progress-params",
    "notifications/message": "message-params",
    "notifications/cancelled": "cancelled-params",
    "tasks/get": "tasks-get-params",
    "tasks/update": "tasks-update-params",
    "tasks/cancel": "tasks-cancel-params",
    "tasks/result": "tasks-result-params",
    "tasks/list": "tasks-list-params",
    "notifications/tasks": "tasks-notification-params",
    "notifications/tasks/status": "tasks-status-params",
    "$/cancelRequest": "cancel-request-params",
}
RESULTS = {
    "initialize": "initialize-result",
    "ping": "ping-result",
    "logging/setLevel": "ping-result",
    "server/discover": "server-discover-result",
    "tools/list": "tools-list-result",
    "tools/call": "tools-call-result",
    "resources/list": "resources-list-result",
    "resources/templates/list": "resources-templates-list-result",
    "resources/read": "resources-read-result",
    "prompts/list": "prompts-list-result",
    "prompts/get": "prompts-get-result",
    "completion/complete": "completion-complete-result",
    "elicitation/create": "elicitation-create-result",
    "subscriptions/listen": "subscriptions-listen-result",
    "tasks/get": "tasks-get-result",
    "tasks/cancel": "tasks-cancel-result",
    "tasks/result": "tools-call-result",
    "tasks/list": "tasks-list-result",
}
# What only one of the two forms of tasks has.
ACKNOWLEDGED = ("tasks/update", "tasks/cancel")


INFO = {"name": "test", "version": "1"}
CAN_ASK = {"elicitation": {}, "extensions": {"io.modelcontextprotocol/tasks": {}}}
MODERN_META = {META_VERSION: MODERN_VERSIONS[-1], META_CLIENT_CAPABILITIES: CAN_ASK}


class Host:
    """Talks to a server in one revision and holds every message, of either side, against the
    schemas.
    """

    def __init__(self, process: Process, revision: str) -> None:
        self.process = process
        self.is_modern = revision in MODERN_VERSIONS
        self._messages = f"messages-{revision}"
        self._seen: set[str] = set()
        self._methods: dict[Any, str] = {}

    def send(self, **message: Any) -> None:
        """Send a message, which has to be one of a client's."""
        if self.is_modern and "id" in message:
            message["params"] = {
                **message["params"],
                "_meta": {**MODERN_META, **message["params"].get("_meta", {})},
            }
        sent = {"jsonrpc": "2.0", **message}
        self._judge("client-message", sent)
        self.process.send(sent)

    def receive(self) -> Any:
        """Return the next message, which has to be one of a server's, and give what was asked
        for.
        """
        message = self.process.receive()
        self._judge("server-message", message)
        return message

    def ask(self, method: str, **params: Any) -> Any:
        """Send a request and return its answer, the first that comes."""
        id = len(self._methods)
        self.send(id=id, method=method, params=params)
        answer = self.receive()
        assert answer["id"] == id
        return answer

    def call(self, name: str, id: Any, arguments: Any = None, **more: Any) -> None:
        """Send a call of a tool."""
        self.send(
            id=id, method="tools/call", params={"name": name, "arguments": arguments or {}, **more}
        )

    def unseen(self) -> set[str]:
        """What has not come up of all that the revision's schema knows of."""
        sides = ("client-message", "server-message")
        return {
            branch["$ref"] for side in sides for branch in self._definition(side)["anyOf"]
        } - self._seen

    def _judge(self, side: str, message: Any) -> None:
        if "method" in message:
            _check(self._named(PARAMS[message["method"]]), message.get("params", {}))
            self._methods[message.get("id")] = message["method"]
        elif "result" in message:
            _check(self._result_of(message), message["result"])
        _check(f"{self._messages}#/$defs/{side}", message)
        for branch in self._definition(side)["anyOf"]:
            where = branch["$ref"].removeprefix("urn:toolwire:v1:")
            if load_validator(where if where[0] != "#" else self._messages + where).is_valid(
                message
            ):
                self._seen.add(branch["$ref"])

    def _result_of(self, message: Any) -> str:
        method = self._methods[message["id"]]
        if self.is_modern and method in ACKNOWLEDGED:
            return "tasks-acknowledgement"
        if "task" in message["result"]:
            return "tools-call-task-result"
        return self._named(RESULTS[method])

    def until(self, id: Any) -> Any:
        """Return the response to the request *id*, and check everything that comes before it."""
        while True:
            message = self.receive()
            if message.get("id") == id and "method" not in message:
                return message

    def _definition(self, name: str) -> Any:
        return load(self._messages)["$defs"][name]

    def _named(self, name: str) -> str:
        newer = [f"{name}-{MODERN_VERSIONS[-1]}"] if self.is_modern else []
        return next(found for found in (*newer, name, "no-params") if found in list_names())


def _check(name: str, value: Any) -> None:
    problems = [
        f"{error.json_path}: {error.message}" for error in load_validator(name).iter_errors(value)
    ]
    assert not problems, f"{name} does not take {value}: {problems}"


@contextmanager
def hosted(folder: Path, revision: str) -> Iterator[Host]:
    script = folder / "server.py"
    script.write_text(SERVER, encoding="utf-8")
    with running(str(script)) as process:
        yield Host(process, revision)


def use_everything(host: Host, folder: Path) -> None:
    """List all pages, call whatever answers by itself, cancel what does not, and get an error."""
    for method in ("resources/list", "resources/templates/list", "prompts/list"):
        assert "result" in host.ask(method)
    for uri in ("config://app", "notes://today"):
        assert host.ask("resources/read", uri=uri)["result"]["contents"]
    assert host.ask("prompts/get", name="review", arguments={"code": "x", "level": "2"})["result"][
        "messages"
    ]
    for ref in (
        {"type": "ref/prompt", "name": "review"},
        {"type": "ref/resource", "uri": "notes://{name}"},
    ):
        argument = {"name": "level" if "name" in ref else "name", "value": "t"}
        assert host.ask("completion/complete", ref=ref, argument=argument)["result"]["completion"][
            "values"
        ]
    assert host.ask("resources/read", uri="notes://a/b")["error"]["code"] in (-32002, -32602)
    page = host.ask("tools/list")["result"]
    while "nextCursor" in page:
        page = host.ask("tools/list", cursor=page["nextCursor"])["result"]
    for name in ("data", "nothing", "blocks", "steps"):
        assert host.ask("tools/call", name=name)["result"]["isError"] is False
    for name, arguments in (("fail", {}), ("add", {"a": "two"})):
        assert host.ask("tools/call", name=name, arguments=arguments)["result"]["isError"] is True
    assert host.ask("tools/call", name="ad")["error"]["code"] == -32602
    host.call("steps", "p", _meta={"progressToken": "p"})
    assert [host.receive().get("method") for _ in range(4)] == ["notifications/progress"] * 3 + [
        None
    ]
    if host.is_modern:
        host.call("note", "n", _meta={META_LOG_LEVEL: "notice"})
    else:
        host.ask("logging/setLevel", level="notice")
        host.call("note", "n")
    assert [host.receive().get("method") for _ in range(2)] == ["notifications/message", None]
    _begin_to_wait(host, folder / "waits")
    host.send(method="notifications/cancelled", params={"requestId": "w", "reason": "enough"})
    assert host.ask("tools/call", name="add", arguments={"a": 1})["result"][
        "structuredContent"
    ] == {"result": 2}


def _begin_to_wait(host: Host, path: Path) -> None:
    host.call("wait", "w", {"path": str(path)})
    wait_until(path.exists)


FORM = {"count": 2, "size": "large"}


@pytest.mark.process
@pytest.mark.parametrize("revision", LEGACY_VERSIONS)
def test_a_revision_with_a_handshake_is_spoken_as_its_schemas_say(
    tmp_path: Path, revision: str
) -> None:
    asks = revision >= "2025-06-18"
    with hosted(tmp_path, revision) as host:
        capabilities = CAN_ASK if asks else {}
        host.ask("initialize", protocolVersion=revision, capabilities=capabilities, clientInfo=INFO)
        host.send(method="notifications/initialized")
        host.ask("ping")
        use_everything(host, tmp_path)
        if asks:
            question = _asked(host, "o1")
            host.send(id=question["id"], result={"action": "accept", "content": FORM})
            assert host.receive()["result"]["structuredContent"]["size"] == "large"
            question = _asked(host, "o2")
            host.send(id=question["id"], error={"code": -32603, "message": "no window"})
            assert host.receive()["result"]["isError"] is True
            question = _asked(host, "o3")
            host.send(method="notifications/cancelled", params={"requestId": "o3"})
            assert host.receive()["params"] == {"requestId": question["id"]}
        if revision == "2025-11-25":
            _use_tasks_of_the_core(host)
        host.call("learn", "l")
        assert {host.receive().get("method") for _ in range(2)} == {
            "notifications/tools/list_changed",
            None,
        }
        assert host.unseen() == set()


def _use_tasks_of_the_core(host: Host) -> None:
    host.call("work", "t1", task={"ttl": 60_000})
    task = host.until("t1")["result"]["task"]["taskId"]
    question = host.receive()
    while question["method"] != "elicitation/create":
        question = host.receive()
    host.send(id=question["id"], result={"action": "accept", "content": {"answer": True}})
    host.send(id="t2", method="tasks/result", params={"taskId": task})
    assert host.until("t2")["result"]["structuredContent"] == {"result": True}
    host.send(id="t3", method="tasks/get", params={"taskId": task})
    assert host.until("t3")["result"]["status"] == "completed"
    host.call("work", "t4", task={})
    other = host.until("t4")["result"]["task"]["taskId"]
    host.send(id="t5", method="tasks/cancel", params={"taskId": other})
    assert host.until("t5")["result"]["status"] == "cancelled"
    host.send(id="t6", method="tasks/list", params={})
    assert len(host.until("t6")["result"]["tasks"]) == 2
    host.ask("ping")


def _use_tasks_of_the_extension(host: Host) -> None:
    task = host.ask("tools/call", name="work")["result"]["taskId"]
    asked: dict[str, Any] = {}
    while not asked:
        asked = host.ask("tasks/get", taskId=task)["result"].get("inputRequests", {})
    host.send(
        id="tasks", method="subscriptions/listen", params={"notifications": {"taskIds": [task]}}
    )
    assert host.receive()["method"] == "notifications/subscriptions/acknowledged"
    assert host.receive()["method"] == "notifications/tasks"
    reply = {"action": "accept", "content": {"answer": True}}
    host.send(
        id="update",
        method="tasks/update",
        params={"taskId": task, "inputResponses": dict.fromkeys(asked, reply)},
    )
    host.until("update")
    host.send(method="notifications/cancelled", params={"requestId": "tasks"})
    host.call("work", "again")
    other = host.until("again")["result"]["taskId"]
    host.send(id="cancel", method="tasks/cancel", params={"taskId": other})
    host.until("cancel")


def _asked(host: Host, id: str) -> Any:
    host.call("order", id)
    return host.receive()


@pytest.mark.process
def test_the_revision_without_a_handshake_is_spoken_as_its_schemas_say(tmp_path: Path) -> None:
    with hosted(tmp_path, MODERN_VERSIONS[-1]) as host:
        host.ask("server/discover")
        use_everything(host, tmp_path)
        question = host.ask("tools/call", name="order")["result"]
        reply = {"inputResponses": {"answer": {"action": "accept", "content": FORM}}}
        answer = host.ask(
            "tools/call", name="order", requestState=question["requestState"], **reply
        )
        assert answer["result"]["structuredContent"]["count"] == 2
        _use_tasks_of_the_extension(host)
        host.send(
            id="listen",
            method="subscriptions/listen",
            params={"notifications": {"toolsListChanged": True}},
        )
        assert host.receive()["method"] == "notifications/subscriptions/acknowledged"
        host.call("learn", "l")
        assert {host.receive().get("method") for _ in range(2)} == {
            "notifications/tools/list_changed",
            None,
        }
        host.process.popen.stdin.close()  # type: ignore[union-attr]
        assert host.receive()["id"] == "listen"
        assert host.unseen() == set()


@pytest.mark.process
def test_plain_json_rpc_is_spoken_as_its_schemas_say(tmp_path: Path) -> None:
    with hosted(tmp_path, "plain") as host:
        host.ask("ping")
        use_everything(host, tmp_path)
        _begin_to_wait(host, tmp_path / "editor")
        host.send(method="$/cancelRequest", params={"id": "w"})
        assert host.receive()["error"]["code"] == -32800
        assert host.unseen() == set()


@pytest.mark.process
def test_a_batch_and_its_answer_are_as_the_schemas_say(tmp_path: Path) -> None:
    sent = [
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "add", "arguments": {"a": 1}},
        },
        {"jsonrpc": "2.0", "id": 3, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}},
    ]
    with hosted(tmp_path, "plain") as host:
        answer = host.process.ask(sent)
        assert {one["id"] for one in answer} == {1, 2, 3}
        for name, message in (("client", sent), ("server", answer)):
            _check(f"messages-plain#/$defs/{name}-batch", message)
            _check(f"messages-2025-03-26#/$defs/{name}-batch", message)
            _check("jsonrpc-batch", message)


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25"])
def test_a_question_says_its_mode_only_to_those_who_know_it(revision: str) -> None:
    asked = {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}}
    question = _request(method="elicitation/create", params=asked)
    judge = load_validator(f"messages-{revision}")
    assert judge.is_valid(question)
    question["params"] = {**asked, "mode": "form"}
    assert judge.is_valid(question) == (revision >= "2025-11-25")


def _request(**members: Any) -> Any:
    return {"jsonrpc": "2.0", "id": 1, "method": "ping", **members}


WRONG = {
    "no JSON": (b"{\n", -32700),
    "no request": ([], -32600),
    "an id that is none": (_request(id=1.5), -32600),
    "params by position": (_request(method="tools/call", params=["add"]), -32602),
    "an unknown method": (_request(method="pong"), -32601),
    "a call without a name": (_request(method="tools/call", params={}), -32602),
    "an unknown cursor": (_request(method="tools/list", params={"cursor": "x"}), -32602),
    "an unknown revision": (
        _request(method="server/discover", params={"_meta": {META_VERSION: "2031-01-01"}}),
        -32022,
    ),
    "a revision and nothing else": (
        _request(method="server/discover", params={"_meta": {META_VERSION: "2026-07-28"}}),
        -32602,
    ),
}


@pytest.mark.process
def test_an_error_is_as_the_schemas_say_whatever_was_wrong(tmp_path: Path) -> None:
    with hosted(tmp_path, "plain") as host:
        for message, code in WRONG.values():
            answer = host.process.ask(message)
            assert answer["error"]["code"] == code
            for name in (
                "jsonrpc-error",
                *(f"messages-{version}" for version in (*LEGACY_VERSIONS, *MODERN_VERSIONS)),
            ):
                _check(name, answer)
