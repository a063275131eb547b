"""Writes a client in Rust: structs and enums for serde, and the struct `Tools` with a method for
each tool.

Strategy. A member that may be absent is an `Option`, left out when it is `None`; one that may also
be null is an `Option` of an `Option`. Unions are untagged enums that keep all of a value
(`alternative` in the runtime). The text is laid out as rustfmt does it. To rustdoc, docs are
Markdown whose code blocks are tests to run, so a server's have none.
"""

from __future__ import annotations

import re
import string
from textwrap import indent
from typing import TYPE_CHECKING

from ..name_mapping import NameRule, Names, to_pascal_case, to_snake_case
from ..shapes import (
    NULL,
    ArrayShape,
    Definition,
    ObjectShape,
    ReferenceShape,
    ScalarShape,
    Shape,
    UnionShape,
    ValuesShape,
)
from .plan import Field, Function, Naming, Plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

RUNTIME = "rust/src/lib.rs"

_LETTERS = frozenset(string.ascii_letters + string.digits + "_")
_KEYWORDS = (
    "abstract as async await become box break const continue do dyn else enum extern false final fn"
    " for gen if impl in let loop macro match mod move mut override priv pub ref return static"
    " struct trait true try type typeof unsafe unsized use virtual where while yield"
)
_NOT_RAW = ("crate", "self", "super")
_OF_THIS_FILE = "BTreeMap Box Deserialize Err None Ok Option Result Serialize Some String Tools Vec"


def _make_name_rule(convention: Callable[[str], str], prefix: str, *reserved: str) -> NameRule:
    # Longer names would not fit on a line with what must stand next to them.
    return NameRule(
        _LETTERS.__contains__, 40, str.isalpha, frozenset(reserved).__contains__, convention, prefix
    )


NAMING = Naming(
    functions=_make_name_rule(to_snake_case, "n", *_NOT_RAW, "client", "new", "start"),
    types=_make_name_rule(to_pascal_case, "N", "Self"),
    members=_make_name_rule(to_snake_case, "n", *_NOT_RAW, "others"),
    taken_types=frozenset(_OF_THIS_FILE.split()),
    names_objects=True,
    names_unions=True,
    names_arguments=True,
)

_WIDTH = 100
_TUPLE_WIDTH = 50  # rustfmt's own is 60
_LITERAL_WIDTH = 22  # of a struct on one line, braces included
_SCALARS = {"string": "String", "integer": "i64", "number": "f64", "boolean": "bool", "null": "()"}
_VALUE = "serde_json::Value"
_REPLACEMENT = r"\u{fffd}"
_MAX_TUPLE = 12  # longer ones cannot be compared or shown
# Names and docs are the server's, so lints of style cannot all be met.
_ALLOWED = """\
#![allow(dead_code, non_camel_case_types, non_snake_case)]
#![allow(clippy::all, rustdoc::all)]"""
# The runtime is checked where it is from, by the oldest compiler that it is for; later lints want
# later functions.
# `unexpected_cfgs`, a lint of later ones, warns where the host's crate has no feature `tokio`.
_EMBEDDED = "#[allow(clippy::all, unknown_lints, unexpected_cfgs)]\n#[rustfmt::skip]"
_TOOLS = """\
/// The tools of the server.
#[derive(Clone, Debug)]
pub struct Tools {{
    client: runtime::Client,
}}

impl Tools {{
    /// The command that starts the server.
    #[rustfmt::skip]
    pub const COMMAND: [&'static str; {length}] = [{words}];

    /// Starts the server.
    pub fn start() -> runtime::Result<Self> {{
        runtime::Server::new(Self::COMMAND).start().map(Self::new)
    }}

    pub fn new(client: runtime::Client) -> Self {{
        Self {{ client }}
    }}

    /// The client that the write_tools are called with.
    pub fn client(&self) -> &runtime::Client {{
        &self.client
    }}
{methods}}}"""
_METHOD = """\

{docs}{signature}
    let tool = {tool};
    self.client.call(tool, {given}, runtime::{reader})
}}
"""
_UNION = """\
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum {name} {{
{variants}}}

impl<'de> Deserialize<'de> for {name} {{
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {{
        let readers: [fn(&serde_json::Value) -> Option<Self>; {length}] = [
{readers}        ];
        runtime::alternative(from, &readers)
    }}
}}"""


def write(plan: Plan, runtime: str | None) -> str:
    """Return the generated module. *runtime* is the text of the runtime, to embed, or None to
    import its crate.
    """
    writer = _Writer(plan)
    body = [*map(writer.write_definition, plan.types), writer.write_tools()]
    imports = []
    if any(re.search(r"^#\[derive", each, re.MULTILINE) for each in body[:-1]):
        imports.append("use serde::{Deserialize, Serialize};")
    if writer.uses_map:
        imports.append("use std::collections::BTreeMap;")
    head = "".join(f"// {line}".rstrip() + "\n" for line in plan.head)
    blocks = [head + _ALLOWED, "\n".join(imports)]
    if runtime is None:
        module = "super::toolwire" if plan.has_runtime_file else "toolwire_client"
        blocks += [f"pub use {module} as runtime;", *body]
    else:
        blocks += [*body, f"{_EMBEDDED}\npub mod runtime {{\n{runtime}}}"]
    return "\n\n".join(filter(None, blocks)) + "\n"


class _Writer:
    """Writes the types of a plan, each in the text of its definition, and the methods."""

    def __init__(self, plan: Plan) -> None:
        self.uses_map = False
        self._plan = plan
        self._circles = plan.find_circles()
        self._shapes = {each.name: each.shape for each in plan.types}

    def write_tools(self) -> str:
        command = self._plan.command
        methods = "".join(
            indent(self._write_method(function), "    ") for function in self._plan.functions
        )
        return _TOOLS.format(
            length=len(command), words=", ".join(map(_write_literal, command)), methods=methods
        )

    def _write_method(self, function: Function) -> str:
        returned, reader = "runtime::CallResult", "content"
        if function.result is not None:
            returned, reader = self._write_type(function.result), "structured"
            if function.is_wrapped:
                reader = "wrapped"
        parameters, arguments = ["&self"], "&()"
        kind = self._write_type_of_arguments(function)
        if kind:
            parameters.append(f"arguments: &{kind}")
            arguments = "arguments"
        name = f"{_write_identifier(function.name)}<'a>"
        return _METHOD.format(
            docs=_write_docs(function.docs) + _write_format_attribute(returned),
            signature=_write_signature(name, parameters, f"runtime::Call<'a, {returned}>"),
            tool=_write_literal(function.wire_name),
            given=arguments,
            reader=reader,
        )

    def _write_type_of_arguments(self, function: Function) -> str:
        """Return the type of what is sent; "" for a tool without arguments."""
        if function.arguments_type:
            return function.arguments_type
        if function.arguments.rest is None:
            return ""
        return self._write_type(function.arguments)

    def write_definition(self, each: Definition) -> str:
        match each.shape:
            case ObjectShape(members=[_, *_]) as shape:
                made = self._write_struct(each.name, shape)
            case ValuesShape(values=[_, *_] as values):
                made = self._write_enum(each.name, values)
            case UnionShape() as shape if NULL not in shape.parts:
                made = self._write_union(each.name, shape)
            case shape:
                made = self._alias(each.name, shape)
        return _write_docs(each.description.split("\n")) + made

    def _alias(self, name: str, shape: Shape) -> str:
        kind = self._write_type(shape, name)
        names = [word for word in re.findall(r"\w+", kind) if word in self._shapes]
        may_be_in_circle = any(map(self._is_alias, names))
        if not may_be_in_circle:
            return f"{_write_format_attribute(kind)}pub type {name} = {kind};"
        derived = (
            "#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]\n#[serde(transparent)]"
        )
        return f"{_write_format_attribute(kind)}{derived}\npub struct {name}(pub {kind});"

    def _is_alias(self, name: str) -> bool:
        match self._shapes[name]:
            case ObjectShape(members=[_, *_]) | ValuesShape(values=[_, *_]):
                return False
            case UnionShape(parts=parts):
                return NULL in parts
        return True

    def _write_enum(self, name: str, values: list[str]) -> str:
        called = Names(values, NAMING.types).theirs
        variants = "".join(
            f"{_write_serde_attribute('rename', _write_literal(value))}{called[value]},\n"
            for value in values
        )
        derived = "#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]"
        return f"{derived}\npub enum {name} {{\n{indent(variants, '    ')}}}"

    def _write_union(self, name: str, shape: UnionShape) -> str:
        parts = self._plan.plan_variants(shape, name)
        called = Names([part.name for part in parts], NAMING.types).theirs
        variants = readers = ""
        for part in parts:
            variant, kind = called[part.name], self._write_type(part.shape, name)
            variants += f"{_write_format_attribute(kind)}{variant}({kind}),\n"
            readers += f"|value| runtime::read(value, Self::{variant}),\n"
        return _UNION.format(
            name=name,
            variants=indent(variants, "    "),
            length=len(parts),
            readers=indent(readers, "            "),
        )

    def _write_struct(self, name: str, shape: ObjectShape) -> str:
        fields = self._plan.plan_fields(shape)
        body = "".join(self._write_field(field, name) for field in fields)
        if shape.rest is not None:
            others = self._write_type(ObjectShape([], shape.rest))
            body += f"    #[serde(flatten)]\n    pub others: {others},\n"
        needed = [field for field in fields if field.is_required]
        traits = "Clone, Debug, Default, PartialEq, Serialize, Deserialize"
        if needed:
            traits = "Clone, Debug, PartialEq, Serialize, Deserialize"
        text = f"#[derive({traits})]\npub struct {name} {{\n{body}}}"
        if not needed or (len(needed) == len(fields) and shape.rest is None):
            return text
        return (
            f"{text}\n\n{self._write_constructor(name, fields, has_others=shape.rest is not None)}"
        )

    def _write_constructor(self, name: str, fields: list[Field], *, has_others: bool) -> str:
        parameters, values = [], []
        for field in fields:
            member = _write_identifier(field.name)
            if field.is_required:
                parameters.append(f"{member}: {self._write_type(field.shape, name)}")
                values.append(member)
            else:
                values.append(f"{member}: None")
        if has_others:
            values.append("others: BTreeMap::new()")
        literal = f"{{ {', '.join(values)} }}"
        if len(literal) > _LITERAL_WIDTH:
            lines = "".join(f"    {value},\n" for value in values)
            literal = f"{{\n{lines}}}"
        head = _write_format_attribute(*parameters) + _write_signature("new", parameters, "Self")
        body = indent(f"Self {literal}", "    ")
        function = f"{head}\n{body}\n}}\n"
        return f"impl {name} {{\n    /// Only the required members.\n{indent(function, '    ')}}}"

    def _write_field(self, field: Field, owner: str) -> str:
        kind, allows_null = self._write_type(field.shape, owner), self._allows_null(field.shape)
        attributes = ""
        if field.name != field.wire_name:
            attributes = _write_serde_attribute("rename", _write_literal(field.wire_name))
        if not field.is_required:
            kind = f"Option<{kind}>"
            attributes += '#[serde(default, skip_serializing_if = "Option::is_none")]\n'
        # Otherwise, absent and null would be the same to an `Option`.
        if allows_null and not field.is_required:
            attributes += '#[serde(deserialize_with = "runtime::present")]\n'
        elif allows_null and (
            kind.startswith("Option<") or isinstance(field.shape, ReferenceShape)
        ):
            attributes += '#[serde(deserialize_with = "Deserialize::deserialize")]\n'
        attributes += _write_format_attribute(kind)
        line = f"pub {_write_identifier(field.name)}: {kind},\n"
        if len(line) + 3 > _WIDTH:
            line = line.replace(": ", ":\n    ", 1)
        return indent(f"{_write_docs(field.docs)}{attributes}{line}", "    ")

    def _write_type(self, shape: Shape, owner: str = "") -> str:
        """The type of *shape*; *owner* is the definition that it is a part of, unless an array or a
        map is between.
        """
        match shape:
            case ScalarShape(kind=kind):
                return _SCALARS.get(kind, _VALUE)
            case ReferenceShape(name=name):
                if name in self._circles.get(owner, ()):
                    return f"Box<{name}>"
                return name
            case UnionShape(parts=parts):
                other = next(part for part in parts if part != NULL)
                return f"Option<{self._write_type(other, owner)}>"
            case ArrayShape(first=[], rest=rest) if rest is not None:
                return f"Vec<{self._write_type(rest)}>"
            case ArrayShape(first=first, rest=None) if 0 < len(first) <= _MAX_TUPLE:
                return _write_tuple([self._write_type(item, owner) for item in first])
            case ArrayShape():
                return f"Vec<{_VALUE}>"
            case ObjectShape(rest=rest):
                self.uses_map = True
                value = "runtime::Never"
                if rest is not None:
                    value = self._write_type(rest)
                return f"BTreeMap<String, {value}>"
        return "runtime::Never"

    def _allows_null(self, shape: Shape) -> bool:
        seen: set[str] = set()
        while isinstance(shape, ReferenceShape) and shape.name not in seen:
            seen.add(shape.name)
            shape = self._shapes[shape.name]
        is_null = isinstance(shape, ScalarShape) and _SCALARS.get(shape.kind, "()") == "()"
        return is_null or (isinstance(shape, UnionShape) and NULL in shape.parts)


def _write_tuple(types: list[str]) -> str:
    if len(types) == 1:
        return f"({types[0]},)"
    return f"({', '.join(types)})"


def _write_identifier(name: str) -> str:
    if name in _KEYWORDS.split():
        return f"r#{name}"
    return name


def _write_signature(name: str, parameters: Iterable[str], returned: str) -> str:
    """The head of a method, on a line if that is short enough."""
    line = f"pub fn {name}({', '.join(parameters)}) -> {returned} {{"
    if len(line) + 4 <= _WIDTH:
        return line
    lines = [f"    {parameter}," for parameter in parameters]
    return "\n".join([f"pub fn {name}(", *lines, f") -> {returned} {{"])


def _write_format_attribute(*types: str) -> str:
    """An attribute that keeps rustfmt from breaking the tuples in *types*, if one is long;
    otherwise nothing.
    """
    opened: list[int] = []
    for text in types:
        for at, letter in enumerate(text):
            if letter == "(":
                opened.append(at)
            elif letter == ")" and at - opened.pop() > _TUPLE_WIDTH:
                return "#[rustfmt::skip]\n"
    return ""


def _write_serde_attribute(word: str, value: str) -> str:
    line = f"#[serde({word} = {value})]\n"
    if len(line) + 4 <= _WIDTH:
        return line
    return f"#[serde(\n    {word} = {value}\n)]\n"


def _write_literal(text: str) -> str:
    """*text* as a string; halves of surrogate pairs, which Rust cannot have, are replaced."""
    return '"' + "".join(map(_escape_letter, text)) + '"'


def _escape_letter(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    if letter.isprintable():
        return letter
    is_half = "\ud800" <= letter <= "\udfff"
    if is_half:
        return _REPLACEMENT
    return f"\\u{{{ord(letter):x}}}"


def _write_docs(lines: list[str]) -> str:
    """Comments of *lines*, without what begins code, HTML, links or pictures in Markdown."""
    plain: list[str] = []
    for line in lines:
        without_code = re.sub(r"`{3,}|~{3,}", "…", " ".join(line.split()))
        # A backslash of the text would otherwise take away the one before the bracket.
        plain.append(re.sub(r"[\\<\[]", r"\\\g<0>", without_code))
    if not any(plain):
        return ""
    return "".join(f"/// {line}".rstrip() + "\n" for line in plain)
