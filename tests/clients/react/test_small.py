"""The protocol for small models: what it shows them, and what it lets them write."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.react_samples import TOOLS
from support.tool_entry_strategies import SAMPLES, Sample
from toolwire_agent.react import (
    Action,
    Ask,
    Conversation,
    FinalAnswer,
    Protocol,
    SmallProtocol,
    StructuredProtocol,
)
from toolwire_agent.react.evidence import find_named_tools
from toolwire_agent.react.small import MAX_SAMPLES

PRICE = {
    "name": "get_price",
    "description": "Get the price\nof one item.",
    "inputSchema": {
        "type": "object",
        "properties": {"item": {"type": "string"}},
        "required": ["item"],
    },
}
ACTION = '{"type": "ACTION", "tool": "get_price", "params": {"item": "tea"}}'


def asked(protocol: Protocol, *tools: Any) -> Conversation:
    conversation = Conversation(tools, protocol)
    conversation.add_question("What does tea cost?")
    return conversation


def kinds(schema: Any) -> list[str]:
    return [branch["properties"]["type"]["enum"][0] for branch in schema["anyOf"]]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_examples_show_a_call_of_each_tool_and_a_whole_exchange(language: str) -> None:
    system, *shown, question = asked(SmallProtocol(language), PRICE).messages
    assert "- get_price(item: str): Get the price of one item." in system["content"]
    assert question == {
        "role": "user",
        "content": '{"type": "QUESTION", "content": "What does tea cost?"}',
    }
    assert [message["role"] for message in shown] == ["user", "assistant"] * 3
    said = [json.loads(message["content"]) for message in shown]
    assert [each["type"] for each in said[:4]] == [
        "QUESTION",
        "ACTION",
        "ACTION_RESULT",
        "FINAL_ANSWER",
    ]
    assert said[4] == {"type": "QUESTION", "content": "Get the price of one item. item = foo bar"}
    assert said[5] == {"type": "ACTION", "tool": "get_price", "params": {"item": "foo bar"}}


def test_small_prompt_is_much_shorter_than_the_structured_one() -> None:
    small, usual = (
        sum(len(message["content"]) for message in asked(protocol, PRICE).messages)
        for protocol in (SmallProtocol("en"), StructuredProtocol("en"))
    )
    assert small * 2 < usual


def test_only_the_first_tools_have_a_sample_call() -> None:
    tools = [{**PRICE, "name": f"get_{number}"} for number in range(3 * MAX_SAMPLES)]
    assert len(asked(SmallProtocol("en"), *tools).messages) == 1 + 2 * MAX_SAMPLES + 4 + 1


@given(SAMPLES)
@settings(max_examples=examples(50))
def test_samples_of_any_tools_alternate_between_user_and_assistant(sample: Sample) -> None:
    conversation = asked(
        SmallProtocol("en"), {"name": "sample", "inputSchema": sample.schema}, PRICE
    )
    roles = [message["role"] for message in conversation.messages]
    assert roles == ["system", *["user", "assistant"] * (len(roles) // 2 - 1), "user"]


def test_first_reply_cannot_be_a_final_answer() -> None:
    conversation = asked(SmallProtocol("en"), PRICE)
    assert kinds(conversation.build_reply_schema()) == ["ASK", "ACTION"]
    assert conversation.take_reply(ACTION) == Action("", "get_price", {"item": "tea"})
    conversation.add_result(5.3)
    assert kinds(conversation.build_reply_schema()) == ["ASK", "ACTION", "FINAL_ANSWER"]
    conversation.force_final("time is up")
    assert kinds(conversation.build_reply_schema()) == ["FINAL_ANSWER"]


NAMED = "ValueError: there is no 'the tea'; there are coffee, tea and Green Sencha."


@pytest.mark.parametrize("strict", [False, True])
def test_failed_call_is_repeated_with_a_value_of_error_and_user(
    strict: bool,
) -> None:
    conversation = asked(SmallProtocol("en"), PRICE, {**PRICE, "name": "other"})
    conversation.take_reply(
        '{"type": "ACTION", "tool": "get_price", "params": {"item": "the tea"}}'
    )
    conversation.add_result(NAMED, success=False)
    made = conversation.build_reply_schema(strict=strict)
    ask, action = (made["properties"]["reply"] if strict else made)["anyOf"]
    assert ask["properties"]["type"]["enum"] == ["ASK"]
    assert action["properties"]["tool"]["enum"] == ["get_price"]
    assert action["properties"]["params"]["properties"]["item"]["enum"] == ["tea"]
    conversation.take_reply(ACTION)
    conversation.add_result(NAMED, success=False)
    made = conversation.build_reply_schema(strict=strict)
    assert kinds(made["properties"]["reply"] if strict else made) == [
        "ASK"
    ]  # nothing that the user said is left


@pytest.mark.parametrize(
    ("error", "success"),
    [
        ("there is nothing", False),
        ("What is the of no if", False),
        ({"message": "tea"}, False),
        ("Nothing was done: the user refused this action, saying: no tea", False),
        ("x" * 100_000 + " tea", False),
    ],
)
def test_error_without_a_value_of_the_user_leaves_the_schema_unchanged(
    error: Any, success: bool
) -> None:
    conversation = asked(SmallProtocol("en"), PRICE)
    conversation.take_reply('{"type": "ACTION", "tool": "get_price", "params": {"item": "x"}}')
    conversation.add_result(error, success=success)
    assert kinds(conversation.build_reply_schema()) == ["ASK", "ACTION", "FINAL_ANSWER"]
    assert (
        "enum"
        not in conversation.build_reply_schema()["anyOf"][1]["properties"]["params"]["properties"][
            "item"
        ]
    )


def called(
    conversation: Conversation, tool: str, params: Any, result: Any, *, success: bool = True
) -> None:
    conversation.take_reply(json.dumps({"type": "ACTION", "tool": tool, "params": params}))
    conversation.add_result(result, success=success)


def test_missing_value_is_asked_for_and_taken_from_the_users_reply() -> None:
    conversation = asked(SmallProtocol("en"), PRICE)
    called(
        conversation,
        "get_price",
        {"item": "my leaf"},
        "there is no 'my leaf'; there are oolong, mate",
        success=False,
    )
    assert kinds(conversation.build_reply_schema()) == ["ASK"]
    conversation.take_reply('{"type": "ASK", "content": "Which one?"}')
    conversation.add_user_response("Oolong, please.")
    (action,) = conversation.build_reply_schema()["anyOf"]
    assert action["properties"]["params"]["properties"]["item"]["enum"] == ["oolong"]
    called(conversation, "get_price", {"item": "oolong"}, "there is no 'oolong'", success=False)
    made = conversation.build_reply_schema()  # the user is asked once
    assert kinds(made) == ["ASK", "ACTION", "FINAL_ANSWER"]
    assert made["anyOf"][-1]["properties"]["ok"]["enum"] == [
        False
    ]  # there is no result to answer from


def test_listed_values_that_the_user_named_are_used_one_by_one() -> None:
    conversation = Conversation(
        [PRICE, {"name": "list", "inputSchema": {"type": "object"}}], SmallProtocol("en")
    )
    conversation.add_question("What do tea and a notebook cost, at that price?")
    called(conversation, "list", {}, ["rice", "tea", "notebooks", "notebook"])
    (action,) = conversation.build_reply_schema()["anyOf"]
    assert action["properties"]["params"]["properties"]["item"]["enum"] == ["tea", "notebook"]
    called(
        conversation,
        "get_price",
        {"item": "tees"},
        "'tees' is not among tea, notebook, rice",
        success=False,
    )
    called(conversation, "get_price", {"item": "tea"}, 5)
    (action,) = conversation.build_reply_schema()["anyOf"]
    assert action["properties"]["params"]["properties"]["item"]["enum"] == ["notebook"]
    called(conversation, "get_price", {"item": "notebook"}, 4)
    assert "FINAL_ANSWER" in kinds(conversation.build_reply_schema())


INTEGERS = {
    "type": "object",
    "properties": {name: {"type": "integer"} for name in "ab"},
    "required": ["a", "b"],
}
SUMS = [
    {"name": name, "description": f"{name} two numbers: a {sign} b.", "inputSchema": INTEGERS}
    for name, sign in {"add": "+", "subtract": "-", "divide": "/"}.items()
]


def calls(schema: Any) -> list[tuple[Any, ...]]:
    found = [branch["properties"] for branch in schema["anyOf"] if "tool" in branch["properties"]]
    return [
        (
            each["tool"]["enum"][0],
            *(of.get("enum", [None])[0] for of in each["params"]["properties"].values()),
        )
        for each in found
    ]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Add 1 and 2.", [("add", 1, 2), ("add", 2, 1)]),
        ("What is 7 - 2?", [("subtract", 7, 2), ("subtract", 2, 7)]),
        ("Is 9 divided?", [("add", None, None), ("subtract", None, None), ("divide", None, None)]),
        (
            "Can two numbers be added?",
            [("add", None, None), ("subtract", None, None), ("divide", None, None)],
        ),
        (
            "Add 1,000 and 2 and 3.",
            [("add", 1000, 2), ("add", 2, 1000), ("add", 2, 3), ("add", 3, 2)],
        ),
        ("Add 1.5 and 2.", [("add", None, None)]),
        (f"Add 1{',000' * 120}.5 and 2 and 3.", [("add", 2, 3), ("add", 3, 2)]),
        (
            "Add 01.2.3 and 2026x.",
            [("add", None, None), ("subtract", None, None), ("divide", None, None)],
        ),
    ],
)
def test_first_call_uses_the_named_tool_and_neighbouring_numbers(
    question: str, expected: list[Any]
) -> None:
    conversation = Conversation(SUMS, SmallProtocol("en"))
    conversation.add_question(question)
    assert calls(conversation.build_reply_schema()) == expected


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("Add 1 and 2.", {"add"}),
        ("What is 1 + 2?", {"add"}),
        ("I want to replace it.", {"search_and_replace"}),
        ("Is this cheap and good?", set()),
        ("Write two paragraphs.", {"add_paragraph"}),
        ("Get the price of one item.", {"get_price"}),
        ("What are two numbers?", set()),
    ],
)
def test_word_names_a_tool_if_no_other_has_it_or_it_is_the_whole_name(
    question: str, named: set[str]
) -> None:
    others = [
        {"name": "add_paragraph", "description": "Add a paragraph to a document."},
        {"name": "search_and_replace", "description": "Search a text and replace its numbers."},
    ]
    assert find_named_tools(question, [PRICE, *SUMS, *others]) == named


def test_word_of_a_hidden_tool_names_no_shown_one() -> None:
    hidden = {
        "name": "count_words",
        "description": "Count the numbers in it.",
        "inputSchema": INTEGERS,
    }
    question = "Are 7 and 2 numbers?"
    shown = ["add", "get_price"]

    conversation = Conversation([SUMS[0], PRICE, hidden], SmallProtocol("en"), shown=shown)
    conversation.add_question(question)

    assert find_named_tools(question, [SUMS[0], PRICE]) == {"add"}
    assert [call[0] for call in calls(conversation.build_reply_schema())] == [
        "add",
        "add",
        "get_price",
    ]


def test_model_answers_only_after_all_numbers_are_used() -> None:
    conversation = Conversation([PRICE, *SUMS], SmallProtocol("en"))
    conversation.add_question("Subtract 4 from the price of tea.")
    assert calls(conversation.build_reply_schema()) == [
        ("get_price", None)
    ]  # there is one number, and it takes two
    called(conversation, "get_price", {"item": "tea"}, 16)
    assert (kinds(conversation.build_reply_schema()), calls(conversation.build_reply_schema())) == (
        ["ASK", "ACTION"],
        [("subtract", 16, 4)],
    )
    called(conversation, "subtract", {"a": 16, "b": 4}, 12)
    made = conversation.build_reply_schema()
    assert (kinds(made), made["anyOf"][-1]["properties"]["result"]["enum"]) == (
        ["ASK", "FINAL_ANSWER"],
        ["12"],
    )


def test_earlier_results_are_used_and_a_named_tool_is_called_once() -> None:
    conversation = Conversation([PRICE, *SUMS], SmallProtocol("en"))
    conversation.add_question("Add 1 and 2, and then subtract 3.")
    called(conversation, "add", {"a": 1, "b": 2}, 3)
    assert calls(conversation.build_reply_schema()) == [("subtract", 3, 3)]
    conversation.add_question("What is tea and oolong?")
    called(conversation, "get_price", {"item": "tea"}, 16)
    called(conversation, "get_price", {"item": "oolong"}, "It is 4 euros.")
    assert calls(conversation.build_reply_schema()) == [
        ("add", 4, 16),
        ("subtract", 4, 16),
        ("divide", 4, 16),
    ]


@given(st.lists(st.integers() | st.floats(allow_nan=False) | st.text(), max_size=12), st.text())
@settings(max_examples=examples(50))
def test_any_numbers_leave_a_schema_with_branches(numbers: list[Any], text: str) -> None:
    conversation = Conversation([PRICE, *SUMS], SmallProtocol("en"))
    conversation.add_question(f"What is {' '.join(map(str, numbers))} {text}")
    assert len(kinds(conversation.build_reply_schema())) <= 200
    called(conversation, "get_price", {"item": text}, numbers)
    assert kinds(conversation.build_reply_schema())


def test_long_texts_and_many_tools_leave_a_schema_with_branches() -> None:
    """Without bounds, each of these takes minutes."""
    tools = [{**PRICE, "name": f"tool_{n}", "description": f"word{n} " * 300} for n in range(200)]
    words_that_begin_alike = " ".join(f"word{n}th" for n in range(20_000))
    tools.append({**PRICE, "name": "tool", "description": words_that_begin_alike})
    conversation = Conversation([PRICE, *tools, *SUMS], SmallProtocol("en"))
    conversation.add_question(" ".join(f"word{n} {n} 'x" for n in range(20_000)))
    assert len(kinds(conversation.build_reply_schema())) > 1
    called(conversation, "get_price", {"item": "x" * 100_000}, "word " * 50_000, success=False)
    assert kinds(conversation.build_reply_schema())
    called(conversation, "get_price", {"item": "y"}, [f"word{n}" for n in range(20_000)])
    assert kinds(conversation.build_reply_schema())


def test_invalid_replies_shorten_texts_and_a_forced_answer_quotes_a_result() -> None:
    conversation = asked(SmallProtocol("en"), PRICE)
    for limit in (200, 66, 22):
        ask = conversation.build_reply_schema()["anyOf"][0]
        assert ask["properties"]["content"]["maxLength"] == limit
        conversation.take_reply('{"type": "ASK", "content": "' + "x" * limit, "length")
    conversation.take_reply(ACTION)
    conversation.add_result("It costs 5.")
    conversation.take_reply("?")
    conversation.force_final("enough")
    (answer,) = conversation.build_reply_schema()["anyOf"]
    assert answer["properties"]["result"]["enum"] == ["It costs 5."]


@pytest.mark.parametrize(
    ("result", "quoted"),
    [
        (5.3, ["5.3"]),
        ("It is green.", ["It is green."]),
        (["a", 2, None], ['["a", 2, null]', "a", "2"]),
        ({"price": 5, "name": "tea"}, ['{"price": 5, "name": "tea"}', "5", "tea"]),
        ("x" * 500, None),
        ("", None),
        (None, None),
    ],
)
def test_answer_quotes_a_result_or_a_part_of_it(result: Any, quoted: list[str] | None) -> None:
    conversation = asked(SmallProtocol("en"), PRICE)
    conversation.take_reply(ACTION)
    conversation.add_result(result)
    members = conversation.build_reply_schema()["anyOf"][-1]["properties"]
    assert members["result"].get("enum") == quoted
    assert members["ok"] == {"type": "boolean", "enum": [True]}
    assert list(members) == ["type", "result", "ok"]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda each: st.lists(each)
    ),
    st.booleans(),
)
@settings(max_examples=examples(50))
def test_any_result_leaves_a_schema_with_branches(result: Any, success: bool) -> None:
    conversation = asked(SmallProtocol("en"), PRICE)
    conversation.take_reply(ACTION)
    conversation.add_result(result, success=success)
    assert kinds(conversation.build_reply_schema())


def test_model_may_answer_at_once_without_tools_and_to_the_next_question() -> None:
    assert kinds(asked(SmallProtocol("en")).build_reply_schema()) == ["ASK", "FINAL_ANSWER"]
    conversation = asked(SmallProtocol("en"), PRICE)
    conversation.take_reply('{"type": "FINAL_ANSWER", "result": "5", "ok": true}')
    conversation.add_question("Thanks!")
    assert "FINAL_ANSWER" in kinds(conversation.build_reply_schema())


@pytest.mark.parametrize("strict", [False, True])
def test_texts_and_parameters_are_limited_unless_the_tool_sets_a_limit(strict: bool) -> None:
    of = {
        "long": {"type": "string", "maxLength": 9000},
        "text": {"type": "string"},
        "one": {"enum": ["a", "b"]},
    }
    tool = {"name": "t", "inputSchema": {"type": "object", "properties": of, "required": list(of)}}
    conversation = asked(SmallProtocol("en", max_chars=50), tool)
    conversation.take_reply('{"type": "ASK", "content": "?"}')
    conversation.add_user_response("!")
    made = conversation.build_reply_schema(strict=strict)
    ask, action, answer = (made["properties"]["reply"] if strict else made)["anyOf"]
    assert ask["properties"]["content"]["maxLength"] == 50
    assert answer["properties"]["result"]["maxLength"] == 50
    params = action["properties"]["params"]["properties"]
    assert (params["long"]["maxLength"], params["text"]["maxLength"]) == (
        50 if strict else 9000,
        50,
    )
    assert of["text"] == {"type": "string"}


def test_result_precedes_ok_in_schema_and_history() -> None:
    conversation = asked(SmallProtocol("en"))
    schema = conversation.build_reply_schema()
    assert list(schema["anyOf"][-1]["properties"]) == ["type", "result", "ok"]
    assert conversation.take_reply(
        '{"ok": true, "type": "FINAL_ANSWER", "result": "5"}'
    ) == FinalAnswer("", True, "5")
    assert (
        conversation.messages[-1]["content"]
        == '{"type": "FINAL_ANSWER", "result": "5", "ok": true}'
    )


THOUGHTS = {
    "required": (["thought", "type", "content"], ["thought", "type", "content"]),
    "optional": (["thought", "type", "content"], ["type", "content"]),
    "none": (["type", "content"], ["type", "content"]),
}


@pytest.mark.parametrize("thought", THOUGHTS)
@pytest.mark.parametrize("protocol", [StructuredProtocol, SmallProtocol])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_thought_setting_decides_about_thoughts_in_schema_and_prompt(
    thought: Any, protocol: Any, language: str
) -> None:
    conversation = asked(protocol(language, thought=thought), PRICE)
    ask = conversation.build_reply_schema()["anyOf"][0]
    assert (list(ask["properties"]), ask["required"]) == THOUGHTS[thought]
    assert conversation.take_reply('{"type": "ASK", "content": "?"}') == Ask("", "?")
    assert bool(conversation.warnings) == (thought == "required")
    assert ("thought" in conversation.messages[-1]["content"]) == (thought == "required")
    system, *shown, _ = (message["content"] for message in conversation.messages[:-1])
    if protocol is StructuredProtocol:
        assert ("thought?:" in system, "thought:" in system) == (
            thought == "optional",
            thought == "required",
        )
    else:
        assert ("thought" in "".join(shown)) == (thought != "none")


def test_unrequested_thought_is_kept() -> None:
    conversation = asked(StructuredProtocol("en", thought="none"), *TOOLS)
    assert conversation.take_reply('{"thought": "t", "type": "ASK", "content": "?"}') == Ask(
        "t", "?"
    )
    assert json.loads(conversation.messages[-1]["content"])["thought"] == "t"


def test_in_strict_mode_every_reply_has_an_optional_thought() -> None:
    schema = asked(StructuredProtocol("en", thought="optional")).build_reply_schema(strict=True)
    assert "thought" in schema["properties"]["reply"]["anyOf"][0]["required"]
