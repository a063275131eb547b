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
        ({"type": "number", "x-mcp-header": "Region"}, {}),
        ({"type": ["string"], "x-mcp-header": "Region"}, {}),
        ({"type": "string", "x-mcp-header": "two words"}, {}),
        ({"type": "string", "x-mcp-header": "a\r\nHost: b"}, {}),
        ({"type": "string", "x-mcp-header": ""}, {}),
        ({"type": "string", "x-mcp-header": 1}, {}),
        (True, {}),
        (
            {"properties": {"b": {"type": "integer", "x-mcp-header": "B"}}},
            {("a", "b"): "B"},
        ),
        ({"items": {"type": "integer", "x-mcp-header": "B"}}, {}),
    ],
)
def test_names_are_tokens_of_single_values_below_properties(
    schema: Any, names: dict[tuple[str, ...], str]
) -> None:
    assert find_names({"properties": {"a": schema}}) == names


def test_schema_that_uses_a_name_twice_wants_no_headers() -> None:
    properties = {
        key: {"type": "string", "x-mcp-header": name} for key, name in (("a", "X"), ("b", "x"))
    }

    assert find_names({"properties": properties}) == {}


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


@pytest.mark.parametrize("line", [b"", b"x-mcp-header", b'{"x-mcp-header": 1}', b"[" * 100_000])
def test_list_that_cannot_be_read_is_left_alone(line: bytes) -> None:
    known = ParameterHeaders()
    known.read_list(line + b' "x-mcp-header"')

    assert known.make_headers(call("f", {})) == {}
