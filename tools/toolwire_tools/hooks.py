"""What looks on when an executor calls an action, and may step in."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_numbers = count()


class Hook:
    """Sees each message before and after its action. What a method returns, unless None, takes the message's place.

    An asynchronous executor awaits methods that are `async`.
    """

    def before_action(self, executor: Any, message: Any, session_id: int = 0) -> Any:
        """*message* is about to be executed: its content has `name` and `parameters`."""

    def after_action(self, executor: Any, message: Any, session_id: int = 0) -> Any:
        """*message* is the answer: its content is an `ActionReturn`."""


class HookHandle:
    """A hook's place in an executor."""

    def __init__(self, hooks: dict[int, Any], hook: Any) -> None:
        self._hooks = hooks
        self.id = next(_numbers)
        hooks[self.id] = hook

    def remove(self) -> None:
        """Let the hook see no more messages. Doing so twice does no harm."""
        self._hooks.pop(self.id, None)


def methods_of(hooks: dict[int, Any], name: str) -> Iterator[Any]:
    """The method *name* of each hook that has it, in the order of registration."""
    for hook in list(hooks.values()):
        method = getattr(hook, name, None)
        if method is not None:
            yield method
