"""The process that a host starts for `serve --share` or `wrap --share`: carries bytes between the
host and the shared process.

Strategy. It starts as quickly as Python does, and holds little memory, since there is one for each
session. Each direction has a thread that blocks, so that neither a host nor a process that does not
read holds up the other direction. If the shared process is lost, only this process knows which
requests have no response: it answers them with errors, and connects again when the host sends
more.
"""

from __future__ import annotations

import sys

if sys.platform == "win32":
    raise ImportError("shared processes need Unix sockets, which Windows lacks")

import _signal  # type: ignore[import-not-found]  # `signal` imports others first
import _socket
import os
import select
from _socket import SHUT_WR
from _thread import allocate_lock, start_new_thread

from .open_requests import OpenRequests
from .place import CannotShare, find_place
from .starting import ProcessNotStarted, SessionRefused, connect
from .stateful_servers import find_state, is_always_shared
from .words import can_start, select_own_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, NoReturn

    from .place import Place
    from .starting import SharedConnection

_CHUNK_BYTES = 64 * 1024
_EXIT_SECONDS = 0.5
"""How long the shared process may take to end a session beyond the grace."""

_RESTORE_SECONDS = 30.0
"""How long a new process may take to answer the handshake."""

_CONTROL = b"\0"
"""Begins a line from the shared process to this one: no message holds this byte."""

_MAY_HAVE_RUN = (
    "The shared process ended before it answered: the tool may have done its work, or a part of it."
    " The next request starts a new process"
)
_HAS_NOT_RUN = (
    "The shared process ended before it answered; nothing was changed. The next request starts a"
    " new process"
)
_INTERNAL_ERROR = -32603
_ENDING_SIGNALS = (_signal.SIGTERM, _signal.SIGINT, _signal.SIGHUP)


def carry(words: Sequence[str]) -> str:
    """Carry the bytes of the command line *words* until the session ends, and end the process;
    return the reason if this session cannot share.
    """
    if words[0] == "wrap":
        reason = _find_reason_against(words)
        if reason:
            return reason
    try:
        place = find_place(words)
        connection = connect(place, words)
    except ProcessNotStarted as problem:
        _leave(2, str(problem))
    except (CannotShare, SessionRefused) as problem:
        return str(problem)
    except OSError as error:
        return f"{error.filename or 'a socket'}: {error.strerror}"
    _write_note(connection.note)
    return Carrier(place, words, connection).run()


def _find_reason_against(words: Sequence[str]) -> str:
    """Return why the server of `wrap` with these *words* should not be shared; mostly empty."""
    own = select_own_words(words)
    command = words[len(own) + 1 :]  # after the `--`
    if command and not can_start(command[0]):
        return f"there is no program {command[0]!r} to share"
    if is_always_shared(own):
        return ""
    return find_state(command)


class Carrier:
    """One session: the host at descriptors 0 and 1, the shared process at *connection*."""

    def __init__(self, place: Place, words: Sequence[str], connection: SharedConnection) -> None:
        self._place = place
        self._words = words
        self._connection = connection
        self._requests = OpenRequests()
        self._lock = allocate_lock()  # for the requests and whether the process is lost
        self._is_lost = False
        self._has_hung_up = False
        self._connected = allocate_lock()  # held while there is no connection to read from

    def run(self) -> NoReturn:
        """Carry bytes until the host or the shared process ends the session."""
        for number in _ENDING_SIGNALS:
            if _signal.getsignal(number) is not _signal.SIG_IGN:
                _signal.signal(number, lambda number, frame: self._hang_up())
        _signal.signal(_signal.SIGALRM, lambda number, frame: _leave(0))
        start_new_thread(self._carry_requests, ())
        while True:
            self._carry_responses(self._connection)
            self._lose()
            self._connected.acquire()
            self._connected.release()

    # From the host

    def _carry_requests(self) -> None:
        # They are handled in the main thread, which they must interrupt.
        _signal.pthread_sigmask(_signal.SIG_BLOCK, (*_ENDING_SIGNALS, _signal.SIGALRM))
        try:
            while data := os.read(0, _CHUNK_BYTES):
                with self._lock:
                    is_lost = self._is_lost
                    if not is_lost:
                        self._requests.send(data)
                        connection = self._connection
                if is_lost:
                    connection = self._restore()
                    with self._lock:
                        data = self._requests.take_rest() + data
                        self._requests.send(data)
                self._send(connection, data)
        except OSError:  # the terminal is gone
            pass
        self._hang_up()

    def _send(self, connection: SharedConnection, data: bytes) -> None:
        """Send *data*, and notice if the host hangs up before all is sent."""
        rest = memoryview(data)
        stream = connection.socket
        while rest:
            try:
                sent = stream.send(rest, _socket.MSG_DONTWAIT)
            except BlockingIOError:
                self._wait_until_read(connection)
                continue
            except OSError:  # the other thread notices that the process is lost
                return
            rest = rest[sent:]
            if self._has_hung_up:
                self._end_within_grace()

    def _wait_until_read(self, connection: SharedConnection) -> None:
        poll = select.poll()
        poll.register(connection.socket.fileno(), select.POLLOUT)
        if not self._has_hung_up:
            poll.register(0, 0)  # only for its hang-up
        for descriptor, _ in poll.poll():
            if descriptor == 0:
                self._has_hung_up = True
                self._end_within_grace()

    def _hang_up(self) -> None:
        """End the session: the host has ended it."""
        self._has_hung_up = True
        if self._is_lost:
            _leave(0)
        self._end_within_grace()
        try:
            self._connection.socket.shutdown(SHUT_WR)
        except OSError:  # it has ended as well
            return

    def _end_within_grace(self) -> None:
        seconds = self._connection.grace_seconds + _EXIT_SECONDS
        _signal.setitimer(_signal.ITIMER_REAL, seconds)

    # From the shared process

    def _carry_responses(self, connection: SharedConnection) -> None:
        receive = connection.socket.recv
        while True:
            try:
                data = receive(_CHUNK_BYTES)
            except OSError:
                return
            if not data:
                return
            if _CONTROL in data:
                data = self._obey(connection, data)
            with self._lock:
                self._requests.receive(data)
            _write(data)

    def _obey(self, connection: SharedConnection, data: bytes) -> bytes:
        """Act on the control lines in *data*; return the rest."""
        messages, _, control = data.partition(_CONTROL)
        while b"\n" not in control:
            piece = connection.socket.recv(_CHUNK_BYTES)
            if not piece:
                return messages
            control += piece
        line, _, rest = control.partition(b"\n")
        verb, _, text = line.decode("utf-8", "replace").partition(" ")
        if verb == "end":
            _write(messages)
            status, _, sentence = text.partition(" ")
            _leave(int(status), sentence)
        _write_note(text)
        if _CONTROL in rest:
            rest = self._obey(connection, rest)
        return messages + rest

    # After a loss

    def _lose(self) -> None:
        """Answer what the lost process has left open; end if nothing can go on."""
        if self._has_hung_up:
            _leave(0)
        with self._lock:
            self._is_lost = True
            self._connected.acquire()
            self._connection.close()
            is_within_response = self._requests.is_within_response
            lost = self._requests.take_open()
        if not self._requests.is_exact:
            _leave(1, "the shared process has ended")
        if is_within_response:
            _write(b"\n")
        for id, method in lost.items():
            text = _MAY_HAVE_RUN if method == "tools/call" else _HAS_NOT_RUN
            error = {"code": _INTERNAL_ERROR, "message": text, "data": {"kind": "lost"}}
            response = {"jsonrpc": "2.0", "id": id, "error": error}
            _write(_encode(response))

    def _restore(self) -> SharedConnection:
        """Connect again, and repeat what the session has set; in the thread that reads the host."""
        try:
            connection = connect(self._place, self._words)
            self._repeat_settings(connection)
        except (CannotShare, ProcessNotStarted, SessionRefused, OSError) as problem:
            _leave(2, f"the shared process cannot be started again: {problem}")
        with self._lock:
            self._connection = connection
            self._is_lost = False
        self._connected.release()
        return connection

    def _repeat_settings(self, connection: SharedConnection) -> None:
        stream = connection.socket
        waiting: set[object] = set()
        for number, message in enumerate(self._requests.list_settings()):
            if "id" in message:
                id = f"toolwire-share-{number}"
                message = {**message, "id": id}
                waiting.add(id)
            stream.sendall(_encode(message))
        stream.settimeout(_RESTORE_SECONDS)
        buffer = b""
        while waiting:
            data = stream.recv(_CHUNK_BYTES)
            if not data:
                raise ProcessNotStarted("it has ended")
            if _CONTROL in data:
                data = self._obey(connection, data)
            *lines, buffer = (buffer + data).split(b"\n")
            for line in lines:
                answered = _read_id(line)
                if answered in waiting:
                    waiting.remove(answered)
                else:
                    _write(line + b"\n")
        stream.settimeout(None)
        _write(buffer)


def _encode(message: dict[str, Any]) -> bytes:
    from json import dumps

    return dumps(message, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _read_id(line: bytes) -> object:
    from json import loads

    try:
        message = loads(line)
    except ValueError:
        return None
    return message.get("id") if isinstance(message, dict) else None


def _write(data: bytes) -> None:
    """Write *data* for the host, and wait until it reads."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(1, rest) :]
        except BlockingIOError:  # another process has made the stream so
            poll = select.poll()
            poll.register(1, select.POLLOUT)
            poll.poll()
        except OSError:  # the host has gone
            _leave(0)


def _write_note(sentence: str) -> None:
    if sentence:
        text = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in sentence)
        try:
            os.write(2, f"toolwire: {text}\n".encode("utf-8", "backslashreplace"))
        except OSError:  # the host has gone
            return


def _leave(status: int, sentence: str = "") -> NoReturn:
    """End the process, whatever its threads do."""
    _write_note(sentence)
    os._exit(status)
