"""Searches a text for a regular expression that anybody may have written, in a time that is linear
in the text.

Python's `re` backtracks: `^(a+)+$` takes seconds for 30 characters, and holds the interpreter's
lock all the while, so that neither a signal nor a timeout ends it.

Strategy. The number of ways in which a pattern may match bounds what `re` does. Where the bound is
low, as for nearly all patterns of schemas, `re` searches. Else the pattern becomes a graph of
single characters, and each pair of a place in the graph and a place in the text is visited once.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from functools import lru_cache
from re import _compiler, _constants, _parser  # type: ignore[attr-defined]  # no other module parses what re compiles
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Spend = Callable[[int], None]

MAX_STEPS = 50_000
"""Steps of one judgement: each is a keyword, or a character and a place in a pattern. All take
about half a second.
"""

_MAX_COST = 10_000_000
"""What `re` may cost, in characters looked at: some 50 ms at worst."""
_COST_OF_STEP = 10_000
_MAX_PATTERN = 20_000
_MAX_NODES = 20_000

_REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT)
_CHARACTERS = (_constants.LITERAL, _constants.NOT_LITERAL, _constants.ANY, _constants.IN)
_LOOKS = (_constants.ASSERT, _constants.ASSERT_NOT)


class CannotJudge(Exception):
    """A schema does not tell whether values fit; the sentence says why."""


class TooExpensive(CannotJudge):
    """Judging by a schema takes more work than it may. The sentence says what is too expensive."""


class Budget:
    """Counts steps, up to *steps*."""

    def __init__(self, steps: int = MAX_STEPS) -> None:
        self._steps = steps
        self.left = steps

    @property
    def is_spent(self) -> bool:
        """Whether more steps were needed than there are."""
        return self.left < 0

    @contextmanager
    def limit_to_third(self) -> Iterator[None]:
        """Leave only a third of the steps to what is done within, so that the rest remains for
        others.
        """
        kept = self.left - self.left // 3
        self.left -= kept
        try:
            yield
        finally:
            self.left += kept

    def spend(self, steps: int = 1) -> None:
        """Count *steps*.

        Raises:
            TooExpensive: if fewer are left.
        """
        self.left -= steps
        if self.left < 0:
            raise TooExpensive(f"it takes more than {self._steps:,} steps to check")


def search(pattern: str, text: str, spend: Spend, flags: int = 0) -> bool:
    """Return whether a part of *text* matches *pattern*; calls `spend` with the number of steps
    that takes.

    Raises:
        CannotJudge: if Python cannot compile the pattern.
        TooExpensive: if the pattern has no form that is searched in linear time, such as one with
            back references.
    """
    cost = _bound_cost(pattern, len(text).bit_length(), flags)
    if cost <= _MAX_COST:
        spend(1 + cost // _COST_OF_STEP)
        return re.search(pattern, text, flags) is not None
    return _build_graph(pattern, flags).leads_through(text, spend)


def is_cheap(pattern: str, length: int) -> bool:
    """Return whether `re` searches any text of up to this *length* for *pattern* in no time.

    Raises:
        CannotJudge: if Python cannot compile the pattern.
    """
    return _bound_cost(pattern, length.bit_length(), 0) <= _MAX_COST


@lru_cache(maxsize=4096)
def _bound_cost(pattern: str, bits: int, flags: int) -> int:
    """What `re` costs at most, for a text with a length of this number of *bits*."""
    length = 1 << bits
    parsed = _parse(pattern, flags)
    starts = 1 if _is_anchored(parsed) else length
    try:
        return min(starts * length * _count_ways(parsed, length), _MAX_COST + 1)
    except RecursionError:
        raise CannotJudge("a pattern is nested too deeply") from None


@lru_cache(maxsize=512)
def _parse(pattern: str, flags: int) -> Any:
    if len(pattern) > _MAX_PATTERN:
        raise TooExpensive(f"a pattern has more than {_MAX_PATTERN:,} characters")
    try:
        re.compile(pattern, flags)  # it may refuse what the parser takes
        return _parser.parse(pattern, flags)
    except (re.error, OverflowError, RecursionError, ValueError) as error:
        raise CannotJudge(f"Python cannot compile the pattern {pattern[:80]!r}: {error}") from None


def _is_anchored(parsed: Any) -> bool:
    is_first = bool(parsed) and parsed[0] == (_constants.AT, _constants.AT_BEGINNING)
    return is_first and not parsed.state.flags & re.M


def _count_ways(sequence: Iterable[Any], length: int) -> int:
    """The number of ways to match *sequence* from one place, at most; any number above the limit
    for all above it.
    """
    product = 1
    for kind, value in sequence:
        ways = sum(_count_ways(inner, length) for inner in _list_inside(value)) or 1
        if kind in _REPEATS:
            low, high = int(value[0]), int(value[1])
            most = min(high, max(length, low))
            ways = (
                most - low + 1 if ways == 1 else int(ways ** min(most + 1, 25))
            )  # 2 ** 25 is above the limit
        product *= ways
        if product > _MAX_COST:
            break
    return product


def _list_inside(value: Any) -> list[Any]:
    """The patterns that a piece of a pattern contains, such as the branches of an alternative."""
    if isinstance(value, _parser.SubPattern):
        return [value]
    if not isinstance(value, list | tuple):
        return []
    return [inner for part in value for inner in _list_inside(part)]


@lru_cache(maxsize=512)
def _build_graph(pattern: str, flags: int) -> Graph:
    try:
        return Graph(pattern, flags)
    except RecursionError:
        raise CannotJudge("a pattern is nested too deeply") from None


class Graph:
    """A pattern whose ways from `start` to `end` spell the texts that match it.

    `steps` has a node's test (a compiled pattern for one character or none), or None, with the
    nodes that follow.
    """

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self._parsed = parsed = _parse(pattern, flags)
        self.steps: list[tuple[Any, list[int]]] = [(None, [])]
        self._looks: dict[int, Any] = {}
        self.end = 0
        self.start = self._add_sequence(parsed, self.end)

    def leads_through(self, text: str, spend: Spend) -> bool:
        """Return whether a part of *text* is spelt by a way through it."""
        width = len(text) + 1
        waiting = [
            (self.start, at) for at in reversed(range(1 if _is_anchored(self._parsed) else width))
        ]
        prices = {
            node: 1 + width * _count_ways(inner, width) // _COST_OF_STEP
            for node, inner in self._looks.items()
        }
        seen: set[int] = set()
        while waiting:
            node, at = waiting.pop()
            if node == self.end:
                return True
            if node * width + at in seen:
                continue
            seen.add(node * width + at)
            spend(prices.get(node, 1))
            test, following = self.steps[node]
            if test is not None:
                found = test.match(text, at)
                if found is None:
                    continue
                at = found.end()
            waiting += [(follower, at) for follower in reversed(following)]
        return False

    def _add(self, test: Any, following: list[int]) -> int:
        if len(self.steps) >= _MAX_NODES:
            raise TooExpensive("a pattern repeats too much to be searched for")
        self.steps.append((test, following))
        return len(self.steps) - 1

    def _add_sequence(self, sequence: Iterable[Any], following: int) -> int:
        for kind, value in reversed(list(sequence)):
            following = self._add_piece(kind, value, following)
        return following

    def _add_piece(self, kind: Any, value: Any, following: int) -> int:
        if kind in _CHARACTERS or kind == _constants.AT:
            return self._add(self._compile(kind, value), [following])
        if kind in _LOOKS:
            looking = self._add(self._compile(kind, value), [following])
            self._looks[looking] = value[1]
            return looking
        if kind == _constants.BRANCH:
            return self._add(None, [self._add_sequence(branch, following) for branch in value[1]])
        if kind == _constants.SUBPATTERN and not (value[1] or value[2]):
            return self._add_sequence(value[3], following)
        if kind in _REPEATS and kind != _constants.POSSESSIVE_REPEAT:
            return self._repeat(value[0], value[1], value[2], following)
        raise TooExpensive("a pattern has back references or atomic groups")

    def _repeat(self, low: int, high: Any, inner: Any, following: int) -> int:
        begin = following
        if high == _constants.MAXREPEAT:
            begin = self._add(None, [])
            self.steps[begin][1].extend((self._add_sequence(inner, begin), following))
        else:
            for _ in range(high - low):
                begin = self._add(None, [self._add_sequence(inner, begin), following])
        for _ in range(low):
            begin = self._add_sequence(inner, begin)
        return begin

    def _compile(self, kind: Any, value: Any) -> Any:
        state = self._parsed.state
        return _compiler.compile(_parser.SubPattern(state, [(kind, value)]), state.flags)
