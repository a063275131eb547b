"""Make simple arguments for any tool: some that its input schema accepts, and some that it rejects.

Strategy. References, `allOf` and one branch of each choice are merged into one schema, from which a value with the
required members is made. No keyword is supported in full: the value is validated by the whole schema, and if it does
not fit, the next branches are tried.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from toolwire_schemas.json_schema.subschemas import target

from .server_schema import faults_in, is_schema

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MAX_DEPTH = 8
_MAX_LENGTH = 10_000
"""Longer texts and lists are not made: whether a tool takes them is not what is asked here."""
_MAX_VALUES = 10_000
"""So many values inside the arguments at most: a schema may ask for lists of lists, or for endless trees."""
_MAX_BRANCHES = 8

_FORMATS = {
    "date-time": "2025-01-01T00:00:00Z",
    "date": "2025-01-01",
    "time": "00:00:00Z",
    "uri": "https://example.com/",
    "email": "a@example.com",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "ipv4": "127.0.0.1",
    "ipv6": "::1",
    "hostname": "example.com",
}
_WRONG = [{"not": "this"}, ["not this"], "not this", 0.5, None]


def plain(schema: Any) -> dict[str, Any] | None:
    """Return arguments that *schema* takes: the required ones alone. `None` if none were found, or it is no schema."""
    if not is_schema(schema):
        return None
    for branch in range(_MAX_BRANCHES):
        maker = _Maker(schema, branch)
        try:
            value = maker.value(schema, 0)
        except _TooLarge:
            continue
        if isinstance(value, dict) and _takes(schema, value):
            return value
        if not maker.has_more_branches:
            return None
    return None


def of_wrong_type(schema: Any) -> Iterator[dict[str, Any]]:
    """Yield arguments that *schema* refuses since one is of a wrong type."""
    base = plain(schema)
    for name in islice(schema.get("properties", {}), _MAX_BRANCHES) if base is not None else ():
        changed = ({**(base or {}), name: value} for value in _WRONG)
        yield from (made for made in changed if not _takes(schema, made))


def incomplete(schema: Any) -> dict[str, Any] | None:
    """Return arguments that *schema* refuses since a required one is missing; `None` if none is required."""
    return {} if is_schema(schema) and schema.get("required") and not _takes(schema, {}) else None


def with_more(schema: Any) -> dict[str, Any] | None:
    """Return arguments that *schema* refuses since one is unknown; `None` if it takes unknown ones."""
    base = plain(schema)
    more = {**(base or {}), "toolwire_contract_unknown": 1}
    return None if base is None or _takes(schema, more) else more


def _takes(schema: Any, value: Any) -> bool:
    return not faults_in(value, schema)


class _TooLarge(Exception):
    """What a schema asks for has more values inside than are made."""


class _Maker:
    """Makes the plainest value of any schema inside *root*, by this *branch* of each choice; by the last if it has
    fewer."""

    def __init__(self, root: Any, branch: int) -> None:
        self._root = root
        self._branch = branch
        self._left = _MAX_VALUES
        self.has_more_branches = False

    def value(self, schema: Any, depth: int) -> Any:
        whole = self._whole(schema, depth)
        for word in ("const", "default"):
            if word in whole:
                return whole[word]
        for word in ("examples", "enum"):
            if whole.get(word):
                return whole[word][0]
        kinds = whole.get("type", "object" if whole.get("properties") else "string")
        match kinds[0] if isinstance(kinds, list) else kinds:
            case "object":
                return {name: self.value(whole["properties"].get(name), depth + 1) for name in whole["required"]}
            case "array":
                return self._array(whole, depth)
            case kind:
                return _PLAIN[kind](whole)

    def _whole(self, schema: Any, depth: int) -> dict[str, Any]:
        """*schema* and what it leads to as one: what it says itself goes before."""
        self._left -= 1
        if self._left < 0:
            raise _TooLarge
        if not isinstance(schema, dict) or depth > _MAX_DEPTH:
            return {}
        parts = [_target(self._root, schema["$ref"])] if "$ref" in schema else []
        parts += schema.get("allOf", ())
        parts += [self._chosen(schema[word]) for word in ("anyOf", "oneOf") if word in schema]
        wholes = [schema, *(self._whole(part, depth + 1) for part in parts)]
        merged = {word: value for whole in reversed(wholes) for word, value in whole.items()}
        members: dict[str, list[Any]] = {}
        for whole in wholes:
            for name, inner in whole.get("properties", {}).items():
                members.setdefault(name, []).append(inner)
        merged["properties"] = {name: {"allOf": all_of} for name, all_of in members.items()}
        merged["required"] = list(dict.fromkeys(name for whole in wholes for name in whole.get("required", ())))
        return merged

    def _chosen(self, branches: list[Any]) -> Any:
        self.has_more_branches |= self._branch + 1 < len(branches)
        return branches[min(self._branch, len(branches) - 1)]

    def _array(self, schema: dict[str, Any], depth: int) -> list[Any]:
        items = schema.get("items")
        prefix, rest = (items, schema.get("additionalItems")) if isinstance(items, list) else ([], items)
        prefix = schema.get("prefixItems", prefix)
        count = int(min(schema.get("minItems", 0), _MAX_LENGTH))
        return [self.value(prefix[place] if place < len(prefix) else rest, depth + 1) for place in range(count)]


def _target(root: Any, reference: str) -> Any:
    try:
        return target(root, reference)
    except LookupError:
        return None


def _text(schema: dict[str, Any]) -> str:
    text = _FORMATS.get(str(schema.get("format")), "a")
    return text.ljust(int(min(schema.get("minLength", 0), _MAX_LENGTH)), "a")


def _number(schema: dict[str, Any]) -> Any:
    low = schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
    high = schema.get("maximum", schema.get("exclusiveMaximum", low + 2) - 1)
    return schema.get("multipleOf", 1 if low <= 1 <= high else low if low > 1 else high)


_PLAIN: dict[str, Callable[[dict[str, Any]], Any]] = {
    "string": _text,
    "integer": _number,
    "number": _number,
    "boolean": lambda _: True,
    "null": lambda _: None,
}
