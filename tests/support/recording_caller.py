"""The caller of a tool, which records progress and log in memory."""

from __future__ import annotations

from typing import Any


class RecordingCaller:
    """Keeps what a tool says. It counts as cancelled once *patience* progress reports have come."""

    def __init__(self, patience: int | None = None) -> None:
        self.state: Any = None
        self.session_id = "recorded"
        self.session_state: dict[str, Any] = {}
        self.told: list[tuple[float, float | None, str | None]] = []
        self.logged: list[tuple[str, str, dict[str, Any]]] = []
        self.changed: list[str] = []
        self.patience = patience
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.answers: list[dict[str, Any] | Exception] = []
        """The user's answers, in the order of the questions."""

    @property
    def cancelled(self) -> bool:
        return self.patience is not None and len(self.told) >= self.patience

    def progress(self, done: float, total: float | None, message: str | None) -> None:
        self.told.append((done, total, message))

    def status(self, message: str) -> None:
        self.told.append((0.0, None, message))

    def resource_changed(self, uri: str) -> None:
        self.changed.append(uri)

    def log(self, level: str, message: str, fields: dict[str, Any], logger: str | None) -> None:
        self.logged.append((level, message, fields))

    def ask(self, message: str, schema: dict[str, Any], key: str = "answer") -> dict[str, Any]:
        self.asked.append((message, schema))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def ask_async(
        self, message: str, schema: dict[str, Any], key: str = "answer"
    ) -> dict[str, Any]:
        return self.ask(message, schema)
