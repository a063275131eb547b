"""YAML as plain data with its lines: safe, and no more than JSON can express.

Strategy. PyYAML composes nodes, and this module makes values of them: so every value has a line, a key that occurs
twice is a fault, and so is a date or a set, which JSON lacks. There are no aliases, which could grow without bound.
"""

from __future__ import annotations

from math import isfinite
from typing import Any

import yaml
from toolwire_schemas.json_schema.error_text import place, shown

from .model import ConfigError, Fault

_MAX_FLOW_LEVEL = 100
_TAGS = "tag:yaml.org,2002:"


class Document:
    """One YAML document as plain data: its value, the line in which each key of it begins, and its faults."""

    def __init__(self, file: str, loader: _Loader) -> None:
        self.file = file
        self.lines: dict[str, int] = {}
        self.faults: list[Fault] = []
        self._loader = loader
        self.value = self._read(loader.get_node(), "")

    def add(self, key: str, problem: str) -> None:
        """Add a fault at *key*; the line is that of the closest part that contains it."""
        around = (known for known in self.lines if key.startswith(known) and key[len(known) :][:1] in ("", ".", "["))
        self.faults.append(Fault(self.file, self.lines[max(around, key=len, default="")], key, problem))

    def _read(self, node: Any, key: str) -> Any:
        self.lines.setdefault(key, node.start_mark.line + 1)
        match node.id, node.tag.removeprefix(_TAGS):
            case "mapping", "map":
                return self._mapping(node, key)
            case "sequence", "seq":
                return [self._read(item, place(key, (index,))) for index, item in enumerate(node.value)]
            case "scalar", "str" | "int" | "float" | "bool" | "null":
                return self._scalar(node, key)
            case _, kind:
                self._refuse(node, key, f"JSON has no values of the type {kind}; put it in quotes if text is meant")
                return None

    def _mapping(self, node: Any, key: str) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key_node, value_node in node.value:
            name, at = key_node.value, place(key, (str(key_node.value),)).removeprefix(".")
            if key_node.tag != _TAGS + "str":
                self._refuse(key_node, key, "there is a key that is not text; put it in quotes if text is meant")
            elif name in made:
                first = self.lines[at]
                self._refuse(key_node, at, f"this key occurs twice, first in line {first}; keep one")
            else:
                self.lines[at] = key_node.start_mark.line + 1
                made[name] = self._read(value_node, at)
        return made

    def _scalar(self, node: Any, key: str) -> Any:
        try:
            node.value.encode()  # a lone surrogate raises a ValueError
            value = self._loader.construct_object(node)
        except (yaml.YAMLError, ValueError, KeyError) as error:
            kind = node.tag.removeprefix(_TAGS)
            self._refuse(node, key, f"{shown(node.value)} cannot be read as {kind}: {_reason(error)}")
            return None
        # YAML 1.1 reads `on` as true and 1:30 as 90.
        is_word = isinstance(value, bool) and node.value.lower() != str(value).lower()
        if is_word or (isinstance(value, int | float) and ":" in node.value):
            self._refuse(node, key, f"{node.value} is read as {shown(value)}; write that, or put it in quotes")
        elif isinstance(value, float) and not isfinite(value):
            self._refuse(node, key, f"{node.value} is not a number in JSON; put it in quotes if text is meant")
        return value

    def _refuse(self, node: Any, key: str, problem: str) -> None:
        self.faults.append(Fault(self.file, node.start_mark.line + 1, key, problem))


def documents(text: str, file: str) -> list[Document]:
    """Return the documents in *text*, from *file*, with their faults; raises a ConfigError if it is not YAML."""
    found = []
    try:
        # Not the C parser, which is faster: a file of brackets makes it overflow the stack and end the process.
        loader = _Loader(text)
        while loader.check_node():
            found.append(Document(file, loader))
    except RecursionError:
        raise ConfigError([Fault(file, 0, "", "it is nested too deeply")]) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        line = 0 if mark is None else mark.line + 1
        raise ConfigError([Fault(file, line, "", f"this is not YAML: {_reason(error)}")]) from None
    return found


def _reason(error: Exception) -> str:
    return str(getattr(error, "problem", None) or getattr(error, "reason", None) or error)


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark
            raise yaml.composer.ComposerError(None, None, "an alias (*name) is not read here; repeat the value", mark)
        return super().compose_node(parent, index)

    def fetch_flow_collection_start(self, token: Any) -> None:
        # PyYAML examines each level again for each of the next thousand characters.
        if self.flow_level >= _MAX_FLOW_LEVEL:
            raise RecursionError
        super().fetch_flow_collection_start(token)
