"""The action `IPythonInterpreter`."""

from __future__ import annotations

import binascii
import math
import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from toolwire_compat.lagent.action_return import ActionReturn
from toolwire_compat.lagent.base import BaseAction
from toolwire_compat.lagent.parsers import BaseParser, JsonParser
from toolwire_schemas.language import say
from toolwire_schemas.threads import start_timer
from toolwire_tools.context.context import Context  # read by what describes the tool
from toolwire_tools.decorator import tool_api
from toolwire_tools.errors import ArgumentsError, ToolError

from ..requirements import import_extra
from ..settings import check_positive
from .cell import Cell, Picture
from .code import extract_code

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .kernel import Kernel

_LOOK_SECONDS = 0.05


class IPythonInterpreter(BaseAction):
    """Runs Python code in a Jupyter session, which keeps its variables from one call to the next.

    There is one session for each object of this class, and a server has one object. The code can do
    what the server's user can, but sees nothing of the server's environment: PythonInterpreter is
    the one with a sandbox. Processes that it starts end with the session, and with the server; on
    Linux also those that leave its process group.

    With bubblewrap the code sees no other processes, and cannot gain rights (sudo). Without,
    the server refuses debuggers and core dumps from the first call on, so that its environment
    cannot be read unless it is root; the environments of other processes can be read.
    """

    def __init__(
        self,
        timeout: float = 20,
        user_data_dir: str | os.PathLike[str] | None = "ENV",
        work_dir: str | os.PathLike[str] | None = None,
        description: dict[str, Any] | None = None,
        parser: Callable[..., BaseParser] = JsonParser,
        enable: bool = True,
        *,
        lang: str | None = None,
        shell: bool = False,
        max_out_len: int = 8192,
        idle_seconds: float = 3600,
    ) -> None:
        """Prepare a session, which begins at the first call.

        Args:
            timeout: seconds that a call may take, unless it says otherwise itself
            user_data_dir: the folder in which the code runs; "ENV" is what the variable
                USER_DATA_DIR says. Without one it is a folder that ends with the session
            work_dir: the folder for the pictures that the code shows, whose paths are then in an
                action's result; without one they are in it themselves, as `data:` URIs
            shell: whether `!` may run commands; otherwise it prints that it did not, and the cell
                goes on
            max_out_len: characters of a call's text that are returned; the middle of a longer one
                is left out
            idle_seconds: how long a session may go unused before it ends

        Raises:
            ValueError: for an invalid limit, or a folder that is not there.
        """
        super().__init__(description, parser, enable, lang=lang)
        self._timeout = check_positive("timeout", timeout)
        self._folder = _make_path(
            os.environ.get("USER_DATA_DIR") if user_data_dir == "ENV" else user_data_dir
        )
        self._work_dir = work_dir
        self._shell = shell
        self._max_out_len = check_positive("max_out_len", max_out_len)
        self._idle_seconds = check_positive("idle_seconds", idle_seconds)
        self._turn = threading.Lock()
        self._kernel: Kernel | None = None
        self._ended = ""  # why the last kernel ended, if the next result has to say so
        self._idle: threading.Timer | None = None

    @tool_api(destructive=True, open_world=True)
    def run(self, command: str, timeout: int | None = None, *, context: Context) -> ActionReturn:
        """Run Python code in a Jupyter session. Variables, imports and functions are there again in
        the next call.

        The answer is what the code prints and shows, with the value of its last expression, and the
        pictures it makes.

        Args:
            command (str): Python code
            timeout (int, optional): seconds to wait for it; then it is interrupted, and the session
                goes on
        """
        seconds = self._timeout if timeout is None else timeout
        if not 0 < seconds < math.inf:
            raise ArgumentsError(
                [
                    (
                        "arguments.timeout",
                        say("a positive number of seconds, not {value!r}", value=seconds),
                    )
                ]
            )
        cell = Cell(self._max_out_len)
        with self._open_session(context) as (kernel, news):
            in_time = self._run(kernel, extract_code(command), cell, seconds, context)
        if not in_time:
            raise ToolError(
                _join_texts(
                    say("Timeout. No response after {seconds:g} seconds.", seconds=seconds),
                    self._ended,
                    cell.text,
                )
            )
        if cell.failed:
            raise ToolError(_join_texts(news, cell.text))
        items = [{"type": "text", "content": news}] if news else []
        if cell.text or not cell.pictures:
            items.append({"type": "text", "content": cell.text})
        items += [
            {"type": "image", "content": self._keep_picture(picture)} for picture in cell.pictures
        ]
        return ActionReturn(result=items)

    def reset(self) -> None:
        """End the session; the next call begins another."""
        with self._turn:
            self._end("")

    # The session

    @contextmanager
    def _open_session(self, context: Context) -> Iterator[tuple[Kernel, str]]:
        """The kernel, for this call alone, and what is to be known of it: that it is not the one
        from before.
        """
        while not self._turn.acquire(timeout=_LOOK_SECONDS):
            context.check()
        try:
            if self._idle is not None:
                self._idle.cancel()
            if self._kernel is not None and not self._kernel.is_alive:
                self._end(say("The session had ended; its variables are gone."))
            if self._kernel is None:
                with import_extra("ipython"):
                    from .kernel import Kernel
                self._kernel = Kernel(self._folder, shell=self._shell, check=context.check)
            news, self._ended = self._ended, ""
            yield self._kernel, news
        finally:
            if self._kernel is not None:
                self._idle = start_timer(self._idle_seconds, self._end_if_idle)
            self._turn.release()

    def _run(self, kernel: Kernel, code: str, cell: Cell, seconds: float, context: Context) -> bool:
        from .kernel import Died

        parts = 0

        def report(text: str) -> None:
            nonlocal parts
            parts += 1
            context.progress(parts, message=text[-1000:])

        try:
            return kernel.run(code, cell, seconds, context.check, report)
        except Died as death:
            self._end("")
            problem = say(
                "The code ended the session ({death}); its variables are gone, and the next call"
                " begins another.",
                death=death,
            )
            raise ToolError(_join_texts(problem, cell.text)) from None
        finally:
            if self._kernel is not None and not kernel.is_alive:
                self._end(
                    say(
                        "The code did not let itself be interrupted: the session was ended, and its"
                        " variables are gone."
                    )
                )

    def _end(self, why: str) -> None:
        if self._kernel is not None:
            self._kernel.end()
            self._kernel = None
            self._ended = why

    def _end_if_idle(self) -> None:
        if self._turn.acquire(blocking=False):  # else it is needed
            self._end(
                f"The session was not used for {self._idle_seconds:g} seconds and has ended; its"
                " variables are gone."
            )
            self._turn.release()

    def _keep_picture(self, picture: Picture) -> str:
        """What leads to *picture*: a path, or itself."""
        if self._work_dir is None:
            return f"data:{picture.media_type};base64,{picture.data}"
        os.makedirs(self._work_dir, exist_ok=True)
        path = os.path.join(
            self._work_dir, f"{os.urandom(16).hex()}.{picture.media_type.rpartition('/')[2]}"
        )
        with open(path, "xb") as file:
            file.write(binascii.a2b_base64(picture.data))
        return path


def _join_texts(*texts: str) -> str:
    return "\n\n".join(text for text in texts if text)


def _make_path(path: str | os.PathLike[str] | None) -> str | None:
    if not path:
        return None
    path = os.path.abspath(os.path.expanduser(path))
    if not os.path.isdir(path):
        raise ValueError(f"user_data_dir: there is no folder {path!r}")
    return path
