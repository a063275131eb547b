"""An offline stand-in for a language model, for `toolwire demo` and `--model arithmetic`: solves
one expression.

Strategy. It keeps no state: each reply follows from the messages alone. A question is read into a
tree of operations. Each result replaces the operation that was computed, and the next reply calls a
tool for the leftmost one that is left.
"""

from __future__ import annotations

import ast
import json
import math
import re
import unicodedata
from typing import TYPE_CHECKING, Any, Unpack

import msgspec
from anyio.lowlevel import checkpoint
from toolwire_schemas.wire import codec

from ..react.messages import (
    Action,
    ActionResult,
    FinalAnswer,
    ModelReply,
    Question,
    ToolCall,
    from_json,
    to_json,
)
from .model import emit_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .model import Message, ReplyOptions

Value = int | float


class ArithmeticModel:
    """An offline planner, not a language model. It understands the structured protocol and native
    tool calls.
    """

    name = "arithmetic"

    async def reply(self, messages: list[Message], **options: Unpack[ReplyOptions]) -> ModelReply:
        """As `Model.reply`."""
        await checkpoint()
        reply = _reply(messages, options.get("tools"), options.get("reply_schema"))
        await emit_text(options.get("on_text"), reply.text)
        return reply


# --- expressions ----------------------------------------------------------------------------------


class Operation(msgspec.Struct, frozen=True):
    """One operation on two operands. *operator* is one of `+ - * / % ^`."""

    operator: str
    left: Expression
    right: Expression


Expression = Value | Operation


class NotUnderstood(ValueError):
    """The question does not contain exactly one arithmetic expression. The text is the start of the
    question.
    """


_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, "%": 2, "^": 3}
_SIGNS = dict(zip((ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Mod, ast.Pow), "+-*/%^", strict=True))
_MAX_TOKENS = 100
_MAX_DETAILS_CHARS = 300
_MAX_DIGITS = 300  # more would be infinite as a float
_WORDS: dict[str, str] = {
    "+": "plus|加上|加",
    "-": "minus|减去|减|−|–",
    "*": "multiplied by|multiply by|times|乘以|乘|×|·",
    "/": "divided by|divide by|除以|÷",
    "%": "modulo|mod|取余",
    "^": "to the power of|**",
    # What follows applies to everything before: "12加3再乘以4" is (12 + 3) * 4.
    ";": "and then|then|再|然后|的和|的差|的积|的商|,",
}
_SIGN_OF = {word: sign for sign, words in _WORDS.items() for word in words.split("|")}
_ANY_WORD = "|".join(
    rf"\b{word}\b" if word[0].isascii() and word[0].isalpha() else re.escape(word)
    for word in sorted(_SIGN_OF, key=len, reverse=True)
)
_NUMBER = r"(?<![a-z\d.])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?![a-z\d])"
_TOKEN = re.compile(rf"(?P<number>{_NUMBER})|(?P<sign>{_ANY_WORD}|[-+*/%^()])|\s+|(?P<other>.)")


def read_question(text: str, previous: Value | None = None) -> Expression:
    """Return the arithmetic expression in an English or Chinese question.

    *previous*, the last answer, is the left operand of a question like "and times 2?".

    Raises:
        NotUnderstood: if the question holds no expression, more than one, or a malformed one.
    """
    try:
        (tokens,) = (run for run in _runs(text) if not _PRECEDENCE.keys().isdisjoint(run))
        if previous is not None and tokens[0] in _PRECEDENCE:
            tokens = ["(", str(previous), ")", *tokens]
        return _read_expression(ast.parse(_as_python(tokens), mode="eval").body)
    except (ValueError, SyntaxError):
        raise NotUnderstood(text.strip()[:40]) from None


def _runs(text: str) -> list[list[str]]:
    """The sequences of arithmetic tokens in *text* that no other word interrupts."""
    runs: list[list[str]] = [[]]
    for found in _TOKEN.finditer(unicodedata.normalize("NFKC", text).lower()):
        match found.lastgroup:
            case "other":
                runs.append([])
            case "number":
                runs[-1].append(found[0].replace(",", ""))
            case "sign" if (sign := _SIGN_OF.get(found[0], found[0])) != ";" or runs[-1]:
                runs[-1].append(sign)
    return runs


def _as_python(tokens: list[str]) -> str:
    if len(tokens) > _MAX_TOKENS or len(max(tokens, key=len)) > _MAX_DIGITS:
        raise ValueError
    text = ""
    for token in tokens:
        if token == ";":
            text = f"({text})"
        elif token.isdecimal():
            text += f" {int(token)}"  # without zeros at the start
        elif token[-1].isdecimal():
            text += f" {float(token)}"
        elif token == "^":
            text += " **"
        else:
            text += f" {token}"
    return text.strip()


def _read_expression(node: ast.expr) -> Expression:
    match node:
        case ast.Constant(value=value) if isinstance(value, int | float):
            return value
        case ast.BinOp(left=left, op=operator, right=right):
            return Operation(
                _SIGNS[type(operator)], _read_expression(left), _read_expression(right)
            )
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _read_expression(operand)
            if isinstance(inner, Operation):
                return Operation("-", 0, inner)
            return -inner
    raise ValueError


def find_first_step(expression: Operation) -> tuple[Operation, Callable[[Value], Expression]]:
    """Return the leftmost operation on two numbers, and a function from its value to what is left
    of *expression*.
    """
    operator, left, right = expression.operator, expression.left, expression.right
    if isinstance(left, Operation):
        step, rest = find_first_step(left)
        return step, lambda value: Operation(operator, rest(value), right)
    if isinstance(right, Operation):
        step, rest = find_first_step(right)
        return step, lambda value: Operation(operator, left, rest(value))
    return expression, lambda value: value


def write(expression: Expression, signs: dict[str, str] | None = None) -> str:
    """Return *expression* as text with only the parentheses it needs. *signs* replaces operators,
    as `{"*": "×"}`.
    """
    if not isinstance(expression, Operation):
        return str(expression).removesuffix(".0")
    operator = expression.operator
    precedence = _PRECEDENCE[operator]
    # Of 2^3^4 the right side is computed first, of all others the left one.
    is_from_right = operator == "^"
    left = _write_side(expression.left, precedence + is_from_right, signs)
    right = _write_side(expression.right, precedence + (not is_from_right), signs)
    return f"{left} {(signs or {}).get(operator, operator)} {right}"


def _write_side(operand: Expression, needed: int, signs: dict[str, str] | None) -> str:
    """Return *operand* as text, in parentheses unless it binds at least as much as *needed*."""
    binding = _PRECEDENCE["^"] + 1
    if isinstance(operand, Operation):
        binding = _PRECEDENCE[operand.operator]
    elif operand < 0:
        binding = 0
    text = write(operand, signs)
    if binding < needed:
        return f"({text})"
    return text


# --- tools ----------------------------------------------------------------------------------------

_OPERATION_WORDS: dict[str, str] = {
    "+": r"add(ition|s)?|plus|sum|加",
    "-": r"sub(tract(ion|s)?)?|minus|difference|减",
    "*": r"mul(t|tiply|tiplication|tiplies)?|times|product|乘(?!方)",
    "/": r"div(ide|ision|ides)?|quotient|除",
    "%": r"mod(ulo|ulus)?|remainder|余",
    "^": r"pow(er)?|exponent(iate|iation)?|乘方|次方|幂",
}
_NAME_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[\u4e00-\u9fff]+")
_EXPRESSION_PARAMETER = re.compile("expr|formula|算式|表达式")
_STUB = re.compile(
    r'(?:^# tool (".*")\n)?^(?:async )?def (\w+)\(([^()]*)\)[^\n:]*:\s*(.*)', re.MULTILINE
)


class _Tool(msgspec.Struct, frozen=True):
    """A tool as far as arithmetic needs it. *parameters* maps each required parameter to its
    type.
    """

    name: str
    description: str
    parameters: dict[str, str]


class _Step(msgspec.Struct, frozen=True):
    """A call that computes *part*; *rest* turns its value into what is left of the whole."""

    tool: str
    arguments: dict[str, Any]
    part: Expression
    rest: Callable[[Value], Expression]


def _find_next_step(expression: Operation, tools: list[_Tool]) -> _Step | None:
    """Return the next call for *expression*; `None` if no tool computes its first operation or
    takes its numbers.
    """
    part, rest = find_first_step(expression)
    # Names first: a description often mentions other operations.
    texts = [(tool, " ".join(_NAME_PARTS.findall(tool.name))) for tool in tools]
    texts += [(tool, tool.description) for tool in tools]
    for tool, text in texts:
        if _find_operators(text) != [part.operator]:
            continue
        arguments = _make_arguments(tool, part)
        if arguments is not None:
            return _Step(tool.name, arguments, part, rest)
    for tool in tools:
        parameter = next(iter(tool.parameters), "")
        takes_text = list(tool.parameters.values()) in (["str"], ["string"])
        if takes_text and _EXPRESSION_PARAMETER.search(parameter):
            arguments = {parameter: write(expression, {"^": "**"})}
            return _Step(tool.name, arguments, expression, lambda value: value)
    return None


def _find_operators(text: str) -> list[str]:
    return [sign for sign, words in _OPERATION_WORDS.items() if _has_word(words, text)]


def _has_word(words: str, text: str) -> bool:
    return re.search(rf"(?<![a-z])({words})(?![a-z])", text, re.IGNORECASE) is not None


def _make_arguments(tool: _Tool, part: Operation) -> dict[str, Any] | None:
    """Return the two numbers of *part* as arguments; `None` if the tool does not take them."""
    if len(tool.parameters) != 2:
        return None
    arguments: dict[str, Any] = {}
    operands = (part.left, part.right)
    for (name, kind), value in zip(tool.parameters.items(), operands, strict=True):
        is_whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
        if kind in ("int", "integer") and not is_whole:
            return None
        if kind not in ("int", "integer", "float", "number"):
            return None
        arguments[name] = int(value) if isinstance(value, float) and is_whole else value
    return arguments


def _read_entries(entries: list[dict[str, Any]]) -> Iterator[_Tool]:
    """Yield the tools of *entries*, which have the shape of entries of `tools/list`."""
    for entry in entries:
        match entry.get("inputSchema"):
            case {"properties": dict(properties), "required": list(required)}:
                names = required
            case {"properties": dict(properties)}:
                names = list(properties)
            case _:
                continue
        types = {}
        for name in names:
            schema = properties.get(name) or {}
            types[str(name)] = str(schema.get("type", ""))
        yield _Tool(str(entry.get("name")), str(entry.get("description") or ""), types)


def _read_stubs(messages: list[Message]) -> Iterator[_Tool]:
    """Yield the tools that the system prompt declares as Python functions. Parameters with a
    default are left out.
    """
    prompts = [_read_text(one) for one in messages if one.get("role") in ("system", "developer")]
    prompt = "\n".join(prompts)
    for name, function, parameters, description in _STUB.findall(prompt):
        types = {}
        for parameter, kind in _STUB_PARAMETER.findall(parameters):
            types[parameter] = kind.strip("'")
        yield _Tool(json.loads(name) if name else function, description, types)


_STUB_PARAMETER = re.compile(r"(\w+): ([^,=]*?)\s*(?:,|$)")


# --- the exchange ---------------------------------------------------------------------------------


def _reply(
    messages: list[Message], tools: list[dict[str, Any]] | None, reply_schema: dict[str, Any] | None
) -> ModelReply:
    is_native = bool(tools) or any(message.get("tool_calls") for message in messages)
    known = list(_read_entries(tools)) if tools else list(_read_stubs(messages))
    plan = _make_plan(messages, known)
    must_end = is_native and not tools
    if reply_schema is not None:
        must_end = b'"ACTION"' not in codec.encode(reply_schema)
    has_none = not known and not is_native  # a native request to end has no tools either
    step = plan.answer() if must_end and not has_none else plan.choose_next()
    if is_native and isinstance(step, Action):
        call = ToolCall(id=f"call{len(messages):05}", name=step.tool, arguments=step.params)
        return ModelReply(text=step.thought, tool_calls=(call,), finish_reason="tool_calls")
    if is_native and isinstance(step, FinalAnswer):
        return ModelReply(text=step.result, reasoning=step.thought, finish_reason="stop")
    text = to_json(step)
    # The strict mode of OpenAI requires an object at the root, so the schema wraps the reply.
    if list((reply_schema or {}).get("properties", ())) == ["reply"]:
        text = f'{{"reply": {text}}}'
    return ModelReply(text=text, finish_reason="stop")


def _make_plan(messages: list[Message], tools: list[_Tool]) -> _Plan:
    plan = _Plan(tools)
    assistant: Message = {}
    for message in messages:
        match message.get("role"):
            case "assistant":
                assistant = message
                continue
            case "tool":
                pass
            case "user" if not assistant.get("tool_calls"):
                pass
            case _:
                continue
        for received in _read_received(message):
            plan.receive(received, _read_call(assistant))
    return plan


class _Plan:
    """The expression of the current question, reduced by each result."""

    def __init__(self, tools: list[_Tool]) -> None:
        self._tools = tools
        self._is_chinese = False
        self._asked: Expression = 0
        self._left: Expression | None = None
        self._problem = "I was asked nothing. 没有收到问题。"

    def receive(self, message: Question | ActionResult, call: tuple[Any, Any] | None) -> None:
        if isinstance(message, Question):
            self._start(message.content)
        elif isinstance(self._left, Operation) and not self._problem:
            step = _find_next_step(self._left, self._tools)
            if step is None or call not in (None, (step.tool, step.arguments)):
                return  # The call was changed on its way, so its result answers another question.
            value = _find_number(message.result) if message.success else None
            if value is not None:
                self._left = step.rest(value)
            else:
                self._fail("工具没有返回一个数：", "the tool returned no number: ", message.result)

    def _start(self, question: str) -> None:
        self._is_chinese = re.search("[\u4e00-\u9fff]", question) is not None
        previous = None if isinstance(self._left, Operation) else self._left
        self._problem = ""
        try:
            self._asked = self._left = read_question(question, previous)
        except NotUnderstood as error:
            self._problem = self._say(
                f"无法解答：我只会计算一个算式，看不懂“{error}”。",
                "I cannot answer this: I only solve one arithmetic expression, and do not"
                f" understand {str(error)!r}.",
            )

    def choose_next(self) -> Action | FinalAnswer:
        if self._problem or not isinstance(self._left, Operation):
            return self.answer()
        step = _find_next_step(self._left, self._tools)
        if step is None:
            self._fail("没有工具能做下一步。", "there is no tool for its next operation.")
            return self.answer()
        part, whole = self._write(step.part), self._write(self._left)
        thought = self._say(f"要求 {whole}，先算 {part}。", f"For {whole} I first compute {part}.")
        if part == whole:
            thought = self._say(f"计算 {part}。", f"I compute {part}.")
        return Action(thought, step.tool, step.arguments)

    def answer(self) -> FinalAnswer:
        if not self._problem and isinstance(self._left, Operation):
            self._fail("没有算完。", "I had to stop before the end.")
        if self._problem or self._left is None:
            return FinalAnswer(self._problem, False, self._problem)
        thought = self._say("算完了。", "The expression is computed.")
        return FinalAnswer(thought, True, f"{self._write(self._asked)} = {write(self._left)}")

    def _fail(self, chinese: str, english: str, details: Any = "") -> None:
        if isinstance(details, dict) and isinstance(details.get("message"), str):
            details = details["message"]
        if not isinstance(details, str):
            details = codec.encode(details).decode()
        text = " ".join(details.split())[:_MAX_DETAILS_CHARS]
        asked = self._write(self._asked)
        self._problem = self._say(
            f"无法计算 {asked}：{chinese}{text}", f"I cannot compute {asked}: {english}{text}"
        )

    def _write(self, expression: Expression) -> str:
        return write(expression, {"*": "×", "/": "÷"} if self._is_chinese else {})

    def _say(self, chinese: str, english: str) -> str:
        if self._is_chinese:
            return chinese
        return english


def _find_number(result: Any) -> Value | None:
    """Return the number that a tool's result is or contains; `None` if there is not exactly one."""
    match result:
        case int() | float() if not isinstance(result, bool):
            if math.isfinite(result):
                return result
            return None
        case str():
            try:
                if re.fullmatch(r"\s*[+-]?\d+\s*", result):
                    return int(result)
                return _find_number(float(result))
            except ValueError:
                return None
        case dict():
            numbers = set(map(_find_number, result.values())) - {None}
            if len(numbers) == 1:
                return numbers.pop()
            return None
    return None


def _read_received(message: Message) -> list[Question | ActionResult]:
    """The questions and results in a message. Errors of the exchange are left out: they repeat the
    last decision.
    """
    text = _read_text(message)
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


def _read_text(message: Message) -> str:
    content = message.get("content")
    if isinstance(content, str):
        return content
    return ""


def _read_call(message: Message) -> tuple[Any, Any] | None:
    """The tool and the arguments in an assistant's message; `None` if they cannot be read."""
    try:
        calls = message.get("tool_calls")
        if calls and len(calls) > 1:  # this model makes one call at a time
            return "", {}
        if calls:
            function = calls[0]["function"]
            arguments = function["arguments"]
            if isinstance(arguments, str):
                arguments = codec.decode(arguments)
            return function["name"], arguments
        value = codec.decode(_read_text(message))
        value = value.get("reply", value)
        return value["tool"], value["params"]
    except (codec.DecodingError, KeyError, AttributeError, TypeError, IndexError):
        return None
