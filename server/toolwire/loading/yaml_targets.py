"""Loads targets in YAML. Imported only for targets that have YAML."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from toolwire_compat.mas.step_tool import StepCall
from toolwire_compat.mas.yaml_tool import make_config_tool
from toolwire_compat.yaml.files import list_tool_files, load_file
from toolwire_compat.yaml.model import ExecutorName, ToolConfig, normalize_name
from toolwire_schemas.did_you_mean import explain_unknown_name

from ..errors import LoadError
from .diagnostics.not_found import explain_missing_file
from .modules import import_beside

if TYPE_CHECKING:
    from toolwire_tools import Tool

__all__ = ["apply_descriptions", "list_tool_files", "load_tools"]


def load_tools(path: str, name: str | None = None) -> list[Tool]:
    """Return the tools of the YAML file at *path*, or the one called *name*.

    Raises:
        LoadError: if there is no such file or tool, or what runs it cannot be imported.
        ConfigError: with all errors of the file.
    """
    if not os.path.isfile(path):
        raise LoadError(explain_missing_file(path))
    configs = load_file(path)
    if name is not None:
        names = [config.name for config in configs]
        configs = [config for config in configs if config.name == name]
        if not configs:
            raise LoadError(f"{path}: {explain_unknown_name('tool', name, names)}")
    return [make_config_tool(config, import_beside) for config in configs]


def apply_descriptions(tools: list[Tool], path: str) -> list[Tool]:
    """Return the *tools* of a Python file, the executor among them as the YAML at *path* describes
    it.
    """
    if not any(isinstance(tool.entry.function, StepCall) for tool in tools):
        return tools
    executors = {}
    for config in load_file(path):
        if _is_about_an_executor(config):
            executors[normalize_name(config.name)] = config
    described = []
    for tool in tools:
        executor = executors.get(normalize_name(tool.name))
        if executor is not None:
            tool = make_config_tool(executor, import_beside)
        described.append(tool)
    return described


def _is_about_an_executor(config: ToolConfig) -> bool:
    return config.binding is None or isinstance(config.binding, ExecutorName)
