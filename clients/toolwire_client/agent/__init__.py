"""The agent: it solves a question with a language model and tools, and tells what happens meanwhile."""

from __future__ import annotations

from .agent import Agent, Session
from .approvals import Allow, ApprovalRequest, Approvals, OnApproval, Pause, Refuse, Verdict
from .budgets import Budgets
from .events import Live, OnLive, Recorded, Status, TextArrived, ToolProgress
from .outcome import Outcome

__all__ = [
    "Agent",
    "Allow",
    "ApprovalRequest",
    "Approvals",
    "Budgets",
    "Live",
    "OnApproval",
    "OnLive",
    "Outcome",
    "Pause",
    "Recorded",
    "Refuse",
    "Session",
    "Status",
    "TextArrived",
    "ToolProgress",
    "Verdict",
]
