"""A client in Python: whatever a server says stays in its literals, and types take the values of
their schemas.
"""

from __future__ import annotations

import ast
import re
import sys
from types import ModuleType
from typing import Any, get_type_hints

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from support.examples import examples
from support.tool_entry_strategies import ENTRIES, HOSTILE, JSON, SAMPLES, Sample
from toolwire_dialects.typed_clients import generate

CALLED = {"TypedDict", "self._call", "self._value"}


def client(*entries: Any, head: list[str] | None = None) -> str:
    return generate("python", entries, command=["server"], head=head or [])


def mirror(schema: Any, **more: Any) -> dict[str, Any]:
    whole = {"type": "object", "properties": {"result": schema}, "required": ["result"], **more}
    return {"name": "mirror", "inputSchema": whole, "outputSchema": whole}


def hints_of(text: str, method: str = "mirror") -> dict[str, Any]:
    """Import the text, and return the types of a method's arguments and result.

    On older Pythons, pydantic wants the TypedDict of `typing_extensions`.
    """
    made = ModuleType("made")
    other = text.replace("\n\nCOMMAND", "\nfrom typing_extensions import TypedDict\n\nCOMMAND", 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "made", made)  # where names in types are looked up
        exec(compile(other, "made.py", "exec"), vars(made))
        hints = get_type_hints(getattr(made.Tools, method), include_extras=True)
        return {
            name: hint if name == "on_progress" else TypeAdapter(hint)
            for name, hint in hints.items()
        }


def check_structure(text: str) -> None:
    """Nothing of the text is code but classes, types, methods with one call each, and literals."""
    tree = ast.parse(text)
    for node in tree.body:
        match node:
            case ast.Expr(value=ast.Constant(value=str())) | ast.ImportFrom() | ast.ClassDef():
                pass
            case ast.AnnAssign(
                annotation=ast.Name(id="TypeAlias"), value=ast.Constant(value=str())
            ):
                pass
            case (
                ast.Assign(value=ast.List())
                | ast.Assign(value=ast.Call(func=ast.Name(id="TypedDict")))
            ):
                pass
            case _:
                raise AssertionError(ast.unparse(node))
    for node in ast.walk(tree):
        assert not isinstance(node, ast.Call) or ast.unparse(node.func) in CALLED
        assert not isinstance(
            node, ast.Lambda | ast.JoinedStr | ast.For | ast.While | ast.If | ast.Import
        )
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            said = [
                each
                for each in node.body
                if isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant)
            ]
            assert len(node.body) - len(said) == 1
    literal = lines_within_literals(tree)
    for number, line in enumerate(text.split("\n"), 1):
        assert (
            not line.lstrip().startswith("#") or line.lstrip().startswith("#:") or number in literal
        )


def lines_within_literals(tree: ast.AST) -> set[int]:
    """The numbers of the lines that begin within a text."""
    return {
        number
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        for number in range(node.lineno + 1, (node.end_lineno or node.lineno) + 1)
    }


@given(st.lists(ENTRIES | JSON, max_size=2), st.lists(st.sampled_from(HOSTILE), max_size=3))
@settings(max_examples=examples(150))
def test_whatever_a_server_says_stays_a_text(entries: list[Any], head: list[str]) -> None:
    check_structure(client(*entries, head=head))


@pytest.mark.parametrize(
    "text",
    [
        '"""\nimport os\n"""',
        "\\",
        '\\"""',
        "x\rimport os",
        "x\u2028import os",
        "type: ignore",
        "mypy: ignore-errors",
        "\ud800",
    ],
)
def test_a_text_that_would_break_out(text: str) -> None:
    schema = {
        "type": "object",
        "title": text,
        "description": text,
        "properties": {text: {"description": text}},
    }
    entry = {
        "name": text,
        "title": text,
        "description": text,
        "inputSchema": {"properties": {"a": schema, text: schema}},
    }
    made = client({**entry, "outputSchema": mirror({"enum": [text]})["outputSchema"]}, head=[text])
    check_structure(made)
    assert not re.search(r"#\s*(type|mypy):", re.sub(r'"""(.|\n)*?"""', "", made))
    made.encode("utf-8")


@given(SAMPLES)
@settings(max_examples=examples(200))
def test_a_type_takes_whatever_its_schema_takes(sample: Sample) -> None:
    hints = hints_of(client(mirror(sample.schema)))
    for hint in (hints["result"], hints["return"]):
        try:
            assert hint.validate_python(sample.value, strict=True) == sample.value
        except ValidationError as error:
            raise AssertionError(
                f"{hint} does not take {sample.value!r} of {sample.schema!r}"
            ) from error


def test_types_refuse_what_their_schema_refuses() -> None:
    point = {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}
    hint = hints_of(
        client(mirror({"type": "array", "items": {"anyOf": [{"enum": ["m"]}, point]}}))
    )["return"]
    hint.validate_python(["m", {"x": 1.5}], strict=True)
    for wrong in ("m", ["km"], [{}], [{"x": "1"}], [None]):
        with pytest.raises(ValidationError):
            hint.validate_python(wrong, strict=True)


def test_recursive_types_refer_to_themselves() -> None:
    tree = {"type": "array", "items": {"$ref": "#/$defs/Tree"}}
    text = client(mirror({"$ref": "#/$defs/Tree"}, **{"$defs": {"Tree": tree}}))
    assert 'Tree: TypeAlias = "list[Tree]"' in text
    assert "def mirror(" in text
    assert ") -> Tree:" in text


def test_names_that_python_cannot_have_are_replaced_and_sent_as_they_are() -> None:
    properties = {
        "class": {},
        "a-b": {},
        "self": {},
        "more": {},
        "__secret": {},
        "timeout_seconds": {},
    }
    text = client(
        {
            "name": "list",
            "inputSchema": {"properties": properties, "additionalProperties": {"type": "integer"}},
        }
    )
    assert "def list_(" in text
    assert "**more: int" in text
    for name, called in {
        "class": "class_",
        "a-b": "a_b",
        "self": "self_",
        "more": "more_",
        "__secret": "_secret",
        "timeout_seconds": "timeout_seconds_",
    }.items():
        assert f'"{name}": {called},' in text
        assert f" {called}: Any = ABSENT" in text
