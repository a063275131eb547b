"""Messages: what they take while they wait."""

from __future__ import annotations

import sys
import tracemalloc

from toolwire_schemas.wire import messages


def test_a_short_response_that_waits_takes_little_more_memory_than_its_length() -> None:
    tracemalloc.start()
    try:
        waiting = [messages.response(number, {"sum": number}) for number in range(1000)]
        taken, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert taken < 2 * (sys.getsizeof(waiting) + sum(map(sys.getsizeof, waiting)))
