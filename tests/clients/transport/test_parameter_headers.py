"""Arguments are repeated in headers only where a tool's schema asks for it in a valid way."""

from __future__ import annotations

import json
from typing import Any

import pytest
from toolwire_client.transport.http_messages import Outgoing
from toolwire_client.transport.parameter_headers import ParameterHeaders, find_names


@pytest.mark.parametrize(
    ("schema", "names"),
    [
        ({"type": "string", "x-mcp-header": "Region"}, {("a",): "Region"}),
        ({"type": "boolean", "x-mcp-header": "A-1"}, {("a",): "A-1"}),
        ({"type": "number", "x-mcp-header": "Region"}, None),
        ({"type": ["string"], "x-mcp-header": "Region"}, None),
        ({"type": "string", "x-mcp-header": "two words"}, None),
        ({"type": "string", "x-mcp-header": "a\r\nHost: b"}, None),
        ({"type": "string", "x-mcp-header": ""}, None),
        ({"type": "string", "x-mcp-header": 1}, None),
        (True, {}),
        ({"default": {"x-mcp-header": "a"}, "properties": {"x-mcp-header": {}}}, {}),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"type": "string", "x-mcp-header": "A"}}}, None),
        (
            {"properties": {"b": {"type": "integer", "x-mcp-header": "B"}}},
            {("a", "b"): "B"},
        ),
        ({"items": {"type": "integer", "x-mcp-header": "B"}}, None),
    ],
)
def test_names_are_tokens_of_single_values_below_properties(
    schema: Any, names: dict[tuple[str, ...], str] | None
) -> None:
    assert find_names({"properties": {"a": schema}}) == names


def test_schema_that_uses_a_name_twice_is_invalid() -> None:
    properties = {
        key: {"type": "string", "x-mcp-header": name} for key, name in (("a", "X"), ("b", "x"))
    }

    assert find_names({"properties": properties}) is None


def call(name: str, arguments: Any) -> Outgoing:
    message = {"method": "tools/call", "params": {"name": name, "arguments": arguments}}
    return Outgoing(json.dumps(message).encode(), method="tools/call")


def list_line(*tools: dict[str, Any]) -> bytes:
    return json.dumps({"result": {"tools": tools}}).encode()


@pytest.mark.parametrize(
    ("value", "headers"),
    [
        ("eu", {"mcp-param-R": "eu"}),
        ("z\u00fcrich", {"mcp-param-R": "=?base64?esO8cmljaA==?="}),
        ("a\nb", {"mcp-param-R": "=?base64?YQpi?="}),
        (7, {"mcp-param-R": "7"}),
        (True, {"mcp-param-R": "true"}),
        (None, {}),
        ([1], {}),
        (1.5, {}),
    ],
)
def test_values_are_encoded_as_in_other_headers(value: Any, headers: dict[str, str]) -> None:
    known = ParameterHeaders()
    schema = {"properties": {"r": {"type": "string", "x-mcp-header": "R"}}}
    known.read_list(list_line({"name": "f", "inputSchema": schema}))

    assert known.make_headers(call("f", {"r": value})) == headers
    assert known.make_headers(call("g", {"r": value})) == {}


def test_new_list_takes_the_place_of_the_old_one() -> None:
    known = ParameterHeaders()
    schema = {"properties": {"r": {"type": "string", "x-mcp-header": "R"}}}
    known.read_list(list_line({"name": "f", "inputSchema": schema}))
    known.read_list(list_line({"name": "f", "inputSchema": {}}))

    assert known.make_headers(call("f", {"r": "eu"})) == {}


def test_tools_with_invalid_annotations_are_left_out_and_named_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    known = ParameterHeaders()
    invalid = {"properties": {"r": {"type": "number", "x-mcp-header": "R"}}}
    valid = {"properties": {"r": {"type": "string", "x-mcp-header": "R"}}}
    tool = b'{"name":"good","size":1.50,"inputSchema":' + json.dumps(valid).encode() + b"}"
    line = list_line({"name": "bad\x1b", "inputSchema": invalid}, {"name": "place"}).replace(
        b'{"name": "place"}', tool
    )

    for _ in range(2):
        assert known.read_list(line) == b'{"result":{"tools":[' + tool + b"]}}"
    assert known.make_headers(call("good", {"r": "eu"})) == {"mcp-param-R": "eu"}
    (record,) = caplog.records
    assert record.getMessage().endswith(r"x-mcp-header annotations are invalid: bad\u001b")
    assert ParameterHeaders(keeps_all=True).read_list(line) == line


def test_deep_schema_is_read() -> None:
    schema: dict[str, Any] = {"type": "string", "x-mcp-header": "R"}
    for _ in range(2_000):
        schema = {"properties": {"a": schema}}

    assert find_names(schema) == {("a",) * 2_000: "R"}


@pytest.mark.parametrize("line", [b"", b"x-mcp-header", b'{"x-mcp-header": 1}', b"[" * 100_000])
def test_list_that_cannot_be_read_is_left_alone(line: bytes) -> None:
    known = ParameterHeaders()
    line += b' "x-mcp-header"'

    assert known.read_list(line) == line
    assert known.make_headers(call("f", {})) == {}
