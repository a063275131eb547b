"""The bare loop once more, with the two tools of large texts in place of `add`."""

import sys

import orjson

for line in sys.stdin.buffer:
    q = orjson.loads(line)
    if q["method"] == "initialize":
        result = {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "bare", "version": "0"},
        }
    elif q["method"] == "tools/list":
        result = {"tools": []}
    elif q["method"] == "tools/call" and q["params"]["name"] == "measure":
        size = len(q["params"]["arguments"]["text"])
        result = {
            "content": [{"type": "text", "text": str(size)}],
            "structuredContent": {"result": size},
            "isError": False,
        }
    elif q["method"] == "tools/call":
        result = {
            "content": [{"type": "text", "text": "x" * q["params"]["arguments"]["size"]}],
            "isError": False,
        }
    else:
        continue
    sys.stdout.buffer.write(
        orjson.dumps({"jsonrpc": "2.0", "id": q["id"], "result": result}) + b"\n"
    )
    sys.stdout.buffer.flush()
