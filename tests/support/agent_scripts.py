"""Shares scripts for models, tools that record their calls, and checks of transcripts among the
tests of agents.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import anyio
import msgspec
from toolwire_agent.agent import Agent, Approvals, Outcome, Recorded
from toolwire_agent.models import ScriptedModel
from toolwire_schemas.published import load_validator

BACKENDS = ("asyncio", "trio")
SCHEMA = load_validator("transcript-event")
EVERYTHING = Approvals(allow=("*",))


def act(tool: str, **params: Any) -> str:
    return json.dumps(
        {"thought": f"I need {tool}", "type": "ACTION", "tool": tool, "params": params}
    )


def ask(content: str) -> str:
    return json.dumps({"thought": "I need the user", "type": "ASK", "content": content})


def final(result: str = "done", *, ok: bool = True) -> str:
    return json.dumps({"thought": "I know", "type": "FINAL_ANSWER", "ok": ok, "result": result})


class Tools:
    """Local tools that note how they were called."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []

    def add(self, a: int, b: int) -> int:
        """Add two integers."""
        self.calls.append(("add", (a, b)))
        return a + b

    def fail(self, reason: str) -> str:
        """Fail."""
        self.calls.append(("fail", reason))
        raise ValueError(reason)

    def both(self) -> list[Any]:
        return [self.add, self.fail]


def agent(script: Sequence[Any], tools: Any = None, **settings: Any) -> Agent:
    """An agent whose model says what is in the script, and that may do everything unless *settings*
    forbid it.
    """
    settings.setdefault("approval", EVERYTHING)
    return Agent(ScriptedModel(script), Tools().both() if tools is None else tools, **settings)


def answer(backend: str, agent: Agent, question: str = "What is it?") -> Outcome:
    return play(backend, lambda: agent.answer(question))


def play(backend: str, scenario: Callable[[], Awaitable[Any]]) -> Any:
    async def bounded() -> Any:
        with anyio.fail_after(60):
            return await scenario()

    return anyio.run(bounded, backend=backend)


def kinds(events: Sequence[Recorded]) -> list[str]:
    return [type(event).__name__ for event in events]


def of(kind: type, events: Sequence[Recorded]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def check_transcript(events: Sequence[Recorded]) -> None:
    """Fail unless the events are in order, fit the published schema, and are the same after reading
    them again.
    """
    lines = json.loads(msgspec.json.encode(events))
    for line in lines:
        _check_line(line)
    assert [event.at for event in events] == sorted(event.at for event in events)
    assert msgspec.convert(lines, list[Recorded]) == list(events)


_VALID_LINES: set[str] = set()
"""Lines that fit the schema, without the time of their events. Runs have most of their lines in
common, and to validate them takes most of the time of a test.
"""


def _check_line(line: dict[str, Any]) -> None:
    key = json.dumps({**line, "at": ""})
    if key not in _VALID_LINES:
        SCHEMA.validate(line)
        _VALID_LINES.add(key)


async def replayed(events: Any, **settings: Any) -> tuple[Recorded, ...]:
    """The record, repeated by an agent that has neither model nor tools."""
    settings.setdefault("approval", EVERYTHING)
    return tuple([event async for event in Agent(ScriptedModel([]), **settings).replay(events)])
