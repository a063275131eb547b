"""Keeps the requests of a session that have no response yet, for the case that the shared process
is lost.

Strategy. Reading every message would cost more than carrying it. So traffic is only kept, up to a
limit, and read when that is reached or the process is lost. Most of a message need not be decoded:
the responses of our server begin with their id, as the requests of many hosts do.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MAX_KEPT_BYTES = 256 * 1024
_MAX_LINE_BYTES = 1024 * 1024
"""Of a longer request, the id is not read."""

_MAX_SUBSCRIPTIONS = 1000
_START = b'{"jsonrpc":"2.0","id":'
_METHOD = b',"method":"'
_OUTCOMES = (b',"result":', b',"error":')
_MAX_ID_BYTES = 100
"""A longer id is looked for by decoding the message."""

_CALL = b'tools/call"'
_ONCE = ("initialize", "notifications/initialized", "logging/setLevel")
_SUBSCRIBE = "resources/subscribe"
_UNSUBSCRIBE = "resources/unsubscribe"


class OpenRequests:
    """Follows the lines of a session in both directions. Needs a lock if threads share it."""

    def __init__(self) -> None:
        self.is_exact = True
        """False if a request may be open that is not known: the host uses headers, or sent a line
        that is too long.
        """
        self._kept: list[tuple[bool, bytes]] = []
        self._kept_bytes = 0
        self._requests = _Lines()
        self._responses = _Lines()
        self._open: dict[bytes, str] = {}  # by the JSON of the id
        self._settings: dict[str, dict[str, Any]] = {}

    @property
    def is_within_response(self) -> bool:
        """Whether the last line for the host has no end."""
        self._read()
        return bool(self._responses.get_rest())

    def send(self, data: bytes) -> None:
        """Keep *data* of the host."""
        self._keep(True, data)

    def receive(self, data: bytes) -> None:
        """Keep *data* for the host."""
        self._keep(False, data)

    def take_open(self) -> dict[str | int, str]:
        """Return the method of each request without a response, by its id; they are not open any
        more.
        """
        self._read()
        from json import loads

        taken = {loads(id): method for id, method in self._open.items()}
        self._open, self._responses = {}, _Lines()
        return taken

    def take_rest(self) -> bytes:
        """Return the beginning of a request whose end has not been sent, and forget it."""
        self._read()
        rest, self._requests = self._requests.get_rest(), _Lines()
        return rest

    def list_settings(self) -> list[dict[str, Any]]:
        """Return the messages that another process needs to go on with this session: the handshake,
        the log level, subscriptions.
        """
        self._read()
        return list(self._settings.values())

    def _keep(self, is_request: bool, data: bytes) -> None:
        if not self.is_exact:
            return
        self._kept.append((is_request, data))
        self._kept_bytes += len(data)
        if self._kept_bytes > _MAX_KEPT_BYTES:
            self._read()

    def _read(self) -> None:
        kept, self._kept, self._kept_bytes = self._kept, [], 0
        for is_request, data in kept:
            lines = self._requests if is_request else self._responses
            for line in lines.feed(data):
                if is_request:
                    self._read_request(line)
                else:
                    self._read_response(line)
        if self._requests.is_too_long or self._requests.has_headers:
            self.is_exact = False

    def _read_request(self, line: bytes) -> None:
        end = _find_end_of_id(line)
        if line.startswith(_METHOD, end):
            start = end + len(_METHOD)
            if line.startswith(_CALL, start):
                self._open[line[len(_START) : end]] = "tools/call"
                return
        for message in _decode(line):
            self._note(message)

    def _note(self, message: dict[str, Any]) -> None:
        method, id = message.get("method"), message.get("id")
        if not isinstance(method, str):  # a response to a request of the server
            return
        params = message.get("params")
        if not isinstance(params, dict):
            params = {}
        if method == "notifications/cancelled":  # such a request gets no response
            self._forget(params.get("requestId"))
            return
        if isinstance(id, str | int):
            self._open[_encode_id(id)] = method
        if method in _ONCE:
            self._settings[method] = message
        uri = params.get("uri")
        if method == _UNSUBSCRIBE:
            self._settings.pop(f"{_SUBSCRIBE} {uri}", None)
        if method == _SUBSCRIBE and len(self._settings) < _MAX_SUBSCRIPTIONS:
            self._settings[f"{_SUBSCRIBE} {uri}"] = message

    def _read_response(self, line: bytes) -> None:
        end = _find_end_of_id(line)
        if line.startswith(_OUTCOMES, end):
            self._open.pop(line[len(_START) : end], None)
            return
        if b'"id"' not in line:
            return
        for message in _decode(line):
            if "method" not in message:  # which a request of the server has
                self._forget(message.get("id"))

    def _forget(self, id: object) -> None:
        if isinstance(id, str | int):
            self._open.pop(_encode_id(id), None)


class _Lines:
    """Splits a stream into lines; keeps the beginning of the last."""

    def __init__(self) -> None:
        self.is_too_long = False
        self.has_headers = False
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[bytes]:
        """Return the lines that *data* completes."""
        first, newline, rest = data.partition(b"\n")
        self._add(first)
        if not newline:
            return []
        line = b"".join(self._parts)
        self._parts, self._size = [], 0
        lines = [line, *rest.split(b"\n")]
        self._add(lines.pop())
        if line[:15].lower() == b"content-length:":
            self.has_headers = True
        return lines

    def get_rest(self) -> bytes:
        """Return the beginning of a line that has no end yet."""
        return b"".join(self._parts)

    def _add(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > _MAX_LINE_BYTES:
            self.is_too_long = True
            part = b""
        if part:
            self._parts.append(part)


def _find_end_of_id(line: bytes) -> int:
    """Return where the id ends that *line* begins with; its length if it begins otherwise, or if
    the JSON of the id is not the one that `_encode_id` makes.
    """
    if not line.startswith(_START):
        return len(line)
    end = line.find(b",", len(_START), len(_START) + _MAX_ID_BYTES)
    if end < 0 or b"\\" in line[len(_START) : end]:
        return len(line)
    return end


def _encode_id(id: str | int) -> bytes:
    from json import dumps

    return dumps(id, ensure_ascii=False).encode("utf-8", "surrogatepass")


def _decode(line: bytes) -> list[dict[str, Any]]:
    """Return the messages of *line*: none, one, or those of a batch."""
    from json import loads

    try:
        decoded = loads(line)
    except (ValueError, RecursionError):
        return []
    messages = decoded if isinstance(decoded, list) else [decoded]
    return [message for message in messages if isinstance(message, dict)]
