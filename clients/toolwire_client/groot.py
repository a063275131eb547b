"""Groot's shapes: `State`, its protocols, and `ReAct`, which is used as in Groot and is right where that went wrong.

What differs: the model is told of its tools, from what the environment says of them; what it writes wrongly is told to
it instead of ending the run; results are JSON where they are no text, in a role that every provider takes; and nothing
is printed unless you want it. For approvals, budgets and transcripts see `Agent`.
"""

from __future__ import annotations

import sys
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec
from anyio.from_thread import start_blocking_portal
from toolwire_schemas.dialects.lagent import to_entry
from toolwire_schemas.dialects.tool_entry import Malformed
from toolwire_schemas.output import BLUE, GREEN, PLAIN, Output, printable

from .models.model import as_model, kept_open
from .react import BaseProtocol, DoubaoProtocol, Protocol, Tools, Unreadable
from .react.prompt_protocol import in_role, in_turn
from .react.prompts import language
from .react.result_text import shown
from .react.tokens import checked, directed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from toolwire_tools import BaseAction, CodeExecutor, Env, PythonInterpreter, WebSearch, tool_api

    from .models import DoubaoAPI
    from .models.model import Message, ModelReply

__all__ = [
    "BaseAction",
    "BaseProtocol",
    "CodeExecutor",
    "DoubaoAPI",
    "DoubaoProtocol",
    "Env",
    "Finished",
    "NoProtocolReply",
    "PythonInterpreter",
    "ReAct",
    "State",
    "WebSearch",
    "print_message",
    "tool_api",
]

_OF_TOOLS = ("BaseAction", "CodeExecutor", "Env", "PythonInterpreter", "WebSearch", "tool_api")
"""Groot's names that belong to the tools. Nothing here uses them; they can be imported from here with the others."""


def __getattr__(name: str) -> Any:
    if name == "DoubaoAPI":
        from .models import DoubaoAPI

        return DoubaoAPI
    if name not in _OF_TOOLS:
        from toolwire_schemas.misplaced_names import missing

        raise missing(__name__, name)
    import toolwire_tools

    return getattr(toolwire_tools, name)


NOT_FINISHED = "Not finished"
"""What `run` returns if the model still acts in its last turn."""


class State:
    """What was said so far, as chat models take it."""

    def __init__(self, history: list[Message] | None = None) -> None:
        self.history: list[Message] = history if history is not None else []

    def add(self, role: str, content: Any) -> None:
        """Add a message; `content` that is no text is written as JSON."""
        self.history.append({"role": role, "content": _text(content)})


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """What the last run came to: what it returned, after how many replies, and whether that is the model's answer."""

    text: str
    turns: int
    is_answer: bool


class NoProtocolReply(Exception):
    """The model's replies were malformed too often in a row. The text is what it was told last."""


class ReAct:
    """Answers questions: the model *llm* acts in the environment *env*, which *protocol* finds in its replies.

    *llm* is whatever `as_model` takes. *env* is called as `env(name=..., parameters=...)`, and may tell its actions by
    `describe_actions()`, as tools, or by `get_actions_info()`, as Groot does. *protocol* has `parse(text)`; one
    that also has a `system_prompt`, as Groot's two have here, tells the model of the actions, unless *system* is given.
    *on_message* hears the replies ("Assistant") and what the environment says ("Environment"): see `print_message`.
    *roles* says what the model calls the roles. A block of code goes to the only action that runs code, unless the
    protocol's `code_tool` names one.

    Without *protocol*, it is Doubao's. A reply that is malformed *max_errors* times in a row is asked for again.
    """

    def __init__(
        self,
        llm: object,
        env: Callable[..., Any],
        protocol: Any = None,
        max_turn: int = 10,
        *,
        state: State | None = None,
        system: str | None = None,
        roles: Mapping[str, str] | None = None,
        max_errors: int = 3,
        on_message: Callable[[str, str], object] | None = None,
        name: str = "ReAct",
        description: str = "Answers a question with the help of a language model and tools.",
    ) -> None:
        self.llm = llm
        self.env = env
        self.protocol = protocol if protocol is not None else DoubaoProtocol()
        self.max_turn = max_turn
        self.state = state or State()
        self.name = name
        self.description = description
        self.finished: Finished | None = None
        """What the last run came to."""
        self._model = as_model(llm)
        self._system = system
        self._roles = {"tool": "user", **(roles or {})}
        self._max_errors = max_errors
        self._on_message = on_message
        self._language = getattr(self.protocol, "language", None) or language()

    def run(self, inputs: str | None = None) -> str:
        """Answer a question, and return what the model says in the end; without one, go on with what was said before.

        Raises:
            ModelError: if the model gives no reply.
            NoProtocolReply: if its replies are malformed too often.
        """
        self.finished = None
        if inputs is not None:
            self.state.add(role="user", content=inputs)
        model = self._model
        with start_blocking_portal() as portal, portal.wrap_async_context_manager(kept_open(model)):
            return self._run(lambda: portal.call(model.reply, self._messages()))

    def as_tool(self, name: str | None = None, description: str | None = None) -> Any:
        """Return this agent as a tool of others, a function of one question, each of which begins with a new state."""

        def ask(question: str) -> str:
            return self._anew().run(question)

        ask.__name__ = name or self.name
        ask.__doc__ = f"{description or self.description}\n\nArgs:\n    question: What is to be found out or done."
        return ask

    # --- how ---

    def _run(self, reply: Callable[[], ModelReply]) -> str:
        errors = 0
        for turn in range(1, self.max_turn + 1):
            said = reply()
            self._tell("Assistant", said.text)
            self.state.add(role="assistant", content=said.text)
            try:
                message, action = self._parsed(said)
            except ValueError as error:  # `Unreadable`, and what a protocol of one's own raises
                errors += 1
                if errors > self._max_errors:
                    raise NoProtocolReply(str(error)) from None
                self._answer("user", self._complaint(error))
                continue
            errors = 0
            if action is None:
                return self._finish(message, turn, is_answer=True)
            self._answer("tool", self._done(action))
        return self._finish(NOT_FINISHED, self.max_turn, is_answer=False)

    def _parsed(self, said: ModelReply) -> tuple[str, dict[str, Any] | None]:
        if isinstance(self.protocol, BaseProtocol):
            return self.protocol.parse_reply(said, self._tools)
        message, action = self.protocol.parse(said.text)
        return message, action if action is None else directed(checked(action), self._tools)

    def _done(self, action: dict[str, Any]) -> Any:
        try:
            return self.env(**action)
        except Exception as error:  # whatever an action raises is for the model to know
            return f"Error during environment interaction: {error}"

    def _answer(self, role: str, content: Any) -> None:
        value, remarks = shown(content)
        self.state.add(role=role, content=self._language.together(_text(value), self._language.tell(*remarks)))
        self._tell("Environment", self.state.history[-1]["content"])

    def _complaint(self, error: ValueError) -> str:
        said = self._language.tell(error.remark) if isinstance(error, Unreadable) else str(error)
        how = self.protocol.how_to_reply() if isinstance(self.protocol, Protocol) else ""
        return self._language.together(said, how)

    def _finish(self, text: str, turns: int, *, is_answer: bool) -> str:
        self.finished = Finished(text=text, turns=turns, is_answer=is_answer)
        return text

    def _tell(self, who: str, text: str) -> None:
        if self._on_message is not None:
            self._on_message(who, text)

    def _messages(self) -> list[Message]:
        history = self.state.history
        if not any(message["role"] == "system" for message in history) and (system := self._system_prompt()):
            history = [{"role": "system", "content": system}, *history]
        return in_turn([in_role(message, self._roles) for message in history])

    def _system_prompt(self) -> str:
        if self._system is None and isinstance(self.protocol, Protocol) and not _is_mute(self.protocol):
            self._system = self.protocol.system_prompt(self._tools)
        return self._system or ""

    @cached_property
    def _tools(self) -> Tools:
        return Tools(_entries(self.env))

    def _anew(self) -> ReAct:
        return ReAct(
            self.llm,
            self.env,
            self.protocol,
            self.max_turn,
            system=self._system,
            roles=self._roles,
            max_errors=self._max_errors,
            on_message=self._on_message,
        )


def print_message(who: str, text: str) -> None:
    """Print a message to stderr as Groot printed it: the assistant's in blue, the environment's in green."""
    colour = {"Assistant": BLUE, "Environment": GREEN}.get(who, PLAIN)
    Output(sys.stderr).line(f"{colour}{who}: {printable(text)}{PLAIN}")


def _is_mute(protocol: Protocol) -> bool:
    """Whether no reply can have an action by this protocol, as by Groot's default tokens, which are empty."""
    return isinstance(protocol, BaseProtocol) and not protocol.special_tokens["action_start_token"]


def _entries(env: object) -> list[dict[str, Any]]:
    if callable(describe := getattr(env, "describe_actions", None)):
        entries: list[dict[str, Any]] = describe()
        return entries
    tell = getattr(env, "get_actions_info", None)
    return [_entry(info) for info in tell()] if callable(tell) else []


def _entry(info: dict[str, Any]) -> dict[str, Any]:
    try:
        return to_entry(info)
    except Malformed:  # an environment of one's own may describe its actions as it likes
        return {**info, "inputSchema": info.get("parameters", {})}


def _text(content: Any) -> str:
    return content if isinstance(content, str) else msgspec.json.encode(content, enc_hook=str).decode()
