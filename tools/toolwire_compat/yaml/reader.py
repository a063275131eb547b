"""Reads the config of one tool from a document, and reports everything that is wrong with it.

Strategy. The published schema decides whether the document has the right shape (`shape.py`). If it
has, the rest is checked here and in `command_reader.py`: names, types and places that refer to each
other. So a call can fail only by its values.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from toolwire_schemas.did_you_mean import explain_unknown_name
from toolwire_tools.decorator import check_options
from toolwire_tools.options import Options
from toolwire_tools.schema.validator import ToolSchemaValidator

from .command_reader import CommandReader
from .model import ExecutorName, Function, ToolConfig, normalize_name
from .shape import find_shape_faults

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .command import ToolCommand
    from .document import YamlDocument

_JSON_TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")
_TYPES: dict[str, str | None] = {
    **{name: name for name in _JSON_TYPES},
    "float": "number",
    "list": "array",
    "dict": "object",
    "str": "string",
    "int": "integer",
    "bool": "boolean",
    "any": None,
}
"""The names of types, in any case: those of JSON, Lagent and Python."""


def read_config(document: YamlDocument) -> ToolConfig | None:
    """Return the config that *document* is; None if it is not one. Every fault is added to the
    document's.
    """
    known = {fault.key for fault in document.faults}
    for path, problem in find_shape_faults(document.value):
        key = path.removeprefix(".")
        if key not in known:
            document.add(key, problem)
    if document.faults:
        return None
    return _Reader(document).read()


class _Parameter(NamedTuple):
    """A parameter as it is described: its place, its name and the words about it."""

    key: str
    name: str
    words: dict[str, Any]


class _Reader:
    """Reads a document whose shape is right."""

    def __init__(self, document: YamlDocument) -> None:
        self._members: dict[str, Any] = document.value
        self._document = document
        self._add = document.add

    def read(self) -> ToolConfig:
        members = self._members
        prompt = members.get("use_prompt", {})
        guide = members.get("use_guide") or {"tool_name": members["name"], **members}
        name = guide["tool_name"]
        self._compare_names(name, prompt.get("tool_name", name))
        config = ToolConfig(
            name=name,
            description=guide["description"].strip(),
            tool_prompt=prompt.get("tool_prompt") or None,
            return_format=prompt.get("return_format") or None,
            input_schema=self._read_input_schema(),
            options=self._read_options(),
            file=self._document.file,
            line=self._document.lines["name" if "name" in members else "use_guide.tool_name"],
        )
        return msgspec.structs.replace(config, binding=self._read_binding(config))

    def _compare_names(self, name: str, other: str) -> None:
        if normalize_name(other) != normalize_name(name):
            problem = f"{other!r} is not {name!r} as above; a tool has one name"
            self._add("use_prompt.tool_name", problem)

    def _read_options(self) -> Options:
        names = set(Options.__struct_fields__) - {"name", "description", "input_schema"}
        options = {name: value for name, value in self._members.items() if name in names}
        try:
            return check_options(options)
        except (TypeError, ValueError) as error:
            self._add("", str(error).removeprefix("tool_api: "))
            return Options()

    # --- parameters ---

    def _read_input_schema(self) -> dict[str, Any] | None:
        described = self._members.get("parameters")
        if described is None and self._is_command_without_parameters():
            described = {}
        if described is None:
            return self._members.get("input_schema")
        properties: dict[str, Any] = {}
        required = []
        for parameter in _list_parameters(described):
            if parameter.name in properties:
                problem = f"the parameter {parameter.name!r} is defined twice; keep one"
                self._add(parameter.key, problem)
            properties[parameter.name] = self._read_parameter(parameter)
            if parameter.words.get("required", "default" not in parameter.words):
                required.append(parameter.name)
        self._refuse_unknown("required", properties)
        required = self._members.get("required", required)
        schema = {"type": "object", "properties": properties, "additionalProperties": False}
        if required:
            schema["required"] = required
        return schema

    def _is_command_without_parameters(self) -> bool:
        """Whether a command takes no arguments, although nothing says so.

        The one text that a tool takes by default is for executors; few commands have a place for
        it.
        """
        members = self._members
        if "command" not in members or "input_schema" in members:
            return False
        parts = [members[key] for key in ("command", "stdin", "env") if key in members]
        return re.search(r"instruction|\{\*", str(parts)) is None

    def _read_parameter(self, parameter: _Parameter) -> dict[str, Any]:
        """Return the schema of a parameter."""
        schema = dict(parameter.words)
        schema.pop("name", None)
        schema.pop("required", None)
        kind = schema.get("type")
        if isinstance(kind, str):  # JSON Schema has lists of types as well
            if kind.lower() not in _TYPES:
                self._add(f"{parameter.key}.type", explain_unknown_name("type", kind, _TYPES))
            schema["type"] = _TYPES.get(kind.lower())
        if schema.get("type", "any") is None:
            del schema["type"]
        default = schema.get("default")
        if default is not None:
            for _, problem in ToolSchemaValidator(schema).find_faults(default, "default"):
                self._add(f"{parameter.key}.default", problem)
        return schema

    def _refuse_unknown(self, key: str, properties: Iterable[str]) -> None:
        for index, name in enumerate(self._members.get(key, ())):
            if name not in properties:
                self._add(f"{key}[{index}]", explain_unknown_name("parameter", name, properties))

    # --- what runs it ---

    def _read_binding(self, config: ToolConfig) -> ToolCommand | Function | ExecutorName | None:
        if "command" in self._members:
            reader = CommandReader(self._document, config)
            command = reader.read()
            self._refuse_unknown("allow_leading_dash", reader.properties)
            return command
        if "function" in self._members:
            module, _, name = self._members["function"].rpartition(":")
            return Function(name, module)
        module, _, name = self._members.get("executor", "").rpartition(":")
        return ExecutorName(name, module or None) if name else None


def _list_parameters(described: Any) -> list[_Parameter]:
    """Return the parameters of a list, or of a mapping, where a type may replace the words."""
    parameters = []
    if isinstance(described, list):
        for index, words in enumerate(described):
            parameters.append(_Parameter(f"parameters[{index}]", words["name"], words))
        return parameters
    for name, words in described.items():
        if not isinstance(words, dict):
            words = {"type": words or "any"}
        parameters.append(_Parameter(f"parameters.{name}", name, words))
    return parameters
