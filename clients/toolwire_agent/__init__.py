"""An agent: answers questions with a language model and the tools of any servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import toolwire_schemas

if TYPE_CHECKING:
    from .agent import Agent as Agent
    from .agent import AgentSession as AgentSession
    from .agent import Allow as Allow
    from .agent import ApprovalRequest as ApprovalRequest
    from .agent import Approvals as Approvals
    from .agent import Budgets as Budgets
    from .agent import Outcome as Outcome
    from .agent import Pause as Pause
    from .agent import Refuse as Refuse
    from .toolbox import AsyncToolbox as AsyncToolbox
    from .toolbox import Toolbox as Toolbox
    from .toolbox import ToolOrigin as ToolOrigin

_MODULES = toolwire_schemas.map_names_to_modules(
    {
        ".agent": "Agent Allow ApprovalRequest Approvals Budgets Outcome Pause Refuse AgentSession",
        ".toolbox": "AsyncToolbox ToolOrigin Toolbox",
    }
)
__all__ = sorted(_MODULES)
__getattr__ = toolwire_schemas.make_importer(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
