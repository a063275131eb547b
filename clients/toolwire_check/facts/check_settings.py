"""The settings of a check: what it may call, and what it tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from toolwire_schemas.cases import Framing


class CheckSettings(msgspec.Struct, frozen=True):
    """How to probe a server.

    *calls* are arguments for tools that may be called whatever their annotations; `None` generates
    simple ones.
    """

    start_seconds: float = 20.0
    calls: Mapping[str, dict[str, Any] | None] = {}
    any_tool: bool = False
    eras: Sequence[str] = ("legacy", "modern")
    framings: Sequence[Framing] = ("lines", "headers")

    def allows_call(self, tool: dict[str, Any]) -> bool:
        """Whether a check may call *tool*: it is read-only, or the settings allow it."""
        if self.any_tool or tool["name"] in self.calls:
            return True
        annotations = tool.get("annotations")
        return isinstance(annotations, dict) and annotations.get("readOnlyHint") is True
