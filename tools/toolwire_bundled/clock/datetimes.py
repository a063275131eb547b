"""Times as text <-> moments, and the arithmetic between them.

Strategy. A local time is resolved by the zone's two readings of it (PEP 495's `fold`): if they
differ, clocks are set there, and either skip this time or show it twice. As in RFC 5545, a time
that is skipped is read by the offset before, so that 02:30 becomes 03:30; of one that is shown
twice the first is meant.
"""

from __future__ import annotations

from calendar import monthrange
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import TYPE_CHECKING, NoReturn

from toolwire_schemas.language import say
from toolwire_tools.errors import ToolError

if TYPE_CHECKING:
    from .results import Difference, Moment

_FORM = (
    "write it as 2026-03-29T14:30, with an offset (+01:00) or a separate zone; as 14:30, which is"
    " today; or as @1767225600, which is in Unix seconds"
)

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def read(text: str, zone: tzinfo, which: str = "first") -> tuple[datetime, list[str]]:
    """Return the moment that *text* names, in its own offset or else in *zone*, and the notes about
    it.

    Raises:
        ToolError: if it says none.
    """
    text = text.strip()
    if text.lower() == "now":
        return datetime.now(zone).replace(microsecond=0), []
    if text.startswith("@"):
        return _read_unix(text, zone), []
    local = _read_local(text, zone)
    return (local, []) if local.tzinfo else _place_in_zone(local, zone, second=which == "second")


def move_to_zone(moment: datetime, zone: tzinfo) -> datetime:
    """The same moment in another zone."""
    try:
        return moment.astimezone(zone)
    except OverflowError:
        _refuse_year()


def show_moment(moment: datetime, notes: list[str]) -> Moment:
    """*moment* as the clocks of its zone show it."""
    year, week, _ = moment.isocalendar()
    return {
        "time": moment.isoformat(),
        "zone": str(moment.tzinfo),
        "abbreviation": moment.tzname() or "",
        "daylight_saving": bool(moment.dst()),
        "weekday": _DAYS[moment.weekday()],
        "iso_week": f"{year}-W{week:02}",
        "unix": moment.timestamp(),
        "notes": notes,
    }


def add_duration(
    moment: datetime, *, months: int, days: int, seconds: float
) -> tuple[datetime, list[str]]:
    """*moment*, so much later by the calendar and the clocks of its zone, and then by *seconds*
    that pass.
    """
    zone, notes = moment.tzinfo, []
    assert zone is not None
    try:
        if months or days:
            local = moment.replace(tzinfo=None, fold=0)
            moved = _add_months(local, months)
            if moved.day != local.day:
                notes.append(f"{moved:%Y-%m} has no day {local.day}; its last day was taken")
            moment, more = _place_in_zone(moved + timedelta(days), zone, second=bool(moment.fold))
            notes += more
        return (moment.astimezone(UTC) + timedelta(seconds=seconds)).astimezone(zone), notes
    except (OverflowError, ValueError):
        _refuse_year()


def measure_between(start: datetime, end: datetime, notes: list[str]) -> Difference:
    """The time from *start* to *end*, which are in one zone."""
    passed = end.astimezone(UTC) - start.astimezone(UTC)
    sign = "-" if passed < timedelta(0) else ""
    return {
        "seconds": passed.total_seconds(),
        "duration": sign + _format_duration(abs(passed)),
        "calendar": _describe_by_calendar(end, start) + " earlier"
        if sign
        else _describe_by_calendar(start, end),
        "notes": notes,
    }


def _read_local(text: str, zone: tzinfo) -> datetime:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        pass
    if (
        ":" in text
    ):  # ISO 8601 has 2026 and 1767225600 as times of the day, too; hardly anybody means these
        with suppress(ValueError):
            alone = time.fromisoformat(text)
            return datetime.combine(datetime.now(alone.tzinfo or zone).date(), alone)
    raise ToolError(say("{text!r} is no time; {form}", text=text[:60], form=say(_FORM)))


def _read_unix(text: str, zone: tzinfo) -> datetime:
    try:
        return datetime.fromtimestamp(float(text[1:]), zone)
    except (ValueError, OverflowError, OSError):
        raise ToolError(
            say("{text!r} is no time in Unix seconds; write it as @1767225600", text=text[:60])
        ) from None


def _place_in_zone(local: datetime, zone: tzinfo, *, second: bool) -> tuple[datetime, list[str]]:
    """Return the moment at which the clocks of *zone* show the time *local*, and a note if that is
    not one moment.
    """
    early, late = local.replace(tzinfo=zone, fold=0), local.replace(tzinfo=zone, fold=1)
    try:
        before, after = early.utcoffset(), late.utcoffset()
        if before == after or before is None or after is None:
            return early, []
        if before < after:
            # By way of UTC, since the clocks never show this time.
            moment = early.astimezone(UTC).astimezone(zone)
            gap = (
                f"{local:%Y-%m-%d %H:%M} does not exist in {zone}, where clocks are set forward by"
                f" {after - before}"
            )
            return moment, [f"{gap}; {moment:%H:%M} was taken"]
        chosen, other = (late, early) if second else (early, late)
        told = (
            f"{local:%Y-%m-%d %H:%M} is shown twice in {zone}, where clocks are set back by"
            f" {before - after}"
        )
        taken = (
            f"the {'second' if second else 'first'} ({chosen:%z}) was taken, the other is at"
            f" {other:%z}"
        )
        return chosen, [f"{told}; {taken}"]
    except OverflowError:
        _refuse_year()


def _add_months(moment: datetime, months: int) -> datetime:
    """Return *moment* a number of months later, on the last day of a month that is too short."""
    year, month = divmod(moment.year * 12 + moment.month - 1 + months, 12)
    if not 1 <= year <= 9999:
        _refuse_year()
    return moment.replace(
        year=year, month=month + 1, day=min(moment.day, monthrange(year, month + 1)[1])
    )


def _describe_by_calendar(start: datetime, end: datetime) -> str:
    """The time between in words: whole months, then whole days by the calendar, then what
    passes.
    """
    first, last = start.replace(tzinfo=None, fold=0), end.replace(tzinfo=None, fold=0)
    months = (last.year - first.year) * 12 + last.month - first.month
    if months and _add_months(first, months) > last:
        months -= 1
    reached = _add_months(first, months) if months > 0 else first
    days = max((last - reached).days, 0)
    zone = start.tzinfo
    assert zone is not None
    there = (
        start
        if not months and not days
        else _place_in_zone(reached + timedelta(days), zone, second=False)[0]
    )
    rest = end.astimezone(UTC) - there.astimezone(UTC)
    hours, minutes, seconds = _split_span(max(rest, timedelta(0)))
    parts = (
        (months // 12, "year"),
        (months % 12, "month"),
        (days, "day"),
        (hours, "hour"),
        (minutes, "minute"),
    )
    words = [
        f"{number} {unit}{'' if number == 1 else 's'}"
        for number, unit in (*parts, (seconds, "second"))
        if number
    ]
    return ", ".join(words) or "no time"


def _format_duration(span: timedelta) -> str:
    hours, minutes, seconds = _split_span(timedelta(0, span.seconds, span.microseconds))
    days = f"{span.days}D" if span.days else ""
    clock = "".join(
        f"{number}{unit}"
        for number, unit in ((hours, "H"), (minutes, "M"), (seconds, "S"))
        if number
    )
    return f"P{days}" + (f"T{clock}" if clock else "") if days or clock else "PT0S"


def _split_span(span: timedelta) -> tuple[int, int, int | float]:
    whole = span // timedelta(seconds=1)
    fraction = span.microseconds / 1_000_000
    return whole // 3600, whole // 60 % 60, whole % 60 + fraction if fraction else whole % 60


def _refuse_year() -> NoReturn:
    raise ToolError(
        say(
            "the result is outside of the years {year} to {year_2}",
            year=date.min.year,
            year_2=date.max.year,
        )
    )
