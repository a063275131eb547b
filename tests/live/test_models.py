"""Real language models, for whoever has a key or a server of their own:

    python -m pytest tests/live --live openai:gpt-5-mini --live ollama:qwen3

Each `--live` is the name of a model, as `toolwire ask --model` takes it. Without one nothing here
is collected.
"""

from __future__ import annotations

from typing import Any

import pytest
from toolwire_agent import Agent, Approvals
from toolwire_agent.models import model_from_name
from toolwire_agent.react import NativeProtocol, StructuredProtocol

TOLD = "Compute with the tools, not in your head."
PROTOCOLS = {
    "structured": StructuredProtocol(instructions=TOLD),
    "structured, in Chinese": StructuredProtocol("zh", instructions=TOLD),
    "native": NativeProtocol(instructions=TOLD),
}


def add(a: int, b: int) -> int:
    """Add two whole numbers."""
    return a + b


def multiply(a: int, b: int) -> int:
    """Multiply two whole numbers."""
    return a * b


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    metafunc.parametrize("model", metafunc.config.getoption("--live"))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_question_is_answered_with_tools(model: str, protocol: str) -> None:
    called: list[str] = []

    def counted(function: Any) -> Any:
        def call(a: int, b: int) -> int:
            called.append(function.__name__)
            result: int = function(a, b)
            return result

        call.__name__, call.__doc__ = function.__name__, function.__doc__
        return call

    agent = Agent(
        model_from_name(model),
        [counted(add), counted(multiply)],
        protocol=PROTOCOLS[protocol],
        approval=Approvals(allow=("*",)),
    )
    outcome = agent.answer_sync("What is (12345 + 67891) * 3?")

    assert outcome.status == "answered", outcome
    assert "240708" in str(outcome.result).replace(",", "").replace(" ", "")
    assert sorted(called) == ["add", "multiply"]


def test_what_no_tool_can_do_is_said_to_be_unsolvable(model: str) -> None:
    agent = Agent(model_from_name(model), [add], approval=Approvals(allow=("*",)))
    outcome = agent.answer_sync("Send an e-mail to my mother. Use only the tools.")

    assert outcome.status in ("unsolvable", "needs_input"), outcome
