"""JSON values as trees whose parts open and close."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .markup import Html, cut, element, fold

if TYPE_CHECKING:
    from collections.abc import Iterable

_MAX_VALUES = 2000
_MAX_DEPTH = 24
_MAX_VALUE_CHARS = 2000
_OPEN = 12  # members up to which a list or an object is shown open


def write_tree(value: Any, name: str = "") -> Html:
    """Return a JSON value as a tree whose parts open and close; a long or deep part is cut, which
    it says.
    """
    return element("div", _write_node(value, name, [_MAX_VALUES], 0), class_="tree")


def _write_node(value: Any, name: str, left: list[int], depth: int) -> Html:
    left[0] -= 1
    key: list[Html | str] = []
    if name:
        key = [element("span", cut(name, 200), class_="key"), " "]
    if not isinstance(value, dict | list) or not value:
        return element("div", key, _write_leaf(value))
    if depth == _MAX_DEPTH:
        return element("div", key, element("span", "… nested more deeply", class_="cut"))
    if isinstance(value, dict):
        members: Iterable[tuple[Any, Any]] = value.items()
        count = f"{{{len(value):,}}}"
    else:
        members = enumerate(value)
        count = f"[{len(value):,}]"
    shown: list[Html] = []
    for member, item in members:
        if left[0] <= 0:
            shown.append(element("div", f"… {len(value) - len(shown):,} more", class_="cut"))
            break
        shown.append(_write_node(item, str(member), left, depth + 1))
    return fold([key, element("span", count, class_="count")], *shown, open_=len(value) <= _OPEN)


def _write_leaf(value: Any) -> Html:
    if isinstance(value, str) and "\n" in value:
        text = value
    else:
        text = json.dumps(value, ensure_ascii=False, default=str)
    kind = "literal"
    if isinstance(value, str):
        kind = "string"
    return element("span", cut(text, _MAX_VALUE_CHARS), class_=kind)
