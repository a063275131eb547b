"""Files written for jsonrpcserver: their methods are served as the library dispatches them."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonrpcserver import async_dispatch_to_serializable, dispatch_to_serializable
from support.server_process import request, served
from toolwire import Server
from toolwire.loading.targets import load

SOURCE = '''
import asyncio, threading
from jsonrpcserver import Error, InvalidParams, Result, Success, method, serve

@method
def greet(name: str, greeting: str = "Hello") -> Result:
    return Success(f"{greeting}, {name}")

@method(name="math.add")
def add(*numbers) -> Result:
    return Success(sum(numbers))

@method
def nothing() -> Result:
    return Success()

@method
def refuse(reason) -> Result:
    return Error(7, "refused", {"reason": reason})

@method
def odd() -> Result:
    return InvalidParams("never right")

@method
def fail() -> Result:
    raise ValueError("a secret")

@method
def wrong():
    return 3

@method
async def later(value=None) -> Result:
    await asyncio.sleep(0)
    return Success(value)

@method
def wait() -> Result:
    print("waits", flush=True)
    threading.Event().wait()
    return Success()

@method
async def wait_there() -> Result:
    print("waits", flush=True)
    await asyncio.Event().wait()
    return Success()

@method
def large(size: int) -> Result:
    return Success("x" * size)

def shout(text: str) -> str:
    """Shout."""
    return text.upper()

if __name__ == "__main__":
    serve()
'''


@pytest.fixture
def methods(tmp_path: Path) -> dict[str, Callable[..., Any]]:
    """The functions that the library would dispatch to."""
    return {tool.name: tool.entry.function for tool in loaded(tmp_path) if tool.kind == "methods"}


def loaded(folder: Path, source: str = SOURCE) -> list[Any]:
    file = folder / "methods.py"
    file.write_text(source, "utf-8")
    return load([str(file)])


def ask(tools: list[Any], message: Any, **settings: Any) -> Any:
    """Return what a server of *tools* answers to one message."""
    written: list[bytes] = []
    session = Server(tools, **settings).open_session(written.append)
    session.feed(json.dumps(message).encode() + b"\n")
    session.end()
    return json.loads(b"".join(written)) if written else None


REQUESTS = [
    ("greet", ["Ada"]),
    ("greet", {"name": "Ada", "greeting": "Hi"}),
    ("greet", {"greeting": "Hi"}),
    ("greet", []),
    ("greet", None),
    ("math.add", [1, 2, 3]),
    ("math.add", {}),
    ("nothing", None),
    ("nothing", [1]),
    ("refuse", ["because"]),
    ("odd", None),
    ("fail", None),
    ("wrong", None),
]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize(("method", "params"), REQUESTS)
def test_the_response_is_that_of_the_library(
    method: str, params: Any, tmp_path: Path, methods: dict[str, Callable[..., Any]]
) -> None:
    message = request(method, params)

    expected = dispatch_to_serializable(json.dumps(message), methods=methods)

    assert ask(loaded(tmp_path), message) == expected


@pytest.mark.parametrize("params", [["here"], {"value": None}, {"other": 1}])
def test_async_methods_run_on_the_event_loop(
    params: Any, tmp_path: Path, methods: dict[str, Callable[..., Any]]
) -> None:
    message = request("later", params)

    dispatched = async_dispatch_to_serializable(json.dumps(message), methods=methods)
    expected = asyncio.run(dispatched)

    assert ask(loaded(tmp_path), message) == expected


def test_methods_are_no_tools_and_other_functions_are(tmp_path: Path) -> None:
    tools = loaded(tmp_path)

    listed = ask(tools, request("tools/list"))["result"]["tools"]
    assert [tool["name"] for tool in listed] == ["shout"]
    called = ask(tools, request("tools/call", {"name": "shout", "arguments": {"text": "hi"}}))
    assert called["result"]["content"] == [{"type": "text", "text": "HI"}]


def test_methods_may_be_all_that_a_file_has(tmp_path: Path) -> None:
    source = "from jsonrpcserver import Success, method\n@method\ndef ping2(): return Success(1)\n"

    assert [tool.kind for tool in loaded(tmp_path, source)] == ["methods"]


def test_members_of_a_batch_may_be_methods_with_arrays_and_notifications(tmp_path: Path) -> None:
    first, second = request("math.add", [1, 2], id="a"), request("greet", ["Ada"], id="b")
    silent = {"jsonrpc": "2.0", "method": "fail"}

    answered = ask(loaded(tmp_path), [first, silent, second])

    assert {each["id"]: each["result"] for each in answered} == {"a": 3, "b": "Hello, Ada"}


def test_method_with_a_name_of_mcp_is_left_out_with_a_warning(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    tools = loaded(tmp_path, "\n".join((SOURCE, "@method", "def ping(): return Success('pong')")))

    assert "ping" not in [tool.name for tool in tools]
    assert "ping is not served: Toolwire answers this method of MCP" in capfd.readouterr().err


def test_a_notification_of_a_method_gets_no_answer(tmp_path: Path) -> None:
    silent = {"jsonrpc": "2.0", "method": "greet", "params": ["Ada"]}

    assert ask(loaded(tmp_path), silent) is None


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_masked_errors_hide_the_text_of_an_exception(tmp_path: Path) -> None:
    answered = ask(loaded(tmp_path), request("fail"), mask_errors=True)

    assert answered["error"] == {"code": -32603, "message": "Internal error"}


def test_a_result_beyond_the_limit_is_an_error(tmp_path: Path) -> None:
    tools = loaded(tmp_path)

    fits = ask(tools, request("large", [500]), max_result_bytes=2000)
    too_large = ask(tools, request("large", [5000]), max_result_bytes=2000)

    assert fits["result"] == "x" * 500
    assert too_large["error"]["code"] == -32603


def test_methods_of_an_imported_module_are_served_once(tmp_path: Path) -> None:
    (tmp_path / "handlers_of_test.py").write_text(
        "from jsonrpcserver import Success, method\n@method\ndef far(): return Success(1)\n",
        "utf-8",
    )
    source = "import handlers_of_test\n"

    assert [tool.name for tool in loaded(tmp_path, source)] == ["far"]


def test_a_method_that_is_gone_after_a_reload_is_served_no_more(tmp_path: Path) -> None:
    head = "from jsonrpcserver import Success, method\n"
    before = head + "@method\ndef old(): return Success(1)\n"
    after = head + "@method\ndef another(): return Success(1)\n"

    assert [tool.name for tool in loaded(tmp_path, before)] == ["old"]
    for name, module in list(sys.modules.items()):
        if getattr(module, "__file__", None) == str(tmp_path / "methods.py"):
            del sys.modules[name]
    assert [tool.name for tool in loaded(tmp_path, after)] == ["another"]


@pytest.mark.process
@pytest.mark.parametrize("method", ["wait", "wait_there"])
def test_a_method_is_cancelled_and_has_a_time_limit(method: str, tmp_path: Path) -> None:
    with served(tmp_path, SOURCE, "--timeout", "0.3") as process:
        answered = process.ask(request(method, id=1))
        process.send(request(method, id=2))
        process.send({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": 2}})
        cancelled = process.receive()
        process.hang_up()

    assert answered["error"]["message"] == f"{method} did not finish within 0.3 seconds."
    assert cancelled["error"]["code"] == -32800


@pytest.mark.process
def test_methods_are_served_with_headers_too(tmp_path: Path) -> None:
    with served(tmp_path, SOURCE) as process:
        body = json.dumps(request("math.add", [1, 2])).encode()
        process.send(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        assert process.popen.stdout is not None
        head = process.popen.stdout.readline()
        assert process.popen.stdout.readline() == b"\r\n"
        answered = json.loads(process.popen.stdout.read(int(head.split()[1])))

    assert answered["result"] == 3
