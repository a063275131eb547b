"""Loads targets in YAML. Imported only for targets that have YAML."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from toolwire_compat.mas.step_tool import StepCall
from toolwire_compat.mas.yaml_tool import tool_of
from toolwire_compat.yaml.files import load_file, tool_files
from toolwire_compat.yaml.model import ExecutorName, ToolConfig, canonical
from toolwire_schemas.did_you_mean import unknown_name

from ..errors import LoadError
from .modules import import_beside
from .not_found import explain_missing_file

if TYPE_CHECKING:
    from toolwire_tools import Tool

__all__ = ["apply_descriptions", "load_tools", "tool_files"]


def load_tools(path: str, name: str | None = None) -> list[Tool]:
    """Return the tools of the YAML file at *path*, or the one called *name*.

    Raises:
        LoadError: if there is no such file or tool, or what runs it cannot be imported.
        ConfigError: with all errors of the file.
    """
    if not os.path.isfile(path):
        raise LoadError(explain_missing_file(path))
    configs = load_file(path)
    wanted = [config for config in configs if name is None or config.name == name]
    if not wanted:
        raise LoadError(
            f"{path}: {unknown_name('tool', name, [config.name for config in configs])}"
        )
    return [tool_of(config, import_beside) for config in wanted]


def apply_descriptions(offered: list[Tool], path: str) -> list[Tool]:
    """Return the tools *offered* by a Python file, the executor among them as the YAML at *path*
    describes it.
    """
    if not any(isinstance(tool.entry.function, StepCall) for tool in offered):
        return offered
    ours = {
        canonical(config.name): config
        for config in load_file(path)
        if _is_about_an_executor(config)
    }
    return [
        tool_of(config, import_beside)
        if (config := ours.get(canonical(tool.name))) is not None
        else tool
        for tool in offered
    ]


def _is_about_an_executor(config: ToolConfig) -> bool:
    return config.binding is None or isinstance(config.binding, ExecutorName)
