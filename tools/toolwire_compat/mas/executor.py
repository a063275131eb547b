"""Executors: classes that do one kind of step of an agent, and keep the step's status.

Strategy. An author overrides `execute`; the base class keeps the status, whatever happens. So each
override is wrapped by a guard when its class is made. Only the outermost guard, that of the
object's own `execute`, does anything: an override that is called by `super()` is a part of the
work.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from toolwire_schemas.did_you_mean import explain_unknown_name
from toolwire_tools.options import is_stale

from .steps import FOLLOWING, StepError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


SHARED_MESSAGE = "send_shared_message"
STATE_UPDATE = "update_stage_agent_state"
SYNC = (STATE_UPDATE, SHARED_MESSAGE)
"""The members of an output by which a system keeps its shared state."""

RAISES = "toolwire_raises"
"""The key of a state whose owner wants the exceptions themselves."""


class _RunningStep:
    """A step whose `execute` runs, and its status in the system's own state.

    Raises:
        StepError: if the state of the agent, or the step, lacks something.
    """

    def __init__(self, name: str, step_id: str, agent_state: Mapping[str, Any]) -> None:
        for key in ("agent_step", "agent_id", "role"):
            if key not in agent_state:
                raise StepError(f"agent_state has no {key!r}, which every step needs")
        self._name = name
        self._state = agent_state
        self._step_id = step_id
        step = find_step(agent_state["agent_step"], step_id)
        self._task_id = _get_needed(step, "task_id")
        self._stage_id = _get_needed(step, "stage_id")
        agent_state["agent_step"].update_step_status(step_id, "running")

    def fail(self, error: BaseException) -> dict[str, Any]:
        """Log *error*, which has ended the step, and return the output.

        Raises:
            BaseException: *error* itself, if it orders to stop or the owner of the state wants it.
        """
        self._update("failed")
        if not isinstance(error, Exception) or self._state.get(RAISES):
            raise error
        import logging

        logging.getLogger("toolwire_tools").error("%s has failed", self._name, exc_info=error)
        return self._complete({}, "failed")

    def finish(self, returned: Any) -> dict[str, Any]:
        """Return the output of a step whose `execute` has *returned* something, completed for the
        system.
        """
        if not isinstance(returned, dict | None):
            wrong = f"execute returned a {type(returned).__name__}; it must be a dict, or None"
            return self.fail(TypeError(wrong))
        output = returned or {}
        status = self._read_status()
        if status is None or FOLLOWING[status]:  # the override has not set a final one
            update = output.get(STATE_UPDATE)
            has_failed = isinstance(update, dict) and update.get("state") == "failed"
            status = "failed" if has_failed else "finished"
        self._update(status)
        return self._complete(output, status)

    def _update(self, status: str) -> None:
        if self._read_status() != status:
            self._state["agent_step"].update_step_status(self._step_id, status)

    def _complete(self, output: dict[str, Any], status: str) -> dict[str, Any]:
        """Return *output* with the members that the system needs; those that it has stay."""
        agent_id = self._state["agent_id"]
        update = {
            "task_id": self._task_id,
            "stage_id": self._stage_id,
            "agent_id": agent_id,
            "state": status,
        }
        message = {
            "agent_id": agent_id,
            "role": self._state["role"],
            "stage_id": self._stage_id,
            "content": describe_status(self._name, status),
        }
        added = {STATE_UPDATE: update, SHARED_MESSAGE: message}
        return output | added | output  # twice: for the order of the members, and for their values

    def _read_status(self) -> str | None:
        """Return the status of the step in the system's own state, if it is a known one."""
        try:
            step = find_step(self._state["agent_step"], self._step_id)
        except StepError:  # a step that has started may be on no list any more
            return None
        for name in ("execution_state", "status", "state"):
            status = _get_member(step, name)
            if isinstance(status, str) and status in FOLLOWING:
                return status
        return None


def describe_status(name: str, status: str) -> str:
    """Return the shared message of a step that has none of its own."""
    return f"执行{name}步骤:{status}，"


def find_step(steps: Any, step_id: str) -> Any:
    """Return the step with this id in *steps*, a system's `agent_step`.

    Raises:
        StepError: if it cannot be found.
    """
    get_step = getattr(steps, "get_step", None)
    todo_list = getattr(steps, "todo_list", None)
    if not hasattr(steps, "update_step_status") or (get_step is None and todo_list is None):
        wanted = "update_step_status(step_id, status), and get_step(step_id) or a todo_list"
        raise StepError(f"agent_step is a {type(steps).__name__}; it must have {wanted}")
    found = _find_in_list(todo_list, step_id) if get_step is None else get_step(step_id)
    if isinstance(found, list | tuple):  # some systems return lists of steps
        found = found[0] if found else None
    if found is None:
        raise StepError(f"agent_step has no step {step_id!r}")
    return found


def _find_in_list(todo_list: Any, step_id: str) -> Any:
    steps = getattr(todo_list, "queue", todo_list)  # as a queue.Queue keeps its items
    if isinstance(todo_list, dict):
        steps = todo_list.values()
    for step in steps:
        if _get_member(step, "step_id") == step_id:
            return step
    return None


def _get_member(thing: Any, name: str) -> Any:
    return thing.get(name) if isinstance(thing, dict) else getattr(thing, name, None)


def _get_needed(step: Any, name: str) -> Any:
    value = _get_member(step, name)
    if value is None:
        raise StepError(f"the step has no {name}, which the system needs for the update")
    return value


Kind = TypeVar("Kind", bound="type[Executor]")
_OVERRIDE = "__toolwire_override__"
"""The attribute of a wrapper that holds the override in it."""


class Executor:
    """The base class for an agent's steps.

    Override `execute`, and register the class:
    `@Executor.register(executor_type="tool", executor_name="rag")`.
    """

    _registry: ClassVar[dict[tuple[str, str], type[Executor]]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        override = inspect.getattr_static(cls, "execute")
        if isinstance(override, staticmethod | classmethod) or not callable(override):
            raise TypeError(
                f"{cls.__name__}.execute must be a method: def execute(self, step_id, agent_state)"
            )
        # An override may also come from another base class that is not an executor.
        if override is not Executor.execute and not hasattr(override, _OVERRIDE):
            cls.execute = _guard(override)  # type: ignore[method-assign]

    @classmethod
    def register(cls, executor_type: str, executor_name: str) -> Callable[[Kind], Kind]:
        """Return a decorator that registers an executor class; the type is `"tool"` or `"skill"`.

        A second class under the same name replaces the first, with a warning.

        Raises:
            TypeError: if a name is not text, or the class is not an executor that overrides
                `execute`.
        """
        for name in (executor_type, executor_name):
            if not isinstance(name, str) or not name:
                raise TypeError(
                    f'register(executor_type="tool", executor_name="rag") takes names, not {name!r}'
                )

        key = (executor_type, executor_name)

        def register_class(subclass: Kind) -> Kind:
            _check_subclass(subclass)
            known = Executor._registry.get(key)
            if known not in (None, subclass) and not is_stale(override_of(known)):
                text = f"{executor_type} {executor_name!r} is now {subclass!r}; it was {known!r}"
                warnings.warn(text, stacklevel=2)
            Executor._registry[key] = subclass
            subclass.__executor__ = key
            return subclass

        return register_class

    @classmethod
    def lookup(cls, executor_type: str, executor_name: str) -> type[Executor]:
        """Return the class registered under a name, in any case.

        Raises:
            LookupError: if the name is not registered; proposes the closest one.
        """
        known = {}
        for (kind, name), executor in Executor._registry.items():
            if kind == executor_type:
                known[name] = executor
        if executor_name in known:
            return known[executor_name]
        for name, executor in known.items():
            if name.casefold() == executor_name.casefold():
                return executor
        raise LookupError(explain_unknown_name(executor_type, executor_name, known))

    @classmethod
    def list_registered(
        cls, executor_type: str | None = None
    ) -> dict[tuple[str, str], type[Executor]]:
        """Return the registered classes, of one type or of all, by type and name."""
        if executor_type is None:
            return dict(Executor._registry)
        return {key: kind for key, kind in Executor._registry.items() if key[0] == executor_type}

    __executor__: ClassVar[tuple[str, str] | None] = None
    """The type and the name under which the class has been registered last."""

    def execute(self, step_id: str, agent_state: dict[str, Any]) -> Any:
        """Do the step and return the `execute_output`, a dict for the system's shared state, or
        None.

        Override it by a function or a coroutine function. Before the override is called the step's
        status becomes `running`, after it `finished`, or `failed` if it raises; a status that the
        override has set stays. The output is completed with `update_stage_agent_state` and
        `send_shared_message`, unless it has them. An exception goes to the log of `toolwire_tools`,
        and the output has the state `failed`.

        Raises:
            StepError: if *agent_state* or the step lacks something; nothing has run then.
        """
        raise NotImplementedError(f"{type(self).__name__} does not override execute")


def _check_subclass(subclass: Any) -> None:
    name = getattr(subclass, "__name__", repr(subclass))
    if not isinstance(subclass, type) or not issubclass(subclass, Executor):
        raise TypeError(f"{name} is not an executor; write class {name}(Executor)")
    if subclass.execute is Executor.execute:
        raise TypeError(
            f"{name} does not override execute; add def execute(self, step_id, agent_state)"
        )


def override_of(kind: type[Executor]) -> Callable[..., Any]:
    """Return the author's `execute`, without the guard around it."""
    override: Callable[..., Any] = getattr(kind.execute, _OVERRIDE, kind.execute)
    return override


def name_of(executor: Executor) -> str:
    """Return the registered name of an executor, or the name of its class."""
    kind = type(executor)
    return kind.__name__ if kind.__executor__ is None else kind.__executor__[1]


def _guard(override: Callable[..., Any]) -> Callable[..., Any]:
    """Return *override* with the status kept around it."""
    execute: Callable[..., Any]
    if inspect.iscoroutinefunction(override):

        @functools.wraps(override)
        async def execute(self: Executor, step_id: str, agent_state: dict[str, Any]) -> Any:
            if type(self).execute is not execute:  # called by super()
                return await override(self, step_id, agent_state)
            step = _RunningStep(name_of(self), step_id, agent_state)
            try:
                returned = await override(self, step_id, agent_state)
            except BaseException as error:
                return step.fail(error)
            return step.finish(returned)
    else:

        @functools.wraps(override)
        def execute(self: Executor, step_id: str, agent_state: dict[str, Any]) -> Any:
            if type(self).execute is not execute:
                return override(self, step_id, agent_state)
            step = _RunningStep(name_of(self), step_id, agent_state)
            try:
                returned = override(self, step_id, agent_state)
            except BaseException as error:
                return step.fail(error)
            return step.finish(returned)

    setattr(execute, _OVERRIDE, override)
    return execute
