"""What jsonschema says about a value, where all readers of the schema would say the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..json_schema.linear_regex import MAX_STEPS, Budget, CannotJudge, TooExpensive
from .nodes import TooComplex, spend

if TYPE_CHECKING:
    from .nodes import Document, Node

_MAX_ASKED = 10_000
"""A judgement takes some 20 microseconds, of a large object some 200."""


class Judge:
    """Asks jsonschema, so often and no more: then it is `TooComplex`."""

    def __init__(self) -> None:
        self._asked = 0
        self._validators: dict[int, tuple[Document, Any]] = {}

    def takes(self, node: Node, value: Any) -> bool:
        """Return whether it is sure that *value* fits, for those who check formats and for those who do not."""
        return self._both(node, value) == (True, True)

    def refuses(self, node: Node, value: Any) -> bool:
        """Return whether it is sure that it does not, likewise."""
        return self._both(node, value) == (False, False)

    def _both(self, node: Node, value: Any) -> tuple[bool, bool] | None:
        self._asked += 1
        if self._asked > _MAX_ASKED:
            raise TooComplex
        used = Budget()
        try:
            judge = self._judge(node.document)
            strict = judge.is_valid(value, node.schema, formats=True, total=used)
            return strict, judge.is_valid(value, node.schema, total=used)
        except TooExpensive:
            raise TooComplex from None
        except CannotJudge:
            return None
        finally:
            spend(MAX_STEPS - used.left)

    def _judge(self, document: Document) -> Any:
        if id(document) not in self._validators:
            from jsonschema import Draft7Validator, Draft202012Validator

            from ..json_schema.bounded_validator import Judge as OfSchema

            kind = Draft7Validator if document.is_old else Draft202012Validator
            self._validators[id(document)] = (
                document,
                OfSchema(document.root, dialect=kind, is_fixed=True, checks=False),
            )
        return self._validators[id(document)][1]
