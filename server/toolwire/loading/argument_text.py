"""Parses the arguments of a tool on the command line, `count=3 tags=a tags=b`, by the tool's input
schema.

Where the schema expects a string, the text is the value; elsewhere it is JSON. Text that fits
neither is sent as it is, so that the server reports the error.
"""

from __future__ import annotations

import binascii
import os
import stat
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.json_schema.graph import SchemaGraph, SchemaNode
from toolwire_schemas.wire.codec import DecodingError, decode

from ..errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

Schema = dict[str, Any]

_MAX_FILE_BYTES = (
    47 * 1024 * 1024
)  # in Base64, with the rest of the message, less than the 64 MiB that servers read

_TYPES: dict[type, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
    type(None): "null",
}
_NUMBERS = {"integer", "number"}


def read(words: Sequence[str], schema: Schema) -> dict[str, Any]:
    """Return the arguments in *words* for a tool with this input *schema*.

    Either they are `name=value` each, or one is a JSON object (or `-`, and standard input holds
    it). `name=@file` takes what the file holds (in Base64 where the schema wants that), `name=@-`
    standard input, and `name=@@x` is the text `@x`. `a.b=1` reaches into an object, and a name
    given again adds to a list.

    Raises:
        UsageError: if a word is not an argument, or names a parameter the tool does not have.
    """
    if len(words) == 1 and words[0] == "-":
        return _read_object(_find_standard_input().read_text())
    if len(words) == 1 and words[0].lstrip().startswith("{"):
        return _read_object(words[0])
    if sum(word.endswith("=@-") for word in words) > 1:
        raise UsageError(
            "only one argument can be read from standard input: write @FILE for the others"
        )
    root = SchemaGraph(schema).root
    arguments: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not (equals and name):
            raise UsageError(_explain_not_an_argument(word, root))
        _put(arguments, name, _find_content(text), root)
    return arguments


def find_unencoded(arguments: dict[str, Any], schema: Schema) -> list[str]:
    """Return the names of *arguments* that a tool with this input *schema* wants in Base64, and
    that are not.
    """
    names = []
    for name, member in _find_properties(SchemaGraph(schema).root).items():
        value = arguments.get(name)
        if not isinstance(value, str) or not _takes_base64(member.list_alternatives()):
            continue
        try:
            binascii.a2b_base64(value, strict_mode=True)
        except ValueError:
            names.append(name)
    return names


def _read_object(text: str) -> dict[str, Any]:
    try:
        value = decode(text)
    except DecodingError as error:
        raise UsageError(
            f"the arguments are not JSON: {error}; name=value, as in a=1, is easier to type"
        ) from None
    if not isinstance(value, dict):
        raise UsageError('the arguments must be a JSON object such as {"a": 1}')
    return value


def _explain_not_an_argument(word: str, root: SchemaNode) -> str:
    names = list(_find_properties(root))
    takes = f"the tool takes {', '.join(names)}" if names else "the tool takes no arguments"
    form = (
        "name=value, without spaces around = and with quotes around a value that has spaces, or as"
        " one JSON object"
    )
    return f"write the arguments as {form}, not as {word!r}; {takes}"


class _File(msgspec.Struct, frozen=True):
    """The content of a file, or of standard input."""

    name: str
    data: bytes

    def read_text(self) -> str:
        """Return it as text.

        Raises:
            UsageError: if it is not in UTF-8.
        """
        try:
            return self.data.decode()
        except UnicodeDecodeError:
            raise UsageError(
                f"cannot read {self.name}: it is not text in UTF-8, and the tool takes no data"
            ) from None

    def read_base64(self) -> str:
        """Return it in Base64."""
        return binascii.b2a_base64(self.data, newline=False).decode()


def _find_content(text: str) -> str | _File:
    if not text.startswith("@") or text == "@":
        return text
    if text.startswith("@@"):
        return text[1:]
    if text == "@-":
        return _find_standard_input()
    name = text[1:]
    try:
        return _File(name, _read_data(name))
    except OSError as error:
        raise UsageError(
            f"cannot read {name}: {error.strerror} (write @{text} for the text itself)"
        ) from None


def _read_data(name: str) -> bytes:
    with open(name, "rb", opener=_open_at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            remedy = "write @- and pipe it into standard input"
            raise UsageError(f"cannot read {name}: it is a pipe or a device; {remedy}")
        return _check_size(name, file.read(_MAX_FILE_BYTES + 1))


def _open_at_once(name: str, flags: int) -> int:
    """Open a file; do not wait for a writer if it is a pipe."""
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))


def _find_standard_input() -> _File:
    name = "standard input"
    return _File(name, _check_size(name, sys.stdin.buffer.read(_MAX_FILE_BYTES + 1)))


def _check_size(name: str, data: bytes) -> bytes:
    if len(data) > _MAX_FILE_BYTES:
        most = _MAX_FILE_BYTES // 1024**2
        raise UsageError(
            f"{name} is too large for an argument: at most {most} MiB fit into a message"
        )
    return data


def _put(target: dict[str, Any], name: str, given: str | _File, place: SchemaNode) -> None:
    """Put the argument *name* into *target*, an object by the schema at *place*."""
    properties = _find_properties(place)
    head, dot, tail = name.partition(".")
    if name not in properties and dot and head in properties:
        inner = target.setdefault(head, {})
        if not isinstance(inner, dict):
            raise UsageError(f"{head} already has a value, so {name} cannot be set")
        _put(inner, tail, given, properties[head])
        return
    additional = place.resolved.additional
    if name not in properties and additional is not None and additional.is_false:
        raise UsageError(_explain_no_parameter(name, properties))
    member = properties.get(name, place.graph.anything)
    value = _read_value(given, member)
    if name not in target:
        target[name] = value
    elif isinstance(target[name], list) and "array" in _collect_types(member.list_alternatives()):
        target[name] += value if isinstance(value, list) else [value]
    else:
        raise UsageError(f"{name} is given twice, but takes one value")


def _explain_no_parameter(name: str, properties: dict[str, SchemaNode]) -> str:
    from toolwire_schemas.did_you_mean import explain_unknown_name  # imported only for a mistake

    if not properties:
        return "the tool takes no arguments"
    return explain_unknown_name("parameter", name, properties)


# --- values ---------------------------------------------------------------------------------------


def _read_value(given: str | _File, place: SchemaNode) -> Any:
    if isinstance(given, str):
        return _read_value_of_text(given, place)
    nodes = place.list_alternatives()
    if _takes_base64(nodes):
        return given.read_base64()
    if "string" not in _collect_types(nodes) and _takes_base64(
        _find_items(nodes).list_alternatives()
    ):
        return [given.read_base64()]
    return _read_value_of_text(given.read_text(), place)


def _read_value_of_text(text: str, place: SchemaNode) -> Any:
    nodes = place.list_alternatives()
    types = _collect_types(nodes)
    if types == {"string"}:
        return text
    try:
        value = decode(text)
    except DecodingError:
        value = text
    type_of_value = _TYPES[type(value)]
    if not types:
        return value
    if type_of_value == "number" and _matches(text, nodes):
        return text
    if type_of_value in types and type_of_value != "string":
        return value
    if type_of_value in _NUMBERS and types & _NUMBERS:
        return value
    if "array" in types and "string" not in types:
        return [_read_value_of_text(text, _find_items(nodes))]
    return text


# --- schemas: `X | None` is X as far as typing goes -----------------------------------------------


def _find_properties(place: SchemaNode) -> dict[str, SchemaNode]:
    """Return the members of the first alternative that has some."""
    for node in place.list_alternatives():
        if node.properties:
            return node.properties
    return {}


def _find_items(nodes: list[SchemaNode]) -> SchemaNode:
    """Return the items of the first of *nodes* that has some."""
    for node in nodes:
        if node.items is not None and not node.items.is_false:
            return node.items
    return nodes[0].graph.anything


def _collect_types(nodes: list[SchemaNode]) -> set[str]:
    """Return the types that any of *nodes* names; empty if none names one."""
    found: set[str] = set()
    for node in nodes:
        found.update(node.types)
        if not node.types:
            found.update(_TYPES[type(value)] for value in node.values or ())
    return found


def _takes_base64(nodes: list[SchemaNode]) -> bool:
    """Return whether the only texts that *nodes* take are data in Base64."""
    of_texts = [node.keywords for node in nodes if "string" in _collect_types([node])]
    return bool(of_texts) and all(map(_is_base64, of_texts))


def _is_base64(schema: Schema) -> bool:
    return schema.get("contentEncoding") == "base64" or schema.get("format") in ("byte", "base64")


def _matches(text: str, nodes: list[SchemaNode]) -> bool:
    """Return whether *nodes* also accept numbers as text, as for a `Decimal`, where every digit
    counts.
    """
    from toolwire_schemas.json_schema.linear_regex import Budget, CannotJudge, search

    with suppress(CannotJudge):  # a JavaScript pattern, an expensive one, or an invalid one
        for node in nodes:
            pattern = node.keywords.get("pattern")
            if isinstance(pattern, str) and search(pattern, text, Budget().spend):
                return True
    return False
