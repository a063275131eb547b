"""The offline planner in real exchanges: it reads its tools from what it is sent, and uses what is there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire_client.models import FAULTS, ArithmeticModel, FaultyModel
from toolwire_client.models.arithmetic.exchange import declared_in
from toolwire_client.react.conversation import Conversation, Retry, Stop
from toolwire_client.react.messages import Action, Ask, FinalAnswer, from_json
from toolwire_client.react.native import NativeProtocol
from toolwire_client.react.protocol import Protocol
from toolwire_client.react.structured import StructuredProtocol
from toolwire_client.react.tokens import DoubaoProtocol

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
    "tokens": DoubaoProtocol(),
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
        self.conversation.question(question)
        remaining = list(answers)
        for _ in range(100):
            match self.conversation.reply(anyio.run(self.reply)):
                case Action(_, tool, params):
                    self.act(tool, params)
                case Ask(_, content):
                    self.asked.append(content)
                    self.conversation.user_response(remaining.pop(0))
                case FinalAnswer(_, ok, result):
                    return ok, result
                case Stop() as stop:
                    raise AssertionError(stop)
                case Retry():
                    pass
        raise AssertionError("there is no end to it")

    async def reply(self) -> Any:
        schema = None if self.strict is None else self.conversation.reply_schema(strict=self.strict)
        messages, tools = self.conversation.messages, self.conversation.offered or None
        return await self.model.reply(messages, tools=tools, reply_schema=schema)

    def act(self, tool: str, params: dict[str, Any]) -> None:
        self.done.append(f"{tool}({', '.join(f'{name}={value}' for name, value in params.items())})")
        try:
            self.conversation.action_result(self.functions[tool](**params))
        except Exception as error:
            self.conversation.action_result({"error": type(error).__name__, "message": str(error)}, success=False)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_it_solves_step_by_step_in_every_protocol(name: str) -> None:
    exchange = Exchange(protocol=PROTOCOLS[name])
    assert exchange.ask("12加3再乘以4") == (True, "(12 + 3) × 4 = 60")
    assert exchange.done == ["add(a=12, b=3)", "multiply(a=15, b=4)"]


@pytest.mark.parametrize("strict", [None, False, True])
def test_it_replies_in_the_form_that_the_schema_wants(strict: bool | None) -> None:
    assert Exchange(strict=strict).ask("What is (17 + 25) * 3 - 4?") == (True, "(17 + 25) * 3 - 4 = 122")


def test_it_speaks_the_exchange_of_the_first_prompt_to_the_letter() -> None:
    prompt = (
        "你**有且只有**如下工具可用，它们以函数的形式去定义，定义中可能会包含输入、响应数据的schema：\n\n"
        'def add(a: int, b: \'int\') -> int:\n    """两个整数相加"""\n'
        'def multiply(a: int, b: \'int\') -> int:\n    """两个整数相乘"""\n'
        'def minus(a: int, b: \'int\') -> int:\n    """两个整数相减"""\n\n我的问题包括用户提出的问题\n'
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


def test_it_solves_all_that_is_asked_before_it_answers() -> None:
    exchange = Exchange()
    assert exchange.ask("What is 2+3? And 4 times 5?") == (True, "2 + 3 = 5\n4 * 5 = 20")


def test_it_asks_for_what_is_missing_and_goes_on() -> None:
    exchange = Exchange()
    assert exchange.ask("5 plus", "seven") == (True, "5 + 7 = 12")
    assert exchange.asked == ["To compute 5 + ? I need one more number: which one goes where the question mark is?"]


def test_it_asks_once_more_if_the_answer_is_none_and_then_gives_up() -> None:
    exchange = Exchange()
    assert exchange.ask("把12加上", "不知道", "8") == (True, "12 + 8 = 20")
    assert exchange.ask("5 plus", "what?", "no idea") == (False, "I cannot compute 5 + ?: a number is missing.")


def test_a_later_question_may_mean_the_last_answer() -> None:
    exchange = Exchange()
    exchange.ask("12加3")
    assert exchange.ask("再乘以4") == (True, "15 × 4 = 60")


def test_what_no_tool_can_do_is_said_at_once() -> None:
    exchange = Exchange((ADD, MULTIPLY, MINUS))
    assert exchange.ask("10 divided by 2") == (False, "I cannot compute 10 / 2: there is no tool to divide.")
    assert exchange.ask("2.5 + 1") == (False, "I cannot compute 2.5 + 1: the tool takes whole numbers only (a: 2.5).")
    assert exchange.done == []


def test_without_tools_it_says_so() -> None:
    assert Exchange(()).ask("1+1") == (False, "I cannot compute 1 + 1: there is no tool to add.")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (
            "What's the weather?",
            "I cannot answer this: I only do arithmetic, and do not understand 'weather'.",
        ),
        ("今天天气怎么样？", "无法解答：我只会做算术，看不懂“今天天气怎么样”。"),
    ],
)
def test_what_is_no_arithmetic_is_said_at_once(question: str, answer: str) -> None:
    assert Exchange().ask(question) == (False, answer)


def test_a_tool_that_fails_is_told_and_the_rest_is_solved() -> None:
    exchange = Exchange()
    ok, result = exchange.ask("1/0? 2+3?")
    assert (ok, result) == (False, "I cannot compute 1 / 0; the tool reports: division by zero\n2 + 3 = 5")
    assert exchange.done == ["divide(a=1, b=0)", "add(a=2, b=3)"]


@pytest.mark.parametrize("result", ["about six", None, True, {"a": 1, "b": 2}, [], float("1e400")])
def test_a_result_that_is_no_number_is_told(result: Any) -> None:
    exchange = Exchange([(ADD[0], lambda a, b: result)])
    ok, said = exchange.ask("2+4")
    assert (ok, "no number" in said or "reports" in said) == (False, True)


@pytest.mark.parametrize(
    "result", [6, 6.0, "6", " 6 ", {"result": 6}, {"sum": "6", "note": "ok"}, [6], {"result": "6", "decimal": 6.0}]
)
def test_a_number_is_found_in_a_result_however_it_is_wrapped(result: Any) -> None:
    assert Exchange([(ADD[0], lambda a, b: result)]).ask("2+4") == (True, "2 + 4 = 6")


def test_integers_are_exact() -> None:
    assert Exchange().ask(f"{2**70} + 1") == (True, f"{2**70} + 1 = {2**70 + 1}")


def test_powers_are_multiplied_out_if_nothing_else_can_do_them() -> None:
    exchange = Exchange((MULTIPLY, ADD))
    assert exchange.ask("2^3 + 1") == (True, "2 ^ 3 + 1 = 9")
    assert exchange.done == ["multiply(a=2, b=2)", "multiply(a=4, b=2)", "add(a=8, b=1)"]


def test_powers_of_powers_are_not_multiplied_out() -> None:
    question = "((((((2^10)^10)^10)^10)^10)^10)^10"
    assert Exchange((MULTIPLY,)).ask(question)[1].endswith("there is no tool to raise to a power.")


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
    "a Chinese name": (entry("两数相减", "number", "x", "y"), lambda x, y: x - y, "10-4", "两数相减(x=10, y=4)"),
    "only a description": (
        entry("op7", "number", "x", "y", description="Returns x minus y."),
        lambda x, y: x - y,
        "10-4",
        "op7(x=10, y=4)",
    ),
    "the order by names": (
        entry("divide", "number", "divisor", "dividend"),
        lambda divisor, dividend: dividend / divisor,
        "10/4",
        "divide(dividend=10, divisor=4)",
    ),
    "the order by descriptions": (
        {
            "name": "minus",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "p": {"type": "number", "description": "减数"},
                    "q": {"type": "number", "description": "被减数"},
                },
                "required": ["p", "q"],
            },
        },
        lambda p, q: q - p,
        "10-4",
        "minus(q=10, p=4)",
    ),
    "the order by the sentence": (
        entry("subtract", "number", "a", "b", description="Subtract a from b."),
        lambda a, b: b - a,
        "10-4",
        "subtract(b=10, a=4)",
    ),
    "a list of numbers": (
        {
            "name": "sum",
            "inputSchema": {
                "type": "object",
                "properties": {"numbers": {"type": "array", "items": {"type": "number"}}},
                "required": ["numbers"],
            },
        },
        lambda numbers: sum(numbers),
        "10+4",
        "sum(numbers=[10, 4])",
    ),
    "an operator to choose": (
        {
            "name": "calculator",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "operation": {"type": "string", "enum": ["add", "subtract", "multiply", "divide"]},
                    "a": {"type": "number"},
                    "b": {"type": "number"},
                },
                "required": ["operation", "a", "b"],
            },
        },
        lambda operation, a, b: {"add": a + b, "subtract": a - b}[operation],
        "10-4",
        "calculator(operation=subtract, a=10, b=4)",
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
    "more than it needs": (
        {
            "name": "add",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "a": {"type": ["number", "null"]},
                    "b": {"anyOf": [{"type": "number"}]},
                    "round": {"type": "boolean"},
                },
                "required": ["a", "b"],
            },
        },
        lambda a, b: a + b,
        "10+4",
        "add(a=10, b=4)",
    ),
    "a second number with a default": (
        {
            "name": "add",
            "inputSchema": {
                "type": "object",
                "properties": {"a": {"type": "integer"}, "b": {"type": "integer", "default": 1}},
                "required": ["a"],
            },
        },
        lambda a, b=1: a + b,
        "10+4",
        "add(a=10, b=4)",
    ),
    "no types": (
        {"name": "add", "inputSchema": {"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a", "b"]}},
        lambda a, b: a + b,
        "10+4",
        "add(a=10, b=4)",
    ),
}


@pytest.mark.parametrize("protocol", ["structured", "native", "tokens"])
@pytest.mark.parametrize("name", TOOLS)
def test_it_finds_out_what_a_tool_is_for_and_how_it_is_called(name: str, protocol: str) -> None:
    tool, function, question, call = TOOLS[name]
    if (name, protocol) == ("a Chinese name", "native"):
        pytest.skip("a vendor's names are ASCII, so that nothing is left of it")
    exchange = Exchange([(tool, function)], PROTOCOLS[protocol])
    ok, result = exchange.ask(question)
    assert (ok, exchange.done) == (True, [call])
    assert result.startswith(question.replace("10-4", "10 - 4")[:2])


def test_tools_that_are_for_something_else_are_left_alone() -> None:
    others = [
        entry("add_user", "string", "name", "password"),
        entry("add_three", "number", "a", "b", "c"),
        entry("read_file", "string", "path"),
        {"name": "add", "inputSchema": None},
        {"name": "summary", "description": "Sums up a text.", "inputSchema": {"type": "object"}},
    ]
    assert Exchange([(other, lambda **params: 0) for other in others]).ask("1+2")[0] is False


OF_CALLS = {"doubled_call", "call_of_unknown_tool", "arguments_cut_off"}


@pytest.mark.parametrize("name", sorted(FAULTS.keys() - {"result_of_wrong_type"}))
def test_it_recovers_from_every_way_in_which_its_reply_can_be_spoiled(name: str) -> None:
    spoiled = FaultyModel(ArithmeticModel(), faults=[name], rate=0.5, most_in_a_row=3)
    exchange = Exchange(protocol=PROTOCOLS["native" if name in OF_CALLS else "structured"], model=spoiled)
    for _ in range(5):
        assert exchange.ask("12 + 3, then times 4, minus 10") == (True, "(12 + 3) * 4 - 10 = 50")
    assert name in spoiled.injected


def test_a_result_of_an_action_that_was_mangled_on_its_way_is_not_taken_for_its_own() -> None:
    messages = [
        {"role": "system", "content": "def add(a: int, b: int) -> int: ..."},
        {"role": "user", "content": '{"type": "QUESTION", "content": "12 + 3"}'},
        {
            "role": "assistant",
            "content": '{"thought": "", "type": "ACTION", "tool": "add", "params": {"a": 12, "b": 30}}',
        },
        {"role": "user", "content": '{"type": "ACTION_RESULT", "success": true, "result": 42}'},
    ]
    again = from_json(anyio.run(ArithmeticModel().reply, messages).text)
    assert isinstance(again, Action)
    assert again.params == {"a": 12, "b": 3}


@pytest.mark.parametrize("protocol", ["structured", "native"])
def test_when_it_has_to_end_it_ends(protocol: str) -> None:
    exchange = Exchange(protocol=PROTOCOLS[protocol], strict=False if protocol == "structured" else None)
    exchange.conversation.question("1+2? 4*5+6?")
    exchange.conversation.reply(anyio.run(exchange.reply))
    exchange.conversation.action_result(3)
    exchange.conversation.force_final("the time is over")
    said = exchange.conversation.reply(anyio.run(exchange.reply))
    assert isinstance(said, FinalAnswer)
    assert said.result.endswith("I did not come to the end of 4 * 5 + 6.")


def test_it_is_called_what_it_is() -> None:
    assert repr(ArithmeticModel()) == "<ArithmeticModel: an offline planner for arithmetic, not a language model>"


def test_tools_are_read_from_stubs_wherever_they_stand() -> None:
    prompt = (
        "Tools:\n\n```python\n"
        "async def add(\n    a: int,\n    b: int = 1,\n) -> int:\n    '''Add.\n\n    Args:\n        a: one\n    '''\n"
        '# tool "Notes.read \\"x\\""\ndef Notes_read(path: str) -> str: ...\n\nclass X(TypedDict):\n    a: int\n\n'
        "def later(x: X) -> int: ...\n```\nHere def is just a word (not a function)."
    )
    assert [tool["name"] for tool in declared_in(prompt)] == ["add", 'Notes.read "x"', "later"]


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
        optional={"tool_calls": st.just([{"id": "a", "function": {"name": "add", "arguments": "{"}}])},
    ),
    max_size=8,
)


@given(
    MESSAGES, st.sampled_from([None, [], [ADD[0]], [{"name": "x", "inputSchema": {"type": "object", "properties": 7}}]])
)
def test_whatever_it_is_sent_it_replies(messages: Any, tools: Any) -> None:
    reply = anyio.run(lambda: ArithmeticModel().reply(messages, tools=tools))
    assert reply.text or reply.tool_calls
