"""Tools described in YAML: what to say of them to a model, how to have it instruct them, and what runs them.

`{TOOLNAME}_config.yaml` has two parts, as multi-agent systems with a tool library know them. `use_guide` has the name
and the description by which a tool is chosen, `use_prompt` the prompt for the model that writes the tool's instruction.
What else may stand there says what the tool takes (`parameters` or `input_schema`), what runs it (`command`,
`function`, `executor`), and what `tool_api` would say of it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import msgspec

from ..options import Options
from .yaml_document import ConfigError, Fault

if TYPE_CHECKING:
    from .command import Command

CONFIG = "_config"
"""How the name of a file ends, before the dot, that describes the Python file next to it."""


class Reference(msgspec.Struct, frozen=True):
    """A name, and the module it is to be found in; None: wherever such a thing has been registered."""

    name: str
    module: str | None = None


class Function(Reference, frozen=True):
    """A function that runs the tool."""


class ExecutorName(Reference, frozen=True):
    """The registered executor that runs the tool."""


class ToolConfig(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as its YAML describes it.

    *input_schema* is None without parameters; without *binding*, the executor registered under its name runs it.
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

    def error(self, problem: str, key: str = "") -> ConfigError:
        """What to raise if the tool cannot be had as it is described."""
        return ConfigError([Fault(self.file, self.line, key, problem)])


def canonical(name: str) -> str:
    """What two spellings of one tool's name have in common: tags are written in capitals, files are not."""
    return name.casefold()


def implementation(path: str) -> str:
    """The Python file that the YAML file at *path* belongs to by its name."""
    return os.path.splitext(path)[0].removesuffix(CONFIG) + ".py"
