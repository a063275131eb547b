"""Do two schemas say the same word for word? What does so needs no proof, and is understood even where no rule is."""

from __future__ import annotations

from ..json_schema.subschemas import LISTS, NAMED, ONE
from .nodes import SAYING, Document, Key, Node, TooComplex, identity, is_schema, never, spend


def _read_alike(one: Document, other: Document) -> bool:
    return one.is_old == other.is_old and one.unknown_dialect == other.unknown_dialect


class Sameness:
    """Whether two schemas say the same word for word, wherever their parts stand: in place or behind references."""

    def __init__(self) -> None:
        self._known: dict[tuple[Key, Key], bool] = {}

    def __call__(self, one: Node, other: Node) -> bool:
        """True if no value can tell them apart. False only means that they are written differently."""
        pair = (one.key, other.key)
        if pair not in self._known:
            visited: set[tuple[Key, Key]] = set()
            try:
                same = self._agree(one, other, visited)
            except TooComplex:  # whoever asks proves what is not the same, and notices it too
                return False
            self._known[pair] = same
            if same:
                self._known |= dict.fromkeys(visited, True)
        return self._known[pair]

    def _agree(self, one: Node, other: Node, visited: set[tuple[Key, Key]]) -> bool:
        one, other = one.resolved(), other.resolved()
        pair = (one.key, other.key)
        if pair in visited or pair in self._known:
            return self._known.get(pair, True)
        spend()
        visited.add(pair)
        same = self._say_the_same(one, other, visited)
        if not same:  # though parts of it were taken to be the same while it was compared
            self._known[pair] = False
        return same

    def _say_the_same(self, one: Node, other: Node, visited: set[tuple[Key, Key]]) -> bool:
        if isinstance(one.schema, bool) or isinstance(other.schema, bool):
            return one.schema is other.schema
        if not (isinstance(one.schema, dict) and isinstance(other.schema, dict)):
            return False
        words = one.schema.keys() & SAYING.keys()
        if words != other.schema.keys() & SAYING.keys() or not _read_alike(one.document, other.document):
            return False
        return all(self._word(word, one, other, visited) for word in words)

    def _word(self, word: str, one: Node, other: Node, visited: set[tuple[Key, Key]]) -> bool:
        mine, theirs = one.schema[word], other.schema[word]
        if SAYING[word] is never:
            return False
        if word == "$ref":
            mine, theirs = one.document.target(mine), other.document.target(theirs)
            return mine is not None and theirs is not None and self._agree(mine, theirs, visited)
        if not (SAYING[word](mine) and SAYING[word](theirs)):
            return False
        if word in ("required", "enum") or (word == "type" and isinstance(mine, list) and isinstance(theirs, list)):
            return frozenset(map(identity, mine)) == frozenset(map(identity, theirs))
        if (word in ONE or word == "additionalItems") and is_schema(mine) and is_schema(theirs):
            return self._agree(one.at(mine), other.at(theirs), visited)
        if word in LISTS or (word == "items" and isinstance(mine, list) and isinstance(theirs, list)):
            pairs = zip(mine, theirs, strict=False)
            return len(mine) == len(theirs) and all(self._agree(one.at(m), other.at(t), visited) for m, t in pairs)
        if word in NAMED:
            return mine.keys() == theirs.keys() and all(
                self._agree(one.at(mine[name]), other.at(theirs[name]), visited) for name in mine
            )
        return bool(identity(mine) == identity(theirs))
