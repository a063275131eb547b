"""Reads the config of one tool from one YAML document, and reports everything that is wrong with it.

Strategy. The published schema `tool-library` decides whether the document has the right shape. If it has, the rest is
checked here: names, types and places that refer to each other. So a call can fail only by its values.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.did_you_mean import unknown_name
from toolwire_schemas.json_schema.error_text import Fault, shown
from toolwire_schemas.published import bundle

from ..byte_sizes import size
from ..decorator import checked
from ..options import Options
from ..schema.validator import SchemaValidator
from .command import DEFAULT_MAX_OUTPUT_BYTES, EVERYTHING, Command, Template, parse
from .model import ExecutorName, Function, ToolConfig, canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .yaml_document import Document

LEAST = "use_guide: {tool_name: ..., description: ...}"
"""The least that every tool needs."""

_EXCLUSIVE = (("parameters", "input_schema"), ("command", "function", "executor"))

_NAMES = ("string", "integer", "number", "boolean", "array", "object", "null")
_OTHERS = {"float": "number", "list": "array", "dict": "object", "str": "string", "int": "integer", "bool": "boolean"}
_TYPES: dict[str, str | None] = {**{name: name for name in _NAMES}, **_OTHERS, "any": None}
"""The names of types, in any case: those of JSON, Lagent and Python."""


def config_of(document: Document) -> ToolConfig | None:
    """Return the config that *document* is; None if it is not one. Every fault is added to the document's."""
    known = {fault.key for fault in document.faults}
    for key, problem in _shape_faults(document.value):
        if key.removeprefix(".") not in known:
            document.add(key.removeprefix("."), problem)
    return None if document.faults else _Reader(document).config()


def _shape_faults(given: Any) -> Iterator[Fault]:
    if not isinstance(given, dict):
        yield "", f"{shown(given)} does not describe a tool, which has at least {LEAST}"
        return
    for keys in _EXCLUSIVE:
        for other in [key for key in keys if key in given][1:]:
            yield other, f"only one of {', '.join(keys)} may be given"
    for key, needed in _schema()["dependentRequired"].items():
        if key in given and needed[0] not in given:
            yield key, f"it needs {needed[0]} as well"
    faults = _validator().faults(given, "")
    for key, problem in faults:
        if problem.startswith("Unevaluated ") and any(other.startswith(f"{key}.") for other, _ in faults):
            continue  # a consequence of the other fault
        problem = problem.replace("Unevaluated properties are not allowed", "there are unknown keys")
        if key == ".command" and isinstance(given["command"], str):
            problem += "; there is no shell: write a list of words such as [grep, -n, '{pattern}']"
        if problem.startswith("null is "):
            problem = "it is empty, which is " + problem.removeprefix("null is ")
        yield key, problem


@cache
def _schema() -> dict[str, Any]:
    return bundle("tool-library")


@cache
def _validator() -> SchemaValidator:
    # Without the keywords that have better words in `_shape_faults`.
    return SchemaValidator({word: value for word, value in _schema().items() if word not in _WORDED})


_WORDED = ("allOf", "dependentRequired")


class _Reader:
    """Reads a document whose shape is right."""

    def __init__(self, document: Document) -> None:
        self._given: dict[str, Any] = document.value
        self._document = document
        self._add = document.add
        self._used: set[str] = set()

    def config(self) -> ToolConfig:
        guide, prompt = self._given["use_guide"], self._given.get("use_prompt", {})
        name, other = guide["tool_name"], prompt.get("tool_name", guide["tool_name"])
        if canonical(other) != canonical(name):
            self._add("use_prompt.tool_name", f"{other!r} is not {name!r} as in use_guide; a tool has one name")
        config = ToolConfig(
            name=name,
            description=guide["description"].strip(),
            tool_prompt=prompt.get("tool_prompt") or None,
            return_format=prompt.get("return_format") or None,
            input_schema=self._input_schema(),
            options=self._options(),
            file=self._document.file,
            line=self._document.lines["use_guide.tool_name"],
        )
        return msgspec.structs.replace(config, binding=self._binding(config))

    def _options(self) -> Options:
        try:
            names = [name for name in self._given if name in Options.__struct_fields__ and name != "input_schema"]
            return checked({name: self._given[name] for name in names})
        except (TypeError, ValueError) as error:
            self._add("", str(error).removeprefix("tool_api: "))
            return Options()

    # --- parameters ---

    def _input_schema(self) -> dict[str, Any] | None:
        given = self._given.get("parameters")
        if given is None:
            return self._given.get("input_schema")
        properties: dict[str, Any] = {}
        required = []
        if isinstance(given, list):
            named = [(f"parameters[{index}]", words["name"], words) for index, words in enumerate(given)]
        else:
            named = [(f"parameters.{name}", name, words) for name, words in given.items()]
        for key, name, words in named:
            if name in properties:
                self._add(key, f"the parameter {name!r} is there already; keep one")
            words = words if isinstance(words, dict) else {"type": words or "any"}
            properties[name] = self._parameter(words, key)
            if words.get("required", "default" not in words):
                required.append(name)
        self._refuse_unknown("required", properties)
        required = self._given.get("required", required)
        schema = {"type": "object", "properties": properties, "additionalProperties": False}
        return schema | ({"required": required} if required else {})

    def _parameter(self, words: dict[str, Any], key: str) -> dict[str, Any]:
        made = {word: value for word, value in words.items() if word not in ("name", "required")}
        kind = made.get("type")
        if isinstance(kind, str):  # JSON Schema has lists of types as well
            if kind.lower() not in _TYPES:
                self._add(f"{key}.type", unknown_name("type", kind, _TYPES))
            made |= {"type": _TYPES.get(kind.lower())}
        if made.get("type", "any") is None:
            del made["type"]
        if made.get("default") is not None:
            for _, problem in SchemaValidator(made).faults(made["default"], "default"):
                self._add(f"{key}.default", problem)
        return made

    def _refuse_unknown(self, key: str, properties: Iterable[str]) -> None:
        for index, name in enumerate(self._given.get(key, ())):
            if name not in properties:
                self._add(f"{key}[{index}]", unknown_name("parameter", name, properties))

    # --- what runs it ---

    def _binding(self, config: ToolConfig) -> Command | Function | ExecutorName | None:
        if "command" in self._given:
            return self._command(config)
        kind = "function" if "function" in self._given else "executor"
        module, _, name = self._given.get(kind, "").rpartition(":")
        if kind == "function":
            return Function(name, module)
        return ExecutorName(name, module or None) if name else None

    def _command(self, config: ToolConfig) -> Command:
        """Read the command line and what belongs to it."""
        given, folder = self._given, os.path.abspath(os.path.dirname(config.file))
        schema = config.input_schema or {"properties": {"instruction": {}}, "required": ["instruction"]}
        self._properties = schema.get("properties", {})
        self._certain = {*config.defaults, *schema.get("required", ()), EVERYTHING}
        first = self._template(given["command"][0], "command[0]")
        program = first.fill({}) or ""
        if first.places or not program:
            self._add("command[0]", "the first word is the name of a program, without places")
        words = [self._word(word, f"command[{index}]") for index, word in enumerate(given["command"][1:], 1)]
        stdin = self._template(given["stdin"], "stdin") if "stdin" in given else None
        env = {name: self._template(value, f"env.{name}") for name, value in given.get("env", {}).items()}
        for name in self._properties:
            if not {name, EVERYTHING} & self._used:
                self._add("command", f"the parameter {name!r} is not used; write {{{name}}} where it goes")
        self._refuse_unknown("allow_leading_dash", self._properties)
        if "output_schema" in given and given.get("output") != "json":
            self._add("output_schema", "text has no schema; add output: json")
        cwd = os.path.normpath(os.path.join(folder, given.get("cwd", ".")))
        if not os.path.isdir(cwd):
            self._add("cwd", f"there is no folder {cwd}")
        return Command(
            program=os.path.join(folder, program) if os.path.dirname(program) else program,
            words=tuple(words),
            cwd=cwd,
            stdin=stdin,
            env=env,
            defaults=config.defaults,
            dashes=frozenset(given.get("allow_leading_dash", ())),
            output=given.get("output", "text"),
            success=frozenset(given.get("success", [0])),
            max_output_bytes=self._max_output(),
        )

    def _word(self, word: Any, key: str) -> Template | tuple[Template, ...]:
        if isinstance(word, list):
            return tuple(self._template(inner, key, may_be_absent=True) for inner in word)
        return self._template(word, key)

    def _template(self, text: str | int, key: str, *, may_be_absent: bool = False) -> Template:
        try:
            template = parse(str(text))
        except ValueError as error:
            self._add(key, str(error))
            return Template(())
        for place in template.places:
            if place.name != EVERYTHING and place.name not in self._properties:
                hint = "" if place.name.isidentifier() else "; write {{ and }} for braces"
                self._add(key, unknown_name("parameter", place.name, self._properties) + hint)
            elif not (place.optional or may_be_absent or place.name in self._certain):
                remedy = f"write {{{place.name}?}}, put it in a list of its own, or give it a default"
                self._add(key, f"a call may leave out {place.name!r}: {remedy}")
            self._used.add(place.name)
        return template

    def _max_output(self) -> int:
        given = self._given.get("max_output", DEFAULT_MAX_OUTPUT_BYTES)
        try:
            return size(str(given))
        except ValueError as error:
            self._add("max_output", f"{shown(given)} is not {error}")
            return 0
