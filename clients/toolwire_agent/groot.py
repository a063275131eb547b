"""Groot's classes: `State`, its protocols, and `ReAct`, which is used as in Groot.

It differs in this: the environment's description of its actions goes to the model; malformed
replies are reported to the model instead of ending the run; results that are not text are JSON, in
a role that every provider accepts; and nothing is printed by default. `Agent` adds approvals,
budgets and transcripts.
"""

from __future__ import annotations

import sys
from copy import copy
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec
import toolwire_schemas
from anyio.from_thread import start_blocking_portal
from toolwire_dialects.lagent import to_entry
from toolwire_dialects.tool_entry import Malformed
from toolwire_schemas.output import BLUE, GREEN, PLAIN, Output, make_printable

from .models import DoubaoAPI
from .models.model import as_model, keep_open
from .react import BaseProtocol, DoubaoProtocol, Protocol, Tools, Unreadable
from .react.prompt_protocol import merge_turns, rename_role
from .react.prompts import load_language
from .react.result_text import limit_result
from .react.tokens import CODE_TOOL_REMARKS, check_action, redirect_code

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from toolwire_bundled import CodeExecutor, PythonInterpreter, WebSearch
    from toolwire_compat.groot import Env
    from toolwire_compat.lagent import BaseAction
    from toolwire_tools import tool_api

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

_PLACES = {
    "BaseAction": "toolwire_compat.lagent",
    "CodeExecutor": "toolwire_bundled",
    "Env": "toolwire_compat.groot",
    "PythonInterpreter": "toolwire_bundled",
    "WebSearch": "toolwire_bundled",
    "tool_api": "toolwire_tools",
}
"""Groot's names that belong to the tools, importable from here too."""

__getattr__ = toolwire_schemas.make_importer(__name__, _PLACES)


def __dir__() -> list[str]:
    return __all__


NOT_FINISHED = "Not finished"
"""The result of `run` if the model still acts in its last turn."""


class State:
    """The messages so far, in the format of chat models."""

    def __init__(self, history: list[Message] | None = None) -> None:
        self.history: list[Message] = history if history is not None else []

    def add(self, role: str, content: Any) -> None:
        """Add a message; *content* that is not text is written as JSON."""
        self.history.append({"role": role, "content": _read_text(content)})


class Finished(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of the last run: its text, the number of replies, and whether the text is the
    model's answer.
    """

    text: str
    turns: int
    is_answer: bool


class NoProtocolReply(Exception):
    """The model sent too many malformed replies in a row. The text is the last error it
    received.
    """


class ReAct:
    """Answers questions: the model *llm* acts in *env*, and *protocol* parses its replies.

    *llm* is anything that `as_model` takes. *env* is called as `env(name=..., parameters=...)`; its
    actions come from `describe_actions()`, or Groot's `get_actions_info()`. *protocol*, by default
    Doubao's, has `parse(text)`; if it is one of `react`, as Groot's two are here, it also
    describes the actions to the model, unless *system* is given. *on_message* receives replies
    ("Assistant") and results ("Environment"): see `print_message`. *roles* maps roles to the
    model's names for them. Code blocks go to the only action that runs code, unless the protocol's
    `code_tool` names one. A malformed reply is requested again, at most *max_errors* times in a
    row.
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
        """The outcome of the last run."""
        self._model = as_model(llm)
        self._system = system
        self._roles = {"tool": "user", **(roles or {})}
        self._max_errors = max_errors
        self._on_message = on_message or (lambda who, text: None)
        self._language = getattr(self.protocol, "language", None) or load_language()

    def run(self, inputs: str | None = None) -> str:
        """Answer a question and return the model's final text; without *inputs*, continue the
        conversation.

        Raises:
            ModelError: if the model gives no reply.
            NoProtocolReply: if too many replies are malformed.
        """
        self.finished = None
        if inputs is not None:
            self.state.add(role="user", content=inputs)
        model = self._model
        with start_blocking_portal() as portal, portal.wrap_async_context_manager(keep_open(model)):
            return self._run(lambda: portal.call(model.reply, self._make_messages()))

    def as_tool(self, name: str | None = None, description: str | None = None) -> Any:
        """Return this agent as a function of one question, which starts a new state for each
        call.
        """

        def ask(question: str) -> str:
            fresh = copy(self)
            fresh.state = State()
            return fresh.run(question)

        ask.__name__ = name or self.name
        ask.__doc__ = (
            f"{description or self.description}\n\nArgs:\n    question: The question or task."
        )
        return ask

    def _run(self, ask: Callable[[], ModelReply]) -> str:
        errors = 0
        for turn in range(1, self.max_turn + 1):
            reply = ask()
            self._on_message("Assistant", reply.text)
            self.state.add(role="assistant", content=reply.text)
            try:
                message, action = self._parse(reply)
            except ValueError as error:  # `Unreadable`, or from a custom protocol
                errors += 1
                if errors > self._max_errors:
                    raise NoProtocolReply(
                        self._language.join(str(error), self._write_advice(error))
                    ) from None
                self._answer("user", self._write_complaint(error))
                continue
            errors = 0
            if action is None:
                self.finished = Finished(text=message, turns=turn, is_answer=True)
                return message
            try:
                result = self.env(**action)
            except Exception as error:  # the model receives any error of an action
                result = f"Error during environment interaction: {error}"
            self._answer("tool", result)
        self.finished = Finished(text=NOT_FINISHED, turns=self.max_turn, is_answer=False)
        return NOT_FINISHED

    def _parse(self, reply: ModelReply) -> tuple[str, dict[str, Any] | None]:
        if isinstance(self.protocol, BaseProtocol):
            return self.protocol.parse_reply(reply, self._tools)
        message, action = self.protocol.parse(reply.text)
        if action is not None:
            action = redirect_code(check_action(action), self._tools)
        return message, action

    def _answer(self, role: str, content: Any) -> None:
        value, remarks = limit_result(content)
        self.state.add(
            role=role,
            content=self._language.join(_read_text(value), self._language.format_remarks(*remarks)),
        )
        self._on_message("Environment", self.state.history[-1]["content"])

    def _write_complaint(self, error: ValueError) -> str:
        fault = str(error)
        if isinstance(error, Unreadable):
            fault = self._language.format_remarks(error.remark)
        how = ""
        if isinstance(self.protocol, Protocol):
            how = self.protocol.describe_reply_format(self._tools)
        return self._language.join(fault, how)

    def _write_advice(self, error: ValueError) -> str:
        """Return what the program can do about *error*, which the model cannot fix: empty for
        most.
        """
        is_about_code = isinstance(error, Unreadable) and error.remark.kind in CODE_TOOL_REMARKS
        if is_about_code:
            return self._language.say("code_tool")
        return ""

    def _make_messages(self) -> list[Message]:
        messages = self.state.history
        has_system_prompt = any(message["role"] == "system" for message in messages)
        if not has_system_prompt:
            system = self._write_system_prompt()
            if system:
                messages = [{"role": "system", "content": system}, *messages]
        return merge_turns([rename_role(message, self._roles) for message in messages])

    def _write_system_prompt(self) -> str:
        # Groot's default tokens, which are empty, cannot express an action.
        is_mute = (
            isinstance(self.protocol, BaseProtocol)
            and not self.protocol.special_tokens["action_start_token"]
        )
        if self._system is None and isinstance(self.protocol, Protocol) and not is_mute:
            self._system = self.protocol.format_system_prompt(self._tools)
        return self._system or ""

    @cached_property
    def _tools(self) -> Tools:
        return Tools(_list_entries(self.env))


def print_message(who: str, text: str) -> None:
    """Print a message to stderr as Groot did: the assistant's in blue, the environment's in
    green.
    """
    colour = {"Assistant": BLUE, "Environment": GREEN}.get(who, PLAIN)
    Output(sys.stderr).write_line(f"{colour}{who}: {make_printable(text)}{PLAIN}")


def _list_entries(env: object) -> list[dict[str, Any]]:
    if callable(describe := getattr(env, "describe_actions", None)):
        entries: list[dict[str, Any]] = describe()
        return entries
    tell = getattr(env, "get_actions_info", None)
    if callable(tell):
        return [_make_entry(info) for info in tell()]
    return []


def _make_entry(info: dict[str, Any]) -> dict[str, Any]:
    try:
        return to_entry(info)
    except Malformed:  # a custom environment may use any format
        return {**info, "inputSchema": info.get("parameters", {})}


def _read_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return msgspec.json.encode(content, enc_hook=str).decode()
