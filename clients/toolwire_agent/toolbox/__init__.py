"""Tools of several servers and of this process as one list."""

from __future__ import annotations

from .toolbox import AsyncToolbox, Toolbox, ToolOrigin

__all__ = ["AsyncToolbox", "ToolOrigin", "Toolbox"]
