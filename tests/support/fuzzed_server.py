"""A server of two tools with one fault: `python fuzzed_server.py FAULT`. Everything else is
correct.

`count` is read-only and counts the letters of a short text; `wipe` does not say what it does.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import Any

TOOL: dict[str, Any] = {
    "name": "count",
    "annotations": {"readOnlyHint": True},
    "inputSchema": {
        "type": "object",
        "properties": {
            "text": {"type": "string", "maxLength": 40},
            "times": {"type": "integer", "minimum": 0},
        },
        "required": ["text"],
        "additionalProperties": False,
    },
    "outputSchema": {
        "type": "object",
        "properties": {"letters": {"type": "integer"}},
        "required": ["letters"],
    },
}
WIPE = {
    "name": "wipe",
    "inputSchema": {"type": "object", "properties": {"all": {"type": "boolean"}}},
}
FAULT = sys.argv[1]
calls = 0


def send(message: Any) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def result(given: dict[str, Any]) -> dict[str, Any]:
    letters = {"letters": len(given["text"]) * int(given.get("times", 1))}
    return {
        "content": [{"type": "text", "text": json.dumps(letters)}],
        "structuredContent": letters,
    }


def refusal(reason: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": reason}], "isError": True}


def what_is_wrong(given: dict[str, Any]) -> str:
    text, times = given.get("text"), given.get("times", 0)
    if not isinstance(text, str) or len(text) > 40:
        return "text must be a string of 40 letters at most"
    if (
        isinstance(times, bool)
        or not isinstance(times, int | float)
        or times < 0
        or times != int(times)
    ):
        return "times must be a whole number, 0 or more"
    return "" if set(given) <= {"text", "times"} else "there is something else than text and times"


# The faults. Each is given the arguments and what is wrong with them, and returns a result unless
# it is the usual one.


def crashes(given: dict[str, Any], _: str) -> Any:
    if not str(given.get("text")).isascii():
        sys.stderr.write("UnicodeEncodeError: out of range\n")
        sys.stderr.flush()
        os._exit(3)


def hangs(given: dict[str, Any], _: str) -> Any:
    if given.get("times") == 0:
        threading.Event().wait()


def prints(given: dict[str, Any], _: str) -> Any:
    if given.get("text") == "":
        print("warning: nothing to count", flush=True)


def has_another_type(given: dict[str, Any], wrong: str) -> Any:
    if not wrong and len(given["text"]) > 3:
        return {"content": [], "structuredContent": {"letters": str(len(given["text"]))}}
    return None


def has_no_structure(_: dict[str, Any], wrong: str) -> Any:
    return None if wrong else {"content": []}


def accepts_everything(_: dict[str, Any], wrong: str) -> Any:
    return {"content": [], "structuredContent": {"letters": 1}} if wrong else None


def accepts_and_crashes(given: dict[str, Any], wrong: str) -> Any:
    if not isinstance(given.get("text", ""), str | int):
        os._exit(3)
    return accepts_everything(given, wrong)


def converts(given: dict[str, Any], wrong: str) -> Any:
    """Converts like servers with lax types: "1.5" is accepted for 1."""
    return (
        accepts_everything(given, wrong)
        if set(given) == {"text", "times"} and given["times"] == "1.5"
        else None
    )


def reads(given: dict[str, Any], wrong: str) -> Any:
    """Converts what models send: "5" is 5, and null means absent."""
    times = given.get("times", 0)
    if isinstance(times, str) and times.isdigit() and str(int(times)) == times:
        given = {**given, "times": int(times)}
    elif times is None:
        given = {name: value for name, value in given.items() if name != "times"}
    return accepts_everything(given, wrong) if wrong and not what_is_wrong(given) else None


def takes_unknown_arguments(given: dict[str, Any], wrong: str) -> Any:
    return result(given) if wrong.startswith("there is something else") else None


def gives_no_reason(_: dict[str, Any], wrong: str) -> Any:
    return {"content": [], "isError": True} if wrong else None


def fails_now_and_then(_: dict[str, Any], wrong: str) -> Any:
    return None if wrong or calls != 4 else {"content": []}


def main() -> None:
    global calls
    for line in sys.stdin:
        message = json.loads(line)
        method, identity, params = (
            message.get("method"),
            message.get("id"),
            message.get("params", {}),
        )
        if identity is None:
            continue
        match method:
            case "initialize":
                info = {"name": "fuzzed", "version": "1"}
                made: Any = {
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": {},
                    "serverInfo": info,
                }
            case "tools/list":
                made = {"tools": [TOOL, WIPE]}
            case "ping":
                made = {}
            case "tools/call":
                calls += 1
                given = params["arguments"]
                wrong = what_is_wrong(given)
                if FAULT == "has an internal error" and wrong:
                    send({"id": identity, "error": {"code": -32603, "message": wrong}})
                    continue
                made = FAULTS.get(FAULT, usual)(given, wrong) or (
                    refusal(wrong) if wrong else result(given)
                )
                if FAULT == "answers twice" and len(given) == 2:
                    send({"id": identity, "result": made})
            case _:
                send({"id": identity, "error": {"code": -32601, "message": "no such method"}})
                continue
        send({"id": identity, "result": made})
        if FAULT == "dies afterwards" and method == "tools/call" and wrong:
            os._exit(0)


def usual(_: dict[str, Any], __: str) -> Any:
    return None


FAULTS = {
    fault.__name__.replace("_", " "): fault
    for fault in (
        *(
            crashes,
            hangs,
            prints,
            has_another_type,
            has_no_structure,
            accepts_everything,
            converts,
            reads,
            gives_no_reason,
        ),
        *(accepts_and_crashes, fails_now_and_then, takes_unknown_arguments),
    )
}

if __name__ == "__main__":
    main()
