"""Engines: what runs the jobs that start workers on nodes, as executors of `concurrent.futures`."""

from __future__ import annotations

import atexit
import os
import socket
import tempfile
import threading
from concurrent.futures import CancelledError, Future
from functools import cache, partial
from importlib.util import find_spec
from queue import Empty
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import parse_qsl, urlsplit

import msgspec
from toolwire_client.errors import NotStarted
from toolwire_client.waiting.base import run_in_daemon_thread
from toolwire_schemas.install_command import install_command

from ...protocol.in_flight import make_cancelled_error
from ...version import __version__
from . import node
from .connections import NodeTransport, get_listener

if TYPE_CHECKING:
    from collections.abc import Callable
    from concurrent.futures import Executor

    from ...protocol.call import Call
    from ..worker_spec import News, WorkerSpec

    class JobExecutor(Protocol):
        """An executor of `concurrent.futures`, as far as an engine uses it."""

        def submit(self, function: Callable[..., None], words: dict[str, Any], /) -> Future[None]:
            """Have the job run *function* with *words*."""


_CONNECT_SECONDS = 5

_WAIT_SECONDS = 600.0
"""How long a call waits for a place in the engine."""

_IDLE_SECONDS = 5.0
"""How long an idle worker keeps its place from others."""


class Connected(msgspec.Struct, frozen=True):
    """An executor, and the address of its scheduler; "" if that is on this machine."""

    executor: JobExecutor
    scheduler: str


@cache
def get_engine(where: str | Executor) -> Engine:
    """Return the engine that *where* means, one for all servers of this process.

    Raises:
        ValueError: if there is no such engine, or if its package is not installed.
    """
    if not isinstance(where, str) and hasattr(where, "submit"):
        atexit.register(_end, where)
        scheduler = getattr(
            getattr(where, "_client", None), "scheduler", None
        )  # of Dask's ClientExecutor
        connected = Connected(where, getattr(scheduler, "address", ""))
        return Engine(type(where).__name__, {}, lambda: connected)
    kind, _, rest = str(where).partition(":")
    place, _, query = rest.partition("?")
    if kind not in _KINDS or not place:
        known = "dask:tcp://HOST:PORT, dask:local, submitit:slurm or process"
        raise ValueError(f"{where!r} is no engine; write --run-on NAME={known}")
    package, extra, connect = _KINDS[kind]
    if find_spec(package) is None:
        raise ValueError(
            f"{kind} needs the package {package}: {install_command(f'toolwire[{extra}]')}"
        )
    options = dict(parse_qsl(query))
    return Engine(f"{kind}:{place}", options, partial(connect, place, options))


def _end(executor: Executor) -> None:
    """Let go of *executor* at the exit, which may not wait: the processes of a pool would stay."""
    processes = list((getattr(executor, "_processes", None) or {}).values())
    if hasattr(executor, "shutdown"):
        executor.shutdown(wait=False)
    for process in processes:
        process.kill()


class Engine:
    """Starts workers by jobs of the executor that *connect* returns when it is first needed."""

    def __init__(
        self, name: str, options: dict[str, str], connect: Callable[[], Connected]
    ) -> None:
        self.name = name
        self._listen = options.pop("listen", "")
        try:
            self._wait_seconds = float(options.pop("wait", _WAIT_SECONDS))
            self.idle_seconds = float(options.pop("idle", _IDLE_SECONDS))
        except ValueError as error:
            raise ValueError(f"{name}: wait and idle are numbers of seconds ({error})") from None
        self._connect = connect
        self._connected: Future[Connected] | None = None
        """The connection that calls wait for, also if it fails."""
        self._changing = threading.Lock()

    def start(self, spec: WorkerSpec, call: Call, news: News) -> NodeTransport:
        """Return the transport to a new worker of *spec*, for *call*; see `ProcessPool`.

        Raises:
            NotStarted: if it could not be started.
            InterruptedError: if *news* has received `None`.
            Cancelled: if the call has ended.
        """
        call.stop = partial(news.put, None)
        secret, job = b"", None
        try:
            with self._changing:
                self._connected = self._connected or run_in_daemon_thread(self._connect)
            connected = self._connected.result()
            door = get_listener(self._listen or _find_address(connected.scheduler))
            if not news.empty():  # so that no job is submitted to be cancelled at once
                self._make_connection(news, call)
            secret = door.expect(news.put)
            words = {"version": __version__, "address": door.address, "secret": secret}
            job = connected.executor.submit(
                node.run_job, {**words, "spec": msgspec.to_builtins(spec)}
            )
            job.add_done_callback(news.put)
            return NodeTransport(self._make_connection(news, call), job.cancel)
        except BaseException as error:
            if job is not None:
                job.cancel()
            if isinstance(error, InterruptedError) or not isinstance(error, Exception):
                raise
            if job is None or isinstance(error, CancelledError):
                self._connected = None
            raise NotStarted(f"{self.name}: {_explain_failure(error)}") from None
        finally:
            call.stop = None
            if secret:
                door.forget(secret)
                while not news.empty():
                    if isinstance(late := news.get(), socket.socket):
                        late.close()  # else its worker would keep its place

    def _make_connection(self, news: News, call: Call) -> socket.socket:
        try:
            found = None if call.ended else news.get(timeout=self._wait_seconds)
        except Empty:
            raise TimeoutError(f"none was free within {self._wait_seconds:g} seconds") from None
        if call.ended:
            news.put(found)
            raise make_cancelled_error(call)
        if found is None:
            raise InterruptedError
        if isinstance(found, Future):
            found.result()
            raise RuntimeError("its job ended before it had connected")
        assert isinstance(found, socket.socket)
        return found


def _explain_failure(error: Exception) -> str:
    """Return why there is no worker; submitit's errors have the traceback of a job, with our error
    as a line of it.
    """
    if isinstance(error, CancelledError):
        return "its scheduler is gone"
    lines = [line for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
    ours = [
        line.removeprefix("RuntimeError: ") for line in lines if line.startswith("RuntimeError: ")
    ]
    return (ours or lines)[0][:500]


def _find_address(scheduler: str) -> str:
    """Return the address of this machine on the interface that leads to *scheduler*."""
    url = urlsplit(scheduler if "://" in scheduler else f"//{scheduler}")
    if not url.hostname or url.scheme == "inproc":
        return "127.0.0.1"
    family, *_, address = socket.getaddrinfo(url.hostname, url.port or 9, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect(address)  # which sends nothing
        return str(probe.getsockname()[0])


def _make_dask(place: str, options: dict[str, str]) -> Connected:
    from distributed import Client, LocalCluster

    if options:
        raise ValueError(f"Dask has no option {', '.join(options)}")
    # Threads are enough, since tools run in Toolwire's processes. Dask always serves HTTP, without
    # an address to all.
    here = dict.fromkeys(("dashboard_address", "worker_dashboard_address"), "127.0.0.1:0")
    local = {"n_workers": 1, "threads_per_worker": os.cpu_count(), "processes": False, **here}
    cluster = LocalCluster(**local, silence_logs="ERROR") if place == "local" else place
    connect = partial(Client, cluster, timeout=_CONNECT_SECONDS, set_as_default=False)
    try:
        client = connect()
    except (
        AssertionError
    ):  # Dask's, if the greeting of a busy scheduler comes together with other messages
        client = connect()
    return Connected(client.get_executor(pure=False, retries=0), client.scheduler.address)


class _Submitit:
    """Submits each job from a folder of its own, which only this user can read: the secret is
    there.
    """

    def __init__(self, cluster: str, options: dict[str, str]) -> None:
        self._cluster = cluster
        self._folder = options.pop("folder", os.path.expanduser("~/.cache/toolwire/jobs"))
        self._options = {
            key: int(value) if value.isdigit() else value for key, value in options.items()
        }

    def submit(self, function: Callable[..., None], words: dict[str, Any]) -> Future[None]:
        from submitit import AutoExecutor

        os.makedirs(self._folder, exist_ok=True)
        folder = tempfile.TemporaryDirectory(dir=self._folder, ignore_cleanup_errors=True)
        executor = AutoExecutor(folder.name, cluster=self._cluster)
        executor.update_parameters(**self._options)
        job = executor.submit(function, words)
        future = run_in_daemon_thread(partial(_get_result, job, folder))
        future.add_done_callback(
            lambda future: job.cancel(check=False) if future.cancelled() else None
        )
        return future


def _get_result(job: Any, folder: tempfile.TemporaryDirectory[str]) -> None:
    with folder:
        job.result()


def _make_submitit(cluster: str, options: dict[str, str]) -> Connected:
    is_here = cluster in ("local", "debug")
    return Connected(_Submitit(cluster, options), "" if is_here else socket.gethostname())


_KINDS = {
    "dask": ("distributed", "dask", _make_dask),
    "submitit": ("submitit", "slurm", _make_submitit),
}
