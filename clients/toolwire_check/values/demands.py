"""What all schemas that apply to one value demand of it together.

A value has to fit more than one schema: that of its place, what this refers to, the parts of its
`allOf`, and one branch of each choice. `collect` finds them as nodes of the schema graph. `Demands`
answers questions about them: the greatest `minItems`, the schemas for a member of some name.
Nothing is merged, so that no demand gets lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_schemas.json_schema.linear_regex import Budget, search

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from toolwire_schemas.json_schema.graph import SchemaNode

    Nodes = Sequence[SchemaNode]

KINDS = ("null", "boolean", "integer", "fraction", "string", "array", "object")
"""The kinds of values. A fraction is a `number` that need not be integral."""


def collect(
    nodes: Nodes,
    list_branches: Callable[[SchemaNode], Iterable[SchemaNode]],
    *,
    spend: Callable[[], None],
) -> Demands | None:
    """Return the demands on a value that has to fit all *nodes*; `None` if one is `false`.

    *list_branches* returns the branches of a schema that apply. *spend* is called for each schema.
    """
    found: dict[SchemaNode, None] = {}
    waiting = list(nodes)
    for node in waiting:  # it grows
        spend()
        if node.is_false:
            return None
        if node in found:
            continue
        found[node] = None
        waiting += node.list_applied()
        if not is_only_reference(node):
            waiting += list_branches(node)
    return Demands([node for node in found if not is_only_reference(node)])


def is_only_reference(node: SchemaNode) -> bool:
    """Whether keywords next to a reference are ignored in *node*, as up to draft-07."""
    return node.graph.is_draft_07 and node.reference is not None


class Demands:
    """The demands of *nodes*, without what these refer to and combine."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes

    def list_all(self, word: str) -> list[Any]:
        """Return the values of the keyword *word*, of all schemas that have it."""
        return [node.keywords[word] for node in self._nodes if word in node.keywords]

    def allows_kind(self, kind: str) -> bool:
        """Whether all schemas allow values of this *kind*."""
        return all(_allows_kind(node, kind) for node in self._nodes)

    def list_allowed_values(self) -> Sequence[Any] | None:
        """Return the values of the shortest `enum` or `const`; `None` if there is no such
        keyword.
        """
        lists = [node.values for node in self._nodes if node.values is not None]
        return min(lists, key=len, default=None)

    # --- objects ---

    def list_required(self) -> list[str]:
        """Return the names of required members, each once."""
        names: dict[str, None] = {}
        for node in self._nodes:
            names |= node.required
        return list(names)

    def list_known(self) -> list[str]:
        """Return the names of members that a schema mentions otherwise than as required."""
        names: dict[str, None] = {}
        needed: dict[str, None] = {}
        for node in self._nodes:
            names |= dict.fromkeys(node.properties)
        for word in ("dependentRequired", "dependentSchemas", "dependencies"):
            for members in self.list_all(word):
                names |= dict.fromkeys(members)
        for members in self.list_all("dependentRequired"):
            for required in members.values():
                needed |= dict.fromkeys(required)
        return list(names | needed)

    def list_patterns(self) -> list[str]:
        """Return the patterns for names of members."""
        patterns: list[str] = []
        for node in self._nodes:
            patterns += node.pattern_properties
        return patterns

    def find_member(self, name: str) -> list[SchemaNode]:
        """Return the schemas that the member of this *name* has to fit."""
        nodes = []
        for node in self._nodes:
            nodes += _find_member(node, name)
        return nodes

    # --- arrays ---

    @property
    def prefix_length(self) -> int:
        """The number of first items that have a schema of their own."""
        return max((len(node.prefix_items) for node in self._nodes), default=0)

    def find_item(self, index: int) -> list[SchemaNode]:
        """Return the schemas that the item at *index* has to fit."""
        nodes = []
        for node in self._nodes:
            if index < len(node.prefix_items):
                nodes.append(node.prefix_items[index])
            else:
                nodes.append(node.items or node.graph.anything)
        return nodes

    def list_contained(self) -> list[SchemaNode]:
        """Return the schemas of items that an array has to contain, each as often as it has to."""
        nodes = []
        for node in self._nodes:
            if "contains" in node.keywords:
                count = int(node.keywords.get("minContains", 1))
                nodes += [node.graph.get_node(node.keywords["contains"])] * count
        return nodes


def _allows_kind(node: SchemaNode, kind: str) -> bool:
    if not node.types or kind in node.types:
        return True
    return kind in ("integer", "fraction") and "number" in node.types


def _find_member(node: SchemaNode, name: str) -> list[SchemaNode]:
    nodes = []
    if name in node.properties:
        nodes.append(node.properties[name])
    for pattern, schema in node.pattern_properties.items():
        if search(pattern, name, Budget().spend):
            nodes.append(schema)
    return nodes or [node.additional or node.graph.anything]
