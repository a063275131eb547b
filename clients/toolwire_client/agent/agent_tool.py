"""An agent as a tool of other agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from ..session.elicitation import NoAnswer, Question

if TYPE_CHECKING:
    from .events import Outcome
    from .session import Session
    from .user import OnUser


class Sessions(Protocol):
    """An agent as far as its tool needs it."""

    on_ask: OnUser | None

    def session(self, *, on_ask: OnUser | None = None) -> Session:
        """Return a new session."""


class NoAnswerFound(Exception):
    """An agent called as a tool found no answer. The text says why."""


class AgentTool:
    """Makes *agent* a tool (see `ToolLike`), and an async function of one question.

    Calling it needs no approval; the agent's own approvals decide about its tools. Without an `on_ask` of its own, its
    questions go to the user of the calling agent.
    """

    is_async = True

    def __init__(self, agent: Sessions, name: str, description: str) -> None:
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
        """Return the entry for `tools/list`."""
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
        """Refuse a synchronous call."""
        raise TypeError("an agent is called by call_async")

    async def call_async(self, arguments: dict[str, Any], caller: Any) -> dict[str, Any]:
        """Answer the `question` in *arguments*; the result of a failed run is an error."""
        question = arguments.get("question")
        if not isinstance(question, str) or arguments.keys() != {"question"}:
            raise TypeError(f"{self.name} takes one argument, question, a string")

        async def ask(question: Question) -> dict[str, Any] | NoAnswer:
            reply = await caller.ask_async(question.message, question.schema)
            content = reply.get("content")
            return content if isinstance(content, dict) else NoAnswer(reply.get("action", "cancel"))

        outcome = await self._agent.session(on_ask=self._agent.on_ask or ask).answer(question)
        if outcome.status not in ("answered", "unsolvable"):
            return {"content": [{"type": "text", "text": _failure(outcome)}], "isError": True}
        return {"content": [{"type": "text", "text": outcome.result or ""}], "isError": outcome.status == "unsolvable"}


_QUESTION = "What is to be found out or done, with everything that is needed for it."


def _failure(outcome: Outcome) -> str:
    result = f": {outcome.result}" if outcome.result else ""
    return f"There is no answer ({outcome.status}{f', {outcome.reason}' if outcome.reason else ''}){result}"
