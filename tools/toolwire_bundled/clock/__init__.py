"""Clock: what time it is somewhere, and arithmetic with times that knows of time zones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from toolwire_compat.lagent.base import BaseAction
from toolwire_compat.lagent.parsers import BaseParser, JsonParser
from toolwire_tools.decorator import tool_api

from .results import Difference, Moment, Zones

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Clock"]


class Clock(BaseAction):
    """Tells the time in any time zone, and calculates with times.

    A time is written as in ISO 8601: 2026-03-29T02:30, with an offset (+01:00, Z) or in a zone
    named apart. A date alone is its midnight, 14:30 alone is today, `now` is now, and @1767225600
    is in Unix seconds. A zone is a name of the IANA database, such as Europe/Berlin, or an offset
    such as +05:30.
    """

    def __init__(
        self,
        zone: str = "UTC",
        description: dict[str, Any] | None = None,
        parser: Callable[..., BaseParser] = JsonParser,
        enable: bool = True,
        *,
        lang: str | None = None,
    ) -> None:
        """Prepare to tell the time.

        Args:
            zone: the time zone where a call names none
        """
        super().__init__(description, parser, enable, lang=lang)
        if zone != "UTC":
            from .zones import find_zone

            find_zone(zone)
        self._zone = zone

    @tool_api(read_only=True, open_world=False, idempotent=True)
    def now(self, zone: str | None = None) -> Moment:
        """Tell what time it is now.

        Args:
            zone: where, such as Europe/Berlin or +05:30
        """
        return self.convert("now", zone)

    @tool_api(read_only=True, open_world=False, idempotent=True)
    def convert(
        self,
        time: str,
        to_zone: str | None = None,
        from_zone: str | None = None,
        which: Literal["first", "second"] = "first",
    ) -> Moment:
        """Tell what time it is in one zone when it is a given time in another.

        A time that the clocks of its zone skip, or show twice, is reported in `notes`.

        Args:
            time: ISO 8601, such as 2026-07-01T15:00 or 2026-07-01T15:00-04:00; 15:00, which is
                today; `now`; or @1767225600, which is in Unix seconds
            to_zone: the zone to convert to
            from_zone: the zone of a time that is written without an offset
            which: of a time that clocks show twice, when they are set back
        """
        from .datetimes import move_to_zone, read, show_moment
        from .zones import find_zone

        moment, notes = read(time, find_zone(from_zone or self._zone), which)
        return show_moment(move_to_zone(moment, find_zone(to_zone or self._zone)), notes)

    @tool_api(read_only=True, open_world=False, idempotent=True)
    def add(
        self,
        time: str,
        years: int = 0,
        months: int = 0,
        weeks: int = 0,
        days: int = 0,
        hours: float = 0,
        minutes: float = 0,
        seconds: float = 0,
        zone: str | None = None,
    ) -> Moment:
        """Tell which moment is so much later than a time, or, with negative numbers, earlier.

        Years to days are counted by the calendar, so that the clocks show the same time of the day;
        a month after January 31 is the end of February. Hours to seconds are counted as they pass.

        Args:
            time: ISO 8601, such as 2026-01-31T09:00; 15:00, which is today; `now`; or @1767225600,
                in Unix seconds
            years: calendar years
            months: calendar months
            weeks: calendar weeks
            days: calendar days
            hours: hours that pass
            minutes: minutes that pass
            seconds: seconds that pass
            zone: the zone whose calendar and clocks count
        """
        from .datetimes import add_duration, move_to_zone, read, show_moment
        from .zones import find_zone

        place = find_zone(zone or self._zone)
        moment, notes = read(time, place)
        months, days = years * 12 + months, weeks * 7 + days
        passing = hours * 3600 + minutes * 60 + seconds
        moment, more = add_duration(
            move_to_zone(moment, place), months=months, days=days, seconds=passing
        )
        return show_moment(moment, [*notes, *more])

    @tool_api(read_only=True, open_world=False, idempotent=True)
    def difference(self, start: str, end: str, zone: str | None = None) -> Difference:
        """Tell how much time is between two times; it is negative if the second one is earlier.

        `seconds` and `duration` are what passes, in days of 24 hours; `calendar` counts years,
        months and days as the calendar of the zone does, and the rest in hours.

        Args:
            start: ISO 8601, such as 2026-01-31T09:00; 15:00, which is today; `now`; or @1767225600,
                in Unix seconds
            end: likewise
            zone: the zone of times that are written without an offset, and of the calendar
        """
        from .datetimes import measure_between, move_to_zone, read
        from .zones import find_zone

        place = find_zone(zone or self._zone)
        (first, notes), (second, more) = read(start, place), read(end, place)
        return measure_between(
            move_to_zone(first, place), move_to_zone(second, place), [*notes, *more]
        )

    @tool_api(read_only=True, open_world=False, idempotent=True)
    def zones(self, search: str = "", limit: int = 50) -> Zones:
        """List the names of time zones, or those that have a text in them; if none has, those that
        are alike.

        Args:
            search: a part of a name, such as a continent or a city
            limit: how many to list at most
        """
        from .zones import search as found

        names = found(search)
        limit = max(limit, 0)
        return {"zones": names[:limit], "more": max(len(names) - limit, 0)}
