from __future__ import annotations

from typing import Any

import pytest
from toolwire_schemas.portability import lint

FINE = {"type": "object", "properties": {}, "additionalProperties": False}


def with_property(schema: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"x": schema}}


def found(name: str, schema: Any) -> list[tuple[str, str]]:
    return [(finding.where, finding.severity) for finding in lint(name, schema)]


@pytest.mark.parametrize(
    ("name", "severities"),
    [
        ("add", []),
        ("a" * 64, []),
        ("a" * 65, ["warning"]),
        ("a" * 129, ["warning"]),
        ("", ["error"]),
        ("größe", ["warning"]),
        ("a b", ["warning"]),
        ("Toolkit.add", ["note"]),
        ("a-b_c", []),
    ],
)
def test_names(name: str, severities: list[str]) -> None:
    assert [severity for _, severity in found(name, FINE)] == severities


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ([], [("inputSchema", "error")]),
        ({"type": "array"}, [("inputSchema", "error")]),
        ({"type": "object", "anyOf": [{"type": "object"}]}, [("inputSchema.anyOf", "warning")]),
        ({"type": "object", "$schema": "http://json-schema.org/draft-07/schema#"}, []),
        ({"type": "object", "$schema": "https://json-schema.org/draft/2020-12/schema"}, []),
        ({"type": "object", "$schema": "https://example.com/"}, [("inputSchema.$schema", "error")]),
        ({"type": "object", "additionalProperties": True}, []),
        (
            {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
            [("inputSchema.additionalProperties", "warning")],
        ),
        (with_property(True), [("inputSchema.properties.x", "error")]),
        (with_property({}), [("inputSchema.properties.x", "note")]),
        (with_property({"type": ["string", "null"]}), [("inputSchema.properties.x", "warning")]),
        (
            with_property({"type": "array", "items": False}),
            [("inputSchema.properties.x.items", "error")],
        ),
        (with_property({"$ref": "https://example.com/"}), [("inputSchema.properties.x", "error")]),
        (with_property({"$ref": "#/$defs/X"}), []),
        (
            with_property({"type": "string", "pattern": "(?P<a>b)"}),
            [("inputSchema.properties.x.pattern", "error")],
        ),
        (with_property({"type": "string", "pattern": "^a$"}), []),
        (
            with_property({"anyOf": [{"type": "string", "pattern": "\\Aa"}]}),
            [("inputSchema.properties.x.anyOf[0].pattern", "error")],
        ),
        (
            with_property({"type": "object", "patternProperties": {"\\Z": {"type": "null"}}}),
            [("inputSchema.properties.x.patternProperties.\\Z", "error")],
        ),
        (with_property({"type": "string", "default": True, "enum": ["a"], "examples": [True]}), []),
    ],
)
def test_schemas(schema: Any, expected: list[tuple[str, str]]) -> None:
    assert found("tool", schema) == expected


def test_output_schemas_are_walked_too_and_errors_come_first() -> None:
    findings = lint("a.b", with_property({"type": ["null"]}), with_property(True))
    assert [(finding.where, finding.severity) for finding in findings] == [
        ("outputSchema.properties.x", "error"),
        ("inputSchema.properties.x", "warning"),
        ("name", "note"),
    ]
    assert all(finding.tool == "a.b" and finding.remedy for finding in findings)
