"""Which expressions a question asks for, and which questions are none of arithmetic."""

from __future__ import annotations

import ast
import operator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire_client.models.arithmetic.expressions import Expression, Number, Operation, written
from toolwire_client.models.arithmetic.numerals import number_at
from toolwire_client.models.arithmetic.questions import asked_in, numbers_in
from toolwire_client.models.arithmetic.words import NotUnderstood, words_of

ASKED = {
    # Precedence, and what changes it
    "12加3乘以4": ["12 + 3 * 4"],
    "12加3再乘以4": ["(12 + 3) * 4"],
    "12加3，乘以4": ["(12 + 3) * 4"],
    "12加3的和乘4": ["(12 + 3) * 4"],
    "12加3。然后再乘以4": ["(12 + 3) * 4"],
    "请计算：（１２＋３）×４": ["(12 + 3) * 4"],
    "What is (17 + 25) * 3 - 4?": ["(17 + 25) * 3 - 4"],
    "12 plus 3, then times 4": ["(12 + 3) * 4"],
    "add 3 to 12, then multiply by 4": ["(12 + 3) * 4"],
    "add 3 and 4 and multiply by 2": ["(3 + 4) * 2"],
    "7 times 8, then subtract 6, then divide by 5.": ["(7 * 8 - 6) / 5"],
    "5 - 3 - 1": ["5 - 3 - 1"],
    "8 / 4 / 2": ["8 / 4 / 2"],
    "2^3^2": ["2 ^ 3 ^ 2"],
    "-2^2": ["0 - 2 ^ 2"],
    # Signs
    "2 plus -3": ["2 + (-3)"],
    "-3 - -4": ["(-3) - (-4)"],
    "3 + + 4": ["3 + 4"],
    "负三乘以负四": ["(-3) * (-4)"],
    # Words for it
    "three times seven": ["3 * 7"],
    "What is twenty-one divided by seven?": ["21 / 7"],
    "what does 3 plus 4 equal?": ["3 + 4"],
    "1 + 2 = ?": ["1 + 2"],
    "the sum of 3 and 4 multiplied by 2": ["(3 + 4) * 2"],
    "the sum of 2*3 and 4*5": ["2 * 3 + 4 * 5"],
    "the product of 3, 4 and 5": ["3 * 4 * 5"],
    "difference between 10 and 4": ["10 - 4"],
    "subtract 4 from 10": ["10 - 4"],
    "the quotient of 10 and 4": ["10 / 4"],
    "remainder when 10 is divided by 3": ["10 % 3"],
    "the remainder of 10 divided by 3": ["10 % 3"],
    "half of 10 plus 1": ["10 / 2 + 1"],
    "5 squared": ["5 ^ 2"],
    "2 to the power of 8": ["2 ^ 8"],
    "15% of 200": ["15 * 200 / 100"],
    "一百二十三加四十五": ["123 + 45"],
    "两百零三减去十八": ["203 - 18"],
    "3和4的和": ["3 + 4"],
    "3和4的和与5的积": ["(3 + 4) * 5"],
    "计算3、4、5的和": ["3 + 4 + 5"],
    "把12和3相加,再乘以4等于多少？": ["(12 + 3) * 4"],
    "10除以3的余数是多少": ["10 % 3"],
    "3的4倍是多少": ["3 * 4"],
    "2的8次方": ["2 ^ 8"],
    "5的平方加1": ["5 ^ 2 + 1"],
    "10的一半": ["10 / 2"],
    # Several at once
    "What is 2+3? And 4*5?": ["2 + 3", "4 * 5"],
    "What is 2 plus 3 and what is 4 times 5?": ["2 + 3", "4 * 5"],
    "12加3是多少？另外,7乘8等于几?": ["12 + 3", "7 * 8"],
    "12加3,7乘8各是多少": ["12 + 3", "7 * 8"],
    "double 6 and square 5": ["6 * 2", "5 ^ 2"],
    "1. 2+3\n2. 4*5": ["2 + 3", "4 * 5"],
    "1、12加3\n2、7乘8": ["12 + 3", "7 * 8"],
    # With a number missing
    "12加": ["12 + ?"],
    "12加多少": ["12 + ?"],
    "7乘以一个数": ["7 * ?"],
    "乘以4": ["? * 4"],
    "What is 5 plus?": ["5 + ?"],
    "add 5": ["? + 5"],
    "multiply it by 2": ["? * 2"],
    "the sum of 3 and": ["3 + ?"],
}


@pytest.mark.parametrize("question", ASKED)
def test_a_question_asks_for_these(question: str) -> None:
    assert [written(expression) for expression in asked_in(question)] == ASKED[question]


STRANGE = [
    "What's the weather in Paris?",
    "Tom has 3 apples and buys 4 more",
    "In 2024, what is 2+3?",
    "12加多少等于20",
    "12加3等于15吗",
    "square root of 16",
    "200的15%",
    "10以内的质数",
    "(1+2",
    "1+2)",
    "5",
    "12 and 3",
    "x",
    "",
    "?!",
    "Hello",
    "add a number to another number",
    "9" * 5000,
    "1e999",
    "(" * 5000,
    "-" * 5000 + "1",
    "1+" * 5000 + "1",
    "^".join("2" * 3000),
    "1" + " " * 1_000_000 + "+1",
]


@pytest.mark.parametrize("question", STRANGE, ids=lambda question: question[:20])
def test_what_is_not_understood_is_not_guessed_at(question: str) -> None:
    with pytest.raises(NotUnderstood):
        asked_in(question)


def test_many_blank_lines_are_soon_refused() -> None:
    with pytest.raises(NotUnderstood):  # after minutes, where each of them is compared with all that follow
        asked_in("\n" * 100_000)


def test_what_came_before_can_be_meant() -> None:
    assert [written(each) for each in asked_in("再乘以4", before=15)] == ["15 * 4"]
    assert [written(each) for each in asked_in("减去5", before=15)] == ["15 - 5"]
    assert [written(each) for each in asked_in("minus 1", before=15)] == ["15 - 1"]
    assert [written(each) for each in asked_in("And plus 1?", before=15)] == ["15 + 1"]
    assert [written(each) for each in asked_in("and then minus 5", before=15)] == ["15 - 5"]
    assert [written(each) for each in asked_in("What if you add 3?", before=15)] == ["15 + 3"]
    assert [written(each) for each in asked_in("What is 2 + 3? And plus 1?")] == ["2 + 3 + 1"]
    assert [written(each) for each in asked_in("and minus 5 plus 3")] == ["(-5) + 3"]
    assert [written(each) for each in asked_in("multiply that by 2, then subtract 1", before=15)] == ["15 * 2 - 1"]
    assert [written(each) for each in asked_in("-1 + 2", before=15)] == ["(-1) + 2"]


@pytest.mark.parametrize(
    ("answer", "numbers"),
    [
        ("3", ["3"]),
        ("加3", ["3"]),
        ("times 4", ["4"]),
        ("-2", ["-2"]),
        ("是5", ["5"]),
        ("the number is 5", ["5"]),
        ("It's five, thanks!", ["5"]),
        ("3 and 4", ["3", "4"]),
        ("3+4", ["3 + 4"]),
        ("不知道", []),
        ("", []),
    ],
)
def test_an_answer_tells_numbers(answer: str, numbers: list[str]) -> None:
    assert [written(each) for each in numbers_in(answer)] == numbers


NUMERALS: dict[str, Any] = {
    "1,234.5": 1234.5,
    "3.14": 3.14,
    ".5": 0.5,
    "1e3": 1000.0,
    "一百零五": 105,
    "一百五": 150,
    "两万三": 23000,
    "十二": 12,
    "一亿二千三百万零四十": 123_000_040,
    "三点一四": 3.14,
    "负三": -3,
    "二零二四": 2024,
    "贰佰叁拾": 230,
    "twenty-one": 21,
    "three hundred and five": 305,
    "one thousand two hundred": 1200,
    "two million three hundred thousand and six": 2_300_006,
    "two point five": 2.5,
    "negative five": -5,
    "a hundred": 100,
    "zero": 0,
}


@pytest.mark.parametrize("text", NUMERALS)
def test_a_number_may_be_written_in_many_ways(text: str) -> None:
    assert number_at(text, 0) == (NUMERALS[text], len(text))


@pytest.mark.parametrize(
    ("text", "value", "rest"),
    [("12,34", 12, ",34"), ("five and six", 5, " and six"), ("twelve thirteen", 12, " thirteen")],
)
def test_a_number_ends_where_it_ends(text: str, value: int, rest: str) -> None:
    assert number_at(text, 0) == (value, len(text) - len(rest))


SIGNS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/", "modulo": "%"}
TREES: st.SearchStrategy[Expression] = st.recursive(
    st.integers(0, 10**6).map(Number),
    lambda inner: st.builds(Operation, st.sampled_from(sorted(SIGNS)), inner, inner),
    max_leaves=12,
)
WORKS: dict[type, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: lambda left, right: ("/", left, right),
    ast.Mod: lambda left, right: ("%", left, right),
}


def as_python_reads(text: str) -> str:
    """The structure that Python gives an expression, with all parentheses."""

    def of(node: ast.expr) -> str:
        match node:
            case ast.BinOp(left=left, op=op, right=right):
                return f"({of(left)} {type(op).__name__} {of(right)})"
            case ast.Constant(value=value):
                return str(value)
        raise AssertionError(ast.dump(node))

    return of(ast.parse(text, mode="eval").body)


def as_we_read(expression: Expression) -> str:
    names = {"add": "Add", "subtract": "Sub", "multiply": "Mult", "divide": "Div", "modulo": "Mod"}
    if isinstance(expression, Operation):
        return f"({as_we_read(expression.left)} {names[expression.operator]} {as_we_read(expression.right)})"
    assert isinstance(expression, Number)
    return str(expression.value)


@given(TREES.filter(lambda tree: isinstance(tree, Operation)))
def test_precedence_is_that_of_python(tree: Expression) -> None:
    (read,) = asked_in(f"What is {written(tree)}?")
    assert as_we_read(read) == as_python_reads(written(tree)) == as_we_read(tree)


WORDS = st.sampled_from(
    [
        "1",
        "2",
        "3.5",
        "十二",
        "seven",
        "(",
        ")",
        "-",
        "+",
        "*",
        "/",
        "%",
        "^",
        ",",
        ".",
        "?",
        "加",
        "减",
        "乘以",
        "除以",
        "再",
        "的和",
        "的平方",
        "倍",
        "次方",
        "和",
        "plus",
        "times",
        "then",
        "and",
        "by",
        "to",
        "from",
        "sum",
        "of",
        "add",
        "multiply",
        "half",
        "square",
        "it",
        "what",
        "is",
        "多少",
        "等于",
        "=",
        "%",
        "of",
    ]
)


@given(st.lists(WORDS, max_size=12), st.sampled_from(["", " "]), st.one_of(st.none(), st.integers()))
def test_any_words_at_all_are_read_or_refused(words: list[str], between: str, before: int | None) -> None:
    text = between.join(words)
    try:
        expressions = asked_in(text, before=before)
    except NotUnderstood:
        return
    assert all(isinstance(each, Operation) for each in expressions)
    numbers_in(text)


@given(st.text(max_size=40))
def test_any_text_at_all_is_read_or_refused(text: str) -> None:
    try:
        words_of(text)
    except NotUnderstood:
        return
