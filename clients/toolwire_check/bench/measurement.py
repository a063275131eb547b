"""The numbers of a server: medians, in units, and relative to another server."""

from __future__ import annotations

from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BARE_LOOP = "bare loop"

COLUMNS = {
    "start_seconds": "spawn to first tools/list",
    "p50_seconds": "call, p50",
    "p99_seconds": "call, p99",
    "calls_per_second": "pipelined calls/s",
    "memory_bytes": "peak memory",
}
"""The numbers of each server, and their headings."""

_COUNTS = ("calls_per_second", "tokens_read", "tokens_written", "requests")
_MIN_FOR_P99 = 100


class Measurement(msgspec.Struct, kw_only=True):
    """The values of all rounds; `list_numbers` returns their medians."""

    name: str
    command: list[str]
    start_seconds: list[float] = []
    """From the start of the process to the response to its first `tools/list`."""
    call_seconds: list[float] = []
    """Of each call, sent when the one before was answered."""
    calls_per_second: list[float] = []
    """Of calls that were written without waiting, one value in each round."""
    memory_bytes: list[int] = []
    """The peak of the process and its descendants; empty where the system does not tell."""
    calls: int = 0
    failed_calls: int = 0

    def list_numbers(self) -> dict[str, float]:
        """Return the numbers of `COLUMNS` that are known."""
        found = {
            "start_seconds": median(self.start_seconds),
            "p50_seconds": median(self.call_seconds),
            "calls_per_second": median(self.calls_per_second),
        }
        if len(self.call_seconds) >= _MIN_FOR_P99:
            found["p99_seconds"] = quantiles(self.call_seconds, n=100)[98]
        if self.memory_bytes:
            found["memory_bytes"] = median(self.memory_bytes)
        return found

    def remark(self) -> str:
        """Return a sentence about calls that failed; "" if none did."""
        if not self.failed_calls:
            return ""
        return f"{self.failed_calls:,} of {self.calls:,} calls of {self.name} failed."


def format_number(column: str, value: float | None) -> str:
    """Return the *value* of a column with a unit that suits its size; "" for `None`."""
    if value is None:
        return ""
    if column.endswith("_bytes"):
        return f"{value / 1_000_000:.0f} MB"
    if column in _COUNTS:
        return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"
    if value >= 0.95:
        return f"{value:.2f} s"
    if value >= 0.001:
        return f"{value * 1_000:.3g} ms"
    return f"{value * 1_000_000:.3g} µs"


def make_rows(measurements: Sequence[Measurement]) -> list[list[str]]:
    """Return a row of each server, its name first, and one of its multiples of the first one's
    numbers.
    """
    base = measurements[0].list_numbers()
    rows = []
    for number, measurement in enumerate(measurements):
        numbers = measurement.list_numbers()
        cells = [format_number(column, numbers.get(column)) for column in COLUMNS]
        rows.append([measurement.name, *cells])
        if number:
            rows.append([f"× {measurements[0].name}", *_format_ratios(numbers, base)])
    return rows


def find_ratios(numbers: Mapping[str, float], base: Mapping[str, float]) -> dict[str, float]:
    """Return *numbers* as multiples of those of *base*."""
    ratios = {}
    for column, value in numbers.items():
        if base.get(column):
            ratios[column] = value / base[column]
    return ratios


def _format_ratios(numbers: Mapping[str, float], base: Mapping[str, float]) -> list[str]:
    ratios = find_ratios(numbers, base)
    cells = []
    for column in COLUMNS:
        cells.append(f"{ratios[column]:.3g}" if column in ratios else "")
    return cells


def as_data(measurements: Sequence[Measurement]) -> list[dict[str, Any]]:
    """Return *measurements* for JSON: numbers, multiples of the first one's, values of rounds."""
    base = measurements[0].list_numbers()
    found = []
    for measurement in measurements:
        numbers = measurement.list_numbers()
        data = msgspec.to_builtins(measurement)
        del data["call_seconds"]  # thousands
        found.append({**data, "numbers": numbers, "ratios": find_ratios(numbers, base)})
    return found
