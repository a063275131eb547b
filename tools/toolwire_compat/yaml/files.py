"""Files and folders of YAML that describe tools."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from .model import CONFIG, ConfigError, ConfigFault, ToolConfig, canonical, implementation

if TYPE_CHECKING:
    from collections.abc import Iterable

SUFFIXES = (".yaml", ".yml")


def load_tool_config(path: str | os.PathLike[str]) -> ToolConfig:
    """Return the one tool that the YAML file at *path* describes.

    Raises:
        ConfigError: with all errors in the file.
    """
    configs = load_file(os.fspath(path))
    if len(configs) != 1:
        raise ConfigError(
            [
                ConfigFault(
                    os.fspath(path),
                    0,
                    "",
                    f"it describes {len(configs)} tools; use load_tool_configs",
                )
            ]
        )
    return configs[0]


def load_tool_configs(path: str | os.PathLike[str]) -> dict[str, ToolConfig]:
    """Return the tools that a YAML file describes, or those of a folder, by their names.

    Raises:
        ConfigError: with all errors in all of the files.
    """
    root = os.fspath(path)
    configs: list[ToolConfig] = []
    faults: list[ConfigFault] = []
    for file in tool_files(root) if os.path.isdir(root) else [root]:
        try:
            configs += load_file(file)
        except ConfigError as error:
            faults += error.faults
    faults += _namesakes(configs)
    if faults:
        raise ConfigError(faults)
    if not configs:
        raise ConfigError(
            [
                ConfigFault(
                    root,
                    0,
                    "",
                    f"no YAML in this folder describes a tool, such as rag{CONFIG}.yaml",
                )
            ]
        )
    return {config.name: config for config in configs}


def tool_files(folder: str) -> list[str]:
    """Return the YAML files of *folder* that describe tools, without those that begin with `_` or a
    dot.

    Folders hold other YAML as well. A file is about a tool if it contains `use_guide`, belongs to a
    Python file, or has lines that begin with `name:`, `description:` and what runs it, as keys of
    the file or of a list in it.
    """
    names = sorted(
        name for name in os.listdir(folder) if name.endswith(SUFFIXES) and name[0] not in "_."
    )
    return [path for name in names if is_about_a_tool(path := os.path.join(folder, name))]


def is_about_a_tool(path: str) -> bool:
    """Return whether the YAML file at *path* describes tools, as far as its keys tell; it may have
    faults.
    """
    if not os.path.isfile(path):
        return False
    if os.path.splitext(path)[0].endswith(CONFIG) and os.path.isfile(implementation(path)):
        return True
    try:
        with open(path, "rb") as file:
            text = file.read()
    except OSError:  # loading the file reports it
        return True
    return b"use_guide" in text or (
        {b"name", b"description"} < (keys := {*_KEY.findall(text)}) and bool(keys & _RUNS)
    )


_KEY = re.compile(rb"^(?:- |  )?(\w+):", re.MULTILINE)
_RUNS = {b"command", b"function", b"executor"}


def load_file(path: str) -> list[ToolConfig]:
    """Return the tools in the documents of a YAML file; raises a ConfigError with all errors, or
    without PyYAML.
    """
    try:
        from .reader import LEAST, config_of, documents
    except ModuleNotFoundError:
        from toolwire_schemas.install_command import install_command

        missing = f"YAML needs PyYAML; run: {install_command('toolwire[yaml]')}"
        raise ConfigError([ConfigFault(path, 0, "", missing)]) from None
    found = [
        document
        for document in documents(_text(path), path)
        if document.value is not None or document.faults
    ]
    if not found:
        raise ConfigError([ConfigFault(path, 0, "", "it is empty; a tool has at least " + LEAST)])
    configs = [config for document in found if (config := config_of(document)) is not None]
    faults = [fault for document in found for fault in document.faults] + _namesakes(configs)
    stem = os.path.splitext(os.path.basename(path))[0]
    if stem.endswith(CONFIG):
        faults += _misnamed(configs, stem.removesuffix(CONFIG))
    if faults:
        raise ConfigError(sorted(faults, key=lambda fault: fault.line))
    return configs


def _text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            data = file.read()
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            [ConfigFault(path, line, "", "it is not UTF-8; save it in that encoding")]
        ) from None
    except OSError as error:
        raise ConfigError(
            [ConfigFault(path, 0, "", f"it cannot be read: {error.strerror}")]
        ) from None


def _namesakes(configs: Iterable[ToolConfig]) -> list[ConfigFault]:
    known: dict[str, ToolConfig] = {}
    faults = []
    for config in configs:
        first = known.setdefault(canonical(config.name), config)
        if first is not config:
            problem = (
                f"{config.name!r} is already described in {first.file}:{first.line}; rename or"
                " remove one"
            )
            faults.append(ConfigFault(config.file, config.line, "", problem))
    return faults


def _misnamed(configs: list[ToolConfig], wanted: str) -> list[ConfigFault]:
    problem = f"is not {wanted!r}, the name of the file; rename one of them"
    return [
        ConfigFault(config.file, config.line, "", f"{config.name!r} {problem}")
        for config in configs
        if canonical(config.name) != canonical(wanted)
    ]
