"""How many calls of some tools may run at once; the others wait here, and no thread waits with them."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..protocol.call import Call


class Gate:
    """Lets *room* calls in at a time, in the order in which they came. None of its methods waits."""

    def __init__(self, room: int) -> None:
        self._lock = threading.Lock()
        self._room = room
        self._waiting: deque[Call] = deque()
        self._called: set[Call] = set()  # from among the waiting: they have a place already

    def enter(self, call: Call) -> bool:
        """Return whether *call* may run now; if not, it is kept until another one leaves."""
        with self._lock:
            if call in self._called:
                self._called.remove(call)
                return True
            if self._room == 0:
                call.worker = None  # which goes on to other calls, and must not be given up for this one
                self._waiting.append(call)
                return False
            self._room -= 1
            return True

    def leave(self) -> Call | None:
        """Give up the place of a call that has ended; return the call that gets it, which is now to enter."""
        with self._lock:
            if self._waiting:
                call = self._waiting.popleft()
                self._called.add(call)  # even if it has ended: whoever runs it then lets go of it
                return call
            self._room += 1
            return None
