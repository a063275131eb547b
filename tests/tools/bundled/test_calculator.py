"""Calculator: exact where it can be, bounded whatever it is asked, and telling where a mistake
is.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire_bundled.calculator import Calculator
from toolwire_bundled.calculator.functions import FUNCTIONS
from toolwire_compat.lagent import ActionStatusCode
from toolwire_tools import ToolError

calculator = Calculator()


def result(expression: str) -> str:
    return calculator.run(expression)["result"]


def fault(expression: str) -> str:
    with pytest.raises(ToolError) as caught:
        calculator.run(expression)
    return str(caught.value)


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1/3 + 1/6", "1/2"),
        ("0.1 + 0.2", "3/10"),
        ("19.99 * 3", "5997/100"),
        ("1 - 0.9 - 0.1", "0"),
        ("1e400 / 1e399", "10"),
        ("2^64 + 1", "18446744073709551617"),
        ("7 // 2", "3"),
        ("-7 // 2", "-4"),
        ("-7 % 3", "2"),
        ("0xff + 0b11 + 0o17 + 1_000", "1273"),
        ("6 × 7 ÷ 2 − 1", "20"),
        ("sqrt(16/9)", "4/3"),
        ("8^(1/3)", "2"),
        ("4^-1.5", "1/8"),
        ("cbrt(-27)", "-3"),
        ("root(2^300, 100)", "8"),
        ("log10(1000)", "3"),
        ("log(1/8, 2)", "-3"),
        ("sind(30)", "1/2"),
        ("cosd(-420)", "1/2"),
        ("tand(225)", "1"),
        ("5!", "120"),
        ("3!!", "720"),
        ("comb(20000, 10000) % 7", "0"),
        ("perm(5)", "120"),
        ("powmod(2, 10^100, 97)", "61"),
        ("powmod(3, -1, 7)", "5"),
        ("gcd(12, 18)", "6"),
        ("lcm([4, 6, 10])", "60"),
        ("mean([1, 2], 4)", "7/3"),
        ("median(4, 1, 3, 2)", "5/2"),
        ("pvariance(1, 2, 3, 4)", "5/4"),
        ("variance(1, 2, 3, 4)", "5/3"),
        ("hypot(3, 4)", "5"),
        ("round(2.5)", "3"),
        ("round(-2.5)", "-3"),
        ("round(2.675, 2)", "67/25"),
        ("round(12345, -2)", "12300"),
        ("15% of 80", "12"),
        ("100 + 10%", "1001/10"),
        ("10 % 4", "2"),
        ("50% - 10%", "2/5"),
        ("7% - 3", "-293/100"),
        ("(7%)-3", "-293/100"),
        ("7 % -3", "-2"),
        ("7%(-3)", "-2"),
        ("100%+5%", "21/20"),
        ("7 % +3", "1"),
        ("1 < 2", "true"),
        ("1/2 == 0.5", "true"),
    ],
)
def test_what_has_an_exact_value_is_exact(expression: str, value: str) -> None:
    assert calculator.run(expression)["result"] == value
    assert calculator.run(expression)["exact"]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("-2^2", "-4"),
        ("(-2)^2", "4"),
        ("2^3^2", "512"),
        ("2^-1", "1/2"),
        ("2 + 3 * 4", "14"),
        ("100 - 10 - 1", "89"),
        ("100 / 10 / 2", "5"),
        ("-3!", "-6"),
        ("2 * 3!", "12"),
        ("2 ** 3 % 5", "3"),
        ("1 + 1 < 3", "true"),
    ],
)
def test_operators_bind_as_they_do_in_mathematics(expression: str, value: str) -> None:
    assert result(expression) == value


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("sqrt(2)", "1.4142135623731"),
        ("sin(1)", "0.841470984807897"),
        ("pi", "3.14159265358979"),
        ("ln(10)", "2.30258509299405"),
    ],
)
def test_what_has_no_exact_value_is_rounded_and_says_so(expression: str, value: str) -> None:
    assert calculator.run(expression) == {"result": value, "decimal": value, "exact": False}


def test_a_result_comes_with_its_decimal_form() -> None:
    assert calculator.run("1/7")["decimal"] == "0.142857142857142857142857142857"
    assert calculator.run("0.1 + 0.2")["decimal"] == "0.3"
    assert calculator.run("1/2^200")["decimal"] == "6.22301527786114170714406405378E-61"
    assert calculator.run("10^40")["decimal"] == "1" + "0" * 40


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("(1 + 0.05/365)^(365*30)", "4.48122868852452"),
        ("(1 + 0.05/365)^(365*10)", "1.6486648137654718302139994212"),
        ("2^20000", "3.98027684033796659235430720619E+6020"),
        ("1" * 9000, "1.11111111111111111111111111111E+8999"),
        ("1/3^1000", "7.56389132310409980475744989741E-478"),
    ],
)
def test_what_is_too_long_to_be_shown_exactly_is_rounded(expression: str, value: str) -> None:
    assert calculator.run(expression) == {"result": value, "decimal": value, "exact": False}


def test_the_logarithm_of_a_number_beyond_all_floats_is_known() -> None:
    assert result("log10(2^10000)") == format(10000 * math.log10(2), ".15g")


@pytest.mark.parametrize(
    ("expression", "problem", "shown"),
    [
        ("", "empty", ">>><<<"),
        ("1 +", "a number is expected", "1 +>>><<<"),
        ("(1 + 2", "never closed", ">>>(<<<1 + 2"),
        ("1 + 2)", "no bracket", "1 + 2>>>)<<<"),
        ("2pi", "multiplication is written with *", "2>>>pi<<<"),
        ("2(3 + 4)", "multiplication is written with *", "2>>>(<<<3 + 4)"),
        ("pi(2)", "pi * (...)", ">>>pi<<<(2)"),
        ("1 + sqr(4)", "did you mean 'sqrt'?", "1 + >>>sqr<<<(4)"),
        ("x + 1", "no constant or function 'x'", ">>>x<<< + 1"),
        ("sqrt", "write sqrt(...)", ">>>sqrt<<<"),
        ("sqrt(1, 2)", "takes 1 argument, not 2", ">>>sqrt<<<(1, 2)"),
        ("max()", "takes 1 or more arguments", ">>>max<<<()"),
        ("1,234 + 1", "write 1000 rather than 1,000", "1>>>,<<<234 + 1"),
        ("max(1,000)", "write 1000 rather than 1,000", "max(1,>>>000<<<)"),
        ("a = 3", "no constant", ">>>a<<< = 3"),
        ("3 = 3", "== compares", "3 >>>=<<< 3"),
        ("1 < 2 < 3", "cannot be chained", "1 < 2 >>><<<< 3"),
        ("$5", "leave out currencies", ">>>$<<<5"),
        ("1 + 2 / 0", "division by 0", "1 + 2 >>>/<<< 0"),
        ("0^-1", "0 has no negative power", "0>>>^<<<-1"),
        ("(-8)^(1/3)", "cbrt(-8)", "(-8)>>>^<<<(1/3)"),
        ("sqrt(-1)", "no real square root", ">>>sqrt<<<(-1)"),
        ("ln(0)", "only positive numbers", ">>>ln<<<(0)"),
        ("acos(2)", "from -1 to 1", ">>>acos<<<(2)"),
        ("tand(90)", "infinite", ">>>tand<<<(90)"),
        ("0.5!", "whole numbers", "0.5>>>!<<<"),
        ("[1, 2]", "a list is no result", ">>>[<<<1, 2]"),
        ("(1 < 2) + 1", "is no number", "(1 < 2) >>>+<<< 1"),
        ("exp(1000)", "too large", ">>>exp<<<(1000)"),
        ("7%-3", "write 7 % (-3)", "7>>>%<<<-3"),
        ("7 % - 3", "write 7% - 3", "7 >>>%<<< - 3"),
        ("(2 + 5)% -3", "may be percent", "(2 + 5)>>>%<<< -3"),
        ("__import__('os')", "means nothing here", ">>>_<<<_import__('os')"),
    ],
)
def test_a_mistake_is_reported_with_its_place(expression: str, problem: str, shown: str) -> None:
    told = fault(expression)

    assert problem in told
    assert told.endswith(f": {shown}")


@pytest.mark.parametrize(
    "expression",
    [
        "9**9**9",
        "10**10**10",
        "2^-(10^12)",
        "factorial(10**9)",
        "factorial(factorial(20))",
        "99999!",
        "comb(10^9, 10^8)",
        "perm(10^9, 10^8)",
        "comb(10^400, 10^4)",
        "1e999999999",
        "1e-" + "9" * 5000,
        "1e" + "0" * 5000,
        "powmod(3, 10^20000, 10^20000 + 1)",
        "2^99999 * 2^99999",
        "lcm(" + ",".join(f"2^{n}+1" for n in range(500, 1400)) + ")",
        "sum(" + ",".join(f"1/(3^{n}+1)" for n in range(700)) + ")",
        "(" * 5000,
        "[" * 5000,
        "-" * 5000 + "1",
        "2^" * 5000 + "2",
        "sqrt(" * 2000,
        "1" * 10_001,
        "5" + "!" * 100,
        "(1/3)^30000 + (1/7)^20000" + " + (1/11)^20000" * 600,
        "exp(exp(exp(10)))",
        "pi^(10^300)",
        "10^400 * pi",
        "round(1/3, 10^9)",
        "8^(1/10^9)^(10^9)" + "^9" * 98,
    ],
    ids=lambda expression: expression[:20],
)
def test_what_would_take_for_ever_is_refused(expression: str) -> None:
    assert fault(expression)


@given(st.text("0123456789+-*/%^!()[],.<>=eE pisqrtofmaxlog_x\n", max_size=40))
def test_any_text_is_calculated_or_refused_with_a_sentence(expression: str) -> None:
    answer = calculator({"expression": expression})

    assert answer.state in (ActionStatusCode.SUCCESS, ActionStatusCode.API_ERROR)
    assert answer.state is ActionStatusCode.SUCCESS or "at character" in answer.errmsg


def _written(numbers: Any) -> st.SearchStrategy[tuple[str, Fraction]]:
    """Expressions with their values, as Python's own fractions have them."""

    def larger(inner: Any) -> Any:
        def joined(
            left: tuple[str, Fraction], operator: str, right: tuple[str, Fraction]
        ) -> tuple[str, Fraction]:
            if operator == "/" and right[1] == 0:
                operator = "*"
            value = {"+": left[1] + right[1], "-": left[1] - right[1], "*": left[1] * right[1]}
            found = left[1] / right[1] if operator == "/" else value[operator]
            return f"({left[0]}) {operator} ({right[0]})", found

        return st.builds(joined, inner, st.sampled_from("+-*/"), inner)

    return st.recursive(numbers, larger, max_leaves=8)


@given(
    _written(st.decimals(-1000, 1000, places=3).map(lambda number: (f"{number}", Fraction(number))))
)
def test_arithmetic_is_that_of_fractions(written: tuple[str, Fraction]) -> None:
    expression, value = written

    assert Fraction(result(expression)) == value


@given(st.integers(2, 10**6), st.integers(1, 40))
def test_a_root_of_a_power_is_exact(base: int, degree: int) -> None:
    assert result(f"root({base}^{degree}, {degree})") == str(base)
    assert result(f"({base}^{degree})^(1/{degree})") == str(base)


def test_every_function_is_named_in_the_description() -> None:
    words = set(
        Calculator.__tool_description__["description"]
        .replace("(", " ")
        .replace(",", " ")
        .replace(".", " ")
        .split()
    )

    assert set(FUNCTIONS) - words == set()
