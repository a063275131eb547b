"""Prompts about tools for a model, and the instruction that it writes for one of them.

Strategy. The answer of a model is prose with a block in it, `<RAG>...</RAG>`. A block that begins
like JSON is JSON, any other is text. JSON is decoded from its first brace on, so that a tag within
one of its strings ends nothing. Errors are worded for the model.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.language import say

from ..lagent.model_literals import JSON, NotALiteral, json_value
from ..yaml.model import ToolConfig, canonical

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class InstructionError(ValueError):
    """An answer without a usable instruction. The text is meant for the model that wrote it."""


def available_skills_and_tools(configs: Mapping[str, ToolConfig] | Iterable[ToolConfig]) -> str:
    """Return the tools to choose from, as Markdown: one item each, with name and description."""
    tools = configs.values() if hasattr(configs, "values") else configs
    return "\n".join(
        f"- **{tool.name}**: {tool.description}".replace("\n", "\n  ") for tool in tools
    )


def instruction_prompt(config: ToolConfig, values: Mapping[str, str] | None = None) -> str:
    """Return the prompt for a model that is to write the tool's instruction: `tool_prompt` and
    `return_format`.

    `{name}` in them is replaced for each name in *values*; other braces stay, and so do those in
    the values. An empty `tool_prompt` is the description; an empty `return_format` asks for the
    block that `parse_instruction` reads.
    """
    prompt = config.tool_prompt or config.description
    return_format = config.return_format or _default_format(config)
    text = f"{prompt.rstrip()}\n\n**return_format**:\n{return_format.rstrip()}\n"
    return re.sub(r"\{([^{}]*)\}", lambda found: str((values or {}).get(found[1], found[0])), text)


def _default_format(config: ToolConfig) -> str:
    tag = config.name.upper()
    if config.input_schema is None:
        return say("Write the instruction between <{tag}> and </{tag}>.", tag=tag)
    schema = msgspec.json.encode(config.input_schema).decode()
    wanted = (
        "Write one JSON object between <{tag}> and </{tag}>. It must match this JSON Schema:"
        " {schema}"
    )
    return say(wanted, tag=tag, schema=schema)


def parse_instruction(
    answer: str, tool: ToolConfig | str, *, others: Iterable[ToolConfig | str] = ()
) -> Any:
    """Return the instruction for *tool* in a model's *answer*: the content of its last complete
    block, JSON decoded.

    *tool* and *others*, the tools that the model might have meant, are configs or names. The
    instruction is checked against the tool's `parameters` or `input_schema`, if it has any.
    Entities (`&lt;`) are not decoded.

    Raises:
        InstructionError: if there is no complete block, if there are blocks of two tools, or if the
            block is empty, begins like JSON but is not JSON, or does not fit the tool.
    """
    name = _name(tool)
    contents = _blocks(answer, name)
    strangers = [other for other in map(_name, others) if canonical(other) != canonical(name)]
    meant = [other for other in dict.fromkeys(strangers) if _blocks(answer, other)]
    if meant and contents:
        both = "There are blocks for {name} and for {others}; write only one for {name}."
        raise InstructionError(say(both, name=name, others=", ".join(meant)))
    if meant:
        other = "The block is for {other}, but it must be for {name}: write {block}."
        raise InstructionError(say(other, other=meant[0], name=name, block=_block(name)))
    if not contents:
        none = "There is no complete block for {name}: write the instruction as {block}."
        raise InstructionError(say(none, name=name, block=_block(name)))
    value = _value(contents[-1], name)
    if isinstance(tool, ToolConfig) and tool.input_schema is not None:
        _check(value, tool.input_schema, name)
    return value


def _name(tool: ToolConfig | str) -> str:
    return tool if isinstance(tool, str) else tool.name


def _block(name: str) -> str:
    return f"<{name.upper()}>...</{name.upper()}>"


def _blocks(answer: str, name: str) -> list[str]:
    """Return the contents of the complete blocks of the tool called *name*, as they are written."""
    spellings = "|".join(
        map(re.escape, (name, name.upper()))
    )  # that of `straße` in capitals has two more letters
    tag = re.compile(rf"<(/?)(?:{spellings})>", re.IGNORECASE)
    contents = []
    at = 0
    while (mark := tag.search(answer, at)) is not None:
        at = mark.end()
        end = None if mark[1] else tag.search(answer, _end_of_json(answer, at))
        if end is not None and end[1]:  # else the block is given up, and another begins
            contents.append(answer[at : end.start()].strip())
            at = end.end()
    return contents


_FENCE = re.compile(r"\s*(?:```\w*[ \t]*\n\s*)?")
_FENCED = re.compile(r"```\w*[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)


def _end_of_json(text: str, at: int) -> int:
    """Return the end of the JSON that begins at *at*, in a fence or not; *at* itself if there is no
    JSON.
    """
    start = _FENCE.match(text, at)
    assert start is not None
    if not text.startswith(("{", "["), start.end()):
        return at
    try:
        end: int = JSON.raw_decode(text, start.end())[1]
    except (ValueError, RecursionError):
        return at
    return end


def _value(content: str, name: str) -> Any:
    fenced = _FENCED.fullmatch(content)
    content = fenced[1].strip() if fenced else content
    if not content:
        raise InstructionError(
            say("The block {block} is empty: write the instruction in it.", block=_block(name))
        )
    if content[0] not in "{[":
        return content
    try:
        return json_value(content)
    except NotALiteral as error:
        reason = str(error)
    none = "The block {block} begins like JSON, but is not valid JSON: {reason}."
    raise InstructionError(say(none, block=_block(name), reason=reason))


def _check(value: Any, schema: dict[str, Any], name: str) -> None:
    from toolwire_tools.schema.validator import ToolSchemaValidator

    if faults := ToolSchemaValidator(schema).faults(value, "instruction"):
        lines = "\n".join(f"{place}: {sentence}" for place, sentence in faults)
        raise InstructionError(
            say("The instruction for {name} is invalid:\n{faults}", name=name, faults=lines)
        )
