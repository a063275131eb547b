"""Arguments back from the calls of strict functions.

In strict mode every member of an object has to be given, so a model sends null for what it leaves
out (`openai_strict.py`). Here such a null is left out again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from jsonschema import Draft202012Validator
from toolwire_schemas.json_schema.bounded_validator import (
    Budget,
    CannotJudge,
    SchemaValidator,
    TooExpensive,
)
from toolwire_schemas.json_schema.graph import SchemaGraph, SchemaNode

if TYPE_CHECKING:
    from .tool_entry import Schema


def restore_arguments(arguments: dict[str, Any], schema: Schema) -> dict[str, Any]:
    """Return the *arguments* of a strict call as the tool's own input *schema* wants them.

    A null goes where the schema knows a member that may be left out and may not be null. One that
    may be null stays null, since either could be meant. Values that do not fit the schema stay
    unchanged; the tool refuses them.
    """
    restorer = _Restorer(schema)
    try:
        restored: dict[str, Any] = restorer.restore(arguments, restorer.root)
    # A circle of alternatives, arguments nested too deeply, too many branches.
    except (RecursionError, CannotJudge):
        return arguments
    return restored


class _Restorer:
    def __init__(self, schema: Schema) -> None:
        self.root = SchemaGraph(schema).root
        self._judge = NodeJudge(schema)
        self._budget = Budget()

    def restore(self, value: Any, place: SchemaNode | None) -> Any:
        """Return *value* without the nulls that mean an absent member at *place*."""
        if place is None:
            return value
        self._budget.spend()
        node = place.resolved
        for group in node.choices:
            value = self._restore_by_any(value, group)
        if isinstance(value, list):
            return self._restore_items(value, node)
        if isinstance(value, dict):
            return self._restore_members(value, node)
        return value

    def _restore_by_any(self, value: Any, group: tuple[SchemaNode, ...]) -> Any:
        for variant in group:
            restored = self.restore(value, variant)
            if self._judge.accepts(variant, restored):
                return restored
        return value

    def _restore_items(self, items: list[Any], node: SchemaNode) -> list[Any]:
        restored = []
        for index, item in enumerate(items):
            is_first = index < len(node.prefix_items)
            place = node.prefix_items[index] if is_first else node.items
            restored.append(self.restore(item, place))
        return restored

    def _restore_members(self, members: dict[str, Any], node: SchemaNode) -> dict[str, Any]:
        restored = {}
        for name, value in members.items():
            place = node.properties.get(name)
            is_optional = place is not None and name not in node.required
            if value is None and place and is_optional and not self._judge.accepts(place, None):
                continue
            restored[name] = self.restore(value, place)
        return restored


class NodeJudge:
    """Validates values by the nodes of one schema."""

    def __init__(self, schema: Schema) -> None:
        self._validator = SchemaValidator(schema, dialect=Draft202012Validator, checks=False)

    def accepts(self, node: SchemaNode, value: Any) -> bool:
        """Return whether *value* is valid by *node*; no if that cannot be known.

        Raises:
            TooExpensive: as `SchemaValidator`.
        """
        try:
            return self._validator.is_valid(value, node.schema)
        except TooExpensive:
            raise
        except CannotJudge:
            return False
