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

from ..lagent.model_literals import JSON, NotALiteral, read_json
from ..yaml.model import ToolConfig, normalize_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


class InstructionError(ValueError):
    """An answer without a usable instruction. The text is meant for the model that wrote it."""


def available_skills_and_tools(configs: Mapping[str, ToolConfig] | Iterable[ToolConfig]) -> str:
    """Return the tools to choose from, as Markdown: one item each, with name and description."""
    tools = configs.values() if hasattr(configs, "values") else configs
    items = []
    for tool in tools:
        item = f"- **{tool.name}**: {tool.description}"
        items.append(item.replace("\n", "\n  "))
    return "\n".join(items)


def instruction_prompt(config: ToolConfig, values: Mapping[str, str] | None = None) -> str:
    """Return the prompt for a model that is to write the tool's instruction: `tool_prompt` and
    `return_format`.

    `{name}` in them is replaced for each name in *values*; other braces stay, and so do those in
    the values. An empty `tool_prompt` is the description; an empty `return_format` asks for the
    block that `parse_instruction` reads.
    """
    prompt = config.tool_prompt or config.description
    return_format = config.return_format or _write_default_format(config)
    text = f"{prompt.rstrip()}\n\n**return_format**:\n{return_format.rstrip()}\n"
    known = values or {}

    def look_up(found: re.Match[str]) -> str:
        return str(known.get(found[1], found[0]))

    return re.sub(r"\{([^{}]*)\}", look_up, text)


def _write_default_format(config: ToolConfig) -> str:
    tag = config.name.upper()
    if config.input_schema is None:
        return say("Write the instruction between <{tag}> and </{tag}>.", tag=tag)
    schema = msgspec.json.encode(config.input_schema).decode()
    text = (
        "Write one JSON object between <{tag}> and </{tag}>. It must match this JSON Schema:"
        " {schema}"
    )
    return say(text, tag=tag, schema=schema)


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
    name = _name_of(tool)
    contents = _find_blocks(answer, name)
    wrong_names = []
    for other in dict.fromkeys(map(_name_of, others)):
        if normalize_name(other) != normalize_name(name) and _find_blocks(answer, other):
            wrong_names.append(other)
    block = _format_block(name)
    if wrong_names and contents:
        both = "There are blocks for {name} and for {others}; write only one for {name}."
        raise InstructionError(say(both, name=name, others=", ".join(wrong_names)))
    if wrong_names:
        wrong = "The block is for {other}, but it must be for {name}: write {block}."
        raise InstructionError(say(wrong, other=wrong_names[0], name=name, block=block))
    if not contents:
        missing = "There is no complete block for {name}: write the instruction as {block}."
        raise InstructionError(say(missing, name=name, block=block))
    value = _read_content(contents[-1], name)
    if isinstance(tool, ToolConfig) and tool.input_schema is not None:
        _check(value, tool.input_schema, name)
    return value


def _name_of(tool: ToolConfig | str) -> str:
    return tool if isinstance(tool, str) else tool.name


def _format_block(name: str) -> str:
    return f"<{name.upper()}>...</{name.upper()}>"


def _find_blocks(answer: str, name: str) -> list[str]:
    """Return the contents of the complete blocks of the tool called *name*, as they are written."""
    # Both, since regular expressions ignore case letter by letter: `straße` in capitals has one
    # letter more.
    spellings = f"{re.escape(name)}|{re.escape(name.upper())}"
    tag = re.compile(rf"<(?P<slash>/?)(?:{spellings})>", re.IGNORECASE)
    contents: list[str] = []
    at = 0
    while True:
        opening = tag.search(answer, at)
        if opening is None:
            return contents
        at = opening.end()
        if opening["slash"]:
            continue
        closing = tag.search(answer, _find_end_of_json(answer, at))
        if closing is not None and closing["slash"]:  # else the block is given up
            contents.append(answer[at : closing.start()].strip())
            at = closing.end()


_FENCE = re.compile(r"\s*(?:```\w*[ \t]*\n\s*)?")
_FENCED = re.compile(r"```\w*[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)


def _find_end_of_json(text: str, at: int) -> int:
    """Return the end of the JSON that begins at *at*, in a fence or not; *at* itself if there is no
    JSON.
    """
    start = _FENCE.match(text, at)
    assert start is not None
    if not text.startswith(("{", "["), start.end()):
        return at
    try:
        _, end = JSON.raw_decode(text, start.end())
    except (ValueError, RecursionError):
        return at
    return end


def _read_content(content: str, name: str) -> Any:
    fenced = _FENCED.fullmatch(content)
    if fenced is not None:
        content = fenced[1].strip()
    block = _format_block(name)
    if not content:
        raise InstructionError(
            say("The block {block} is empty: write the instruction in it.", block=block)
        )
    if content[0] not in "{[":
        return content
    try:
        return read_json(content)
    except NotALiteral as error:
        reason = str(error)
    problem = "The block {block} begins like JSON, but is not valid JSON: {reason}."
    raise InstructionError(say(problem, block=block, reason=reason))


def _check(value: Any, schema: dict[str, Any], name: str) -> None:
    from toolwire_tools.schema.validator import ToolSchemaValidator

    faults = ToolSchemaValidator(schema).find_faults(value, "instruction")
    if not faults:
        return
    lines = "\n".join(f"{place}: {sentence}" for place, sentence in faults)
    problem = "The instruction for {name} is invalid:\n{faults}"
    raise InstructionError(say(problem, name=name, faults=lines))
