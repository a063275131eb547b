"""The tools of executors, and of YAML that describes an executor, a function or a command.

Strategy. A call of an executor's tool is an agent with one step, which is done at once.
"""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from toolwire_schemas.did_you_mean import unknown_name
from toolwire_schemas.signatures import signature_of
from toolwire_schemas.wire.codec import encode
from toolwire_tools.context.context import BaseContext
from toolwire_tools.discovery import constructed
from toolwire_tools.errors import NotOffered, RegistrationError, ToolError
from toolwire_tools.options import Options, options_for
from toolwire_tools.signature import docstring as docstrings
from toolwire_tools.tool import Tool, function_handler, make_tool

from ..yaml.model import ExecutorName, Function, ToolConfig, canonical, implementation
from .executor import RAISES, SHARED_MESSAGE, SYNC, Executor, name_of, override_of, status_text
from .instructions import InstructionError, parse_instruction
from .steps import AgentStep, StepState

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from ..yaml.command import ToolCommand

    Importer = Callable[[str, str], ModuleType]

AGENT = {"agent_id": "toolwire", "role": "host"}
"""The agent of such a step."""

_INSTRUCTION = "What to do, in the words or the format that the tool asks for."

_SIGNATURE = inspect.Signature(
    [
        inspect.Parameter(
            "instruction", inspect.Parameter.KEYWORD_ONLY, annotation=Annotated[str, _INSTRUCTION]
        ),
        inspect.Parameter(
            "toolwire_context", inspect.Parameter.KEYWORD_ONLY, annotation=BaseContext
        ),
    ]
)
"""The signature of an executor's tool without YAML: a schema would need jsonschema, which takes
long to import.
"""


def tools_of_executor(executor: Executor | type[Executor]) -> list[Tool]:
    """Return the tool of a registered executor or class, called as it is registered and described
    by its docstring.
    """
    kind = executor if isinstance(executor, type) else type(executor)
    registered = vars(kind).get("__executor__")
    if registered is None:
        remedy = '@Executor.use @Executor.register(executor_type="tool", executor_name="...")'
        raise NotOffered("the class is not registered", tool=kind.__name__, remedy=remedy)
    options = Options(description=docstrings.read(kind.__doc__).description)
    return [make_tool(step_call(executor), name=registered[1], options=options)]


def step_call(executor: Executor | type[Executor], config: ToolConfig | None = None) -> StepCall:
    """Return the function of a tool for which *executor* does a step, described by *config*."""
    made: Executor = constructed(executor) if isinstance(executor, type) else executor
    is_async = inspect.iscoroutinefunction(override_of(type(made)))
    return (AsyncStepCall if is_async else StepCall)(made, config)


def instruction_schema(config: ToolConfig) -> dict[str, Any]:
    """Return the schema of the arguments of a tool that has no parameters: one text, described by
    *config*.
    """
    text = "\n\n".join(filter(None, (config.tool_prompt, config.return_format)))
    return {
        "type": "object",
        "properties": {"instruction": {"type": "string", "description": text or _INSTRUCTION}},
        "required": ["instruction"],
        "additionalProperties": False,
    }


class StepCall:
    """Has an executor do one step for each call, with the call's `Context` as
    `agent_state["context"]`.
    """

    def __init__(self, executor: Executor, config: ToolConfig | None = None) -> None:
        self.executor = executor
        self.config = config
        if config is None:
            self.__signature__ = _SIGNATURE

    def __eq__(self, other: object) -> bool:
        # Several targets may lead to one executor, the module and its YAML for two, and each makes
        # an object of it.
        return isinstance(other, StepCall) and type(self.executor) is type(other.executor)

    def __hash__(self) -> int:
        return hash(type(self.executor))

    def __call__(self, /, *, toolwire_context: BaseContext, **arguments: Any) -> Any:
        step, state = self._start(arguments, toolwire_context)
        return _answer(step, name_of(self.executor), self.executor.execute(step.step_id, state))

    def _start(
        self, arguments: dict[str, Any], context: BaseContext
    ) -> tuple[StepState, dict[str, Any]]:
        config = self.config
        name = name_of(self.executor) if config is None else config.name
        if config is not None and config.input_schema is not None:
            content: Any = {**config.defaults, **arguments}
            text = encode(content).decode()
        else:
            text = arguments["instruction"]
            content = _instruction(text, name)
        step = StepState("task", "stage", AGENT["agent_id"], executor=name)
        step.text_content, step.instruction_content = text, content
        steps = AgentStep(AGENT["agent_id"], [step])
        return step, {**AGENT, "agent_step": steps, "context": context, RAISES: True}


class AsyncStepCall(StepCall):
    """As `StepCall`, for an executor whose `execute` is a coroutine function."""

    async def __call__(self, /, *, toolwire_context: BaseContext, **arguments: Any) -> Any:
        step, state = self._start(arguments, toolwire_context)
        return _answer(
            step, name_of(self.executor), await self.executor.execute(step.step_id, state)
        )


def _instruction(text: str, name: str) -> Any:
    """Return the content of the tool's block in *text*, or all of it if there is no block."""
    has_tag = any(
        tag in text.casefold() for tag in (f"<{name}>".casefold(), f"</{name}>".casefold())
    )
    try:
        return parse_instruction(text if has_tag else f"<{name}>{text}</{name}>", name)
    except InstructionError as error:
        if has_tag:
            raise ToolError(str(error)) from None
        return text


def _answer(step: StepState, name: str, output: dict[str, Any]) -> Any:
    """Return the step's result, or the output without its status."""
    status = step.execution_state
    rest = {key: value for key, value in output.items() if key not in SYNC}
    result = rest if step.execute_result is None else step.execute_result
    if status == "failed":
        raise ToolError(f"The step has failed: {_reason(name, result, output)}")
    return status if result == {} else result


def _reason(name: str, result: Any, output: dict[str, Any]) -> str:
    """Return why a step of the executor *name* has failed: its result, or the message that it
    shares.
    """
    if isinstance(result, str) and result:
        return result
    if result:
        return encode(result).decode()
    message = output.get(SHARED_MESSAGE)
    content = message.get("content") if isinstance(message, dict) else message
    if isinstance(content, str) and content and content != status_text(name, "failed"):
        return content
    return "no message was given"


def import_beside(folder: str, name: str) -> ModuleType:
    """Import the module *name*, that of a file in *folder* if Python knows no other; raises an
    ImportError.
    """
    if folder not in sys.path:
        sys.path.append(folder)
    module = importlib.import_module(name)
    file, found = os.path.join(folder, f"{name}.py"), getattr(module, "__file__", None)
    if os.path.isfile(file) and not (found and os.path.samefile(file, found)):
        raise ImportError(
            f"{file} is shadowed by {found or module}, which has the same name; rename the file"
        )
    return module


def tool_of(config: ToolConfig, import_module: Importer = import_beside) -> Tool:
    """Return the tool that *config* describes; raises a ConfigError if what runs it is not found,
    or does not fit.
    """
    binding = config.binding
    try:
        if isinstance(binding, Function):
            return _function_tool(config, _function(config, binding, import_module))
        schema = instruction_schema(config) if config.input_schema is None else config.input_schema
        if binding is None or isinstance(binding, ExecutorName):
            return _tool(config, step_call(_executor(config, import_module), config), schema)
        return _tool(config, _command_call(binding), schema)
    except RegistrationError as error:
        if type(error) is not RegistrationError:
            raise
        where = f"{error.parameter}: " if error.parameter else ""
        raise config.error(f"{where}{error.problem}; {error.remedy}".removesuffix("; ")) from None


def tools_of_config(config: ToolConfig) -> list[Tool]:
    """Return the tool that *config* describes, as a list. Raises as `tool_of` does."""
    return [tool_of(config)]


def _tool(
    config: ToolConfig,
    call: Callable[..., Any],
    schema: dict[str, Any] | None,
    decorated: Options | None = None,
) -> Tool:
    given = {**msgspec.structs.asdict(config.options), "input_schema": schema}
    changed = {name: value for name, value in given.items() if value != getattr(_DEFAULTS, name)}
    changed |= {"name": config.name, "description": config.description}
    return make_tool(
        call, name=config.name, options=msgspec.structs.replace(decorated or _DEFAULTS, **changed)
    )


_DEFAULTS = Options()


def _command_call(command: ToolCommand) -> Callable[..., Any]:
    async def call(**arguments: Any) -> Any:
        from ..yaml.run_command import run

        return command.outcome(await run(command.invocation(arguments)))

    return call


def _function_tool(config: ToolConfig, function: Callable[..., Any]) -> Tool:
    given = config.defaults
    call = partial(function, **given) if given else function
    tool = _tool(config, call, config.input_schema, options_for(function))
    if config.input_schema is not None:
        _compare(config, function, function_handler(tool).context_parameter)
    return tool


def _function(config: ToolConfig, binding: Function, import_module: Importer) -> Callable[..., Any]:
    found: Any = _imported(config, binding.module, "function", import_module)
    for name in binding.name.split("."):
        if not hasattr(found, name):
            known = [known for known in dir(found) if not known.startswith("_")]
            raise config.error(
                f"{binding.module}: {unknown_name('function', name, known)}", "function"
            )
        owner, found = found, getattr(found, name)
    if isinstance(owner, type) and inspect.isfunction(inspect.getattr_static(owner, name)):
        problem = (
            f"{binding.name} is a method and needs an object; create one in the module, and name"
            " its method"
        )
        raise config.error(problem, "function")
    if not callable(found) or isinstance(found, type):
        kind = "a class" if isinstance(found, type) else f"of type {type(found).__name__}"
        raise config.error(f"{binding.name} is {kind}, not a function", "function")
    return found  # type: ignore[no-any-return]


def _compare(config: ToolConfig, function: Callable[..., Any], context: str) -> None:
    """Refuse parameters that the function does not take, or lacks."""
    schema = config.input_schema or {}
    signature = signature_of(function)
    try:
        signature.bind_partial(**dict.fromkeys(schema.get("properties", ())))
        signature.bind(
            **dict.fromkeys(
                [*schema.get("required", ()), *config.defaults, *([context] if context else [])]
            )
        )
    except TypeError as error:
        raise config.error(f"they do not match the function: {error}", "parameters") from None


def _executor(config: ToolConfig, import_module: Importer) -> type[Executor]:
    """Return the class for the tool's steps: of the module that is named or belongs to the file, or
    registered.
    """
    binding = config.binding
    named = binding if isinstance(binding, ExecutorName) else ExecutorName(config.name)
    beside = implementation(config.file)
    module = named.module or (os.path.basename(beside)[:-3] if os.path.isfile(beside) else None)
    known: dict[str, type[Executor]] = {}
    if module is None or (binding is not None and named.module is None):
        known |= {name: kind for (_, name), kind in Executor.registered().items()}
    if module is not None:
        members = vars(_imported(config, module, "executor", import_module)).values()
        kinds = [
            kind
            for kind in members
            if issubclass(type(kind), type) and vars(kind).get("__executor__")
        ]
        known |= {kind.__executor__[1]: kind for kind in kinds}
    for name, kind in known.items():
        if canonical(name) == canonical(named.name):
            return kind
    if module is None and binding is None:
        wanted = (
            f"set command, function or executor, or write an executor in {os.path.basename(beside)}"
        )
        raise config.error(f"nothing runs it; {wanted}")
    where = f"{module} registers " if module else "there is "
    raise config.error(where + unknown_name("executor", named.name, known), "executor")


def _imported(config: ToolConfig, name: str, key: str, import_module: Importer) -> ModuleType:
    folder = os.path.abspath(os.path.dirname(config.file))
    try:
        return import_module(folder, name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # the module itself imports a missing one
        raise config.error(
            f"no module {name!r}, neither next to this file nor installed", key
        ) from None
