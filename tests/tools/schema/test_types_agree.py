"""Schema, acceptance and conversion agree, for any type and any value; jsonschema is the judge."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator, Draft202012Validator
from support.examples import examples
from support.type_strategies import FORMATS, HINTS, fitting
from toolwire_schemas.portability import lint
from toolwire_tools.errors import ArgumentsError
from toolwire_tools.signature import Signature, read_signature
from toolwire_tools.signature.arguments import Arguments


def accepts(arguments: Arguments, value: Any) -> bool:
    try:
        arguments.bind(value, strict=True)
    except ArgumentsError:
        return False
    return True


def tool_of(hint: Any) -> Signature:
    def tool(x: Any) -> Any: ...

    tool.__annotations__ = {"x": hint, "return": hint}
    return read_signature(tool, tool="tool")


@settings(max_examples=examples(200), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_what_the_schema_accepts_is_read_and_what_it_refuses_is_refused(
    data: st.DataObject,
) -> None:
    hint = data.draw(HINTS, "hint")
    found = tool_of(hint)
    schema = found.arguments.input_schema
    Draft202012Validator.check_schema(schema)
    assert [finding for finding in lint("tool", schema) if finding.severity != "note"] == []
    value = data.draw(fitting(schema, schema), "arguments")
    judge = Draft202012Validator(schema, format_checker=FORMATS)
    assert accepts(found.arguments, value) == judge.is_valid(value)


@settings(max_examples=examples(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_what_was_read_can_be_returned_and_read_again(data: st.DataObject) -> None:
    hint = data.draw(HINTS, "hint")
    found = tool_of(hint)
    schema = found.arguments.input_schema
    arguments = data.draw(fitting(schema, schema), "arguments")
    try:
        value = found.arguments.bind(arguments)[1]["x"]
    except ArgumentsError:
        return
    plain = found.returns.builtins(value)
    assert json.loads(json.dumps(plain, allow_nan=False)) == plain
    if found.returns.output_schema is not None:
        sent = {"result": plain} if found.returns.wraps else plain
        for dialect in (Draft202012Validator, Draft7Validator):
            dialect(found.returns.output_schema, format_checker=FORMATS).validate(sent)
    if found.returns.kind == "structured":
        again = found.arguments.bind({"x": plain})[1]["x"]
        assert found.returns.builtins(again) == plain
