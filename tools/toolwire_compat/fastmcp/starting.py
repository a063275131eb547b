"""Runs a program until it starts its server, which becomes ours.

Strategy. Programs start a server in many places: in `main()`, in a command of Typer, below
`asyncio.run`, inside of context managers that hold what the tools use. So the program runs in a
thread of its own, and the call that would serve (`mcp.run()`, `server.run(...)`) hands its server
over and waits there until the process ends: what the program has opened stays open, and its event
loop goes on.
"""

from __future__ import annotations

import threading
from queue import SimpleQueue
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

from toolwire_schemas.threads import start_thread
from toolwire_tools.errors import RegistrationError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from types import CodeType


class NoServerStarted(RegistrationError):
    """A program that has ended, or failed, before it started a server.

    *status* is its exit status.
    """

    def __init__(self, program: str, status: int, reason: str) -> None:
        problem = f"it ended {reason}, and has started no server of FastMCP or the Python SDK"
        remedy = _REMEDY if status else _OF_OTHERS
        super().__init__(problem, tool=program, remedy=remedy)
        self.status = status


_REMEDY = "run the program by itself to see what it needs"
_OF_OTHERS = (
    "a server that is written without them cannot be adopted, but `toolwire wrap -- COMMAND` and"
    " `--mount` take any"
)


def run_until_server_starts(name: str, program: Callable[[], object]) -> Any:
    """Run *program*, called *name* in messages, and return the server that it starts.

    Raises:
        NoServerStarted: if it ends before.
        Exception: whatever it raised.
    """
    global _handed_over
    _handed_over = SimpleQueue()
    start_thread(_run, name, program, _handed_over)
    try:
        outcome = _handed_over.get()
    finally:
        _handed_over = None
    if isinstance(outcome, SystemExit):
        raise NoServerStarted(name, *_read_status(outcome.code))
    if isinstance(outcome, BaseException):
        raise outcome
    if outcome is None:
        raise NoServerStarted(name, 0, "by itself")
    return outcome


_handed_over: SimpleQueue[Any] | None = None
"""Receives the server of the program that runs now; None if none runs."""


def find_main_block(path: str) -> CodeType | None:
    """Return the code below `if __name__ == "__main__":` in the file at *path*; None without it."""
    import ast

    with open(path, "rb") as file:
        tree = ast.parse(file.read(), path)
    for node in tree.body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'":
            return compile(ast.Module(node.body, []), path, "exec")
    return None


def has_import(path: str, packages: Collection[str]) -> bool:
    """Return whether the file at *path* imports one of *packages*, also in a function."""
    import ast

    with open(path, "rb") as file:
        tree = ast.parse(file.read(), path)
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module or ""]
        if any(name.partition(".")[0] in packages for name in names):
            return True
    return False


def make_signal_module() -> ModuleType:
    """Return the module `signal` for programs, whose handlers of signals are not called.

    Python allows handlers in the main thread alone, and there Toolwire has its own.
    """
    import signal

    module = ModuleType("signal")
    vars(module).update(vars(signal))
    vars(module)["signal"] = lambda number, _: signal.getsignal(number)
    return module


def is_program_running() -> bool:
    """Return whether a program runs whose server is to become ours."""
    return _handed_over is not None


def hand_over(server: Any) -> NoReturn:
    """Give *server* to Toolwire, and wait until the process ends."""
    assert _handed_over is not None
    _handed_over.put(server)
    while True:
        threading.Event().wait()


async def hand_over_async(server: Any) -> NoReturn:
    """As `hand_over`; the running event loop goes on."""
    from asyncio import get_running_loop

    assert _handed_over is not None
    _handed_over.put(server)
    while True:
        await get_running_loop().create_future()


def _run(program: Callable[[], object], outcomes: SimpleQueue[Any]) -> None:
    try:
        program()
    except BaseException as error:  # the outer edge of the program
        outcomes.put(error)
    else:
        outcomes.put(None)


def _read_status(code: object) -> tuple[int, str]:
    """Return the exit status of a `SystemExit` with *code*, and the words for it."""
    if code is None:
        return 0, "with exit status 0"
    if isinstance(code, int):
        return code, f"with exit status {code}"
    return 1, f"with {code!s}"
