"""Sets one member of a mapping in a YAML file that people edit; comments, order and layout of
everything else stay.

Strategy. PyYAML says where each node is; one place of the text is changed: a new member is the
first of its mapping. The result is read again and compared with the intended value before the
caller gets it.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from .jsonc_edit import newline, verified
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
        from toolwire_schemas.install_command import install_command

        raise NotRewritten(
            f"editing YAML needs PyYAML; run: {install_command('toolwire[yaml]')}"
        ) from None
    try:
        return yaml.safe_load(text) or {}
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise NotRewritten(f"it is not YAML: {' '.join(str(error).split())}") from None


def with_member(text: str, path: Sequence[str], value: dict[str, Any]) -> str:
    """Return *text* with the mapping *value* at *path*, a name in a mapping of the root.

    Raises:
        NotRewritten: if *text* is not YAML, or a mapping on the way is written in braces.
    """
    return verified(text, path, value, loads, _changed)


def dumps(path: Sequence[str], value: dict[str, Any], unit: str = "  ") -> str:
    """Return *value* as the mapping at *path*, a line for each member."""
    heads = [f"{unit * depth}{_key(name)}:" for depth, name in enumerate(path)]
    return "\n".join(
        [
            *heads,
            *(f"{unit * len(path)}{_key(name)}: {_flow(item)}" for name, item in value.items()),
        ]
    )


def _flow(item: Any) -> str:
    return json.dumps(item, ensure_ascii=False)  # JSON is YAML


_NO_TEXT = {"true", "false", "yes", "no", "on", "off", "y", "n", "null"}
"""What YAML 1.1 reads as another value; a snippet is made without PyYAML."""


def _key(name: str) -> str:
    is_plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name) and name.lower() not in _NO_TEXT
    return name if is_plain else json.dumps(name, ensure_ascii=False)


def _changed(text: str, path: Sequence[str], value: dict[str, Any]) -> str:
    import yaml

    root, end = yaml.compose(text, yaml.SafeLoader), newline(text)
    if path[0] not in _members(root):
        gap = "" if not text or text.endswith("\n") else end
        return text + gap + dumps(path, value).replace("\n", end) + end
    key, node = _members(root)[path[0]]
    indent = end + " " * (node.start_mark.column if _members(node) else 2)
    made = indent.join(dumps(path[1:], value).split("\n"))
    if not _members(node):  # `extensions:` without a value, or `{}`
        start = int(key.end_mark.index) + 1  # after the colon
        return text[:start] + indent + made + text[_end(node, start) :]
    if path[1] in _members(node):
        key, node = _members(node)[path[1]]
        return text[: int(key.start_mark.index)] + made + text[_end(node, key.end_mark.index + 1) :]
    start = int(node.start_mark.index)
    return text[:start] + made + indent + text[start:]


def _members(node: Any) -> dict[str, tuple[Any, Any]]:
    """The key and value of each member of a mapping, by name."""
    return (
        {key.value: (key, value) for key, value in node.value}
        if getattr(node, "id", "") == "mapping"
        else {}
    )


def _end(node: Any, default: int) -> int:
    """Where the text of *node* ends: with its last scalar, since a block also has the comments that
    follow it.
    """
    while not getattr(node, "flow_style", True) and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return max(int(node.end_mark.index), default)
