"""YAML documents as plain data, with the line of each key and everything that is wrong with them.

Strategy. PyYAML composes nodes, and this module makes plain data of them. So every value has a
line, a key that occurs twice is a fault, and so is a date or a set, which JSON lacks. There are no
aliases, which could grow without bound.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

import yaml
from toolwire_schemas.json_schema.error_text import format_place, format_value

from .model import ConfigError, ConfigFault

_MAX_FLOW_LEVEL = 100
_TAGS = "tag:yaml.org,2002:"
_SCALARS = ("str", "int", "float", "bool", "null")
_QUOTE = "put it in quotes if text is meant"


class YamlDocument:
    """One YAML document, or item of its list, as plain data: its value, the line of each key of it,
    and its faults.
    """

    def __init__(self, file: str, loader: _Loader, node: Any) -> None:
        self.file = file
        self.lines: dict[str, int] = {}
        self.faults: list[ConfigFault] = []
        self._loader = loader
        self.value = self._read(node, "")

    def add(self, key: str, problem: str) -> None:
        """Add a fault at *key*; the line is that of the closest part that contains it."""
        closest = ""
        for known in self.lines:
            rest = key[len(known) :]
            if key.startswith(known) and rest[:1] in ("", ".", "[") and len(known) > len(closest):
                closest = known
        self.faults.append(ConfigFault(self.file, self.lines[closest], key, problem))

    def _read(self, node: Any, key: str) -> Any:
        self.lines.setdefault(key, _find_line(node))
        kind = _name_kind(node)
        if node.id == "mapping" and kind == "map":
            return self._read_mapping(node, key)
        if node.id == "sequence" and kind == "seq":
            return self._read_sequence(node, key)
        if node.id == "scalar" and kind in _SCALARS:
            return self._read_scalar(node, key)
        self._refuse(node, key, f"JSON has no values of the type {kind}; {_QUOTE}")
        return None

    def _read_mapping(self, node: Any, key: str) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for key_node, value_node in node.value:
            name = key_node.value
            member_key = format_place(key, (str(name),)).removeprefix(".")
            if _name_kind(key_node) != "str":
                self._refuse(key_node, key, f"a key is not text; {_QUOTE}")
                continue
            if name in members:
                first = self.lines[member_key]
                problem = f"this key occurs twice, first in line {first}; keep one"
                self._refuse(key_node, member_key, problem)
                continue
            self.lines[member_key] = _find_line(key_node)
            members[name] = self._read(value_node, member_key)
        return members

    def _read_sequence(self, node: Any, key: str) -> list[Any]:
        items = []
        for index, item in enumerate(node.value):
            items.append(self._read(item, format_place(key, (index,))))
        return items

    def _read_scalar(self, node: Any, key: str) -> Any:
        text = node.value
        try:
            text.encode()  # a lone surrogate raises a ValueError
            value = self._loader.construct_object(node)
        except (yaml.YAMLError, ValueError, KeyError) as error:
            problem = f"{format_value(text)} cannot be read as {_name_kind(node)}"
            self._refuse(node, key, f"{problem}: {_find_reason(error)}")
            return None
        if _is_surprising(text, value):
            problem = f"{text} is read as {format_value(value)}; write that, or put it in quotes"
            self._refuse(node, key, problem)
        elif isinstance(value, float) and not isfinite(value):
            self._refuse(node, key, f"{text} is not a number in JSON; {_QUOTE}")
        return value

    def _refuse(self, node: Any, key: str, problem: str) -> None:
        self.faults.append(ConfigFault(self.file, _find_line(node), key, problem))


def _is_surprising(text: str, value: Any) -> bool:
    """Whether YAML 1.1 reads *text* as an author does not expect: `on` as true, 1:30 as 90."""
    if isinstance(value, bool):
        return text.lower() != str(value).lower()
    return isinstance(value, int | float) and ":" in text


def _find_line(node: Any) -> int:
    line: int = node.start_mark.line + 1
    return line


def _name_kind(node: Any) -> str:
    tag: str = node.tag
    return tag.removeprefix(_TAGS)


def read_documents(text: str, file: str) -> list[YamlDocument]:
    """Return the tools in *text*, from *file*, with their faults.

    Raises:
        ConfigError: if *text* is not YAML.
    """
    documents = []
    try:
        # Not the C parser, which is faster: a file of brackets makes it overflow the stack and end
        # the process.
        loader = _Loader(text)
        while loader.check_node():
            root = loader.get_node()
            nodes = root.value if isinstance(root, yaml.SequenceNode) else [root]
            for node in nodes:
                documents.append(YamlDocument(file, loader, node))
    except RecursionError:
        raise ConfigError([ConfigFault(file, 0, "", "it is nested too deeply")]) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        line = 0 if mark is None else mark.line + 1
        problem = f"this is not YAML: {_find_reason(error)}"
        raise ConfigError([ConfigFault(file, line, "", problem)]) from None
    return documents


def _find_reason(error: Exception) -> str:
    return str(getattr(error, "problem", None) or getattr(error, "reason", None) or error)


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark
            problem = "aliases (*name) are not supported; repeat the value"
            raise yaml.composer.ComposerError(None, None, problem, mark)
        return super().compose_node(parent, index)

    def fetch_flow_collection_start(self, token: Any) -> None:
        # PyYAML examines each level again for each of the next thousand characters.
        if self.flow_level >= _MAX_FLOW_LEVEL:
            raise RecursionError
        super().fetch_flow_collection_start(token)
