"""Values to try: such as fit some schemas, at the edges of what these and other schemas say.

A proof says that there is no difference; this module searches for a value that shows one. jsonschema has checked each
returned value, so it does not matter how the value was found.
"""

from __future__ import annotations

from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any

from ..json_schema.bounded_validator import identity
from ..json_schema.linear_regex import MAX_STEPS, Budget, CannotJudge, TooExpensive
from .nodes import IN_PLACE, Key, Node, TooComplex, kind, spend
from .proof import Proof
from .proof_cases import NUMBERS, Case, cases, element, members, prefix

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .nodes import Document


_MAX_ASKED = 10_000
"""A judgement takes some 20 microseconds, of a large object some 200."""


class CountedValidator:
    """Validates by jsonschema a limited number of times, then raises `TooComplex`."""

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

            from ..json_schema.bounded_validator import SchemaValidator

            kind = Draft7Validator if document.is_old else Draft202012Validator
            self._validators[id(document)] = (
                document,
                SchemaValidator(document.root, dialect=kind, is_fixed=True, checks=False, exact_multiples=False),
            )
        return self._validators[id(document)][1]


_MAX_DEPTH = 6
_MAX_RETURNED = 16
_MAX_PLAIN = 3
_MAX_TRIED = 400
_MAX_CASES = 24
_MAX_LENGTH = 2_000
"""Longer texts and lists are not made, whatever a schema's bounds are."""

_NAMES = ("extra", "x", "A1", "another one")
_TEXTS = ("a", "", "A", "0", "abc", "a b", "1.5", "-", "é", "Some text, and more.", "true")
_FORMATS = (
    "2026-03-01T09:00:00Z",
    "2026-03-01",
    "09:00:00Z",
    "P1D",
    "me@example.com",
    "example.com",
    "192.0.2.1",
    "2001:db8::1",
    "https://example.com/a",
    "/a/b",
    "123e4567-e89b-12d3-a456-426614174000",
)


class Samples:
    """The search for values. *hints* are schemas whose edges are worth a try; fitting them is not wanted."""

    def __init__(self, judge: CountedValidator) -> None:
        self._judge = judge
        self._proof = Proof()
        self._known: dict[Any, list[Any]] = {}

    def refused(self, old: Node, new: Node) -> list[Any]:
        """Return a value that fits *old* and does not fit *new*, in a list; an empty list if none is found."""
        old, new = old.resolved(), new.resolved()
        simple = self._known[_place((old,), (new,))] = []
        for value in islice(self._tried((old,), (new,), 0), _MAX_TRIED):
            if self._judge.takes(old, value):
                if self._judge.refuses(new, value):
                    return [value]
                _remember(value, simple)
        return []

    def of(self, nodes: tuple[Node, ...], hints: tuple[Node, ...], depth: int = 0) -> list[Any]:
        """Return values that fit all *nodes*, first of all such as do not fit some of the *hints*."""
        nodes, hints = (tuple(node.resolved() for node in given) for given in (nodes, hints))
        place = _place(nodes, hints)
        if depth > _MAX_DEPTH:
            return []
        if place not in self._known:
            simple = self._known[place] = []
            self._known[place] = self._found(nodes, hints, depth, simple)
        return self._known[place]

    def _found(self, nodes: tuple[Node, ...], hints: tuple[Node, ...], depth: int, simple: list[Any]) -> list[Any]:
        can_tell = not all(self._fits(nodes, hint) for hint in hints)
        telling: list[Any] = []
        plain: list[Any] = []
        seen = set()
        for value in islice(self._tried(nodes, hints, depth), _MAX_TRIED):
            if (one := identity(value)) in seen or not all(self._judge.takes(node, value) for node in nodes):
                continue
            seen.add(one)
            _remember(value, simple)
            found = telling if can_tell and any(self._judge.refuses(hint, value) for hint in hints) else plain
            found.append(value)
            if len(telling) >= _MAX_RETURNED or (len(plain) >= _MAX_PLAIN and not can_tell):
                break
        # The first is what others are built on.
        return [*plain[:1], *telling, *plain[1:_MAX_PLAIN]]

    def _fits(self, nodes: tuple[Node, ...], hint: Node) -> bool:
        """Whether it is of no use to look for a value that does not fit *hint*."""
        try:
            return self._proof.holds(nodes, hint)
        except TooComplex:
            self._proof = Proof()
            return False

    def _tried(self, nodes: tuple[Node, ...], hints: tuple[Node, ...], depth: int) -> Iterator[Any]:
        around = [*within(nodes), *within(hints)]
        theirs = {identity(value) for value in _mentioned(within(hints))}
        yield from (value for value in _mentioned(within(nodes)) if identity(value) not in theirs)
        made: list[Iterator[Any]] = []
        for case in islice(_cases(nodes), _MAX_CASES):
            if case.value:
                yield from case.value
            elif case.kind in NUMBERS:
                yield from _numbers(around)
            elif case.kind == "string":
                yield from _texts(around)
            elif case.kind == "array":
                made.append(self._arrays(case, hints, around, depth))
            else:
                made.append(self._objects(case, hints, around, depth))
        for values in made:
            yield from values
        yield from _mentioned(within(hints))

    # --- arrays ---

    def _arrays(self, case: Case, hints: tuple[Node, ...], around: list[Node], depth: int) -> Iterator[list[Any]]:
        least = max(case.least("minItems"), 1 if any(case.said("contains")) else 0)
        if least > _MAX_LENGTH:
            return
        below = within(hints)
        contained = tuple(node.at(node.words["contains"]) for node in case.nodes if "contains" in node.words)

        def parts(index: int) -> list[Any]:
            wanted = tuple(found for hint in below if (found := element(hint, index)) is not None)
            return self.of((*case.element(index), *(contained if index < least else ())), wanted, depth + 1)

        base = _filled([], least, parts)
        if base is None:
            return
        yield base
        last = max([case.prefix(), *map(prefix, below)], default=0)
        for index in range(min(last, 20) + 1):
            start = _filled(base[:index], index, parts)
            for value in parts(index) if start is not None else ():
                yield [*(start or ()), value, *base[index + 1 :]]
        bounds = {int(node.words[word]) for node in around for word in ("minItems", "maxItems") if word in node.words}
        for size in sorted({size for bound in bounds for size in (bound - 1, bound, bound + 1)} | {1, 2, 3}):
            if 0 <= size <= _MAX_LENGTH and (longer := _filled(base[:size], size, parts)) is not None:
                yield longer
        if values := parts(0):
            yield [values[0], values[0]]
            yield from ([one, other] for one, other in pairwise(values))

    # --- objects ---

    def _objects(self, case: Case, hints: tuple[Node, ...], around: list[Node], depth: int) -> Iterator[dict[str, Any]]:
        below = within(hints)
        names = dict.fromkeys([*case.names(), *_named(below), *_NAMES])

        def parts(name: str) -> list[Any]:
            wanted = tuple(found for hint in below for found in members(hint, name))
            return self.of(case.member(name), wanted, depth + 1)

        base: dict[str, Any] = {}
        for name in sorted(case.required()):
            if not (values := parts(name)):
                return
            base[name] = values[0]
        wide = dict(base)
        for name in case.names():
            if name not in wide and (values := parts(name)):
                wide[name] = values[0]
        least = case.least("minProperties")
        for number in range(min(least, _MAX_LENGTH)):
            name = f"extra{number}"
            if len(wide) < least and (values := parts(name)):
                wide[name] = values[0]
        for start in (base, wide) if len(base) >= least else (wide,):
            yield start
            for name in names:
                for value in parts(name):
                    yield {**start, name: value}
        for name in wide.keys() - base.keys():
            yield {other: value for other, value in wide.items() if other != name}
        limits = {int(node.words["maxProperties"]) for node in around if "maxProperties" in node.words}
        for size in sorted(limit + 1 for limit in limits if limit < _MAX_LENGTH):
            more = (f"extra{number}" for number in range(size - len(wide)))
            yield wide | {name: values[0] for name in more if (values := parts(name))}


def _remember(value: Any, simple: list[Any]) -> None:
    """Add to the first values of a place: those that may stand within others of it, if it contains itself."""
    if len(simple) < _MAX_PLAIN:
        simple.append(value)


def _place(nodes: tuple[Node, ...], hints: tuple[Node, ...]) -> tuple[frozenset[Key], frozenset[Key]]:
    return frozenset(node.key for node in nodes), frozenset(hint.key for hint in hints)


def within(nodes: Iterable[Node]) -> list[Node]:
    """Return *nodes* and what they say about the same value in references and alternatives."""
    found: dict[Any, Node] = {}
    waiting = list(nodes)
    while waiting:
        node = waiting.pop(0)
        if node.key in found:
            continue
        spend()
        found[node.key] = node
        words = node.words
        if "$ref" in words and (there := node.document.target(words["$ref"])) is not None:
            waiting.append(there)
        waiting += [node.at(inner) for word in IN_PLACE for inner in words.get(word, ())]
        waiting += [node.at(words[word]) for word in ("not", "if", "then", "else") if word in words]
    return list(found.values())


def _cases(nodes: tuple[Node, ...]) -> list[Case]:
    try:
        return cases(nodes)
    except TooComplex:
        return []


def _filled(start: list[Any], size: int, parts: Any) -> list[Any] | None:
    """*start* made longer, all elements different if that is possible."""
    made = list(start)
    there = set(map(identity, made))
    while len(made) < size:
        values = parts(len(made))
        if not values:
            return None
        value = next((value for value in values if identity(value) not in there), values[0])
        there.add(identity(value))
        made.append(value)
    return made


def _named(nodes: list[Node]) -> Iterator[str]:
    for node in nodes:
        yield from node.words.get("properties", ())
        yield from node.words.get("required", ())


def _mentioned(nodes: list[Node]) -> Iterator[Any]:
    for node in nodes:
        if isinstance(node.schema, dict):
            yield from ([node.schema["default"]] if "default" in node.schema else ())
            yield from node.schema["examples"] if isinstance(node.schema.get("examples"), list) else ()
        yield from ([node.words["const"]] if "const" in node.words else ())
        yield from node.words.get("enum", ())


def _numbers(nodes: list[Node]) -> Iterator[Any]:
    yield from (0, 1, 1.5, -1, 0.5, 7, -0.5, 1000)
    bounds: list[Any] = []
    for node in nodes:
        words = node.words
        bounds += [words[f"{word}imum"] for word in ("min", "max") if f"{word}imum" in words]
        bounds += [words[f"exclusive{word}imum"] for word in ("Min", "Max") if f"exclusive{word}imum" in words]
        bounds += [words["multipleOf"] * times for times in (1, 2, 3, 7) if "multipleOf" in words]
        bounds += [value for value in _mentioned([node]) if kind(value) in NUMBERS]
    for bound in dict.fromkeys(bounds):
        yield from (bound, bound + 1, bound - 1)
        yield from (bound + 0.5, bound - 0.5) if abs(bound) < 2**50 else ()


def _texts(nodes: list[Node]) -> Iterator[str]:
    yield from _TEXTS
    if any("format" in node.words or "pattern" in node.words for node in nodes):
        yield from _FORMATS
    bounds = {int(node.words[word]) for node in nodes for word in ("minLength", "maxLength") if word in node.words}
    for length in sorted({length for bound in bounds for length in (bound - 1, bound, bound + 1)}):
        if 0 <= length <= _MAX_LENGTH:
            yield from ("a" * length, "1" * length)
    for value in _mentioned(nodes):
        if isinstance(value, str):
            yield from (value, f"{value}a")
