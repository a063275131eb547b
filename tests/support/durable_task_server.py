"""A server whose tasks outlive it: `python durable_task_server.py FILE` keeps the state of its one
task in FILE, and ends it with the second `tasks/get` of all processes.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.task_server import TEXT, TaskServer, completed, working

ID = "abcdef0123456789"


class DurableTaskServer(TaskServer):
    def __init__(self, file: Path) -> None:
        super().__init__(working())
        self.task_id = ID
        self._file = file

    def call(self, request: dict[str, Any]) -> None:
        if request["params"]["arguments"].get("quick"):
            self.answer(request, **TEXT)
            return
        self._file.write_text("working", encoding="utf-8")
        super().call(request)

    def get(self, request: dict[str, Any]) -> None:
        if request["params"]["taskId"] != ID or not self._file.exists():
            self.refuse(request, -32602, "there is no such task")
            return
        state = self._file.read_text(encoding="utf-8")
        following = {"working": "completed"}
        self._file.write_text(following.get(state, state), encoding="utf-8")
        states = {"working": working("half"), "completed": completed()}
        self.states = [states.get(state, {"status": state})]
        super().get(request)

    def cancel(self, request: dict[str, Any]) -> None:
        self._file.write_text("cancelled", encoding="utf-8")
        super().cancel(request)


def main() -> None:
    server = DurableTaskServer(Path(sys.argv[1]))
    server.open_session(lambda data: (sys.stdout.buffer.write(data), sys.stdout.flush()))
    for line in sys.stdin.buffer:
        server.feed(line)


if __name__ == "__main__":
    main()
