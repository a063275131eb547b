"""Values that fit a schema: made from its structural words, and kept if the validator accepts them.

Strategy. At each place, references, `allOf` and one branch of each choice are collected into a list
of plain schemas. A value is made within their bounds for types, sizes, members and items. All other
words (`not`, `if`, a second branch of `oneOf`, …) only filter: a value that does not fit is made
again, a few times. `has_value` follows required members and items, so that an optional part of a
recursive schema is made only where the depth left is enough for it.
"""

from __future__ import annotations

import math
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from hypothesis import reject
from hypothesis import strategies as st
from toolwire_schemas.json_schema.bounded_validator import identity
from toolwire_schemas.json_schema.linear_regex import Budget, search
from toolwire_schemas.json_schema.subschemas import target

from . import scalars
from .document import NoValues

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from hypothesis.strategies import DrawFn

    from .document import Parts, Schema, Schemas, ValueJudge


_KINDS = ("null", "boolean", "integer", "fraction", "string", "array", "object")
_MAX_DEPTH = 16
_MORE_LEVELS = (
    3  # than the smallest value has: enough to reach what is optional, and trees stay small
)
_MORE_ITEMS = 3
_MORE_MEMBERS = 2
_TRIES = 8
_MAX_OPTIONAL = 32  # the time to shrink a value is quadratic in its optional members
_UNDECLARED = "not declared"


class Maker:
    """Makes values that fit *document* or parts of it.

    Raises:
        NoValues: if only values that are nested very deeply fit it, or none.
    """

    def __init__(self, document: ValueJudge) -> None:
        self.document = document
        self._known: dict[tuple[int, int], bool] = {}
        try:
            least = next(
                (depth for depth in range(_MAX_DEPTH) if self.has_value(document.root, depth)), None
            )
        except RecursionError:
            raise NoValues("", "it is nested too deeply") from None
        if least is None:
            raise NoValues("", "nothing fits the schema, or only what is nested very deeply")
        self.depth = least + _MORE_LEVELS

    def values(self) -> st.SearchStrategy[Any]:
        """Return a strategy for values that fit the document."""
        return st.composite(lambda draw: self.value(draw, (self.document.root,), self.depth))()

    def value(self, draw: DrawFn, schemas: Schemas, depth: int) -> Any:
        """Draw a value that fits all *schemas*, nested at most *depth* levels deep."""
        for _ in range(_TRIES):
            parts = self.parts(schemas, lambda schema: self._drawn_branches(draw, schema, depth))
            if parts is not None and (kinds := self._kinds(parts, depth)):
                value = self._made(draw, parts, kinds, depth)
                if all(self.document.is_valid(schema, value) for schema in schemas):
                    return value
        return reject()

    def has_value(self, schema: Schema, depth: int) -> bool:
        """Whether a value nested at most *depth* levels deep may fit *schema*, as far as its
        structural words say.
        """
        if isinstance(schema, bool):
            return schema and depth >= 0
        key = (id(schema), depth)
        if key not in self._known:
            self.document.steps.spend()
            self._known[key] = (
                False  # while it is looked for: a schema that refers to itself alone has no value
            )
            self._known[key] = depth >= 0 and self._has_value(schema, depth)
        return self._known[key]

    def _has_value(self, schema: dict[str, Any], depth: int) -> bool:
        if "$ref" in schema:
            fits = self.has_value(target(self.document.root, schema["$ref"]), depth)
            if not fits or self.document.is_draft7:
                return fits
        return (
            all(self.has_value(each, depth) for each in schema.get("allOf", ()))
            and all(
                any(self.has_value(each, depth) for each in branches)
                for branches in choices(schema)
            )
            and ("enum" in schema or "const" in schema or bool(self._kinds([schema], depth)))
        )

    def _kinds(self, parts: Parts, depth: int) -> list[str]:
        """The kinds of values that all *parts* allow."""
        return [
            kind
            for kind in _KINDS
            if all(kind in _types(part) for part in parts)
            and (
                kind != "array" or _bound(max, parts, "minItems", 0) <= self._capacity(parts, depth)
            )
            and (
                kind != "object"
                or all(self._can_have(name, parts, depth) for name in names_in(parts, "required"))
            )
        ]

    def parts(
        self, schemas: Iterable[Schema], chosen: Callable[[dict[str, Any]], Iterable[Schema]]
    ) -> Parts | None:
        """Return the plain schemas that apply to a value to which *schemas* apply; `None` if one is
        `false`.

        *chosen* returns the branches of a schema that apply.
        """
        found: dict[int, dict[str, Any]] = {}
        pending = list(schemas)
        for schema in pending:  # which grows
            self.document.steps.spend()
            if schema is False:
                return None
            if schema is True or id(schema) in found:
                continue
            if "$ref" in schema:
                pending.append(target(self.document.root, schema["$ref"]))
                if self.document.is_draft7:
                    continue
            found[id(schema)] = schema
            pending += [*schema.get("allOf", ()), *chosen(schema)]
        return list(found.values())

    def _drawn_branches(self, draw: DrawFn, schema: dict[str, Any], depth: int) -> Iterator[Schema]:
        for branches in choices(schema):
            possible = [branch for branch in branches if self.has_value(branch, depth)]
            yield draw(st.sampled_from(possible or [False]))
        if "if" in schema:
            yield from draw(
                st.sampled_from(
                    ((schema["if"], schema.get("then", True)), (schema.get("else", True),))
                )
            )

    def _made(self, draw: DrawFn, parts: Parts, kinds: list[str], depth: int) -> Any:
        listed = [[part["const"]] for part in parts if "const" in part] + [
            p["enum"] for p in parts if "enum" in p
        ]
        if listed:
            return deepcopy(draw(st.sampled_from(min(listed, key=len))))  # it is the schema's own
        match draw(st.sampled_from(kinds)):
            case "null":
                return None
            case "boolean":
                return draw(st.booleans())
            case "string":
                return draw(scalars.strings(parts))
            case "array":
                return self._array(draw, parts, depth)
            case "object":
                return self._object(draw, parts, depth)
            case kind:
                return draw(scalars.numbers(parts, is_integer=kind == "integer"))

    def _capacity(self, parts: Parts, depth: int) -> float:
        """How many items there can be."""
        for index in range(1 + max((len(prefix_and_rest(part)[0]) for part in parts), default=0)):
            if not all(self.has_value(schema, depth - 1) for schema in item(index, parts)):
                return index
        return math.inf

    def _array(self, draw: DrawFn, parts: Parts, depth: int) -> list[Any]:
        counts = [
            (part["contains"], int(part.get("minContains", 1)))
            for part in parts
            if "contains" in part
        ]
        wanted = [schema for schema, count in counts for _ in range(count)]
        least = max(int(_bound(max, parts, "minItems", 0)), len(wanted))
        most = min(
            _bound(min, parts, "maxItems", math.inf),
            self._capacity(parts, depth),
            least + _MORE_ITEMS,
        )
        if least > most:
            return reject()
        size = draw(st.integers(least, int(most)))
        items = [
            self.value(draw, item(n, parts) + tuple(wanted[n : n + 1]), depth - 1)
            for n in range(size)
        ]
        if any(part.get("uniqueItems") for part in parts):
            items = list({identity(item): item for item in items}.values())
        return items

    def _can_have(self, name: str, parts: Parts, depth: int) -> bool:
        return all(self.has_value(schema, depth - 1) for schema in member(name, parts)) and all(
            self.document.is_valid(part["propertyNames"], name)
            for part in parts
            if "propertyNames" in part
        )

    def _object(self, draw: DrawFn, parts: Parts, depth: int) -> dict[str, Any]:
        least = int(_bound(max, parts, "minProperties", 0))
        most = _bound(min, parts, "maxProperties", math.inf)
        names = names_in(parts, "required")
        optional = [
            name
            for name in known_names(parts)
            if name not in names and self._can_have(name, parts, depth)
        ]
        some = (
            st.lists(st.sampled_from(optional), unique=True, max_size=_MAX_OPTIONAL)
            if optional
            else st.just([])
        )
        more = draw(some)
        if any("patternProperties" in part for part in parts) or self._can_have(
            _UNDECLARED, parts, depth
        ):
            missing = max(least - len(names) - len(more), 0)
            count = missing * 2 + draw(st.sampled_from((0, 0, 0, 1, _MORE_MEMBERS)))
            more += [
                name
                for _ in range(count)
                if self._can_have(name := self._name(draw, parts), parts, depth)
            ]
        for name in more:
            if name not in names and len(names) < most:
                names.append(name)
        names += [name for name in optional if name not in names][: max(least - len(names), 0)]
        return {name: self.value(draw, member(name, parts), depth - 1) for name in names}

    def _name(self, draw: DrawFn, parts: Parts) -> str:
        patterns = [pattern for part in parts for pattern in part.get("patternProperties", ())]
        some = st.one_of(
            st.sampled_from(scalars.NAMES), st.text(max_size=6), *map(scalars.matching, patterns)
        )
        return str(draw(some))


def _types(part: dict[str, Any]) -> set[str]:
    types = part.get("type", list(_KINDS))
    found = {types} if isinstance(types, str) else set(types)
    return found | {"integer", "fraction"} if "number" in found else found


def _bound(best: Any, parts: Iterable[dict[str, Any]], word: str, default: float) -> float:
    found: float = best([part[word] for part in parts if word in part], default=default)
    return found


def choices(schema: dict[str, Any]) -> list[list[Schema]]:
    """Return the lists of branches of which a value must fit one each."""
    return [schema[word] for word in ("anyOf", "oneOf") if word in schema]


def names_in(parts: Iterable[dict[str, Any]], *words: str) -> list[str]:
    """Return the names that *parts* list by these *words*, or have as their keys."""
    return list(
        dict.fromkeys(name for word in words for part in parts for name in part.get(word, ()))
    )


def known_names(parts: Parts) -> list[str]:
    """Return the names of members that *parts* name, apart from required ones."""
    needed = [
        name
        for part in parts
        for names in part.get("dependentRequired", {}).values()
        for name in names
    ]
    named = names_in(parts, "properties", "dependentRequired", "dependentSchemas", "dependencies")
    return list(dict.fromkeys([*named, *needed]))


def member(name: str, parts: Iterable[dict[str, Any]]) -> Schemas:
    """Return the schemas that the member of this *name* must fit."""
    return tuple(schema for part in parts for schema in _member(name, part))


def _member(name: str, part: dict[str, Any]) -> list[Schema]:
    properties, patterns = part.get("properties", {}), part.get("patternProperties", {})
    found = [properties[name]] if name in properties else []
    found += [
        schema for pattern, schema in patterns.items() if search(pattern, name, Budget().spend)
    ]
    return found or [part.get("additionalProperties", True)]


def item(index: int, parts: Iterable[dict[str, Any]]) -> Schemas:
    """Return the schemas that the item at *index* must fit."""
    return tuple(
        prefix[index] if index < len(prefix) else rest
        for prefix, rest in map(prefix_and_rest, parts)
    )


def prefix_and_rest(part: dict[str, Any]) -> tuple[list[Schema], Schema]:
    """Return the schemas of the first items, and that of the rest."""
    if isinstance(items := part.get("items", True), list):  # as up to draft-07
        return items, part.get("additionalItems", True)
    return part.get("prefixItems", []), items
