"""Asks a model for the instruction of a tool, from the tool's `tool_prompt` and `return_format`.

Strategy. The module that knows the tools' files writes the prompt and parses the reply. This
package must not import it, so the caller passes it: `parts=toolwire_compat.mas.instructions`, or
an object with its functions `instruction_prompt` and `parse_instruction`. A *config*, such as
`toolwire_compat.yaml.ToolConfig`, has a `name` and an `input_schema`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .models.model import as_model
from .toolbox import AsyncToolbox

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from toolwire_client.protocol.results import CallResult
    from toolwire_client.session.elicitation import OnAsk

    from .models.model import Message

MAX_ERRORS = 3
"""How many invalid instructions in a row are reported to the model, as in the structured protocol.
"""


class NoInstruction(Exception):
    """The model wrote no valid instruction. The text is the last error it received."""


async def generate_instruction(
    model: object,
    config: Any,
    request: str,
    *,
    parts: Any,
    values: Mapping[str, str] | None = None,
    others: Iterable[Any] = (),
) -> Any:
    """Ask *model* for the instruction that makes the tool of *config* do *request*, and return it.

    *values* fill the `{slots}` of the tool's prompt. *others* are tools that the model may confuse
    with this one; an error then says so.

    Raises:
        NoInstruction: if it writes no valid one.
        ModelError: if it gives no reply.
    """
    asked = as_model(model)
    messages: list[Message] = [
        {"role": "system", "content": parts.instruction_prompt(config, values)},
        {"role": "user", "content": request},
    ]
    others = list(others)
    for attempt in range(MAX_ERRORS + 1):
        reply = await asked.reply(messages)
        try:
            if reply.finish_reason == "length":
                raise ValueError("Your answer was cut off; write a shorter one.")
            return parts.parse_instruction(reply.text, config, others=others)
        except ValueError as error:
            if attempt == MAX_ERRORS:
                raise NoInstruction(str(error)) from None
            messages += [
                {"role": "assistant", "content": reply.text or "…"},
                {"role": "user", "content": str(error)},
            ]
    raise AssertionError("every attempt returns or raises")


async def use_tool(
    model: object,
    config: Any,
    request: str,
    *,
    parts: Any,
    values: Mapping[str, str] | None = None,
    others: Iterable[Any] = (),
    on_ask: OnAsk | None = None,
    timeout_seconds: float | None = None,
) -> CallResult:
    """Ask *model* for the instruction, let the tool's executor run it, and return the result.

    Raises what `generate_instruction` and `AsyncToolbox.call_tool` raise.
    """
    instruction = await generate_instruction(
        model, config, request, parts=parts, values=values, others=others
    )
    toolbox = AsyncToolbox([config], on_ask=on_ask)
    (tool,) = await toolbox.list_tools()
    return await toolbox.call_tool(
        tool.name, _make_arguments(instruction, config), timeout_seconds=timeout_seconds
    )


def _make_arguments(instruction: Any, config: Any) -> dict[str, Any]:
    if config.input_schema is not None and isinstance(instruction, dict):
        return instruction
    text = (
        instruction if isinstance(instruction, str) else json.dumps(instruction, ensure_ascii=False)
    )
    return {"instruction": text}
