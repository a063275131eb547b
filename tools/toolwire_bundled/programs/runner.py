"""Runs a program inside the sandbox, with a function for each tool.

Strategy. `child.py` executes this file in its process, without anything else of Toolwire. A call
writes a frame of JSON to the door, a descriptor that the process inherits, and a thread reads the
outcomes. A program with `await` gets something to await from each call; in any other program, a
call returns its value. The program can do anything to this file: the other end of the door
withstands that.
"""

from __future__ import annotations

import ast
import json
import os
import sys
import threading
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any, NoReturn

_NAME = "<code>"
_HEAD_BYTES = 4
"""A frame starts with its length in this number of bytes, the highest first."""

_CLOSED = "The connection to the tools is closed."


class ToolFailed(Exception):
    """A tool has failed, or was not called: `text` says why.

    `data` is the structured content of the result, if there is any.
    """

    def __init__(self, text: str, data: Any = None) -> None:
        super().__init__(text)
        self.text = text
        self.data = data


ToolFailed.__module__ = "__main__"  # as tracebacks name what the program itself defines


class _Door:
    """Sends calls through a *descriptor*, and has a thread take their outcomes."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._sending = threading.Lock()
        self._waiting: dict[int, Callable[[dict[str, Any]], object]] = {}
        self._calls = 0
        self._is_open = True
        self._reader: threading.Thread | None = None

    def send(
        self,
        tool: str,
        positional: tuple[Any, ...],
        by_name: dict[str, Any],
        deliver: Callable[[dict[str, Any]], object],
    ) -> None:
        """Begin a call of *tool*, and call *deliver* with its outcome, in another thread."""
        members: dict[str, Any] = {"tool": tool, "positional": positional, "arguments": by_name}
        members["line"] = _find_program_line()
        with self._sending:
            self._calls += 1
            number = self._calls
            try:
                text = json.dumps({"id": number, **members}, allow_nan=False)
            except (TypeError, ValueError) as error:
                raise TypeError(f"the arguments of {tool} are no JSON: {error}") from None
            data = text.encode("utf-8", "surrogatepass")
            if self._reader is None:
                self._reader = threading.Thread(target=self._read, daemon=True)
                self._reader.start()
            self._waiting[number] = deliver
            try:
                self._write(len(data).to_bytes(_HEAD_BYTES, "big") + data)
            except OSError:
                self._is_open = False
            if not self._is_open and self._waiting.pop(number, None) is not None:
                raise ToolFailed(_CLOSED)

    def _read(self) -> None:
        try:
            while True:
                size = int.from_bytes(self._receive(_HEAD_BYTES), "big")
                outcome = _decode(self._receive(size))
                deliver = self._waiting.pop(outcome["id"], None)
                if deliver is not None:
                    deliver(outcome)
        except (OSError, EOFError):
            self._is_open = False
            while self._waiting:
                _, deliver = self._waiting.popitem()
                deliver({"failed": _CLOSED})

    def _write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            view = view[os.write(self._descriptor, view) :]

    def _receive(self, size: int) -> bytes:
        data = bytearray()
        while len(data) < size:
            piece = os.read(self._descriptor, size - len(data))
            if not piece:
                raise EOFError
            data += piece
        return bytes(data)


def _decode(data: bytes) -> dict[str, Any]:
    number = int.from_bytes(data[:8], "big")
    try:
        outcome: dict[str, Any] = json.loads(data[8:].decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        outcome = {"failed": f"The result cannot be read: {error}"}
    return {**outcome, "id": number}


def _get_value(outcome: dict[str, Any]) -> Any:
    if "failed" in outcome:
        raise ToolFailed(outcome["failed"], outcome.get("data"))
    return outcome.get("value")


def _find_program_line() -> int:
    """Return the line of the program that is running; 0 outside of it."""
    frame: Any = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename == _NAME:
            line: int = frame.f_lineno
            return line
        frame = frame.f_back
    return 0


# The two kinds of functions


def _make_function(door: _Door, tool: str, name: str) -> Callable[..., Any]:
    """Return the function that calls *tool* and returns its value."""

    def call(*positional: Any, **arguments: Any) -> Any:
        outcomes: list[dict[str, Any]] = []
        done = threading.Event()

        def deliver(outcome: dict[str, Any]) -> None:
            outcomes.append(outcome)
            done.set()

        door.send(tool, positional, arguments, deliver)
        done.wait()
        return _get_value(outcomes[0])

    return _call_it(call, name)


def _make_async_function(door: _Door, tool: str, name: str) -> Callable[..., Any]:
    """Return the function that starts a call of *tool* and returns what is to be awaited."""

    def call(*positional: Any, **arguments: Any) -> _Started:
        import asyncio

        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            raise RuntimeError(
                f"in a program with `await`, write `await {name}(...)`, in a coroutine or outside"
                " of functions"
            ) from None
        future: Any = loop.create_future()
        # Else asyncio would report a failure that the program does not look at.
        future.add_done_callback(lambda done: done.cancelled() or done.exception())

        def deliver(outcome: dict[str, Any]) -> None:
            with suppress(RuntimeError):  # the loop is closed, and nothing waits
                loop.call_soon_threadsafe(_settle, future, outcome)

        door.send(tool, positional, arguments, deliver)
        return _Started(future, name)

    return _call_it(call, name)


def _call_it(function: Any, name: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    named: Callable[..., Any] = function
    return named


def _settle(future: Any, outcome: dict[str, Any]) -> None:
    if future.done():
        return
    try:
        future.set_result(_get_value(outcome))
    except ToolFailed as failure:
        future.set_exception(failure)


class _Started:
    """A call that was started, to be awaited: it cannot be mistaken for its value."""

    def __init__(self, future: Any, name: str) -> None:
        self.__dict__["_future"] = future
        self.__dict__["_name"] = name

    def __await__(self) -> Generator[Any, Any, Any]:
        value: Generator[Any, Any, Any] = self.__dict__["_future"].__await__()
        return value

    def _refuse(self, *_: Any) -> NoReturn:
        name = self.__dict__["_name"]
        raise TypeError(
            f"{name}(...) has no value yet: in a program with `await`, write `await {name}(...)`"
        )

    __bool__ = __eq__ = __ne__ = __str__ = __getattr__ = __getitem__ = _refuse
    __iter__ = __len__ = __contains__ = __add__ = __radd__ = __lt__ = __gt__ = _refuse
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"<{self.__dict__['_name']}(...), to be awaited>"


# The program


def run(order: dict[str, Any], text: str, space: dict[str, Any], output: object) -> object:
    """Run the program *text* with the functions of *order*, and return the value of its last
    expression.
    """
    tree = compile(text, _NAME, "exec", ast.PyCF_ONLY_AST | _FLAGS, dont_inherit=True)
    is_async = has_await(tree)
    _add_functions(order, space, is_async)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    body = compile(tree, _NAME, "exec", _FLAGS, dont_inherit=True)
    codes = [body]
    if isinstance(last, ast.Expr):
        expression = ast.Expression(last.value)
        codes.append(compile(expression, _NAME, "eval", _FLAGS, dont_inherit=True))
    if not any(code.co_flags & _COROUTINE for code in codes):
        return _evaluate_last([eval(code, space) for code in codes])
    import asyncio

    async def run_all() -> list[object]:
        return [await _run_one(code, space) for code in codes]

    return _evaluate_last(asyncio.run(run_all()))


_FLAGS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
_COROUTINE = 0x80
"""The flag of code that awaits (inspect.CO_COROUTINE)."""


def _evaluate_last(values: list[object]) -> object:
    """Return the value of the last expression; `None` of the statements before it."""
    return values[-1]


async def _run_one(code: Any, space: dict[str, Any]) -> object:
    value: Any = eval(code, space)
    if code.co_flags & _COROUTINE:
        return await value
    return value


def has_await(tree: ast.AST) -> bool:
    """Return whether a program awaits, or defines what is awaited."""
    asynchronous = (ast.Await, ast.AsyncFor, ast.AsyncWith, ast.AsyncFunctionDef)
    for node in ast.walk(tree):
        if isinstance(node, asynchronous):
            return True
        if isinstance(node, ast.comprehension) and node.is_async:
            return True
    return False


def _add_functions(order: dict[str, Any], space: dict[str, Any], is_async: bool) -> None:
    make = _make_async_function if is_async else _make_function
    door = _Door(order["door"])
    space["ToolFailed"] = ToolFailed
    if is_async:
        import asyncio

        space["asyncio"] = asyncio
    for tool, group, name in order["functions"]:
        if not group:
            space[name] = make(door, tool, name)
            continue
        if group not in space:
            space[group] = type(group, (), {})()
        setattr(space[group], name, make(door, tool, f"{group}.{name}"))
