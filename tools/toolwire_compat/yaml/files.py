"""Files and folders of YAML that describe tools."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from .model import CONFIG, ConfigError, ConfigFault, ToolConfig, find_implementation, normalize_name

if TYPE_CHECKING:
    from collections.abc import Iterable

SUFFIXES = (".yaml", ".yml")


def load_tool_config(path: str | os.PathLike[str]) -> ToolConfig:
    """Return the one tool that the YAML file at *path* describes.

    Raises:
        ConfigError: with all errors in the file.
    """
    file = os.fspath(path)
    configs = load_file(file)
    if len(configs) != 1:
        raise _make_error(file, f"it describes {len(configs)} tools; use load_tool_configs")
    return configs[0]


def load_tool_configs(path: str | os.PathLike[str]) -> dict[str, ToolConfig]:
    """Return the tools that a YAML file describes, or those of a folder, by their names.

    Raises:
        ConfigError: with all errors in all of the files.
    """
    root = os.fspath(path)
    configs: list[ToolConfig] = []
    faults: list[ConfigFault] = []
    files = list_tool_files(root) if os.path.isdir(root) else [root]
    for file in files:
        try:
            configs += load_file(file)
        except ConfigError as error:
            faults += error.faults
    faults += _find_namesakes(configs)
    if faults:
        raise ConfigError(faults)
    if not configs:
        example = f"rag{CONFIG}.yaml"
        raise _make_error(root, f"no YAML in this folder describes a tool, such as {example}")
    return {config.name: config for config in configs}


def list_tool_files(folder: str) -> list[str]:
    """Return the YAML files of *folder* that describe tools, without those that begin with `_` or a
    dot.

    Folders hold other YAML as well. A file is about a tool if it contains `use_guide`, belongs to a
    Python file, or has lines that begin with `name:`, `description:` and what runs it, as keys of
    the file or of a list in it.
    """
    paths = []
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if name.endswith(SUFFIXES) and name[0] not in "_." and is_about_a_tool(path):
            paths.append(path)
    return paths


def is_about_a_tool(path: str) -> bool:
    """Return whether the YAML file at *path* describes tools, as far as its keys tell; it may have
    faults.
    """
    if not os.path.isfile(path):
        return False
    if os.path.splitext(path)[0].endswith(CONFIG) and os.path.isfile(find_implementation(path)):
        return True
    try:
        with open(path, "rb") as file:
            text = file.read()
    except OSError:  # loading the file reports it
        return True
    if b"use_guide" in text:
        return True
    keys = set(_KEY.findall(text))
    return b"name" in keys and b"description" in keys and not keys.isdisjoint(_RUNS)


# A key of the file, or of a list in it.
_KEY = re.compile(rb"^(?:- |  )?(\w+):", re.MULTILINE)
_RUNS = {b"command", b"function", b"executor"}


def load_file(path: str) -> list[ToolConfig]:
    """Return the tools in the documents of a YAML file.

    Raises:
        ConfigError: with all errors in the file, or if PyYAML is missing.
    """
    try:
        from .document import read_documents
        from .reader import read_config
        from .shape import LEAST
    except ModuleNotFoundError:
        from toolwire_schemas.install_command import install_command

        missing = f"YAML needs PyYAML; run: {install_command('toolwire[yaml]')}"
        raise _make_error(path, missing) from None
    configs = []
    faults = []
    is_empty = True
    for document in read_documents(_read_text(path), path):
        if document.value is None and not document.faults:
            continue  # a document without content
        is_empty = False
        config = read_config(document)
        if config is not None:
            configs.append(config)
        faults += document.faults
    if is_empty:
        raise _make_error(path, f"it is empty; a tool has at least {LEAST}")
    faults += _find_namesakes(configs)
    stem = os.path.splitext(os.path.basename(path))[0]
    if stem.endswith(CONFIG):
        faults += _find_misnamed(configs, stem.removesuffix(CONFIG))
    if faults:
        raise ConfigError(sorted(faults, key=lambda fault: fault.line))
    return configs


def _make_error(path: str, problem: str, line: int = 0) -> ConfigError:
    return ConfigError([ConfigFault(path, line, "", problem)])


def _read_text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            data = file.read()
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise _make_error(path, "it is not UTF-8; save it in that encoding", line) from None
    except OSError as error:
        raise _make_error(path, f"it cannot be read: {error.strerror}") from None


def _find_namesakes(configs: Iterable[ToolConfig]) -> list[ConfigFault]:
    first_of: dict[str, ToolConfig] = {}
    faults = []
    for config in configs:
        first = first_of.setdefault(normalize_name(config.name), config)
        if first is not config:
            place = f"{first.file}:{first.line}"
            problem = f"{config.name!r} is already described in {place}; rename or remove one"
            faults.append(ConfigFault(config.file, config.line, "", problem))
    return faults


def _find_misnamed(configs: Iterable[ToolConfig], wanted: str) -> list[ConfigFault]:
    faults = []
    for config in configs:
        if normalize_name(config.name) != normalize_name(wanted):
            problem = f"{config.name!r} is not {wanted!r}, the name of the file; rename one of them"
            faults.append(ConfigFault(config.file, config.line, "", problem))
    return faults
