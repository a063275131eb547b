"""The person at the terminal is the model."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from toolwire_agent.models import HumanModel, NoReplyLeft

ASK = [
    {"role": "system", "content": "You are a ReAct agent."},
    {"role": "user", "content": "2 + 3?"},
]
TOOLS = [{"name": "add", "inputSchema": {"type": "object"}}]


class Person:
    """Types these lines, and sees what is shown."""

    def __init__(self, *lines: str) -> None:
        self.lines: Iterator[str] = iter(f"{line}\n" for line in lines)
        self.seen: list[str] = []
        self.model = HumanModel(read=lambda: next(self.lines, ""), write=self.seen.append)

    def reply(self, messages: Any = ASK, **wishes: Any) -> str:
        return anyio.run(lambda: self.model.reply(messages, **wishes)).text


def test_an_object_is_a_reply_as_soon_as_it_is_whole() -> None:
    person = Person('{"a": 1,', '"b": "}"}', "not read")
    assert person.reply() == '{"a": 1,\n"b": "}"}'
    assert next(person.lines) == "not read\n"


def test_other_text_ends_with_an_empty_line() -> None:
    assert Person("", "", "I think", "it is 5.", "", "not read").reply() == "I think\nit is 5."


def test_the_end_of_the_input_ends_a_reply_or_the_model() -> None:
    person = Person("half")
    assert person.reply() == "half"
    with pytest.raises(NoReplyLeft):
        person.reply()


def test_only_new_messages_are_shown() -> None:
    person = Person("one", "", "two", "")
    person.reply(tools=TOOLS)
    more = [*ASK, {"role": "assistant", "content": "one"}, {"role": "user", "content": "go on"}]
    person.reply(more, tools=TOOLS)
    first, second = person.seen
    assert ("You are a ReAct agent." in first, '"name":"add"' in first) == (True, True)
    assert ("2 + 3?" in second, "go on" in second, '"name":"add"' in second) == (False, True, False)
    assert "one" not in second


def test_another_conversation_is_shown_from_its_beginning() -> None:
    person = Person("one", "", "two", "")
    person.reply()
    person.reply(
        [{"role": "user", "content": "something else"}, {"role": "user", "content": "really"}]
    )
    assert ("something else" in person.seen[1], "really" in person.seen[1]) == (True, True)


SCRIPT = """
import os, sys, anyio
if sys.argv[1:]:  # the first terminal that is opened in a session of its own is the session's
    os.close(os.open(sys.argv[1], os.O_RDWR))
from toolwire_agent.models import HumanModel
reply = anyio.run(HumanModel().reply, [{"role": "user", "content": "what now?"}])
print("PROTOCOL", repr(reply.text))
"""


@pytest.mark.process
def test_the_standard_output_stays_a_protocol() -> None:
    """At a real terminal, which is not the standard input either."""
    parent, child = pty.openpty()
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    command = [sys.executable, "-c", SCRIPT, os.ttyname(child)]
    with subprocess.Popen(command, start_new_session=True, **streams) as process:
        shown = b""
        while b"empty line" not in shown:
            shown += os.read(parent, 1000)
        os.write(parent, b"it is 5\n\n")
        out, err = process.communicate(timeout=20)
    os.close(child)
    os.close(parent)
    assert b"what now?" in shown
    assert (out, err) == (b"PROTOCOL 'it is 5'\n", b"")


@pytest.mark.process
def test_without_a_terminal_standard_input_and_standard_error_are_used() -> None:
    process = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input=b"it is 5\n\n",
        capture_output=True,
        start_new_session=True,
        timeout=20,
        check=True,
    )
    assert process.stdout == b"PROTOCOL 'it is 5'\n"
    assert b"what now?" in process.stderr
