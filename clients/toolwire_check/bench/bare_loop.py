"""The least that a server in Python can do: read a line, decode it, and write a kept result.

It is run as a script, with the path of a JSON file that has the result of each method.
"""

from __future__ import annotations

import sys

import orjson


def main(path: str) -> None:
    """Answer every request with the result that the file *path* has for its method."""
    with open(path, "rb") as file:
        results = orjson.loads(file.read())
    write, flush = sys.stdout.buffer.write, sys.stdout.buffer.flush
    for line in sys.stdin.buffer:
        message = orjson.loads(line)
        if "id" not in message:
            continue
        result = results[message["method"]]
        response = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        write(orjson.dumps(response) + b"\n")
        flush()


if __name__ == "__main__":
    main(sys.argv[1])
