"""Tool libraries of multi-agent systems: executors of steps, instructions, configured tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

import toolwire_schemas

if TYPE_CHECKING:
    from .executor import Executor as Executor
    from .instructions import InstructionError as InstructionError
    from .instructions import available_skills_and_tools as available_skills_and_tools
    from .instructions import instruction_prompt as instruction_prompt
    from .instructions import parse_instruction as parse_instruction
    from .steps import AgentStep as AgentStep
    from .steps import StepError as StepError
    from .steps import StepState as StepState

_MODULES = toolwire_schemas.map_names_to_modules(
    {
        ".executor": "Executor",
        ".instructions": (
            "InstructionError available_skills_and_tools instruction_prompt parse_instruction"
        ),
        ".steps": "AgentStep StepError StepState",
    }
)
__all__ = sorted(_MODULES)
__getattr__ = toolwire_schemas.make_importer(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
