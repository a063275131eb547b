"""Values to choose from have one form, whichever keyword lists them."""

from __future__ import annotations

from typing import Any

import pytest
from toolwire_schemas.json_schema.choices import list_choices
from toolwire_schemas.json_schema.graph import SchemaGraph


@pytest.mark.parametrize(
    ("schema", "choices"),
    [
        ({"enum": ["a", 1, None]}, [("a", "a"), (1, "1"), (None, "null")]),
        ({"enum": [1, 2], "enumNames": ["one", "two"]}, [(1, "one"), (2, "two")]),
        ({"enum": [1, 2], "enumNames": ["one"]}, [(1, "1"), (2, "2")]),
        ({"enum": [1, 2], "enumNames": ["one", 2]}, [(1, "one"), (2, "2")]),
        ({"const": {"a": [1]}}, [({"a": [1]}, '{"a":[1]}')]),
        ({"oneOf": [{"const": 1, "title": "one"}, {"const": 2}]}, [(1, "one"), (2, "2")]),
        ({"anyOf": [{"const": "a"}, {"type": "string"}]}, []),
        ({"$ref": "#/$defs/Size"}, [("S", "S"), ("L", "L")]),
        ({"type": "string"}, []),
        (False, []),
    ],
)
def test_choices_have_a_value_and_a_label(schema: Any, choices: list[tuple[Any, str]]) -> None:
    graph = SchemaGraph({"a": schema, "$defs": {"Size": {"enum": ["S", "L"]}}})
    found = list_choices(graph.get_node(schema).resolved)
    assert [(choice.value, choice.label) for choice in found] == choices
