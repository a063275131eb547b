"""The far end of a call, in memory."""

from __future__ import annotations

from typing import Any


class RecordingCaller:
    """Keeps what a tool says. It counts as cancelled once *patience* progress reports have come."""

    def __init__(self, patience: int | None = None) -> None:
        self.told: list[tuple[float, float | None, str | None]] = []
        self.logged: list[tuple[str, str, dict[str, Any]]] = []
        self.patience = patience

    @property
    def cancelled(self) -> bool:
        return self.patience is not None and len(self.told) >= self.patience

    def progress(self, done: float, total: float | None, message: str | None) -> None:
        self.told.append((done, total, message))

    def log(self, level: str, message: str, fields: dict[str, Any]) -> None:
        self.logged.append((level, message, fields))
