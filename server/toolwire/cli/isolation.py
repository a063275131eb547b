"""The tools of a command line that run in processes of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..settings import Settings
from ..workers.isolated_tool import isolate_loaded

if TYPE_CHECKING:
    from collections.abc import Iterable

    from toolwire_tools import Tool


def isolate(
    tools: list[Tool], loading: dict[str, Any], settings: dict[str, Any], *, reloads: bool
) -> list[Tool]:
    """Return *tools*, of which some run in processes that load them as *loading* says."""
    sources: Iterable[str] = ()
    if reloads:
        from ..loading.user_modules import find_sources

        sources = find_sources()
    return isolate_loaded(tools, loading, Settings(**settings), sources)
