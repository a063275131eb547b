"""A server whose tools are tasks of different kinds: `python named_task_server.py [legacy]`. `work`
completes, `ask` asks first, `fail` fails with an error, `endless` never ends, `quick` is no task.
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
    "endless": [working()],
}


class NamedTaskServer(TaskServer):
    def list_tools(self, request: dict[str, Any]) -> None:
        tools = [{"name": name, "inputSchema": {"type": "object"}} for name in (*STATES, "quick")]
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
