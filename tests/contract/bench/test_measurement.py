"""The numbers of a measurement: medians, units, multiples of the bare loop."""

from __future__ import annotations

import pytest
from toolwire_check.bench.driven_server import MeasuringFailed
from toolwire_check.bench.measurement import (
    Measurement,
    as_data,
    format_number,
    make_rows,
)
from toolwire_check.bench.measuring import count_failures, make_unique
from toolwire_check.bench.subject import Request, may_be_called_often
from toolwire_schemas.wire import codec


def make_measurement(name: str, factor: float, calls: int = 200) -> Measurement:
    return Measurement(
        name=name,
        command=[name],
        start_seconds=[0.3 * factor, 0.1 * factor, 0.2 * factor],
        call_seconds=[0.001 * factor] * calls,
        calls_per_second=[1000 / factor],
        memory_bytes=[round(10_000_000 * factor)],
    )


def test_numbers_are_the_medians_of_all_rounds() -> None:
    assert make_measurement("a", 1).list_numbers() == {
        "start_seconds": 0.2,
        "p50_seconds": 0.001,
        "p99_seconds": 0.001,
        "calls_per_second": 1000,
        "memory_bytes": 10_000_000,
    }


@pytest.mark.parametrize(("calls", "is_known"), [(99, False), (100, True)])
def test_a_99th_percentile_needs_a_hundred_calls(calls: int, is_known: bool) -> None:
    assert ("p99_seconds" in make_measurement("a", 1, calls).list_numbers()) is is_known


def test_rows_have_numbers_and_their_multiples_of_the_first_server() -> None:
    rows = make_rows([make_measurement("bare loop", 1), make_measurement("a", 2, calls=1)])
    assert rows == [
        ["bare loop", "200 ms", "1 ms", "1 ms", "1,000", "10 MB"],
        ["a", "400 ms", "2 ms", "", "500", "20 MB"],
        ["× bare loop", "2", "2", "", "0.5", "2"],
    ]


def test_data_has_numbers_and_ratios_but_not_each_call() -> None:
    _, data = as_data([make_measurement("bare loop", 1), make_measurement("a", 2)])
    assert data["ratios"]["start_seconds"] == 2
    assert data["numbers"]["memory_bytes"] == 20_000_000
    assert "call_seconds" not in data


@pytest.mark.parametrize(
    ("column", "value", "text"),
    [
        ("start_seconds", 1.234, "1.23 s"),
        ("start_seconds", 0.95, "0.95 s"),
        ("start_seconds", 0.949, "949 ms"),
        ("p50_seconds", 0.001, "1 ms"),
        ("p50_seconds", 0.00099, "990 µs"),
        ("calls_per_second", 123_456.7, "123,457"),
        ("calls_per_second", 0.83, "0.83"),
        ("tokens_read", 13_919, "13,919"),
        ("memory_bytes", 15_400_000, "15 MB"),
        ("memory_bytes", None, ""),
    ],
)
def test_a_number_has_a_unit_that_suits_its_size(
    column: str, value: float | None, text: str
) -> None:
    assert format_number(column, value) == text


def test_servers_of_the_same_name_get_numbers() -> None:
    assert make_unique(["a", "b", "a", "a"]) == ["a", "b", "a (2)", "a (3)"]


@pytest.mark.parametrize(
    ("annotations", "is_allowed"),
    [
        (None, False),
        ({}, False),
        ({"readOnlyHint": "yes"}, False),
        ({"readOnlyHint": True}, True),
        ({"readOnlyHint": True, "openWorldHint": False}, True),
        ({"readOnlyHint": True, "openWorldHint": True}, False),
    ],
)
def test_a_tool_is_called_often_only_if_it_reads_and_reaches_nothing(
    annotations: object, is_allowed: bool
) -> None:
    assert may_be_called_often({"name": "a", "annotations": annotations}) is is_allowed


def respond(identity: object, **members: object) -> bytes:
    return codec.encode({"jsonrpc": "2.0", "id": identity, **members}) + b"\n"


def test_failures_are_counted_and_other_messages_are_not() -> None:
    data = (
        respond("toolwire-bench-1", result={"content": []})
        + respond("toolwire-bench-2", result={"isError": True})
        + respond("toolwire-bench-3", error={"code": -32603, "message": "no"})
        + respond("toolwire-bench-9", error={"code": -32603, "message": "no"})
        + b'{"jsonrpc":"2.0","method":"notifications/message"}\n[1]\nno JSON\n'
    )
    assert count_failures(data, {1, 2, 3}) == 2


def test_a_call_without_a_response_is_an_error() -> None:
    with pytest.raises(MeasuringFailed, match="1 of 2 calls"):
        count_failures(respond("toolwire-bench-1", result={}), {1, 2})


def test_a_request_gets_each_id_in_its_place_alone() -> None:
    line = b'{"id":"toolwire-bench-0","text":"toolwire-bench-0"}\n'
    assert Request(line).make_line(17) == b'{"id":"toolwire-bench-17","text":"toolwire-bench-0"}\n'
