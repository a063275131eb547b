"""The types of the clock's results."""

from __future__ import annotations

from typing import TypedDict


class Moment(TypedDict):
    """A moment as the clocks of a zone show it."""

    time: str
    zone: str
    abbreviation: str
    daylight_saving: bool
    weekday: str
    iso_week: str
    unix: float
    notes: list[str]


class Difference(TypedDict):
    """The time between two moments: in `seconds` that pass, as an ISO 8601 `duration`, and by the
    `calendar`.
    """

    seconds: float
    duration: str
    calendar: str
    notes: list[str]


class Zones(TypedDict):
    """Names of time zones, and how many more there are that fit."""

    zones: list[str]
    more: int
