"""What OSRM is asked, and the route it answers with, in words. No I/O.

Source: https://project-osrm.org/docs/v26.4.0/http (general options, route service, result objects).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.language import say
from toolwire_tools.errors import ToolError

from ..web.http import decode_typed

if TYPE_CHECKING:
    from .nominatim import Point


class Maneuver(msgspec.Struct, frozen=True):
    """What to do: `type` may be one that did not exist when this was written, and then is like
    `turn`.
    """

    type: str = "turn"
    modifier: str = ""
    exit: int | None = None


class Step(msgspec.Struct, frozen=True):
    """A maneuver, and the way along `name` that follows; `distance` in metres."""

    maneuver: Maneuver
    distance: float = 0
    name: str = ""
    ref: str = ""
    destinations: str = ""


class Leg(msgspec.Struct, frozen=True):
    steps: list[Step] = []


class Route(msgspec.Struct, frozen=True):
    """The way; `distance` in metres."""

    distance: float
    legs: list[Leg] = []


class Answer(msgspec.Struct, frozen=True):
    code: str
    message: str = ""
    routes: list[Route] = []


def make_path(start: Point, end: Point) -> str:
    """The path of the request for the fastest way by car. OSRM writes the longitude first."""
    ends = ";".join(f"{point.longitude:.6f},{point.latitude:.6f}" for point in (start, end))
    return f"/route/v1/driving/{ends}"


def make_options(*, steps: bool) -> dict[str, Any]:
    """The parameters of the request."""
    return {"overview": "false", "alternatives": "false", "steps": "true" if steps else "false"}


def read(answer: bytes) -> Route:
    """The best route.

    Raises:
        ToolError: with OSRM's text, if there is no route.
        Unusable: if *answer* is of another kind.
    """
    found = decode_typed(answer, Answer, "OSRM")
    if not found.routes:
        raise ToolError(say("OSRM found no route: {value}", value=found.message or found.code))
    return found.routes[0]


def measure_kilometres(route: Route) -> float:
    """Its length, to the metre."""
    return round(route.distance / 1000, 3)


def write_directions(route: Route) -> list[str]:
    """The route in sentences, one for each step."""
    return [_write_sentence(step) for leg in route.legs for step in leg.steps]


# {turn} is the direction, {onto} the way that follows, {towards} what the sign-posts say; each may
# be empty.
_SENTENCES = {
    "depart": "Start{along}",
    "arrive": "Arrive at the destination{side}",
    "new name": "Continue{onto}",
    "continue": "{Go}{onto}",
    "merge": "Merge{turn}{onto}",
    "on ramp": "Take the ramp{turn}{onto}{towards}",
    "off ramp": "Take the exit{turn}{onto}{towards}",
    "fork": "Keep{turn} at the fork{onto}",
    "end of road": "At the end of the road, {go}{onto}",
    "roundabout": "At the roundabout, take {exit}{onto}",
    "rotary": "At the roundabout, take {exit}{onto}",
    "exit roundabout": "Leave the roundabout{onto}",
    "exit rotary": "Leave the roundabout{onto}",
    "roundabout turn": "At the roundabout, {go}{onto}",
    "notification": "Continue{onto}",
}
_OTHERWISE = "{Go}{onto}"


def _write_sentence(step: Step) -> str:
    what = step.maneuver
    way = step.name or step.ref
    go = _go(what.modifier)
    said = _SENTENCES.get(what.type, _OTHERWISE).format(
        turn=f" {what.modifier}" if what.modifier else "",
        side=f", on the {what.modifier}" if what.modifier in ("left", "right") else "",
        go=go,
        Go=go[0].upper() + go[1:],
        onto=f" onto {way}" if way else "",
        along=f" on {way}" if way else "",
        towards=f" towards {step.destinations}" if step.destinations else "",
        exit=f"exit {what.exit}" if what.exit else "the exit",
    )
    return (
        said
        if what.type == "arrive" or not step.distance
        else f"{said} ({_format_length(step.distance)})"
    )


def _go(modifier: str) -> str:
    if modifier == "uturn":
        return "make a U-turn"
    return f"turn {modifier}" if modifier and modifier != "straight" else "go straight"


def _format_length(metres: float) -> str:
    return f"{metres / 1000:.1f} km" if metres >= 1000 else f"{metres:.0f} m"
