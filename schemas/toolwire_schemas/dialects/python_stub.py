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

import msgspec

from .name_mapping import RULES, Definitions, Names
from .tool_entry import Entry, as_json, described, on_one_line, schema_of, text
from .type_shapes import (
    MAX_DEPTH,
    NOTHING,
    Anything,
    Array,
    Intersection,
    Member,
    Object,
    Reader,
    Record,
    Reference,
    Scalar,
    Shape,
    Tuple,
    Union,
    Values,
    result_of,
)

_SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool", "null": "None"}
_RULE = RULES["python"]
_INDENT = "    "
_LINE = 100


def from_entry(entry: Entry) -> str:
    """Return the stub of one tool, the types it needs above it."""
    return from_entries([entry])


def from_entries(entries: list[Entry]) -> str:
    """Return the stubs of several tools. Their functions are called what `Names(names, "python")` says."""
    names = Names([text(entry.get("name")) for entry in entries], "python")
    types = Definitions(_RULE, {"Any", "Literal", "Never", "NotRequired", "TypedDict", *names.ours})
    blocks: list[str] = []
    for entry in entries:
        function = _function(entry, names.theirs[text(entry.get("name"))], types)
        blocks += [*types.take(), function]
    return "\n\n".join(blocks)


# --- functions --------------------------------------------------------------------------------------------------------


def _function(entry: Entry, name: str, types: Definitions) -> str:
    asked, answer = Reader(schema_of(entry.get("inputSchema"))), Reader(schema_of(entry.get("outputSchema")))
    arguments = asked.arguments()
    members = sorted(arguments.members, key=lambda member: not member.is_required)
    called = Names([member.name for member in members], "python").theirs
    writer = _Writer(asked, types)
    parameters = [_parameter(member, called[member.name], writer) for member in members]
    if arguments.rest is not None:
        parameters.append(f"**{_besides(called.values())}: {writer.type_of(arguments.rest, 'more')}")
    returned = ""
    if answer.root:
        result = result_of(answer)
        shape = result.shape if result else answer.shape(answer.root)
        returned = f" -> {_Writer(answer, types).type_said_elsewhere(shape, f'{name} result')}"
    given_name = text(entry.get("name"))
    head = [f"# tool {as_json(given_name)}"] if name != given_name else []
    body = _docstring(text(entry.get("description")), members, called, _about_result(answer))
    return "\n".join([*head, _head(name, parameters, returned) + (f"\n{body}" if body else " ...")])


def _parameter(member: Member, name: str, writer: _Writer) -> str:
    written = f"{name}: {writer.type_said_elsewhere(member.shape, member.name)}"
    if member.is_required:
        return written
    return f"{written} = {_value(member.schema['default']) if 'default' in member.schema else '...'}"


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


def _about_result(answer: Reader) -> str:
    result = result_of(answer)
    return described(result.schema if result else answer.root)


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
    """A docstring, indented, that says *words*; nothing if they are none."""
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


class _Writer:
    """Writes the types of one root schema."""

    def __init__(self, reader: Reader, types: Definitions) -> None:
        self._reader = reader
        self._types = types

    def type_said_elsewhere(self, shape: Shape, hint: str) -> str:
        """The annotation for *shape*, whose description is not to be said again."""
        return self.type_of(
            msgspec.structs.replace(shape, description="") if isinstance(shape, Object) else shape, hint
        )

    def type_of(self, shape: Shape, hint: str) -> str:
        """The annotation for *shape*; *hint* is what an object is called that has no name."""
        match shape:
            case Anything():
                return "Any"
            case Scalar(kind=kind):
                return _SCALARS[kind]
            case Values(values=values):
                return _literal(values)
            case Array(items=items):
                return f"list[{self.type_of(items, hint + ' item')}]"
            case Tuple(items=items, rest=rest):
                parts = [self.type_of(item, f"{hint} {place}") for place, item in enumerate(items, 1)]
                if rest is not None:
                    parts.append(f"*tuple[{self.type_of(rest, hint + ' item')}, ...]")
                return f"tuple[{', '.join(parts) or '()'}]"
            case Record(values=values):
                return f"dict[str, {self.type_of(values, hint + ' value')}]"
            case Union(members=members):
                return " | ".join(dict.fromkeys(self.type_of(member, hint) for member in members))
            case Reference(pointer=pointer):
                return self._definition(pointer)
            case Intersection(members=members):
                return self.type_of(self._reader.together(shape) or members[0], hint)
            case Object():
                return self._object(shape, shape.title or hint)

    def _object(self, shape: Object, hint: str) -> str:
        if not shape.members:
            return f"dict[str, {self.type_of(shape.rest or NOTHING, hint + ' value')}]"
        said, body = _cleaned(shape.description), self._fields(shape, hint)
        meaning = "\n".join(body)  # the types of its members are in it, by names of their own
        if known := self._types.known(meaning):
            return known
        name = self._types.name(meaning, hint)
        self._types.add(_typed_dict(name, said, body, shape.members))
        return name

    def _definition(self, pointer: str) -> str:
        meaning = self._reader.meaning(pointer)
        if known := self._types.known(meaning):
            return known
        name = self._types.name(meaning, pointer.rpartition("/")[2].strip("#") or "arguments")
        shape = self._reader.definition(pointer)
        if isinstance(shape, Intersection):
            shape = self._reader.together(shape) or shape
        if isinstance(shape, Object) and shape.members:
            said = _cleaned(shape.description)
            self._types.add(_typed_dict(name, said, self._fields(shape, name), shape.members))
        else:
            self._types.add(f"{name} = {self.type_of(shape, name)}")
        return name

    def _fields(self, shape: Object, hint: str) -> list[str]:
        """The lines about the members of a TypedDict."""
        is_class = _is_class(shape.members)
        lines: list[str] = []
        for member in shape.members:
            kind = self._type_of_field(member)
            field = f"{member.name}: {kind}" if is_class else f"{_value(member.name)}: {kind},"
            note = on_one_line(described(member.schema))
            lines.append(f"{_INDENT}{field}{note and f'  # {note}'}")
        if shape.rest is not None:
            lines.append(f"{_INDENT}# and others: {self.type_of(shape.rest, hint + ' value')}")
        return lines

    def _type_of_field(self, member: Member) -> str:
        kind = self.type_said_elsewhere(member.shape, member.name)
        return kind if member.is_required else f"NotRequired[{kind}]"


def _is_class(members: list[Member]) -> bool:
    """Whether a TypedDict with these members can be written as a class."""
    return all(_RULE.allows(member.name) for member in members)


def _typed_dict(name: str, said: str, body: list[str], members: list[Member]) -> str:
    if _is_class(members):
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
