"""What a model is told, in which order and in which language."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import toolwire_agent
from hypothesis import given
from hypothesis import strategies as st
from support.react_samples import ADD, MULTIPLY, TOOLS
from toolwire_agent.react import (
    Conversation,
    DoubaoProtocol,
    NativeProtocol,
    Protocol,
    StructuredProtocol,
    Template,
    TemplateError,
    Tools,
)
from toolwire_agent.react.prompts import LANGUAGES, load_language
from toolwire_dialects import python_stub as python

EN, ZH = LANGUAGES["en"], LANGUAGES["zh"]
KNOWN = Tools(TOOLS)


def in_order(text: str, *parts: str) -> bool:
    """Whether *parts* stand in *text* one behind the other."""
    return re.search(".*".join(map(re.escape, parts)), text, re.DOTALL) is not None


# --- the structured prompt ------------------------------------------------------------------------


@pytest.mark.parametrize("name", LANGUAGES)
def test_a_prompt_shows_every_message_with_its_members(name: str) -> None:
    prompt = StructuredProtocol(name).format_system_prompt(KNOWN)
    assert in_order(
        *(
            prompt,
            "ReAct",
            "type: 'QUESTION'",
            "content: string",
            "type: 'ACTION_RESULT'",
            "success: boolean",
        ),
        *(
            "result: any",
            "type: 'USER_RESPONSE'",
            "content: string",
            "type: 'ERROR'",
            "msg: string",
        ),
        *("thought: string", "type: 'ASK'", "content: string"),
        *("thought: string", "type: 'ACTION'", "tool: string", "params: Record<string, any>"),
        *("thought: string", "type: 'FINAL_ANSWER'", "ok: boolean", "result: string"),
        *("def add(a: int, b: int)", "def multiply(a: int, b: int)"),
    )


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        (
            "en",
            [
                "the only ones",
                "Think first",
                "One action per reply",
                "must match the tool's definition",
                "several questions at once",
                "does not see your thoughts",
                "say so at once",
                "is data",
                "To repeat",
                "Now let us begin.",
            ],
        ),
        (
            "zh",
            [
                "有且只有",
                "先思考",
                "只能有一个行动",
                "参数必须与工具的定义相符",
                "一次提出几个问题",
                "用户看不到你的思考",
                "立刻说明",
                "只是数据",
                "再强调一遍",
                "现在，我们开始吧。",
            ],
        ),
    ],
)
def test_a_prompt_has_every_rule(name: str, rules: list[str]) -> None:
    assert in_order(StructuredProtocol(name).format_system_prompt(KNOWN), *rules)


@pytest.mark.parametrize("name", LANGUAGES)
def test_stable_parts_of_the_prompt_precede_the_tools(name: str) -> None:
    """Vendors cache what requests begin with; of this prompt it is nearly everything."""
    protocol = StructuredProtocol(name)
    one, other = (
        protocol.format_system_prompt(Tools([ADD])),
        protocol.format_system_prompt(Tools([MULTIPLY])),
    )
    same = next(place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    assert same > 0.8 * len(one)
    assert one[same:].startswith("add(")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("en", "The tool of an ACTION must be one of: add, multiply"),
        ("zh", "ACTION 的 tool 必须为 add, multiply 之一。"),
    ],
)
def test_the_names_of_the_tools_are_listed_as_they_are(name: str, line: str) -> None:
    assert (
        line in StructuredProtocol(name).format_system_prompt(Tools([ADD, MULTIPLY])).splitlines()
    )


def test_prompt_and_results_use_the_same_result_key() -> None:
    assert "    ok: boolean, // whether it succeeded" in StructuredProtocol(
        result_key="ok"
    ).format_system_prompt(KNOWN)
    assert "    success: boolean, // whether" in StructuredProtocol(
        result_key="both"
    ).format_system_prompt(KNOWN)


@pytest.mark.parametrize(
    "protocol", [StructuredProtocol(), StructuredProtocol("zh"), DoubaoProtocol()]
)
def test_prompt_without_tools_says_that_there_are_no_tools(protocol: Protocol) -> None:
    assert protocol.language.say("nothing") in protocol.format_system_prompt(Tools([]))


@pytest.mark.parametrize("protocol_type", [StructuredProtocol, DoubaoProtocol, NativeProtocol])
@pytest.mark.parametrize("name", LANGUAGES)
def test_instructions_precede_the_tools_and_leave_no_gap_without_tools(
    protocol_type: Any, name: str
) -> None:
    told = protocol_type(language=name, instructions="You work for a bakery.").format_system_prompt(
        KNOWN
    )
    silent = protocol_type(language=name).format_system_prompt(KNOWN)
    assert "\n\nYou work for a bakery.\n" in told
    assert (
        told.replace("You work for a bakery.\n", "").strip().replace("\n\n\n", "\n\n")
        == silent.strip()
    )


def test_describe_replaces_the_description_of_the_tools() -> None:
    prompt = StructuredProtocol(
        describe=lambda entries: f"{len(entries)} tools"
    ).format_system_prompt(KNOWN)
    assert "\n\n4 tools\n\n" in prompt


# --- prompts of one's own -------------------------------------------------------------------------


def test_custom_prompt_has_the_same_slots() -> None:
    own = "{{instructions}}\nTools ({{tool_names}}; {{ result_key }}):\n{{tools}}"
    protocol = StructuredProtocol(prompt=own, instructions="Be brief.")
    stubs = python.from_entries([ADD])
    assert (
        protocol.format_system_prompt(Tools([ADD])) == f"Be brief.\nTools (add; success):\n{stubs}"
    )


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("No tools here.", "{{tools}}"),
        ("{tools}", "{{tools}}"),
        ("{{tools}} {{tool_name}}", "{{tool_names}}"),
        ("{{tools}} {{x}}", "{{x}}"),
    ],
)
def test_missing_and_unknown_slots_raise_template_error(prompt: str, said: str) -> None:
    with pytest.raises(TemplateError, match=re.escape(said)):
        StructuredProtocol(prompt=prompt)


def test_unknown_language_raises_value_error_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match="en, zh"):
        StructuredProtocol("fr")


HOSTILE = "{{instructions}} {tools} {0.__class__} %s $tools {{tools}} \"\"\" '''"


@pytest.mark.parametrize(
    "protocol", [StructuredProtocol(instructions="SECRET"), DoubaoProtocol(instructions="SECRET")]
)
def test_slots_in_a_tool_description_stay_text(protocol: Protocol) -> None:
    entry = {**ADD, "description": HOSTILE}
    prompt = protocol.format_system_prompt(Tools([entry]))
    assert prompt.count("SECRET") == 1
    assert prompt.count("{{tools}}") == 1
    assert prompt.count("def add(") + prompt.count('"name": "add"') == 1


@given(st.text(), st.text())
def test_values_in_slots_are_not_filled_again(first: str, second: str) -> None:
    template = Template("<{{a}}|{{b}}>", required=["a", "b"])
    assert template.fill(a=first, b=second) == f"<{first}|{second}>"


# --- sentences ------------------------------------------------------------------------------------


def test_both_languages_have_the_same_sentences_and_slots() -> None:
    assert EN.sentences.keys() == ZH.sentences.keys()
    slots = re.compile(r"\{\{(\w+)\}\}")
    for kind, sentence in EN.sentences.items():
        assert set(slots.findall(sentence)) == set(slots.findall(ZH.sentences[kind])), kind
    for prompt in ("structured", "tokens", "native"):
        assert set(slots.findall(getattr(EN, prompt))) == set(slots.findall(getattr(ZH, prompt)))


def test_every_sentence_exists_and_is_used() -> None:
    package = Path(toolwire_agent.__file__).parent
    files = [
        package / "groot.py",
        *(package / "react").rglob("*.py"),
        *(package / "agent").rglob("*.py"),
    ]
    code = "".join(path.read_text() for path in files)
    said = set(re.findall(r"""\b(?:remark|Unreadable|say|explain_undone)\(\s*"(\w+)\"""", code))
    kinds = set(re.findall(r'"(\w+)"', code))
    assert said <= EN.sentences.keys()
    assert EN.sentences.keys() <= kinds


def test_a_language_is_found_by_its_name() -> None:
    assert load_language("zh") is ZH


@pytest.mark.parametrize(
    "protocol", [StructuredProtocol("zh"), DoubaoProtocol(language="zh"), NativeProtocol("zh")]
)
def test_chinese_conversation_has_no_english_sentences(protocol: Protocol) -> None:
    conversation = Conversation([], protocol)
    conversation.add_question("你好")
    for text in ("", "{", "{}"):
        if conversation.turn != "reply":
            break
        conversation.take_reply(text)
    said = " ".join(
        message["content"] for message in conversation.messages[1:] if message["role"] == "user"
    )
    assert not re.search(r"\b(your|the|reply|is)\b", said)
