"""From a tool's YAML to the tool: what runs it is found, and both are put together."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.did_you_mean import unknown_name

from ..errors import RegistrationError
from ..options import Options, options_for
from ..tool import Tool
from ..toolconfig.model import ExecutorName, Function, ToolConfig, canonical
from ..toolconfig.parameters import defaults
from .step_tool import step_call, takes_instruction

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from ..toolconfig.command import Command
    from .executor import Executor

    Importer = Callable[[str, str], ModuleType]


def import_beside(folder: str, name: str) -> ModuleType:
    """Import the module *name* as Python does, that of a file in *folder* if Python knows no other.

    Raises:
        ImportError: if it is not found, or another module hides the file.
    """
    if folder not in sys.path:
        sys.path.append(folder)
    module = importlib.import_module(name)
    file, found = os.path.join(folder, f"{name}.py"), getattr(module, "__file__", None)
    if os.path.isfile(file) and not (found and os.path.samefile(file, found)):
        raise ImportError(f"{file} is hidden by {found or module}, which has the same name; rename the file")
    return module


def tool_of(config: ToolConfig, import_module: Importer = import_beside) -> Tool:
    """The tool that *config* describes. Modules come of *import_module*, given the folder of the YAML and their name.

    Raises:
        ConfigError: if what runs it is not found, or does not fit.
    """
    binding = config.binding
    try:
        if isinstance(binding, Function):
            return _function_tool(config, _function(config, binding, import_module))
        if binding is None or isinstance(binding, ExecutorName):
            return _tool(config, step_call(_executor(config, import_module), config))
        return _tool(config, CommandCall(binding, config))
    except RegistrationError as error:
        if type(error) is not RegistrationError:
            raise
        where = f"{error.parameter}: " if error.parameter else ""
        raise config.error(f"{where}{error.problem}; {error.remedy}".removesuffix("; ")) from None


def tools_of_config(config: ToolConfig) -> list[Tool]:
    """Return the tool that *config* describes, as a list. Raises as `tool_of` does."""
    return [tool_of(config)]


def _tool(config: ToolConfig, call: Callable[..., Any], said: Options | None = None) -> Tool:
    options = _said(msgspec.structs.replace(config.options, input_schema=config.input_schema))
    options |= {"name": config.name, "description": config.description}
    return Tool(call, name=config.name, options=msgspec.structs.replace(said or Options(), **options))


def _said(options: Options) -> dict[str, Any]:
    """Return the options that differ from the defaults."""
    silent = Options()
    return {name: value for name, value in msgspec.structs.asdict(options).items() if value != getattr(silent, name)}


class CommandCall:
    """Runs a command for each call."""

    def __init__(self, command: Command, config: ToolConfig) -> None:
        self.command = command
        if config.input_schema is None:
            self.__signature__ = takes_instruction(config)

    async def __call__(self, /, **arguments: Any) -> Any:
        from ..toolconfig.run_command import run

        return self.command.outcome(await run(self.command.invocation(arguments)))


def _function_tool(config: ToolConfig, function: Callable[..., Any]) -> Tool:
    said = defaults(config.input_schema)
    tool = _tool(config, partial(function, **said) if said else function, options_for(function))
    if config.input_schema is not None:
        _compare(config, function, tool)
    return tool


def _function(config: ToolConfig, binding: Function, import_module: Importer) -> Callable[..., Any]:
    found: Any = _imported(config, str(binding.module), "function", import_module)
    for name in binding.name.split("."):
        if not hasattr(found, name):
            known = [known for known in dir(found) if not known.startswith("_")]
            raise config.error(f"{binding.module}: {unknown_name('function', name, known)}", "function")
        owner, found = found, getattr(found, name)
    if isinstance(owner, type) and inspect.isfunction(inspect.getattr_static(owner, name)):
        problem = f"{binding.name} is a method and needs an object; make one in the module, and name its method"
        raise config.error(problem, "function")
    if not callable(found) or isinstance(found, type):
        kind = "a class" if isinstance(found, type) else f"of type {type(found).__name__}"
        raise config.error(f"{binding.name} is {kind}, and no function", "function")
    return found  # type: ignore[no-any-return]


def _compare(config: ToolConfig, function: Callable[..., Any], tool: Tool) -> None:
    """Refuse parameters that the function does not take, or lacks."""
    schema = config.input_schema or {}
    parameters = [p for p in inspect.signature(function).parameters.values() if p.name != tool._context]
    taken = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    if not any(p.kind is p.VAR_KEYWORD for p in parameters):
        for name in schema.get("properties", {}):
            if name not in (known := [p.name for p in taken]):
                raise config.error(f"the function takes {unknown_name('argument', name, known)}", f"parameters.{name}")
    certain = {*schema.get("required", ()), *defaults(schema)}
    missing = [p.name for p in taken if p.default is p.empty and p.name not in certain]
    if missing:
        raise config.error(f"the function needs {', '.join(missing)}, and calls may come without", "parameters")


def _executor(config: ToolConfig, import_module: Importer) -> type[Executor]:
    """The class that does the tool's steps: of the module that is named or belongs to the file, or a registered one."""
    from .executor import Executor

    binding = config.binding
    named = binding if isinstance(binding, ExecutorName) else ExecutorName(config.name)
    beside = config.implementation
    module = named.module or (os.path.basename(beside)[:-3] if os.path.isfile(beside) else None)
    known: dict[str, type[Executor]] = {}
    if module is None or (binding is not None and named.module is None):
        known |= {name: kind for (_, name), kind in Executor.registered().items()}
    if module is not None:
        known |= _executors_in(_imported(config, module, "executor", import_module))
    for name, kind in known.items():
        if canonical(name) == canonical(named.name):
            return kind
    if module is None and binding is None:
        wanted = f"say it by command, function or executor, or write an executor in {os.path.basename(beside)}"
        raise config.error(f"nothing is found that runs it; {wanted}")
    where = f"{module} registers " if module else "there is "
    raise config.error(where + unknown_name("executor", named.name, known), "executor")


def _executors_in(module: ModuleType) -> dict[str, type[Executor]]:
    found = {}
    for kind in vars(module).values():
        registered = vars(kind).get("__executor__") if issubclass(type(kind), type) else None
        if registered is not None:
            found[registered[1]] = kind
    return found


def _imported(config: ToolConfig, name: str, key: str, import_module: Importer) -> ModuleType:
    folder = os.path.abspath(os.path.dirname(config.file))
    try:
        return import_module(folder, name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # it is the module itself that lacks one
        raise config.error(f"no module {name!r}, neither next to this file nor installed", key) from None
