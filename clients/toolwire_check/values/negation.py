"""Values that break a schema: a valid value with one change, if the validator refuses it then.

Strategy. A place in the value is drawn, and a change of what is there: a value of another type, one
item or member more or less, or a value just outside a bound of the schemas for that place. These
are all schemas that may apply there, under any condition. The validator decides whether the changed
value is invalid.
"""

from __future__ import annotations

import math
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from hypothesis import reject
from hypothesis import strategies as st

from .demands import Demands, collect
from .document import NoValues
from .nasty_values import LOOKALIKES
from .strings import matches_somewhere

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from hypothesis.strategies import DrawFn
    from toolwire_schemas.json_schema.graph import SchemaNode

    from .demands import Nodes
    from .document import Schema
    from .generate import Maker

    Place = tuple[str | int, ...]
    """The steps that lead to a part of a value."""

_MAX_PLACES = 100
_MAX_LEVELS = 4
_TRIES = 8
_MAX_COUNT = 1000  # values with more items or members are not made, only to have one too many
_UNKNOWN = ("unknown", "__proto__", "", "x" * 300, "1", "A", "a-b", "é")

_CONDITIONS = ("not", "if", "then", "else")
# Words that refuse no value themselves; neither do those that start with a dollar sign.
_ACCEPTING = frozenset(
    (
        *("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"),
        *("format", "definitions", "properties", "items", "prefixItems", "allOf", "anyOf"),
    )
)


def generate_broken_values(maker: Maker, within: Schema) -> st.SearchStrategy[Any]:
    """Return a strategy for values that *maker* makes and that are broken then. They fit *within*.

    Raises:
        NoValues: if every value fits the schema.
    """
    root = maker.root
    known: dict[str, Any] = within if isinstance(within, dict) else {}
    own = {}
    for word, value in root.keywords.items():
        if (word, value) not in known.items():
            own[word] = value
    inner_nodes = (node for node in root.graph.iterate_nodes() if node is not root)
    if not _refuses_any(own) and not any(map(_refuses_values, inner_nodes)):
        raise NoValues("", "everything fits the schema")
    return st.composite(_draw_broken)(maker, within)


def _refuses_values(node: SchemaNode) -> bool:
    return node.is_false or _refuses_any(node.keywords)


def _refuses_any(keywords: dict[str, Any]) -> bool:
    """Whether a schema with these *keywords* may refuse a value itself."""
    for word, value in keywords.items():
        if word in _ACCEPTING or word.startswith("$"):
            continue
        accepts_all = value is True or value in ({}, [])
        if not accepts_all or word == "uniqueItems":
            return True
    return False


def _draw_broken(draw: DrawFn, maker: Maker, within: Schema) -> Any:
    value = maker.draw_value(draw, [maker.root], maker.depth)
    places = list(_list_places(value, _MAX_LEVELS))[:_MAX_PLACES]
    for _ in range(_TRIES):
        place = draw(st.sampled_from(places))
        part, demands = _look_up(maker, value, place)
        group = draw(st.sampled_from(_list_changes(part, demands)))
        changed = _replace(value, place, draw(st.sampled_from(group)))
        judge = maker.document
        if judge.is_valid(within, changed) and _is_broken(judge.find_errors(changed)):
            return deepcopy(changed)  # parts of it are the schema's own
    return reject()


def _look_up(maker: Maker, value: Any, place: Place) -> tuple[Any, Demands]:
    """Return the part of *value* at *place*, and the demands of all that may apply to it."""
    demands = _collect_all(maker, [maker.root])
    for step in place:
        value = value[step]
        nodes = demands.find_member(step) if isinstance(step, str) else demands.find_item(step)
        demands = _collect_all(maker, nodes)
    return value, demands


def _collect_all(maker: Maker, nodes: Nodes) -> Demands:
    demands = collect(nodes, _list_all_branches, spend=maker.document.steps.spend)
    return Demands([]) if demands is None else demands


def _is_broken(errors: list[Any]) -> bool:
    """Whether some of *errors* is one for each validator: readings of patterns differ."""
    for error in errors:
        if error.validator != "pattern":
            return True
        if not matches_somewhere(error.validator_value, error.instance):
            return True
    return False


def _list_all_branches(node: SchemaNode) -> Iterator[SchemaNode]:
    """Yield what *node* applies to the same value, under any condition; also what it forbids, for
    its bounds.
    """
    for word in _CONDITIONS:
        if word in node.keywords:
            yield node.graph.get_node(node.keywords[word])
    for branches in node.choices:
        yield from branches
    for schema in node.keywords.get("dependentSchemas", {}).values():
        yield node.graph.get_node(schema)


def _list_places(value: Any, levels: int) -> Iterator[Place]:
    yield ()
    if levels == 0:
        return
    members: Iterable[tuple[str | int, Any]] = ()
    if isinstance(value, dict):
        members = value.items()
    elif isinstance(value, list):
        members = enumerate(value)
    for step, member in members:
        for place in _list_places(member, levels - 1):
            yield (step, *place)


def _replace(value: Any, place: Place, new: Any) -> Any:
    """Return a copy of *value* with *new* at *place*."""
    if not place:
        return new
    step, *rest = place
    copy = value.copy()
    copy[step] = _replace(value[step], tuple(rest), new)
    return copy


def _list_changes(value: Any, demands: Demands) -> list[list[Any]]:
    """Return the values to put in place of *value*, in groups that are equally likely."""
    near: list[Any] = []
    for word in _BOUNDING:
        for bound in demands.list_all(word):
            near += _list_near(word, bound)
    containers = [*_list_similar({}, demands), *_list_similar([], demands)]
    groups = (LOOKALIKES, _list_similar(value, demands), near, containers)
    return [group for group in groups if group]


def _list_similar(value: Any, demands: Demands) -> list[Any]:
    """Return values like *value* that a schema may refuse."""
    match value:
        case str():
            return [value + "x", "x" + value, value[:-1], value.swapcase(), value + "\n!"]
        case int() | float() if abs(value) < 2**53:
            return [value + 0.5]
        case list():
            return _list_similar_arrays(value, demands)
        case dict():
            return _list_similar_objects(value, demands)
    return []


def _list_similar_arrays(items: list[Any], demands: Demands) -> list[list[Any]]:
    arrays = []
    for index in range(len(items[:_MAX_PLACES])):
        arrays.append(items[:index] + items[index + 1 :])
    for item in (*items[:_MAX_PLACES], None, "0"):  # a second one, for `uniqueItems`
        arrays.append([*items, item])
    for size in _list_wrong_sizes(demands, "minItems", "maxItems"):
        filled = items + [None] * size
        arrays.append(filled[:size])
    return arrays


def _list_similar_objects(members: dict[str, Any], demands: Demands) -> list[dict[str, Any]]:
    objects = []
    for name in list(members)[:_MAX_PLACES]:
        fewer = dict(members)
        del fewer[name]
        objects.append(fewer)
    for name in (*_UNKNOWN, *demands.list_known()):
        if name not in members:
            objects += [{**members, name: None}, {**members, name: "0"}]
    for size in _list_wrong_sizes(demands, "minProperties", "maxProperties"):
        filled = {**members, **{f"member {number}": None for number in range(size)}}
        objects.append(dict(list(filled.items())[:size]))
    return objects


def _list_wrong_sizes(demands: Demands, least: str, most: str) -> list[int]:
    """Return the sizes that are just outside the bounds of *demands*."""
    sizes = []
    for bound in demands.list_all(least):
        if bound > 0:
            sizes.append(int(bound) - 1)
    for bound in demands.list_all(most):
        if bound < _MAX_COUNT:
            sizes.append(int(bound) + 1)
    return sizes


def _go_beyond(bound: float, sign: int) -> list[float]:
    # Unlike one more, twice as much differs from a huge float.
    far = bound + sign * abs(bound)
    if math.isinf(far):
        return [bound + sign, bound]
    return [bound + sign, far]


# Keywords with values at or just outside their bound.
_BOUNDING = (
    *("const", "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"),
    *("multipleOf", "minLength", "maxLength", "pattern"),
)


def _list_near(word: str, bound: Any) -> list[Any]:
    """Return values at or just outside the *bound* that the keyword *word* sets."""
    match word:
        case "const" | "exclusiveMinimum" | "exclusiveMaximum":
            return [bound]
        case "enum":
            return list(bound[:3])
        case "minimum":
            return _go_beyond(bound, -1)
        case "maximum":
            return _go_beyond(bound, 1)
        case "multipleOf":  # half of a huge integer is no float
            return [bound / 2] if bound < 2**53 else [1]
        case "minLength" if bound:
            return ["x" * int(bound - 1)]
        case "maxLength" if bound < 100 * _MAX_COUNT:
            return ["x" * int(bound + 1)]
        case "pattern":
            return ["", " ", "\u2028", "!", "0", "é"]
    return []
