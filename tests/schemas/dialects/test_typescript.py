"""TypeScript declarations, as they read. That they compile is asked of the compiler itself, among
the interop tests.
"""

from __future__ import annotations

from typing import Any

import pytest
from toolwire_dialects import typescript

TREE = {
    "name": "Map.plant",
    "description": "Plant a tree,\nsomewhere.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "tree": {"$ref": "#/$defs/Tree"},
            "kind": {
                "enum": ["oak", "elm", None],
                "default": "oak",
                "description": "which */ kind",
            },
            "filter[id]": {"type": "integer", "minimum": 1},
        },
        "required": ["tree"],
        "additionalProperties": True,
        "$defs": {
            "Tree": {
                "type": "object",
                "description": "A tree.",
                "properties": {
                    "height": {"type": "number"},
                    "of": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
                },
                "required": ["height"],
            }
        },
    },
    "outputSchema": {
        "type": "object",
        "properties": {"result": {"type": "boolean"}},
        "required": ["result"],
    },
}


def test_a_declaration_says_what_there_is_to_say() -> None:
    assert typescript.from_entry(TREE).splitlines() == [
        "/** A tree. */",
        "export interface Tree { height: number; of?: Tree[] }",
        "",
        "/**",
        " * Plant a tree,",
        " * somewhere.",
        ' * Tool "Map.plant".',
        " */",
        "export declare function Map_plant(args: {",
        "  tree: Tree;",
        '  /** which *\\/ kind (default: "oak") */',
        '  kind?: "oak" | "elm" | null;',
        "  /** (minimum: 1) */",
        '  "filter[id]"?: number;',
        "  [key: string]: unknown;",
        "}): Promise<boolean>;",
    ]


def test_a_tool_that_says_little_takes_a_line() -> None:
    tools = [
        {"name": "ping", "inputSchema": {"type": "object"}},
        {"name": "delete", "inputSchema": {"properties": {"id": {}}}},
    ]
    assert (
        typescript.from_entries(tools)
        == 'export declare function ping(): Promise<unknown>;\n\n/** Tool "delete". */\nexport'
        " declare function delete_(args?: { id?: unknown }): Promise<unknown>;"
    )


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "array", "items": {"type": ["string", "null"]}}, "(string | null)[]"),
        ({"type": "array", "items": {"enum": ["a"]}}, '("a")[]'),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "Record<string, string>"),
        ({"$ref": "#/$defs/Json"}, "Json"),
        ({"allOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]}, "{ a?: unknown; b?: unknown }"),
        (
            {"type": "array", "prefixItems": [{}], "items": {"enum": [1, 2]}},
            "[unknown, ...(1 | 2)[]]",
        ),
        ({"const": {"a": [1, {}]}}, '{ "a": [1, Record<string, never>] }'),
        (False, "never"),
    ],
)
def test_types(schema: Any, expected: str) -> None:
    definitions = {
        "A": {"type": "object", "properties": {"a": {}}},
        "B": {"type": "object", "properties": {"b": {}}},
        "Json": {
            "anyOf": [
                {"type": "string"},
                {"type": "object", "additionalProperties": {"$ref": "#/$defs/Json"}},
            ]
        },
    }
    entry = {
        "name": "f",
        "inputSchema": {"properties": {"x": {"items": schema}}, "$defs": definitions},
    }
    *types, function = typescript.from_entry(entry).split("\n\n")
    written = function.removeprefix("export declare function f(args?: { x?: ").removesuffix(
        "[] }): Promise<unknown>;"
    )
    assert written in (expected, f"({expected})")
    if expected == "Json":
        assert types == ["export type Json = string | { [key: string]: Json };"]


def test_no_definition_consists_of_itself() -> None:
    one = {"anyOf": [{"$ref": "#/$defs/B"}, {"type": "string"}]}
    other = {
        "anyOf": [
            {"type": "object", "properties": {"x": {"$ref": "#/$defs/A"}}},
            {"$ref": "#/$defs/A"},
        ]
    }
    entry = {
        "name": "f",
        "inputSchema": {
            "properties": {"b": {"$ref": "#/$defs/B"}},
            "$defs": {"A": one, "B": other},
        },
    }
    assert typescript.from_entry(entry).split("\n\n")[:2] == [
        "export type A = unknown;",
        "export type B = { x?: A } | A;",
    ]


def test_objects_with_parts_that_double_at_each_level_are_read() -> None:
    definitions: dict[str, Any] = {name: {"properties": {name: {}}} for name in ("L0", "K0")}
    for level in range(1, 40):
        parts = {"allOf": [{"$ref": f"#/$defs/L{level - 1}"}, {"$ref": f"#/$defs/K{level - 1}"}]}
        definitions |= {
            f"{letter}{level}": {**parts, "properties": {f"{letter}{level}": {}}} for letter in "LK"
        }
    entry = {
        "name": "f",
        "inputSchema": {"properties": {"x": {"$ref": "#/$defs/L39"}}, "$defs": definitions},
    }
    assert typescript.from_entry(entry).endswith(
        "export declare function f(args?: { x?: L39 }): Promise<unknown>;"
    )


def test_nothing_in_a_comment_speaks_to_the_compiler() -> None:
    entry = {"name": "f", "description": "@ts-expect-error\n*/ evil(); /*\r\x00", "inputSchema": {}}
    comment, _, rest = typescript.from_entry(entry).partition("export")
    assert comment.count("*/") == 1
    assert "@ts-expect-error" not in comment
    assert comment.isascii() is False
    assert rest == " declare function f(): Promise<unknown>;"
