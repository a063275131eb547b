"""What an annotation says besides its type: texts and constraints.

Read from `Annotated[...]`: plain strings, `typing_extensions.Doc`, `msgspec.Meta`, the constraints of
annotated-types, and pydantic's `Field` where it only describes or constrains.

Strategy. annotated-types and pydantic are recognised by the shape of their objects and never imported:
whoever uses them has imported them.
"""

from __future__ import annotations

from typing import Any

import msgspec

_TEXTS = ("title", "description", "examples")
BOUNDS = ("ge", "gt", "le", "lt", "multiple_of")
LENGTHS = ("min_length", "max_length")
CONSTRAINTS = (*BOUNDS, *LENGTHS, "pattern", "tz")


class Notes(msgspec.Struct, frozen=True):
    """Texts and constraints collected from one annotation, the outermost winning."""

    texts: dict[str, Any] = {}
    constraints: dict[str, Any] = {}
    schema: dict[str, Any] = {}
    """Members for the JSON Schema, exactly as the author wrote them."""

    def over(self, inner: Notes) -> Notes:
        """These notes, and *inner* where these say nothing."""
        return Notes(inner.texts | self.texts, inner.constraints | self.constraints, inner.schema | self.schema)


NOTHING = Notes()


def read(metadata: tuple[Any, ...]) -> Notes:
    """Return what the members of an `Annotated[...]` after the first say; unknown ones are passed over."""
    texts: dict[str, Any] = {}
    constraints: dict[str, Any] = {}
    schema: dict[str, Any] = {}
    for item in _flat(metadata):
        if isinstance(item, str):
            texts["description"] = item
        elif isinstance(item, msgspec.Meta):
            texts |= _set(item, _TEXTS)
            constraints |= _set(item, CONSTRAINTS)
            schema |= item.extra_json_schema or {}
        elif isinstance(text := getattr(item, "documentation", None), str):
            texts["description"] = text
        elif not isinstance(item, type):
            constraints |= _set(item, (*CONSTRAINTS, *(() if is_field(item) else ("tz",))))
            if is_field(item):
                texts |= _set(item, _TEXTS)
    return Notes(texts, constraints, schema)


def is_field(item: Any) -> bool:
    """True for what pydantic's `Field(...)` returns."""
    return type(item).__name__ == "FieldInfo" and type(item).__module__ == "pydantic.fields"


def only_describes(field: Any) -> bool:
    """True if a pydantic field says nothing that `read` would lose: no alias, no validator, no strictness."""
    known = {"annotation", "default", "default_factory", "description", "title", "examples", "metadata"}
    said = set(getattr(field, "_attributes_set", known)) - {"annotation"}
    plain = all(any(hasattr(item, name) for name in CONSTRAINTS) for item in field.metadata)
    strict = any(hasattr(item, "strict") for item in field.metadata)
    return plain and not strict and said <= known | set(CONSTRAINTS)


def _flat(metadata: tuple[Any, ...]) -> list[Any]:
    """The members, with `Interval`, `Len` and pydantic's fields replaced by the single constraints in them."""
    flat: list[Any] = []
    for item in metadata:
        if is_field(item):
            flat += [*_flat(tuple(item.metadata)), item]
        elif hasattr(item, "__is_annotated_types_grouped_metadata__"):
            flat += list(item)
        else:
            flat.append(item)
    return flat


def _set(item: Any, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name in names if (value := getattr(item, name, None)) is not None}
