"""Clock: zones by name, times that clocks skip or show twice, and arithmetic by the calendar."""

from __future__ import annotations

import sys
import time
import zoneinfo
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire_bundled.clock import Clock
from toolwire_bundled.clock import zones as known_zones
from toolwire_compat.lagent import ActionStatusCode
from toolwire_schemas.install_command import install_command
from toolwire_tools import ToolError

clock = Clock()
BERLIN = "Europe/Berlin"


def fault(api: Any, *arguments: Any, **named: Any) -> str:
    with pytest.raises(ToolError) as caught:
        api(*arguments, **named)
    return str(caught.value)


def test_now_is_the_present_moment_in_the_zone() -> None:
    before = int(time.time())
    told = clock.now("Asia/Kolkata")

    assert before <= told["unix"] <= time.time()
    assert told["time"].endswith("+05:30")
    assert datetime.fromisoformat(told["time"]).timestamp() == told["unix"]


def test_a_moment_is_shown_with_all_that_people_ask_of_it() -> None:
    assert clock.convert("2026-01-01T00:30+01:00", BERLIN) == {
        "time": "2026-01-01T00:30:00+01:00",
        "zone": BERLIN,
        "abbreviation": "CET",
        "daylight_saving": False,
        "weekday": "Thursday",
        "iso_week": "2026-W01",
        "unix": 1767223800.0,
        "notes": [],
    }


@pytest.mark.parametrize(
    ("time", "from_zone", "to_zone", "there"),
    [
        ("2026-07-01T15:00", "America/New_York", "Asia/Tokyo", "2026-07-02T04:00:00+09:00"),
        ("2026-07-01T15:00-04:00", BERLIN, "Asia/Tokyo", "2026-07-02T04:00:00+09:00"),
        ("2026-07-01T15:00Z", None, "+05:30", "2026-07-01T20:30:00+05:30"),
        ("2026-07-01T15:00", "UTC-3", "utc", "2026-07-01T18:00:00+00:00"),
        ("2026-07-01", "europe/berlin", "america/new york", "2026-06-30T18:00:00-04:00"),
        ("@0", None, BERLIN, "1970-01-01T01:00:00+01:00"),
    ],
)
def test_a_time_is_converted_between_zones(
    time: str, from_zone: str | None, to_zone: str, there: str
) -> None:
    assert clock.convert(time, to_zone, from_zone)["time"] == there


def test_a_time_of_the_day_alone_is_today_there() -> None:
    told = clock.convert("00:00", "Pacific/Kiritimati", "Pacific/Kiritimati")

    today = datetime.now(timezone(timedelta(hours=14)))
    assert told["time"][:10] in (f"{today:%Y-%m-%d}", f"{today - timedelta(seconds=10):%Y-%m-%d}")


def test_a_time_that_clocks_skip_is_moved_on_and_reported() -> None:
    told = clock.convert("2026-03-29T02:30", BERLIN, BERLIN)

    assert told["time"] == "2026-03-29T03:30:00+02:00"
    assert "does not exist in Europe/Berlin" in told["notes"][0]


def test_of_a_time_that_clocks_show_twice_either_can_be_had() -> None:
    first = clock.convert("2026-10-25T02:30", BERLIN, BERLIN)
    second = clock.convert("2026-10-25T02:30", BERLIN, BERLIN, which="second")

    assert (first["time"], second["time"]) == (
        "2026-10-25T02:30:00+02:00",
        "2026-10-25T02:30:00+01:00",
    )
    assert "shown twice" in first["notes"][0]
    assert "shown twice" in second["notes"][0]
    assert clock.convert("2026-10-25T02:30+01:00", BERLIN)["notes"] == []


@pytest.mark.parametrize(
    ("start", "more", "end"),
    [
        ("2026-01-31", {"months": 1}, "2026-02-28T00:00:00+01:00"),
        ("2024-02-29", {"years": 1}, "2025-02-28T00:00:00+01:00"),
        ("2024-02-29", {"years": 4}, "2028-02-29T00:00:00+01:00"),
        ("2026-01-31", {"months": -2, "days": 1}, "2025-12-01T00:00:00+01:00"),
        ("2026-03-28T12:00", {"days": 1}, "2026-03-29T12:00:00+02:00"),
        ("2026-03-28T12:00", {"hours": 24}, "2026-03-29T13:00:00+02:00"),
        ("2026-03-28T02:30", {"days": 1}, "2026-03-29T03:30:00+02:00"),
        ("2026-10-25T02:30+02:00", {"hours": 1}, "2026-10-25T02:30:00+01:00"),
        ("2026-10-25T02:30+01:00", {"minutes": 1.5}, "2026-10-25T02:31:30+01:00"),
        ("2026-12-31", {"weeks": 1, "seconds": -1}, "2027-01-06T23:59:59+01:00"),
    ],
)
def test_days_follow_the_calendar_and_hours_pass(
    start: str, more: dict[str, Any], end: str
) -> None:
    assert clock.add(start, zone=BERLIN, **more)["time"] == end


def test_a_day_beyond_the_end_of_a_month_is_an_error() -> None:
    assert clock.add("2026-01-31", months=1)["notes"] == [
        "2026-02 has no day 31; its last day was taken"
    ]


@pytest.mark.parametrize(
    ("start", "end", "seconds", "duration", "calendar"),
    [
        ("2026-03-28T12:00", "2026-03-29T12:00", 82800, "PT23H", "1 day"),
        ("2026-10-24T12:00", "2026-10-25T12:00", 90000, "P1DT1H", "1 day"),
        ("2026-01-31", "2026-03-01", 29 * 86400, "P29D", "1 month, 1 day"),
        (
            "2024-02-29",
            "2026-03-01T01:02:03",
            731 * 86400 + 3723,
            "P731DT1H2M3S",
            "2 years, 1 day, 1 hour, 2 minutes, 3 seconds",
        ),
        ("2026-03-01", "2024-02-29", -731 * 86400, "-P731D", "2 years, 1 day earlier"),
        ("2026-03-01", "2026-03-01", 0, "PT0S", "no time"),
        ("2026-10-25T02:30+02:00", "2026-10-25T02:30+01:00", 3600, "PT1H", "1 hour"),
    ],
)
def test_a_difference_is_what_passes_and_what_the_calendar_shows(
    start: str, end: str, seconds: float, duration: str, calendar: str
) -> None:
    told = clock.difference(start, end, BERLIN)

    assert (told["seconds"], told["duration"], told["calendar"]) == (seconds, duration, calendar)


def test_zones_are_found_by_a_part_of_their_name_or_one_that_is_alike() -> None:
    assert clock.zones("berlin") == {"zones": [BERLIN], "more": 0}
    assert clock.zones("Berln")["zones"] == [BERLIN]
    assert clock.zones("Europe/", limit=2)["more"] > 30
    assert len(clock.zones(limit=5000)["zones"]) > 400


@pytest.mark.parametrize("name", ["Berlin", "Europe/Berln", "berlin ", "Brlin"])
def test_a_misspelt_zone_brings_the_closest(name: str) -> None:
    assert "do you mean Europe/Berlin" in fault(clock.now, name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "../../etc/passwd",
        "/etc/localtime",
        "Europe",
        "x" * 100_000,
        "a\x00b",
        "+99",
        "tzdata.zi",
    ],
)
def test_what_is_no_zone_is_refused(name: str) -> None:
    if name:
        assert len(fault(clock.now, name)) < 400


def test_without_time_zone_data_the_remedy_is_reported(
    monkeypatch: pytest.MonkeyPatch, no_names: None
) -> None:
    monkeypatch.setitem(sys.modules, "tzdata", None)
    zoneinfo.reset_tzpath(to=[])
    try:
        assert install_command("tzdata") in fault(clock.now, BERLIN)
        assert clock.now("+02:00")["zone"] == "UTC+02:00"
    finally:
        zoneinfo.reset_tzpath()


@pytest.fixture
def no_names() -> Iterator[None]:
    known_zones._load_names.cache_clear()
    yield
    known_zones._load_names.cache_clear()


@pytest.mark.parametrize(
    ("time", "told"),
    [
        ("tomorrow", "is no time"),
        ("2026-02-30", "is no time"),
        ("1767225600", "@1767225600"),  # ISO 8601 would have it be 17:00 of today
        ("2026", "is no time"),
        ("@1e30", "Unix seconds"),
        ("@nan", "Unix seconds"),
        ("", "is no time"),
        ("x" * 100_000, "is no time"),
    ],
)
def test_what_is_no_time_is_refused_with_the_form_of_one(time: str, told: str) -> None:
    assert told in fault(clock.convert, time)
    assert len(fault(clock.convert, time)) < 300


@pytest.mark.parametrize(
    "more",
    [
        {"years": 10**30},
        {"days": -(10**30)},
        {"hours": 1e300},
        {"months": 12 * 8000},
        {"seconds": 10**12},
    ],
    ids=str,
)
def test_what_leaves_the_calendar_is_refused(more: dict[str, Any]) -> None:
    assert "outside of the years 1 to 9999" in fault(clock.add, "2026-01-01", **more)


@pytest.mark.parametrize("time", ["0001-01-01", "9999-12-31T23:59"])
@pytest.mark.parametrize(("from_zone", "to_zone"), [("Asia/Tokyo", "-12"), ("-12", "Asia/Tokyo")])
def test_the_ends_of_the_calendar_are_converted_or_refused(
    time: str, from_zone: str, to_zone: str
) -> None:
    told = clock({"time": time, "from_zone": from_zone, "to_zone": to_zone}, "convert")

    assert told.state is ActionStatusCode.SUCCESS or "outside of the years" in told.errmsg


def test_a_default_zone_can_be_set_and_is_checked_at_once() -> None:
    assert Clock(zone=BERLIN).now()["zone"] == BERLIN
    with pytest.raises(ToolError, match=BERLIN):
        Clock(zone="Berlin")


MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1)).map(
    lambda moment: moment.replace(microsecond=0)
)
ZONES = st.sampled_from(
    [BERLIN, "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Asia/Kolkata", "UTC"]
)


@given(MOMENTS, MOMENTS, ZONES)
def test_what_passes_between_two_moments_leads_from_one_to_the_other(
    start: datetime, end: datetime, zone: str
) -> None:
    first, second = f"{start.isoformat()}Z", f"{end.isoformat()}Z"
    seconds = clock.difference(first, second, zone)["seconds"]

    assert (
        clock.add(first, seconds=seconds, zone=zone)["unix"] == end.replace(tzinfo=UTC).timestamp()
    )


@given(MOMENTS, ZONES, st.sampled_from(["first", "second"]))
def test_a_local_time_that_is_shown_at_all_is_the_one_that_is_shown(
    moment: datetime, zone: str, which: Any
) -> None:
    told = clock.convert(moment.isoformat(), zone, zone, which)

    assert told["time"][:19] == moment.isoformat() or "does not exist" in told["notes"][0]
