"""Tools described in YAML: how a model chooses and instructs them, and what runs them.

A tool has a `name` and a `description`. `{TOOLNAME}_config.yaml` has two parts instead, as
multi-agent systems with a tool library know them: `use_guide` with the name and the description by
which a tool is chosen, and `use_prompt` with the prompt for the model that writes the tool's
instruction. The other keys define what the tool takes (`parameters` or `input_schema`), what runs
it (`command`, `function`, `executor`), and the options of `tool_api`. The published schema
`tool-library` lists them all.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_tools.errors import RegistrationError
from toolwire_tools.options import Options

if TYPE_CHECKING:
    from .command import ToolCommand

CONFIG = "_config"
"""How the name of a file ends, before the dot, that describes the Python file next to it."""


class ConfigFault(msgspec.Struct, frozen=True):
    """One error in a file. *key* is a path such as `parameters.file`; line 0 means the whole
    file.
    """

    file: str
    line: int
    key: str
    problem: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        if not self.key:
            return f"{place}: {self.problem}"
        return f"{place}: {self.key}: {self.problem}"


class ConfigError(RegistrationError):
    """Errors in files that describe tools; *faults* lists them."""

    def __init__(self, faults: list[ConfigFault]) -> None:
        self.faults = faults
        super().__init__("; ".join(fault.problem for fault in faults), tool=faults[0].file)

    def __str__(self) -> str:
        return "\n".join(map(str, self.faults))


class Function(msgspec.Struct, frozen=True):
    """The Python function that runs the tool."""

    name: str
    module: str


class ExecutorName(msgspec.Struct, frozen=True):
    """The registered executor that runs the tool, of *module* if that is given."""

    name: str
    module: str | None = None


class ToolConfig(msgspec.Struct, frozen=True, kw_only=True):
    """A tool as its YAML describes it.

    *input_schema* is None without parameters; without *binding*, the executor registered under its
    name runs it.
    """

    name: str
    description: str
    tool_prompt: str | None = None
    return_format: str | None = None
    input_schema: dict[str, Any] | None = None
    binding: ToolCommand | Function | ExecutorName | None = None
    options: Options = Options()
    file: str = ""
    line: int = 0

    @property
    def defaults(self) -> dict[str, Any]:
        """The values for arguments that a call leaves out."""
        schema = self.input_schema or {}
        defaults = {}
        for name, member in schema.get("properties", {}).items():
            if isinstance(member, dict) and member.get("default") is not None:
                defaults[name] = member["default"]
        return defaults

    def make_error(self, problem: str, key: str = "") -> ConfigError:
        """Return the exception for a tool that cannot be made as it is described."""
        return ConfigError([ConfigFault(self.file, self.line, key, problem)])


def normalize_name(name: str) -> str:
    """Return *name* as two spellings of it have it in common: tags are written in capitals, files
    are not.
    """
    return name.casefold()


def find_implementation(path: str) -> str:
    """Return the path of the Python file that belongs to the YAML file at *path* by its name, if
    there is one.
    """
    return os.path.splitext(path)[0].removesuffix(CONFIG) + ".py"
