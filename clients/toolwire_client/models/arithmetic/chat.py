"""Messages -> the planner's reply, in the structured protocol or with native tool calls."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Unpack

import msgspec
from anyio.lowlevel import checkpoint
from toolwire_schemas.wire import codec

from ...react.messages import Action, ActionResult, FinalAnswer, ModelReply, Question, ToolCall, from_json, to_json
from ..model import emit_text
from .calculators import declared_tools, listed_tools, next_step, number_in
from .expressions import NotUnderstood, Operation, read_question, write

if TYPE_CHECKING:
    from ..model import Message, ReplyOptions
    from .calculators import CalculatorTool
    from .expressions import Expression


class ArithmeticModel:
    """An offline planner, not a language model. It keeps no state: each reply follows from the messages alone."""

    name = "arithmetic"

    async def reply(self, messages: list[Message], **options: Unpack[ReplyOptions]) -> ModelReply:
        """As `Model.reply`. Understands the structured protocol and native tool calls."""
        await checkpoint()
        reply = _reply(messages, options.get("tools"), options.get("reply_schema"))
        await emit_text(options.get("on_text"), reply.text)
        return reply


def _reply(
    messages: list[Message], tools: list[dict[str, Any]] | None, reply_schema: dict[str, Any] | None
) -> ModelReply:
    is_native = bool(tools) or any(message.get("tool_calls") for message in messages)
    prompt = "\n".join(_text(message) for message in messages if message.get("role") in ("system", "developer"))
    plan = _Plan(list(listed_tools(tools) if tools else declared_tools(prompt)))
    assistant: Message = {}
    for message in messages:
        if message.get("role") == "assistant":
            assistant = message
        elif message.get("role") == "tool" or (message.get("role") == "user" and not assistant.get("tool_calls")):
            for received in _received(message):
                plan.receive(received, _call_in(assistant))
    must_end = is_native and not tools if reply_schema is None else b'"ACTION"' not in codec.encode(reply_schema)
    step = plan.answer() if must_end else plan.next()
    if is_native and isinstance(step, Action):
        call = ToolCall(id=f"call{len(messages):05}", name=step.tool, arguments=step.params)
        return ModelReply(text=step.thought, tool_calls=(call,), finish_reason="tool_calls")
    if is_native and isinstance(step, FinalAnswer):
        return ModelReply(text=step.result, reasoning=step.thought, finish_reason="stop")
    text = to_json(step)
    # The strict mode of OpenAI requires an object at the root, so the schema wraps the reply.
    is_wrapped = list((reply_schema or {}).get("properties", ())) == ["reply"]
    return ModelReply(text=f'{{"reply": {text}}}' if is_wrapped else text, finish_reason="stop")


class _Plan:
    """The expression of the current question, reduced by each result."""

    def __init__(self, tools: list[CalculatorTool]) -> None:
        self._tools = tools
        self._is_chinese = False
        self._asked: Expression | None = None
        self._left: Expression | None = None
        self._problem = "I was asked nothing. 没有收到问题。"

    def receive(self, message: Question | ActionResult, call: tuple[Any, Any] | None) -> None:
        if isinstance(message, Question):
            self._start(message.content)
        elif isinstance(self._left, Operation) and not self._problem:
            self._reduce(self._left, message, call)

    def _start(self, question: str) -> None:
        self._is_chinese = re.search("[\u4e00-\u9fff]", question) is not None
        previous = None if isinstance(self._left, Operation) else self._left
        self._asked, self._problem = None, ""
        try:
            self._asked = self._left = read_question(question, previous)
        except NotUnderstood as error:
            self._problem = self._say(
                f"无法解答：我只会计算一个算式，看不懂“{error}”。",
                f"I cannot answer this: I only solve one arithmetic expression, and do not understand {str(error)!r}.",
            )

    def _reduce(self, left: Operation, message: ActionResult, call: tuple[Any, Any] | None) -> None:
        step = next_step(left, self._tools)
        if step is None or call not in (None, (step.tool, step.arguments)):
            return  # The call was changed on its way, so its result answers another question.
        value = number_in(message.result) if message.success else None
        if value is not None:
            self._left = step.rest(value)
        else:
            self._fail("工具没有返回一个数：", "the tool returned no number: ", message.result)

    def next(self) -> Action | FinalAnswer:
        if self._problem or not isinstance(self._left, Operation):
            return self.answer()
        step = next_step(self._left, self._tools)
        if step is None:
            self._fail("没有工具能做下一步。", "there is no tool for its next operation.")
            return self.answer()
        part, whole = self._write(step.part), self._write(self._left)
        if part == whole:
            return Action(self._say(f"计算 {part}。", f"I compute {part}."), step.tool, step.arguments)
        thought = self._say(f"要求 {whole}，先算 {part}。", f"For {whole} I first compute {part}.")
        return Action(thought, step.tool, step.arguments)

    def answer(self) -> FinalAnswer:
        if not self._problem and isinstance(self._left, Operation):
            self._fail("没有算完。", "I had to stop before the end.")
        if self._problem or self._left is None:
            return FinalAnswer(self._problem, False, self._problem)
        thought = self._say("算完了。", "The expression is computed.")
        return FinalAnswer(thought, True, f"{self._write(self._asked or 0)} = {write(self._left)}")

    def _fail(self, chinese: str, english: str, details: Any = "") -> None:
        if isinstance(details, dict) and isinstance(details.get("message"), str):
            details = details["message"]
        text = " ".join((details if isinstance(details, str) else codec.encode(details).decode()).split())[:300]
        asked = self._write(self._asked or 0)
        self._problem = self._say(f"无法计算 {asked}：{chinese}{text}", f"I cannot compute {asked}: {english}{text}")

    def _write(self, expression: Expression) -> str:
        return write(expression, {"*": "×", "/": "÷"} if self._is_chinese else {})

    def _say(self, chinese: str, english: str) -> str:
        return chinese if self._is_chinese else english


def _received(message: Message) -> list[Question | ActionResult]:
    """The questions and results in a message. Errors of the exchange are left out: they repeat the last decision."""
    text = _text(message)
    try:
        found = [from_json(line) for line in text.splitlines()]
        return [each for each in found if isinstance(each, Question | ActionResult)]
    except (ValueError, RecursionError, msgspec.ValidationError):
        if message.get("role") == "user":
            return [Question(text)]
    try:
        return [ActionResult(True, codec.decode(text))]
    except codec.DecodingError:
        return [ActionResult(not text.lower().startswith("error"), text)]


def _text(message: Message) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else ""


def _call_in(message: Message) -> tuple[Any, Any] | None:
    """The tool and the arguments in an assistant's message; `None` if they cannot be read."""
    try:
        if calls := message.get("tool_calls"):
            function = calls[-1]["function"] if len(calls) == 1 else {"name": "", "arguments": {}}
            arguments = function["arguments"]
            return function["name"], codec.decode(arguments) if isinstance(arguments, str) else arguments
        value = codec.decode(_text(message))
        value = value.get("reply", value)
        return value["tool"], value["params"]
    except (codec.DecodingError, KeyError, AttributeError, TypeError, IndexError):
        return None
