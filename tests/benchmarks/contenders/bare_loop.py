"""The floor for a server in Python: one thread, one loop, no checks. Runs where only orjson is
installed.
"""

import sys

import orjson

TOOLS = [
    {
        "name": "add",
        "description": "Add two whole numbers.",
        "inputSchema": {
            "type": "object",
            "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "required": ["a", "b"],
        },
    }
]

for line in sys.stdin.buffer:
    q = orjson.loads(line)
    method = q["method"]
    if method == "tools/call":
        arguments = q["params"]["arguments"]
        total = arguments["a"] + arguments["b"]
        result = {
            "content": [{"type": "text", "text": str(total)}],
            "structuredContent": {"result": total},
            "isError": False,
        }
    elif method == "tools/list":
        result = {"tools": TOOLS}
    elif method == "initialize":
        result = {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "bare", "version": "0"},
        }
    else:
        continue
    sys.stdout.buffer.write(
        orjson.dumps({"jsonrpc": "2.0", "id": q["id"], "result": result}) + b"\n"
    )
    sys.stdout.buffer.flush()
