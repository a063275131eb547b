"""The table of settings: each field of `Settings` with its help, its range and the option that sets
it.
"""

from __future__ import annotations

import math
from typing import Any

import pytest
from toolwire.cli.option_values import read_limits
from toolwire.cli.options import OF_SETTINGS, collect_settings
from toolwire.settings import DEFAULTS, LIMITS, SETTINGS, Settings

COUNTS = [name for name, setting in SETTINGS.items() if setting.unit in ("NUMBER", "SIZE")]
TIMES = [name for name, setting in SETTINGS.items() if setting.unit == "SECONDS"]


def test_the_table_has_each_field_in_order() -> None:
    assert tuple(SETTINGS) == Settings.__struct_fields__


def test_a_setting_is_an_option_or_a_limit() -> None:
    assert {*OF_SETTINGS, *LIMITS} == SETTINGS.keys()
    assert OF_SETTINGS.keys().isdisjoint(LIMITS)


def test_all_numbers_but_the_time_limit_of_a_call_are_limits() -> None:
    options = {"timeout_seconds", "show_tokens", "task_after_seconds"}
    assert {*COUNTS, *TIMES} - {*LIMITS} == options
    assert {*LIMITS} - {*COUNTS, *TIMES} == set()


@pytest.mark.parametrize("name", COUNTS)
def test_a_number_is_at_least_one(name: str) -> None:
    Settings(**{name: 1})
    with pytest.raises(ValueError, match=name):
        Settings(**{name: 0})


@pytest.mark.parametrize("name", TIMES)
def test_a_time_is_not_negative(name: str) -> None:
    Settings(**{name: 0.001})
    for seconds in (-0.001, math.nan):
        with pytest.raises(ValueError, match=name):
            Settings(**{name: seconds})


@pytest.mark.parametrize("name", ["grace_seconds", "heartbeat_seconds"])
def test_some_times_may_be_zero(name: str) -> None:
    assert getattr(Settings(**{name: 0.0}), name) == 0


@pytest.mark.parametrize("name", ["timeout_seconds", "ask_seconds"])
def test_other_times_are_above_zero(name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be above 0, not 0.0$"):
        Settings(**{name: 0.0})


@pytest.mark.parametrize("name", [name for name, default in DEFAULTS.items() if default is None])
def test_what_is_off_by_default_can_be_switched_off(name: str) -> None:
    assert getattr(Settings(**{name: None}), name) is None


@pytest.mark.parametrize("separator", ["", "ü", "\n", "a\x00"])
def test_a_separator_is_printable_ascii(separator: str) -> None:
    with pytest.raises(ValueError, match=r"^separator must be printable ASCII"):
        Settings(separator=separator)


def test_a_choice_is_one_of_its_words() -> None:
    with pytest.raises(ValueError, match=r"must be one of error, truncate, resource, not 'drop'$"):
        Settings(on_large_result="drop")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        ({}, {}),
        ({"name": "x", "timeout": 3.0}, {"timeout_seconds": 3.0}),
        ({"no_structured": True, "isolate": True}, {"structured": False, "isolate": True}),
        (
            {"run_on": ["a=x", "b=dask:tcp://h?n=1"]},
            {"run_on": {"a": "x", "b": "dask:tcp://h?n=1"}},
        ),
        (
            {"limit": ["max_workers=2", "grace_seconds=0", "max_workers=3"]},
            {"max_workers": 3, "grace_seconds": 0.0},
        ),
    ],
)
def test_options_set_settings(options: dict[str, Any], settings: dict[str, Any]) -> None:
    assert collect_settings(options) == settings


@pytest.mark.parametrize("name", LIMITS)
def test_the_default_of_a_limit_can_be_written_as_its_value(name: str) -> None:
    default = DEFAULTS[name] or 7
    assert read_limits([f"{name}={default}"]) == {name: default}
