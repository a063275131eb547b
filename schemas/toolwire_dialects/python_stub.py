"""Tools as Python stubs: `def add(a: int, b: int = 1) -> int:` with a docstring, as prompts show
them to models.

Strategy. Objects become TypedDicts above the function that needs them first, named after their
definition, their title or the parameter they are for, so that types stay short. The text is valid
Python whatever a server says; it is for reading, and imports nothing.

What must be given comes first, as Python wants it; `...` is a default that the server keeps to
itself. A name that is no identifier is replaced by one (see `Names`), and the docstring, or a
comment, has the real one.
"""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Any

from toolwire_schemas.json_schema.graph import MAX_DEPTH
from toolwire_schemas.json_schema.member_names import with_names, write_listing

from .name_mapping import RULES, Names
from .shapes import (
    NOTHING,
    ArrayShape,
    Definition,
    ObjectShape,
    ReferenceShape,
    ScalarShape,
    Shape,
    ShapeMember,
    UnionShape,
    ValuesShape,
)
from .tool_entry import Entry, as_json, describe, on_one_line
from .type_names import Definitions
from .type_shapes import PYTHON_TYPES, ToolShapes, write_functions

if TYPE_CHECKING:
    from collections.abc import Callable

_SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_IMPORTED = ("Any", "Literal", "Never", "NotRequired", "TypedDict")
_INDENT = "    "
_LINE = 100
_LONGEST = 120
"""Characters of an argument in a signature: its name and type."""


def from_entry(entry: Entry) -> str:
    """Return the stub of one tool, the types it needs above it."""
    return from_entries([entry])


def from_entries(entries: list[Entry], *, short_members: int = 0) -> str:
    """Return the stubs of several tools. Their functions are called what `Names(names, "python")`
    says.

    An object of up to *short_members* plain members is no TypedDict: `-> {content: str}`.
    """
    return write_functions(
        entries,
        "python",
        _write_function,
        _write_definition,
        _IMPORTED,
        of_objects=True,
        short_members=short_members,
    )


def format_signature(entry: Entry) -> list[str]:
    """Return the arguments and the result of one tool for a reader:
    `["(a: int,", "b: {c: str})", "-> int"]`.

    Unlike a stub, it has no named types, keeps the tool's own names, cuts long types, says which
    texts are `bytes`, a `datetime` or a `Path` in Python, and has the names of values:
    `Literal[1 = LOW, 2 = HIGH]`.
    """
    tool = ToolShapes(entry, Definitions(text_types=PYTHON_TYPES))
    parameters = [_cut(_write(member)) for member in tool.arguments.members]
    if tool.arguments.rest is not None:
        parameters.append("...")
    together = ",\n".join(parameters)
    lines = f"({together})".split("\n")
    if tool.result:
        lines.append(f"-> {_cut(write_type(tool.result, _write_named_literal))}")
    return lines


def _write(member: ShapeMember) -> str:
    """*member* of arguments or of an object, with its type; one that may be absent has `?` or its
    default.
    """
    kind = write_type(member.shape, _write_named_literal)
    if member.is_required:
        return f"{member.name}: {kind}"
    if "default" in member.schema:
        return f"{member.name}: {kind} = {write_literal(member.schema['default'])}"
    return f"{member.name}?: {kind}"


def _cut(words: str) -> str:
    if len(words) <= _LONGEST:
        return words
    return words[: _LONGEST - 3] + "..."


def _write_function(tool: ToolShapes, name: str) -> str:
    members = sorted(tool.arguments.members, key=lambda member: not member.is_required)
    called = Names([member.name for member in members], "python").theirs
    parameters = [_write_parameter(member, called[member.name]) for member in members]
    if tool.arguments.rest is not None:
        more = "more"
        while more in called.values():
            more += "_"
        parameters.append(f"**{more}: {write_type(tool.arguments.rest)}")
    returned = ""
    if tool.result:
        returned = f" -> {write_type(tool.result)}"
    line = f"def {name}({', '.join(parameters)}){returned}:"
    if len(line) > _LINE and parameters:
        indented_parameters = [f"{_INDENT}{parameter}," for parameter in parameters]
        line = "\n".join([f"def {name}(", *indented_parameters, f"){returned}:"])
    if name != tool.name:
        line = f"# tool {as_json(tool.name)}\n{line}"
    body = _write_docstring(tool, members, called)
    if not body:
        return f"{line} ..."
    return f"{line}\n{body}"


def _write_parameter(member: ShapeMember, name: str) -> str:
    annotated = f"{name}: {write_type(member.shape)}"
    if member.is_required:
        return annotated
    if "default" not in member.schema:
        return f"{annotated} = ..."
    return f"{annotated} = {write_literal(member.schema['default'])}"


def _write_docstring(tool: ToolShapes, members: list[ShapeMember], called: dict[str, str]) -> str:
    sections = [_clean_docstring(tool.description)]
    arguments = []
    for member in members:
        name = called[member.name]
        note = ""
        if name != member.name:
            note = f"called {as_json(member.name)}"
        if said := _clean_docstring(describe(member.schema, note)):
            arguments.append(indent_lines(f"{name}: {indent_lines(said).lstrip(' ')}"))
    if arguments:
        sections.append("\n".join(["Args:", *arguments]))
    if returned := _clean_docstring(tool.about_result):
        sections.append("Returns:\n" + indent_lines(returned))
    text = "\n\n".join(filter(None, sections))
    if text and not sections[0]:
        # Without a first line of its own, the indentation of all the others would not count.
        text = f"\n{text}"
    return quote_docstring(text)


def _clean_docstring(words: str) -> str:
    """*words* as Python itself reads a docstring, without spaces at the ends of lines."""
    from inspect import cleandoc  # signatures have no docstrings

    return "\n".join(line.rstrip() for line in cleandoc(words).split("\n")).strip("\n")


def indent_lines(lines: str) -> str:
    """Return *lines* one level deeper."""
    return re.sub("(?m)^(?=.)", _INDENT, lines)


def quote_docstring(words: str) -> str:
    """Return a docstring, indented, that says *words*; nothing if there are no words."""
    if not words:
        return ""
    printable = "".join(map(_escape_letter, words))
    # Neither three quotes in a row, nor one at the end.
    escaped = re.sub('"(?="|$)', '\\\\"', printable)
    if "\n" in escaped:
        escaped += "\n"
    return indent_lines(f'"""{escaped}"""')


def _escape_letter(letter: str) -> str:
    if letter.isprintable() or letter == "\n" or unicodedata.category(letter) == "Zs":
        if letter != "\\":
            return letter
        return "\\\\"
    return letter.encode("unicode_escape").decode()


def _write_literal_type(shape: ValuesShape) -> str:
    return _write_literal(shape.values)


def _write_named_literal(shape: ValuesShape) -> str:
    pairs = with_names(shape.values, shape.names)
    if len(pairs) < len(shape.values) or not pairs:
        return _write_literal(shape.values)
    return f"Literal[{write_listing(pairs).removesuffix('.')}]"


def write_type(shape: Shape, choice: Callable[[ValuesShape], str] = _write_literal_type) -> str:
    """Return the type of *shape* as Python writes it; *choice* writes a choice of values."""
    match shape:
        case ScalarShape(kind=kind, text_type=python):
            return python or _SCALARS.get(kind, "Any")
        case ValuesShape():
            return choice(shape)
        case ArrayShape(first=[], rest=rest) if rest is not None:
            return f"list[{write_type(rest, choice)}]"
        case ArrayShape(first=first, rest=rest):
            parts = [write_type(part, choice) for part in first]
            if rest is not None:
                parts.append(f"*tuple[{write_type(rest, choice)}, ...]")
            return f"tuple[{', '.join(parts) or '()'}]"
        case UnionShape(parts=several):
            return " | ".join(dict.fromkeys(write_type(part, choice) for part in several))
        case ReferenceShape(name=name):
            return name
        case ObjectShape(
            members=[_, *_] as members
        ):  # in a stub only short ones, others have names
            return f"{{{', '.join(map(_write, members))}}}"
        case ObjectShape(rest=rest):
            return f"dict[str, {write_type(rest or NOTHING, choice)}]"


def _write_definition(definition: Definition) -> str:
    name, shape = definition.name, definition.shape
    if not isinstance(shape, ObjectShape) or not shape.members:
        return f"{name} = {write_type(shape)}"
    is_class = all(RULES["python"].allows(member.name) for member in shape.members)
    body = [_write_field(member, is_class) for member in shape.members]
    if shape.rest is not None:
        body.append(f"{_INDENT}# and others: {write_type(shape.rest)}")
    description = _clean_docstring(definition.description)
    if is_class:
        lines = [f"class {name}(TypedDict):", quote_docstring(description), *body]
    else:
        lines = [f'{name} = TypedDict("{name}", {{', *body, "})"]
        if description:
            lines.insert(0, f"# {on_one_line(description)}")
    return "\n".join(filter(None, lines))


def _write_field(member: ShapeMember, is_class: bool) -> str:
    kind = write_type(member.shape)
    if not member.is_required:
        kind = f"NotRequired[{kind}]"
    field = f"{_INDENT}{member.name}: {kind}"
    if not is_class:
        field = f"{_INDENT}{write_literal(member.name)}: {kind},"
    note = on_one_line(describe(member.schema))
    if note:
        field += f"  # {note}"
    return field


def _write_literal(values: list[Any]) -> str:
    if not values:
        return "Never"
    if values != [None]:
        return f"Literal[{', '.join(map(write_literal, values))}]"
    return "None"


def write_literal(value: Any, depth: int = 0) -> str:
    """Return a JSON value as Python writes it; `...` for what is nested too deep to be read."""
    if depth > MAX_DEPTH:
        return "..."
    if isinstance(value, str):
        is_plain = value.isprintable() and not set('"\\') & set(value)
        if is_plain:
            return f'"{value}"'
        return repr(value)
    if isinstance(value, list):
        return f"[{', '.join(write_literal(item, depth + 1) for item in value)}]"
    if isinstance(value, dict):
        members = []
        for name, item in value.items():
            members.append(f"{write_literal(name)}: {write_literal(item, depth + 1)}")
        return f"{{{', '.join(members)}}}"
    return repr(value)
