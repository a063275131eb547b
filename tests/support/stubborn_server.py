"""A minimal server with one fault of its process, which the first argument names."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

FAULT = sys.argv[1] if len(sys.argv) > 1 else ""


def answer(message: dict) -> dict:
    match message["method"]:
        case "initialize" if FAULT == "refuses":
            return None
        case "initialize":
            about = {"name": "stubborn", "version": "1"}
            return {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": about,
            }
        case "tools/list" if FAULT == "calls one after the other":
            return {
                "tools": [
                    {
                        "name": "a",
                        "inputSchema": {"type": "object"},
                        "annotations": {"readOnlyHint": True},
                    }
                ]
            }
        case "tools/call" if FAULT == "calls one after the other":
            time.sleep(0.15)
            return {"content": []}
        case "tools/list" if FAULT == "asks too much":
            schema = {"type": "object", "properties": {"key": False}, "required": ["key"]}
            return {
                "tools": [
                    {"name": "a", "inputSchema": schema, "annotations": {"readOnlyHint": True}}
                ]
            }
        case "tools/list":
            return {"tools": [{"name": "a", "inputSchema": {"type": "object"}}]}
        case "ping":
            return {}
    return None


def say(message: dict) -> None:
    print(json.dumps(message), flush=True)


def main() -> None:
    if FAULT == "hangs":
        print("listening on http://127.0.0.1:3000", file=sys.stderr, flush=True)
        time.sleep(600)
    elif FAULT == "dies":
        sys.exit("there is no key in the environment")
    elif FAULT == "floods":
        sys.stdin.readline()  # so that the request comes first in what was exchanged
        while True:
            os.write(1, b"y\n" * 10_000)
    elif FAULT == "stays":
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
    elif FAULT == "leaves":
        subprocess.Popen(
            ["sleep", sys.argv[2]],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
    served = 0
    has_seen_zero = is_cut_off = False
    for line in sys.stdin:
        try:
            message = json.loads(line)
        except ValueError:
            continue
        if not isinstance(message, dict) or "id" not in message or "method" not in message:
            continue
        if FAULT == "is late with zero" and message["id"] == 0:
            time.sleep(1.5)
        if FAULT == "is slow with everything":
            time.sleep(0.4)
        result = answer(message)
        if FAULT == "resents a zero" and has_seen_zero and str(message["id"]).startswith("ключ"):
            result = None
        has_seen_zero = has_seen_zero or message["id"] == 0
        if FAULT == "logs" and message["method"] == "tools/list":
            say(
                {
                    "jsonrpc": "2.0",
                    "method": "notifications/message",
                    "params": {"level": "info", "data": "x"},
                }
            )
        if is_cut_off := FAULT == "is cut off" and message["id"] == 11:
            break
        if FAULT == "is of an SDK" and message["method"] == "tools/call":
            error = {"code": -32602, "message": "Invalid request parameters", "data": ""}
            say({"jsonrpc": "2.0", "id": message["id"], "error": error})
        elif FAULT == "is of an SDK" and result is None:
            error = {"code": -32601, "message": "Method not found", "data": message["method"]}
            say({"jsonrpc": "2.0", "id": message["id"], "error": error})
        elif result is None:
            say({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}})
        else:
            say({"jsonrpc": "2.0", "id": message["id"], "result": result})
        served += 1
        if FAULT == "tires" and served == 4:
            time.sleep(600)
    if FAULT == "stays":
        time.sleep(600)
    elif is_cut_off:
        print('{"jsonrpc": "2.0", "id": 1', flush=True)


main()
