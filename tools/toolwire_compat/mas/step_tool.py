"""The tools of executors: each call is an agent with one step, which is done at once."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Any

from toolwire_schemas.wire.codec import encode
from toolwire_tools.construction import construct
from toolwire_tools.context.context import BaseContext
from toolwire_tools.errors import NotOffered, ToolError
from toolwire_tools.options import Options
from toolwire_tools.signature import docstring as docstrings
from toolwire_tools.tool import Tool, make_tool

from .executor import RAISES, SHARED_MESSAGE, SYNC, Executor, describe_status, name_of, override_of
from .instructions import InstructionError, parse_instruction
from .steps import AgentStep, StepState

if TYPE_CHECKING:
    from ..yaml.model import ToolConfig

AGENT = {"agent_id": "toolwire", "role": "host"}
"""The agent of such a step."""

_INSTRUCTION = "What to do, in the words or the format that the tool asks for."

# Without YAML: a schema would need jsonschema, which takes long to import.
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


def list_executor_tools(executor: Executor | type[Executor]) -> list[Tool]:
    """Return the tool of a registered executor or class, called as it is registered and described
    by its docstring.
    """
    kind = executor if isinstance(executor, type) else type(executor)
    key = vars(kind).get("__executor__")
    if key is None:
        remedy = '@Executor.register(executor_type="tool", executor_name="...")'
        raise NotOffered("the class is not registered", tool=kind.__name__, remedy=remedy)
    _, name = key
    options = Options(description=docstrings.read(kind.__doc__).description)
    return [make_tool(make_step_call(executor), name=name, options=options)]


def make_step_call(
    executor: Executor | type[Executor], config: ToolConfig | None = None
) -> StepCall:
    """Return the function of a tool for which *executor* does a step, described by *config*."""
    instance: Executor = construct(executor) if isinstance(executor, type) else executor
    if inspect.iscoroutinefunction(override_of(type(instance))):
        return AsyncStepCall(instance, config)
    return StepCall(instance, config)


def make_instruction_schema(config: ToolConfig) -> dict[str, Any]:
    """Return the schema of the arguments of a tool that has no parameters: one text, described by
    *config*.
    """
    text = "\n\n".join(filter(None, (config.tool_prompt, config.return_format))) or _INSTRUCTION
    return {
        "type": "object",
        "properties": {"instruction": {"type": "string", "description": text}},
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
        output = self.executor.execute(step.step_id, state)
        return self._read_result(step, output)

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
            content = _read_instruction(text, name)
        agent_id = AGENT["agent_id"]
        step = StepState(
            task_id="task",
            stage_id="stage",
            agent_id=agent_id,
            executor=name,
            text_content=text,
            instruction_content=content,
        )
        steps = AgentStep(agent_id, [step])
        return step, {**AGENT, "agent_step": steps, "context": context, RAISES: True}

    def _read_result(self, step: StepState, output: dict[str, Any]) -> Any:
        """Return the step's result, or the output without the members for the system."""
        result = step.execute_result
        if result is None:
            result = {key: value for key, value in output.items() if key not in SYNC}
        status = step.execution_state
        if status == "failed":
            reason = _find_reason(name_of(self.executor), result, output)
            raise ToolError(f"The step has failed: {reason}")
        return status if result == {} else result


class AsyncStepCall(StepCall):
    """As `StepCall`, for an executor whose `execute` is a coroutine function."""

    async def __call__(self, /, *, toolwire_context: BaseContext, **arguments: Any) -> Any:
        step, state = self._start(arguments, toolwire_context)
        output = await self.executor.execute(step.step_id, state)
        return self._read_result(step, output)


def _read_instruction(text: str, name: str) -> Any:
    """Return the content of the tool's block in *text*, or all of it if there is no block."""
    folded_text, folded_name = text.casefold(), name.casefold()
    has_tag = f"<{folded_name}>" in folded_text or f"</{folded_name}>" in folded_text
    try:
        return parse_instruction(text if has_tag else f"<{name}>{text}</{name}>", name)
    except InstructionError as error:
        if has_tag:
            raise ToolError(str(error)) from None
        return text


def _find_reason(name: str, result: Any, output: dict[str, Any]) -> str:
    """Return why a step of the executor *name* has failed: its result, or the message that it
    shares.
    """
    if isinstance(result, str) and result:
        return result
    if result:
        return encode(result).decode()
    message = output.get(SHARED_MESSAGE)
    content = message.get("content") if isinstance(message, dict) else message
    if isinstance(content, str) and content and content != describe_status(name, "failed"):
        return content
    return "no message was given"
