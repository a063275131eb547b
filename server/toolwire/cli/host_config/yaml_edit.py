"""Sets one member of a mapping in a YAML file that people edit; comments, order and layout of everything else stay.

Strategy. PyYAML says where each node is; one place of the text is changed: a new member is the first of its mapping.
The result is read again and compared with the intended value before the caller gets it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from .jsonc_edit import UNSAFE, newline, with_value
from .safe_write import NotRewritten

if TYPE_CHECKING:
    from collections.abc import Sequence


def loads(text: str) -> Any:
    """Return the value of the YAML *text*.

    Raises:
        NotRewritten: if it is not YAML, or PyYAML is not installed.
    """
    try:
        import yaml
    except ImportError:
        raise NotRewritten("editing YAML needs PyYAML; install it: pip install 'toolwire[yaml]'") from None
    try:
        return yaml.safe_load(text) or {}
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise NotRewritten(f"it is not YAML: {' '.join(str(error).split())}") from None


def with_member(text: str, path: Sequence[str], value: dict[str, Any]) -> str:
    """Return *text* with the mapping *value* at *path*, a name in a mapping of the root.

    Raises:
        NotRewritten: if *text* is not YAML, or a mapping on the way is written in braces.
    """
    expected = with_value(loads(text), path, value)
    made = _changed(text, path, value)
    if loads(made) != expected:
        raise NotRewritten(UNSAFE)
    return made


def dumps(path: Sequence[str], value: dict[str, Any], unit: str = "  ") -> str:
    """Return *value* as the mapping at *path*, a line for each member."""
    heads = [f"{unit * depth}{_key(name)}:" for depth, name in enumerate(path)]
    return "\n".join([*heads, *(f"{unit * len(path)}{_key(name)}: {_flow(item)}" for name, item in value.items())])


def _flow(item: Any) -> str:
    return json.dumps(item, ensure_ascii=False)  # JSON is YAML


def _key(name: str) -> str:
    is_plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name) and loads(name) == name
    return name if is_plain else json.dumps(name, ensure_ascii=False)


def _changed(text: str, path: Sequence[str], value: dict[str, Any]) -> str:
    import yaml

    root, end = yaml.compose(text, yaml.SafeLoader), newline(text)
    holder = _members(root).get(path[0])
    if holder is None:
        gap = "" if not text or text.endswith("\n") else end
        return text + gap + dumps(path, value).replace("\n", end) + end
    key, node = holder
    if not _members(node):  # `extensions:` without a value, or `{}`
        lines = dumps(path[1:], value).split("\n")
        start: int = key.end_mark.index + 1  # after the colon
        return text[:start] + "".join(f"{end}  {line}" for line in lines) + text[_end(node, start) :]
    column: int = node.start_mark.column
    lines = dumps(path[1:], value).split("\n")
    block = (end + " " * column).join(lines)
    old = _members(node).get(path[1])
    if old is None:
        start = int(node.start_mark.index)
        return text[:start] + block + end + " " * column + text[start:]
    return text[: int(old[0].start_mark.index)] + block + text[_end(old[1], old[0].end_mark.index + 1) :]


def _members(node: Any) -> dict[str, tuple[Any, Any]]:
    """The key and value of each member of a mapping, by name."""
    return {key.value: (key, value) for key, value in node.value} if getattr(node, "id", "") == "mapping" else {}


def _end(node: Any, default: int) -> int:
    """Where the text of *node* ends: with its last scalar, since a block also has the comments that follow it."""
    while not getattr(node, "flow_style", True) and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return max(int(node.end_mark.index), default)
