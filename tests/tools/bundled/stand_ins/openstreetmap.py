"""What Nominatim, OSRM and Overpass answer, with places that are nowhere. Not verified live.

The shapes are those of https://nominatim.org/release-docs/latest/api/Output/ (jsonv2; errors as in
https://github.com/osm-search/nominatim-ui/issues/68), https://project-osrm.org/docs/v26.4.0/http
(route service, result objects) and https://dev.overpass-api.de/output_formats.html (JSON; its
remark as DinoTools/python-overpy has it in its tests; pages for errors as in
https://github.com/drolbr/Overpass-API/issues/447).
"""

from __future__ import annotations

from typing import Any

LICENCE = "Data © OpenStreetMap contributors, ODbL 1.0. http://osm.org/copyright"


def place(
    name: str, lat: str = "54.5000000", lon: str = "10.2500000", **members: Any
) -> dict[str, Any]:
    """A place as Nominatim tells of it."""
    return {
        "place_id": 100149,
        "licence": LICENCE,
        "osm_type": "node",
        "osm_id": 107775,
        "lat": lat,
        "lon": lon,
        "category": "place",
        "type": "town",
        "place_rank": 16,
        "importance": 0.54,
        "addresstype": "town",
        "name": name.partition(",")[0],
        "display_name": name,
        "boundingbox": ["54.3400000", "54.6600000", "10.0900000", "10.4100000"],
        **members,
    }


def step(
    kind: str, modifier: str = "", name: str = "", distance: float = 100.0, **members: Any
) -> dict[str, Any]:
    """A step of a route."""
    maneuver = {
        "type": kind,
        "location": [10.25, 54.5],
        "bearing_before": 0,
        "bearing_after": 92,
        **members,
    }
    return {
        "maneuver": {**maneuver, "modifier": modifier} if modifier else maneuver,
        "mode": "driving",
        "name": name,
        "distance": distance,
        "duration": 15.6,
        "weight": 15.6,
        "geometry": "{lu_IypwpAVrAvAdI",
        "intersections": [
            {"out": 2, "in": 3, "bearings": [10, 92, 184, 270], "location": [10.25, 54.5]}
        ],
        "driving_side": "right",
    }


def route(*steps: dict[str, Any], distance: float = 12345.6) -> dict[str, Any]:
    """A route as OSRM tells of it."""
    leg = {
        "steps": list(steps),
        "distance": distance,
        "duration": 900.5,
        "summary": "Kettle Street",
        "weight": 900.5,
    }
    return {
        "code": "Ok",
        "routes": [
            {"legs": [leg], "distance": distance, "duration": 900.5, "weight_name": "routability"}
        ],
        "waypoints": [
            {"hint": "KSoK", "distance": 4.15, "name": "Kettle Street", "location": [10.25, 54.5]}
        ],
    }


NO_ROUTE = {"code": "NoRoute", "message": "Impossible route between points"}


def node(number: int, lat: float, lon: float, **tags: str) -> dict[str, Any]:
    """A point as Overpass tells of it."""
    return {"type": "node", "id": number, "lat": lat, "lon": lon, "tags": tags}


def way(number: int, lat: float, lon: float, **tags: str) -> dict[str, Any]:
    """Something larger than a point."""
    return {
        "type": "way",
        "id": number,
        "center": {"lat": lat, "lon": lon},
        "nodes": [1, 2, 3, 1],
        "tags": tags,
    }


def around(*elements: dict[str, Any], **members: Any) -> dict[str, Any]:
    """What there is around a point."""
    return {
        "version": 0.6,
        "generator": "Overpass API 0.7.62.1",
        "osm3s": {"timestamp_osm_base": "2026-01-01T00:00:00Z", "copyright": LICENCE},
        "elements": list(elements),
        **members,
    }


TIMED_OUT = around(remark='runtime error: Query timed out in "query" at line 1 after 26 seconds.')
BUSY = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">
<html xmlns="http://www.w3.org/1999/xhtml"><head><title>OSM3S Response</title></head><body>
<p>The data included in this document is from www.openstreetmap.org.</p>
<p><strong style="color:#FF0000">Error</strong>: runtime error: Dispatcher_Client::request_read_and_idx::rate_limited.
Please check /api/status for the quota of your IP address. </p></body></html>"""  # noqa: E501
