"""A server with one fault: `python faulty_server.py FAULT STEP`. It answers everything before that
step correctly.

A step is a request (`server/discover`, `initialize`, `tools/list`, `tools/call`) or `end`, the end
of its input. Each process writes its id to the file `$PIDS`, and creates `$MARK` when it reaches
its fault.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from typing import Any


def note(variable: str, pid: int) -> None:
    with open(os.environ[variable], "a", encoding="utf-8") as file:
        file.write(f"{pid}\n")


def send(message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


RESULTS: dict[str, Any] = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "serverInfo": {"name": "f", "version": "1"},
    },
    "tools/list": {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]},
    "tools/call": {"content": [{"type": "text", "text": "done"}]},
    "ping": {},
}


def answer(message: dict[str, Any]) -> None:
    if message["method"] in RESULTS:
        send({"id": message["id"], "result": RESULTS[message["method"]]})
    elif "id" in message:
        send({"id": message["id"], "error": {"code": -32601, "message": "no such method"}})


# The faults. They return whether the server still answers the request.


def dies() -> bool:
    sys.stderr.write("out of ideas\n")
    sys.stderr.flush()
    os._exit(7)


def crashes() -> bool:
    os.kill(os.getpid(), signal.SIGKILL)
    return False


def hangs() -> bool:
    threading.Event().wait()
    return False


def is_silent() -> bool:
    return False


def talks_rubbish() -> bool:
    print("Segmentation fault? No, just kidding.", flush=True)
    return False


def floods() -> bool:
    for _ in range(20_000):
        sys.stdout.write("x" * 200 + "\n")
    return True


def goes_on_and_on() -> bool:
    """One line of ten megabytes."""
    for _ in range(100):
        sys.stdout.write("x" * 100_000)
    sys.stdout.write("\n")
    return True


def says_what_it_should_not() -> bool:
    send({"id": None, "error": {"code": -32700, "message": "?"}})
    send({"id": 10**9, "result": {}})
    send({"method": "notifications/cancelled", "params": {"requestId": 1}})
    send({"method": "notifications/progress", "params": {"progressToken": 10**9, "progress": 1}})
    return True


def closes_its_output() -> bool:
    os.close(1)
    threading.Event().wait()
    return False


def leaves_a_child_and_dies() -> bool:
    """The child holds all of the server's pipes open."""
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    note("PIDS", child.pid)
    os._exit(7)


def ignores_everything() -> bool:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    threading.Event().wait()
    return False


if __name__ == "__main__":
    fault, step = globals()[sys.argv[1]], sys.argv[2]
    note("PIDS", os.getpid())

    def goes_on(here: str) -> bool:
        if here != step:
            return True
        note("MARK", os.getpid())
        return bool(fault())

    for line in sys.stdin:
        message = json.loads(line)
        if goes_on(message.get("method", "")):
            answer(message)
    goes_on("end")
