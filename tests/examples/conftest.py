"""A server of one of the examples, with its settings in the environment, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.server_process import Process, call, filtered_environment, running

EXAMPLES = Path(__file__).parents[2] / "examples"


class Served:
    """A served example."""

    def __init__(self, process: Process) -> None:
        self.process = process

    def call(self, name: str, **arguments: Any) -> Any:
        """Return the structured content or the text of a result; a list of the text if the call
        failed.
        """
        result = self.process.ask(call(name, arguments))["result"]
        text = result["content"][0]["text"]
        if result["isError"]:
            return [text]
        content = result.get("structuredContent", text)
        return (
            content["result"] if isinstance(content, dict) and [*content] == ["result"] else content
        )


Serve = Callable[..., Served]


@contextmanager
def served(file: str, *options: str, **settings: str) -> Iterator[Served]:
    env = {**filtered_environment(), **settings}
    with running("-m", "toolwire", "serve", str(EXAMPLES / file), *options, env=env) as process:
        yield Served(process)


@pytest.fixture
def serve() -> Iterator[Serve]:
    with ExitStack() as servers:
        yield lambda *words, **settings: servers.enter_context(served(*words, **settings))
