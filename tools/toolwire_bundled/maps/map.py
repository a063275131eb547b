"""BINGMap: distances, routes and places, from OpenStreetMap."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import msgspec
from toolwire_compat.lagent.base import BaseAction
from toolwire_compat.lagent.parsers import BaseParser, JsonParser
from toolwire_schemas.language import say
from toolwire_schemas.retries import Retries
from toolwire_tools.decorator import tool_api
from toolwire_tools.errors import ArgumentsError

from ..web.call import Call
from ..web.http import Limits
from ..web.service import RETRIES, Service
from . import nominatim, osrm, overpass
from .nominatim import Latitude, Longitude, Point

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolwire_tools.context.context import Context

_NOMINATIM = "https://nominatim.openstreetmap.org"
_OSRM = "https://router.project-osrm.org"
_OVERPASS = "https://overpass-api.de/api"
_INTERVAL_SECONDS = 1.0
"""Between requests to one of these, one at a time:
https://operations.osmfoundation.org/policies/nominatim/ and
https://www.fossgis.de/arbeitsgruppen/osm-server/nutzungsbedingungen/."""
_ONCE = Retries(attempts=1)
"""Overpass wants half a minute of rest after it has refused,
https://github.com/drolbr/Overpass-API/issues/791. Rather than make a caller wait for that, it is
not asked again."""
_LIMITS = Limits(silence_seconds=30.0)
"""More silence than the 25 seconds that Overpass may think."""
_SECONDS_NEARBY = 120.0
_ATTRIBUTION = "© OpenStreetMap contributors"
"""With every result, as its licence asks: https://www.openstreetmap.org/copyright."""
_MOST_NEARBY = 5
_MOST_REMEMBERED = 1000
_NOWHERE = ("", "unknown")


class Distance(TypedDict):
    """How far it is, in kilometres."""

    distance: float
    attribution: str


class Route(TypedDict):
    """What to do, step by step."""

    route: list[str]
    attribution: str


class Coordinates(TypedDict):
    """Where something is, in degrees."""

    latitude: float
    longitude: float
    attribution: str


class PlaceNearby(TypedDict):
    """One place, and how far it is as the crow flies, in kilometres. The address may be empty."""

    name: str
    address: str
    distance: float


class PlacesNearby(TypedDict):
    """The nearest places."""

    places: list[PlaceNearby]
    attribution: str


class BINGMap(BaseAction):
    """Looks up distances, routes, coordinates and what is nearby, on OpenStreetMap: Bing's service
    is retired.

    Nominatim, OSRM and Overpass are public services that are not meant for much: each is asked once
    a second, and for a place only once. Servers of your own are asked as fast as they answer. A
    refusal is reported with their text. A call takes a minute at most, search_nearby two. The
    attribution that comes with each result is to be shown with it.
    """

    def __init__(
        self,
        key: str | None = None,
        description: dict[str, Any] | None = None,
        parser: Callable[..., BaseParser] = JsonParser,
        enable: bool = True,
        *,
        lang: str | None = None,
        nominatim_url: str | None = None,
        osrm_url: str | None = None,
        overpass_url: str | None = None,
        language: str = "en",
    ) -> None:
        """Prepare to look things up.

        Args:
            key: of no effect; Bing wanted one
            nominatim_url: the service that knows places; by default that in NOMINATIM_URL, or
                OpenStreetMap's own
            osrm_url: the service that finds routes; by default that in OSRM_URL, or OSRM's
                demonstration
            overpass_url: the service that finds what is nearby; by default that in OVERPASS_URL, or
                the main one
            language: languages of addresses, as `zh,en`, where there are several; empty for the
                place's own
        """
        super().__init__(description, parser, enable, lang=lang)
        self._nominatim = _make_service("Nominatim", nominatim_url, "NOMINATIM_URL", _NOMINATIM)
        self._osrm = _make_service("OSRM", osrm_url, "OSRM_URL", _OSRM)
        self._overpass = _make_service("Overpass", overpass_url, "OVERPASS_URL", _OVERPASS, _ONCE)
        self._language = language
        self._known: dict[str, Point] = {}

    @tool_api(explode_return=True, read_only=True, open_world=True, idempotent=True)
    def get_distance(self, start: str, end: str, context: Context | None = None) -> Distance:
        """Get the distance between two locations in km, by car. (From OpenStreetMap; Bing's service
        is retired.)

        Args:
            start (str): where from: a name, best with its town and country, or
                `latitude, longitude`
            end (str): where to, likewise

        Returns:
            dict: the distance
                - distance (float): in kilometres
        """
        route = self._route(start, end, Call(context), steps=False)
        return {"distance": osrm.measure_kilometres(route), "attribution": _ATTRIBUTION}

    @tool_api(explode_return=True, read_only=True, open_world=True, idempotent=True)
    def get_route(self, start: str, end: str, context: Context | None = None) -> Route:
        """Get the route between two locations, by car. (From OpenStreetMap; Bing's service is
        retired.)

        Args:
            start (str): where from: a name, best with its town and country, or
                `latitude, longitude`
            end (str): where to, likewise

        Returns:
            dict: the route
                - route (list): what to do, step by step, and how far it is to the next
        """
        route = self._route(start, end, Call(context), steps=True)
        return {"route": osrm.write_directions(route), "attribution": _ATTRIBUTION}

    @tool_api(explode_return=True, read_only=True, open_world=True, idempotent=True)
    def get_coordinates(self, location: str, context: Context | None = None) -> Coordinates:
        """Get the coordinates of a location. (From OpenStreetMap; Bing's service is retired.)

        Args:
            location (str): a name or an address, best with its town and country

        Returns:
            dict: where it is, in degrees
                - latitude (float): how far north
                - longitude (float): how far east
        """
        point = self._find_point("location", location, Call(context))
        return {
            "latitude": point.latitude,
            "longitude": point.longitude,
            "attribution": _ATTRIBUTION,
        }

    @tool_api(explode_return=True, read_only=True, open_world=True, idempotent=True)
    def search_nearby(
        self,
        search_term: str,
        places: str = "unknown",
        latitude: Latitude = 0.0,
        longitude: Longitude = 0.0,
        radius: Annotated[int, msgspec.Meta(ge=1, le=50_000)] = 5000,
        context: Context | None = None,
    ) -> PlacesNearby:
        """Search for places near a location, which is given by its name, or by its latitude and
        longitude.

        (From OpenStreetMap; Bing's service is retired.)

        Args:
            search_term (str): the name of what is searched for, or its kind: cafe, pharmacy, train
                station
            places (str): the name of the location; it wins over latitude and longitude
            latitude (float): the latitude of the location
            longitude (float): the longitude of the location
            radius (int): how far to search, in metres

        Returns:
            dict: what was found
                - places (list): at most five places, the nearest first, each with name, address and
                  distance in km
        """
        call = Call(context, seconds=_SECONDS_NEARBY)
        _read_filled("search_term", search_term)
        if places.strip() not in _NOWHERE:
            around = self._find_point("places", places, call)
        elif latitude or longitude:
            around = Point(latitude, longitude)
        else:
            raise ArgumentsError(
                [
                    (
                        "arguments.places",
                        say("say where to search: here, or by latitude and longitude"),
                    )
                ]
            )
        found = self._find_nearest(search_term, around, radius, call)
        addresses = self._find_addresses(found, call)
        return {"places": [_describe(one, addresses) for one in found], "attribution": _ATTRIBUTION}

    def _route(self, start: str, end: str, call: Call, *, steps: bool) -> osrm.Route:
        path = osrm.make_path(
            self._find_point("start", start, call), self._find_point("end", end, call)
        )
        return osrm.read(
            self._osrm.get(path, params=osrm.make_options(steps=steps), call=call).body
        )

    def _find_point(self, parameter: str, location: str, call: Call) -> Point:
        """Where *location* is. It is remembered, as Nominatim's rules ask."""
        name = _read_filled(parameter, location)
        if point := nominatim.read_point(name) or self._known.get(name):
            return point
        reply = self._nominatim.get("search", params=nominatim.search_for(name), call=call)
        point = nominatim.read_found_point(name, reply.body)
        if len(self._known) < _MOST_REMEMBERED:
            self._known[name] = point
        return point

    def _find_nearest(
        self, term: str, around: Point, radius: int, call: Call
    ) -> list[overpass.Found]:
        found: list[overpass.Found] = []
        for circle in overpass.choose_radii(radius):
            asked = {"data": overpass.write_query(term, around, circle)}
            reply = self._overpass.post("interpreter", data=asked, call=call)
            found = overpass.find_nearest(reply.body, around, _MOST_NEARBY)
            if len(found) == _MOST_NEARBY:
                break
        return found

    def _find_addresses(self, found: list[overpass.Found], call: Call) -> dict[str, str]:
        """The addresses that Nominatim knows; those that Overpass finds are in parts, or
        missing.
        """
        if not found:
            return {}
        asked = nominatim.look_up([one.object for one in found], self._language)
        return nominatim.read_addresses(self._nominatim.get("lookup", params=asked, call=call).body)


def _make_service(
    name: str,
    given: str | None,
    variable: str,
    public: str,
    retries: Retries = RETRIES,
) -> Service:
    """The service, at the address that was *given*, or in the *variable*, or at the *public* one,
    by its rules.
    """
    address = given or os.environ.get(variable) or public
    if public.split("/")[2] not in address:
        return Service(name, address, limits=_LIMITS, retries=retries)
    return Service(
        name,
        address,
        limits=_LIMITS,
        retries=retries,
        interval_seconds=_INTERVAL_SECONDS,
        at_once=1,
    )


def _read_filled(parameter: str, text: str) -> str:
    """The *text* with single spaces, if there is any."""
    words = text.split()
    if not words:
        raise ArgumentsError([(f"arguments.{parameter}", say("it is empty"))])
    return " ".join(words)


def _describe(found: overpass.Found, addresses: dict[str, str]) -> PlaceNearby:
    address = addresses.get(found.object) or found.address
    return {"name": found.name, "address": address, "distance": round(found.metres / 1000, 3)}
