"""What a model is told of tools, and the instruction that is read from its answer."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire_compat.mas.instructions import (
    InstructionError,
    available_skills_and_tools,
    instruction_prompt,
    parse_instruction,
)
from toolwire_compat.yaml.model import ToolConfig

RAG = ToolConfig(name="rag", description="Finds passages.\nIn any language.")
OCR = ToolConfig(name="OCR", description="Reads pictures.")


def test_the_tools_to_choose_from_are_listed_by_name_and_description() -> None:
    told = "- **rag**: Finds passages.\n  In any language.\n- **OCR**: Reads pictures."

    assert available_skills_and_tools([RAG, OCR]) == told
    assert available_skills_and_tools({"rag": RAG, "OCR": OCR}) == told


def test_prompt_has_the_two_texts_of_the_author() -> None:
    prompts = {"tool_prompt": "Ask for {topic}.\n", "return_format": '<RAG>{"q": 1}</RAG>'}
    config = ToolConfig(name="rag", description="", **prompts)

    told = instruction_prompt(config, {"topic": "tea"})

    assert told == 'Ask for tea.\n\n**return_format**:\n<RAG>{"q": 1}</RAG>\n'


@pytest.mark.parametrize(
    ("prompt", "values", "told"),
    [
        ("{x.__class__} {x[0]} {0} {} {x!r}", {"x": "v"}, "{x.__class__} {x[0]} {0} {} {x!r}"),
        ('{"a": {x}}', {"x": "v"}, '{"a": v}'),
        ("{x}{y}", {"x": "{y}", "y": "{x}"}, "{y}{x}"),
        ("\\1 \\g<0> {x}", {"x": "\\1"}, "\\1 \\g<0> \\1"),
        ("%(x)s $x {x}", {}, "%(x)s $x {x}"),
    ],
)
def test_prompt_placeholders_reach_only_the_given_values(
    prompt: str, values: dict[str, str], told: str
) -> None:
    config = ToolConfig(name="rag", description="", tool_prompt=prompt)

    assert instruction_prompt(config, values).partition("\n")[0] == told


def test_empty_prompts_ask_for_the_format_that_is_parsed() -> None:
    schema = {"type": "object", "properties": {"q": {"type": "string"}}}

    told = instruction_prompt(RAG)
    with_schema = instruction_prompt(ToolConfig(name="rag", description="d", input_schema=schema))

    assert told.startswith("Finds passages.")
    assert "<RAG>" in told
    assert json.dumps(schema, separators=(",", ":")) in with_schema


# --- answers ---


@pytest.mark.parametrize(
    ("answer", "instruction"),
    [
        ('I will search. <RAG>{"query": "tea"}</RAG> Done.', {"query": "tea"}),
        ("<RAG>\n  green tea \n</RAG>", "green tea"),
        ("<rag>[1, 2]</Rag>", [1, 2]),
        ("<RAG>first</RAG> no, <RAG>second</RAG>", "second"),
        ("<RAG>complete</RAG> and <RAG>cut of", "complete"),
        ("<RAG> oh, I forgot <RAG>this</RAG>", "this"),
        ('<RAG>{"q": "what is <RAG> or </RAG>?"}</RAG>', {"q": "what is <RAG> or </RAG>?"}),
        ('<RAG>```json\n{"a": "```"}\n```</RAG>', {"a": "```"}),
        ("<RAG>\n```\nplain\n```\n</RAG>", "plain"),
        ("<RAG>&lt;b&gt; &amp; 5 < 6</RAG>", "&lt;b&gt; &amp; 5 < 6"),
        ("<RAG>42</RAG>", "42"),
        ('<RAG>"quoted" text</RAG>', '"quoted" text'),
        ('<RAG>{"n": 18446744073709551617}</RAG>', {"n": 2**64 + 1}),
        ("<think><RAG>draft</RAG></think><RAG>final</RAG>", "final"),
    ],
)
def test_last_complete_block_is_the_instruction(answer: str, instruction: Any) -> None:
    assert parse_instruction(answer, RAG) == instruction


plain = st.text(st.characters(exclude_characters="<", exclude_categories=["Cs"]))
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.sampled_from(["<RAG>", "</RAG>", "```"]),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(plain, st.dictionaries(st.text(), values), plain, st.sampled_from(["\n", "", " "]))
def test_any_json_is_parsed_within_any_prose(
    before: str, value: Any, after: str, space: str
) -> None:
    block = f"<RAG>{space}{json.dumps(value, ensure_ascii=False)}{space}</RAG>"

    assert parse_instruction(before + block + after, RAG) == value


pieces = st.sampled_from(["<RAG>", "</RAG>", "<OCR>", "</OCR>", "```", *'<>/{}[]":,0a \n'])


@given(st.lists(pieces).map("".join))
def test_any_answer_is_parsed_or_refused_with_a_sentence(answer: str) -> None:
    with suppress(InstructionError):
        parse_instruction(answer, RAG, others=[OCR])


NONE = "There is no complete block for rag: write the instruction as <RAG>...</RAG>."


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("I would search.", NONE),
        ("<RAGS>x</RAGS>", NONE),
        ("<RAG>cut of", NONE),
        ("x</RAG>", NONE),
        ('<RAG q="x">y</RAG>', NONE),
        ("<OCR>x</OCR>", "The block is for OCR, but it must be for rag: write <RAG>...</RAG>."),
        (
            "<OCR>x</OCR><RAG>y</RAG>",
            "There are blocks for rag and for OCR; write only one for rag.",
        ),
        ("<RAG> \n</RAG>", "The block <RAG>...</RAG> is empty: write the instruction in it."),
        (
            '<RAG>{"a": 1, "a": 2}</RAG>',
            'begins like JSON, but is not valid JSON: "a" occurs twice in one object.',
        ),
        (
            '<RAG>{"a": NaN}</RAG>',
            "begins like JSON, but is not valid JSON: nan is not a number in JSON",
        ),
        (
            '<RAG>{"a": 1e999}</RAG>',
            "begins like JSON, but is not valid JSON: inf is not a number in JSON",
        ),
        (
            '<RAG>{"a": 1}{"b": 2}</RAG>',
            "begins like JSON, but is not valid JSON: Extra data: line 1 column 9 (char 8).",
        ),
        ("<RAG>{'a': 1}</RAG>", "begins like JSON, but is not valid JSON: Expecting property name"),
        ("<RAG>" + "[" * 100_000 + "</RAG>", "begins like JSON, but is not valid JSON: "),
    ],
)
def test_answer_without_an_instruction_is_refused_with_a_sentence_for_the_model(
    answer: str, told: str
) -> None:
    with pytest.raises(InstructionError) as caught:
        parse_instruction(answer, RAG, others=[RAG, OCR, "other"])
    assert told in str(caught.value)


def test_instruction_is_checked_against_the_input_schema() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    config = ToolConfig(name="rag", description="d", input_schema=schema)

    assert parse_instruction('<RAG>{"n": 3}</RAG>', config) == {"n": 3}
    with pytest.raises(InstructionError) as caught:
        parse_instruction('<RAG>{"n": "three"}</RAG>', config)
    assert (
        str(caught.value)
        == 'The instruction for rag is invalid:\ninstruction.n: "three" is not an integer'
    )
    with pytest.raises(InstructionError, match='"three" is not an object'):
        parse_instruction("<RAG>three</RAG>", config)


def test_tool_name_with_regex_characters_is_literal() -> None:
    assert parse_instruction("<A.B>yes</A.B><AxB>no</AxB>", "a.b") == "yes"
