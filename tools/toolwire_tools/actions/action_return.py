"""What a call of an action comes to, in Lagent's terms."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from ..errors import ToolError


class ActionStatusCode(IntEnum):
    """How a call of an action went; the failures are negative."""

    ING = 1
    SUCCESS = 0
    HTTP_ERROR = -1000
    ARGS_ERROR = -1001
    API_ERROR = -1002


class ActionValidCode(IntEnum):
    """What a call means for the conversation: go on, stop, or tell the model that there is no such action."""

    FINISH = 1
    OPEN = 0
    CLOSED = -1
    INVALID = -2
    ABSENT = -3


@dataclass
class ActionReturn:
    """The outcome of one call of an action.

    *args* is what it was called with, *type* the name of the action. *result* is a list of
    `{"type": "text", "content": ...}`, with other types for images and the like, and None if the call failed; then
    *errmsg* says why.

    A tool that returns one is answered with content blocks, or with an error answer.
    """

    args: dict[str, Any] | None = None
    url: str | None = None
    type: str | None = None
    result: list[dict[str, Any]] | None = None
    errmsg: str | None = None
    state: ActionStatusCode | int = ActionStatusCode.SUCCESS
    thought: str | None = None
    valid: ActionValidCode | int | None = ActionValidCode.OPEN

    def format_result(self) -> str:
        """The texts of the result, a line for each, and `[image](plot.png)` for what is no text."""
        return "\n".join(str(content) if kind == "text" else f"[{kind}]({content})" for kind, content in self._items())

    @property
    def failure(self) -> str:
        """Why the call failed; empty if it did not."""
        if self.errmsg or (self.state or 0) >= ActionStatusCode.SUCCESS:
            return self.errmsg or ""
        return f"{self.type or 'The action'} failed with the code {int(self.state)}."

    def to_content(self) -> Any:
        """What a tool would return to say the same: text, pictures and files, or plain data.

        Raises:
            ToolError: if the call failed.
        """
        if self.failure:
            raise ToolError(self.failure)
        from .action_content import shown

        items = [shown(kind, content) for kind, content in self._items()]
        return items[0] if len(items) == 1 else items or ""

    def _items(self) -> list[tuple[str, Any]]:
        """The kind and content of each item; what is no item is a text or data."""
        found: Any = self.result or []
        if isinstance(found, dict) and "content" not in found:  # as before Lagent 0.2: {"text": ...}
            return [(str(kind), content) for kind, content in found.items()]
        return [
            (str(item.get("type", "text")), item["content"])
            if isinstance(item, dict) and "content" in item
            else ("text" if isinstance(item, str) else "data", item)
            for item in (found if isinstance(found, list | tuple) else [found])
        ]
