"""What is taken for the one JSON object of a reply, and what is asked for again."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from support.react_samples import OBJECTS, TEXTS
from toolwire_agent.react import Unreadable
from toolwire_agent.react.prompts import load_language
from toolwire_agent.react.replies.reply_parser import find_only_object

REPLY = {"thought": "t", "type": "ACTION", "tool": "add", "params": {"a": 1, "b": 2}}
TEXT = json.dumps(REPLY)

READABLE = {
    "JSON": TEXT,
    "JSON over several lines": json.dumps(REPLY, indent=2),
    "with a byte order mark": "\ufeff" + TEXT,
    "in a fence": f"```json\n{TEXT}\n```",
    "in a fence without a language": f"```\n{TEXT}\n```",
    "in a fence that does not end": f"```json\n{TEXT}",
    "with prose around it": f"I will add them now.\n\n{TEXT}\n\nLet me know!",
    "with braces in the prose": f"The set {{a, b}} needs {{}}: {TEXT}",
    "in a tag": f"<reply>{TEXT}</reply>",
    "behind thoughts": f"<think>I could send {{}} or {TEXT}, hm.</think>{TEXT}",
    "behind thoughts in brackets": f"[THINK]so {{[/THINK]{TEXT}",
    "behind thoughts whose beginning was in the prompt": f"so {{a}} or {TEXT}\n</think>\n\n{TEXT}",
    "behind empty thoughts": f"<think>\n\n</think>\n\n{TEXT}",
    "behind Seed's thoughts": f"<seed:think>hm</seed:think>{TEXT}",
    "in a list of one": f"[{TEXT}]",
    "in a list of one, in a fence": f"```json\n[\n{TEXT}\n]\n```",
    "with one brace too many": TEXT + "}",
    "with line breaks in a string": TEXT.replace('"t"', '"\n"').replace("\\n", "\n"),
    "with a comma at the end": TEXT.replace("2}", "2, }"),
    "with two commas at the end": TEXT.replace("2}}", "2,},}"),
    "as Python": repr(REPLY),
    "with full-width punctuation": (
        TEXT.replace(":", "：").replace(",", "，").replace("{", "｛").replace("}", "｝")
    ),
    "with typographic quotes": (
        "{“thought”: “t”, “type”: “ACTION”, “tool”: “add”, “params”: {“a”: 1, “b”: 2}}"
    ),
    "with blanks of other kinds": TEXT.replace(" ", "\u3000").replace(":", "\u00a0:\ufeff"),
}


@pytest.mark.parametrize("name", READABLE)
def test_object_is_found_in_prose_fences_and_tags(name: str) -> None:
    expected = {**REPLY, "thought": "\n"} if name == "with line breaks in a string" else REPLY
    assert find_only_object(READABLE[name]) == expected


def test_strings_are_not_repaired() -> None:
    said = "，：｛True, None,}“x” it's /* */ // <think> ```"
    assert find_only_object(f"Here: {{'a': {json.dumps(said, ensure_ascii=False)},}}") == {
        "a": said
    }
    assert find_only_object("""{'a': 'it\\'s "so"', 'b': True, 'c': None, 'd': False}""") == {
        "a": 'it\'s "so"',
        "b": True,
        "c": None,
        "d": False,
    }


@pytest.mark.parametrize(
    ("text", "kind"),
    {
        "": "empty",
        " \n\ufeff": "no_object",
        "\ufeff": "empty",
        "Four.": "no_object",
        "null": "no_object",
        "4": "no_object",
        '"{}"': "no_object",
        "[]": "no_object",
        "[1, 2]": "no_object",
        '["a"]': "no_object",
        "The interval [1, 2] it is.": "no_object",
        "Use {} here.": "no_object",
        # What was cut off is never completed, wherever it was cut.
        TEXT[:-1]: "unfinished",
        TEXT[:-2]: "unfinished",
        TEXT[:-10]: "unfinished",
        f"```json\n{TEXT[:-2]}\n```": "unfinished",
        f"[{TEXT}": "unclosed",
        f"[{TEXT},": "unclosed",
        f"{{reply: {TEXT}": "unclosed",
        f"{{x: {TEXT}, y: {TEXT[:9]}": "unfinished",
        f'{{"reply": {TEXT}': "unfinished",
        "<think>I will add": "unfinished_thoughts",
        f"<think>{TEXT}": "unfinished_thoughts",
        # Nor is one of several chosen.
        TEXT + TEXT: "several",
        f"{TEXT}\n{TEXT}": "several",
        f"[{TEXT}, {TEXT}]": "several",
        f"First {TEXT}, then {TEXT}.": "several",
        f'{TEXT}\n{{"type": "ACTION_RESULT", "success": true, "result": 3}}\n{TEXT}': "several",
        # Nor is anything guessed.
        '{"a": 1, "a": 2}': "duplicate",
        '{"x": {"a": 1, "a": 2}}': "duplicate",
        "{a: 1}": "malformed",
        "{'a': 1, b: 2}": "malformed",
        '{"a": 1 "b": 2}': "malformed",
        '{"a" 1}': "malformed",
        '{"a": 01}': "malformed",
        '{"a": tru}': "malformed",
        '{"a": [1,,]}': "malformed",
        '{"a": { , }}': "malformed",
        '{"a": [,]}': "malformed",
        '{"a": 1} // done? {"b"': "unfinished",
        '{"a": /* one */ 1}': "malformed",
        '{"a": "he said "hi" to me"}': "malformed",
        '{"a": "one quote" too many"}': "unfinished",
        '{"a": "\\x41"}': "malformed",
        "{“a”: “he said “hi” to me”}": "malformed",
        "I add {a: 1, b: 2}.": "malformed",
        '{"a": NaN}': "number",
        '{"a": -Infinity}': "number",
        '{"a": 1e999}': "number",
        '{"a": 1' + "0" * 5000 + "}": "number",
        '{"a": "\\ud83d"}': "surrogate",
        '{"\\udfff": 1}': "surrogate",
        '{"a":' * 300 + "1" + "}" * 300: "too_deep",
        '{"a":' * 100_000: "too_deep",
        "[" * 100_000: "no_object",
        "{'a':" * 300 + "1" + "}" * 300: "too_deep",
        "{'a':" * 9000 + "1" + "}" * 9000: "too_deep",
    }.items(),
)
def test_text_without_exactly_one_object_is_refused_with_its_reason(text: str, kind: str) -> None:
    with pytest.raises(Unreadable) as caught:
        find_only_object(text)
    assert caught.value.remark.kind == kind
    assert str(caught.value)


def test_error_has_line_and_column() -> None:
    with pytest.raises(Unreadable) as caught:
        find_only_object('Here you are:\n{"a": 1,\n "b" 2}')
    assert "(Expecting ':' delimiter: line 3 column 6 (char 28))" in str(caught.value)
    assert "（Expecting ':' delimiter: line 3 column 6 (char 28)）" in load_language(
        "zh"
    ).format_remarks(caught.value.remark)
    assert caught.value.remark.details["near"] == json.dumps(' are:\n{"a": 1,\n "b" 2}')
    with pytest.raises(Unreadable) as caught:
        find_only_object('Here you are:\n  {"a": 1,\n "b": 2')
    assert (caught.value.remark.details["line"], caught.value.remark.details["column"]) == (2, 3)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('{"a": }', "Expecting value: line 1 column 7"),
        ('{"a" 1}', "Expecting ':' delimiter: line 1 column 6"),
        ('{"a": 1 "b": 2}', "Expecting ',' delimiter: line 1 column 9"),
        ('{"a": "b}', "Unterminated string starting at: line 1 column 7"),
        ('{"a": "\\x"}', "Invalid \\escape: line 1 column 8"),
    ],
)
def test_error_names_the_json_fault(text: str, fault: str) -> None:
    with pytest.raises(Unreadable) as caught:
        find_only_object(text)
    assert str(caught.value.remark.details["fault"]).startswith(fault)


WAYS = {
    "JSON": lambda members: json.dumps(members),
    "raw letters": lambda members: json.dumps(members, ensure_ascii=False),
    "Python": repr,
}


@given(OBJECTS.filter(bool), st.sampled_from(sorted(WAYS)), TEXTS, TEXTS)
@example({"a": "it's"}, "Python", "", "")
@example({"a": 1}, "JSON", "Infinity", "")
def test_object_is_read_back_unchanged_from_any_text_around_it(
    members: dict[str, Any], way: str, before: str, after: str
) -> None:
    """In prose that has no brackets, quotes or tags of its own the object is found, or refused:
    never another one.
    """
    plain = str.maketrans("", "", "{}[]｛｝［］<>◁▷\"'“”＂")
    try:
        found = find_only_object(
            before.translate(plain) + WAYS[way](members) + after.translate(plain)
        )
    except Unreadable:
        assert way == "Python"  # has escapes, such as \\x00, that are not JSON's
    else:
        assert found == members


@given(OBJECTS.filter(bool), st.sampled_from(sorted(WAYS)), st.data())
def test_truncated_object_is_never_read(
    members: dict[str, Any], way: str, data: st.DataObject
) -> None:
    text = WAYS[way](members)
    with pytest.raises(Unreadable):
        find_only_object(text[: data.draw(st.integers(0, len(text) - 1))])


@given(OBJECTS.filter(bool), OBJECTS.filter(bool), TEXTS)
def test_two_objects_are_refused(
    first: dict[str, Any], second: dict[str, Any], between: str
) -> None:
    text = json.dumps(first) + between + json.dumps(second)
    assume(
        "think" not in text.lower()
    )  # what is thought aloud is passed over, and the second may be part of it
    with pytest.raises(Unreadable):
        find_only_object(text)


PIECES = st.sampled_from(
    [
        *(
            "{",
            "}",
            "[",
            "]",
            '"',
            "'",
            "“",
            "”",
            ",",
            ":",
            "，",
            "：",
            "｛",
            "｝",
            "\\",
            "\n",
            " ",
        ),
        *(
            '"a"',
            "'a'",
            "1",
            "True",
            "null",
            "{}",
            '{"a": 1}',
            "```json\n",
            "```",
            "<think>",
            "</think>",
            "[THINK]",
        ),
    ]
)


@given(st.lists(PIECES | TEXTS, max_size=20).map("".join) | st.text(max_size=30))
def test_any_text_is_an_object_or_refused(text: str) -> None:
    with contextlib.suppress(Unreadable):
        json.dumps(find_only_object(text), allow_nan=False).encode()


@pytest.mark.parametrize(
    "text",
    [
        '{"' + "\\" * 100_001,
        "{'a': " + "\\'" * 50_000,
        "{" * 100_000,
        "{ " * 50_000,
        '{"a": ' + '"' * 100_001,
        "<think>" * 20_000,
        "</think>" * 20_000,
        '{"a": 1}' * 20_000,
        "{" + " " * 100_000,
        '{"a",' * 20_000,
        "“" * 100_000,
    ],
)
def test_a_long_and_hostile_text_is_refused_at_once(text: str) -> None:
    """Anything worse than linear would take minutes here."""
    with pytest.raises(Unreadable):
        find_only_object(text)
