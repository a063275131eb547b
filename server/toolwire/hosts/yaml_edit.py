"""Sets one member of a mapping in a YAML file that people edit (see `edits.py`).

Strategy. PyYAML says where each node is; a new member is the first of its mapping.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from .edits import edit_safely, find_newline, replace_range
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


def set_member(text: str, path: Sequence[str], value: dict[str, Any]) -> str:
    """Return *text* with the mapping *value* at *path*, a name in a mapping of the root.

    Raises:
        NotRewritten: if *text* is not YAML, or a mapping on the way is written in braces.
    """
    return edit_safely(text, path, value, loads=loads, edit=_edit)


def dumps(path: Sequence[str], value: dict[str, Any], indent: str = "  ") -> str:
    """Return *value* as the mapping at *path*, a line for each member."""
    lines = []
    margin = ""
    for name in path:
        lines.append(f"{margin}{_format_key(name)}:")
        margin += indent
    for name, item in value.items():
        lines.append(f"{margin}{_format_key(name)}: {_format_json(item)}")
    return "\n".join(lines)


def _format_json(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)  # JSON is YAML
    except TypeError:  # a date
        raise NotRewritten("it has a value that JSON cannot express") from None


_OTHER_THAN_TEXT = {"true", "false", "yes", "no", "on", "off", "y", "n", "null"}
"""Words that YAML 1.1 reads as other values; `dumps` works without PyYAML, which knows them."""


def _format_key(name: str) -> str:
    is_word = re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name)
    if is_word and name.lower() not in _OTHER_THAN_TEXT:
        return name
    return _format_json(name)


class _Member(NamedTuple):
    """The nodes of a member of a mapping, which know their places in the text."""

    key: Any
    value: Any


def _edit(text: str, path: Sequence[str], value: dict[str, Any]) -> str:
    *holders, name = path
    members = _read_members(text)
    if not holders:
        return _replace_or_append(text, members.get(name), dumps(path, value))
    holder = members.get(holders[0])
    if holder is None:
        return _append(text, dumps(path, value))
    members = _find_members(holder.value)
    lines = dumps([name], value).split("\n")
    if not members:
        return _fill(text, holder, lines)
    column = holder.value.start_mark.column
    indent = find_newline(text) + " " * column
    made = indent.join(lines)
    old = members.get(name)
    if old is not None:
        return _replace(text, old, made)
    start = holder.value.start_mark.index
    return replace_range(text, start, start, made + indent)


def _replace_or_append(text: str, old: _Member | None, made: str) -> str:
    if old is None:
        return _append(text, made)
    return _replace(text, old, made.replace("\n", find_newline(text)))


def _append(text: str, made: str) -> str:
    newline = find_newline(text)
    is_line = not text or text.endswith("\n")
    gap = "" if is_line else newline
    return text + gap + made.replace("\n", newline) + newline


def _replace(text: str, old: _Member, made: str) -> str:
    start = old.key.start_mark.index
    after_colon = old.key.end_mark.index + 1
    end = _find_end(old.value, after_colon)
    return replace_range(text, start, end, made)


def _fill(text: str, holder: _Member, lines: Sequence[str]) -> str:
    """Return *text* with *lines* in a member that has no value, or `{}`."""
    indent = find_newline(text) + "  "
    after_colon = holder.key.end_mark.index + 1
    end = _find_end(holder.value, after_colon)
    return replace_range(text, after_colon, end, indent + indent.join(lines))


def _read_members(text: str) -> dict[str, _Member]:
    import yaml

    return _find_members(yaml.compose(text, yaml.SafeLoader))


def _find_members(node: Any) -> dict[str, _Member]:
    """Return the members of a mapping by name; none for another node."""
    if getattr(node, "id", "") != "mapping":
        return {}
    return {key.value: _Member(key, value) for key, value in node.value}


def _find_end(node: Any, least: int) -> int:
    """Return where the text of *node* ends, at *least* there: with its last scalar, since a block
    also has the comments that follow it.
    """
    while not getattr(node, "flow_style", True) and node.value:
        last = node.value[-1]
        is_member = isinstance(last, tuple)
        node = last[1] if is_member else last
    return max(int(node.end_mark.index), least)
