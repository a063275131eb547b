"""Make simple arguments for any tool: some that its input schema accepts, and some that it rejects.

Strategy. References, `allOf` and one branch of each choice are merged into one schema, from which a value with the
required members is made. No keyword is supported in full: the value is validated by the whole schema, and if it does
not fit, the next branches are tried.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

from toolwire_schemas.json_schema.linear_regex import CannotJudge

from ...validation import LenientValidator
from ..keywords import choices, collect, item, member, names_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..keywords import Schema, Schemas

_MAX_DEPTH = 8
_MAX_LENGTH = 10_000  # longer texts and lists are not made: whether a tool takes them is not what is asked here
_MAX_VALUES = 10_000
"""The number of values inside the arguments: a schema may ask for lists of lists, or for endless trees."""
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


class Samples:
    """Arguments by *schema*, from a server. A malformed schema has no arguments."""

    def __init__(self, schema: Any) -> None:
        self._schema: dict[str, Any] = schema if isinstance(schema, dict) else {"type": None}
        self._judge = LenientValidator(self._schema)
        self._is_schema = not self._judge.trouble
        self.plain = self._plain() if self._is_schema else None
        """Arguments that it accepts: the required ones alone. `None` if none were found."""

    def of_wrong_type(self) -> dict[str, Any] | None:
        """Return arguments that it refuses since one is of a wrong type; `None` if none were found."""
        if self.plain is None:
            return None
        names = islice(self._schema.get("properties", ()), _MAX_BRANCHES)
        made = ({**self.plain, name: value} for name in names for value in _WRONG)
        return next((arguments for arguments in made if not self._accepts(arguments)), None)

    def incomplete(self) -> dict[str, Any] | None:
        """Return arguments that it refuses since a required one is missing; `None` if none is required."""
        return {} if self._is_schema and self._schema.get("required") and not self._accepts({}) else None

    def with_more(self) -> dict[str, Any] | None:
        """Return arguments that it refuses since one is unknown; `None` if it accepts unknown ones."""
        more = {**(self.plain or {}), "toolwire_contract_unknown": 1}
        return None if self.plain is None or self._accepts(more) else more

    def _plain(self) -> dict[str, Any] | None:
        for branch in range(_MAX_BRANCHES):
            with suppress(_TooLarge, LookupError, CannotJudge):
                value = _Maker(self._schema, branch).value((self._schema,))
                if isinstance(value, dict) and self._accepts(value):
                    return value
        return None

    def _accepts(self, value: Any) -> bool:
        return not self._judge.faults(value, "") and not self._judge.trouble


class _TooLarge(Exception):
    """A schema asks for more values than are made, or for too many levels."""


class _Maker:
    """Makes the plainest value of any schema in *root*, by this *branch* of each choice, or its last one."""

    def __init__(self, root: Any, branch: int) -> None:
        self._root = root
        self._branch = branch
        self._left = _MAX_VALUES

    def value(self, schemas: Schemas, depth: int = 0) -> Any:
        parts = collect(self._root, schemas, self._chosen, self._spend)
        if parts is None or depth > _MAX_DEPTH:
            raise _TooLarge
        merged = {word: value for part in reversed(parts) for word, value in part.items()}
        for word in ("const", "default"):
            if word in merged:
                return merged[word]
        for word in ("examples", "enum"):
            if merged.get(word):
                return merged[word][0]
        kinds = merged.get("type", "object" if merged.get("properties") else "string")
        match kinds[0] if isinstance(kinds, list) else kinds:
            case "object":
                return {name: self.value(member(name, parts), depth + 1) for name in names_in(parts, "required")}
            case "array":
                count = int(min(merged.get("minItems", 0), _MAX_LENGTH))
                return [self.value(item(index, parts), depth + 1) for index in range(count)]
            case kind:
                return _PLAIN[kind](merged)

    def _chosen(self, schema: dict[str, Any]) -> list[Schema]:
        return [branches[: self._branch + 1][-1] for branches in choices(schema)]

    def _spend(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise _TooLarge


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
