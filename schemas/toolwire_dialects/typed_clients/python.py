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
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..name_mapping import RULES, pascal, snake
from ..python_stub import indented, literal, quoted, type_of
from ..shapes import ArrayShape, Definition, ObjectShape, Shape, UnionShape, ValuesShape, one_of
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


def _rule(convention: Callable[[str], str], *reserved: str) -> NameRule:
    is_reserved = {*keyword.kwlist, "__debug__", *reserved}.__contains__
    return replace(RULES["python"], convention=convention, is_reserved=is_reserved)


def _public(name: str) -> str:
    """A name that Python does not change within a class."""
    if not name.endswith("__"):
        return re.sub("^__+", "_", name)
    return name


NAMING = Naming(
    functions=_rule(snake, *_BUILTINS),
    types=_rule(pascal),
    members=_rule(_public, "self", "on_progress", "timeout_seconds", "more"),
    taken_types=_IN_TYPES,
    names_objects=True,
    shares_names=True,
)
RUNTIME = ""


def write(plan: Plan, runtime: str | None) -> str:
    """Return the module: the server's command, types, and two classes with a method for each
    tool.
    """
    module = _Module(plan)
    body = "\n\n\n".join(
        [
            (
                f'COMMAND = {literal(plan.command)}\n"""What starts the server, for'
                ' `toolwire_client.connect`."""'
            ),
            *map(module.definition, plan.types),
            module.tools("Tools", "TypedTools", "a `Client`", ""),
            module.tools("AsyncTools", "AsyncTypedTools", "an `AsyncClient`", "async "),
        ]
    )
    head = dedent(quoted("\n".join(["Typed tools of a server.", "", *plan.head])))
    return f"{head}\n\nfrom __future__ import annotations\n\n{module.imports()}\n\n{body}\n"


class _Module:
    """The parts of the module, and the names that they use."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._used = {"TypedTools", "AsyncTypedTools"}
        self._not_members = _IN_TYPES.union(each.name for each in plan.types)
        self._nulls = {"None"}

    def imports(self) -> str:
        own = [name for name in _OURS if name in self._used and name != "CallResult"]
        origins = {
            "typing": [name for name in _TYPING if name in self._used],
            "toolwire_client": ["CallResult"] if "CallResult" in self._used else [],
            "toolwire_client.typed": own,
        }
        made = [
            f"from {origin} import {', '.join(names)}" for origin, names in origins.items() if names
        ]
        return (
            ("\n\n" if made[0].startswith("from typing") else "\n")
            .join([made[0], "\n".join(made[1:])])
            .rstrip()
        )

    def definition(self, definition: Definition) -> str:
        name, shape = definition.name, definition.shape
        said = to_lines(definition.description)
        if not isinstance(shape, ObjectShape) or not shape.members:
            # In quotes, since a type may contain others below it, or itself.
            self._used.add("TypeAlias")
            kind = self._type(shape)
            self._nulls |= {name} if kind in self._nulls else set()
            made = f"{name}: TypeAlias = {literal(kind)}"
            return "\n".join([made, *([dedent(quoted("\n".join(said)))] if said else [])])
        self._used.add("TypedDict")
        fields = self._plan.fields(shape)
        if all(
            field.name == field.wire_name and field.name not in self._not_members
            for field in fields
        ):
            body = [self._field(field, f"{field.name}: ", "") for field in fields]
            about = [quoted("\n".join(said)), ""] if said else []
            return "\n".join([f"class {name}(TypedDict):", *about, *body])
        body = [self._field(field, f"{literal(field.wire_name)}: ", '"') for field in fields]
        start = [
            f"{name} = TypedDict(",
            f'    "{name}",',
            "    {",
            *(f"{indented(each)}," for each in body),
        ]
        return "\n".join([*_comment(said), *start, "    },", ")"])

    def _field(self, field: Field, start: str, quote: str) -> str:
        made = self._type(field.shape)
        made = literal(made) if quote else made
        self._used |= set() if field.is_required else {"NotRequired"}
        return indented(
            "\n".join(
                [
                    *_comment(field.docs),
                    start + (made if field.is_required else f"NotRequired[{made}]"),
                ]
            )
        )

    def tools(self, name: str, base: str, client: str, way: str) -> str:
        said = quoted(
            f"The tools of the server, called by {client}. A tool that fails raises `ToolFailed`."
        )
        return "\n\n".join(
            [
                f"class {name}({base}):\n{said}",
                *(self._method(each, way) for each in self._plan.functions),
            ]
        )

    def _method(self, function: Function, way: str) -> str:
        fields = self._plan.fields(function.arguments)
        parameters = [
            f"{field.name}: {self._type(field.shape)}{'' if field.is_required else ' = ABSENT'}"
            for field in fields
        ]
        parameters += [
            "on_progress: OnProgress | None = None",
            "timeout_seconds: float | None = None",
        ]
        sent = [f"{literal(field.wire_name)}: {field.name}" for field in fields]
        if function.arguments.rest is not None:
            parameters.append(f"**more: {self._type(function.arguments.rest)}")
            sent.append("**more")
        self._used |= {
            "OnProgress",
            *([] if all(field.is_required for field in fields) else ["ABSENT"]),
        }
        returned = "CallResult"
        if function.result is not None:
            returned = self._type(function.result)
        self._used.add(returned)
        given = [
            literal(function.wire_name),
            _together("{", sent, "}"),
            "on_progress",
            "timeout_seconds",
        ]
        call = ""
        if returned not in self._nulls:
            call = "return "
        call += "await " if way else ""
        if function.result is None or returned in self._nulls:
            call += "self._call("
        else:
            call += "self._value("
            given += ["is_wrapped=True"] if function.is_wrapped else []
        head = _together(
            f"{way}def {function.name}(", ["self", "*", *parameters], f") -> {returned}:"
        )
        body = _together(call, given, ")")
        said = quoted(_docstring(function, fields))
        return indented("\n".join([head, *([said] if said else []), indented(body)]))

    def _type(self, shape: Shape) -> str:
        made = type_of(_true(shape))
        self._used.update(re.findall(r"\w+", made))
        return made


def _true(shape: Shape) -> Shape:
    """*shape* as it is for values that come from JSON."""
    match shape:
        case ArrayShape(first=first, rest=rest):
            return ArrayShape(
                [], one_of([_true(each) for each in [*first, *([] if rest is None else [rest])]])
            )
        case ValuesShape(values=values):
            plain = [value for value in values if isinstance(value, str | int | None)]
            others = as_kinds(
                ValuesShape([value for value in values if not isinstance(value, str | int | None)])
            )
            return one_of([*([ValuesShape(plain)] if plain else []), others])
        case UnionShape(parts=parts):
            return one_of([*map(_true, parts)])
        case ObjectShape(members=[], rest=rest):
            return ObjectShape([], None if rest is None else _true(rest))
    return shape


def _docstring(function: Function, fields: list[Field]) -> str:
    documented = [
        indented(f"{field.name}: {indented(' '.join(field.docs)).lstrip()}")
        for field in fields
        if field.docs
    ]
    return "\n".join([*function.docs, *(["", "Args:", *documented] if documented else [])]).strip(
        "\n"
    )


def _comment(said: list[str]) -> list[str]:
    return [f"#: {line}".rstrip() for line in said]


def _together(start: str, parts: list[str], end: str) -> str:
    """The text on one line, or each of *parts* on its own."""
    line = f"{start}{', '.join(parts)}{end}"
    if len(line) <= _LINE and "\n" not in line:
        return line
    return "\n".join([start, *(f"{indented(part)}," for part in parts), end])
