"""A client in Python: `Tools(client).add(a=2, b=3)` on top of `toolwire_client`, blocking or
awaited.

Strategy. Types are those of `python_stub`, made true for values that come from JSON: arrays are
lists, and only texts, whole numbers and booleans are literals. Arguments are keywords, since their
order means nothing to a server. Comments start with `#:`, so that no tool takes one for an
instruction, as in `# type: ignore`.
"""

from __future__ import annotations

import keyword
import re
from textwrap import dedent
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from ..name_mapping import RULES, to_pascal_case, to_snake_case
from ..python_stub import indent_lines, quote_docstring, write_literal, write_type
from ..shapes import (
    ArrayShape,
    Definition,
    ObjectShape,
    Shape,
    UnionShape,
    ValuesShape,
    unite_shapes,
)
from ..shapes import read_as_kinds as as_kinds
from .plan import Naming
from .source_text import to_lines

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..name_mapping import NameRule
    from .plan import Field, Function, Plan

_TYPING = ("Any", "Literal", "Never", "NotRequired", "TypeAlias", "TypedDict")
_OURS = ("ABSENT", "AsyncTypedTools", "CallResult", "OnProgress", "TypedTools")
_BUILTINS = ("None", "bool", "dict", "float", "int", "list", "str")
_IN_TYPES = frozenset((*_BUILTINS, *_TYPING, *_OURS, "AsyncTools", "COMMAND", "Tools"))
_LINE = 100


def _make_name_rule(convention: Callable[[str], str], *reserved: str) -> NameRule:
    is_reserved = {*keyword.kwlist, "__debug__", *reserved}.__contains__
    return replace(RULES["python"], convention=convention, is_reserved=is_reserved)


def _make_public(name: str) -> str:
    """A name that Python does not change within a class."""
    if not name.endswith("__"):
        return re.sub("^__+", "_", name)
    return name


NAMING = Naming(
    functions=_make_name_rule(to_snake_case, *_BUILTINS),
    types=_make_name_rule(to_pascal_case),
    members=_make_name_rule(_make_public, "self", "on_progress", "timeout_seconds", "more"),
    taken_types=_IN_TYPES,
    names_objects=True,
    shares_names=True,
)
RUNTIME = ""
_ABOUT_COMMAND = '"""What starts the server, for `toolwire_client.connect`."""'


def write(plan: Plan, runtime: str | None) -> str:
    """Return the module: the server's command, types, and two classes with a method for each
    tool.
    """
    module = _Module(plan)
    parts = [f"COMMAND = {write_literal(plan.command)}\n{_ABOUT_COMMAND}"]
    parts += map(module.write_definition, plan.types)
    parts.append(module.write_tools("Tools", "TypedTools", "a `Client`", is_async=False))
    parts.append(
        module.write_tools("AsyncTools", "AsyncTypedTools", "an `AsyncClient`", is_async=True)
    )
    body = "\n\n\n".join(parts)
    head = dedent(quote_docstring("\n".join(["Typed tools of a server.", "", *plan.head])))
    return f"{head}\n\nfrom __future__ import annotations\n\n{module.write_imports()}\n\n{body}\n"


class _Module:
    """The parts of the module, and the names that they use."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._used = {"TypedTools", "AsyncTypedTools"}
        self._not_members = _IN_TYPES.union(each.name for each in plan.types)
        self._nulls = {"None"}

    def write_imports(self) -> str:
        own = [name for name in _OURS if name in self._used and name != "CallResult"]
        lines = []
        if "CallResult" in self._used:
            lines.append("from toolwire_client import CallResult")
        lines.append(f"from toolwire_client.typed import {', '.join(own)}")
        typing = [name for name in _TYPING if name in self._used]
        if typing:
            # The standard library is a group of its own.
            lines = [f"from typing import {', '.join(typing)}", "", *lines]
        return "\n".join(lines)

    def write_definition(self, definition: Definition) -> str:
        shape = definition.shape
        if not isinstance(shape, ObjectShape) or not shape.members:
            return self._alias(definition)
        self._used.add("TypedDict")
        fields = self._plan.plan_fields(shape)
        if all(map(self._may_be_member, fields)):
            return self._write_class(definition, fields)
        return self._write_typed_dict(definition, fields)

    def _alias(self, definition: Definition) -> str:
        self._used.add("TypeAlias")
        kind = self._write_type(definition.shape)
        if kind in self._nulls:
            self._nulls.add(definition.name)
        # In quotes, since a type may contain others below it, or itself.
        alias = f"{definition.name}: TypeAlias = {write_literal(kind)}"
        docs = dedent(quote_docstring("\n".join(to_lines(definition.description))))
        return _join_lines(alias, docs)

    def _may_be_member(self, field: Field) -> bool:
        """Whether a class may have the member's own name."""
        return field.name == field.wire_name and field.name not in self._not_members

    def _write_class(self, definition: Definition, fields: list[Field]) -> str:
        lines = [f"class {definition.name}(TypedDict):"]
        docs = to_lines(definition.description)
        if docs:
            lines += [quote_docstring("\n".join(docs)), ""]
        for field in fields:
            kind = self._write_member_type(field, self._write_type(field.shape))
            lines += map(indent_lines, [*_comment(field.docs), f"{field.name}: {kind}"])
        return "\n".join(lines)

    def _write_typed_dict(self, definition: Definition, fields: list[Field]) -> str:
        lines = _comment(to_lines(definition.description))
        lines += [f"{definition.name} = TypedDict(", f'    "{definition.name}",', "    {"]
        for field in fields:
            # In quotes: names in a call are looked up when it runs.
            kind = self._write_member_type(field, write_literal(self._write_type(field.shape)))
            member = f"{write_literal(field.wire_name)}: {kind},"
            lines += [indent_lines(indent_lines(line)) for line in (*_comment(field.docs), member)]
        return "\n".join([*lines, "    },", ")"])

    def _write_member_type(self, field: Field, kind: str) -> str:
        if field.is_required:
            return kind
        self._used.add("NotRequired")
        return f"NotRequired[{kind}]"

    def write_tools(self, name: str, base: str, client: str, *, is_async: bool) -> str:
        docs = (
            f"The tools of the server, called by {client}. A tool that fails raises `ToolFailed`."
        )
        parts = [f"class {name}({base}):\n{quote_docstring(docs)}"]
        for function in self._plan.functions:
            parts.append(self._write_method(function, is_async=is_async))
        return "\n\n".join(parts)

    def _write_method(self, function: Function, *, is_async: bool) -> str:
        returned = "CallResult"
        if function.result is not None:
            returned = self._write_type(function.result)
        self._used.add(returned)
        fields = self._plan.plan_fields(function.arguments)
        start = f"def {function.name}("
        if is_async:
            start = f"async {start}"
        parameters = ["self", "*", *self._write_parameters(function, fields)]
        head = _join_parts(start, parameters, f") -> {returned}:")
        docs = quote_docstring(_write_docstring(function, fields))
        body = indent_lines(self._call(function, fields, returned, is_async=is_async))
        return indent_lines(_join_lines(head, docs, body))

    def _write_parameters(self, function: Function, fields: list[Field]) -> list[str]:
        parameters = []
        for field in fields:
            parameter = f"{field.name}: {self._write_type(field.shape)}"
            if not field.is_required:
                self._used.add("ABSENT")
                parameter += " = ABSENT"
            parameters.append(parameter)
        self._used.add("OnProgress")
        parameters.append("on_progress: OnProgress | None = None")
        parameters.append("timeout_seconds: float | None = None")
        if function.arguments.rest is not None:
            parameters.append(f"**more: {self._write_type(function.arguments.rest)}")
        return parameters

    def _call(
        self, function: Function, fields: list[Field], returned: str, *, is_async: bool
    ) -> str:
        members = [f"{write_literal(field.wire_name)}: {field.name}" for field in fields]
        if function.arguments.rest is not None:
            members.append("**more")
        arguments = [write_literal(function.wire_name), _join_parts("{", members, "}")]
        arguments += ["on_progress", "timeout_seconds"]
        has_value = function.result is not None and returned not in self._nulls
        call = "self._call("
        if has_value:
            call = "self._value("
            if function.is_wrapped:
                arguments.append("is_wrapped=True")
        if is_async:
            call = f"await {call}"
        if returned not in self._nulls:
            call = f"return {call}"
        return _join_parts(call, arguments, ")")

    def _write_type(self, shape: Shape) -> str:
        made = write_type(_widen_shape(shape))
        self._used.update(re.findall(r"\w+", made))
        return made


def _widen_shape(shape: Shape) -> Shape:
    """*shape* as it is for values that come from JSON."""
    match shape:
        case ArrayShape(first=first, rest=rest):
            items = [_widen_shape(item) for item in first]
            if rest is not None:
                items.append(_widen_shape(rest))
            return ArrayShape([], unite_shapes(items))
        case ValuesShape(values=values):
            return _widen_values(values)
        case UnionShape(parts=parts):
            return unite_shapes([*map(_widen_shape, parts)])
        case ObjectShape(members=[], rest=rest) if rest is not None:
            return ObjectShape([], _widen_shape(rest))
    return shape


def _widen_values(values: list[Any]) -> Shape:
    """Return literals for texts, whole numbers and booleans, and the types of other *values*."""
    literals: list[Any] = []
    others: list[Any] = []
    for value in values:
        if isinstance(value, str | int | None):
            literals.append(value)
        else:
            others.append(value)
    kinds = as_kinds(ValuesShape(others))
    if not literals:
        return unite_shapes([kinds])
    return unite_shapes([ValuesShape(literals), kinds])


def _write_docstring(function: Function, fields: list[Field]) -> str:
    lines = [*function.docs]
    documented = [field for field in fields if field.docs]
    if documented:
        lines += ["", "Args:"]
    for field in documented:
        docs = indent_lines(" ".join(field.docs)).lstrip()
        lines.append(indent_lines(f"{field.name}: {docs}"))
    return "\n".join(lines).strip("\n")


def _join_lines(*parts: str) -> str:
    """Return the *parts* that say something, one below the other."""
    return "\n".join(filter(None, parts))


def _comment(said: list[str]) -> list[str]:
    return [f"#: {line}".rstrip() for line in said]


def _join_parts(start: str, parts: list[str], end: str) -> str:
    """The text on one line, or each of *parts* on its own."""
    line = f"{start}{', '.join(parts)}{end}"
    if len(line) <= _LINE and "\n" not in line:
        return line
    return "\n".join([start, *(f"{indent_lines(part)}," for part in parts), end])
