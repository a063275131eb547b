"""What is known against tools, and who minds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from toolwire_dialects.lint.audit import audit
from toolwire_dialects.lint.vendors import MAX_TOOLS
from toolwire_schemas.portability import Severity

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
WORDS = st.sampled_from(
    [
        "type",
        "properties",
        "required",
        "enum",
        "items",
        "anyOf",
        "$ref",
        "$defs",
        "pattern",
        "format",
        "not",
        "$schema",
    ]
)
SCHEMAS = st.recursive(
    JSON | st.sampled_from(["object", "array", "#/$defs/x", "("]),
    lambda inner: st.dictionaries(
        WORDS | st.text(max_size=2), inner | st.lists(inner, max_size=2), max_size=4
    ),
    max_leaves=8,
)
MEMBERS = st.sampled_from(
    ["name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons", "_meta"]
)
ENTRIES = JSON | st.dictionaries(MEMBERS, SCHEMAS, max_size=6)


def tool(name: str = "add", **members: Any) -> dict[str, Any]:
    return {"name": name, "description": "Adds.", "inputSchema": {"type": "object"}, **members}


def with_parameter(schema: Any, name: str = "x") -> dict[str, Any]:
    described = {"description": "What it is.", **schema} if isinstance(schema, dict) else schema
    return tool(
        inputSchema={
            "type": "object",
            "properties": {name: described},
            "required": [name],
            "additionalProperties": False,
        }
    )


def found(entries: list[Any], *severities: Severity) -> list[tuple[str, str, str]]:
    return [
        (finding.tool, finding.where, finding.severity)
        for finding in audit(entries)
        if finding.severity in (severities or ("error", "warning"))
    ]


def who(entries: list[Any], where: str) -> str:
    return ", ".join(finding.concerns for finding in audit(entries) if finding.where == where)


def test_a_plain_tool_is_fine_everywhere() -> None:
    assert audit([with_parameter({"type": "string"})]) == []


@pytest.mark.parametrize(
    ("entry", "where", "severity"),
    [
        (None, "", "error"),
        ({"name": 5, "description": "x", "inputSchema": {"type": "object"}}, "name", "error"),
        (tool(""), "name", "error"),
        (tool("get weather"), "name", "warning"),
        (tool("Toolkit.add"), "name", "warning"),
        (tool("a" * 65), "name", "warning"),
        ({"name": "add", "inputSchema": {"type": "object"}}, "description", "warning"),
        (tool(description=" "), "description", "warning"),
        (tool(description="a" * 1025), "description", "warning"),
        (tool(description=None), "description", "error"),
        (tool(title=None), "title", "error"),
        (tool(outputSchema=None), "outputSchema", "error"),
        (tool(annotations={"readOnlyHint": "yes"}), "annotations.readOnlyHint", "error"),
        (tool(annotations={"title": None}), "annotations.title", "error"),
        (
            tool(icons=[{"src": "https://example.com/", "sizes": "48x48"}]),
            "icons[0].sizes",
            "error",
        ),
        (tool(icons=["https://example.com/"]), "icons[0]", "error"),
        ({"name": "add", "description": "Adds."}, "inputSchema", "error"),
        (
            tool(inputSchema={"type": "object", "oneOf": [{"type": "object"}]}),
            "inputSchema.oneOf",
            "error",
        ),
        (tool(inputSchema={"type": "object", "required": None}), "inputSchema.required", "error"),
        (tool(outputSchema={"type": "object", "$ref": "#/$defs/Gone"}), "outputSchema", "error"),
        (with_parameter({"type": "int"}), "inputSchema.properties.x.type", "error"),
        (with_parameter({"type": "array"}), "inputSchema.properties.x", "error"),
        (with_parameter({"$ref": "#/$defs/Gone"}), "inputSchema.properties.x", "error"),
        (
            with_parameter({"type": "string", "pattern": "(?P<a>b)"}),
            "inputSchema.properties.x.pattern",
            "error",
        ),
        (with_parameter(True), "inputSchema.properties.x", "error"),
        (with_parameter({"type": ["string", "null"]}), "inputSchema.properties.x", "warning"),
        (
            with_parameter({"type": "string"}, name="filter[x]"),
            "inputSchema.properties.filter[x]",
            "error",
        ),
        (with_parameter({"type": "string", "enum": []}), "inputSchema.properties.x", "warning"),
        (tool(inputSchema={"type": "object", "required": ["gone"]}), "inputSchema", "warning"),
        (tool(description="Adds.", _meta={"x": "y" * 10_000}), "", "warning"),
    ],
)
def test_what_is_refused_somewhere_is_found(entry: Any, where: str, severity: str) -> None:
    findings = audit([entry])
    assert (where, severity) in [(finding.where, finding.severity) for finding in findings]
    assert all(finding.problem and finding.remedy and finding.concerns for finding in findings)


@pytest.mark.parametrize(
    ("entry", "where", "concerns"),
    [
        (tool("Toolkit.add"), "name", "OpenAI, Anthropic, Amazon Bedrock"),
        (tool("a b"), "name", "MCP since 2025-11-25, OpenAI, Anthropic, Amazon Bedrock, Gemini"),
        (tool("a" * 100), "name", "OpenAI, Amazon Bedrock, Gemini"),
        (tool("a" * 55), "name", "Cursor"),
        (tool("1st"), "name", "Vertex AI"),
        (tool(inputSchema={"type": "object", "not": {}}), "inputSchema.not", "OpenAI"),
        (with_parameter({"type": "string", "format": "uuid"}), "inputSchema", "Gemini"),
        (with_parameter({"const": 1}), "inputSchema", "Gemini"),
        (with_parameter({"type": "string"}, name="a.b"), "inputSchema.properties.a.b", "Vertex AI"),
    ],
)
def test_a_finding_says_whom_it_concerns(entry: Any, where: str, concerns: str) -> None:
    assert who([entry], where) == concerns


def test_what_matters_in_a_strict_mode_only_is_one_note() -> None:
    schema = {
        "type": "object",
        "properties": {"x": {"type": "string", "description": "X."}, "y": {"type": "string"}},
    }
    (silent, strict) = audit([tool(inputSchema=schema)])
    assert (silent.severity, "y" in silent.problem, "x" in silent.problem.split()[-1]) == (
        "note",
        True,
        False,
    )
    assert (strict.severity, strict.concerns) == ("note", "OpenAI's strict mode")


def test_references_that_recur_are_a_note_and_not_followed() -> None:
    node = {
        "type": "object",
        "properties": {"next": {"$ref": "#/$defs/Node"}},
        "additionalProperties": False,
    }
    schema = {
        "type": "object",
        "properties": {"node": {"$ref": "#/$defs/Node"}},
        "$defs": {"Node": node},
    }
    assert found([tool(inputSchema=schema)]) == []


def test_names_are_compared_as_hosts_write_them() -> None:
    assert found([tool("a_b"), tool("a_b")], "error") == [("a_b", "name", "error")]
    assert found([tool("Add"), tool("add")]) == [("add", "name", "warning")]
    assert ("a_b", "name", "warning") in found([tool("a-b"), tool("a_b")])


def test_many_and_large_tools_are_too_much() -> None:
    assert found([tool(f"t{number}") for number in range(MAX_TOOLS)]) == []
    assert found([tool(f"t{number}") for number in range(MAX_TOOLS + 1)]) == [("", "", "warning")]
    assert ("", "", "warning") in found([tool(f"t{n}", description="a" * 1000) for n in range(100)])


def test_errors_come_first() -> None:
    entries = [tool("a.b"), with_parameter({"type": "array"})]
    assert found(entries, "error", "warning", "note")[0][2] == "error"


def test_a_schema_nested_without_end_is_one_finding() -> None:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(5000):
        schema = {"type": "object", "properties": {"x": schema}}
    assert found([tool(inputSchema=schema), tool("b", description="")]) == [
        ("add", "", "error"),
        ("b", "description", "warning"),
    ]


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(ENTRIES, max_size=3))
def test_anything_a_server_may_send_is_judged(entries: list[Any]) -> None:
    for finding in audit(entries):
        assert finding.problem
        assert finding.remedy


def test_a_finding_in_words_says_what_it_is_about() -> None:
    def first_words(tools: list[Any], severity: Severity) -> set[str]:
        return {
            str(finding).partition(":")[0]
            for finding in audit(tools)
            if finding.severity == severity
        }

    many = [
        {"name": f"t{number}", "inputSchema": {"type": "object"}} for number in range(MAX_TOOLS + 1)
    ]
    assert "all tools" in first_words(many, "warning")
    assert first_words([{"name": "", "inputSchema": {"type": "object"}}], "error") == {
        "tool '#1', name"
    }
