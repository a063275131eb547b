"""What Overpass is asked, and the places around a point that it answers with. No I/O.

Sources: https://wiki.openstreetmap.org/wiki/Overpass_API/Overpass_QL (around, regular expressions,
out), https://dev.overpass-api.de/output_formats.html (JSON).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec
from toolwire_schemas.language import say
from toolwire_tools.errors import ToolError

from ..web.http import decode_typed
from .nominatim import Latitude, Longitude, Point
from .place_kinds import KEYS, NAMED, list_kinds

if TYPE_CHECKING:
    from collections.abc import Iterable

_SECONDS = 25
"""How long the service may work on a question: its own default."""
_AT_ONCE = 500
"""How many places an answer may hold."""
_KINDS = f"^({'|'.join(KEYS)})$"
_NAMED = f"^({'|'.join(NAMED)})$"
_SPECIAL = frozenset("\\.[]{}()*+?^$|")
_WIDE = 1000
"""From how many metres on a small circle is tried first: in a town it is enough, and easier on the
service.
"""


class Center(msgspec.Struct, frozen=True):
    lat: Latitude
    lon: Longitude


class Element(msgspec.Struct, frozen=True):
    """A node, way or relation. Nodes are somewhere themselves, the others have a `center`."""

    type: str
    id: int
    lat: Latitude | None = None
    lon: Longitude | None = None
    center: Center | None = None
    tags: dict[str, str] = {}


class Answer(msgspec.Struct, frozen=True):
    elements: list[Element]
    remark: str = ""


class Found(msgspec.Struct, frozen=True):
    """A place: `object` as `N240109189`, `address` as far as its own tags tell it, `metres` from
    where was asked.
    """

    object: str
    name: str
    address: str
    metres: float


def choose_radii(radius: int) -> list[int]:
    """The radii to try one after the other, until there are enough places: the nearest are in the
    smallest.
    """
    return [radius // 8, radius] if radius > _WIDE else [radius]


def write_query(term: str, around: Point, radius: int) -> str:
    """The query for places that are called, or are, a *term*, no more than *radius* metres from a
    point.
    """
    where = f"(around:{radius},{around.latitude:.6f},{around.longitude:.6f})"
    name = _quote(_write_name_pattern(" ".join(term.split())))
    kind = _quote(f"^({'|'.join(map(_escape, list_kinds(term)))})$")
    filters = [
        f"[{key}~{name},i][~{_quote(_NAMED)}~{_quote('.')}]"
        for key in ('"name"', '"name:en"', '"brand"')
    ]
    filters.append(f"[~{_quote(_KINDS)}~{kind}]")
    union = "".join(f"nwr{one}{where};" for one in filters)
    return f"[out:json][timeout:{_SECONDS}];({union});out center {_AT_ONCE};"


def find_nearest(answer: bytes, around: Point, most: int) -> list[Found]:
    """The nearest places of an answer.

    Raises:
        ToolError: in the service's words, if it failed on the way.
        Unusable: if *answer* is of another kind.
    """
    said = decode_typed(answer, Answer, "Overpass")
    if (
        "error" in said.remark
    ):  # such as "runtime error: Query timed out ...": what there is is not all
        raise ToolError(say("Overpass: {remark}", remark=said.remark))
    return sorted(_find_placed(said.elements, around), key=lambda found: found.metres)[:most]


def _find_placed(elements: Iterable[Element], around: Point) -> Iterable[Found]:
    for element in elements:
        at = element.center or element
        if at.lat is not None and at.lon is not None:
            name = next(
                (
                    element.tags[key]
                    for key in ("name", "brand", "operator", *KEYS)
                    if key in element.tags
                ),
                "",
            )
            yield Found(
                object=f"{element.type[:1].upper()}{element.id}",
                name=name,
                address=_write_address(element.tags),
                metres=measure_metres(around, Point(at.lat, at.lon)),
            )


def _write_address(tags: dict[str, str]) -> str:
    street = f"{tags.get('addr:housenumber', '')} {tags.get('addr:street', '')}".strip()
    return ", ".join(filter(None, (street, tags.get("addr:postcode"), tags.get("addr:city"))))


def measure_metres(one: Point, other: Point) -> float:
    """The distance as the crow flies, on a sphere of the earth's mean radius (haversine)."""
    north, other_north = math.radians(one.latitude), math.radians(other.latitude)
    east = math.radians(other.longitude - one.longitude)
    half = (
        math.sin((other_north - north) / 2) ** 2
        + math.cos(north) * math.cos(other_north) * math.sin(east / 2) ** 2
    )
    return 2 * 6_371_008.8 * math.asin(min(1, math.sqrt(half)))


def _write_name_pattern(term: str) -> str:
    """The names with *term* in them: as words of their own, where there are words, so that a park
    is no Parkhotel.
    """
    return f"(^|[^a-z]){_escape(term)}([^a-z]|$)" if term.isascii() else _escape(term)


def _escape(text: str) -> str:
    """*text* as a regular expression (POSIX, extended) that finds only it."""
    return "".join(f"\\{letter}" if letter in _SPECIAL else letter for letter in text)


def _quote(text: str) -> str:
    """*text* as a string of the query language."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
