"""Does a tool server keep the contract? `check` starts any, plays cases with it, and reports."""

from __future__ import annotations

from .baseline import BadBaseline, Gap
from .check import check
from .facts import Facts, Settings
from .report import Report, Verdict

__all__ = ["BadBaseline", "Facts", "Gap", "Report", "Settings", "Verdict", "check"]
