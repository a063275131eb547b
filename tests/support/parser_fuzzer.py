"""Fuzzes every parser of foreign input.

Strategy. Inputs are made of pieces of each language: cut, joined, nested, and repeated until they
are as long as `most`. A parser may refuse them with its own errors and with no other. It gets one
second of processor time for each: at these lengths, linear work takes a fraction of that, and work
that grows with the square does not fit. The second is counted by the system and delivered as a
signal, which regular expressions heed too. A parser of a stream must give the same for the whole
and for pieces of it.

    python tests/support/parser_fuzzer.py --seconds 60 --seed 1

runs them in turn; `--only yaml --number 17` repeats one input of a seed.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

ALARM_SECONDS = 1.0


class Parser(NamedTuple):
    """*run* raises one of *refusals*, or nothing, for any text (any bytes, if *pieces* are) of
    *most* characters.
    """

    run: Callable[[Any], object]
    pieces: tuple[Any, ...]
    refusals: tuple[type[Exception], ...] = ()
    most: int = 50_000


class Failed(Exception):
    """A parser took too long, or raised what it must not."""


def parsers() -> dict[str, Parser]:
    """Every parser, by name."""
    from toolwire.hosts.jsonc_edit import loads, set_member
    from toolwire.hosts.safe_write import NotRewritten
    from toolwire_agent.models.http_api.endpoint import Events
    from toolwire_agent.models.http_api.reasoning import ReasoningSplitter
    from toolwire_agent.react import DoubaoProtocol, ModelReply, NativeProtocol, StructuredProtocol
    from toolwire_agent.react.prompts import Unreadable
    from toolwire_agent.react.tool_lookup import Tools
    from toolwire_compat.mas import InstructionError, parse_instruction
    from toolwire_compat.yaml import ConfigError
    from toolwire_compat.yaml.document import read_documents
    from toolwire_schemas.wire.framing import AutoFraming
    from toolwire_tools.signature.docstring import read

    def stream(make: Callable[[], Any], end: str) -> Callable[[bytes], object]:
        def run(data: bytes) -> None:
            found = []
            for size in (len(data) or 1, 8192, 1 + len(data) % 7):
                reader = make()
                part = data if size >= 100 else data[:2000]
                items = [
                    item
                    for at in range(0, len(part), size)
                    for item in reader.feed(part[at : at + size])
                ]
                found.append((len(part), items + list(getattr(reader, end)())))
            same = [items for length, items in found if length == len(data)]
            assert all(items == same[0] for items in same), "pieces of it are read differently"

        return run

    def thoughts(text: str) -> None:
        for size in (len(text) or 1, 100):
            reader = ReasoningSplitter()
            for at in range(0, len(text), size):
                reader.feed(text[at : at + size])
            reader.finish()

    tools = Tools([])
    protocols = (StructuredProtocol(), DoubaoProtocol(), NativeProtocol())

    def replies(text: str) -> None:
        for protocol in protocols:
            protocol.read(ModelReply(text=text), tools)
        thoughts(text)

    def with_comments(text: str) -> None:
        loads(text)
        set_member(text, ("mcpServers", "a"), {"command": "x"})

    return {
        "framing": Parser(stream(lambda: AutoFraming(100_000), "close"), _FRAMES, most=100_000),
        "server-sent events": Parser(stream(Events, "finish"), _EVENTS, most=100_000),
        "json with comments": Parser(with_comments, _JSON, (NotRewritten,)),
        "model replies": Parser(replies, _REPLIES, (Unreadable,)),
        "instructions": Parser(
            lambda text: parse_instruction(text, "Search"), _REPLIES, (InstructionError,)
        ),
        "yaml": Parser(
            lambda text: read_documents(text, "file"), _YAML, (ConfigError,), most=4_000
        ),
        "docstrings": Parser(read, _DOCSTRINGS, most=10_000),
    }


_FRAMES = (
    *(
        b"Content-Length: ",
        b"content-length:",
        b"Content-Type: x\r\n",
        b"X-Y: 1\r\n",
        b"\r\n",
        b"\n",
        b"\r\n\r\n",
    ),
    *(
        b"5",
        b"99999",
        b"0",
        b"1" * 18,
        b"9" * 19,
        b" ",
        b"\t",
        b"\xef\xbb\xbf",
        b'{"id":1}',
        b"{",
        b"}",
        b"]",
        b'"',
    ),
    *(
        b"x",
        b"C",
        b"Content-",
        b"-",
        b":",
        b"\0",
        b"\xff",
        b"Content-Length: 8\r\n\r\n",
        b'{"a":"Content-Length: 3"}',
    ),
)
_EVENTS = (
    *(
        b"data: ",
        b"data:",
        b"event: x",
        b"id: 1",
        b"retry: 3",
        b": comment",
        b"\n",
        b"\r\n",
        b"\r",
        b"\n\n",
        b"{}",
    ),
    *(b"\xef\xbb\xbf", b"\xff", b"x", b":", b" ", b"[DONE]", b"\0"),
)
_JSON = (
    *(
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        '"a"',
        '"mcpServers"',
        '"a": 1',
        "1",
        "-1.5e3",
        "true",
        "null",
        "//",
        "/*",
        "*/",
    ),
    *(
        "\n",
        "\r\n",
        " ",
        "\t",
        '"',
        "\\",
        "\\u12",
        "\\ud800",
        "\ufeff",
        "é",
        "NaN",
        "1e999",
        '{"mcpServers":{"a":{}}}',
    ),
)
_REPLIES = (
    *_JSON,
    *(
        "<think>",
        "</think>",
        "[THINK]",
        "[/THINK]",
        "◁think▷",
        "<thinking>",
        "```",
        "```json\n",
        "```python\n",
        "'",
    ),
    *(
        "<|FunctionCallBegin|>",
        "<|FunctionCallEnd|>",
        '{"name": "a", "parameters": {',
        "“",
        "”",
        "｛",
        "：",
        "，",
    ),
    *(
        '"type": "ASK"',
        '"type": "ACTION"',
        '"content": "x"',
        "True",
        "None",
        "<SEARCH>",
        "</SEARCH>",
        "text ",
        "\0",
    ),
)
_YAML = (
    *(
        "a: ",
        "b: 1",
        "- ",
        "- x\n",
        "\n",
        "  ",
        "    ",
        "{",
        "}",
        "[",
        "]",
        ",",
        ": ",
        "&a ",
        "*a",
        "<<: *a",
        "!!str ",
    ),
    *(
        "!!python/object:os.x ",
        "|\n",
        ">\n",
        "'",
        '"',
        "#c",
        "---\n",
        "...\n",
        "%YAML 1.1\n",
        "? ",
        "\t",
        "é",
        "\0",
        "1",
    ),
    *(
        "2020-01-01",
        "0x1f",
        "1:30",
        ".inf",
        "name: tool\n",
        "\\",
        "\ufeff",
        "\u2028",
        "&a [*a, *a]",
    ),
)
_DOCSTRINGS = (
    *(
        "Args:",
        "Returns:",
        "Raises:",
        "Parameters\n----------\n",
        ":param x: ",
        ":type x: int",
        "@param x: ",
        "\n",
        " ",
    ),
    *(
        "    ",
        "x (int, optional): ",
        "x : {'a', 'b'}",
        "---",
        "===",
        "::",
        "- ",
        "* ",
        "`",
        "``",
        ":class:`a`",
        "\t",
    ),
    *(
        "Example:",
        ">>> ",
        "...",
        ":",
        "(",
        ")",
        "[",
        "]",
        ",",
        "default 3",
        "\\",
        "é",
        "\r\n",
        "**kwargs: ",
        "text ",
    ),
)


def made(parser: Parser, seed: int, number: int) -> Any:
    """Return the input *number* of *seed* for *parser*."""
    chance = random.Random(f"{seed} {number}")
    empty = parser.pieces[0][:0]
    text = empty
    size = chance.choice((20, 200, 2_000, parser.most))
    while len(text) < size:
        few = chance.choices(parser.pieces, k=chance.randint(1, 6))
        piece = empty.join(few)
        match chance.randrange(5):
            case 0:  # as often as there is room
                text += piece * chance.choice((2, 50, size))
            case 1:  # nested
                close = chance.choice(parser.pieces)
                depth = chance.choice((2, 50, size))
                text += piece * depth + close * depth
            case 2:  # cut off
                text += piece[: chance.randrange(len(piece) + 1)]
            case 3:  # put in somewhere
                at = chance.randrange(len(text) + 1)
                text = text[:at] + piece + text[at:]
            case _:
                text += piece
        text = text[: parser.most]
        if chance.random() < 0.05:
            break
    return text


def attempt(parser: Parser, text: Any) -> None:
    """Give *text* to *parser*.

    Raises:
        Failed: if it takes more than the second, or raises what it must not.
    """
    try:
        with _alarm():
            parser.run(text)
    except parser.refusals:
        return
    except Failed:
        raise
    except Exception as error:
        raise Failed(f"{type(error).__name__}: {error}") from error


@contextmanager
def _alarm() -> Iterator[None]:
    def ring(number: int, frame: object) -> None:
        raise Failed(f"more than {ALARM_SECONDS:g} s of processor time")

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, ALARM_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def main() -> int:
    """Fuzz every parser in turn; the status says whether one failed."""
    options = argparse.ArgumentParser(description="Fuzz every parser.")
    options.add_argument("--seconds", type=float, default=60.0, help="for all of them together")
    options.add_argument("--seed", type=int, default=None, help="by default another one each time")
    options.add_argument("--only", default="", help="the parser whose name this is")
    options.add_argument(
        "--number", type=int, default=None, help="one input, as a failure names it"
    )
    given = options.parse_args()
    seed = random.randrange(10**6) if given.seed is None else given.seed
    chosen = {name: parser for name, parser in parsers().items() if given.only in ("", name)}
    failures = 0
    for name, parser in chosen.items():
        end = time.monotonic() + given.seconds / len(chosen)
        number = first = given.number or 0
        while number == first or (
            given.number is None and time.monotonic() < end and failures < 20
        ):
            text = made(parser, seed, number)
            try:
                attempt(parser, text)
            except Failed as failure:
                failures += 1
                print(f"{name}: {failure}\n  --seed {seed} --only {name!r} --number {number}")
                print(f"  {len(text)} characters: {text[:200]!r}")
            number += 1
        print(f"{name}: {number - first} inputs of seed {seed}", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
