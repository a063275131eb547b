"""What many tools cost, counted in calls of functions, which no load of the machine changes:
the start and the list grow with the tools, a call does not.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from support.server_process import answers, call, protocol_of, request
from toolwire.protocol.server_protocol import ServerProtocol


def make_function(number: int) -> Callable[..., Any]:
    def add(a: int, b: int = 1) -> int:
        """Add two whole numbers."""
        return a + b

    add.__name__ = add.__qualname__ = f"add_{number}"
    return add


def count_calls(action: Callable[[], Any]) -> tuple[Any, int]:
    """Return the result of *action*, and how many functions it has called."""
    count = 0

    def note(frame: object, event: str, argument: object) -> None:
        nonlocal count
        if event in ("call", "c_call"):
            count += 1

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        result = action()
    finally:
        sys.setprofile(before)
    return result, count


def measure(tools: int) -> tuple[int, int, int]:
    """Return the calls of a start, of a list, and of a call of the last tool."""
    functions = list(map(make_function, range(tools)))
    protocol: ServerProtocol
    protocol, start = count_calls(lambda: protocol_of(*functions))
    answers(protocol, call(functions[0].__name__, {"a": 1}))  # what is prepared once
    [listed], listing = count_calls(lambda: answers(protocol, request("tools/list")))
    assert len(listed["result"]["tools"]) == tools
    last = call(functions[-1].__name__, {"a": 1})
    [answer], calling = count_calls(lambda: answers(protocol, last))
    assert answer["result"]["structuredContent"] == {"result": 2}
    return start, listing, calling


def test_start_and_list_grow_with_the_tools_and_a_call_does_not() -> None:
    measure(2)  # imports
    start_of_few, list_of_few, call_of_few = measure(60)
    start_of_many, list_of_many, call_of_many = measure(300)

    assert start_of_many < 5.5 * start_of_few
    assert list_of_many < 5.5 * list_of_few
    assert call_of_many < 1.1 * call_of_few
