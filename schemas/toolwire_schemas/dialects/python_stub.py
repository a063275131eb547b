"""Tools as Python stubs: `def add(a: int, b: int = 1) -> int:` with a docstring, as prompts show them to models.

Strategy. Objects become TypedDicts above the function that needs them first, named after their definition, their title
or the parameter they are for, so that types stay short and circles are no trouble. The text is valid Python whatever a
server says; it is for reading, and imports nothing.

What must be given comes first, as Python wants it; `...` is a default that the server keeps to itself. A name that is
no identifier is replaced by one (see `Names`), and the docstring, or a comment, has the real one.
"""

from __future__ import annotations

import re
import unicodedata
from inspect import cleandoc
from typing import Any

from .name_mapping import RULES, Names
from .tool_entry import Entry, as_json, described, on_one_line
from .type_shapes import (
    MAX_DEPTH,
    NOTHING,
    ArrayShape,
    CombinedShape,
    Member,
    ObjectShape,
    ReferenceShape,
    ScalarShape,
    SchemaReader,
    Shape,
    ToolShapes,
    TypeDefinitions,
    ValuesShape,
    written,
)

_SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_IMPORTED = ("Any", "Literal", "Never", "NotRequired", "TypedDict")
_INDENT = "    "
_LINE = 100


def from_entry(entry: Entry) -> str:
    """Return the stub of one tool, the types it needs above it."""
    return from_entries([entry])


def from_entries(entries: list[Entry]) -> str:
    """Return the stubs of several tools. Their functions are called what `Names(names, "python")` says."""
    return written(entries, "python", _function, _IMPORTED)


# --- functions --------------------------------------------------------------------------------------------------------


def _function(tool: ToolShapes, name: str, types: TypeDefinitions) -> str:
    members = sorted(tool.arguments.members, key=lambda member: not member.is_required)
    called = Names([member.name for member in members], "python").theirs
    writer = _TypeWriter(tool.input, types)
    parameters = [_parameter(member, called[member.name], writer) for member in members]
    if tool.arguments.rest is not None:
        parameters.append(f"**{_besides(called.values())}: {writer.type_of(tool.arguments.rest, 'more')}")
    returned = ""
    if tool.result:
        returned = f" -> {_TypeWriter(tool.output, types).type_of(tool.result, f'{name} result')}"
    head = f"# tool {as_json(tool.name)}\n" if name != tool.name else ""
    body = _docstring(tool.description, members, called, tool.about_result)
    return head + _head(name, parameters, returned) + (f"\n{body}" if body else " ...")


def _parameter(member: Member, name: str, writer: _TypeWriter) -> str:
    annotated = f"{name}: {writer.type_of(member.shape, member.name)}"
    if member.is_required:
        return annotated
    return f"{annotated} = {_value(member.schema['default']) if 'default' in member.schema else '...'}"


def _besides(taken: Any) -> str:
    name = "more"
    while name in taken:
        name += "_"
    return name


def _head(name: str, parameters: list[str], returned: str) -> str:
    line = f"def {name}({', '.join(parameters)}){returned}:"
    if len(line) <= _LINE or not parameters:
        return line
    return f"def {name}(\n" + "".join(f"{_INDENT}{parameter},\n" for parameter in parameters) + f"){returned}:"


def _docstring(said: str, members: list[Member], called: dict[str, str], returned: str) -> str:
    said = _cleaned(said)
    sections = [said] if said else []
    arguments = [_argument(member, called[member.name]) for member in members]
    if any(arguments):
        sections.append("Args:\n" + "\n".join(filter(None, arguments)))
    if returned := _cleaned(returned):
        sections.append("Returns:\n" + _indented(returned))
    written = "\n\n".join(sections)
    # Without a first line of its own, the indentation of all the others would not count.
    return _quoted(written if said or not written else f"\n{written}")


def _argument(member: Member, name: str) -> str:
    said = _cleaned(described(member.schema, f"called {as_json(member.name)}" if name != member.name else ""))
    if not said:
        return ""
    first, *others = said.split("\n")
    return "\n".join([f"{_INDENT}{name}: {first}", *(line and _INDENT * 2 + line for line in others)])


def _cleaned(words: str) -> str:
    """*words* as Python itself reads a docstring, without spaces at the ends of lines."""
    return "\n".join(line.rstrip() for line in cleandoc(words).split("\n")).strip("\n")


def _indented(lines: str) -> str:
    return "\n".join(line and _INDENT + line for line in lines.split("\n"))


def _quoted(words: str) -> str:
    """A docstring, indented, that says *words*; nothing if there are no words."""
    if not words:
        return ""
    escaped = re.sub('"(?="|$)', '\\\\"', "".join(map(_escaped, words)))  # neither three in a row, nor one at the end
    first, *others = escaped.split("\n")
    end = f'\n{_INDENT}"""' if others else '"""'
    return "\n".join([f'{_INDENT}"""{first}', *(line and _INDENT + line for line in others)]) + end


def _escaped(letter: str) -> str:
    if letter.isprintable() or letter == "\n" or unicodedata.category(letter) == "Zs":
        return letter if letter != "\\" else "\\\\"
    return letter.encode("unicode_escape").decode()


# --- types ------------------------------------------------------------------------------------------------------------


class _TypeWriter:
    """Writes the types of one root schema."""

    def __init__(self, reader: SchemaReader, types: TypeDefinitions) -> None:
        self._reader = reader
        self._types = types
        self._open: set[str] = set()

    def type_of(self, shape: Shape, hint: str) -> str:
        """The annotation for *shape*; *hint* is the name of an object that has no title."""
        match shape:
            case ScalarShape(kind=kind):
                return _SCALARS.get(kind, "Any")
            case ValuesShape(values=values):
                return _literal(values)
            case ArrayShape(first=[], rest=rest) if rest is not None:
                return f"list[{self.type_of(rest, hint + ' item')}]"
            case ArrayShape(first=first, rest=rest):
                parts = [self.type_of(item, f"{hint} {place}") for place, item in enumerate(first, 1)]
                if rest is not None:
                    parts.append(f"*tuple[{self.type_of(rest, hint + ' item')}, ...]")
                return f"tuple[{', '.join(parts) or '()'}]"
            case CombinedShape(is_all=True):
                return self._intersection(shape, hint)
            case CombinedShape(parts=several):
                return " | ".join(dict.fromkeys(self.type_of(part, hint) for part in several))
            case ReferenceShape(pointer=pointer):
                return self._types.defined(pointer, self._reader, self._definition)
            case ObjectShape(members=[]):
                return f"dict[str, {self.type_of(shape.rest or NOTHING, hint + ' value')}]"
            case ObjectShape():
                hint = shape.title or hint
                body = self._fields(shape, hint)
                # The fields are the meaning: the types of members are in them, by names of their own.
                return self._types.name("\n".join(body), hint, lambda name: _typed_dict(name, shape, body))

    def _intersection(self, shape: CombinedShape, hint: str) -> str:
        pointers = {part.pointer for part in shape.parts if isinstance(part, ReferenceShape)}
        if pointers & self._open:  # a circle: an object is a part of its own member
            return self.type_of(shape.parts[0], hint)
        self._open |= pointers
        annotation = self.type_of(self._reader.together(shape) or shape.parts[0], hint)
        self._open -= pointers
        return annotation

    def _definition(self, name: str, shape: Shape) -> str:
        if isinstance(shape, CombinedShape) and shape.is_all:
            shape = self._reader.together(shape) or shape
        if isinstance(shape, ObjectShape) and shape.members:
            return _typed_dict(name, shape, self._fields(shape, name))
        return f"{name} = {self.type_of(shape, name)}"

    def _fields(self, shape: ObjectShape, hint: str) -> list[str]:
        """The lines about the members of a TypedDict."""
        is_class = _is_class(shape)
        lines: list[str] = []
        for member in shape.members:
            kind = self.type_of(member.shape, member.name)
            kind = kind if member.is_required else f"NotRequired[{kind}]"
            field = f"{member.name}: {kind}" if is_class else f"{_value(member.name)}: {kind},"
            note = on_one_line(described(member.schema))
            lines.append(f"{_INDENT}{field}{note and f'  # {note}'}")
        if shape.rest is not None:
            lines.append(f"{_INDENT}# and others: {self.type_of(shape.rest, hint + ' value')}")
        return lines


def _is_class(shape: ObjectShape) -> bool:
    """Whether a TypedDict with these members can be written as a class."""
    return all(RULES["python"].allows(member.name) for member in shape.members)


def _typed_dict(name: str, shape: ObjectShape, body: list[str]) -> str:
    said = _cleaned(shape.description)
    if _is_class(shape):
        return "\n".join([f"class {name}(TypedDict):", *([_quoted(said)] if said else []), *body])
    head = [f"# {on_one_line(said)}"] if said else []
    return "\n".join([*head, f'{name} = TypedDict("{name}", {{', *body, "})"])


def _literal(values: list[Any]) -> str:
    if not values:
        return "Never"
    return f"Literal[{', '.join(map(_value, values))}]" if values != [None] else "None"


def _value(value: Any, depth: int = 0) -> str:
    """A JSON value as Python writes it; `...` for what is nested too deep to be read."""
    if depth > MAX_DEPTH:
        return "..."
    if isinstance(value, str):
        is_plain = value.isprintable() and not set('"\\') & set(value)
        return f'"{value}"' if is_plain else repr(value)
    if isinstance(value, list):
        return f"[{', '.join(_value(item, depth + 1) for item in value)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_value(name)}: {_value(item, depth + 1)}' for name, item in value.items())}}}"
    return repr(value)
