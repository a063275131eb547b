"""Time zones by name, and the names that are like one."""

from __future__ import annotations

import difflib
import re
from datetime import UTC, timedelta, timezone, tzinfo
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

from toolwire_schemas.install_command import install_command
from toolwire_schemas.language import say
from toolwire_tools.errors import ToolError

_OFFSET = re.compile(
    r"(?:UTC|GMT)?(?P<sign>[+\-−])(?P<hours>[0-9]{1,2})(?::?(?P<minutes>[0-9]{2}))?"
)
_MAX_NAME = 100


def find_zone(name: str) -> tzinfo:
    """The zone called *name*, an IANA name (in any case, with spaces or underscores) or an offset
    such as `+05:30`.

    Raises:
        ToolError: if there is no such zone, with similar names.
    """
    if name.upper() in ("UTC", "Z", "GMT"):
        return UTC
    if offset := _OFFSET.fullmatch(name):
        return _make_fixed_zone(offset)
    known = _load_names().get(_fold_name(name[:_MAX_NAME]))
    if known is not None:
        return ZoneInfo(known)
    if not _load_names():
        remedy = say("install it where Toolwire runs: {command}", command=install_command("tzdata"))
        raise ToolError(
            say(
                "this system has no time zone data, so only UTC and offsets such as +02:00 are"
                " known; {remedy}",
                remedy=remedy,
            )
        )
    close = ", ".join(search(name)[:5])
    problem = say("no time zone {name!r}", name=name[:_MAX_NAME])
    if close:
        problem += say("; do you mean {names}?", names=close)
    raise ToolError(problem)


def search(text: str) -> list[str]:
    """The names that have *text* in them, or else those that are like it, the closest first."""
    wanted = _fold_name(text[:_MAX_NAME])
    within = [name for folded, name in _load_names().items() if wanted in folded]
    if within:
        return sorted(within, key=lambda name: (_get_city(name) != wanted, name))
    cities: dict[str, list[str]] = {}
    for name in _load_names().values():
        cities.setdefault(_get_city(name), []).append(name)
    close = difflib.get_close_matches(wanted.rpartition("/")[2], cities, n=10, cutoff=0.7)
    return [name for city in close for name in sorted(cities[city])]


def _make_fixed_zone(offset: re.Match[str]) -> tzinfo:
    minutes = int(offset["hours"]) * 60 + int(offset["minutes"] or 0)
    if minutes >= 24 * 60:
        raise ToolError(say("the offset {offset!r} is not within a day", offset=offset[0]))
    return timezone(timedelta(minutes=minutes if offset["sign"] == "+" else -minutes))


@cache
def _load_names() -> dict[str, str]:
    return {_fold_name(name): name for name in sorted(available_timezones())}


def _fold_name(name: str) -> str:
    return name.strip().replace(" ", "_").lower()


def _get_city(name: str) -> str:
    return _fold_name(name).rpartition("/")[2]
