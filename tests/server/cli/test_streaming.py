"""An answer is shown on a terminal as it arrives, and in a pipe when it is complete."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from support.agent_scripts import act, final
from support.model_endpoint import (
    Exchange,
    Fault,
    StandIn,
    answered,
    in_pieces,
    reset_midway,
    silent_midway,
)
from support.terminal import SECONDS, Terminal, command

CONTROL = re.compile(r"\x1b\[[\d;?]*[A-Za-z]|\r")
KEY = {"OPENAI_API_KEY": "sk-0123456789"}


def asked(server: StandIn, *words: str) -> list[str]:
    return ["ask", "go", "--model", "openai:m", "--base-url", server.url, *words]


def held(after: str, released: threading.Event) -> Fault:
    """Send the reply up to *after*, and the rest when *released* is set."""

    def fault(exchange: Exchange) -> None:
        events = exchange.payload().split(b"\n\n")
        texts = [
            json.loads(event[5:])["choices"][0]["delta"].get("content") or ""
            for event in events[:-4]
        ]
        place = next(place for place in range(len(texts)) if after in "".join(texts[:place]))
        exchange.head(200)
        exchange.write(b"\n\n".join(events[:place]) + b"\n\n")
        assert released.wait(SECONDS)
        exchange.write(b"\n\n".join(events[place:]))
        exchange.end()

    return fault


@pytest.mark.process
@pytest.mark.parametrize("words", [(), ("--protocol", "small"), ("--protocol", "native")])
@pytest.mark.parametrize("env", [{}, {"TERM": "dumb"}], ids=["rich", "plain"])
def test_an_answer_streams(tmp_path: Path, words: tuple[str, ...], env: dict[str, str]) -> None:
    released = threading.Event()
    text = 'The first \\ "half" \x1b[31mred 😀\nand the second.'
    with StandIn("The first half\nand the second." if "native" in words else final(text)) as server:
        server.then(held("half", released))
        with Terminal(*asked(server, *words), cwd=tmp_path, **KEY, **env) as terminal:
            terminal.until("half")
            assert "second" not in terminal.shown
            released.set()
            assert terminal.ends() == 0
    assert terminal.shown.count("The first") == 1
    assert "and the second.\r\n" in terminal.shown
    assert "FINAL_ANSWER" not in terminal.shown
    if "native" not in words:
        assert 'The first \\ "half" \\u001b[31mred 😀\r\nand the second.' in terminal.shown
        assert terminal.shown.index("I know") < terminal.shown.index("The first")


@pytest.mark.process
def test_ctrl_c_in_the_midst_of_an_answer_ends_its_line_and_the_run(tmp_path: Path) -> None:
    released = threading.Event()
    with StandIn(final("The first half and the second.")) as server:
        server.then(held("half", released))
        with Terminal(*asked(server), cwd=tmp_path, **KEY) as terminal:
            terminal.types("\x03", at="half")
            assert terminal.ends() == -signal.SIGINT
        released.set()
    assert re.search(r"half[^\n]*\n+  cancelled: Ctrl-C", CONTROL.sub("", terminal.shown))


@pytest.mark.process
def test_what_is_no_answer_in_the_end_is_followed_by_the_one_that_counts(tmp_path: Path) -> None:
    spoiled = final("Not yet.")[:-1] + ', "ok": true}'
    with StandIn(final("Now it is.")) as server:
        server.then(answered(spoiled))
        with Terminal(*asked(server), cwd=tmp_path, **KEY) as terminal:
            assert terminal.ends() == 0
    shown = [
        terminal.shown.index(text)
        for text in ("Not yet.\r\n", "the reply is not in the form", "Now it is.\r\n")
    ]
    assert shown == sorted(shown)


@pytest.mark.process
def test_an_explanation_without_an_answer_and_a_call_do_not_stream(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(
        "def result() -> str:\n    '''Look.'''\n    return 'nothing'\n"
    )
    with StandIn(final("Nobody knows.", ok=False)) as server:
        server.then(answered(act("result", type="FINAL_ANSWER", result="ok")))
        with Terminal(*asked(server, "--tools", "tools.py"), cwd=tmp_path, **KEY) as terminal:
            assert terminal.ends() == 1
    assert terminal.shown.count("Nobody knows.") == 1


@pytest.mark.process
@pytest.mark.parametrize(
    ("fault", "limit", "ended"),
    [
        (reset_midway, "60", "model_error: the connection"),
        (silent_midway, "8", "budget: the limit of"),
        (in_pieces(1), "60", "answered (1 turn"),
    ],
    ids=["reset", "silent", "split"],
)
def test_a_stream_that_breaks_off_ends_its_line_and_the_run(
    tmp_path: Path, fault: Fault, limit: str, ended: str
) -> None:
    with StandIn(final("word " * 40)) as server:
        server.then(fault)
        with Terminal(*asked(server, "--timeout", limit), cwd=tmp_path, **KEY) as terminal:
            terminal.ends()
    assert re.search(rf"word( word)+[^\n]*\n+  {re.escape(ended)}", CONTROL.sub("", terminal.shown))


@pytest.mark.process
@pytest.mark.parametrize("make", [answered, lambda text: in_pieces(1)], ids=["whole", "split"])
def test_a_pipe_gets_the_answer_alone_and_unchanged(
    tmp_path: Path, make: Callable[[str], Fault]
) -> None:
    text = "one\r\ntwo \x1b[31m 😀"
    with StandIn(final(text)) as server:
        server.then(answered(final("no")[:-1]), make(final(text)))
        env = {**os.environ, **KEY}
        done = subprocess.run(
            command(*asked(server)),
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=env,
            timeout=60,
        )
    assert done.stdout == f"{text}\n".encode()
