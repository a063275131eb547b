"""Asynchronous work within a deadline."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVar

from toolwire_schemas.deadline import DeadlineExceeded

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from toolwire_schemas.deadline import Deadline

T = TypeVar("T")


async def run_within(work: Callable[[], Coroutine[Any, Any, T]], deadline: Deadline) -> T:
    """Return the result of *work*; cancel it and raise `DeadlineExceeded` if it does not end within
    *deadline*.
    """
    import anyio  # here, since a blocking client rarely needs it and the import takes time

    with anyio.CancelScope() as scope:

        def move() -> None:
            left = deadline.seconds_left
            scope.deadline = (
                math.inf if left is None or deadline.is_stopped else anyio.current_time() + left
            )

        deadline.on_moved = move
        move()
        try:
            return await work()
        finally:
            deadline.on_moved = None
    raise DeadlineExceeded
