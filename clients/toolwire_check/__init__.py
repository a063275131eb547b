"""Does a tool server keep the contract? `check` starts any, plays cases with it, and reports."""

from __future__ import annotations

from .baseline import BadBaseline, Gap
from .check import check
from .facts.check_settings import CheckSettings
from .facts.server_facts import Facts, UnknownTool
from .fuzz import Fuzzing, MissingHypothesis
from .pytest_support.cases import ContractWarning, contract_cases
from .pytest_support.snapshots import SnapshotMismatch, assert_tools_unchanged
from .report import Report, Verdict

__all__ = [
    "BadBaseline",
    "CheckSettings",
    "ContractWarning",
    "Facts",
    "Fuzzing",
    "Gap",
    "MissingHypothesis",
    "Report",
    "SnapshotMismatch",
    "UnknownTool",
    "Verdict",
    "assert_tools_unchanged",
    "check",
    "contract_cases",
]
