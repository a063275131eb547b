"""The tools that YAML describes: run by an executor, a function or a command."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.did_you_mean import explain_unknown_name
from toolwire_schemas.signatures import read_signature
from toolwire_tools.errors import RegistrationError
from toolwire_tools.options import Options, find_options
from toolwire_tools.tool import Tool, make_function_handler, make_tool

from ..yaml.model import ExecutorName, Function, ToolConfig, find_implementation, normalize_name
from .executor import Executor
from .step_tool import make_instruction_schema, make_step_call

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from ..yaml.command import ToolCommand

    Importer = Callable[[str, str], ModuleType]


def import_next_to(folder: str, name: str) -> ModuleType:
    """Import the module *name*: that of a file in *folder*, if Python knows no other.

    Raises:
        ImportError: also if another module has the name of a file in *folder*.
    """
    if folder not in sys.path:
        sys.path.append(folder)
    module = importlib.import_module(name)
    file = os.path.join(folder, f"{name}.py")
    loaded = getattr(module, "__file__", None)
    is_from_file = loaded is not None and os.path.isfile(file) and os.path.samefile(file, loaded)
    if os.path.isfile(file) and not is_from_file:
        raise ImportError(
            f"{file} is shadowed by {loaded or module}, which has the same name; rename the file"
        )
    return module


def make_config_tool(config: ToolConfig, import_module: Importer = import_next_to) -> Tool:
    """Return the tool that *config* describes.

    Raises:
        ConfigError: if what runs it is not found, or does not fit.
    """
    try:
        return _bind(config, import_module)
    except RegistrationError as error:
        if type(error) is not RegistrationError:
            raise
        where = f"{error.parameter}: " if error.parameter else ""
        raise config.make_error(
            f"{where}{error.problem}; {error.remedy}".removesuffix("; ")
        ) from None


def list_config_tools(config: ToolConfig) -> list[Tool]:
    """Return the tool that *config* describes, as a list. Raises as `tool_of` does."""
    return [make_config_tool(config)]


def _bind(config: ToolConfig, import_module: Importer) -> Tool:
    binding = config.binding
    if isinstance(binding, Function):
        function = _find_function(config, binding, import_module)
        return _make_function_tool(config, function)
    schema = config.input_schema
    if schema is None:
        schema = make_instruction_schema(config)
    if binding is None or isinstance(binding, ExecutorName):
        call: Callable[..., Any] = make_step_call(_find_executor(config, import_module), config)
    else:
        call = _make_command_call(binding)
    return _make_tool(config, call, schema, Options())


def _make_tool(
    config: ToolConfig,
    call: Callable[..., Any],
    schema: dict[str, Any] | None,
    own_options: Options,
) -> Tool:
    """Return the tool of *call* with *own_options*, as far as *config* does not change them."""
    usual = Options()
    changes: dict[str, Any] = {}
    for name, value in msgspec.structs.asdict(config.options).items():
        if value != getattr(usual, name):
            changes[name] = value
    if schema is not None:
        changes["input_schema"] = schema
    changes |= {"name": config.name, "description": config.description}
    options = msgspec.structs.replace(own_options, **changes)
    return make_tool(call, name=config.name, options=options)


# --- commands ---


def _make_command_call(command: ToolCommand) -> Callable[..., Any]:
    async def call(**arguments: Any) -> Any:
        from ..yaml.run_command import run

        return command.read_outcome(await run(command.make_invocation(arguments)))

    return call


# --- functions ---


def _make_function_tool(config: ToolConfig, function: Callable[..., Any]) -> Tool:
    defaults = config.defaults
    call = partial(function, **defaults) if defaults else function
    own_options = find_options(function) or Options()
    tool = _make_tool(config, call, config.input_schema, own_options)
    if config.input_schema is not None:
        context = make_function_handler(tool).context_parameter
        _compare_parameters(config, function, [context] if context else [])
    return tool


def _find_function(
    config: ToolConfig, binding: Function, import_module: Importer
) -> Callable[..., Any]:
    owner: Any = None
    found: Any = _import(config, binding.module, "function", import_module)
    for name in binding.name.split("."):
        owner = found
        if not hasattr(owner, name):
            known = [known for known in dir(owner) if not known.startswith("_")]
            problem = explain_unknown_name("function", name, known)
            raise config.make_error(f"{binding.module}: {problem}", "function")
        found = getattr(owner, name)
    if isinstance(owner, type) and inspect.isfunction(inspect.getattr_static(owner, name)):
        problem = (
            f"{binding.name} is a method and needs an object; create one in the module, and name"
            " its method"
        )
        raise config.make_error(problem, "function")
    if isinstance(found, type):
        raise config.make_error(f"{binding.name} is a class, not a function", "function")
    if not callable(found):
        kind = type(found).__name__
        raise config.make_error(f"{binding.name} is of type {kind}, not a function", "function")
    function: Callable[..., Any] = found
    return function


def _compare_parameters(config: ToolConfig, function: Callable[..., Any], added: list[str]) -> None:
    """Refuse parameters that the function does not take, or lacks; those *added* are passed to it
    as well.
    """
    schema = config.input_schema or {}
    present = [*schema.get("required", ()), *config.defaults, *added]
    signature = read_signature(function)
    try:
        signature.bind_partial(**dict.fromkeys(schema.get("properties", ())))
        signature.bind(**dict.fromkeys(present))
    except TypeError as error:
        raise config.make_error(f"they do not match the function: {error}", "parameters") from None


# --- executors ---


def _find_executor(config: ToolConfig, import_module: Importer) -> type[Executor]:
    """Return the class for the tool's steps: of the module that is named or belongs to the file, or
    registered.
    """
    wanted = config.binding
    if not isinstance(wanted, ExecutorName):
        wanted = ExecutorName(config.name)
    own_file = find_implementation(config.file)
    module = wanted.module
    if module is None and os.path.isfile(own_file):
        module = os.path.basename(own_file).removesuffix(".py")
    known = _list_candidates(config, wanted, module, import_module)
    for name, kind in known.items():
        if normalize_name(name) == normalize_name(wanted.name):
            return kind
    if module is None and config.binding is None:
        file = os.path.basename(own_file)
        remedy = f"set command, function or executor, or write an executor in {file}"
        raise config.make_error(f"nothing runs it; {remedy}")
    where = f"{module} registers" if module else "there is"
    problem = explain_unknown_name("executor", wanted.name, known)
    raise config.make_error(f"{where} {problem}", "executor")


def _list_candidates(
    config: ToolConfig, wanted: ExecutorName, module: str | None, import_module: Importer
) -> dict[str, type[Executor]]:
    """Return the executors of *module*, by name; and all registered ones, unless the module is
    named or the file names no executor.
    """
    candidates: dict[str, type[Executor]] = {}
    is_only_in_module = config.binding is None or wanted.module is not None
    if module is None or not is_only_in_module:
        for (_, name), kind in Executor.list_registered().items():
            candidates[name] = kind
    if module is not None:
        candidates |= _list_executors(_import(config, module, "executor", import_module))
    return candidates


def _list_executors(module: ModuleType) -> dict[str, type[Executor]]:
    """Return the registered executors among the members of *module*, by name."""
    executors = {}
    for member in vars(module).values():
        if not issubclass(type(member), type):
            continue
        key = vars(member).get("__executor__")
        if key:
            _, name = key
            executors[name] = member
    return executors


def _import(config: ToolConfig, name: str, key: str, import_module: Importer) -> ModuleType:
    folder = os.path.abspath(os.path.dirname(config.file))
    try:
        return import_module(folder, name)
    except ModuleNotFoundError as error:
        is_this_module = error.name is not None and f"{name}.".startswith(f"{error.name}.")
        if not is_this_module:
            raise  # the module itself imports a missing one
        problem = f"no module {name!r}, neither next to this file nor installed"
        raise config.make_error(problem, key) from None
