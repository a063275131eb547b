"""Groot's protocols: prose, and an action between tokens."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.react_samples import ADD, JSON, TEXTS, TOOLS
from toolwire_agent.react import (
    Action,
    BaseProtocol,
    Conversation,
    DoubaoProtocol,
    FinalAnswer,
    InvalidReply,
    ModelReply,
    Retry,
    Tools,
    Unreadable,
    ValidReply,
)

BEGIN, END = "<|FunctionCallBegin|>", "<|FunctionCallEnd|>"
CALL = {"name": "add", "parameters": {"a": 1, "b": 2}}
TEXT = json.dumps(CALL)
DOUBAO = DoubaoProtocol()


def code(text: str, name: str = "PythonInterpreter", parameter: str = "code") -> dict[str, Any]:
    return {"name": name, "parameters": {parameter: text}}


# --- as it was ------------------------------------------------------------------------------------


def test_parse_separates_text_and_action() -> None:
    assert DOUBAO.parse(f"I add.{BEGIN}{TEXT}{END}") == ("I add.", CALL)
    assert DOUBAO.parse("It is 3.") == ("It is 3.", None)


def test_special_tokens_can_be_replaced() -> None:
    tokens = {"action_start_token": "<a>", "action_end_token": "</a>"}
    for protocol in (BaseProtocol(special_tokens=tokens), DoubaoProtocol(tokens)):
        assert protocol.parse(f"x<a>{TEXT}</a>") == ("x", CALL)
        assert protocol.special_tokens == tokens


def test_unknown_special_tokens_raise_value_error() -> None:
    with pytest.raises(ValueError, match="action_start_token"):
        BaseProtocol({"action_start": "<a>"})


def test_code_block_calls_the_interpreter() -> None:
    assert DOUBAO.parse(f"I count.{BEGIN}```python\nprint(1)\n```{END}") == (
        "I count.",
        code("print(1)"),
    )


# --- and where it went wrong ----------------------------------------------------------------------


@pytest.mark.parametrize("text", ["It is 3.", "", TEXT, f"{BEGIN}{TEXT}{END}"])
def test_empty_tokens_start_no_action(text: str) -> None:
    assert BaseProtocol().parse(text) == (text, None)


@pytest.mark.parametrize(
    "text",
    [
        f"{BEGIN}{TEXT}",
        f"{BEGIN}{TEXT}\n",
        f"{BEGIN}\n  {TEXT}\n{END}\nI wait.",
        f"{BEGIN}[{TEXT}]{END}",
        f"{BEGIN} [ {TEXT} ] {END}",
        f"{BEGIN}```json\n{TEXT}\n```{END}",
        f"{BEGIN}\n```json\n{TEXT}\n```\n{END}",
        f"{BEGIN}{json.dumps(CALL, indent=1)}{END}",
        f"{BEGIN}{CALL!r}{END}",
        f"{BEGIN}{json.dumps({**CALL, 'id': 'call_1'})}{END}",
    ],
)
def test_action_is_read_in_all_known_forms(text: str) -> None:
    assert DOUBAO.parse(text) == ("", CALL)


@given(
    st.dictionaries(
        TEXTS | st.sampled_from([BEGIN, END, f"{END}{BEGIN}"]), JSON | st.just(END), max_size=3
    )
)
def test_tokens_inside_strings_are_text(parameters: dict[str, Any]) -> None:
    action = {"name": "add", "parameters": parameters}
    assert DOUBAO.parse(f"x{BEGIN}{json.dumps(action)}{END}") == ("x", action)


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ("```python\nprint(1)\n```", "print(1)"),
        ("\n```py\nprint(1)\n```\n", "print(1)"),
        ("```\nprint(1)\nprint(2)\n```", "print(1)\nprint(2)"),
        ("``print(1)``", "print(1)"),
        ("```print(1)```", "print(1)"),
        ("```python\nprint(1)", "print(1)"),
        ('```python\nx = """```"""\n```', 'x = """```"""'),
        ("````python\n```\n````", "```"),
        ("```python\nif x:\n    y()\n```", "if x:\n    y()"),
        ('```python\n{"name": "add"}\n```', '{"name": "add"}'),
    ],
)
def test_fence_of_a_code_block_is_removed(block: str, expected: str) -> None:
    assert DOUBAO.parse(f"x{BEGIN}{block}{END}") == ("x", code(expected))


def test_code_tool_names_the_tool_for_code() -> None:
    text = f"{BEGIN}```python\nprint(1)\n```{END}"
    assert DoubaoProtocol(code_tool=("CodeExecutor", "command")).parse(text)[1] == code(
        "print(1)", "CodeExecutor", "command"
    )


def test_parameters_in_a_json_string_are_decoded() -> None:
    text = json.dumps({"name": "add", "parameters": json.dumps({"a": 1, "b": "2"})})
    assert DOUBAO.parse(f"{BEGIN}{text}{END}") == (
        "",
        {"name": "add", "parameters": {"a": 1, "b": "2"}},
    )


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (f"{BEGIN}{TEXT[:-1]}{END}", "unfinished"),
        (f"{BEGIN}{TEXT[:-1]}", "unfinished"),
        (f"{BEGIN}{END}", "no_object"),
        (f"{BEGIN}add(1, 2){END}", "no_object"),
        (f"{BEGIN}", "no_object"),
        (f"{BEGIN}{TEXT}{END}{BEGIN}{TEXT}{END}", "several"),
        (f"{BEGIN}{TEXT}{END} and then {BEGIN}{TEXT}", "several"),
        (f"{BEGIN}[{TEXT}, {TEXT}]{END}", "several"),
        (f"{BEGIN}{TEXT}{TEXT}{END}", "between"),
        (f"{BEGIN}{TEXT} and so on {END}", "between"),
        (f'{BEGIN}{{"name": "add"}}{END}', "missing"),
        (f'{BEGIN}{{"parameters": {{}}}}{END}', "missing"),
        (f'{BEGIN}{{"name": "add", "parameters": [1, 2]}}{END}', "wrong_type"),
        (f'{BEGIN}{{"name": "add", "parameters": "[1, 2]"}}{END}', "wrong_type"),
        (f'{BEGIN}{{"name": "add", "parameters": "a=1"}}{END}', "wrong_type"),
        (f'{BEGIN}{{"name": 1, "parameters": {{}}}}{END}', "wrong_type"),
        (f'{BEGIN}{{"name": "add", "name": "pay", "parameters": {{}}}}{END}', "duplicate"),
        (f'{BEGIN}{{"name": "add", "parameters": {{"a": NaN}}}}{END}', "number"),
        (f"{BEGIN}```bash\nls\n```{END}", "code_language"),
        (f"{BEGIN}```python\nprint(1)", "unfinished_code"),
        (f"{BEGIN}```json\n[1]\n```{END}", "no_object"),
        (f"<think>{BEGIN}{TEXT}{END}", "unfinished_thoughts"),
    ],
)
def test_malformed_action_is_refused_with_its_reason(text: str, kind: str) -> None:
    with pytest.raises(Unreadable) as caught:
        DOUBAO.parse(text)
    assert caught.value.remark.kind == kind
    reading = DOUBAO.read(ModelReply(text=text), Tools(TOOLS))
    assert reading == InvalidReply((caught.value.remark,))


def test_both_tokens_may_be_the_same() -> None:
    protocol = BaseProtocol({"action_start_token": "@@", "action_end_token": "@@"})
    assert protocol.parse(f"I add. @@{TEXT}@@") == ("I add. ", CALL)
    for rest in (f"@@ @@{TEXT}@@", f"@@ @@{TEXT}"):
        with pytest.raises(Unreadable, match="more than one"):
            protocol.parse(f"@@{TEXT}{rest}")


def test_reply_stopped_by_the_vendor_is_refused_even_if_it_parses() -> None:
    for text in (f"{BEGIN}{TEXT}", f"{BEGIN}{TEXT}{END}", "It is 3."):
        with pytest.raises(Unreadable):
            DOUBAO.parse_reply(ModelReply(text=text, finish_reason="length"), Tools([ADD]))


def test_an_action_inside_of_a_thought_is_not_run() -> None:
    thoughts = f"<think>I could {BEGIN}{TEXT}{END}.</think>"
    other = {"name": "ping", "parameters": {}}
    assert DOUBAO.parse(f"{thoughts}It is 3.")[1] is None
    assert DOUBAO.parse(f"{thoughts}So:{BEGIN}{json.dumps(other)}{END}")[1] == other


@given(
    st.lists(
        st.sampled_from([BEGIN, END, TEXT, "[", "]", "{", "```", "python\n", "<think>", "</think>"])
        | TEXTS
    )
)
def test_any_text_is_read_or_refused(pieces: list[str]) -> None:
    text = "".join(pieces)
    reading = DOUBAO.read(ModelReply(text=text), Tools(TOOLS))
    if isinstance(reading, InvalidReply):
        assert DOUBAO.language.format_remarks(*reading.remarks)


# --- in an exchange -------------------------------------------------------------------------------


def test_a_reply_is_an_action_or_the_final_answer() -> None:
    tools = Tools(TOOLS)
    assert DOUBAO.read(
        ModelReply(text=f"<think>hm</think>\nI add.\n{BEGIN}{TEXT}{END}"), tools
    ) == ValidReply(Action("I add.", "add", {"a": 1, "b": 2}))
    assert DOUBAO.read(ModelReply(text="<think>hm</think>It is 3.\n"), tools) == ValidReply(
        FinalAnswer("", True, "It is 3.")
    )
    empty = DOUBAO.read(ModelReply(text="<think>hm</think>\n"), tools)
    assert isinstance(empty, InvalidReply)


def test_conversation_in_prose_ends_with_an_answer() -> None:
    conversation = Conversation([ADD], DOUBAO, roles={"tool": "tool"})
    conversation.add_question("1 + 2?")
    conversation.take_reply(f"I add.{BEGIN}{TEXT}{END}")
    conversation.add_result(3)
    assert conversation.take_reply("It is 3.") == FinalAnswer("", True, "It is 3.")
    assert conversation.messages[1:] == [
        {"role": "user", "content": "1 + 2?"},
        {"role": "assistant", "content": f"I add.{BEGIN}{TEXT}{END}"},
        {"role": "tool", "content": '{"type": "ACTION_RESULT", "success": true, "result": 3}'},
        {"role": "assistant", "content": "It is 3."},
    ]
    assert conversation.build_reply_schema() is None
    assert conversation.native_tools == []


def test_code_for_an_unknown_tool_is_an_error_that_lists_the_tools() -> None:
    conversation = Conversation([ADD], DOUBAO)
    conversation.add_question("1 + 2?")
    decision = conversation.take_reply(f"{BEGIN}```python\nprint(1 + 2)\n```{END}")
    assert isinstance(decision, Retry)
    assert (
        "No tool runs a block of code. Call one of these by its name: add."
        in conversation.messages[-1]["content"]
    )


def tool(name: str, parameter: str, description: str = "", kind: str = "string") -> dict[str, Any]:
    schema = {"type": "object", "properties": {parameter: {"type": kind}}, "required": [parameter]}
    return {"name": name, "description": description, "inputSchema": schema}


INTERPRETER = tool("PythonInterpreter", "command", "Run Python code and return its result.")
BLOCK = ModelReply(text=f"I count.{BEGIN}```python\nprint(1)\n```{END}")


@pytest.mark.parametrize(
    ("runner", "parameter"),
    [
        (INTERPRETER, "command"),
        (tool("PythonInterpreter", "code"), "code"),
        (tool("CodeExecutor", "code"), "code"),
        (tool("my_runner", "code"), "code"),
        (tool("Lab", "code", "执行一段代码"), "code"),
        (tool("Lab", "script", "Evaluates Python."), "script"),
    ],
)
def test_code_goes_to_the_only_tool_that_runs_code(runner: dict[str, Any], parameter: str) -> None:
    others = [
        ADD,
        tool("Shell", "command", "Run a shell command."),
        tool("redeem", "code", "Take the code of a voucher."),
        tool("CodeRunner", "code", "Run the lesson of this number.", kind="integer"),
    ]
    reading = DOUBAO.read(BLOCK, Tools([*others, runner]))
    assert reading == ValidReply(Action("I count.", runner["name"], {parameter: "print(1)"}))


def test_explicit_code_tool_wins() -> None:
    protocol = DoubaoProtocol(code_tool=("Shell", "command"))
    reading = protocol.read(BLOCK, Tools([INTERPRETER, tool("Shell", "command")]))
    assert reading == ValidReply(Action("I count.", "Shell", {"command": "print(1)"}))


def test_code_that_several_tools_run_is_refused_with_their_names() -> None:
    reading = DOUBAO.read(BLOCK, Tools([INTERPRETER, tool("CodeExecutor", "code")]))
    assert isinstance(reading, InvalidReply)
    assert "PythonInterpreter (command), CodeExecutor (code)" in DOUBAO.language.format_remarks(
        *reading.remarks
    )


def test_faults_of_an_overridden_parse_are_reported_to_the_model() -> None:
    class Plain(DoubaoProtocol):
        def parse(self, text: str) -> tuple[str, Any]:
            return "", json.loads(text)

    for text, said in (
        ("no JSON", "Expecting value"),
        ('{"name": "add"}', "`parameters` is missing"),
        ("5", "must be of type object"),
    ):
        reading = Plain().read(ModelReply(text=text), Tools([ADD]))
        assert isinstance(reading, InvalidReply)
        assert said in Plain().language.format_remarks(*reading.remarks)


def test_the_prompt_shows_tools_and_tokens() -> None:
    prompt = DOUBAO.format_system_prompt(Tools([ADD]))
    assert f'{BEGIN}{{"name": "NAME", "parameters": {{"PARAMETER": VALUE}}}}{END}' in prompt
    shown = prompt.rstrip().splitlines()[-1]
    assert json.loads(shown) == {
        "name": "add",
        "description": ADD["description"],
        "parameters": ADD["inputSchema"],
    }


def test_a_prompt_cannot_ask_for_actions_that_have_no_token() -> None:
    with pytest.raises(ValueError, match="action_start_token"):
        BaseProtocol().format_system_prompt(Tools([ADD]))
