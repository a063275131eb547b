"""The steps of an agent, with their status, for systems that have no such objects of their own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from toolwire_schemas.did_you_mean import explain_unknown_name

if TYPE_CHECKING:
    from collections.abc import Iterable

Status = Literal["init", "running", "finished", "failed"]

FOLLOWING = {"init": ("running",), "running": ("finished", "failed"), "finished": (), "failed": ()}
"""Each status of a step, and what it can become."""


class StepError(LookupError):
    """A step, or the state of its agent, that lacks what an executor needs; or a status that the
    step cannot have.
    """


class StepState(msgspec.Struct):
    """One step: its purpose, instruction, status and result.

    *text_content* is the step in words; *instruction_content* is the instruction for the tool, as a
    model wrote it. Some systems return lists of steps where others return a step, so this one is
    also its own first item.
    """

    task_id: str
    stage_id: str
    agent_id: str
    step_intention: str = ""
    type: Literal["tool", "skill"] = "tool"
    executor: str = ""
    execution_state: Status = "init"
    text_content: Any = None
    instruction_content: Any = None
    execute_result: Any = None
    step_id: str = msgspec.field(default_factory=lambda: os.urandom(8).hex())

    def __post_init__(self) -> None:
        if self.execution_state not in FOLLOWING:
            raise StepError(explain_unknown_name("status", self.execution_state, FOLLOWING))

    def __getitem__(self, index: int) -> StepState:
        if index not in (0, -1):
            raise IndexError(f"there is only one step; the index {index} is out of range")
        return self

    def update_execution_state(self, status: str) -> None:
        """Set the status. To set the same again changes nothing.

        Raises:
            StepError: if there is no such status, or it cannot follow the present one.
        """
        if status not in FOLLOWING:
            raise StepError(explain_unknown_name("status", status, FOLLOWING))
        following = FOLLOWING[self.execution_state]
        if status != self.execution_state and status not in following:
            remedy = "add a new step to do it again"
            if following:
                remedy = f"it can become {' or '.join(following)}"
            state = f"step {self.step_id} is {self.execution_state}"
            raise StepError(f"{state} and cannot become {status}; {remedy}")
        self.execution_state = status  # type: ignore[assignment]

    def update_instruction_content(self, instruction: Any) -> None:
        """Set the instruction for the tool."""
        self.instruction_content = instruction

    def update_execute_result(self, result: Any) -> None:
        """Set the result."""
        self.execute_result = result


class AgentStep:
    """The steps of one agent, in their order."""

    def __init__(self, agent_id: str, steps: Iterable[StepState] = ()) -> None:
        self.agent_id = agent_id
        self.step_list: list[StepState] = list(steps)

    def __repr__(self) -> str:
        return f"<AgentStep of {self.agent_id}, {len(self.step_list)} steps>"

    @property
    def todo_list(self) -> list[StepState]:
        """The steps that have not started."""
        return [step for step in self.step_list if step.execution_state == "init"]

    def add_step(self, step: StepState) -> str:
        """Add *step* after the others, and return its id."""
        self.step_list.append(step)
        return step.step_id

    def get_step(self, step_id: str) -> StepState:
        """Return the step with this id.

        Raises:
            StepError: if there is no such step.
        """
        for step in self.step_list:
            if step.step_id == step_id:
                return step
        known = [step.step_id for step in self.step_list]
        raise StepError(explain_unknown_name("step", step_id, known))

    def update_step_status(self, step_id: str, status: str) -> None:
        """Set the status of the step with this id; raises what `StepState.update_execution_state`
        does.
        """
        self.get_step(step_id).update_execution_state(status)
