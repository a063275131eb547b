"""The server as a value: tools, identity and settings, for stdio or for calls within the process."""

from __future__ import annotations

import threading
from _queue import SimpleQueue
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NoReturn

from toolwire_schemas.wire import messages
from toolwire_schemas.wire.codec import decode
from toolwire_schemas.wire.messages import INTERNAL_ERROR
from toolwire_tools import tools_of

from .errors import RequestError
from .protocol.lifecycle import Identity
from .protocol.server_protocol import Catalog
from .runtime.session import Session
from .settings import __version__, settings_of
from .transport import stdio

if TYPE_CHECKING:
    from toolwire_tools import Tool

    from .runtime.writer import Write

OnProgress = Callable[[dict[str, Any]], None]


class Server:
    """Serves *tools*: functions, toolkits (classes or instances), or `Tool`s; resources and prompts likewise.

    *options* are the fields of `Settings`. *version* is that of the tools, shown to clients; by default Toolwire's own.

    Raises:
        RegistrationError: if something in *tools* cannot be a tool.
        TypeError: if *tools* is one thing and no list, or for an option that does not exist.
        ValueError: for two tools of one name, or a setting out of its range.
    """

    def __init__(
        self,
        tools: Iterable[Any] = (),
        *,
        name: str = "toolwire",
        version: str | None = None,
        title: str | None = None,
        instructions: str | None = None,
        **options: Any,
    ) -> None:
        self._settings = settings_of(options)
        self._identity = Identity(name, version or __version__, title, instructions)
        self._given = self._tools_of(tools)
        self._catalog = self._catalog_of(self._given)
        self._sessions: list[Session] = []
        self._changing = threading.RLock()
        self._local: _LocalClient | None = None

    @property
    def tools(self) -> list[Tool]:
        """The tools of the server, under the names shown to clients."""
        return self._catalog.tools

    def serve(self, streams: stdio.Streams | None = None) -> NoReturn:
        """Serve standard input and output until the host hangs up, then exit.

        *streams* are the result of `stdio.claim`, if it was called before.
        """
        stdio.serve(self.open_session, self._settings, streams or stdio.claim())

    def add(self, *things: Any) -> None:
        """Add tools, resources or prompts, as to `Server`, and notify clients. Thread-safe.

        Raises:
            RegistrationError: if one of *things* cannot be a tool.
            ValueError: if there is a tool of that name already.
        """
        with self._changing:
            self.replace([*self._given, *things])

    def remove(self, name: str) -> None:
        """Remove the tool called *name*, or else the prompt, or the resource by its URI; calls in flight finish.

        Thread-safe.

        Raises:
            KeyError: if nothing has that name.
        """
        with self._changing:
            gone = self._catalog.find(name)
            if gone is None:
                from toolwire_schemas.did_you_mean import unknown_name

                raise KeyError(unknown_name("tool", name, self._catalog.by_name))
            self.replace([tool for tool in self._given if self._catalog.find(tool.name, tool.kind) is not gone])

    def replace(self, tools: Iterable[Any]) -> None:
        """Replace all tools, from the next call on. Thread-safe; raises what `add` raises."""
        given = self._tools_of(tools)
        catalog = self._catalog_of(given)
        with self._changing:
            unused = {tool.gate for tool in self._given} - {tool.gate for tool in given}
            self._given, self._catalog = given, catalog
            for session in self._sessions:
                session.replace(catalog)
        for gate in unused:
            if gate is not None:
                gate.retire()

    def _tools_of(self, things: Iterable[Any]) -> list[Tool]:
        if isinstance(things, str) or not hasattr(things, "__iter__"):
            raise TypeError(
                f"tools must be a list such as [add, Library()], not {things!r}; for files, run `toolwire serve`"
            )
        found = [(tool, thing) for thing in things for tool in tools_of(thing)]
        if any(self._settings.isolate or tool.runs_in for tool, _ in found):
            from .isolation.isolated_tool import given

            return given(found, self._settings)
        return [tool for tool, _ in found]

    def _catalog_of(self, tools: list[Tool]) -> Catalog:
        if not self._settings.structured:
            tools = [tool.without_structured() for tool in tools]
        return Catalog(tools, separator=self._settings.separator, page_size=self._settings.page_size)

    def open_session(self, write: Write) -> Session:
        """Return a session with one client in this process: `feed` it the client's bytes, and `end` it.

        It calls *write* with whole messages for the client, from any thread, one at a time.
        """
        with self._changing:
            session = Session(self._catalog, self._identity, self._settings, write)
            self._sessions = [*(other for other in self._sessions if not other.is_ending), session]
        return session

    def request(
        self, method: str, params: dict[str, Any] | None = None, *, on_progress: OnProgress | None = None
    ) -> Any:
        """Return the result of a request, by the same path but without a process: for tests.

        *on_progress* is called with the params of each progress notification.

        Raises:
            RequestError: if the answer is a JSON-RPC error.
        """
        if self._local is None:
            self._local = _LocalClient(self.open_session)
        return self._local.request(method, params, on_progress)

    def close(self) -> None:
        """End the session of `request` and `call`, with its threads. `with Server(...) as server:` does it too."""
        local, self._local = self._local, None
        if local is not None:
            local.end()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def call(self, name: str, arguments: dict[str, Any] | None = None, *, on_progress: OnProgress | None = None) -> Any:
        """Return the result of `tools/call`: a dict with `content`, `isError`, and `structuredContent` if there is any.

        Raises:
            RequestError: if there is no such tool.
        """
        return self.request("tools/call", {"name": name, "arguments": arguments or {}}, on_progress=on_progress)


class _LocalClient:
    def __init__(self, session: Callable[[Write], Session]) -> None:
        self._session = session(self._receive)
        self._lock = threading.Lock()
        self._requests = 0
        self._answers: dict[int, SimpleQueue[dict[str, Any]]] = {}

    def request(self, method: str, params: dict[str, Any] | None, on_progress: OnProgress | None) -> Any:
        answers: SimpleQueue[dict[str, Any]] = SimpleQueue()
        with self._lock:
            self._requests += 1
            number = self._requests
            self._answers[number] = answers
            if on_progress is not None:
                params = {**(params or {})}
                params["_meta"] = {"progressToken": number, **params.get("_meta", {})}
            self._session.feed(messages.request(number, method, params) + b"\n")
        while "id" not in (message := answers.get()):
            if on_progress is not None:
                on_progress(message["params"])
        del self._answers[number]
        if "error" in message:
            error = message["error"]
            raise RequestError(error["code"], error["message"], error.get("data"))
        return message["result"]

    def end(self) -> None:
        self._session.end()
        closed = {"code": INTERNAL_ERROR, "message": "The server was closed before it responded"}
        for answers in list(self._answers.values()):  # for other threads that wait
            answers.put({"id": None, "error": closed})

    def _receive(self, data: bytes) -> None:
        for line in data.splitlines():  # several messages may be written together
            message = decode(line)
            token = message.get("params", {}).get("progressToken")  # other notifications have none
            answers = self._answers.get(message.get("id", token))
            if answers is not None:
                answers.put(message)


def serve(tools: Iterable[Any], **options: Any) -> NoReturn:
    """Serve *tools* over standard input and output until the host hangs up, then exit.

    *options* are those of `Server`. From here on, the output of the process goes to stderr.

    Raises:
        RegistrationError: if something in *tools* cannot be a tool.
        ValueError: for two tools of one name, or a setting out of its range.
    """
    server = Server(tools, **options)
    server.serve()
