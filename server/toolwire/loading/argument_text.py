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
from toolwire_schemas.wire.codec import DecodingError, decode

from ..errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

Schema = dict[str, Any]

_MAX_FILE_BYTES = (
    47 * 1024 * 1024
)  # in Base64, with the rest of the message, less than the 64 MiB that servers read

_KINDS: dict[type, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
    type(None): "null",
}


def read(words: Sequence[str], schema: Schema) -> dict[str, Any]:
    """Return the arguments in *words* for a tool with this input *schema*.

    Either they are `name=value` each, or one is a JSON object (or `-`, and standard input holds
    it). `name=@file` takes what the file holds (in Base64 where the schema wants that), `name=@-`
    standard input, and `name=@@x` is the text `@x`. `a.b=1` reaches into an object, and a name
    given again adds to a list.

    Raises:
        UsageError: if a word is not an argument, or names a parameter the tool does not have.
    """
    if len(words) == 1 and (words[0] == "-" or words[0].lstrip().startswith("{")):
        return _object(_standard_input().text() if words[0] == "-" else words[0])
    if sum(word.endswith("=@-") for word in words) > 1:
        raise UsageError(
            "only one argument can be read from standard input: write @FILE for the others"
        )
    arguments: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not (equals and name):
            raise UsageError(_not_an_argument(word, schema))
        _put(arguments, name, _content(text), schema, schema)
    return arguments


def not_in_base64(arguments: dict[str, Any], schema: Schema) -> list[str]:
    """Return the names of *arguments* that a tool with this input *schema* wants in Base64, and
    that are not.
    """
    names = []
    for name, described in _properties(schema, schema).items():
        value = arguments.get(name)
        if not isinstance(value, str) or not _takes_base64(_branches(described, schema)):
            continue
        try:
            binascii.a2b_base64(value, strict_mode=True)
        except ValueError:
            names.append(name)
    return names


def _object(text: str) -> dict[str, Any]:
    try:
        value = decode(text)
    except DecodingError as error:
        raise UsageError(
            f"the arguments are not JSON: {error}; name=value, as in a=1, is easier to type"
        ) from None
    if not isinstance(value, dict):
        raise UsageError('the arguments must be a JSON object such as {"a": 1}')
    return value


def _not_an_argument(word: str, schema: Schema) -> str:
    names = list(_properties(schema, schema))
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

    def text(self) -> str:
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

    def base64(self) -> str:
        """Return it in Base64."""
        return binascii.b2a_base64(self.data, newline=False).decode()


def _content(text: str) -> str | _File:
    if not text.startswith("@") or text == "@":
        return text
    if text.startswith("@@"):
        return text[1:]
    if text == "@-":
        return _standard_input()
    name = text[1:]
    try:
        return _File(name, _data_of(name))
    except OSError as error:
        raise UsageError(
            f"cannot read {name}: {error.strerror} (write @{text} for the text itself)"
        ) from None


def _data_of(name: str) -> bytes:
    with open(name, "rb", opener=_open_at_once) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            remedy = "write @- and pipe it into standard input"
            raise UsageError(f"cannot read {name}: it is a pipe or a device; {remedy}")
        return _limited(name, file.read(_MAX_FILE_BYTES + 1))


def _open_at_once(name: str, flags: int) -> int:
    """Open a file; do not wait for a writer if it is a pipe."""
    return os.open(name, flags | getattr(os, "O_NONBLOCK", 0))


def _standard_input() -> _File:
    name = "standard input"
    return _File(name, _limited(name, sys.stdin.buffer.read(_MAX_FILE_BYTES + 1)))


def _limited(name: str, data: bytes) -> bytes:
    if len(data) > _MAX_FILE_BYTES:
        most = _MAX_FILE_BYTES // 1024**2
        raise UsageError(
            f"{name} is too large for an argument: at most {most} MiB fit into a message"
        )
    return data


def _put(
    target: dict[str, Any], name: str, given: str | _File, schema: Schema, root: Schema
) -> None:
    properties = _properties(schema, root)
    head, dot, tail = name.partition(".")
    if name not in properties and dot and head in properties:
        inner = target.setdefault(head, {})
        if not isinstance(inner, dict):
            raise UsageError(f"{head} already has a value, so {name} cannot be set")
        _put(inner, tail, given, properties[head], root)
        return
    if name not in properties and _resolved(schema, root).get("additionalProperties") is False:
        raise UsageError(_no_parameter(name, properties))
    described = properties.get(name, {})
    value = _value(given, described, root)
    if name not in target:
        target[name] = value
    elif isinstance(target[name], list) and "array" in _kinds(_branches(described, root)):
        target[name] += value if isinstance(value, list) else [value]
    else:
        raise UsageError(f"{name} is given twice, but takes one value")


def _no_parameter(name: str, properties: dict[str, Schema]) -> str:
    from toolwire_schemas.did_you_mean import unknown_name  # imported only for a mistake

    return (
        unknown_name("parameter", name, properties) if properties else "the tool takes no arguments"
    )


def _value(given: str | _File, schema: Schema, root: Schema) -> Any:
    if isinstance(given, str):
        return _value_of_text(given, schema, root)
    branches = _branches(schema, root)
    if _takes_base64(branches):
        return given.base64()
    if "string" not in _kinds(branches) and _takes_base64(
        _branches(_first(branches, "items"), root)
    ):
        return [given.base64()]
    return _value_of_text(given.text(), schema, root)


def _takes_base64(branches: list[Schema]) -> bool:
    """Whether the only texts that a schema takes are data in Base64."""
    texts = [branch for branch in branches if "string" in _kinds([branch])]
    return bool(texts) and all(_is_base64(branch) for branch in texts)


def _is_base64(schema: Schema) -> bool:
    return schema.get("contentEncoding") == "base64" or schema.get("format") in ("byte", "base64")


def _value_of_text(text: str, schema: Schema, root: Schema) -> Any:
    branches = _branches(schema, root)
    kinds = _kinds(branches)
    if kinds == {"string"}:
        return text
    try:
        value = decode(text)
    except DecodingError:
        value = text
    kind = _KINDS[type(value)]
    if not kinds:
        return value
    if kind == "number" and _matches(text, branches):
        return text
    if kind in kinds and kind != "string":
        return value
    if kind in ("integer", "number") and kinds & {"integer", "number"}:
        return value
    if "array" in kinds and "string" not in kinds:
        return [_value_of_text(text, _first(branches, "items"), root)]
    return text


def _matches(text: str, branches: list[Schema]) -> bool:
    """Whether a schema also accepts numbers as text, as for a `Decimal`, where every digit
    counts.
    """
    from toolwire_schemas.json_schema.linear_regex import Budget, CannotJudge, search

    patterns = [pattern for branch in branches if isinstance(pattern := branch.get("pattern"), str)]
    with suppress(CannotJudge):  # a JavaScript pattern, an expensive one, or an invalid one
        return any(search(pattern, text, Budget().spend) for pattern in patterns)
    return False


def _kinds(branches: list[Schema]) -> set[str]:
    """The JSON types that a schema allows; empty if it names none."""
    found: set[str] = set()
    for branch in branches:
        values = [branch["const"]] if "const" in branch else _list(branch, "enum")
        names = (
            _list(branch, "type") or [branch.get("type")]
            if "type" in branch
            else [_KINDS[type(v)] for v in values]
        )
        found.update(name for name in names if isinstance(name, str))
    return found


def _properties(schema: Schema, root: Schema) -> dict[str, Schema]:
    return _first(_branches(schema, root), "properties")


def _first(branches: list[Schema], word: str) -> dict[str, Any]:
    return next((value for branch in branches if isinstance(value := branch.get(word), dict)), {})


def _branches(schema: Schema, root: Schema) -> list[Schema]:
    """*schema*, and those that it combines, without references: `X | None` is X as far as typing
    goes.
    """
    found: dict[int, Schema] = {}
    waiting: list[Any] = [schema]
    while waiting:
        at = _resolved(waiting.pop(), root)
        if at and id(at) not in found:
            found[id(at)] = at
            waiting += [
                branch
                for word in ("allOf", "oneOf", "anyOf")
                for branch in reversed(_list(at, word))
            ]
    return list(found.values())


def _list(schema: Schema, word: str) -> list[Any]:
    value = schema.get(word)
    return value if isinstance(value, list) else []


def _resolved(schema: Any, root: Schema) -> Schema:
    """*schema*, or what its reference points to within *root*. Boolean schemas say nothing about
    types.
    """
    for _ in range(20):  # references may be circular in a foreign schema
        if not isinstance(schema, dict):
            return {}
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return schema
        schema = root
        for part in reference[2:].split("/"):
            schema = (
                schema.get(part.replace("~1", "/").replace("~0", "~"), {})
                if isinstance(schema, dict)
                else {}
            )
    return {}
