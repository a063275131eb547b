"""The planner's side of an exchange: what it is told in messages, and its decisions as replies.

There are three ways, and which one is spoken is read off what was sent. *Structured*: messages are JSON with a `type`,
and the system prompt declares the tools as Python stubs. *Native*: tools are sent along, and called. *Tokens*, Groot's:
the prompt shows a call between two special tokens, and lists the tools as JSON.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas import codec
from toolwire_schemas.dialects import Malformed, lagent, python

from ...react.messages import Action, ActionResult, Error, FinalAnswer, Question, UserResponse, from_json, to_json
from ...react.messages import Ask as AskMessage
from ...react.replies import ModelReply, ToolCall
from .solver import Act, Answer, Ask, Decision, Solver

if TYPE_CHECKING:
    from ..model import Message
    from .abilities import Entry

_STUB = re.compile(
    r'^(?:# tool (?P<name>"(?:[^"\\]|\\.)*")\n)?(?P<stub>(?:async )?def \w+\((?:.*\n(?:[ \t].*\n|\n|\)[^\n]*\n)*))',
    re.MULTILINE,
)
_CLASS = re.compile(r"^class \w+\(.*\):\n(?:[ \t].*\n|\n)*", re.MULTILINE)
_SPECIAL = re.compile(r"(<[^\s<>]+>|\[[^\s\[\]]+\])\s*\{")
_FAILED = "Error during environment interaction: "
Told = Question | ActionResult | UserResponse | Error


class Exchange:
    """One conversation, read from its beginning."""

    def __init__(self, messages: list[Message], tools: list[Entry] | None, reply_schema: dict[str, Any] | None) -> None:
        self._messages = messages
        self._schema = reply_schema
        self._is_native = bool(tools) or any(message.get("tool_calls") for message in messages)
        self._has_tools = bool(tools)
        prompt = "\n".join(_text(message) for message in messages if message.get("role") in ("system", "developer"))
        told = [each for message in messages if _is_told(message) for each in _structured(_text(message))]
        # Results come as messages of this kind in the other ways, too.
        self._is_structured = any(isinstance(each, Question) for each in told)
        self._tokens = None if self._is_structured or self._is_native else _tokens_in(prompt)
        self._ask_tool = next((tool["name"] for tool in tools or () if tool["name"].startswith("ask_user")), None)
        self._entries = tools or (_listed_in(prompt) if self._tokens else declared_in(prompt))

    def reply(self) -> ModelReply:
        """Return the reply to the last message."""
        solver = Solver([tool for tool in self._entries if tool["name"] != self._ask_tool])
        said: Message | None = None
        for message in self._messages:
            if message.get("role") == "assistant":
                said = message
            elif _is_told(message):
                for told in self._told(message, said):
                    self._take(solver, told, said)
        return self._as_reply(solver)

    # --- what it is told ---

    def _take(self, solver: Solver, told: Told, said: Message | None) -> None:
        match told:
            case Question(content):
                solver.question(content)
            case UserResponse(content):
                solver.response(content)
            case ActionResult(success, result):
                # A reply that was mangled on its way led to another action, whose result is none of ours.
                # Without tools, which is so when it is time to end, there is nothing to go on with.
                decision = solver.decide() if self._entries else None
                if isinstance(decision, Act) and (said is None or _is_of(decision, said)):
                    solver.result(success, result)
            case Error():
                pass  # the reply did not arrive as it was: the same decision again

    def _told(self, message: Message, said: Message | None) -> list[Told]:
        text = _text(message)
        if found := _structured(text):
            return found
        if message.get("role") != "tool":
            if self._is_structured or not text.strip():
                return []
            return self._told_behind_a_call(text) if said is not None and self._has_call(said) else [Question(text)]
        # The result of a tool that is no message of ours: natively, or from a program of Groot's.
        if said is not None and self._ask_tool and _called(said) == self._ask_tool:
            return [UserResponse(text)]
        try:
            return [ActionResult(True, codec.decode(text))]
        except codec.DecodingError:
            return [ActionResult(not text.lower().startswith("error"), text)]

    def _told_behind_a_call(self, text: str) -> list[Told]:
        """Who waits for a result is not asked a new question: it is that result, or something went wrong.

        Groot's loop tells results in the role of the user where a model knows none for them.
        """
        if text.startswith(_FAILED):
            return [ActionResult(False, text)]
        try:
            return [ActionResult(True, codec.decode(text))]
        except codec.DecodingError:
            return [Error(text)]

    def _has_call(self, said: Message) -> bool:
        return bool(said.get("tool_calls")) or (self._tokens is not None and self._tokens[0] in _text(said))

    # --- what it says ---

    def _as_reply(self, solver: Solver) -> ModelReply:
        decision = solver.give_up() if self._must_end() else solver.decide()
        if self._is_native:
            return self._native_reply(decision)
        if self._tokens is not None:
            return _reply_with_tokens(decision, *self._tokens)
        return self._structured_reply(decision)

    def _must_end(self) -> bool:
        """Whether only a final answer is allowed, as the schema of replies says, or the lack of tools."""
        if self._schema is None:
            return self._is_native and not self._has_tools
        written = codec.encode(self._schema)
        return b'"FINAL_ANSWER"' in written and b'"ACTION"' not in written and b'"ASK"' not in written

    def _structured_reply(self, decision: Decision) -> ModelReply:
        made: AskMessage | Action | FinalAnswer
        match decision:
            case Act(thought, tool, params):
                made = Action(thought, tool, params)
            case Ask(thought, content):
                made = AskMessage(thought, content)
            case Answer(thought, ok, result):
                made = FinalAnswer(thought, ok, result)
        text = to_json(made)
        # OpenAI's strict mode wants an object at the root.
        is_wrapped = list((self._schema or {}).get("properties", ())) == ["reply"]
        return ModelReply(text=f'{{"reply": {text}}}' if is_wrapped else text, finish_reason="stop")

    def _native_reply(self, decision: Decision) -> ModelReply:
        match decision:
            case Act(thought, tool, params):
                return self._calling(thought, tool, params)
            case Ask(thought, content) if self._ask_tool is not None:
                return self._calling(thought, self._ask_tool, {"content": content})
            case Ask(thought, content):
                return ModelReply(text=content, reasoning=thought, finish_reason="stop")
            case Answer(thought, _, result):
                return ModelReply(text=result, reasoning=thought, finish_reason="stop")

    def _calling(self, thought: str, tool: str, arguments: dict[str, Any]) -> ModelReply:
        number = sum(message.get("role") == "assistant" for message in self._messages)
        call = ToolCall(id=f"call{number:05}", name=tool, arguments=arguments)
        return ModelReply(text=thought, tool_calls=(call,), finish_reason="tool_calls")


def _reply_with_tokens(decision: Decision, start: str, end: str) -> ModelReply:
    match decision:
        case Act(thought, tool, params):
            action = json.dumps({"name": tool, "parameters": params}, ensure_ascii=False)
            return ModelReply(text=f"{thought}\n{start}{action}{end}", finish_reason="stop")
        case Ask(_, content):
            return ModelReply(text=content, finish_reason="stop")
        case Answer(_, _, result):
            return ModelReply(text=result, finish_reason="stop")


# --- reading ----------------------------------------------------------------------------------------------------------


def declared_in(prompt: str) -> list[Entry]:
    """The tools that a text declares as Python stubs; a comment above a stub has its real name."""
    entries = []
    types = "".join(_CLASS.findall(prompt + "\n"))
    for found in _STUB.finditer(prompt + "\n"):
        try:
            (entry,) = python.to_entries(types + found["stub"])
        except (Malformed, ValueError):  # its types are declared in another way: it is not for two numbers
            continue
        entries.append({**entry, "name": json.loads(found["name"])} if found["name"] else entry)
    return entries


def _listed_in(prompt: str) -> list[Entry]:
    """The tools that a text lists as JSON, one to a line: in our form, or in Lagent's."""
    entries: list[Entry] = []
    for line in prompt.splitlines():
        try:
            listed = codec.decode(line) if line.lstrip().startswith(("{", "[")) else []
            for each in listed if isinstance(listed, list) else [listed]:
                if isinstance(each.get("parameters"), dict):
                    entries.append({**each, "inputSchema": each["parameters"]})
                else:
                    entries += lagent.to_entries(each)
        except (codec.DecodingError, Malformed, AttributeError):
            continue
    return entries


def _tokens_in(prompt: str) -> tuple[str, str] | None:
    """The tokens that a prompt shows a call between."""
    for line in prompt.splitlines():
        found = _SPECIAL.match(line.strip())
        end = re.search(r"\}\s*(<[^\s<>]+>|\[[^\s\[\]]+\])$", line.strip())
        if found and end:
            return found[1], end[1]
    return None


def _is_told(message: Message) -> bool:
    return message.get("role") in ("user", "tool")


def _text(message: Message) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))


def _structured(text: str) -> list[Told]:
    """The messages of the structured exchange in *text*, one behind the other; none if it is something else."""
    decoder, at, found = json.JSONDecoder(), 0, []
    while at < len(text):
        try:
            _, end = decoder.raw_decode(text, at)
            message = from_json(text[at:end])
        except (ValueError, RecursionError, msgspec.ValidationError):
            return []
        if not isinstance(message, Told):
            return []
        found.append(message)
        at = end + len(text[end:]) - len(text[end:].lstrip())
    return found


def _is_of(decision: Act, said: Message) -> bool:
    """Whether what was *said* is this decision, and not what became of it on its way."""
    action = _action_in(said)
    return action is None or action == (decision.tool, decision.params)


def _action_in(said: Message) -> tuple[Any, Any] | None:
    """The tool and the parameters in an assistant's message; `None` if that cannot be told."""
    if calls := said.get("tool_calls"):
        function = calls[0].get("function", {}) if len(calls) == 1 else {}
        return function.get("name"), _decoded(function.get("arguments"))
    text = _text(said)
    at = text.find("{")
    try:
        value, _ = json.JSONDecoder().raw_decode(text, at)
    except (ValueError, RecursionError):
        return None
    value = value.get("reply", value)
    if "tool" in value:
        return value["tool"], _decoded(value.get("params"))
    return (value.get("name"), value.get("parameters")) if "name" in value else None


def _called(said: Message) -> str | None:
    action = _action_in(said)
    return action[0] if action else None


def _decoded(value: Any) -> Any:
    try:
        return codec.decode(value) if isinstance(value, str) else value
    except codec.DecodingError:
        return value
