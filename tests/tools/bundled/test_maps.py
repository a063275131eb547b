"""BINGMap, against stand-ins for Nominatim, OSRM and Overpass."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import json
from support.examples import examples
from support.recording_caller import RecordingCaller
from tools.bundled.stand_ins.anything import ANYTHING, much_like
from tools.bundled.stand_ins.openstreetmap import (
    BUSY,
    NO_ROUTE,
    TIMED_OUT,
    around,
    node,
    place,
    route,
    step,
    way,
)
from tools.bundled.stand_ins.server import (
    Answer,
    Exchange,
    StandIn,
    error,
    json_answer,
    text_answer,
    throttled,
)
from tools.bundled.stand_ins.time import Hours
from toolwire_bundled import BINGMap
from toolwire_bundled.maps import map as maps
from toolwire_bundled.maps import nominatim, osrm, overpass
from toolwire_bundled.maps.nominatim import Point
from toolwire_bundled.maps.place_kinds import list_kinds
from toolwire_bundled.web.errors import Refused, Unusable
from toolwire_compat.lagent import ActionReturn, ActionStatusCode
from toolwire_tools import Cancelled, Context, ToolError

BY = {"attribution": "© OpenStreetMap contributors"}
KETTLEBY = place("Kettleby, Steamshire, Nowhere")
WAY = "/route/v1/driving/10.250000,54.500000;10.250000,54.500000"
HERE = Point(54.5, 10.25)


@pytest.fixture
def server() -> Iterator[StandIn]:
    """All three of them, each below a path of its own."""
    with StandIn() as server:
        server.on(
            "GET",
            "/nominatim/search",
            json_answer([KETTLEBY, place("Kettleby, Elsewhere", "1", "2")]),
        )
        server.on("GET", "/nominatim/lookup", json_answer([]))
        server.on("GET", f"/osrm{WAY}", json_answer(route()))
        server.on("POST", "/overpass/interpreter", json_answer(around()))
        yield server


@pytest.fixture(autouse=True)
def hours(monkeypatch: pytest.MonkeyPatch) -> Hours:
    for variable in ("NOMINATIM_URL", "OSRM_URL", "OVERPASS_URL", "BING_MAP_KEY"):
        monkeypatch.delenv(variable, raising=False)
    hours = Hours()
    monkeypatch.setattr("toolwire_bundled.web.call.WATCH", hours.watch)
    return hours


@pytest.fixture
def action(server: StandIn) -> BINGMap:
    return BINGMap(
        nominatim_url=f"{server.url}/nominatim",
        osrm_url=f"{server.url}/osrm",
        overpass_url=f"{server.url}/overpass",
    )


def by_name(places: dict[str, Any]) -> Answer:
    """Nominatim, which knows *places*."""

    def answer(exchange: Exchange) -> None:
        name = exchange.received.query["q"]
        json_answer([places[name]] if name in places else [])(exchange)

    return answer


# --- where things are, and the way ----------------------------------------------------------------


def test_coordinates_are_those_of_the_best_match(server: StandIn, action: BINGMap) -> None:
    assert action.get_coordinates("  Kettleby,\n Steamshire ") == {
        "latitude": 54.5,
        "longitude": 10.25,
        **BY,
    }
    assert server.requests[0].query == {
        "q": "Kettleby, Steamshire",
        "format": "jsonv2",
        "limit": "1",
    }
    assert server.requests[0].headers["user-agent"].startswith("toolwire/")


def test_a_distance_is_in_kilometres_by_road(server: StandIn, action: BINGMap) -> None:
    ends = {"Kettleby": KETTLEBY, "Pot Hill": place("Pot Hill", "-54.1234567", "-0.1")}
    server.on("GET", "/nominatim/search", by_name(ends))
    server.on(
        "GET",
        "/osrm/route/v1/driving/10.250000,54.500000;-0.100000,-54.123457",
        json_answer(route()),
    )
    assert action.get_distance("Kettleby", "Pot Hill") == {"distance": 12.346, **BY}
    assert server.requests[2].query == {
        "overview": "false",
        "alternatives": "false",
        "steps": "false",
    }


def test_a_route_is_reported_step_by_step(server: StandIn, action: BINGMap) -> None:
    steps = (
        step("depart", "right", "Kettle Street", 152.3),
        step("turn", "slight left", "Spout Lane", 1234.5),
        step("roundabout", "right", "", 20, exit=2),
        step("arrive", "left", "Lid Square", 0),
    )
    server.on("GET", f"/osrm{WAY}", json_answer(route(*steps)))
    assert action.get_route("Kettleby", "Kettleby") == {
        "route": [
            "Start on Kettle Street (152 m)",
            "Turn slight left onto Spout Lane (1.2 km)",
            "At the roundabout, take exit 2 (20 m)",
            "Arrive at the destination, on the left",
        ],
        **BY,
    }
    assert server.requests[1].query["steps"] == "true"


@pytest.mark.parametrize(
    ("kind", "modifier", "sentence"),
    [
        ("turn", "uturn", "Make a U-turn onto A"),
        ("turn", "straight", "Go straight onto A"),
        ("new name", "slight right", "Continue onto A"),
        ("continue", "left", "Turn left onto A"),
        ("merge", "slight left", "Merge slight left onto A"),
        ("on ramp", "right", "Take the ramp right onto A"),
        ("off ramp", "slight right", "Take the exit slight right onto A"),
        ("fork", "left", "Keep left at the fork onto A"),
        ("end of road", "right", "At the end of the road, turn right onto A"),
        ("rotary", "right", "At the roundabout, take the exit onto A"),
        ("exit roundabout", "right", "Leave the roundabout onto A"),
        ("roundabout turn", "left", "At the roundabout, turn left onto A"),
        ("notification", "straight", "Continue onto A"),
        ("arrive", "", "Arrive at the destination"),
        ("a type of tomorrow", "sharp left", "Turn sharp left onto A"),
    ],
)
def test_every_maneuver_has_words(kind: str, modifier: str, sentence: str) -> None:
    said = osrm.read(json.encode(route(step(kind, modifier, "A", 0))))
    assert osrm.write_directions(said) == [sentence]


def test_a_ramp_leads_where_its_sign_says() -> None:
    ramp = {**step("off ramp", "right", "", 300), "destinations": "A 7: Kettleby, Pot Hill"}
    assert osrm.write_directions(osrm.read(json.encode(route(ramp)))) == [
        "Take the exit right towards A 7: Kettleby, Pot Hill (300 m)"
    ]


def test_a_road_without_a_name_is_called_by_its_number() -> None:
    nameless = {**step("turn", "left", "", 50), "ref": "B 7"}
    assert osrm.write_directions(osrm.read(json.encode(route(nameless)))) == [
        "Turn left onto B 7 (50 m)"
    ]


@pytest.mark.parametrize("written", ["54.5, 10.25", "54.5,10.25", " 54.50 , +10.25 "])
def test_a_location_may_be_coordinates(server: StandIn, action: BINGMap, written: str) -> None:
    assert action.get_distance(written, written) == {"distance": 12.346, **BY}
    assert [request.path for request in server.requests] == [f"/osrm{WAY}"]


@pytest.mark.parametrize(
    "written", ["91, 10", "54.5", "1, 2, 3", "nan, 5", "5, inf", "Kettleby, Steamshire"]
)
def test_what_is_no_pair_of_coordinates_is_a_name(written: str) -> None:
    assert nominatim.read_point(written) is None


def test_a_place_is_asked_for_once(server: StandIn, action: BINGMap) -> None:
    action.get_distance("Kettleby", "Kettleby")
    action.get_coordinates("Kettleby")
    assert [request.path for request in server.requests] == ["/nominatim/search", f"/osrm{WAY}"]


def test_a_place_that_is_not_known_is_reported(server: StandIn, action: BINGMap) -> None:
    server.on("GET", "/nominatim/search", json_answer([]))
    assert action({"location": "Atlantis"}, "get_coordinates") == ActionReturn(
        {"location": "Atlantis"},
        type="BINGMap",
        errmsg=(
            "there is no place called 'Atlantis' on OpenStreetMap; try it with the town and country"
        ),
        state=ActionStatusCode.API_ERROR,
    )


def test_that_there_is_no_way_is_reported_in_osrms_words(server: StandIn, action: BINGMap) -> None:
    server.on("GET", f"/osrm{WAY}", error(400, NO_ROUTE))
    with pytest.raises(Refused, match=r"^OSRM .* answered 400: Impossible route between points$"):
        action.get_distance("Kettleby", "Kettleby")
    server.on("GET", f"/osrm{WAY}", json_answer(NO_ROUTE))
    with pytest.raises(ToolError, match="Impossible route between points"):
        action.get_route("Kettleby", "Kettleby")


# --- what is nearby -------------------------------------------------------------------------------

CAFES = around(
    node(
        1,
        54.5010,
        10.25,
        amenity="cafe",
        name="Near",
        **{"addr:street": "Spout Lane", "addr:city": "Kettleby"},
    ),
    node(2, 54.5300, 10.25, amenity="cafe", name="Far"),
    way(3, 54.5005, 10.25, amenity="cafe", brand="Chain"),
    node(4, 54.5100, 10.25, amenity="cafe"),
    {"type": "relation", "id": 5, "tags": {"name": "Nowhere"}},
)


def test_nearby_places_are_listed_by_distance_with_addresses(
    server: StandIn, action: BINGMap
) -> None:
    server.on("POST", "/overpass/interpreter", json_answer(CAFES))
    address = "Chain, 7, Spout Lane, Kettleby, Nowhere"
    server.on("GET", "/nominatim/lookup", json_answer([place(address, osm_type="way", osm_id=3)]))
    assert action.search_nearby("cafe", "Kettleby") == {
        "places": [
            {"name": "Chain", "address": address, "distance": 0.056},
            {"name": "Near", "address": "Spout Lane, Kettleby", "distance": 0.111},
            {"name": "cafe", "address": "", "distance": 1.112},
            {"name": "Far", "address": "", "distance": 3.336},
        ],
        **BY,
    }
    assert server.requests[-1].query == {
        "osm_ids": "W3,N1,N4,N2",
        "format": "jsonv2",
        "accept-language": "en",
    }


def test_at_most_five_places_are_reported(server: StandIn, action: BINGMap) -> None:
    many = around(
        *(
            node(number, 54.5 + number / 1000, 10.25, name=f"No {number}")
            for number in range(9, 0, -1)
        )
    )
    server.on("POST", "/overpass/interpreter", json_answer(many))
    found = action.search_nearby("cafe", latitude=54.5, longitude=10.25)["places"]
    assert [one["name"] for one in found] == ["No 1", "No 2", "No 3", "No 4", "No 5"]
    assert len([request for request in server.requests if request.method == "POST"]) == 1


def test_a_small_circle_is_searched_before_the_whole(server: StandIn, action: BINGMap) -> None:
    assert action.search_nearby("cafe", latitude=54.5, longitude=10.25) == {"places": [], **BY}
    assert ["around:625," in request.form["data"] for request in server.requests] == [True, False]
    assert ["around:5000," in request.form["data"] for request in server.requests] == [False, True]


def test_a_small_circle_with_too_few_places_is_not_enough(server: StandIn, action: BINGMap) -> None:
    few, all_ = (
        around(node(1, 54.5, 10.25, name="Lid")),
        around(*(node(n, 54.5, 10.25) for n in range(7))),
    )
    server.then(json_answer(few), json_answer(all_))
    assert len(action.search_nearby("lid", latitude=54.5, longitude=10.25)["places"]) == 5


@pytest.mark.parametrize(("latitude", "longitude"), [(54.5, 0.0), (0.0, 10.25)])
def test_greenwich_and_the_equator_are_somewhere(
    server: StandIn, action: BINGMap, latitude: float, longitude: float
) -> None:
    assert action.search_nearby("cafe", latitude=latitude, longitude=longitude)["places"] == []
    assert f"{latitude:.6f},{longitude:.6f}" in server.requests[0].form["data"]


@pytest.mark.parametrize("nowhere", ["unknown", "", " "])
def test_where_to_search_has_to_be_said(server: StandIn, action: BINGMap, nowhere: str) -> None:
    returned = action({"search_term": "cafe", "places": nowhere}, "search_nearby")
    assert returned.state == ActionStatusCode.ARGS_ERROR
    assert str(returned.errmsg).startswith("arguments.places: say where to search")
    assert server.requests == []


@pytest.mark.parametrize(
    ("api", "arguments", "place_"),
    [
        ("get_distance", {"start": "", "end": "x"}, "start"),
        ("get_route", {"start": "1,1", "end": " "}, "end"),
        ("get_coordinates", {"location": "\n"}, "location"),
        ("search_nearby", {"search_term": " ", "latitude": 1}, "search_term"),
        ("search_nearby", {"search_term": "x", "latitude": 91}, "latitude"),
        ("search_nearby", {"search_term": "x", "latitude": 1, "radius": 0}, "radius"),
    ],
)
def test_impossible_arguments_are_refused_before_a_request(
    server: StandIn, action: BINGMap, api: str, arguments: dict[str, Any], place_: str
) -> None:
    returned = action(arguments, api)
    assert returned.state == ActionStatusCode.ARGS_ERROR
    assert str(returned.errmsg).startswith(f"arguments.{place_}: ")
    assert server.requests == []


def test_the_question_is_what_overpass_documents() -> None:
    asked = overpass.write_query("tea shops", HERE, 500)
    where = "(around:500,54.500000,10.250000);"
    assert asked.startswith(
        '[out:json][timeout:25];(nwr["name"~"(^|[^a-z])tea shops([^a-z]|$)",i][~"^(place|'
    )
    assert asked.count(f'building)$"~"."]{where}') == 3
    assert asked.endswith(
        f'|building)$"~"^(tea_shops|tea_shop|tea|teas)$"]{where});out center 500;'
    )


@pytest.mark.parametrize(
    ("term", "name", "is_found"),
    [
        *(
            ("park", "Park am Kessel", True),
            ("park", "Kesselpark", False),
            ("park", "Parkhotel", False),
        ),
        *(
            ("mcdonald", "McDonald's", True),
            ("Lid & Co.", "Lid & Co.", True),
            ("Lid & Co.", "Lid & Com", False),
        ),
        *(("星巴克", "星巴克咖啡", True), ("café", "Café Lid", True)),
    ],
)
def test_a_name_is_found_by_its_words(term: str, name: str, is_found: bool) -> None:
    asked = overpass.write_query(term, HERE, 9)
    pattern = asked.partition('"name"~"')[2].partition('",i]')[0].replace("\\\\", "\\")
    assert bool(re.search(pattern, name, re.IGNORECASE)) is is_found


def test_a_term_is_searched_for_to_the_letter() -> None:
    asked = overpass.write_query('a+b (c) "d" \\', HERE, 9)
    assert r"""["name"~"(^|[^a-z])a\\+b \\(c\\) \"d\" \\\\([^a-z]|$)",i]""" in asked


@pytest.mark.parametrize(
    "term", ['x"](around:1,1,1);node', "a\\", "(.*)+$", "]};out;", 'x\\"', "a|b^c{2}[d]?"]
)
def test_a_term_is_never_a_part_of_the_language(term: str) -> None:
    """Without its strings, a question is the same whatever is searched for."""
    assert without_strings(overpass.write_query(term, HERE, 9)) == without_strings(
        overpass.write_query("tea", HERE, 9)
    )


@settings(max_examples=examples(60))
@given(st.text())
def test_no_term_is_a_part_of_the_language(term: str) -> None:
    assert without_strings(overpass.write_query(term, HERE, 9)) == without_strings(
        overpass.write_query("tea", HERE, 9)
    )


def without_strings(question: str) -> str:
    """The question without what stands between quotes. As the language has it, a backslash takes
    what follows.
    """
    kept, inside, letters = [], False, iter(question)
    for letter in letters:
        if inside and letter == "\\":
            next(letters)
        elif letter == '"':
            inside = not inside
        elif not inside:
            kept.append(letter)
    assert not inside
    return "".join(kept)


@pytest.mark.parametrize(
    ("term", "kind"),
    [
        *(
            ("cafes", "cafe"),
            ("Coffee  Shops", "cafe"),
            ("pharmacies", "pharmacy"),
            ("church", "church"),
        ),
        *(
            ("Gas Station", "fuel"),
            ("train stations", "station"),
            ("bus", "bus"),
            ("toy store", "toys"),
            ("Café", "cafe"),
            ("餐厅", "restaurant"),
        ),
    ],
)
def test_kinds_are_known_by_what_people_say(term: str, kind: str) -> None:
    assert kind in list_kinds(term)


def test_distances_are_those_of_a_sphere() -> None:
    assert overpass.measure_metres(Point(0, 0), Point(0, 1)) == pytest.approx(111_195, abs=1)
    assert overpass.measure_metres(Point(0, 179.5), Point(0, -179.5)) == pytest.approx(
        111_195, abs=1
    )
    assert overpass.measure_metres(Point(90, 0), Point(-90, 77)) == pytest.approx(20_015_115, abs=1)
    assert overpass.measure_metres(HERE, HERE) == 0


# --- addresses and manners ------------------------------------------------------------------------


def test_the_services_may_be_ones_own_by_the_environment(
    server: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, path in (
        ("NOMINATIM_URL", "nominatim"),
        ("OSRM_URL", "osrm"),
        ("OVERPASS_URL", "overpass"),
    ):
        monkeypatch.setenv(variable, f"{server.url}/{path}/")
    action = BINGMap(key="of-no-effect")
    assert action.get_distance("Kettleby", "Kettleby")["distance"] == 12.346
    assert action.search_nearby("cafe", "Kettleby")["places"] == []


def test_public_services_are_asked_once_a_second_and_ones_own_at_once(
    server: StandIn, hours: Hours, action: BINGMap, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("Kettleby", "Pot Hill", "Lid"):
        action.get_coordinates(name)
    assert hours.slept == 0
    with StandIn() as public:  # the pace is that of a host: this one was never asked before
        public.on("GET", "/search", json_answer([KETTLEBY]))
        monkeypatch.setattr(maps, "_NOMINATIM", public.url)
        for name in ("Kettleby", "Pot Hill", "Lid"):
            BINGMap(nominatim_url=f"{public.url}/").get_coordinates(name)
    assert hours.slept == pytest.approx(2.0)


@pytest.mark.parametrize("is_public", [True, False])
def test_overpass_is_left_alone_once_it_has_refused(
    server: StandIn, monkeypatch: pytest.MonkeyPatch, is_public: bool
) -> None:
    server.on("POST", "/interpreter", error(429, BUSY))
    monkeypatch.setattr(maps, "_OVERPASS", server.url)
    action = BINGMap() if is_public else BINGMap(overpass_url=server.url)
    with pytest.raises(
        Refused, match=r"429: .*Please check /api/status for the quota of your IP address"
    ):
        action.search_nearby("cafe", latitude=1, longitude=1)
    assert len(server.requests) == 1


def test_the_others_are_asked_again_when_they_say_so(
    server: StandIn, hours: Hours, action: BINGMap
) -> None:
    server.then(throttled(5))
    assert action.get_coordinates("Kettleby")["latitude"] == 54.5
    assert hours.slept >= 5


def test_a_search_that_was_cut_short_is_no_result(server: StandIn, action: BINGMap) -> None:
    server.on("POST", "/overpass/interpreter", json_answer(TIMED_OUT))
    with pytest.raises(ToolError, match="Query timed out"):
        action.search_nearby("cafe", "Kettleby")


def test_progress_is_reported_and_a_cancelled_call_asks_no_more(
    server: StandIn, action: BINGMap
) -> None:
    caller = RecordingCaller(patience=2)
    with pytest.raises(Cancelled):
        action.search_nearby("cafe", "Kettleby", context=Context(caller))
    assert [message for _, _, message in caller.told] == [
        f"asking Nominatim ({server.host})",
        f"asking Overpass ({server.host})",
    ]
    assert "/nominatim/lookup" not in [request.path for request in server.requests]


# --- answers of no kind ---------------------------------------------------------------------------

CALLS: dict[str, Callable[[BINGMap], Any]] = {
    "GET /nominatim/search": lambda action: action.get_coordinates("Kettleby"),
    f"GET /osrm{WAY}": lambda action: action.get_route("Kettleby", "Kettleby"),
    "POST /overpass/interpreter": lambda action: action.search_nearby("cafe", "Kettleby"),
}


@pytest.mark.parametrize("asked", CALLS)
@pytest.mark.parametrize(
    "said",
    [
        *(
            "",
            "<html>Bandwidth limit exceeded</html>",
            "null",
            "7",
            "[7]",
            '{"elements": 7, "routes": 7}',
            "[" * 100_000,
        ),
        *(
            '[{"lat": "north", "lon": "1"}]',
            '[{"lat": "91", "lon": "1"}]',
            '{"code": 7, "elements": [null]}',
        ),
        '{"code": "Ok", "routes": [{}], "elements": [{"id": "x"}]}',
    ],
)
def test_what_is_not_documented_is_one_clear_error(
    server: StandIn, action: BINGMap, asked: str, said: str
) -> None:
    method, path = asked.split()
    server.on(method, path, text_answer(said, "application/json"))
    with pytest.raises(Unusable, match="answer is not what it documents"):
        CALLS[asked](action)


@settings(max_examples=examples(40))
@given(ANYTHING | st.lists(much_like(KETTLEBY), max_size=3))
def test_any_answer_of_nominatim_is_a_place_or_one_clear_error(said: Any) -> None:
    with suppress(ToolError):
        point = nominatim.read_found_point("x", json.encode(said))
        assert (-90 <= point.latitude <= 90, -180 <= point.longitude <= 180) == (True, True)
    with suppress(ToolError):
        assert all(
            isinstance(address, str)
            for address in nominatim.read_addresses(json.encode(said)).values()
        )


@settings(max_examples=examples(40))
@given(
    ANYTHING
    | much_like(route())
    | st.lists(much_like(step("turn", "left", "A"))).map(lambda some: route(*some))
)
def test_any_answer_of_osrm_is_a_route_or_one_clear_error(said: Any) -> None:
    with suppress(ToolError):
        found = osrm.read(json.encode(said))
        assert all(osrm.write_directions(found))
        json.encode(osrm.measure_kilometres(found))


@settings(max_examples=examples(40))
@given(
    ANYTHING
    | st.lists(much_like(node(1, 1, 1)) | much_like(way(1, 1, 1))).map(lambda some: around(*some))
)
def test_any_answer_of_overpass_is_places_or_one_clear_error(said: Any) -> None:
    with suppress(ToolError):
        found = overpass.find_nearest(json.encode(said), HERE, 5)
        assert [one.metres for one in found] == sorted(one.metres for one in found)
