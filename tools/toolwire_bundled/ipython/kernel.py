"""One Jupyter kernel: a Python process that keeps its variables. Imported with jupyter_client, at
the first call.

Strategy. The process is ours, so that it gets no more of our environment than it needs, and ends
with everything it started (child_group.py). Where bubblewrap works, it also has a PID namespace and
a /proc of its own, and sees no environment of any other process. (`--die-with-parent` would end it
with the thread that started it.) jupyter_client defines the messages on its channels, which are
Unix sockets in a private folder where that is possible, and ports of this machine elsewhere. One
call at a time uses a kernel: ZeroMQ's sockets are not for several threads at once.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

import zmq
from jupyter_client.client import KernelClient
from jupyter_client.connect import write_connection_file
from toolwire_schemas.language import say
from toolwire_tools.errors import ToolError
from toolwire_tools.processes import subreaper
from toolwire_tools.processes.child_group import make_strongest_group
from toolwire_tools.processes.exit_status import signal_from_shell
from toolwire_tools.processes.ownership import disown, own

from ..temp_folders import Scratch
from .cell import Cell

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_LOOK_SECONDS = 0.05
"""How soon a cancellation or the death of the kernel is noticed."""

_START_SECONDS = 60.0
_INTERRUPT_SECONDS = 5.0
"""How long interrupted code may take to clean up: on a busy machine, its traceback alone can take
two seconds.
"""

_END_SECONDS = 10.0
"""How long a subreaper may take to end what the code has started."""

_LATE_SECONDS = 1.0
"""How long output may take that was sent before the reply. Behind that, some of it is lost."""

_PR_SET_DUMPABLE = 4  # linux/prctl.h

_MAX_MESSAGE_BYTES = 64 * 1024 * 1024

_WITHOUT_SHELL = """
def _without_shell(shell):
    from IPython.utils.text import SList

    def skip(command, *_, **__):
        print(f"Not run, since commands of the shell (!) are disabled here: {command}")

    def skip_and_return_no_lines(command, *_, **__):
        skip(command)
        return SList()

    shell.system = shell.system_raw = skip
    shell.getoutput = skip_and_return_no_lines


_without_shell(get_ipython())
del _without_shell
"""
"""Runs first in a kernel in which `!` is not allowed. As in Lagent, the rest of the cell goes on:
models often install packages that are there already."""


class Died(Exception):
    """The kernel's process has ended by itself, with *status*."""

    def __init__(self, status: int | None) -> None:
        self.status = status
        number = status or 0
        how = say("exit status {status}", status=status)
        if number < 0:
            how = say("signal {number}", number=-number)
        super().__init__(how)


class Kernel:
    """A kernel that works in *folder*; `None`: in a folder of its own, which goes with it.

    Raises:
        ToolError: if it does not start.
    """

    def __init__(self, folder: str | None, *, shell: bool, check: Callable[[], object]) -> None:
        self._scratch = Scratch("jupyter")
        self._errors = open(self._make_scratch_path("stderr"), "wb+")  # noqa: SIM115  # open as long as the kernel
        self._context = zmq.Context()
        self._process: subprocess.Popen[bytes] | None = None
        self._group = make_strongest_group()
        self._exited = False
        try:
            self._process = self._start(folder)
            own(self)
            self._client = KernelClient(context=self._context)
            self._client.load_connection_file(self._connection_file)
            # A larger message closes the connection and is lost. Without this it would take as much
            # of our memory.
            self._context.setsockopt(zmq.MAXMSGSIZE, _MAX_MESSAGE_BYTES)
            self._shell, self._output = self._client.connect_shell(), self._client.connect_iopub()
            self._control = self._client.connect_control()
            self._wait_until_ready(check)
            if not shell:
                self._run_silently(_WITHOUT_SHELL, check)
        except BaseException:
            self.end()
            raise

    @property
    def is_alive(self) -> bool:
        """Whether its process runs."""
        return self._process is not None and self._process.poll() is None

    def run(
        self,
        code: str,
        cell: Cell,
        seconds: float,
        check: Callable[[], object],
        told: Callable[[str], None],
    ) -> bool:
        """Run *code* and put what comes of it into *cell*; false if it took longer than *seconds*.

        Then, or if *check* raises, the code is interrupted, and if it does not heed that, the
        kernel is ended.

        Raises:
            Died: if the code ends the process, or wants it to.
        """
        deadline = time.monotonic() + seconds
        parent = self._execute(code, silent=False)
        try:
            while not self._receive_outputs(parent, cell, told):
                check()
                if time.monotonic() > deadline:
                    self._interrupt(parent, cell)
                    return False
        except Died:
            raise
        except BaseException:
            self._interrupt(parent, cell)
            raise
        if self._exited:  # exit() and quit() leave that to the parent of a kernel
            self.end()
            raise Died(0)
        if not cell.finished:
            self._listen_again(check)
            cell.add_text(
                f"\n[... what was shown is lost: more than {_MAX_MESSAGE_BYTES:,} bytes at a time"
                " ...]"
            )
        return True

    def end(self) -> None:
        """End the process with all that it has started, and forget its files."""
        disown(self)
        if self._process is not None:
            self._end_process(self._process)
        self._group.close()
        self._context.destroy(linger=0)
        self._errors.close()
        self._scratch.end()

    def abandon(self) -> None:
        """Leave it to the owner; the group lets go of the process itself."""

    # The process

    def _end_process(self, process: subprocess.Popen[bytes]) -> None:
        self._group.kill()
        try:
            process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._group.kill_descendants()
            process.kill()
            process.wait()

    def _make_scratch_path(self, name: str) -> str:
        return os.path.join(self._scratch.path, name)

    def _start(self, folder: str | None) -> subprocess.Popen[bytes]:
        self._connection_file = self._make_scratch_path("kernel.json")
        channel = self._make_scratch_path("channel")
        if sys.platform != "win32" and len(os.fsencode(f"{channel}-1")) <= zmq.IPC_PATH_MAX_LEN:
            write_connection_file(self._connection_file, transport="ipc", ip=channel)
        else:  # it would be too long for the address of a Unix socket, of 107 bytes or fewer
            write_connection_file(self._connection_file)
        home = self._make_scratch_path("folder")
        os.mkdir(home)
        environment = {**_make_environment(os.environ), "IPYTHONDIR": home}
        self._namespace = _find_namespace_command()
        if not self._namespace:
            _hide_environment()
        if not subreaper.EXISTS:
            environment["JPY_PARENT_PID"] = str(os.getpid())  # without its parent it ends by itself
        program = [
            *self._namespace,
            sys.executable,
            "-m",
            "ipykernel_launcher",
            "-f",
            self._connection_file,
        ]
        program.append("--HistoryManager.enabled=False")
        try:
            return self._group.start(
                program,
                env=environment,
                cwd=folder or home,
                stdin=subprocess.DEVNULL,
                stdout=self._errors,
                stderr=self._errors,
            )
        except OSError as error:
            raise ToolError(say("The kernel could not be started: {error}.", error=error)) from None

    def _wait_until_ready(self, check: Callable[[], object]) -> None:
        """Wait until it answers and its output arrives: output before the subscription is lost."""
        deadline = time.monotonic() + _START_SECONDS
        answered = heard = False
        while not (answered and heard):
            self._client.session.send(self._shell, "kernel_info_request")
            for socket in self._wait_for_sockets(200):
                self._receive(socket)
                answered, heard = answered or socket is self._shell, heard or socket is self._output
            check()
            if not self.is_alive or time.monotonic() > deadline:
                raise ToolError(
                    say(
                        "The kernel did not start: {value}",
                        value=self._read_last_words() or say("no reason was given"),
                    )
                )
        while sockets := self._wait_for_sockets(0):
            for socket in sockets:
                self._receive(socket)

    def _listen_again(self, check: Callable[[], object]) -> None:
        """Connect anew to what the kernel publishes: the connection was closed by a message beyond
        the limit.
        """
        self._output.close(linger=0)
        self._output = self._client.connect_iopub()
        self._wait_until_ready(check)

    def _read_last_words(self) -> str:
        self._errors.seek(0)
        return self._errors.read()[-2000:].decode("utf-8", "replace").strip()

    # The conversation

    def _execute(self, code: str, *, silent: bool) -> str:
        content = {
            "code": code,
            "silent": silent,
            "store_history": not silent,
            "allow_stdin": False,
        }
        message = self._client.session.send(self._shell, "execute_request", content)
        self._replied = 0.0
        return str(message["header"]["msg_id"])

    def _run_silently(self, code: str, check: Callable[[], object]) -> None:
        cell, parent = Cell(1000), self._execute(code, silent=True)
        while not self._receive_outputs(parent, cell, lambda text: None):
            check()

    def _receive_outputs(self, parent: str, cell: Cell, told: Callable[[str], None]) -> bool:
        """Take what has come by now, waiting a moment for it; true if that was all that the code
        leads to.
        """
        sockets = self._wait_for_sockets(round(_LOOK_SECONDS * 1000))
        for socket in sockets:
            message = self._receive(socket)
            if message is None or message["parent_header"].get("msg_id") != parent:
                continue
            if socket is self._shell:
                self._replied = time.monotonic()
                asked = [payload.get("source") for payload in message["content"].get("payload", [])]
                self._exited = "ask_exit" in asked
            elif text := cell.add(message):
                told(text)
        if self._replied and (cell.finished or time.monotonic() - self._replied > _LATE_SECONDS):
            return True
        if not sockets and not self.is_alive:
            raise Died(self._get_status())
        return False

    def _get_status(self) -> int | None:
        status = None if self._process is None else self._process.returncode
        if status is None or not self._namespace:
            return status
        return signal_from_shell(status)

    def _wait_for_sockets(self, milliseconds: int) -> list[Any]:
        poller = zmq.Poller()
        for socket in (self._output, self._shell):
            poller.register(socket, zmq.POLLIN)
        return [socket for socket, _ in poller.poll(milliseconds)]

    def _receive(self, socket: Any) -> dict[str, Any] | None:
        """Return the next message of *socket*; None if it is malformed, or not from this kernel."""
        try:
            message: dict[str, Any] | None = self._client.session.recv(socket)[1]
        except (ValueError, TypeError, KeyError):
            return None
        return message

    def _interrupt(self, parent: str, cell: Cell) -> None:
        deadline = time.monotonic() + _INTERRUPT_SECONDS
        if sys.platform == "win32":
            self.end()
            return
        # Again and again: code may catch the first, and what waits in C sees it only when that
        # returns.
        while time.monotonic() < deadline:
            self._client.session.send(
                self._control, "interrupt_request"
            )  # a thread of the kernel's signals it
            with suppress(Died):
                for _ in range(10):
                    if self._receive_outputs(parent, cell, lambda text: None):
                        return
        self.end()


def _make_environment(ours: Mapping[str, str]) -> dict[str, str]:
    """What of *ours* a kernel needs: no keys."""
    wanted = (
        "HOME",
        "LANG",
        "LOGNAME",
        "PATH",
        "SHELL",
        "SYSTEMROOT",
        "TMPDIR",
        "TZ",
        "USER",
        "VIRTUAL_ENV",
    )
    return {name: value for name, value in ours.items() if name in wanted or name.startswith("LC_")}


@cache
def _find_namespace_command() -> tuple[str, ...]:
    """The command that gives what it runs a PID namespace and the /proc of that; empty where that
    is impossible.
    """
    if sys.platform != "linux":
        return ()
    bwrap = shutil.which("bwrap")
    if bwrap is None:
        return ()
    # A process that may mount could remove the new /proc, which covers the old one.
    rights = ("--cap-add", "ALL", "--cap-drop", "CAP_SYS_ADMIN") if os.geteuid() == 0 else ()
    command = (bwrap, "--dev-bind", "/", "/", "--unshare-pid", "--proc", "/proc", *rights, "--")
    with suppress(OSError, subprocess.TimeoutExpired):
        options: dict[str, Any] = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.DEVNULL,
            "timeout": _START_SECONDS,
        }
        if subprocess.run([*command, "true"], stderr=subprocess.DEVNULL, **options).returncode == 0:
            return command
    return ()


def _hide_environment() -> None:
    """Keep processes of the same user from reading this one's environment and memory (Linux; root
    still can).

    There are no core dumps of it then, and only root can attach a debugger.
    """
    with suppress(ImportError, AttributeError, OSError):
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
