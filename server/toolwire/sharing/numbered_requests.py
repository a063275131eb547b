"""The open requests of several sessions to one server, each by a number that is unique there."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Hashable


class NumberedRequest(msgspec.Struct):
    """A request that the server has not answered: the JSON of the id and of the progress token that
    *session* chose, which is `None` if nothing waits for the response.
    """

    session: Hashable | None
    id: bytes
    method: str
    token: bytes = b""


class NumberedRequests:
    """Finds open requests by their numbers, and by the ids that their sessions chose."""

    def __init__(self) -> None:
        self._next = count(1)
        self._open: dict[int, NumberedRequest] = {}
        self._numbers: dict[tuple[Hashable, bytes], int] = {}

    def take_number(self) -> int:
        """Return a number that no other request has."""
        return next(self._next)

    def add(self, request: NumberedRequest) -> int:
        """Return the number of a new *request*."""
        number = self.take_number()
        self._open[number] = request
        self._numbers[request.session, request.id] = number
        return number

    def remove(self, number: int) -> NumberedRequest | None:
        """Return the request with this *number*, which is not open any more; `None` without one."""
        request = self._open.pop(number, None)
        if request is None:
            return None
        key = request.session, request.id
        # The session may have used the id again.
        if self._numbers.get(key) == number:
            del self._numbers[key]
        return request

    def find(self, number: int | None) -> NumberedRequest | None:
        """Return the open request with this *number*; `None` if nothing waits for it."""
        if number is None:
            return None
        request = self._open.get(number)
        if request is None or request.session is None:
            return None
        return request

    def find_number(self, session: Hashable, id: bytes) -> int | None:
        """Return the number of the open request that *session* has given this *id*."""
        return self._numbers.get((session, id))

    def find_number_of_method(self, method: str) -> int | None:
        """Return the number of the first open request of *method*."""
        for number, request in self._open.items():
            if request.method == method:
                return number
        return None

    def list_open(self, session: Hashable) -> list[tuple[int, NumberedRequest]]:
        """Return the open requests of *session* with their numbers."""
        found = []
        for number, request in self._open.items():
            if request.session is session:
                found.append((number, request))
        return found

    def list_busy_sessions(self) -> list[Hashable]:
        """Return the sessions with open requests, each once."""
        busy: dict[Hashable, None] = {}
        for request in self._open.values():
            if request.session is not None:
                busy[request.session] = None
        return list(busy)
