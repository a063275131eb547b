"""The price of a model's tokens: two numbers, or a table of models in a file."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from toolwire_schemas.did_you_mean import explain_unknown_name
from toolwire_schemas.wire import codec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..react.messages import Usage

_TOKENS = 1_000_000
_Amount = Annotated[float, msgspec.Meta(ge=0, le=1e9)]


class Price(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The price of a million tokens: those that the model reads, those that it writes, and those
    read from its cache.

    Without `cached` they cost as much as others that are read.
    """

    input: _Amount
    output: _Amount
    cached: _Amount | None = None

    def compute_cost(self, usage: Usage) -> float:
        """Return the cost of *usage*, in the currency of the price."""
        cached_price = self.input if self.cached is None else self.cached
        fresh_tokens = usage.input_tokens - usage.cached_tokens
        read = fresh_tokens * self.input + usage.cached_tokens * cached_price
        written = usage.output_tokens * self.output
        return (read + written) / _TOKENS


def read_price(text: str, models: Sequence[str]) -> Price:
    """Return the price that *text* says: `IN,OUT`, or a file with a table of prices by model.

    The first of *models* that the table has counts. Files whose name ends with `.toml` are TOML,
    others JSON.

    Raises:
        ValueError: if it says no price, or the table has none of the models.
        OSError: if the file cannot be read.
    """
    numbers = text.split(",")
    if len(numbers) == 2 and (price := _price_of_numbers(*numbers)) is not None:
        return price
    if "," in text and not Path(text).exists():
        raise ValueError(
            "a price is two numbers, for a million tokens read and written, as in 0.15,0.6, not"
            f" {text}"
        )
    table = _read_table(Path(text))
    for model in models:
        if model in table:
            return table[model]
    raise ValueError(f"{text}: {explain_unknown_name('model', models[0], table)}")


def _price_of_numbers(read: str, written: str) -> Price | None:
    try:
        return msgspec.convert({"input": float(read), "output": float(written)}, Price)
    except (ValueError, msgspec.ValidationError):
        return None


def _read_table(path: Path) -> dict[str, Price]:
    data = path.read_bytes()
    try:
        entries = tomllib.loads(data.decode()) if path.suffix == ".toml" else codec.decode(data)
        return msgspec.convert(entries, dict[str, Price])
    except (
        UnicodeDecodeError,
        tomllib.TOMLDecodeError,
        codec.DecodingError,
        msgspec.ValidationError,
    ) as error:
        raise ValueError(f"{path} is not a table of prices: {error}") from None
