"""Make simple arguments for any tool: some that its input schema accepts, and some that it rejects.

Strategy. Arguments that fit are what shows that a schema which accepts nothing does not take all
that this one takes.
"""

from __future__ import annotations

from typing import Any

from toolwire_client.validation import LenientValidator
from toolwire_dialects.compare import takes_all
from toolwire_schemas.json_schema.subschemas import children

_MAX_NAMES = 8

# Values that tools are likely to take, and with which they do something.
_SIMPLE = {"integer": 1, "number": 1, "boolean": True, "string": "a"}
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
_WRONG = [{"not": "this"}, ["not this"], "not this", 0.5]  # not null: servers may read it as absent


class Samples:
    """Arguments by *schema*, from a server. A malformed schema has no arguments."""

    def __init__(self, schema: Any) -> None:
        self._schema: dict[str, Any] = schema if isinstance(schema, dict) else {"type": None}
        self._judge = LenientValidator(self._schema)
        self._is_schema = not self._judge.trouble
        self.plain = self._plain() if self._is_schema else None
        """Arguments that it accepts: the required ones alone. `None` if none were found."""

    def _plain(self) -> dict[str, Any] | None:
        found = takes_all(False, made := _with_examples(self._schema)).witness
        given = (made.get("default"), *made.get("examples", ()), found)
        return next(
            (value for value in given if isinstance(value, dict) and self._accepts(value)), None
        )

    def of_wrong_type(self) -> dict[str, Any] | None:
        """Return arguments that it refuses since one is of a wrong type; `None` if none were
        found.
        """
        if self.plain is None:
            return None
        names = list(self._schema.get("properties", ()))[:_MAX_NAMES]
        made = ({**self.plain, name: value} for name in names for value in _WRONG)
        return next((arguments for arguments in made if not self._accepts(arguments)), None)

    def incomplete(self) -> dict[str, Any] | None:
        """Return arguments that it refuses since a required one is missing; `None` if none is
        required.
        """
        return (
            {}
            if self._is_schema and self._schema.get("required") and not self._accepts({})
            else None
        )

    def with_more(self) -> dict[str, Any] | None:
        """Return arguments that it refuses since one is unknown; `None` if it accepts unknown
        ones.
        """
        more = {**(self.plain or {}), "toolwire_contract_unknown": 1}
        return None if self.plain is None or self._accepts(more) else more

    def _accepts(self, value: Any) -> bool:
        return not self._judge.faults(value, "") and not self._judge.trouble


def _with_examples(schema: Any) -> Any:
    """*schema* with simple values as its default and examples, which are tried first."""
    if isinstance(schema, list):  # as `items` may be up to draft-07
        return [_with_examples(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = children(schema, _with_examples)
    kinds = made["type"] if isinstance(made.get("type"), list) else [made.get("type")]
    examples = [made["default"]] if "default" in made else []
    examples += made["examples"] if isinstance(made.get("examples"), list) else []
    examples += [_FORMATS[made["format"]]] if str(made.get("format")) in _FORMATS else []
    examples += [_SIMPLE[str(kind)] for kind in kinds if str(kind) in _SIMPLE]
    examples += [made[word] for word in ("minimum", "maximum", "multipleOf") if word in made]
    for branch in (*made.get("anyOf", ()), *made.get("oneOf", ())):
        examples += [branch["default"]] if isinstance(branch, dict) and "default" in branch else []
    return {**made, "examples": examples[1:], **({"default": examples[0]} if examples else {})}
