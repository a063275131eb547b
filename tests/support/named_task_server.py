"""A server whose tools are tasks of different kinds: `python named_task_server.py [legacy]
[listed]`. `work` completes, `ask` asks first, `fail` fails with an error, `stop` is cancelled by
the server, `endless` never ends, `quick` is no task. If *listed*, the list says which of them run
only as tasks.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.task_server import LEGACY, MODERN, TEXT, TaskServer, asking, completed, working

BROKEN = {"status": "failed", "error": {"code": -32603, "message": "burnt"}}
STATES = {
    "work": [working("half"), completed()],
    "ask": [asking("a"), asking("a"), completed()],
    "fail": [working(), BROKEN],
    "stop": [working(), {"status": "cancelled"}],
    "endless": [working()],
}


class NamedTaskServer(TaskServer):
    def discover(self, request: dict[str, Any]) -> None:
        if "listed" in sys.argv:  # as a real server of MCP 2025-11-25
            self.refuse_method(request)
        else:
            super().discover(request)

    def list_tools(self, request: dict[str, Any]) -> None:
        tools: list[dict[str, Any]] = []
        for name in (*STATES, "quick"):
            tool: dict[str, Any] = {"name": name, "inputSchema": {"type": "object"}}
            if "listed" in sys.argv and name != "quick":
                tool["execution"] = {"taskSupport": "required"}
            tools.append(tool)
        self.answer(request, tools=tools)

    def call(self, request: dict[str, Any]) -> None:
        name = request["params"]["name"]
        if name == "quick":
            self.answer(request, **TEXT)
        elif self.version == LEGACY and "task" not in request["params"]:
            self.refuse(request, -32601, "runs only as a task")
        else:
            self.states = list(STATES[name])
            super().call(request)


def main() -> None:
    server = NamedTaskServer(version=LEGACY if "legacy" in sys.argv else MODERN)
    server.open_session(lambda data: (sys.stdout.buffer.write(data), sys.stdout.flush()))
    for line in sys.stdin.buffer:
        server.feed(line)


if __name__ == "__main__":
    main()
