"""What a tool gave, as a model is shown it."""

from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import json
from decimal import Decimal
from pathlib import PurePosixPath
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.react_samples import JSON
from toolwire_agent.react.result_text import limit_result


@dataclasses.dataclass
class Order:
    number: int
    day: Any


class Point(msgspec.Struct):
    x: int


class Color(enum.Enum):
    RED = "red"


class Hostile:
    def __str__(self) -> str:
        raise RuntimeError("no")


class Text(str):
    """Still text."""


@given(JSON)
def test_json_result_is_unchanged(value: Any) -> None:
    assert limit_result(value, 10**9) == (value, [])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Order(1, dt.date(2026, 3, 1)), {"number": 1, "day": "2026-03-01"}),
        ([Point(1), Color.RED, Decimal("1.50")], [{"x": 1}, "red", "1.50"]),
        ((1, (2,)), [1, [2]]),
        ({1: "a"}, {"1": "a"}),
        (Text("a"), "a"),
        (2**80, 2**80),
    ],
)
def test_dates_and_dataclasses_become_json(value: Any, expected: Any) -> None:
    assert limit_result(value) == (expected, [])


@pytest.mark.parametrize(
    ("value", "expected", "types"),
    [
        ({"a": {1}}, {"a": "{1}"}, "set"),
        (b"\x00", "b'\\x00'", "bytes"),
        ([PurePosixPath("/x"), b"y"], ["/x", "b'y'"], "PurePosixPath, bytes"),
        ({"n": float("nan")}, "{'n': nan}", "dict"),
        (float("inf"), "inf", "float"),
        ({(1, 2): 3}, "{(1, 2): 3}", "dict"),
        ([Hostile()], ["<Hostile>"], "Hostile"),
        ([Order(1, {(1, 2): 3})], ["Order(number=1, day={(1, 2): 3})"], "Order"),
        ([10**5000], "<list>", "list"),
    ],
)
def test_other_values_become_text_with_a_remark(value: Any, expected: Any, types: str) -> None:
    result, (remark,) = limit_result(value)
    assert (result, remark.kind, remark.details) == (expected, "as_text", {"types": types})


def test_circular_value_becomes_text() -> None:
    circle: list[Any] = []
    circle.append(circle)
    result, (remark,) = limit_result(circle)
    assert (result, remark.details) == ("[[...]]", {"types": "list"})


@given(st.text(min_size=1, max_size=50), st.integers(0, 60))
def test_long_text_keeps_its_start_and_end(text: str, limit: int) -> None:
    result, remarks = limit_result(text, limit)
    if len(text) <= limit:
        assert (result, remarks) == (text, [])
    else:
        begin, end = result[: limit // 2], result[limit // 2 + 1 :]
        assert (len(result), result[limit // 2]) == (max(limit, 1), "…")
        assert text.startswith(begin)
        assert text.endswith(end)
        lost = len(text) - len(begin) - len(end)
        assert [remark.details for remark in remarks] == [{"lost": lost, "total": len(text)}]


def test_long_json_becomes_text_with_a_remark() -> None:
    value = list(range(1000))
    result, (remark,) = limit_result(value, 21)
    assert result == "[0, 1, 2, … 998, 999]"
    assert (remark.kind, remark.details["total"]) == ("cut_json", len(json.dumps(value)))
