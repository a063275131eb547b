"""The connection of a running tool to the program that called it."""

from __future__ import annotations

import math
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload

from ..errors import Cancelled, CannotAsk

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

    from .pending import Pending

T = TypeVar("T")

MISSING: Any = object()

LEVELS = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
"""The levels of MCP, the least severe first."""


class Caller(Protocol):
    """The far end of one call, as a server implements it. All members may be used from any
    thread.
    """

    @property
    def state(self) -> Any:
        """The value of the lifespan of the tool's module. Raises a RuntimeError if it has none."""

    @property
    def session_state(self) -> dict[str, Any]:
        """Values that the tools keep for each other while the client is connected.

        A worker process has its own.
        """

    @property
    def session_id(self) -> str:
        """A text that all calls of one client's connection have in common, and no others."""

    @property
    def cancelled(self) -> bool:
        """True once the response is no longer needed."""

    def progress(self, done: float, total: float | None, message: str | None) -> None:
        """Tell how far the call is; never blocks for long and never fails."""

    def status(self, message: str) -> None:
        """Tell what the call does just now, as `progress` does."""

    def resource_changed(self, uri: str) -> None:
        """Tell the clients that watch the resource at *uri*; never blocks for long."""

    def log(self, level: str, message: str, fields: dict[str, Any], logger: str | None) -> None:
        """Write one line to the server's log, and send it to clients that want it; *level* is one
        of `LEVELS`.
        """

    def ask(self, message: str, schema: dict[str, Any], key: str = ...) -> dict[str, Any]:
        """Ask the user and wait; return MCP's `ElicitResult`. *key* names the question for the
        client. Raises `CannotAsk`, `NotAnswered` or `Cancelled`.
        """

    async def ask_async(
        self, message: str, schema: dict[str, Any], key: str = ...
    ) -> dict[str, Any]:
        """As `ask`, for a tool on the event loop."""


class Done:
    """The result of a method that has done its work when it returns: it may be awaited, and need
    not be.
    """

    __slots__ = ()

    def __await__(self) -> Iterator[Any]:
        return iter(())


DONE = Done()


class BaseContext:
    """What `Context` and `AsyncContext` have in common: all but `ask`.

    Functions that both kinds of tools call annotate it.
    """

    __slots__ = ("_caller", "tool")

    def __init__(self, caller: Caller, tool: str = "") -> None:
        self._caller = caller
        self.tool = tool
        """The name under which the tool was called."""

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.tool or 'a call'}>"

    def progress(self, done: float, total: float | None = None, message: str | None = None) -> Done:
        """Tell the caller that *done* of *total* is finished, in any unit; without *total*, a
        growing count.

        Hosts expect *done* to grow from one report to the next. Nothing is sent unless the caller
        asked for progress, so report as often as is natural. An `async def` tool may await it, and
        need not.
        """
        if message is not None and not isinstance(message, str):
            raise TypeError(f"progress: message must be a str, not {type(message).__name__}")
        whole = None
        if total is not None:
            whole = _read_number(total, "total")
        self._caller.progress(_read_number(done, "done"), whole, message)
        return DONE

    def status(self, message: str) -> Done:
        """Tell the caller what the call does just now, as in `"waiting for the cluster"`.

        It is the status message of a task, and else the message of the progress, for a caller that
        asked for it. An `async def` tool may await it, and need not.
        """
        if not isinstance(message, str):
            raise TypeError(f"status: message must be a str, not {type(message).__name__}")
        self._caller.status(message)
        return DONE

    def resource_changed(self, uri: str) -> Done:
        """Tell the clients that watch the resource at *uri* that it has changed.

        They read it again. Nothing is sent to others, so call it after each change. An `async def`
        tool may await it, and need not.
        """
        if not isinstance(uri, str):
            raise TypeError(f"resource_changed: uri must be a str, not {type(uri).__name__}")
        self._caller.resource_changed(uri)
        return DONE

    @property
    def state(self) -> Any:
        """The value that the `__lifespan__` of the tool's module, or the lifespan of the `Server`,
        has yielded.

        ```python
        @contextmanager
        def __lifespan__():
            with sqlite3.connect("notes.db", check_same_thread=False) as database:
                yield database
        ```

        Raises:
            RuntimeError: if there is no lifespan, or a program calls the tool without a server.
        """
        return self._caller.state

    @property
    def session_state(self) -> dict[str, Any]:
        """Values that tools keep for each other while this client is connected.

        Sessions of a shared process have one each; so has a worker process.
        """
        return self._caller.session_state

    @property
    def session_id(self) -> str:
        """A text that all calls of this client's connection have in common, and no others: a key
        for what a tool keeps of a conversation elsewhere, such as in a database.

        Empty if a program calls the tool without a server.
        """
        return self._caller.session_id

    @property
    def cancelled(self) -> bool:
        """True once the response is no longer needed: stop soon, whatever is returned is
        dropped.
        """
        return self._caller.cancelled

    def check(self) -> Done:
        """Do nothing, or stop the tool if the call was cancelled.

        Raises:
            Cancelled: if the response is no longer needed.
        """
        if self._caller.cancelled:
            raise Cancelled(f"the call of {self.tool or 'the tool'} was cancelled")
        return DONE

    def log(
        self, message: str, /, *, level: str = "info", logger: str | None = None, **fields: Any
    ) -> Done:
        """Write *message* and *fields* to the server's log, and send them to a client that asked
        for this level.

        The server's log goes to its standard error. *level* is one of MCP's: `debug`, `info`,
        `notice`, `warning`, `error`, `critical`, `alert` or `emergency`. *logger* names the source;
        by default, it is the tool.
        """
        self._log(message, level, fields, logger)
        return DONE

    def check_awaited(self) -> None:
        """Do nothing, or raise a RuntimeError if the tool has returned without awaiting what it had
        to await.
        """

    def _log(self, message: str, level: str, fields: dict[str, Any], logger: str | None) -> None:
        if level not in LEVELS:
            from toolwire_schemas.did_you_mean import explain_unknown_name

            raise ValueError(f"log: {explain_unknown_name('level', level, LEVELS)}")
        self._caller.log(level, str(message), fields, logger)


class Context(BaseContext):
    """The call a tool is running for, for tools written with `def`; those with `async def` take an
    `AsyncContext`.

    A parameter annotated `Context` receives it; callers do not see that parameter.

    ```python
    def index(folder: Path, context: Context) -> int:
        for number, file in enumerate(files := list(folder.iterdir())):
            context.check()
            context.progress(number, len(files), file.name)
    ```
    """

    __slots__ = ()

    @overload
    def ask(self, message: str, kind: type[T] = ..., *, default: T = ..., key: str = ...) -> T: ...

    @overload
    def ask(self, message: str, kind: Any, *, default: Any = ..., key: str = ...) -> Any: ...

    def ask(
        self, message: str, kind: Any = bool, *, default: Any = MISSING, key: str = "answer"
    ) -> Any:
        """Ask the user who works with the caller, wait, and return the answer as a value of type
        *kind*.

        *kind* is bool, str, int or float, an Enum or Literal (a choice), or a dataclass, TypedDict
        or Struct of these (several fields at once), or the JSON Schema of a form, whose answer is
        a dict. Waiting counts towards no time limit and needs
        none of the server's workers. *default* is what is returned if the client cannot ask;
        without one, that is an error. *key* names the question for clients of 2026-07-28, which
        may answer it with the call, before they are asked.

        Raises:
            CannotAsk: if the client cannot ask its user, and there is no *default*.
            Declined: if the user said no to the question.
            Dismissed: if the user closed it without an answer.
            NotAnswered: if the answer does not fit *kind*, or the client went away.
            Cancelled: if the call is cancelled before the answer.
            TypeError: if no form can ask for *kind*.
        """
        from .elicitation import read_form

        form = read_form(kind)
        try:
            answer = self._caller.ask(message, form.schema, key)
        except CannotAsk:
            if default is MISSING:
                raise
            return default
        return form.read(answer)


class AsyncContext(BaseContext):
    """The call an `async def` tool is running for: `ask` is awaited, and the other methods may be.

    It is no `Context`: for a type checker, and for a reader, the answer of a `Context` is there at
    once.
    """

    __slots__ = ("_forgotten",)

    def __init__(self, caller: Caller, tool: str = "") -> None:
        super().__init__(caller, tool)
        self._forgotten: dict[int, Pending[Any]] = {}
        """The results of such methods that nothing has awaited so far, by their `id`."""

    @overload
    def ask(
        self, message: str, kind: type[T] = ..., *, default: T = ..., key: str = ...
    ) -> Coroutine[Any, Any, T]: ...

    @overload
    def ask(
        self, message: str, kind: Any, *, default: Any = ..., key: str = ...
    ) -> Coroutine[Any, Any, Any]: ...

    def ask(
        self, message: str, kind: Any = bool, *, default: Any = MISSING, key: str = "answer"
    ) -> Coroutine[Any, Any, Any]:
        """As `Context.ask`, to be awaited: a call whose tool forgot that fails."""
        return self._begin_pending("ask", partial(self._ask, message, kind, default, key))

    async def _ask(self, message: str, kind: Any, default: Any, key: str = "answer") -> Any:
        from .elicitation import read_form

        form = read_form(kind)
        try:
            answer = await self._caller.ask_async(message, form.schema, key)
        except CannotAsk:
            if default is MISSING:
                raise
            return default
        return form.read(answer)

    def _begin_pending(
        self, method: str, begin: Callable[[], Coroutine[Any, Any, T]]
    ) -> Pending[T]:
        """Return the result of *method*, which *begin* starts when it is awaited."""
        from .pending import Pending

        def begin_and_remember(pending: Pending[T]) -> Coroutine[Any, Any, T]:
            self._forgotten.pop(id(pending), None)
            return begin()

        pending = Pending(method, begin_and_remember)
        self._forgotten[id(pending)] = pending
        return pending

    def check_awaited(self) -> None:
        """Do nothing, or raise a RuntimeError if the tool has returned without awaiting what it had
        to await.
        """
        if not self._forgotten:
            return
        first = next(iter(self._forgotten.values())).method
        what = "nothing came of it"
        if first == "ask":
            what = "the user was not asked"
        problem = f"{self.tool or 'the tool'} called context.{first} without awaiting it, so {what}"
        raise RuntimeError(f"{problem}; write `await context.{first}(...)`")


def _read_number(value: Any, what: str) -> float:
    """*value* as an int or a finite float; numpy scalars, Decimals and Fractions count as
    numbers.
    """
    if type(value) is int:
        return value
    if isinstance(value, str | bytes | bool) or not hasattr(value, "__float__"):
        raise TypeError(f"progress: {what} must be a number, not {type(value).__name__}")
    number: float = int(value) if hasattr(value, "__index__") else float(value)
    if isinstance(number, float) and not math.isfinite(number):
        raise ValueError(f"progress: {what} must be finite, not {number}")
    return number


class NullCaller:
    """The caller for calls that a program makes directly. The log goes to stderr, as from a server
    without `debug`.
    """

    cancelled = False
    session_id = ""

    def __init__(self) -> None:
        self.session_state: dict[str, Any] = {}

    @property
    def state(self) -> Any:
        raise RuntimeError("context.state needs a server: the tool was called by a program")

    def progress(self, done: float, total: float | None, message: str | None) -> None: ...

    def status(self, message: str) -> None: ...

    def resource_changed(self, uri: str) -> None: ...

    def log(self, level: str, message: str, fields: dict[str, Any], logger: str | None) -> None:
        said = "".join(f" {name}={value!r}" for name, value in fields.items())
        if level != "debug":
            print(f"{level}: {message}{said}", file=sys.stderr)  # noqa: T201

    def ask(self, message: str, schema: dict[str, Any], key: str = "answer") -> dict[str, Any]:
        raise CannotAsk("The tool was called by a program that cannot ask a user.")

    async def ask_async(
        self, message: str, schema: dict[str, Any], key: str = "answer"
    ) -> dict[str, Any]:
        return self.ask(message, schema)


NULL_CALLER = NullCaller()
