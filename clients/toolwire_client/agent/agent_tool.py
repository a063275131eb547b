"""An agent as a tool of other agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..session.elicitation import NoAnswer, Question

if TYPE_CHECKING:
    from .agent import Agent
    from .events import Outcome


class NoAnswerFound(Exception):
    """An agent that was asked as a tool came to no answer. The text says why."""


class AgentTool:
    """*agent* as a tool: see `ToolLike`. It is an async function of one question as well.

    What its tools may do is for the agent's own approvals; to ask it needs none. If it has no `on_ask`, its questions
    go to whom the tools of the agent that asks it ask.
    """

    is_async = True

    def __init__(self, agent: Agent, name: str, description: str) -> None:
        self.name = self.__name__ = name
        self.__doc__ = f"{description}\n\nArgs:\n    question: {_QUESTION}"
        self._agent = agent
        self._description = description

    async def __call__(self, question: str) -> str:
        outcome = await self._agent.session().answer(question)
        if outcome.status not in ("answered", "unsolvable"):
            raise NoAnswerFound(_failure(outcome))
        return outcome.result or ""

    def describe(self) -> dict[str, Any]:
        """As `ToolLike.describe`."""
        return {
            "name": self.name,
            "description": self._description,
            "inputSchema": {
                "type": "object",
                "properties": {"question": {"type": "string", "description": _QUESTION}},
                "required": ["question"],
                "additionalProperties": False,
            },
            "annotations": {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": True},
        }

    def call(self, arguments: dict[str, Any], caller: Any) -> dict[str, Any]:
        """As `ToolLike.call`."""
        raise TypeError("an agent is called by call_async")

    async def call_async(self, arguments: dict[str, Any], caller: Any) -> dict[str, Any]:
        """As `ToolLike.call_async`."""
        question = arguments.get("question")
        if not isinstance(question, str) or arguments.keys() != {"question"}:
            raise TypeError(f"{self.name} takes one argument, question, which is text")

        async def ask(question: Question) -> dict[str, Any] | NoAnswer:
            said = await caller.ask_async(question.message, question.schema)
            content = said.get("content")
            return content if isinstance(content, dict) else NoAnswer(said.get("action", "cancel"))

        outcome = await self._agent.session(on_ask=self._agent.on_ask or ask).answer(question)
        if outcome.status not in ("answered", "unsolvable"):
            return {"content": [{"type": "text", "text": _failure(outcome)}], "isError": True}
        return {"content": [{"type": "text", "text": outcome.result or ""}], "isError": outcome.status == "unsolvable"}


_QUESTION = "What is to be found out or done, with everything that is needed for it."


def _failure(outcome: Outcome) -> str:
    said = f": {outcome.result}" if outcome.result else ""
    return f"There is no answer ({outcome.status}{f', {outcome.reason}' if outcome.reason else ''}){said}"
