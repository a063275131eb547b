"""The coroutine that an awaitable method of a context returns. Imported for the first of them."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

T = TypeVar("T")


class Pending(Coroutine[Any, Any, T]):
    """The coroutine that an awaitable method of a context returns: it cannot be mistaken for its
    result.

    A coroutine is true, so `if not context.ask("Really?")` would go on without the answer.
    """

    __slots__ = ("_begin", "_coroutine", "method")

    def __init__(self, method: str, begin: Callable[[Pending[T]], Coroutine[Any, Any, T]]) -> None:
        self.method = method
        """The name of the method, for messages."""
        self._begin = begin
        self._coroutine: Coroutine[Any, Any, T] | None = None

    def __repr__(self) -> str:
        return f"<context.{self.method}, to be awaited>"

    def _start(self) -> Coroutine[Any, Any, T]:
        if self._coroutine is None:
            self._coroutine = self._begin(self)
        return self._coroutine

    def __await__(self) -> Generator[Any, Any, T]:
        return self._start().__await__()

    def send(self, value: Any, /) -> Any:
        """As a coroutine's: tasks run it by this."""
        return self._start().send(value)

    def throw(self, *exception: Any) -> Any:
        """As a coroutine's."""
        return self._start().throw(*exception)

    def close(self) -> None:
        """As a coroutine's. One that was not started stays forgotten."""
        if self._coroutine is not None:
            self._coroutine.close()

    def _refuse(self, *_: Any) -> NoReturn:
        method = f"context.{self.method}"
        raise TypeError(
            f"{method} was not awaited, so it has no value yet: write `await {method}(...)`"
        )

    __bool__ = __eq__ = __ne__ = __str__ = _refuse
    __hash__ = object.__hash__

    def __format__(self, spec: str, /) -> NoReturn:
        self._refuse()
