"""The offline planner in real exchanges: it reads its tools from what it is sent, and uses what is
there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.faulty_model import FAULTS, FaultyModel
from toolwire_agent.models import ArithmeticModel
from toolwire_agent.models.arithmetic import (
    NotUnderstood,
    Operation,
    find_first_step,
    read_question,
    write,
)
from toolwire_agent.react.conversation import Conversation, Retry, Stop
from toolwire_agent.react.messages import Action, Ask, FinalAnswer, from_json
from toolwire_agent.react.native import NativeProtocol
from toolwire_agent.react.prompt_protocol import Protocol
from toolwire_agent.react.structured import StructuredProtocol

Function = Callable[..., Any]


def entry(name: str, kind: str = "integer", *parameters: str, **more: Any) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {each: {"type": kind} for each in parameters},
        "required": list(parameters),
    }
    return {"name": name, "inputSchema": schema, **more}


ADD = (entry("add", "integer", "a", "b", description="两个整数相加"), lambda a, b: a + b)
MULTIPLY = (entry("multiply", "integer", "a", "b", description="两个整数相乘"), lambda a, b: a * b)
MINUS = (entry("minus", "integer", "a", "b", description="两个整数相减"), lambda a, b: a - b)
DIVIDE = (entry("divide", "number", "a", "b"), lambda a, b: a / b)
ALL = (ADD, MULTIPLY, MINUS, DIVIDE)
PROTOCOLS = {
    "structured": StructuredProtocol(),
    "structured, in Chinese": StructuredProtocol("zh"),
    "structured, with ok": StructuredProtocol(result_key="ok"),
    "native": NativeProtocol(),
}


class Exchange:
    """A conversation with the planner, and what was done in it."""

    def __init__(
        self,
        tools: Iterable[tuple[dict[str, Any], Function]] = ALL,
        protocol: Protocol | None = None,
        model: Any = None,
        strict: bool | None = None,
    ) -> None:
        self.functions = {entry["name"]: function for entry, function in tools}
        self.conversation = Conversation([entry for entry, _ in tools], protocol)
        self.model = model or ArithmeticModel()
        self.strict = strict
        self.done: list[str] = []
        self.asked: list[str] = []

    def ask(self, question: str, *answers: str) -> tuple[bool, str]:
        self.conversation.add_question(question)
        remaining = list(answers)
        for _ in range(100):
            match self.conversation.take_reply(anyio.run(self.reply)):
                case Action(_, tool, params):
                    self.act(tool, params)
                case Ask(_, content):
                    self.asked.append(content)
                    self.conversation.add_user_response(remaining.pop(0))
                case FinalAnswer(_, ok, result):
                    return ok, result
                case Stop() as stop:
                    raise AssertionError(stop)
                case Retry():
                    pass
        raise AssertionError("there is no end to it")

    async def reply(self) -> Any:
        schema = (
            None
            if self.strict is None
            else self.conversation.build_reply_schema(strict=self.strict)
        )
        messages, tools = self.conversation.messages, self.conversation.native_tools or None
        return await self.model.reply(messages, tools=tools, reply_schema=schema)

    def act(self, tool: str, params: dict[str, Any]) -> None:
        self.done.append(
            f"{tool}({', '.join(f'{name}={value}' for name, value in params.items())})"
        )
        try:
            self.conversation.add_result(self.functions[tool](**params))
        except Exception as error:
            self.conversation.add_result(
                {"error": type(error).__name__, "message": str(error)}, success=False
            )


@pytest.mark.parametrize("name", PROTOCOLS)
def test_it_solves_step_by_step_in_every_protocol(name: str) -> None:
    exchange = Exchange(protocol=PROTOCOLS[name])
    assert exchange.ask("12加3再乘以4") == (True, "(12 + 3) × 4 = 60")
    assert exchange.done == ["add(a=12, b=3)", "multiply(a=15, b=4)"]


@pytest.mark.parametrize("strict", [None, False, True])
def test_reply_fits_the_reply_schema(strict: bool | None) -> None:
    assert Exchange(strict=strict).ask("What is (17 + 25) * 3 - 4?") == (
        True,
        "(17 + 25) * 3 - 4 = 122",
    )


def test_exchange_matches_the_first_prompt_exactly() -> None:
    prompt = (
        "你**有且只有**如下工具可用，它们以函数的形式去定义，定义中可能会包含输入、"
        "响应数据的schema：\n\n"
        'def add(a: int, b: \'int\') -> int:\n    """两个整数相加"""\n'
        'def multiply(a: int, b: \'int\') -> int:\n    """两个整数相乘"""\n'
        'def minus(a: int, b: \'int\') -> int:\n    """两个整数相减"""\n\n我的问题包括用户提出的问题\n'  # noqa: E501
    )
    messages: list[dict[str, Any]] = [{"role": "system", "content": prompt}]
    said: list[Any] = []
    for told in (
        {"type": "QUESTION", "content": "12加3再乘以4"},
        {"type": "ACTION_RESULT", "ok": True, "result": 15},
        {"type": "ACTION_RESULT", "ok": True, "result": 60},
    ):
        messages.append({"role": "user", "content": json.dumps(told, ensure_ascii=False)})
        reply = anyio.run(ArithmeticModel().reply, messages).text
        said.append(json.loads(reply))
        messages.append({"role": "assistant", "content": reply})
    assert [list(each) for each in said] == [
        ["thought", "type", "tool", "params"],
        ["thought", "type", "tool", "params"],
        ["thought", "type", "ok", "result"],
    ]
    assert [each.get("params") for each in said] == [{"a": 12, "b": 3}, {"a": 15, "b": 4}, None]
    assert (said[2]["ok"], said[2]["result"]) == (True, "(12 + 3) × 4 = 60")


def test_question_without_a_left_operand_uses_the_last_answer() -> None:
    exchange = Exchange()
    exchange.ask("12加3")
    assert exchange.ask("再乘以4") == (True, "15 × 4 = 60")


def test_missing_operation_is_reported_at_once() -> None:
    exchange = Exchange((ADD, MULTIPLY, MINUS))
    assert exchange.ask("10 divided by 2") == (
        False,
        "I cannot compute 10 / 2: there is no tool for its next operation.",
    )
    assert exchange.ask("2.5 + 1") == (
        False,
        "I cannot compute 2.5 + 1: there is no tool for its next operation.",
    )
    assert exchange.done == []


def test_missing_tools_are_reported() -> None:
    assert Exchange(()).ask("1+1") == (
        False,
        "I cannot compute 1 + 1: there is no tool for its next operation.",
    )


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (
            "Is it warm?",
            (
                "I cannot answer this: I only solve one arithmetic expression, and do not"
                " understand 'Is it warm?'."
            ),
        ),
        ("今天天气怎么样？", "无法解答：我只会计算一个算式，看不懂“今天天气怎么样？”。"),
    ],
)
def test_question_without_arithmetic_is_refused_at_once(question: str, answer: str) -> None:
    assert Exchange().ask(question) == (False, answer)


def test_a_failure_of_a_tool_is_reported_in_the_answer() -> None:
    exchange = Exchange()
    assert exchange.ask("1/0") == (
        False,
        "I cannot compute 1 / 0: the tool returned no number: division by zero",
    )
    assert exchange.done == ["divide(a=1, b=0)"]


@pytest.mark.parametrize("result", ["about six", None, True, {"a": 1, "b": 2}, [], float("1e400")])
def test_result_without_a_number_is_reported(result: Any) -> None:
    exchange = Exchange([(ADD[0], lambda a, b: result)])
    ok, said = exchange.ask("2+4")
    assert (ok, "returned no number" in said) == (False, True)


@pytest.mark.parametrize(
    "result",
    [
        6,
        6.0,
        "6",
        " 6 ",
        {"result": 6},
        {"sum": "6", "note": "ok"},
        {"result": "6", "decimal": 6.0},
    ],
)
def test_a_number_is_found_in_a_result_however_it_is_wrapped(result: Any) -> None:
    assert Exchange([(ADD[0], lambda a, b: result)]).ask("2+4") == (True, "2 + 4 = 6")


def test_integers_are_exact() -> None:
    assert Exchange().ask(f"{2**70} + 1") == (True, f"{2**70} + 1 = {2**70 + 1}")


TOOLS: dict[str, tuple[dict[str, Any], Function, str, str]] = {
    "a name with a place": (
        entry("calc.minus", "number", "x", "y"),
        lambda x, y: x - y,
        "10 - 4",
        "calc.minus(x=10, y=4)",
    ),
    "camel case": (
        entry("subtractNumbers", "number", "x", "y"),
        lambda x, y: x - y,
        "10-4",
        "subtractNumbers(x=10, y=4)",
    ),
    "a Chinese name": (
        entry("两数相减", "number", "x", "y"),
        lambda x, y: x - y,
        "10-4",
        "两数相减(x=10, y=4)",
    ),
    "only a description": (
        entry("op7", "number", "x", "y", description="Returns x minus y."),
        lambda x, y: x - y,
        "10-4",
        "op7(x=10, y=4)",
    ),
    "a whole expression": (
        {
            "name": "evaluate",
            "inputSchema": {
                "type": "object",
                "properties": {"expression": {"type": "string"}},
                "required": ["expression"],
            },
        },
        lambda expression: eval(expression),
        "(10 - 4) * 2^3",
        "evaluate(expression=(10 - 4) * 2 ** 3)",
    ),
    "a result of several members": (
        {
            "name": "evaluate",
            "inputSchema": {
                "type": "object",
                "properties": {"expression": {"type": "string"}},
                "required": ["expression"],
            },
            "outputSchema": {
                "type": "object",
                "properties": {"result": {"type": "string"}, "exact": {"type": "boolean"}},
                "required": ["result", "exact"],
            },
        },
        lambda expression: {"result": str(eval(expression)), "exact": True},
        "10-4",
        "evaluate(expression=10 - 4)",
    ),
}


@pytest.mark.parametrize("protocol", ["structured", "native"])
@pytest.mark.parametrize("name", TOOLS)
def test_operation_of_a_tool_is_found_from_its_description(name: str, protocol: str) -> None:
    tool, function, question, call = TOOLS[name]
    if (name, protocol) == ("a Chinese name", "native"):
        pytest.skip("a vendor's names are ASCII, so that nothing is left of it")
    exchange = Exchange([(tool, function)], PROTOCOLS[protocol])
    ok, result = exchange.ask(question)
    assert (ok, exchange.done) == (True, [call])
    assert result.startswith(question.replace("10-4", "10 - 4")[:2])


def test_unrelated_tools_are_not_called() -> None:
    others = [
        entry("add_user", "string", "name", "password"),
        entry("add_three", "number", "a", "b", "c"),
        entry("read_file", "string", "path"),
        {"name": "add", "inputSchema": None},
        {"name": "summary", "description": "Sums up a text.", "inputSchema": {"type": "object"}},
    ]
    assert Exchange([(other, lambda **params: 0) for other in others]).ask("1+2")[0] is False


OF_CALLS = {"doubled_call", "call_of_unknown_tool", "arguments_cut_off"}


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(FAULTS.keys() - {"result_of_wrong_type"}))
def test_exchange_recovers_from_every_fault_of_a_reply(name: str) -> None:
    spoiled = FaultyModel(ArithmeticModel(), faults=[name], rate=0.5, most_in_a_row=1)
    exchange = Exchange(
        protocol=PROTOCOLS["native" if name in OF_CALLS else "structured"], model=spoiled
    )
    for _ in range(5):
        assert exchange.ask("12 + 3, then times 4, minus 10") == (True, "(12 + 3) * 4 - 10 = 50")
    assert name in spoiled.injected


def test_result_of_a_changed_action_is_ignored() -> None:
    messages = [
        {"role": "system", "content": "def add(a: int, b: int) -> int: ..."},
        {"role": "user", "content": '{"type": "QUESTION", "content": "12 + 3"}'},
        {
            "role": "assistant",
            "content": (
                '{"thought": "", "type": "ACTION", "tool": "add", "params": {"a": 12, "b": 30}}'
            ),
        },
        {"role": "user", "content": '{"type": "ACTION_RESULT", "success": true, "result": 42}'},
    ]
    again = from_json(anyio.run(ArithmeticModel().reply, messages).text)
    assert isinstance(again, Action)
    assert again.params == {"a": 12, "b": 3}


@pytest.mark.parametrize("protocol", ["structured", "native"])
def test_last_turn_gets_a_final_answer(protocol: str) -> None:
    exchange = Exchange(
        protocol=PROTOCOLS[protocol], strict=False if protocol == "structured" else None
    )
    exchange.conversation.add_question("4*5+6?")
    exchange.conversation.take_reply(anyio.run(exchange.reply))
    exchange.conversation.add_result(20)
    exchange.conversation.force_final("the time is over")
    said = exchange.conversation.take_reply(anyio.run(exchange.reply))
    assert isinstance(said, FinalAnswer)
    assert said.result == "I cannot compute 4 * 5 + 6: I had to stop before the end."


MESSAGES = st.lists(
    st.fixed_dictionaries(
        {
            "role": st.sampled_from(["system", "user", "assistant", "tool", "narrator"]),
            "content": st.one_of(
                st.none(),
                st.text(max_size=20),
                st.sampled_from(
                    [
                        '{"type": "QUESTION", "content": "1+2"}',
                        '{"type": "ACTION_RESULT", "success": true, "result": 3}',
                        '{"type": "ACTION_RESULT", "success": false, "result": {"message": "no"}}',
                        '{"type": "USER_RESPONSE", "content": "4"}',
                        '{"type": "ERROR", "msg": "again"}',
                        '{"type": "ERROR"}\n{"type": "QUESTION", "content": "x"}',
                        "def add(a: int, b: int) -> int: ...",
                        "1+2",
                        "3",
                        "[[[[",
                    ]
                ),
            ),
        },
        optional={
            "tool_calls": st.just([{"id": "a", "function": {"name": "add", "arguments": "{"}}])
        },
    ),
    max_size=8,
)


@given(
    MESSAGES,
    st.sampled_from(
        [None, [], [ADD[0]], [{"name": "x", "inputSchema": {"type": "object", "properties": 7}}]]
    ),
)
def test_any_messages_get_a_reply(messages: Any, tools: Any) -> None:
    reply = anyio.run(lambda: ArithmeticModel().reply(messages, tools=tools))
    assert reply.text or reply.tool_calls


ASKED = {
    "12加3乘以4": "12 + 3 * 4",
    "12加3再乘以4": "(12 + 3) * 4",
    "12加3，再乘以4": "(12 + 3) * 4",
    "12加3的和乘以4": "(12 + 3) * 4",
    "请计算：（１２＋３）×４": "(12 + 3) * 4",
    "What is (17 + 25) * 3 - 4?": "(17 + 25) * 3 - 4",
    "12 plus 3, then times 4": "(12 + 3) * 4",
    "7 times 8, then minus 6, then divided by 5.": "(7 * 8 - 6) / 5",
    "5 - 3 - 1": "5 - 3 - 1",
    "2^3^2": "2 ^ 3 ^ 2",
    "2**3": "2 ^ 3",
    "-2^2": "0 - 2 ^ 2",
    "2 plus -3": "2 + (-3)",
    "10 modulo 3": "10 % 3",
    "1,234,567.5 - 0.5": "1234567.5 - 0.5",
}


@pytest.mark.parametrize(("question", "expression"), ASKED.items())
def test_a_question_is_read_with_the_precedence_of_arithmetic(
    question: str, expression: str
) -> None:
    assert write(read_question(question)) == expression


@pytest.mark.parametrize(
    "question",
    [
        "",
        "7",
        "2 +",
        "(2 + 3",
        "2 + 3)",
        "2 3 + 4",
        "2+3? And 4*5?",
        "+".join("1" * 101),
        "1e999 + 1",
    ],
)
def test_a_question_without_exactly_one_expression_is_not_understood(question: str) -> None:
    with pytest.raises(NotUnderstood):
        read_question(question)


def test_an_operator_at_the_start_continues_the_previous_answer() -> None:
    assert write(read_question("and times 2?", 7)) == "7 * 2"
    assert write(read_question("再加1", -7)) == "(-7) + 1"


NUMBERS = st.integers(-20, 20)
EXPRESSIONS = st.recursive(
    NUMBERS, lambda inner: st.builds(Operation, st.sampled_from("+-*"), inner, inner), max_leaves=12
).filter(lambda each: isinstance(each, Operation))


@given(EXPRESSIONS)
def test_written_expression_is_read_back_and_computed(expression: Any) -> None:
    assert write(read_question(write(expression))) == write(expression)
    value = expression
    for _ in range(50):
        if isinstance(value, int):
            break
        step, rest = find_first_step(value)
        value = rest(
            {"+": int.__add__, "-": int.__sub__, "*": int.__mul__}[step.operator](
                step.left, step.right
            )
        )
    assert value == eval(write(expression))
