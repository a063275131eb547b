"""Files and folders of YAML that describe tools."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .model import CONFIG, ToolConfig, canonical, implementation
from .reader import LEAST, config_of
from .yaml_document import ConfigError, Fault, documents

if TYPE_CHECKING:
    from collections.abc import Iterable

SUFFIXES = (".yaml", ".yml")


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
        raise ConfigError([Fault(place, 0, "", f"there is no tool's YAML, such as rag{CONFIG}.yaml, in this folder")])
    return {config.name: config for config in configs}


def tool_files(folder: str) -> list[str]:
    """The YAML files of *folder* that describe tools. Those that begin with `_` or a dot are left out.

    Folders hold other YAML as well. A file is about a tool if it says `use_guide`, or belongs to a Python file.
    """
    names = sorted(name for name in os.listdir(folder) if name.endswith(SUFFIXES) and name[0] not in "_.")
    return [path for name in names if _is_about_a_tool(path := os.path.join(folder, name))]


def _is_about_a_tool(path: str) -> bool:
    if not os.path.isfile(path):
        return False
    stem = os.path.splitext(path)[0]
    if stem.endswith(CONFIG) and os.path.isfile(implementation(path)):
        return True
    try:
        with open(path, "rb") as file:
            return b"use_guide" in file.read()
    except OSError:  # loading the file reports it
        return True


def load_file(path: str) -> list[ToolConfig]:
    """The tools that the YAML file at *path* describes, one in each document.

    Raises:
        ConfigError: with all that is wrong with the file.
    """
    found = [document for document in documents(_text(path), path) if document.value is not None or document.faults]
    if not found:
        raise ConfigError([Fault(path, 0, "", "it says nothing; a tool has at least " + LEAST)])
    configs = [config_of(document) for document in found]
    named = [config for config in configs if config is not None and config.name]
    faults = [fault for document in found for fault in document.faults] + _namesakes(named)
    stem = os.path.splitext(os.path.basename(path))[0]
    if stem.endswith(CONFIG):
        faults += _misnamed(named, stem.removesuffix(CONFIG))
    if faults:
        raise ConfigError(sorted(faults, key=lambda fault: fault.line))
    return named


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
