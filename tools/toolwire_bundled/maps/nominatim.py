"""What Nominatim is asked, and the places it answers with. No I/O.

Sources: https://nominatim.org/release-docs/latest/api/Search/, /Lookup/, /Output/. It writes
coordinates as strings.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from toolwire_schemas.language import say
from toolwire_tools.errors import ToolError

from ..web.http import decode_typed

Latitude = Annotated[float, msgspec.Meta(ge=-90, le=90)]
Longitude = Annotated[float, msgspec.Meta(ge=-180, le=180)]


class Point(msgspec.Struct, frozen=True):
    """A place on earth, in degrees."""

    latitude: Latitude
    longitude: Longitude


class Place(msgspec.Struct, frozen=True):
    """What Nominatim tells of a place; `display_name` is its address, commas between its parts."""

    lat: Latitude
    lon: Longitude
    display_name: str = ""
    osm_type: str = ""
    osm_id: int | None = None


def read_point(text: str) -> Point | None:
    """The point that *text* is, if it is one: `52.5170, 13.3889`, latitude first."""
    try:
        latitude, longitude = (float(part) for part in text.split(","))
        return msgspec.convert({"latitude": latitude, "longitude": longitude}, Point)
    except ValueError:
        return None


def search_for(location: str) -> dict[str, Any]:
    """The parameters of `/search` that ask where *location* is."""
    return {"q": location, "format": "jsonv2", "limit": 1}


def look_up(objects: list[str], language: str) -> dict[str, Any]:
    """The parameters of `/lookup` that ask for the addresses of *objects*, which are written as
    `N240109189`.
    """
    return {"osm_ids": ",".join(objects), "format": "jsonv2", "accept-language": language or None}


def read(answer: bytes) -> list[Place]:
    """The places of an answer, best first. Raises `Unusable` if it is of another kind."""
    return decode_typed(answer, list[Place], "Nominatim", strict=False)


def read_found_point(location: str, answer: bytes) -> Point:
    """Where *location* is, by the answer to `search_for`.

    Raises:
        ToolError: if nothing of that name is known.
    """
    found = read(answer)
    if not found:
        raise ToolError(
            say(
                "there is no place called {location!r} on OpenStreetMap; try it with the town and"
                " country",
                location=location,
            )
        )
    return Point(found[0].lat, found[0].lon)


def read_addresses(answer: bytes) -> dict[str, str]:
    """The address of each object in the answer to `look_up`."""
    return {
        f"{place.osm_type[:1].upper()}{place.osm_id}": place.display_name for place in read(answer)
    }
