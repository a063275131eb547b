"""Parses the arguments of a tool on the command line, `count=3 tags=a tags=b`, by the tool's input schema.

Where the schema expects a string, the text is the value; elsewhere it is JSON. Text that fits neither is sent as it
is, so that the server reports the error.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from toolwire_schemas.wire.codec import DecodingError, decode

from ..errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

Schema = dict[str, Any]

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

    Either they are `name=value` each, or one is a JSON object (or `-`, and standard input holds it). `name=@file`
    takes the file's text, `name=@-` standard input, and `name=@@x` is the text `@x`. `a.b=1` reaches into an
    object, and a name given again adds to a list.

    Raises:
        UsageError: if a word is not an argument, or names a parameter the tool does not have.
    """
    if len(words) == 1 and (words[0] == "-" or words[0].lstrip().startswith("{")):
        return _object(sys.stdin.read() if words[0] == "-" else words[0])
    arguments: dict[str, Any] = {}
    for word in words:
        name, equals, text = word.partition("=")
        if not (equals and name):
            raise UsageError(_not_an_argument(word, schema))
        _put(arguments, name, _content(text), schema, schema)
    return arguments


def _object(text: str) -> dict[str, Any]:
    try:
        value = decode(text)
    except DecodingError as error:
        raise UsageError(f"the arguments are not JSON: {error}; name=value, as in a=1, is easier to type") from None
    if not isinstance(value, dict):
        raise UsageError('the arguments must be a JSON object such as {"a": 1}')
    return value


def _not_an_argument(word: str, schema: Schema) -> str:
    names = list(_properties(schema, schema))
    takes = f"the tool takes {', '.join(names)}" if names else "the tool takes no arguments"
    form = "name=value, without spaces around = and with quotes around a value that has spaces, or as one JSON object"
    return f"write the arguments as {form}, not as {word!r}; {takes}"


def _content(text: str) -> str:
    if not text.startswith("@") or text == "@":
        return text
    if text.startswith("@@"):
        return text[1:]
    if text == "@-":
        return sys.stdin.read()
    try:
        with open(text[1:], encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text"
        raise UsageError(f"cannot read {text[1:]}: {reason} (write @{text} for the text itself)") from None


def _put(target: dict[str, Any], name: str, text: str, schema: Schema, root: Schema) -> None:
    properties = _properties(schema, root)
    head, dot, tail = name.partition(".")
    if name not in properties and dot and head in properties:
        inner = target.setdefault(head, {})
        if not isinstance(inner, dict):
            raise UsageError(f"{head} already has a value, so {name} cannot be set")
        _put(inner, tail, text, properties[head], root)
        return
    if name not in properties and _resolved(schema, root).get("additionalProperties") is False:
        raise UsageError(_no_parameter(name, properties))
    described = properties.get(name, {})
    value = _value(text, described, root)
    if name not in target:
        target[name] = value
    elif isinstance(target[name], list) and "array" in _kinds(_branches(described, root)):
        target[name] += value if isinstance(value, list) else [value]
    else:
        raise UsageError(f"{name} is given twice, but takes one value")


def _no_parameter(name: str, properties: dict[str, Schema]) -> str:
    from toolwire_schemas.did_you_mean import unknown_name  # imported only for a mistake

    return unknown_name("parameter", name, properties) if properties else "the tool takes no arguments"


def _value(text: str, schema: Schema, root: Schema) -> Any:
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
        return [_value(text, _first(branches, "items"), root)]
    return text


def _matches(text: str, branches: list[Schema]) -> bool:
    """Whether a schema also accepts numbers as text, as for a `Decimal`, where every digit counts."""
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
        names = _list(branch, "type") or [branch.get("type")] if "type" in branch else [_KINDS[type(v)] for v in values]
        found.update(name for name in names if isinstance(name, str))
    return found


def _properties(schema: Schema, root: Schema) -> dict[str, Schema]:
    return _first(_branches(schema, root), "properties")


def _first(branches: list[Schema], word: str) -> dict[str, Any]:
    return next((value for branch in branches if isinstance(value := branch.get(word), dict)), {})


def _branches(schema: Schema, root: Schema) -> list[Schema]:
    """*schema*, and those that it combines, without references: `X | None` is X as far as typing goes."""
    found: dict[int, Schema] = {}
    waiting: list[Any] = [schema]
    while waiting:
        at = _resolved(waiting.pop(), root)
        if at and id(at) not in found:
            found[id(at)] = at
            waiting += [branch for word in ("allOf", "oneOf", "anyOf") for branch in reversed(_list(at, word))]
    return list(found.values())


def _list(schema: Schema, word: str) -> list[Any]:
    value = schema.get(word)
    return value if isinstance(value, list) else []


def _resolved(schema: Any, root: Schema) -> Schema:
    """*schema*, or what its reference points to within *root*. Boolean schemas say nothing about types."""
    for _ in range(20):  # references may be circular in a foreign schema
        if not isinstance(schema, dict):
            return {}
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#/"):
            return schema
        schema = root
        for part in reference[2:].split("/"):
            schema = schema.get(part.replace("~1", "/").replace("~0", "~"), {}) if isinstance(schema, dict) else {}
    return {}
