"""Alternatives have the same names in all languages and on all pages."""

from __future__ import annotations

from typing import Any

import pytest
from toolwire_schemas.json_schema.graph import SchemaGraph
from toolwire_schemas.json_schema.variant_names import name_variants

DEFINITIONS = {
    "Circle": {"properties": {"kind": {"const": "circle"}}},
    "Titled": {"title": "A title"},
    "Kind": {"enum": ["square"]},
}


def tagged(tag: Any) -> dict[str, Any]:
    return {"properties": {"size": {"type": "number"}, "kind": tag}}


@pytest.mark.parametrize(
    ("variants", "names"),
    [
        ([{"title": "Circle", **tagged({"const": "x"})}], ["Circle"]),
        ([{"$ref": "#/$defs/Circle"}, {"$ref": "#/$defs/Titled"}], ["Circle", "A title"]),
        ([tagged({"const": "circle"}), tagged({"enum": [2]})], ["kind: circle", "kind: 2"]),
        ([tagged({"$ref": "#/$defs/Kind"})], ["kind: square"]),
        ([{"const": "fast"}, {"enum": [None]}, {"enum": [1, 2]}], ["fast", "null", "1 or 2"]),
        ([{"type": "string", "format": "date"}, {"type": "string"}], ["date", "string"]),
        ([{"type": ["integer", "null"]}, {}], ["integer or null", "any value"]),
        ([tagged({}), tagged({}), {"type": "object"}], ["object", "object 2", "object 3"]),
    ],
)
def test_variant_is_called_by_what_distinguishes_it(
    variants: list[dict[str, Any]], names: list[str]
) -> None:
    graph = SchemaGraph({"anyOf": variants, "$defs": DEFINITIONS})
    assert name_variants(graph.root.variants) == names
