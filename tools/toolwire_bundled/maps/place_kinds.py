"""Kinds of places in OpenStreetMap's words. No I/O.

Source: https://wiki.openstreetmap.org/wiki/Map_features.
"""

from __future__ import annotations

KEYS = (
    *("amenity", "shop", "tourism", "leisure", "healthcare", "office", "craft", "historic"),
    *("railway", "station", "highway", "aeroway", "natural", "cuisine", "building"),
)
"""The keys whose values are kinds."""

NAMED = ("place", "man_made", *(key for key in KEYS if key != "highway"))
"""The keys of what is looked for by its name. Streets are not: Park Street is no answer to `park`.
"""

_CALLED = {
    "airport": "aerodrome",
    "barber": "hairdresser",
    "bookstore": "books",
    "bookshop": "books",
    "car park": "parking",
    "café": "cafe",
    "clothing store": "clothes",
    "coffee": "cafe",
    "coffee shop": "cafe",
    "doctor": "doctors",
    "drugstore": "chemist",
    "electric vehicle charger": "charging_station",
    "ev charger": "charging_station",
    "gas station": "fuel",
    "grocery": "supermarket",
    "grocery store": "supermarket",
    "gym": "fitness_centre",
    "hair salon": "hairdresser",
    "metro station": "subway",
    "movie theater": "cinema",
    "parking lot": "parking",
    "petrol station": "fuel",
    "post": "post_office",
    "public toilet": "toilets",
    "restroom": "toilets",
    "shopping centre": "mall",
    "shopping center": "mall",
    "shopping mall": "mall",
    "subway station": "subway",
    "toilet": "toilets",
    "train station": "station",
    "vet": "veterinary",
    "便利店": "convenience",
    "公园": "park",
    "加油站": "fuel",
    "医院": "hospital",
    "博物馆": "museum",
    "厕所": "toilets",
    "咖啡店": "cafe",
    "咖啡馆": "cafe",
    "学校": "school",
    "停车场": "parking",
    "地铁站": "subway",
    "机场": "aerodrome",
    "火车站": "station",
    "药店": "pharmacy",
    "超市": "supermarket",
    "酒店": "hotel",
    "银行": "bank",
    "餐厅": "restaurant",
    "餐馆": "restaurant",
}
"""What people say, where it is not what OpenStreetmap writes."""


def list_kinds(term: str) -> list[str]:
    """The values that places of the kind *term* may have: `Tea shops` are `tea_shops`, `tea_shop`,
    `tea` and `teas`.
    """
    said = " ".join(term.lower().split())
    forms = [said, *_list_singulars(said)]
    forms += [form for each in forms for form in _list_shop_kinds(each)]
    known = [_CALLED[form] for form in forms if form in _CALLED]
    return list(dict.fromkeys([form.replace(" ", "_") for form in forms] + known))


def _list_singulars(said: str) -> list[str]:
    endings = (("ies", "y"), ("es", ""), ("s", ""))
    return [
        said.removesuffix(many) + one
        for many, one in endings
        if said.endswith(many) and len(said) > len(many) + 2
    ]


def _list_shop_kinds(said: str) -> list[str]:
    """Shops by the goods they sell, which is how OpenStreetMap names most of them."""
    wares, _, last = said.rpartition(" ")
    return [wares, f"{wares}s"] if wares and last in ("shop", "store") else []
