"""An agent answers a question with a language model and tools, and reports what happens as
events.
"""

from __future__ import annotations

from .agent import Agent
from .agent_session import AgentSession, Clock
from .approvals import Allow, ApprovalRequest, Approvals, OnApproval, Pause, Refuse, Verdict
from .budgets import Budgets
from .events import (
    EventRecorded,
    Live,
    OnLive,
    Outcome,
    Recorded,
    Status,
    TextArrived,
    ToolProgress,
)
from .transcripts.replay import ReplayMissed
from .transcripts.transcript import BrokenTranscript, load
from .trimming import Trim, keep_last
from .user import OnUser

__all__ = [
    "Agent",
    "AgentSession",
    "Allow",
    "ApprovalRequest",
    "Approvals",
    "BrokenTranscript",
    "Budgets",
    "Clock",
    "EventRecorded",
    "Live",
    "OnApproval",
    "OnLive",
    "OnUser",
    "Outcome",
    "Pause",
    "Recorded",
    "Refuse",
    "ReplayMissed",
    "Status",
    "TextArrived",
    "ToolProgress",
    "Trim",
    "Verdict",
    "keep_last",
    "load",
]
