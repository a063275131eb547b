"""Reads the config of one tool from one YAML document, and reports everything that is wrong with
it.

Strategy. PyYAML composes nodes, and this module makes plain data of them: so every value has a
line, a key that occurs twice is a fault, and so is a date or a set, which JSON lacks. There are no
aliases, which could grow without bound. The published schema `tool-library` decides whether the
document has the right shape. If it has, the rest is checked here: names, types and places that
refer to each other. So a call can fail only by its values.
"""

from __future__ import annotations

import os
import re
from functools import cache
from math import isfinite
from typing import TYPE_CHECKING, Any

import msgspec
import yaml
from toolwire_schemas.did_you_mean import closest, unknown_name
from toolwire_schemas.json_schema.error_text import place, shown
from toolwire_schemas.published import bundle
from toolwire_tools.byte_sizes import parse_size
from toolwire_tools.decorator import checked
from toolwire_tools.options import Options
from toolwire_tools.schema.validator import ToolSchemaValidator

from .command import (
    DEFAULT_MAX_OUTPUT_BYTES,
    EVERYTHING,
    Place,
    ToolCommand,
    WordTemplate,
    parse,
    unquoted,
)
from .model import ConfigError, ConfigFault, ExecutorName, Function, ToolConfig, canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

LEAST = "`name: ...` and `description: ...`"
"""The least that every tool needs."""

_EXCLUSIVE = (
    ("name", "use_guide"),
    ("parameters", "input_schema"),
    ("command", "function", "executor"),
)
_VARIABLE = re.compile(r"[a-z_]\w*", re.ASCII)
"""A parameter that can be a variable of a script: names in capitals have a meaning for the system,
such as PATH.
"""

_NAMES = ("string", "integer", "number", "boolean", "array", "object", "null")
_OTHERS = {
    "float": "number",
    "list": "array",
    "dict": "object",
    "str": "string",
    "int": "integer",
    "bool": "boolean",
}
_TYPES: dict[str, str | None] = {**{name: name for name in _NAMES}, **_OTHERS, "any": None}
"""The names of types, in any case: those of JSON, Lagent and Python."""


_MAX_FLOW_LEVEL = 100
_TAGS = "tag:yaml.org,2002:"


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
        around = (
            known
            for known in self.lines
            if key.startswith(known) and key[len(known) :][:1] in ("", ".", "[")
        )
        self.faults.append(
            ConfigFault(self.file, self.lines[max(around, key=len, default="")], key, problem)
        )

    def _read(self, node: Any, key: str) -> Any:
        self.lines.setdefault(key, node.start_mark.line + 1)
        match node.id, node.tag.removeprefix(_TAGS):
            case "mapping", "map":
                return self._mapping(node, key)
            case "sequence", "seq":
                return [
                    self._read(item, place(key, (index,))) for index, item in enumerate(node.value)
                ]
            case "scalar", "str" | "int" | "float" | "bool" | "null":
                return self._scalar(node, key)
            case _, kind:
                self._refuse(
                    node,
                    key,
                    f"JSON has no values of the type {kind}; put it in quotes if text is meant",
                )
                return None

    def _mapping(self, node: Any, key: str) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key_node, value_node in node.value:
            name, at = key_node.value, place(key, (str(key_node.value),)).removeprefix(".")
            if key_node.tag != _TAGS + "str":
                self._refuse(key_node, key, "a key is not text; put it in quotes if text is meant")
            elif name in made:
                first = self.lines[at]
                self._refuse(
                    key_node, at, f"this key occurs twice, first in line {first}; keep one"
                )
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
            self._refuse(
                node, key, f"{shown(node.value)} cannot be read as {kind}: {_reason(error)}"
            )
            return None
        # YAML 1.1 reads `on` as true and 1:30 as 90.
        is_word = isinstance(value, bool) and node.value.lower() != str(value).lower()
        if is_word or (isinstance(value, int | float) and ":" in node.value):
            self._refuse(
                node,
                key,
                f"{node.value} is read as {shown(value)}; write that, or put it in quotes",
            )
        elif isinstance(value, float) and not isfinite(value):
            self._refuse(
                node,
                key,
                f"{node.value} is not a number in JSON; put it in quotes if text is meant",
            )
        return value

    def _refuse(self, node: Any, key: str, problem: str) -> None:
        self.faults.append(ConfigFault(self.file, node.start_mark.line + 1, key, problem))


def documents(text: str, file: str) -> list[YamlDocument]:
    """Return the tools in *text*, from *file*, with their faults; raises a ConfigError if it is not
    YAML.
    """
    found = []
    try:
        # Not the C parser, which is faster: a file of brackets makes it overflow the stack and end
        # the process.
        loader = _Loader(text)
        while loader.check_node():
            root = loader.get_node()
            nodes = root.value if isinstance(root, yaml.SequenceNode) else [root]
            found += [YamlDocument(file, loader, node) for node in nodes]
    except RecursionError:
        raise ConfigError([ConfigFault(file, 0, "", "it is nested too deeply")]) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        line = 0 if mark is None else mark.line + 1
        raise ConfigError(
            [ConfigFault(file, line, "", f"this is not YAML: {_reason(error)}")]
        ) from None
    return found


def _reason(error: Exception) -> str:
    return str(getattr(error, "problem", None) or getattr(error, "reason", None) or error)


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark
            raise yaml.composer.ComposerError(
                None, None, "aliases (*name) are not supported; repeat the value", mark
            )
        return super().compose_node(parent, index)

    def fetch_flow_collection_start(self, token: Any) -> None:
        # PyYAML examines each level again for each of the next thousand characters.
        if self.flow_level >= _MAX_FLOW_LEVEL:
            raise RecursionError
        super().fetch_flow_collection_start(token)


def config_of(document: YamlDocument) -> ToolConfig | None:
    """Return the config that *document* is; None if it is not one. Every fault is added to the
    document's.
    """
    known = {fault.key for fault in document.faults}
    for key, problem in _shape_faults(document.value):
        if key.removeprefix(".") not in known:
            document.add(key.removeprefix("."), problem)
    return None if document.faults else _Reader(document).config()


def _shape_faults(given: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(given, dict):
        yield "", f"{shown(given)} does not describe a tool, which has at least {LEAST}"
        return
    faults = _validator().faults(given, "")
    refused = dict(faults)
    mistyped = _mistyped_keys(given, refused)
    yield from _faults_of_keys(given, set(mistyped.values()))
    unknown = {}
    for key, close in mistyped.items():
        unknown[place("", (key,))] = f"is unknown; did you mean {close}?"
    unknown |= _unknown_words(given.get("parameters"), refused)
    yield from unknown.items()
    yield from _faults_of_command(given.get("command"), given.get("shell", False))
    places = [*unknown, *(key for key, _ in faults)]
    for key, problem in faults:
        is_explained = key in unknown or _is_consequence(key, problem, places)
        if not is_explained:
            yield key, _sentence(problem)


def _faults_of_keys(given: dict[Any, Any], meant: set[str]) -> Iterator[tuple[str, str]]:
    """Yield the keys that exclude or need each other; *meant* are those of mistyped ones."""
    for keys in _EXCLUSIVE:
        present = [key for key in keys if key in given]
        for other in present[1:]:
            yield other, f"only one of {', '.join(keys)} may be given"
    for key, (needed, *_) in _schema()["dependentRequired"].items():
        if key in given and needed not in given and needed not in meant:
            yield key, f"it needs {needed} as well"
    if not {"name", "use_guide"} & {*given} and "name" not in meant:
        yield "", f"name is missing; a tool has at least {LEAST}"


def _faults_of_command(command: Any, is_shell: Any) -> Iterator[tuple[str, str]]:
    if isinstance(command, str) and is_shell is False:
        problem = "it is one text: write a list of words such as [grep, -n, '{pattern}']"
        yield "command", f"{problem}, {_ASK}"
    if isinstance(command, list) and is_shell is True:
        yield "command", "with shell: true it is one text"


def _is_consequence(key: str, problem: str, places: list[str]) -> bool:
    """Return whether the fault at *key* says no more than that there is one below it."""
    if not problem.startswith("Unevaluated "):
        return False
    return any(place.startswith(f"{key}.") for place in places)


def _sentence(problem: str) -> str:
    if problem.startswith("null is "):
        return "it is empty, which is " + problem.removeprefix("null is ")
    return problem.replace("Unevaluated properties are not allowed", "there are unknown keys")


def _mistyped_keys(given: dict[str, Any], refused: dict[str, str]) -> dict[str, str]:
    """Return the *refused* keys of a tool that are unknown and resemble a known one, with that."""
    known = list(_schema()["properties"])
    found: dict[str, str] = {}
    for key in given:
        if key in known or place("", (key,)) not in refused:
            continue
        close = closest(key, known)
        if close:
            found[key] = close[0]
    return found


def _unknown_words(parameters: Any, refused: dict[str, str]) -> dict[str, str]:
    """Return what is wrong with the unknown words about *parameters*, by their places; some may
    begin with `x-`.
    """
    found: dict[str, str] = {}
    described: dict[str, Any] = {}
    if isinstance(parameters, dict):
        described = {place("", ("parameters", name)): words for name, words in parameters.items()}
    elif isinstance(parameters, list):
        described = {
            place("", ("parameters", index)): words for index, words in enumerate(parameters)
        }
    known = ["name"] if isinstance(parameters, list) else []
    known += _schema()["$defs"]["parameter-words"]["properties"]
    for at, words in described.items():
        for word in words if isinstance(words, dict) else ():
            if word in known or repr(word) not in refused.get(at, ""):
                continue
            close = closest(word, known)
            meant = (
                f"did you mean {close[0]}?"
                if close
                else "write words of JSON Schema, such as type and description"
            )
            found[place(at, (word,))] = f"is unknown; {meant}"
    return found


_ASK = "or let a shell run it with shell: true"


@cache
def _schema() -> dict[str, Any]:
    """The schema of one tool."""
    found = bundle("tool-library")
    del found["anyOf"]
    return {**found, **found["$defs"]["entry"]}


@cache
def _validator() -> ToolSchemaValidator:
    worded = ("allOf", "dependentRequired")  # `_shape_faults` has better words for these
    return ToolSchemaValidator(
        {word: value for word, value in _schema().items() if word not in worded}
    )


class _Reader:
    """Reads a document whose shape is right."""

    def __init__(self, document: YamlDocument) -> None:
        self._given: dict[str, Any] = document.value
        self._document = document
        self._add = document.add
        self._used: set[str] = set()

    def config(self) -> ToolConfig:
        prompt = self._given.get("use_prompt", {})
        guide = self._given.get("use_guide") or {"tool_name": self._given["name"], **self._given}
        name, other = guide["tool_name"], prompt.get("tool_name", guide["tool_name"])
        if canonical(other) != canonical(name):
            self._add(
                "use_prompt.tool_name", f"{other!r} is not {name!r} as above; a tool has one name"
            )
        config = ToolConfig(
            name=name,
            description=guide["description"].strip(),
            tool_prompt=prompt.get("tool_prompt") or None,
            return_format=prompt.get("return_format") or None,
            input_schema=self._input_schema(),
            options=self._options(),
            file=self._document.file,
            line=self._document.lines["name" if "name" in self._given else "use_guide.tool_name"],
        )
        return msgspec.structs.replace(config, binding=self._binding(config))

    def _options(self) -> Options:
        try:
            names = {*Options.__struct_fields__} - {"name", "description", "input_schema"}
            return checked({name: self._given[name] for name in self._given if name in names})
        except (TypeError, ValueError) as error:
            self._add("", str(error).removeprefix("tool_api: "))
            return Options()

    # --- parameters ---

    def _input_schema(self) -> dict[str, Any] | None:
        given = self._given.get("parameters")
        if given is None and "command" in self._given and "input_schema" not in self._given:
            # The one text that a tool takes by default is for executors; few commands have a place
            # for it.
            parts = [self._given[key] for key in ("command", "stdin", "env") if key in self._given]
            given = None if re.search(r"instruction|\{\*", str(parts)) else {}
        if given is None:
            return self._given.get("input_schema")
        properties: dict[str, Any] = {}
        required = []
        if isinstance(given, list):
            named = [
                (f"parameters[{index}]", words["name"], words) for index, words in enumerate(given)
            ]
        else:
            named = [(f"parameters.{name}", name, words) for name, words in given.items()]
        for key, name, words in named:
            if name in properties:
                self._add(key, f"the parameter {name!r} is defined twice; keep one")
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
            for _, problem in ToolSchemaValidator(made).faults(made["default"], "default"):
                self._add(f"{key}.default", problem)
        return made

    def _refuse_unknown(self, key: str, properties: Iterable[str]) -> None:
        for index, name in enumerate(self._given.get(key, ())):
            if name not in properties:
                self._add(f"{key}[{index}]", unknown_name("parameter", name, properties))

    # --- what runs it ---

    def _binding(self, config: ToolConfig) -> ToolCommand | Function | ExecutorName | None:
        if "command" in self._given:
            return self._command(config)
        kind = "function" if "function" in self._given else "executor"
        module, _, name = self._given.get(kind, "").rpartition(":")
        if kind == "function":
            return Function(name, module)
        return ExecutorName(name, module or None) if name else None

    def _command(self, config: ToolConfig) -> ToolCommand:
        """Read the command line and what belongs to it."""
        given, folder = self._given, os.path.abspath(os.path.dirname(config.file))
        schema = config.input_schema or {
            "properties": {"instruction": {}},
            "required": ["instruction"],
        }
        self._properties = schema.get("properties", {})
        self._certain = {*config.defaults, *schema.get("required", ()), EVERYTHING}
        stdin = self._template(given["stdin"], "stdin") if "stdin" in given else None
        env = {
            name: self._template(value, f"env.{name}")
            for name, value in given.get("env", {}).items()
        }
        if is_script := given.get("shell", False):
            env = self._script(given["command"]) | env
        program, words = self._program(given["command"])
        for name in self._properties:
            if not {name, EVERYTHING} & self._used:
                example = f'"${name}"' if is_script else f"{{{name}}}"
                self._add(
                    "command", f"the parameter {name!r} is not used; write {example} where it goes"
                )
        self._refuse_unknown("allow_leading_dash", self._properties)
        if "output_schema" in given and given.get("output") != "json":
            self._add("output_schema", "text has no schema; add output: json")
        cwd = os.path.normpath(os.path.join(folder, given.get("cwd", ".")))
        if not os.path.isdir(cwd):
            self._add("cwd", f"there is no folder {cwd}")
        return ToolCommand(
            program=os.path.join(folder, program) if os.path.dirname(program) else program,
            words=tuple(words),
            shell=is_script,
            cwd=cwd,
            stdin=stdin,
            env=env,
            defaults=config.defaults,
            dashes=frozenset(given.get("allow_leading_dash", ())),
            output=given.get("output", "text"),
            success=frozenset(given.get("success", [0])),
            max_output_bytes=self._max_output(),
        )

    def _script(self, script: str) -> dict[str, WordTemplate]:
        """Return the variable for each parameter that occurs in *script*."""
        unsafe, made = {*unquoted(script)}, {}
        for name, schema in self._properties.items():
            is_number = isinstance(schema, dict) and schema.get("type") in (
                "integer",
                "number",
                "boolean",
            )
            occurs = re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", script)
            if not _VARIABLE.fullmatch(name) or (os.name == "nt" and name in os.environ):
                if {name, EVERYTHING} & self._used:
                    continue
                problem = (
                    f"the parameter {name!r} cannot be a variable, whose name begins with a small"
                    " letter"
                )
                self._add("command", f"{problem}; rename it, or give it to a variable in env")
            elif not occurs:
                continue
            elif f"{{{name}}}" in script.replace("${", ""):
                self._add("command", f'{{{name}}} means nothing to the shell; write "${name}"')
            elif name in unsafe and not is_number:
                self._add(
                    "command",
                    f'the shell splits ${name} into words; write "${name}", in double quotes',
                )
            self._used.add(name)
            made[name] = WordTemplate((Place(name),))
        return made

    def _program(
        self, command: list[Any] | str
    ) -> tuple[str, list[WordTemplate | tuple[WordTemplate, ...]]]:
        """Return the program that runs *command*, and its other words."""
        if isinstance(command, str):
            return "sh", [WordTemplate(("-c",)), WordTemplate((command,))]
        first = self._template(command[0], "command[0]")
        program = first.fill({}) or ""
        if first.places or not program:
            self._add(
                "command[0]", "the first word must be the name of a program, without placeholders"
            )
        return program, [
            self._word(word, f"command[{index}]") for index, word in enumerate(command[1:], 1)
        ]

    def _word(self, word: Any, key: str) -> WordTemplate | tuple[WordTemplate, ...]:
        if isinstance(word, list):
            return tuple(self._template(inner, key, may_be_absent=True) for inner in word)
        return self._template(word, key)

    def _template(self, text: str | int, key: str, *, may_be_absent: bool = False) -> WordTemplate:
        try:
            template = parse(str(text))
        except ValueError as error:
            self._add(key, str(error))
            return WordTemplate(())
        for gap in template.places:
            if gap.name != EVERYTHING and gap.name not in self._properties:
                hint = "" if gap.name.isidentifier() else "; write {{ and }} for braces"
                self._add(key, unknown_name("parameter", gap.name, self._properties) + hint)
            elif not (gap.optional or may_be_absent or gap.name in self._certain):
                remedy = f"write {{{gap.name}?}}, put it in a list of its own, or give it a default"
                self._add(key, f"a call may omit {gap.name!r}: {remedy}")
            self._used.add(gap.name)
        return template

    def _max_output(self) -> int:
        given = self._given.get("max_output", DEFAULT_MAX_OUTPUT_BYTES)
        try:
            return parse_size(str(given))
        except ValueError as error:
            self._add("max_output", f"{shown(given)} is not {error}")
            return 0
