"""What models write as arguments, read or refused with words that help."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire_compat.groot import Env
from toolwire_compat.lagent import (
    ActionReturn,
    ActionStatusCode,
    BaseAction,
    BaseParser,
    JsonParser,
    ParseError,
    TupleParser,
)


class Note(BaseAction):
    def run(self, text: str, copies: int = 1, tags: list[str] | None = None) -> str:
        return json.dumps([text, copies, tags])


class Nothing(BaseAction):
    def run(self) -> str:
        return "done"


class Anything(BaseAction):
    def run(self, what) -> str:  # type: ignore[no-untyped-def]
        return repr(what)


BY_JSON, BY_TUPLE, AS_IS = Note(), Note(parser=TupleParser), Note(parser=BaseParser)


def refuse_inputs(action: BaseAction, inputs: Any) -> str:
    """Why *action* does not take *inputs*."""
    returned = action(inputs)
    assert (returned.state, returned.result) == (ActionStatusCode.ARGS_ERROR, None)
    assert returned.args == {"inputs": inputs, "name": "run"}
    return str(returned.errmsg)


# --- what the model is told -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("parser", "text"),
    [
        (
            JsonParser,
            (
                "If you call this tool, you must pass arguments in the JSON format {key: value}, "
                "where the key is the parameter name."
            ),
        ),
        (
            partial(JsonParser, lang="zh"),
            "如果调用该工具，你必须使用Json格式 {key: value} 传参，其中key为参数名称",
        ),
        (
            TupleParser,
            (
                "If you call this tool, you must pass arguments in the tuple format like (arg1,"
                " arg2, arg3), and the arguments are ordered."
            ),
        ),
        (
            partial(TupleParser, lang="zh"),
            "如果调用该工具，你必须使用Tuple格式 (arg1, arg2, arg3) 传参，且参数是有序的",
        ),
        (BaseParser, None),
        (partial(BaseParser, lang="zh"), None),
    ],
)
def test_each_parser_describes_its_format(parser: Any, text: str | None) -> None:
    assert Note(parser=parser).description.get("parameter_description") == text


def test_action_may_have_its_own_language() -> None:
    assert Note(lang="zh").description == Note(parser=partial(JsonParser, lang="zh")).description
    assert Note(lang="zh-CN").description == Note(lang="zh").description
    with pytest.raises(ValueError, match="Known: en, zh"):
        Note(lang="fr")


# --- JSON -----------------------------------------------------------------------------------------

WRITTEN = '{"text": "``` {x}", "copies": 2}'


@pytest.mark.parametrize(
    "inputs",
    [
        WRITTEN,
        f"\ufeff\n {WRITTEN}\n",
        f"```json\n{WRITTEN}\n```",
        f"```\n{WRITTEN}\n```",
        f"```JSON\r\n{WRITTEN}\r\n```\n",
        f"```json {WRITTEN}```",
        f"~~~json\n{WRITTEN}\n~~~",
        f"````\n{WRITTEN}\n````",
        f"`{WRITTEN}`",
        f"{WRITTEN}\n```",
        f"{WRITTEN}``` ",
        f"{WRITTEN}\n~~~",
        f"Here you are:\n```json\n{WRITTEN}\n```\nIs this right?",
        {"text": "``` {x}", "copies": 2},
    ],
)
def test_a_json_object_is_read_from_each_kind_of_fence(inputs: Any) -> None:
    assert BY_JSON(inputs).args == {"text": "``` {x}", "copies": 2}


def test_a_fence_that_was_not_closed_ends_with_the_text() -> None:
    assert BY_JSON('```json\n{"text": "a"}').args == {"text": "a"}


@pytest.mark.parametrize("inputs", [None, "", "  \n", {}, "{}", "```json\n{}\n```"])
def test_missing_input_means_no_arguments(inputs: Any) -> None:
    assert Nothing()(inputs) == ActionReturn(
        {}, type="Nothing", result=[{"type": "text", "content": "done"}]
    )
    assert refuse_inputs(BY_JSON, inputs) == "arguments.text: is missing"


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ('{"text": "a", "copies": "two"}', 'arguments.copies: "two" is not an integer'),
        ('{"text": 5}', "arguments.text: 5 is not a string"),
        ('{"text": "a", "tags": ["b", 1]}', "arguments.tags[1]: 1 is not a string"),
        (
            '{"txt": "a"}',
            "arguments.text: is missing\narguments.txt: is unknown; did you mean text?",
        ),
        ('{"copies": 1}', "arguments.text: is missing"),
        ('{"text": "a", "text": "b"}', 'invalid json format: "text" occurs twice in one object'),
        (
            '{"text": "a", "tags": [{"b": 1, "b": 2}]}',
            'invalid json format: "b" occurs twice in one object',
        ),
        ('{"text": NaN}', "invalid json format: nan is not a number in JSON"),
        ('{"text": 1e999}', "invalid json format: inf is not a number in JSON"),
        ('{"text": "\\ud800"}', "invalid json format: "),
        ('{"text": "a"', "invalid json format: Expecting ',' delimiter: line 1 column 13"),
        ("{'text': 'a'}", "invalid json format: Expecting property name"),
        ('{"text": "a",}', "invalid json format: "),
        ('{"text": "a"} {"text": "b"}', "invalid json format: Extra data"),
        ('```\n{"text": "a"}\n```\n```\n{"text": "b"}\n```', "invalid json format: Extra data"),
        ('So: {"text": "a"}', "invalid json format: Expecting value"),
        ('["text"]', "invalid json format: this is an array"),
        ('"text"', "invalid json format: this is a string"),
        ("5", "invalid json format: this is of the type int"),
        ("null", "arguments.text: is missing"),
        ("{" * 100_000, "invalid json format: "),
        ("[" * 100_000, "invalid json format: nested too deeply"),
        (f'{{"text": {"1" * 5000}}}', "invalid json format: "),
        (5, "invalid json format: this is of the type int"),
        (b'{"text": "a"}', "invalid json format: this is of the type bytes"),
        (["text"], "invalid json format: this is an array"),
        ({1: "a"}, "the name of an argument is not text"),
        ({"text": float("nan")}, "nan is not a number in JSON"),
        ({"text": "\ud800"}, "a text has unpaired surrogates"),
    ],
    ids=lambda value: str(value)[:24],
)
def test_unsuitable_json_is_refused_with_the_reason(inputs: Any, words: str) -> None:
    text = refuse_inputs(BY_JSON, inputs)
    assert text.startswith(words)
    if text.startswith("invalid json format"):
        assert text.endswith(
            '; pass one JSON object like {"text": ..., "copies": ..., "tags": ...}'
        )


def test_arguments_that_contain_themselves_are_refused() -> None:
    endless: dict[str, Any] = {}
    endless["text"] = endless
    assert BY_JSON(endless).errmsg == "the arguments are nested too deeply"


def test_integers_are_exact_at_any_size() -> None:
    assert Anything()('{"what": 123456789012345678901234567890}').args == {
        "what": 123456789012345678901234567890
    }


# --- tuples ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "inputs",
    [
        '("a", 2)',
        ("a", 2),
        ["a", 2],
        '["a", 2]',
        "'a', 2",
        '```python\n("a", 2,)\n```',
        'So:\n```\n("a", 2)\n```',
    ],
)
def test_a_tuple_is_read_as_text_and_as_an_object(inputs: Any) -> None:
    assert BY_TUPLE(inputs).args == {"text": "a", "copies": 2}


def test_programs_may_pass_arguments_by_name_where_models_pass_a_tuple() -> None:
    assert BY_TUPLE({"text": "a"}).args == {"text": "a"}
    assert Env([BY_TUPLE])("Note", {"text": "a"}) == '["a", 1, null]'


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ("()", "API takes 1 required positional arguments but 0 were given"),
        ('("a", 1, [], 4)', "API takes 3 positional arguments but 4 were given"),
        ('("a")', "invalid tuple format: this is a string"),
        ('"ab"', "invalid tuple format: this is a string"),
        ("5", "invalid tuple format: this is of the type int"),
        ('{"text": "a"}', "invalid tuple format: this is an object"),
        ('("a", "two")', 'arguments.copies: "two" is not an integer'),
        ("(b'a',)", "arguments.text: "),
        ("({1, 2},)", "arguments.text: "),
        ('("a", 1e999)', "inf is not a number in JSON"),
        ('("\\ud800",)', "a text has unpaired surrogates"),
        ('("a" + "b",)', "invalid tuple format: not a literal"),
        ("(name,)", "invalid tuple format: not a literal"),
        ('(open("a"),)', "invalid tuple format: not a literal"),
        ('("a"', "invalid tuple format: '(' was never closed: line 1 column 1"),
        ("", "invalid tuple format: "),
        ("\0", "invalid tuple format: "),
        ("(" * 100_000, "invalid tuple format: "),
        ("-" * 99_000 + "1", "invalid tuple format: "),
        ("1+" * 40_000 + "1", "invalid tuple format: "),
        (
            f'("{"a" * 100_000}",)',
            "invalid tuple format: 100,005 characters exceed the limit of 100,000",
        ),
        (5, "invalid tuple format: this is of the type int"),
        ({"txt": "a"}, "arguments.text: is missing"),
        ({1: "a"}, "the name of an argument is not text"),
        (None, "invalid tuple format: this is nothing"),
    ],
    ids=lambda value: str(value)[:24],
)
def test_unsuitable_tuple_is_refused_with_the_reason(inputs: Any, words: str) -> None:
    text = refuse_inputs(BY_TUPLE, inputs)
    assert text.startswith(words)
    if "tuple format" in text or "API takes" in text:
        assert text.endswith("; pass one tuple like (text, copies, tags)")


def test_literals_are_never_evaluated_as_code(capsys: pytest.CaptureFixture[str]) -> None:
    refuse_inputs(BY_TUPLE, '(print("run"),)')
    refuse_inputs(BY_TUPLE, '(__import__("sys").exit(),)')
    assert capsys.readouterr().out == ""


# --- as it is -------------------------------------------------------------------------------------


@pytest.mark.parametrize("inputs", ["a", '{"text": "a"}', '("a",)', ""])
def test_plain_text_is_the_first_argument(inputs: str) -> None:
    assert AS_IS(inputs).args == {"text": inputs}


def test_base_parser_accepts_arguments_by_name() -> None:
    assert AS_IS({"text": "a", "copies": 2}).args == {"text": "a", "copies": 2}
    assert Anything(parser=BaseParser)({"text": "a"}).args == {"what": {"text": "a"}}
    assert AS_IS({"txt": "a"}).errmsg == 'arguments.text: {"txt": "a"} is not a string'
    assert Nothing(parser=BaseParser)("").state == ActionStatusCode.SUCCESS
    assert refuse_inputs(Nothing(parser=BaseParser), "a") == "run takes no arguments"
    assert refuse_inputs(AS_IS, None) == "arguments.text: is missing"


def test_parser_can_be_used_on_its_own() -> None:
    assert JsonParser(BY_JSON).parse_inputs('{"text": "a"}') == {"text": "a"}
    with pytest.raises(ParseError) as caught:
        TupleParser(BY_TUPLE).parse_inputs("(1,)")
    assert caught.value.err_msg == "arguments.text: 1 is not a string"


# --- for any input --------------------------------------------------------------------------------

PIECES = st.sampled_from(
    ["{", "}", '"text"', ":", '"a"', ",", "```", "\n", "json", "[", "]", "(", ")", "1", "NaN", "'"]
)
WRITINGS = st.lists(PIECES | st.text(max_size=3), max_size=12).map("".join)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.dictionaries(st.text(), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(
    st.sampled_from([BY_JSON, BY_TUPLE, AS_IS]),
    WRITINGS | VALUES | st.dictionaries(st.integers(), VALUES),
)
def test_any_input_is_answered_by_an_action_return(action: BaseAction, inputs: Any) -> None:
    returned = action(inputs)
    assert returned.state in (ActionStatusCode.SUCCESS, ActionStatusCode.ARGS_ERROR)
    assert bool(returned.errmsg) is (returned.state == ActionStatusCode.ARGS_ERROR)
    assert (returned.result is None) is bool(returned.errmsg)


@given(
    st.fixed_dictionaries(
        {"text": st.text(st.characters(exclude_categories=["Cs"]))},
        optional={
            "copies": st.integers(-(10**30), 10**30),
            "tags": st.none() | st.lists(st.text("ab`{}\n")),
        },
    ),
    st.sampled_from(
        ["{}", "```json\n{}\n```", "```\n{}\n```", "~~~\n{}\n~~~", "Well:\n```json\n{}\n```\nSo."]
    ),
)
def test_valid_arguments_arrive_unchanged(arguments: dict[str, Any], fence: str) -> None:
    assert (
        BY_JSON(fence.replace("{}", json.dumps(arguments, ensure_ascii=False), 1)).args == arguments
    )
    ordered = [arguments[name] for name in ("text", "copies", "tags") if name in arguments]
    if list(arguments) == ["text", "copies", "tags"][: len(arguments)]:
        assert BY_TUPLE(repr(tuple(ordered))).args == arguments
