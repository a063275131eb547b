"""What jsonschema says about a value, where all readers of the schema would say the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .nodes import TooComplex

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
        try:
            strict = self._validator(node.document)
            found = strict.evolve(schema=node.schema).is_valid(value)
            return found, strict.evolve(schema=node.schema, format_checker=None).is_valid(value)
        except Exception:  # schemas are anybody's, and what they make of a validator is no answer
            return None

    def _validator(self, document: Document) -> Any:
        if id(document) not in self._validators:
            from jsonschema import Draft7Validator, Draft202012Validator
            from referencing import Registry

            kind = Draft7Validator if document.is_old else Draft202012Validator
            # With a registry of its own it fetches nothing.
            made = kind(document.root, registry=Registry(), format_checker=kind.FORMAT_CHECKER)
            self._validators[id(document)] = document, made
        return self._validators[id(document)][1]
