from __future__ import annotations

import contextlib
import dataclasses
from typing import Any, Literal

import pytest
from toolwire_tools.errors import ArgumentsError
from toolwire_tools.signature import read_signature
from toolwire_tools.signature.arguments import Arguments


@dataclasses.dataclass
class Item:
    name: str
    count: int = 1


def order(
    items: list[Item], speed: Literal["slow", "fast"] = "slow", note: str | None = None
) -> None: ...


def arguments() -> Arguments:
    return read_signature(order, tool="order").arguments


def faults(values: Any) -> list[tuple[str, str]]:
    with pytest.raises(ArgumentsError) as caught:
        arguments().bind(values, strict=True)
    return caught.value.faults


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, [("arguments.items", "is missing")]),
        (
            {"items": [{"name": "a"}, {"name": "b", "count": "three"}]},
            [("arguments.items[1].count", '"three" is not an integer')],
        ),
        (
            {"items": [{"nam": "a"}]},
            [
                ("arguments.items[0].name", "is missing"),
                (
                    "arguments.items[0].nam",
                    "is unknown; did you mean name? Known here: name, count",
                ),
            ],
        ),
        (
            {"items": [], "sped": "fast"},
            [("arguments.sped", "is unknown; did you mean speed? Known here: speed, items, note")],
        ),
        (
            {"items": [], "speed": "faster"},
            [("arguments.speed", '"faster" is not one of "slow", "fast"')],
        ),
        ({"items": [], "note": 3}, [("arguments.note", "3 is neither a string nor null")]),
        (
            {"items": None, "note": []},
            [
                ("arguments.items", "null is not an array"),
                ("arguments.note", "[] is neither a string nor null"),
            ],
        ),
        ({"items": "[]"}, [("arguments.items", '"[]" is not an array')]),
        ([], [("arguments", "[] is not an object")]),
    ],
)
def test_every_fault_is_named_with_its_place(values: Any, expected: list[tuple[str, str]]) -> None:
    assert sorted(faults(values)) == sorted(expected)


def test_the_text_of_the_error_lists_the_faults_line_by_line() -> None:
    with pytest.raises(ArgumentsError) as caught:
        arguments().bind({"items": [{"name": 1}], "speed": 1})
    assert sorted(str(caught.value).splitlines()) == [
        "arguments.items[0].name: 1 is not a string",
        "arguments.speed: 1 is not a string",
        'arguments.speed: 1 is not one of "slow", "fast"',
    ]


def test_many_faults_are_counted_and_long_values_are_cut() -> None:
    found = faults({"items": [{"name": 1}] * 50})
    assert len(found) == 11
    assert found[-1] == ("arguments", "40 more faults of this kind")
    ((_, sentence),) = faults({"items": [{"name": ["x" * 10_000]}]})
    assert len(sentence) < 200


def test_any_number_of_unknown_names_of_any_length_is_reported_in_a_few_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared: list[str] = []
    monkeypatch.setattr(
        "difflib.get_close_matches", lambda name, *_, **__: compared.append(name) or []
    )
    found = faults({"items": [], "x" * 1_000_000: 1, **{f"n{number}": 1 for number in range(5000)}})
    assert found[-1] == ("arguments", "many more faults of this kind")
    assert len(str(found)) < 2000
    assert len(compared) <= 101
    assert max(map(len, compared)) < 100


def test_a_value_that_is_cut_keeps_its_kind() -> None:
    ((_, sentence),) = faults({"items": {f"n{number}": 1 for number in range(1000)}})
    assert sentence.startswith('{"n0": 1, ')


def test_defaults_are_left_to_python() -> None:
    assert arguments().bind({"items": []}) == ((), {"items": []})


@pytest.mark.parametrize(
    ("sent", "passed"),
    [({}, ()), ({"a": 3}, (3,)), ({"b": 4}, (1, 4)), ({"a": 3, "b": 4}, (3, 4))],
)
def test_a_positional_default_is_passed_only_before_a_given_argument(
    sent: dict[str, int], passed: tuple[int, ...]
) -> None:
    def tool(a: int = 1, b: int = 2, /) -> None: ...

    assert read_signature(tool, tool="tool").arguments.bind(sent) == (passed, {})


def test_arguments_are_not_changed_by_reading_them() -> None:
    values = {"items": [{"name": "a", "count": 2.0}]}
    assert arguments().bind(values) == ((), {"items": [Item("a", 2)]})
    assert values == {"items": [{"name": "a", "count": 2.0}]}


def test_a_parameter_may_have_any_name() -> None:
    def tool(tag: int, f0: int, self: int, arguments: int, __struct_fields__: int = 0) -> None: ...

    values = {"tag": 1, "f0": 2, "self": 3, "arguments": 4, "__struct_fields__": 5}
    assert read_signature(tool, tool="tool").arguments.bind(values) == ((), values)


@dataclasses.dataclass
class Tree:
    kids: list[Tree] = dataclasses.field(default_factory=list)


@pytest.mark.parametrize("hint", [Tree, Any, list[Any] | int])
def test_deep_nesting_is_an_answer_and_no_crash(hint: Any) -> None:
    def tool(x: Any) -> None: ...

    tool.__annotations__["x"] = hint
    deep: Any = {} if hint is Tree else []
    for _ in range(900):
        deep = {"kids": [deep]} if hint is Tree else [deep]
    found = read_signature(tool, tool="tool").arguments
    with contextlib.suppress(ArgumentsError):
        assert found.bind({"x": deep})[1]["x"]
    with pytest.raises(ArgumentsError):
        found.bind({"x": deep, "unknown": deep})
