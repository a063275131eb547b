"""Tools described in YAML: what to say of them to a model, how to have it instruct them, and what runs them.

`{TOOLNAME}_config.yaml` has two parts, as multi-agent systems with a tool library know them. `use_guide` has the name
and the description by which a tool is chosen, `use_prompt` what a model is told that writes the tool's instruction.
What else may stand there says what the tool takes (`parameters` or `input_schema`), what runs it (`command`,
`function`, `executor`), and what `tool_api` would say of it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.faults import shown

from .config_command import KEYS, command
from .config_parameters import INSTRUCTION, input_schema
from .options import Options, checked
from .suggestions import unknown
from .yaml_text import ConfigError, Document, Fault, documents

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .commands import Command
    from .tool import Tool

SUFFIXES = (".yaml", ".yml")
_CONFIG = "_config"

_GUIDE = ("tool_name", "description")
_PROMPT = ("tool_name", "tool_prompt", "return_format")
_BINDINGS = ("command", "function", "executor")
_OPTIONS = (
    *("title", "read_only", "destructive", "idempotent", "open_world", "timeout_seconds", "runs_in", "memory_limit"),
    *("tags", "icons", "output_schema", "meta"),
)
_KEYS = ("use_guide", "use_prompt", "parameters", "required", "input_schema", *_BINDINGS, *KEYS, *_OPTIONS)


class Place(msgspec.Struct, frozen=True):
    """A name, and the module it is to be found in; None: wherever such a thing has been registered."""

    name: str
    module: str | None = None


class Function(Place, frozen=True):
    """A function that runs the tool."""


class ExecutorName(Place, frozen=True):
    """The registered executor that runs the tool."""


class ToolConfig(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as its YAML describes it.

    *input_schema* is None if nothing is said of parameters, and *binding* if nothing says what runs it: then that is
    the executor registered under its name.
    """

    name: str
    description: str
    tool_prompt: str | None = None
    return_format: str | None = None
    input_schema: dict[str, Any] | None = None
    binding: Command | Function | ExecutorName | None = None
    options: Options = Options()
    file: str = ""
    line: int = 0

    @property
    def implementation(self) -> str:
        """The Python file that belongs to it by its name, as `rag.py` does to `rag_config.yaml`; there need be none."""
        return implementation(self.file)

    @staticmethod
    def __toolwire_tools__(config: ToolConfig) -> list[Tool]:
        from .config_tools import tool_of

        return [tool_of(config)]

    def error(self, problem: str, key: str = "") -> ConfigError:
        """What to raise if the tool cannot be had as it is described."""
        return ConfigError([Fault(self.file, self.line, key, problem)])


def canonical(name: str) -> str:
    """What two spellings of one tool's name have in common: tags are written in capitals, files are not."""
    return name.casefold()


def implementation(path: str) -> str:
    """The Python file that a YAML file belongs to by its name."""
    stem = os.path.splitext(path)[0]
    return stem.removesuffix(_CONFIG) + ".py"


def description_of(path: str) -> str | None:
    """The YAML file that describes what is in the Python file at *path*; None if there is none."""
    stem = os.path.splitext(path)[0]
    return next((found for suffix in SUFFIXES if os.path.isfile(found := stem + _CONFIG + suffix)), None)


def load_tool_config(path: str | os.PathLike[str]) -> ToolConfig:
    """The one tool that the YAML file at *path* describes.

    Raises:
        ConfigError: with all that is wrong with the file.
    """
    configs = load_file(os.fspath(path))
    if len(configs) != 1:
        raise ConfigError([Fault(os.fspath(path), 0, "", f"it describes {len(configs)} tools; use load_tool_configs")])
    return configs[0]


def load_tool_configs(path: str | os.PathLike[str]) -> dict[str, ToolConfig]:
    """The tools that a YAML file describes, or those of a folder, by their names.

    Raises:
        ConfigError: with all that is wrong with all of the files.
    """
    place = os.fspath(path)
    files = tool_files(place) if os.path.isdir(place) else [place]
    configs: list[ToolConfig] = []
    faults: list[Fault] = []
    for file in files:
        try:
            configs += load_file(file)
        except ConfigError as error:
            faults += error.faults
    faults += _namesakes(configs)
    if faults:
        raise ConfigError(faults)
    if not configs:
        raise ConfigError([Fault(place, 0, "", f"there is no tool's YAML, such as rag{_CONFIG}.yaml, in this folder")])
    return {config.name: config for config in configs}


def tool_files(folder: str) -> list[str]:
    """The YAML files of *folder* that describe tools. Those that begin with `_` or a dot are left out.

    Folders hold other YAML as well. A file is about a tool if it says `use_guide`, or belongs to a Python file.
    """
    names = sorted(name for name in os.listdir(folder) if name.endswith(SUFFIXES) and name[0] not in "_.")
    return [path for name in names if _is_about_a_tool(path := os.path.join(folder, name))]


def _is_about_a_tool(path: str) -> bool:
    stem = os.path.splitext(path)[0]
    if stem.endswith(_CONFIG) and os.path.isfile(implementation(path)):
        return True
    with open(path, "rb") as file:
        return b"use_guide" in file.read()


def load_file(path: str) -> list[ToolConfig]:
    """The tools that the YAML file at *path* describes, one in each document.

    Raises:
        ConfigError: with all that is wrong with the file.
    """
    found = [document for document in documents(_text(path), path) if document.value is not None or document.faults]
    if not found:
        raise ConfigError([Fault(path, 0, "", "it says nothing; a tool has at least " + _LEAST)])
    configs = [_Reading(document).config() for document in found]
    named = [config for config in configs if config is not None and config.name]
    faults = [fault for document in found for fault in document.faults] + _namesakes(named)
    stem = os.path.splitext(os.path.basename(path))[0]
    if stem.endswith(_CONFIG):
        faults += _misnamed(named, stem.removesuffix(_CONFIG))
    if faults:
        raise ConfigError(sorted(faults, key=lambda fault: fault.line))
    return named


_LEAST = "use_guide: {tool_name: ..., description: ...}"


def _text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            data = file.read()
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError([Fault(path, line, "", "it is not UTF-8; save it in that encoding")]) from None
    except OSError as error:
        raise ConfigError([Fault(path, 0, "", f"it cannot be read: {error.strerror}")]) from None


def _namesakes(configs: Iterable[ToolConfig]) -> list[Fault]:
    known: dict[str, ToolConfig] = {}
    faults = []
    for config in configs:
        first = known.setdefault(canonical(config.name), config)
        if first is not config:
            problem = f"{config.name!r} is described in {first.file}:{first.line} already; rename or remove one"
            faults.append(Fault(config.file, config.line, "use_guide.tool_name", problem))
    return faults


def _misnamed(configs: list[ToolConfig], wanted: str) -> list[Fault]:
    if len(configs) > 1:
        second = configs[1]
        problem = f"the file is called after the one tool {wanted!r}; name it otherwise, tools.yaml for one"
        return [Fault(second.file, second.line, "", problem)]
    problem = f"is not {wanted!r}, which the file is called after; rename one of them"
    return [
        Fault(config.file, config.line, "use_guide.tool_name", f"{config.name!r} {problem}")
        for config in configs
        if canonical(config.name) != canonical(wanted)
    ]


class _Reading:
    """From one document to a config. Every fault is added to the document's."""

    def __init__(self, document: Document) -> None:
        self._document = document

    def config(self) -> ToolConfig | None:
        """The config; None if it cannot be made."""
        document = self._document
        given = document.value
        if not isinstance(given, dict):
            if not document.faults:
                document.add((), f"{shown(given)} describes no tool, which has at least {_LEAST}")
            return None
        self._refuse_unknown((), given, _KEYS)
        guide = self._section("use_guide", _GUIDE)
        name = self._name(guide)
        description = self._text("use_guide", guide, "description", "say what the tool is good for")
        prompt = self._section("use_prompt", _PROMPT) if "use_prompt" in given else {}
        self._compare_names(name, prompt)
        schema = input_schema(document)
        return ToolConfig(
            name=name,
            description=description,
            tool_prompt=self._prompt(prompt, "tool_prompt"),
            return_format=self._prompt(prompt, "return_format"),
            input_schema=schema,
            binding=self._binding(schema),
            options=self._options(),
            file=document.file,
            line=document.lines.get(("use_guide", "tool_name"), 0),
        )

    def _add(self, path: tuple[str | int, ...], problem: str) -> None:
        self._document.add(path, problem)

    def _refuse_unknown(self, path: tuple[str | int, ...], given: dict[str, Any], known: Iterable[str]) -> None:
        for key in given:
            if key not in known:
                self._add((*path, key), unknown("key", key, known))

    def _section(self, key: str, known: tuple[str, ...]) -> dict[str, Any]:
        given = self._document.value.get(key)
        if not isinstance(given, dict) or not given:
            said = "is missing" if given is None else "is empty" if given == {} else f"{shown(given)} is no mapping"
            self._add((key,), f"{said}; write {key}: {{{': ..., '.join(known)}: ...}}")
            return {}
        self._refuse_unknown((key,), given, known)
        return given

    def _text(self, section: str, given: dict[str, Any], key: str, remedy: str) -> str:
        value = given.get(key)
        if isinstance(value, str) and value.strip():
            return value.strip()
        if value is not None and not isinstance(value, str):
            self._add((section, key), f"{shown(value)} is no text; put it in quotes")
        elif given:  # else the section is missing altogether, and that has been said
            self._add((section, key), f"{'is empty' if key in given else 'is missing'}; {remedy}")
        return ""

    def _name(self, guide: dict[str, Any]) -> str:
        name = self._text("use_guide", guide, "tool_name", "give the tool a name")
        if not name.isprintable() or any(sign.isspace() or sign in "<>/" for sign in name):
            self._add(("use_guide", "tool_name"), f"{name!r} cannot stand in a tag: use no space and none of < > /")
        return name

    def _compare_names(self, name: str, prompt: dict[str, Any]) -> None:
        other = self._text("use_prompt", prompt, "tool_name", f"repeat the name: {name}")
        if other and name and canonical(other) != canonical(name):
            self._add(("use_prompt", "tool_name"), f"{other!r} is not {name!r}, as use_guide says; a tool has one name")

    def _prompt(self, prompt: dict[str, Any], key: str) -> str | None:
        value = prompt.get(key)
        if value is not None and not isinstance(value, str):
            self._add(("use_prompt", key), f"{shown(value)} is no text; write it behind a | to keep its lines")
            return None
        return value or None

    def _binding(self, schema: dict[str, Any] | None) -> Command | Function | ExecutorName | None:
        given = self._document.value
        bound = [key for key in _BINDINGS if key in given]
        for key in bound[1:]:
            self._add((key,), f"{bound[0]} says already what runs the tool; keep one of them")
        if "command" not in bound:
            for key in KEYS:
                if key in given:
                    self._add((key,), "it belongs to a command, and there is none")
        match bound[:1]:
            case ["command"]:
                folder = os.path.dirname(os.path.abspath(self._document.file))
                return command(self._document, INSTRUCTION if schema is None else schema, folder)
            case ["function"]:
                place = self._place("function", "module:function")
                return None if place is None or place.module is None else Function(place.name, place.module)
            case ["executor"]:
                place = self._place("executor", "NAME or module:NAME")
                return None if place is None else ExecutorName(place.name, place.module)
        return None

    def _place(self, key: str, wanted: str) -> Place | None:
        given = self._document.value[key]
        module, colon, name = given.rpartition(":") if isinstance(given, str) else ("", "", "")
        if not name or (colon and not module) or (key == "function" and not colon):
            self._add((key,), f"{shown(given)} is not of the form {wanted}")
            return None
        return Place(name, module or None)

    def _options(self) -> Options:
        values = {}
        for key in _OPTIONS:
            if key not in self._document.value:
                continue
            value = self._document.value[key]
            try:
                if value is None:
                    raise ValueError("is empty; leave it out if there is nothing to say")
                values[key] = getattr(checked({key: value, **_NEEDS.get(key, {})}), key)
            except (TypeError, ValueError) as error:
                self._add((key,), str(error).removeprefix(f"tool_api: {key} "))
        if "memory_limit" in values and "runs_in" not in values:
            self._add(("memory_limit",), "it needs a process of its own; say runs_in: process as well")
        return Options(**values)


_NEEDS: dict[str, dict[str, Any]] = {"memory_limit": {"runs_in": "process"}}
"""What the check of one option wants to see beside it."""
