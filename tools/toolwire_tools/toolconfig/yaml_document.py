"""YAML as plain data that knows its lines: safe, and no more than JSON could say.

Strategy. PyYAML composes nodes; what becomes of them is decided here. So every value has a line, keys that stand twice
are told, aliases cannot grow without bound, and a date or a set, which JSON lacks, is a fault and no surprise later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.json_schema.error_text import shown

from ..errors import RegistrationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Path = tuple[str | int, ...]

MAX_VALUES = 10_000
"""How many values a document may have, those of aliases counted each time: more is an attack, not a tool."""


class Fault(msgspec.Struct, frozen=True):
    """One thing to mend in a file. *key* is a path such as `use_guide.tool_name`; line 0 means the whole file."""

    file: str
    line: int
    key: str
    problem: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.key}: {self.problem}" if self.key else f"{place}: {self.problem}"


class ConfigError(RegistrationError):
    """Files that describe tools, and all that is wrong with them: *faults*."""

    def __init__(self, faults: list[Fault]) -> None:
        self.faults = faults
        super().__init__("; ".join(fault.problem for fault in faults), tool=faults[0].file)

    def __str__(self) -> str:
        return "\n".join(map(str, self.faults))


class NoYAML(RegistrationError):
    """No YAML can be read, since PyYAML is not installed."""

    def __init__(self, file: str) -> None:
        super().__init__("YAML needs PyYAML", tool=file, remedy="install it: pip install 'toolwire[yaml]'")

    def __str__(self) -> str:
        return f"{self.tool}: {self.problem}; {self.remedy}"


class Document(msgspec.Struct, frozen=True):
    """One YAML document: its value, and the line in which each part of it begins."""

    file: str
    value: Any
    lines: dict[Path, int]
    faults: list[Fault]

    def add(self, path: Path, problem: str) -> None:
        """Note what is wrong at *path*; the line is that of the part which it is in, or should be in."""
        found = path
        while found and found not in self.lines:
            found = found[:-1]
        self.faults.append(Fault(self.file, self.lines.get(found, 0), written(path), problem))


def written(path: Path) -> str:
    """*path* as people write it: `command[2]`, `use_guide.tool_name`."""
    parts = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return "".join(parts).removeprefix(".")


def documents(text: str, file: str) -> list[Document]:
    """The documents in *text*, faults included; *file* is what messages call it.

    Raises:
        ConfigError: if it is no YAML.
        NoYAML: if PyYAML is not installed.
    """
    try:
        import yaml
    except ModuleNotFoundError:
        raise NoYAML(file) from None
    try:
        # Not its C parser, which is quicker: a file of brackets makes that one overflow the stack and end the process.
        loader = _shallow(yaml.SafeLoader(text))
        return [_Reading(yaml, loader, file).document(node) for node in _nodes(loader)]
    except RecursionError:
        raise ConfigError([Fault(file, 0, "", "it is nested too deeply")]) from None
    except yaml.YAMLError as error:
        raise ConfigError([Fault(file, _line(error), "", f"this is not YAML: {_reason(error)}")]) from None


def _shallow(loader: Any) -> Any:
    """Limit how deep brackets are nested: PyYAML looks at each level again for each of the next thousand characters."""
    start = loader.fetch_flow_collection_start

    def start_if_shallow(token: Any) -> None:
        if loader.flow_level >= _MAX_FLOW_LEVEL:
            raise RecursionError
        start(token)

    loader.fetch_flow_collection_start = start_if_shallow
    return loader


_MAX_FLOW_LEVEL = 100


def _nodes(loader: Any) -> Iterator[Any]:
    while loader.check_node():
        yield loader.get_node()


def _line(error: Any) -> int:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    return 0 if mark is None else mark.line + 1


def _reason(error: Any) -> str:
    return str(getattr(error, "problem", None) or getattr(error, "reason", None) or error)


class _Reading:
    """From the nodes of one document to plain data."""

    def __init__(self, yaml: Any, loader: Any, file: str) -> None:
        self._yaml = yaml
        self._loader = loader
        self._file = file
        self._lines: dict[Path, int] = {}
        self._faults: list[Fault] = []
        self._left = MAX_VALUES
        self._open: set[int] = set()

    def document(self, node: Any) -> Document:
        try:
            value = self._value(node, ())
        except _TooMuch as error:
            self._faults, value = [Fault(self._file, node.start_mark.line + 1, "", str(error))], None
        return Document(self._file, value, self._lines, self._faults)

    def _value(self, node: Any, path: Path) -> Any:
        self._left -= 1
        if self._left < 0:
            raise _TooMuch(f"there are more than {MAX_VALUES:,} values, those of aliases (*name) included")
        if id(node) in self._open:
            raise _TooMuch("an alias (*name) stands inside of what it stands for")
        self._lines.setdefault(path, node.start_mark.line + 1)
        kind = node.tag.removeprefix(_TAGS)
        read = _READ.get((node.id, kind))
        if read is None:
            said = _SAID.get(kind, f"of the type {node.tag}")
            self._fault(node, path, f"this is {said}, which JSON lacks; put it in quotes if text is meant")
            return None
        self._open.add(id(node))
        value = read(self, node, path)
        self._open.remove(id(node))
        return value

    def _list(self, node: Any, path: Path) -> list[Any]:
        return [self._value(item, (*path, index)) for index, item in enumerate(node.value)]

    def _mapping(self, node: Any, path: Path) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = key_node.value
            if key_node.tag != _TAGS + "str":
                self._fault(key_node, path, "there is a key that is no text; put it in quotes if text is meant")
            elif key in made:
                first = self._lines[*path, key]
                self._fault(key_node, (*path, key), f"this key stands here twice, first in line {first}; keep one")
            else:
                self._lines[*path, key] = key_node.start_mark.line + 1
                made[key] = self._value(value_node, (*path, key))
        return made

    def _text(self, node: Any, path: Path) -> str:
        try:
            node.value.encode()
        except UnicodeEncodeError:
            self._fault(node, path, "the text holds half a character (a lone surrogate); write the whole one")
        return str(node.value)

    def _scalar(self, node: Any, path: Path) -> Any:
        try:
            value = self._loader.construct_object(node)
        except (self._yaml.YAMLError, ValueError, KeyError) as error:
            self._fault(node, path, f"{shown(node.value)} is no {node.tag.removeprefix(_TAGS)}: {_reason(error)}")
            return None
        # YAML 1.1 reads `on` as true and 1:30 as 90.
        written_so = node.value.lower() == str(value).lower() if isinstance(value, bool) else ":" not in node.value
        if not written_so:
            self._fault(node, path, f"{node.value} is read as {shown(value)}; write that, or put it in quotes")
        elif isinstance(value, float) and not -_LARGEST < value < _LARGEST:
            self._fault(node, path, f"{node.value} is no number in JSON; put it in quotes if text is meant")
        return value

    def _fault(self, node: Any, path: Path, problem: str) -> None:
        self._faults.append(Fault(self._file, node.start_mark.line + 1, written(path), problem))


class _TooMuch(Exception):
    """What is no tool's description."""


_LARGEST = float("inf")
_TAGS = "tag:yaml.org,2002:"
_READ: dict[tuple[str, str], Callable[[_Reading, Any, Path], Any]] = {
    ("mapping", "map"): _Reading._mapping,
    ("sequence", "seq"): _Reading._list,
    ("scalar", "str"): _Reading._text,
    **{("scalar", kind): _Reading._scalar for kind in ("int", "float", "bool", "null")},
}
_SAID = {"timestamp": "a date", "binary": "binary data", "set": "a set"}
