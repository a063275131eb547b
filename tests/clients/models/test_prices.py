"""Prices of models: two numbers or a table, and what the tokens of a run cost."""

from __future__ import annotations

from pathlib import Path

import pytest
from toolwire_agent.models import Price
from toolwire_agent.models.prices import read_price
from toolwire_agent.react.messages import Usage

USAGE = Usage(input_tokens=2_000_000, output_tokens=500_000, cached_tokens=1_000_000)
TOML = '[small]\ninput = 1\noutput = 4\n\n["vendor:large"]\ninput = 10\noutput = 40\ncached = 1\n'
JSON = '{"small": {"input": 1, "output": 4}}'


@pytest.mark.parametrize(
    ("price", "cost"),
    [
        (Price(input=3, output=8), 10.0),
        (Price(input=3, output=8, cached=1), 8.0),
        (Price(input=0, output=8), 4.0),
        (Price(input=3, output=8, cached=0), 7.0),
    ],
)
def test_the_price_is_that_of_a_million_tokens(price: Price, cost: float) -> None:
    assert price.compute_cost(USAGE) == cost


def test_two_numbers_are_the_price_of_tokens_read_and_written() -> None:
    assert read_price("0.15,0.6", ["any"]) == Price(input=0.15, output=0.6)


@pytest.mark.parametrize(
    ("name", "text", "models", "price"),
    [
        ("prices.toml", TOML, ["vendor:small", "small"], Price(input=1, output=4)),
        ("prices.toml", TOML, ["vendor:large", "large"], Price(input=10, output=40, cached=1)),
        ("prices.json", JSON, ["small"], Price(input=1, output=4)),
    ],
)
def test_a_table_has_the_prices_of_models(
    tmp_path: Path, name: str, text: str, models: list[str], price: Price
) -> None:
    (tmp_path / name).write_text(text)

    assert read_price(str(tmp_path / name), models) == price


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("0.15,x", "two numbers"),
        ("-1,2", "two numbers"),
        ("nan,2", "two numbers"),
        ("1,inf", "two numbers"),
        ("1,2,3", "two numbers"),
    ],
)
def test_invalid_prices_raise_value_error(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read_price(text, ["any"])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "not a table of prices"),
        ('{"small": {"input": 1}}', "not a table of prices"),
        ('{"small": {"input": -1, "output": 1}}', "not a table of prices"),
        ('{"small": {"input": 1, "output": 1, "cache": 1}}', "not a table of prices"),
        ('{"small": {"input": 1, "output": 1}}', "did you mean 'small'"),
    ],
)
def test_a_table_that_cannot_be_used_says_why(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "prices.json").write_text(text)

    with pytest.raises(ValueError, match=problem):
        read_price(str(tmp_path / "prices.json"), ["smal"])
