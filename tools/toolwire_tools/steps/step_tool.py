"""Executors as the tools of a server: a call is an agent with one step, which is done at once."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Any

from toolwire_schemas.wire.codec import encode

from ..context.context import Context
from ..discovery import constructed
from ..errors import NotOffered, ToolError
from ..options import Options
from ..signature import docstring as docstrings
from ..tool import Tool
from ..toolconfig.parameters import defaults
from .executor import SYNC, Executor, StatusGuard, name_of, override_of
from .instructions import InstructionError, parse_instruction
from .steps import AgentStep, StepState

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..toolconfig.model import ToolConfig

AGENT = {"agent_id": "toolwire", "role": "host"}
"""Who the agent of such a step is."""

_INSTRUCTION = "What to do, in the words or the format that the tool asks for."
_CONTEXT = "toolwire_context"


def tools_of_executor(executor: Executor | type[Executor]) -> list[Tool]:
    """Return the tool of an executor, or of one made from a registered class without arguments.

    It is called as the class is registered, and described by the docstring of the class.

    Raises:
        NotOffered: if the class is not registered.
        RegistrationError: if it needs arguments.
    """
    kind = executor if isinstance(executor, type) else type(executor)
    registered = vars(kind).get("__executor__")
    if registered is None:
        remedy = '@Executor.register(executor_type="tool", executor_name="...") does it'
        raise NotOffered("the class is not registered", tool=kind.__name__, remedy=remedy)
    options = Options(description=docstrings.read(kind.__doc__).description)
    return [Tool(step_call(executor), name=registered[1], options=options)]


def step_call(executor: Executor | type[Executor], config: ToolConfig | None = None) -> StepCall:
    """Return the function of a tool for which *executor* does a step, described by *config*."""
    made: Executor = constructed(executor) if isinstance(executor, type) else executor
    is_async = inspect.iscoroutinefunction(override_of(type(made)))
    return (AsyncStepCall if is_async else StepCall)(made, config)


def takes_instruction(config: ToolConfig | None, *, context: bool = False) -> inspect.Signature:
    """The signature of a tool that takes an `instruction`, described by *config*, and maybe the context."""
    told = "\n\n".join(filter(None, (config.tool_prompt, config.return_format))) if config else ""
    annotation = Annotated[str, told or _INSTRUCTION]
    parameters = [inspect.Parameter("instruction", inspect.Parameter.KEYWORD_ONLY, annotation=annotation)]
    return inspect.Signature([*parameters, *([_IN_CONTEXT] if context else [])])


_IN_CONTEXT = inspect.Parameter(_CONTEXT, inspect.Parameter.KEYWORD_ONLY, annotation=Context)


class StepCall:
    """Has an executor do one step for each call, with the call's `Context` as `agent_state["context"]`."""

    def __init__(self, executor: Executor, config: ToolConfig | None = None) -> None:
        self.executor = executor
        self.config = config
        if config is None or config.input_schema is None:
            self.__signature__ = takes_instruction(config, context=True)

    def __eq__(self, other: object) -> bool:
        # Several targets may lead to one executor, the module and its YAML for two, and each makes an object of it.
        return isinstance(other, StepCall) and type(self.executor) is type(other.executor)

    def __hash__(self) -> int:
        return hash(type(self.executor))

    def __call__(self, /, *, toolwire_context: Context, **arguments: Any) -> Any:
        step, state = self._begin(arguments, toolwire_context)
        with StatusGuard(step.executor, step.step_id, state) as frame:
            frame.returned = _override(self.executor)(self.executor, step.step_id, state)
        return _answer(step, frame)

    def _begin(self, arguments: dict[str, Any], context: Context) -> tuple[StepState, dict[str, Any]]:
        name = self.config.name if self.config else name_of(self.executor)
        step = StepState("task", "stage", AGENT["agent_id"], executor=name, **self._contents(arguments, name))
        return step, {**AGENT, "agent_step": AgentStep(AGENT["agent_id"], [step]), "context": context}

    def _contents(self, arguments: dict[str, Any], name: str) -> dict[str, Any]:
        if self.config is not None and self.config.input_schema is not None:
            instruction = {**defaults(self.config.input_schema), **arguments}
            return {"text_content": encode(instruction).decode(), "instruction_content": instruction}
        text: str = arguments["instruction"]
        return {"text_content": text, "instruction_content": _instruction(text, name)}


class AsyncStepCall(StepCall):
    """As `StepCall`, for an executor whose `execute` is a coroutine function."""

    async def __call__(self, /, *, toolwire_context: Context, **arguments: Any) -> Any:
        step, state = self._begin(arguments, toolwire_context)
        with StatusGuard(step.executor, step.step_id, state) as frame:
            frame.returned = await _override(self.executor)(self.executor, step.step_id, state)
        return _answer(step, frame)


def _override(executor: Executor) -> Callable[..., Any]:
    # Not `execute` itself, which keeps an exception from the caller: a server wants to tell what it was.
    return override_of(type(executor))


def _instruction(text: str, name: str) -> Any:
    """What *text* instructs to do: what is in the tool's block, if there is one, or in all of it."""
    has_tag = any(tag in text.casefold() for tag in (f"<{name}>".casefold(), f"</{name}>".casefold()))
    try:
        return parse_instruction(text if has_tag else f"<{name}>{text}</{name}>", name)
    except InstructionError as error:
        if has_tag:
            raise ToolError(str(error)) from None
        return text


def _answer(step: StepState, frame: StatusGuard) -> Any:
    """Return the step's result, or the output without its status."""
    if frame.error is not None:
        raise frame.error
    said = {key: value for key, value in (frame.returned or {}).items() if key not in SYNC}
    result = said if step.execute_result is None else step.execute_result
    if frame.status == "failed":
        text = result if isinstance(result, str) else encode(result).decode() if result else "it does not say why"
        raise ToolError(f"The step has failed: {text}")
    return frame.status if result == {} else result
