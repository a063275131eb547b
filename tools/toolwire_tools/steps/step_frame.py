"""What is done around the work on a step: its status is kept, and the output completed, however the work ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .steps import FOLLOWING, StepError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

Output = dict[str, Any]

SYNC = ("update_stage_agent_state", "send_shared_message")
"""The members of an output by which a system keeps its shared state."""


class Frame:
    """One step being done. What is done within it may set `returned`; an exception ends the step, and stays in `error`.

    Raises:
        StepError: if the state of the agent, or the step, lacks something.
    """

    def __init__(self, name: str, step_id: str, agent_state: Mapping[str, Any]) -> None:
        for key in ("agent_step", "agent_id", "role"):
            if key not in agent_state:
                raise StepError(f"agent_state has no {key!r}, which every step needs")
        self.returned: Any = None
        self.error: Exception | None = None
        self.status = "running"
        self._name = name
        self._state = agent_state
        self._step_id = step_id
        step = step_of(agent_state["agent_step"], step_id)
        self._task_id, self._stage_id = _needed(step, "task_id"), _needed(step, "stage_id")

    def __enter__(self) -> Frame:
        self._state["agent_step"].update_step_status(self._step_id, "running")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> bool:
        if isinstance(error, Exception):
            self.error = error
        elif error is None and not isinstance(self.returned, dict | None):
            self.error = TypeError(f"execute returned a {type(self.returned).__name__}; it must be a dict, or None")
        self.status = self._ending() if error is None and self.error is None else "failed"
        if self._noted() != self.status:
            self._state["agent_step"].update_step_status(self._step_id, self.status)
        return error is self.error  # anything graver than an Exception, a cancellation for one, goes on

    def output(self) -> Output:
        """The `execute_output`: what was returned, and what the system needs to know."""
        given = self.returned if isinstance(self.returned, dict) else {}
        agent_id, role = self._state["agent_id"], self._state["role"]
        update = {"task_id": self._task_id, "stage_id": self._stage_id, "agent_id": agent_id, "state": self.status}
        content = f"执行{self._name}步骤:{self.status}，"
        message = {"agent_id": agent_id, "role": role, "stage_id": self._stage_id, "content": content}
        return {**given, **{key: given.get(key, made) for key, made in zip(SYNC, (update, message), strict=True)}}

    def logged_output(self) -> Output:
        """The output; what went wrong goes to the log, since nobody else is told of it."""
        if self.error is not None:
            import logging

            logging.getLogger("toolwire_tools").error("%s has failed", self._name, exc_info=self.error)
        return self.output()

    def _noted(self) -> str | None:
        """How far the step is by the system's own account, if that can be told."""
        try:
            return _status(step_of(self._state["agent_step"], self._step_id))
        except StepError:  # what has begun is no longer to do, and may be on no list any more
            return None

    def _ending(self) -> str:
        """How the step has ended: as the override says, or well."""
        said = self._noted()
        if said is not None and not FOLLOWING[said]:
            return said
        update = (self.returned or {}).get(SYNC[0])
        return "failed" if isinstance(update, dict) and update.get("state") == "failed" else "finished"


def step_of(steps: Any, step_id: str) -> Any:
    """The step with this id among *steps*, which may be any system's `agent_step`.

    Raises:
        StepError: if there is none, or no way to find it.
    """
    find, todo = getattr(steps, "get_step", None), getattr(steps, "todo_list", None)
    if not hasattr(steps, "update_step_status") or (find is None and todo is None):
        wanted = "update_step_status(step_id, status), and get_step(step_id) or a todo_list"
        raise StepError(f"agent_step is a {type(steps).__name__}; it must have {wanted}")
    if find is not None:
        found = find(step_id)
    else:
        # A queue.Queue keeps what is in it under that name.
        listed: Any = todo.values() if isinstance(todo, dict) else getattr(todo, "queue", todo)
        found = [step for step in listed if _member(step, "step_id") == step_id]
    if isinstance(found, list | tuple):
        found = found[0] if found else None
    if found is None:
        raise StepError(f"agent_step has no step {step_id!r}")
    return found


def _member(thing: Any, name: str, default: Any = None) -> Any:
    return thing.get(name, default) if isinstance(thing, dict) else getattr(thing, name, default)


def _needed(step: Any, name: str) -> Any:
    value = _member(step, name, _MISSING)
    if value is _MISSING:
        raise StepError(f"the step has no {name}, by which the system knows what to update")
    return value


_MISSING = object()


def _status(step: Any) -> str | None:
    """How far *step* is, if it says so in words we know."""
    said = [_member(step, name) for name in ("execution_state", "status", "state")]
    return next((status for status in said if isinstance(status, str) and status in FOLLOWING), None)
