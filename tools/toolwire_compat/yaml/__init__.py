"""Tools described in YAML: document, model, command templates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import toolwire_schemas

if TYPE_CHECKING:
    from .files import load_tool_config as load_tool_config
    from .files import load_tool_configs as load_tool_configs
    from .model import ConfigError as ConfigError
    from .model import ToolConfig as ToolConfig

_MODULES = toolwire_schemas.map_names_to_modules(
    {
        ".files": "load_tool_config load_tool_configs",
        ".model": "ConfigError ToolConfig",
    }
)
__all__ = sorted(_MODULES)
__getattr__ = toolwire_schemas.make_importer(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
