"""Values that fit a schema: made from its structural words, and kept if the validator accepts them.

Strategy. At each place, one branch of each choice is drawn, and the demands of all schemas that
apply then are collected (`demands.py`). A value is made within their bounds for types, sizes,
members and items. All other words (`not`, `if`, a second branch of `oneOf`, …) only filter: a value
that does not fit is made again, a few times. `has_value` follows required members and items, so
that an optional part of a recursive schema is made only where the depth left is enough for it.
"""

from __future__ import annotations

import math
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from hypothesis import reject
from hypothesis import strategies as st
from toolwire_schemas.json_schema.bounded_validator import make_identity

from .demands import KINDS, Demands, collect, is_only_reference
from .document import NoValues
from .nasty_values import NAMES
from .numbers import generate_numbers
from .strings import generate_matching_strings, generate_strings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hypothesis.strategies import DrawFn
    from toolwire_schemas.json_schema.graph import SchemaNode

    from .demands import Nodes
    from .document import ValueJudge

_MAX_DEPTH = 16
# More levels than the smallest value has: enough to reach what is optional, and trees stay small.
_MORE_LEVELS = 3
_MORE_ITEMS = 3
_MORE_MEMBERS = 2
_TRIES = 8
_MAX_OPTIONAL = 32  # the time to shrink a value is quadratic in its optional members
_UNDECLARED = "not declared"


class Maker:
    """Makes values that fit *document* or parts of it.

    Raises:
        NoValues: if only values that are nested very deeply fit it, or no value does.
    """

    def __init__(self, document: ValueJudge) -> None:
        self.document = document
        self.root = document.graph.root
        self._has_value: dict[tuple[SchemaNode, int], bool] = {}
        self.depth = self._find_least_depth() + _MORE_LEVELS

    def _find_least_depth(self) -> int:
        try:
            for depth in range(_MAX_DEPTH):
                if self.has_value(self.root, depth):
                    return depth
        except RecursionError:
            raise NoValues("", "it is nested too deeply") from None
        raise NoValues("", "nothing fits the schema, or only what is nested very deeply")

    def make_strategy(self) -> st.SearchStrategy[Any]:
        """Return a strategy for values that fit the document."""
        return st.composite(lambda draw: self.draw_value(draw, [self.root], self.depth))()

    def draw_value(self, draw: DrawFn, nodes: Nodes, depth: int) -> Any:
        """Draw a value that fits all *nodes*, nested at most *depth* levels deep."""
        for _ in range(_TRIES):
            demands = self._draw_demands(draw, nodes, depth)
            if demands is None:
                continue
            kinds = self._list_kinds(demands, depth)
            if not kinds:
                continue
            value = self._draw_of_kinds(draw, demands, kinds, depth)
            if all(self.document.is_valid(node.schema, value) for node in nodes):
                return value
        return reject()

    # --- whether there is a value ---

    def has_value(self, node: SchemaNode, depth: int) -> bool:
        """Whether a value nested at most *depth* levels deep may fit *node*, as far as its
        structural words say.
        """
        key = (node, depth)
        if key not in self._has_value:
            self.document.steps.spend()
            # While it is looked for: a schema that refers to itself alone has no value.
            self._has_value[key] = False
            self._has_value[key] = self._find_value(node, depth)
        return self._has_value[key]

    def _find_value(self, node: SchemaNode, depth: int) -> bool:
        if node.is_false or depth < 0:
            return False
        if not self._have_values(node.list_applied(), depth):
            return False
        if is_only_reference(node):
            return True
        for branches in node.choices:
            if not any(self.has_value(branch, depth) for branch in branches):
                return False
        return node.values is not None or self._list_kinds(Demands([node]), depth) != []

    def _have_values(self, nodes: Nodes, depth: int) -> bool:
        return all(self.has_value(node, depth) for node in nodes)

    def _list_kinds(self, demands: Demands, depth: int) -> list[str]:
        """Return the kinds of values that all demands allow, within *depth*."""
        kinds = [kind for kind in KINDS if demands.allows_kind(kind)]
        if "array" in kinds:
            least = max(demands.list_all("minItems"), default=0)
            if least > self._count_items(demands, depth):
                kinds.remove("array")
        if "object" in kinds:
            names = demands.list_required()
            if not all(self._can_have(name, demands, depth) for name in names):
                kinds.remove("object")
        return kinds

    def _count_items(self, demands: Demands, depth: int) -> float:
        """Return how many items there can be."""
        for index in range(demands.prefix_length + 1):
            if not self._have_values(demands.find_item(index), depth - 1):
                return index
        return math.inf

    def _can_have(self, name: str, demands: Demands, depth: int) -> bool:
        """Whether an object can have a member of this *name*."""
        if not self._have_values(demands.find_member(name), depth - 1):
            return False
        for schema in demands.list_all("propertyNames"):
            if not self.document.is_valid(schema, name):
                return False
        return True

    # --- drawing ---

    def _draw_demands(self, draw: DrawFn, nodes: Nodes, depth: int) -> Demands | None:
        def draw_branches(node: SchemaNode) -> Iterator[SchemaNode]:
            return self._draw_branches(draw, node, depth)

        return collect(nodes, draw_branches, spend=self.document.steps.spend)

    def _draw_branches(self, draw: DrawFn, node: SchemaNode, depth: int) -> Iterator[SchemaNode]:
        graph = self.document.graph
        for branches in node.choices:
            possible = [branch for branch in branches if self.has_value(branch, depth)]
            yield draw(st.sampled_from(possible or [graph.get_node(False)]))
        words = node.keywords
        if "if" in words:
            is_met = (words["if"], words.get("then", True))
            is_not_met = (words.get("else", True),)  # the validator checks that `if` is not met
            for schema in draw(st.sampled_from((is_met, is_not_met))):
                yield graph.get_node(schema)

    def _draw_of_kinds(self, draw: DrawFn, demands: Demands, kinds: list[str], depth: int) -> Any:
        allowed = demands.list_allowed_values()
        if allowed is not None:
            return deepcopy(draw(st.sampled_from(allowed)))  # it is the schema's own
        match draw(st.sampled_from(kinds)):
            case "null":
                return None
            case "boolean":
                return draw(st.booleans())
            case "string":
                return draw(generate_strings(demands))
            case "array":
                return self._draw_array(draw, demands, depth)
            case "object":
                return self._draw_object(draw, demands, depth)
            case kind:
                return draw(generate_numbers(demands, is_integer=kind == "integer"))

    def _draw_array(self, draw: DrawFn, demands: Demands, depth: int) -> list[Any]:
        contained = demands.list_contained()
        least = int(max([len(contained), *demands.list_all("minItems")]))
        most = min(
            [
                least + _MORE_ITEMS,
                self._count_items(demands, depth),
                *demands.list_all("maxItems"),
            ]
        )
        if least > most:
            return reject()
        items = []
        for index in range(draw(st.integers(least, int(most)))):
            nodes = demands.find_item(index) + contained[index : index + 1]
            items.append(self.draw_value(draw, nodes, depth - 1))
        if any(demands.list_all("uniqueItems")):
            items = list({make_identity(item): item for item in items}.values())
        return items

    def _draw_object(self, draw: DrawFn, demands: Demands, depth: int) -> dict[str, Any]:
        names = self._draw_names(draw, demands, depth)
        members = {}
        for name in names:
            members[name] = self.draw_value(draw, demands.find_member(name), depth - 1)
        return members

    def _draw_names(self, draw: DrawFn, demands: Demands, depth: int) -> list[str]:
        """Draw the names of members: the required ones, and some of the others."""
        least = int(max(demands.list_all("minProperties"), default=0))
        most = min(demands.list_all("maxProperties"), default=math.inf)
        names = demands.list_required()
        optional = []
        for name in demands.list_known():
            if name not in names and self._can_have(name, demands, depth):
                optional.append(name)
        more: list[str] = []
        if optional:
            some = st.lists(st.sampled_from(optional), unique=True, max_size=_MAX_OPTIONAL)
            more = draw(some)
        missing = max(least - len(names) - len(more), 0)
        more += self._draw_other_names(draw, demands, depth, missing)
        for name in more:
            if name not in names and len(names) < most:
                names.append(name)
        for name in optional:  # if they are still too few
            if name not in names and len(names) < least:
                names.append(name)
        return names

    def _draw_other_names(
        self, draw: DrawFn, demands: Demands, depth: int, missing: int
    ) -> list[str]:
        """Draw some names that the schemas do not mention, twice as many as *missing* and more."""
        patterns = demands.list_patterns()
        if not patterns and not self._can_have(_UNDECLARED, demands, depth):
            return []
        any_name = st.one_of(
            st.sampled_from(NAMES), st.text(max_size=6), *map(generate_matching_strings, patterns)
        )
        names = []
        count = 2 * missing + draw(st.sampled_from((0, 0, 0, 1, _MORE_MEMBERS)))
        for _ in range(count):
            name = draw(any_name)
            if self._can_have(name, demands, depth):
                names.append(name)
        return names
