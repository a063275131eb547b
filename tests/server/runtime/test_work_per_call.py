"""The work that every call takes, counted and not timed."""

from __future__ import annotations

import gc
import json
import sys
from collections import Counter
from typing import Any

from support.server_process import call, protocol_of
from toolwire_schemas.wire.codec import encode


def add(a: int, b: int) -> int:
    return a + b


def functions_of_a_call(protocol: Any, number: int) -> Counter[str]:
    """Return the Python functions that run from the frame of a call to its response, each with how
    often.
    """
    frame = json.dumps(call("add", {"a": 1, "b": 2}, id=number)).encode()
    ran: Counter[str] = Counter()

    def note(frame: Any, event: str, argument: object) -> None:
        if event == "call":
            ran[frame.f_code.co_qualname] += 1

    gc.disable()  # hypothesis has a callback of each collection
    sys.setprofile(note)
    try:
        [made] = protocol.receive(frame)
        message = protocol.in_flight.finish(
            made, made.handler.call(made.arguments, made, made.strict_arguments)
        )
    finally:
        sys.setprofile(None)
        gc.enable()
    assert json.loads(message)["result"]["structuredContent"] == {"result": 3}
    return ran


def test_a_plain_call_runs_no_more_functions_than_it_needs() -> None:
    protocol = protocol_of(add)
    encode([])  # from then on, orjson encodes, which is one function more
    functions_of_a_call(protocol, 1)  # the first call makes what later ones use

    assert functions_of_a_call(protocol, 2).total() <= 17, "including the tool itself"
