"""A client for any tool server on standard streams: ask, wait, hear of progress, cancel."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

from toolwire_schemas import codes
from toolwire_schemas.framing import Lines

from .environment import server_environment
from .errors import (
    BrokenRules,
    CallCancelled,
    ClientError,
    Closed,
    RequestFailed,
    ServerGone,
    TimedOut,
)
from .process import ServerProcess
from .protocol import Answer, Event, Failure, Noise, Progress, Reply, Session, Unreadable
from .results import CallResult, ToolDescription, describe, outcome

if TYPE_CHECKING:
    from types import TracebackType

OnProgress = Callable[[float, float | None, str | None], None]
"""Called with how much is done, of how much (`None` if nobody knows), and what is being done."""

Era = Literal["auto", "modern", "legacy"]

PROBE_SECONDS = 10.0
"""How long a server may take to say that it knows the modern revision. The official client waits as long."""

MAX_MESSAGE_BYTES = 1024 * 1024 * 1024

_MAX_PAGES = 1000
_NOISE_KEPT = 10

# A waiting call looks now and then whether the process is still there: a child of the server that holds its
# output open would hide the server's end. On Windows it is also when Ctrl-C is noticed.
_LOOK_SECONDS = 1.0


class PendingRequest:
    """A request under way. Any thread may wait for it, one at a time, and any other may cancel it."""

    def __init__(self, client: Client, number: int, on_progress: OnProgress | None) -> None:
        self.id = number
        self._client = client
        self._on_progress = on_progress
        self._inbox: queue.SimpleQueue[Event | ClientError] = queue.SimpleQueue()

    def result(self, timeout_seconds: float | None = None) -> Any:
        """Wait for the answer and return its result; progress is reported meanwhile, in this thread.

        Raises:
            RequestFailed: if the answer is an error.
            TimedOut: if it takes too long; the request is cancelled then, as on any exception while waiting.
            CallCancelled: if it was cancelled from another thread.
            ServerGone: if the server ended.
            BrokenRules: if the answer cannot be read.
        """
        try:
            return self._wait(None if timeout_seconds is None else time.monotonic() + timeout_seconds)
        except TimeoutError:
            self._client._cancel(self.id, "timed out")
            raise TimedOut(f"no answer within {timeout_seconds:g} s") from None
        except ClientError:
            raise
        except BaseException:  # Ctrl-C, or an exception of the progress callback
            self._client._cancel(self.id, "no longer waited for")
            raise

    def cancel(self, reason: str = "cancelled by the client") -> None:
        """Tell the server that the answer is no longer wanted, and wake whoever waits for it."""
        if self._client._cancel(self.id, reason):
            self._inbox.put(CallCancelled(reason))

    def _wait(self, deadline: float | None) -> Any:
        while True:
            match self._next(deadline):
                case Answer(result=result):
                    return result
                case Failure(code=code, message=message, data=data):
                    raise RequestFailed(code, message, data)
                case Progress(done=done, total=total, message=message) if self._on_progress is not None:
                    self._on_progress(done, total, message)
                case Unreadable(reason=reason):
                    raise BrokenRules(reason)
                case ClientError() as error:
                    raise error

    def _next(self, deadline: float | None) -> Event | ClientError:
        while True:
            left = _LOOK_SECONDS if deadline is None else min(_LOOK_SECONDS, deadline - time.monotonic())
            try:
                return self._inbox.get(timeout=max(left, 0))
            except queue.Empty:
                if deadline is not None and time.monotonic() >= deadline:
                    raise TimeoutError from None
                self._client._look()


class PendingCall:
    """A tool call under way."""

    def __init__(self, request: PendingRequest) -> None:
        self.id = request.id
        self._request = request

    def result(self, timeout_seconds: float | None = None) -> CallResult:
        """Wait for what the call comes to; raises as `PendingRequest.result` does."""
        return outcome(self._request.result(timeout_seconds))

    def cancel(self, reason: str = "cancelled by the client") -> None:
        """Tell the server that the result is no longer wanted, and wake whoever waits for it."""
        self._request.cancel(reason)


class Client:
    """A tool server's other end. Open inside `with`, where the server's process lives.

    `version` is the MCP revision spoken, `server_info` the server's name and version as it tells them,
    `instructions` what it says about its use. `noise` counts the lines on its output that were no messages;
    `noise_tail` holds the last of them.

    Raises (on entering):
        NotStarted: if the command cannot be run.
        ServerGone: if the server ends before it is ready.
        RequestFailed, BrokenRules: if it refuses every revision of MCP known here.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        inherit_env: bool = False,
        cwd: str | os.PathLike[str] | None = None,
        era: Era = "auto",
        show_stderr: bool = False,
        name: str = "toolwire",
        client_version: str = "0.1.0",
    ) -> None:
        self.server_info: dict[str, Any] = {}
        self.instructions: str | None = None
        self.capabilities: dict[str, Any] = {}
        self.noise = 0
        self.noise_tail: list[str] = []
        self._command = list(command)
        self._env = {**os.environ, **(env or {})} if inherit_env else server_environment(env)
        self._cwd = cwd
        self._era: Era = era
        self._show_stderr = show_stderr
        self._session = Session(name, client_version)
        self._lock = threading.Lock()
        self._pending: dict[int, PendingRequest] = {}
        self._end: ClientError | None = Closed("the client is not open: use it inside its `with` block")
        self._process: ServerProcess | None = None
        self._gone_since: float | None = None

    def __enter__(self) -> Self:
        try:
            self._start()
            self._negotiate()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    @property
    def version(self) -> str | None:
        """The MCP revision spoken."""
        return self._session.version

    @property
    def stderr(self) -> str:
        """The last lines the server wrote to its stderr."""
        return self._process.stderr_tail() if self._process else ""

    @property
    def pid(self) -> int | None:
        """The server's process id; `None` while there is no process."""
        return self._process.pid if self._process else None

    def list_tools(self, *, timeout_seconds: float | None = None) -> list[ToolDescription]:
        """Return every tool the server has, from all its pages."""
        return list(map(describe, self.list_entries(timeout_seconds=timeout_seconds)))

    def list_entries(self, *, timeout_seconds: float | None = None) -> list[Any]:
        """Return the same as the server sent it; an entry may be anything that JSON can say."""
        entries: list[Any] = []
        cursor: dict[str, Any] = {}
        for _ in range(_MAX_PAGES):
            page = self.request("tools/list", dict(cursor), timeout_seconds=timeout_seconds)
            if not isinstance(page, dict) or not isinstance(page.get("tools"), list):
                raise BrokenRules("the server's list of tools is no list")
            entries += page["tools"]
            following = page.get("nextCursor")
            if following is None or following == cursor.get("cursor"):
                return entries
            cursor = {"cursor": following}
        raise BrokenRules(f"the server's list of tools goes on after {_MAX_PAGES} pages")

    def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_progress: OnProgress | None = None,
        timeout_seconds: float | None = None,
    ) -> CallResult:
        """Call a tool and wait for what it comes to. A tool that fails is a result too: see `is_error`."""
        return self.start(name, arguments, on_progress=on_progress).result(timeout_seconds)

    def start(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        on_progress: OnProgress | None = None,
    ) -> PendingCall:
        """Call a tool and return at once."""
        params = {"name": name, "arguments": dict(arguments or {})}
        return PendingCall(self._begin("tools/call", params, on_progress))

    def ping(self, *, timeout_seconds: float | None = None) -> float:
        """Return how many seconds the server takes to answer anything at all.

        The modern revision has no `ping`: there it is asked to describe itself.
        """
        method = "server/discover" if self.version in codes.MODERN_VERSIONS else "ping"
        start = time.perf_counter()
        self.request(method, timeout_seconds=timeout_seconds)
        return time.perf_counter() - start

    def request(
        self,
        method: str,
        params: dict[str, Any] | None = None,
        *,
        on_progress: OnProgress | None = None,
        timeout_seconds: float | None = None,
    ) -> Any:
        """Send any request and return its result; raises as `PendingRequest.result` does."""
        return self._begin(method, params, on_progress).result(timeout_seconds)

    def close(self) -> None:
        """End the server. Whoever still waits is told; a second time does nothing."""
        self._fail(Closed("the client was closed"))
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def _start(self) -> None:
        lines = Lines(MAX_MESSAGE_BYTES)

        def read(data: bytes) -> None:
            self._receive(lines, data)

        self._end = self._gone_since = None
        self._process = process = ServerProcess(
            self._command,
            env=self._env,
            cwd=self._cwd,
            show_stderr=self._show_stderr,
            on_data=read,
            on_end=lambda: self._fail(ServerGone(process.exit_status(), process.stderr_tail())),
        )

    def _negotiate(self) -> None:
        if self._era == "legacy" or not self._discover():
            self._initialize()

    def _discover(self) -> bool:
        """Whether the server speaks a modern revision."""
        try:
            answer = self._ask(*self._session.discover(), timeout_seconds=PROBE_SECONDS)
        except (RequestFailed, BrokenRules, TimedOut):
            if self._era == "modern":
                raise
            return False
        except ServerGone:
            # Servers written for older revisions may end at a first request that they do not know.
            if self._era == "modern":
                raise
            self.close()
            self._start()
            return False
        offered = answer.get("supportedVersions") if isinstance(answer, dict) else None
        if not isinstance(offered, list) or codes.MODERN_VERSIONS[-1] not in offered:
            if self._era == "modern":
                raise BrokenRules(f"the server does not speak MCP {codes.MODERN_VERSIONS[-1]}")
            return False
        self._session.version = codes.MODERN_VERSIONS[-1]
        meta = answer.get("_meta")
        self._introduce(answer, meta.get(codes.META_SERVER_INFO) if isinstance(meta, dict) else None)
        return True

    def _initialize(self) -> None:
        answer = self._ask(*self._session.initialize(), timeout_seconds=None)
        version = answer.get("protocolVersion") if isinstance(answer, dict) else None
        if version not in codes.LEGACY_VERSIONS:
            raise BrokenRules(f"the server speaks MCP {version!r}, which is not known here")
        self._session.version = version
        self._introduce(answer, answer.get("serverInfo"))
        self._send(self._session.initialized())

    def _introduce(self, answer: dict[str, Any], info: Any) -> None:
        self.server_info = info if isinstance(info, dict) else {}
        capabilities, instructions = answer.get("capabilities"), answer.get("instructions")
        self.capabilities = capabilities if isinstance(capabilities, dict) else {}
        self.instructions = instructions if isinstance(instructions, str) else None

    def _begin(self, method: str, params: dict[str, Any] | None, on_progress: OnProgress | None) -> PendingRequest:
        number, message = self._session.request(method, params, progress=on_progress is not None)
        return self._dispatch(number, message, on_progress)

    def _ask(self, number: int, message: bytes, *, timeout_seconds: float | None) -> Any:
        return self._dispatch(number, message, None).result(timeout_seconds)

    def _dispatch(self, number: int, message: bytes, on_progress: OnProgress | None) -> PendingRequest:
        pending = PendingRequest(self, number, on_progress)
        with self._lock:
            if self._end is not None:
                raise self._end
            self._pending[number] = pending
        self._send(message)
        return pending

    def _send(self, message: bytes) -> None:
        if self._process is not None:
            self._process.send(message + b"\n")

    def _cancel(self, number: int, reason: str) -> bool:
        """Whether request *number* was still under way; it no longer is, and the server is told."""
        with self._lock:
            if self._pending.pop(number, None) is None:
                return False
        # MCP forbids to cancel the handshake; there the process is about to be ended anyway.
        if self.version is not None:
            self._send(self._session.cancelled(number, reason))
        return True

    def _receive(self, lines: Lines, data: bytes) -> None:
        for frame in lines.feed(data):
            for event in self._session.receive(frame):
                self._take(event)

    def _take(self, event: Event) -> None:
        match event:
            case Answer(id=number) | Failure(id=number) | Unreadable(id=int(number)):
                with self._lock:
                    pending = self._pending.pop(number, None)
                if pending is not None:  # otherwise it was cancelled, and the answer was on its way
                    pending._inbox.put(event)
            case Progress(id=number):
                with self._lock:
                    pending = self._pending.get(number)
                if pending is not None:
                    pending._inbox.put(event)
            case Reply(message=message):
                self._send(message)
            case Noise(text=text):
                self.noise += 1
                self.noise_tail = [*self.noise_tail, text][-_NOISE_KEPT:]
            case Unreadable(reason=reason):
                self._fail(BrokenRules(reason))

    def _look(self) -> None:
        """Notice the end of a server whose output somebody else still holds open."""
        process = self._process
        if process is None or process.exit_status() is None:
            return
        now = time.monotonic()
        if self._gone_since is None:  # what it wrote last may still be on its way to us
            self._gone_since = now
        elif now - self._gone_since >= _LOOK_SECONDS / 2:
            self._fail(ServerGone(process.exit_status(), process.stderr_tail()))

    def _fail(self, error: ClientError) -> None:
        """Tell everybody who waits, and everybody who asks from now on."""
        with self._lock:
            if self._end is None:
                self._end = error
            waiting, self._pending = list(self._pending.values()), {}
        for pending in waiting:
            pending._inbox.put(error)


def connect(
    command: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    inherit_env: bool = False,
    cwd: str | os.PathLike[str] | None = None,
    era: Era = "auto",
    show_stderr: bool = False,
) -> Client:
    """Return a client for the server that *command* starts; it runs inside the client's `with` block.

    The server is given a handful of our environment variables (as by the official clients) and *env*;
    *inherit_env* gives it all of them. *era* asks for one family of MCP revisions; by itself the modern one is
    tried first. *show_stderr* passes what the server writes to its stderr on to ours.
    """
    return Client(command, env=env, inherit_env=inherit_env, cwd=cwd, era=era, show_stderr=show_stderr)
