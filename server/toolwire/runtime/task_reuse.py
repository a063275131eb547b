"""Whether a call has left a trace in the task that ran it, so that no other call may use the task.

Libraries keep things by the current task (SQLAlchemy's scoped sessions, for example), set context
variables without resetting them, or cancel the task and return. Each call sees a task of its own
then.
"""

from __future__ import annotations

import sys
import weakref
from asyncio import current_task
from contextvars import copy_context


class TaskState:
    """The state of the current task, as a call finds it."""

    def __init__(self) -> None:
        self._task = current_task()
        self._variables = tuple(copy_context().items())
        self._references = self._count_references()

    def is_unchanged(self) -> bool:
        """Return whether nothing refers to the task that did not before, it has not been cancelled,
        and its context variables have the same values.
        """
        assert self._task is not None
        if self._task.cancelling() or self._count_references() != self._references:
            return False
        variables = copy_context()
        if len(variables) != len(self._variables):
            return False
        # Not by `==`, which may be anything: two empty lists are equal, but not the same.
        for name, value in self._variables:  # noqa: SIM110 (a generator takes twice as long)
            if variables.get(name) is not value:
                return False
        return True

    def _count_references(self) -> int:
        return sys.getrefcount(self._task) + weakref.getweakrefcount(self._task)
