"""Tools of several servers and of this process as one list."""

from __future__ import annotations

from .toolbox import AsyncToolbox, Origin, Toolbox

__all__ = ["AsyncToolbox", "Origin", "Toolbox"]
