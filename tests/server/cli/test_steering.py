"""What a server says never steers the terminal of whoever asks it."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest
from support import SUPPORT
from support.escape_sequence_server import STEER

pytestmark = [
    pytest.mark.skipif(os.name != "posix", reason="terminals are POSIX's here"),
    pytest.mark.process,
]

SERVER = ["--", sys.executable, str(SUPPORT / "escape_sequence_server.py")]


def on_a_terminal(*words: str) -> str:
    """What a terminal is sent that `toolwire` runs on."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "toolwire", *words, *SERVER]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
    os.close(theirs)
    sent = b""
    try:
        while data := os.read(ours, 65536):
            sent += data
    except OSError:  # so Linux says that nobody has it open any more
        pass
    finally:
        os.close(ours)
        process.wait(60)
    return sent.decode()


@pytest.mark.parametrize(
    "words",
    [
        ["list"],
        ["list", "--json"],
        ["list", "--lint"],
        ["list", "--as", "python"],
        ["call", f"search{STEER}", "{}"],
        ["call", "serch", "a=1"],
        ["call", f"search{STEER}", "qery=1"],
        ["check", "--timeout", "1"],
    ],
    ids=lambda words: " ".join(words).replace(STEER, "!"),
)
def test_nothing_of_a_server_steers_the_terminal(words: list[str]) -> None:
    sent = on_a_terminal(*words)
    assert "\\u001b]0;owned" in sent
    assert not [part for part in ("\x1b]", "\x07", "\x9b", "\u202e") if part in sent]
