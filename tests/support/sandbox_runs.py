"""Runs code with PythonInterpreter, says whether there is a sandbox, and finds processes by
name.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any

import pytest
from toolwire_bundled import find_class
from toolwire_bundled.python_interpreter.sandbox_probe import find_protection
from toolwire_bundled.python_interpreter.syscalls import Machine, _list_steps
from toolwire_tools import ToolError
from toolwire_tools.discovery import find_tools

from support.recording_caller import RecordingCaller


def need_sandbox() -> None:
    """Skip the test where there is no sandbox, or fail it where there has to be one."""
    try:
        find_protection("required")
    except ToolError as error:
        if os.environ.get("TOOLWIRE_REQUIRE_PEERS") == "1":
            pytest.fail(str(error), pytrace=False)
        pytest.skip(str(error))


def called(code: str, caller: Any = None, /, **settings: Any) -> dict[str, Any]:
    """The result of a call, as a server sends it."""
    (tool,) = find_tools(find_class("PythonInterpreter")(**settings))
    return tool.call({"command": code}, caller or RecordingCaller())


def texts(code: str, /, **settings: Any) -> list[str]:
    """The texts of a result."""
    return [block["text"] for block in called(code, **settings)["content"]]


def failure(code: str, /, **settings: Any) -> str:
    """Why a call failed."""
    with pytest.raises(ToolError) as caught:
        called(code, **settings)
    return str(caught.value)


def called_by(name: str) -> list[int]:
    """The living processes that call themselves *name*, as `NAMED` does; their children do, too."""
    return [
        int(path.parent.name)
        for path in Path("/proc").glob("[0-9]*/stat")
        if _is_called(path, name)
    ]


def _is_called(path: Path, name: str) -> bool:
    try:
        state = path.read_text()
    except OSError:  # it has just ended
        return False
    return f"({name}) " in state and f"({name}) Z" not in state


NAMED = "import ctypes\nctypes.CDLL(None).prctl(15, {!r}.encode(), 0, 0, 0)  # PR_SET_NAME\n"
"""Code by which a process calls itself something, at most 15 characters."""


# What the filter of system calls decides

ALLOWED = 0x7FFF0000
REFUSED = 0x00050000


def decided(machine: Machine, call: int, argument: int = 0, audit: int | None = None) -> int:
    """Return the verdict on a call by the kernel's rules for such programs (linux/filter.h), as far
    as used here.
    """
    data = struct.pack("<IIQQ", call, machine.audit if audit is None else audit, 0, argument)
    steps = [struct.unpack("HBBI", step) for step in _list_steps(machine)]
    at = register = 0
    while True:
        code, then, otherwise, value = steps[at]
        at += 1
        match code:
            case 0x20:
                register = int.from_bytes(data[value : value + 4], "little")
            case 0x06:
                return value
            case _:
                holds = {
                    0x15: register == value,
                    0x35: register >= value,
                    0x45: bool(register & value),
                }[code]
                at += then if holds else otherwise
