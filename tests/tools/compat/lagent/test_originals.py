"""The examples of the documents that introduced actions, to the letter."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from toolwire_compat.groot import Env
from toolwire_compat.lagent import (
    ActionExecutor,
    BaseAction,
    JsonParser,
    TupleParser,
    get_tool,
    list_tools,
)
from toolwire_tools import tool_api

IN_JSON = "如果调用该工具，你必须使用Json格式 {key: value} 传参，其中key为参数名称"
BOLD = {
    "name": "bold",
    "description": "a function used to make text bold",
    "parameters": [{"name": "text", "type": "STRING", "description": "input content"}],
    "required": ["text"],
}


def style_api(name: str, text: str = "input text") -> dict[str, Any]:
    """Return the description of one style of PhraseEmphasis; *text* is that of its argument."""
    return {
        "name": name,
        "description": f"make text {name.lower()}",
        "parameters": [{"name": "text", "type": "STRING", "description": text}],
        "required": ["text"],
    }


def emphasis(*apis: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": "PhraseEmphasis",
        "description": "a toolkit which provides different styles of text emphasis",
        "api_list": [*apis],
    }


def in_json(api: dict[str, Any], name: str | None = None) -> dict[str, Any]:
    """Return *api* with what a parser of JSON adds to it, and another *name*."""
    return {**api, "name": name or api["name"], "parameter_description": IN_JSON}


EMPHASIS = emphasis(style_api("bold", "input content"), style_api("italic", "input content"))


def assert_same(found: Any, wanted: Any) -> None:
    """Equal, and in the same order: what a model reads is the text."""
    assert json.dumps(found, indent=1) == json.dumps(wanted, indent=1)


def bold() -> type[BaseAction]:
    class Bold(BaseAction):
        def run(self, text: str):  # type: ignore[no-untyped-def]
            """make text bold

            Args:
                text (str): input text

            Returns:
                str: bold text
            """
            return "**" + text + "**"

    return Bold


def phrase_emphasis() -> type[BaseAction]:
    class PhraseEmphasis(BaseAction):
        """a toolkit which provides different styles of text emphasis"""

        @tool_api
        def bold(self, text):  # type: ignore[no-untyped-def]
            """make text bold

            Args:
                text (str): input text

            Returns:
                str: bold text
            """
            return "**" + text + "**"

        @tool_api
        def italic(self, text):  # type: ignore[no-untyped-def]
            """make text italic

            Args:
                text (str): input text

            Returns:
                str: italic text
            """
            return "*" + text + "*"

    return PhraseEmphasis


@pytest.mark.parametrize(("description", "apis"), [(BOLD, []), (EMPHASIS, ["bold", "italic"])])
def test_handwritten_description_describes_an_action(
    description: dict[str, Any], apis: list[str]
) -> None:
    action = BaseAction(description, parser=partial(JsonParser, lang="zh"))
    expected = in_json(description)
    if apis:
        expected = emphasis(*map(in_json, description["api_list"]))
    assert action.description == expected
    assert action.is_toolkit is bool(apis)
    assert "parameter_description" not in str(description), "what the caller gave has changed"


def test_the_classes_describe_themselves() -> None:
    assert_same(bold().__tool_description__, style_api("Bold"))
    assert_same(
        phrase_emphasis().__tool_description__, emphasis(style_api("bold"), style_api("italic"))
    )


def test_an_action_is_made_by_its_name() -> None:
    phrase_emphasis()
    action = get_tool("PhraseEmphasis", lang="zh")
    apis = [in_json(style_api("bold")), in_json(style_api("italic"))]
    assert action.description == emphasis(*apis)


def test_listed_names_keep_their_order() -> None:
    bold()
    phrase_emphasis()
    # Classes of the user's own, which take the place of the bundled ones, in another order and
    # among others.
    bundled = [
        "PythonInterpreter",
        "GoogleScholar",
        "PPT",
        "ArxivSearch",
        "BINGMap",
        "IPythonInterpreter",
    ]
    for name in ["Another", *bundled, "GoogleSearch"]:
        type(BaseAction)(name, (BaseAction,), {"run": lambda self: None})
    names = [
        "BaseAction",
        "InvalidAction",
        "NoAction",
        "FinishAction",
        "ArxivSearch",
        "BINGMap",
        "GoogleScholar",
        "GoogleSearch",
        "IPythonInterpreter",
        "PPT",
        "PythonInterpreter",
        "Bold",
        "PhraseEmphasis",
    ]

    assert [name for name in list_tools() if name in names] == names
    assert list_tools()[:11] == names[:11]


def test_an_action_is_called_with_json_or_a_tuple_as_text_or_as_an_object() -> None:
    action1 = bold()()
    action2 = type(action1)(parser=TupleParser)

    returned = [
        action1('{"text": "hi"}'),
        action1({"text": "hi"}),
        action2('("hi", )'),
        action2(("hi",)),
    ]

    assert [each.result for each in returned] == [[{"type": "text", "content": "**hi**"}]] * 4
    assert [(each.args, each.type, each.errmsg) for each in returned] == [
        ({"text": "hi"}, "Bold", None)
    ] * 4


def test_an_executor_lists_and_calls_the_apis_of_toolkits_by_both_names() -> None:
    executor = ActionExecutor(actions=[phrase_emphasis()(lang="zh"), bold()(lang="zh")])

    assert executor.get_actions_info() == [
        in_json(style_api("bold"), "PhraseEmphasis.bold"),
        in_json(style_api("italic"), "PhraseEmphasis.italic"),
        in_json(style_api("Bold")),
    ]
    ret = executor("PhraseEmphasis.italic", '{"text": "hi"}')
    assert ret.result == [{"type": "text", "content": "*hi*"}]


class Pages:
    """The part of Groot's WebSearch that reaches the network."""

    def __init__(self) -> None:
        self.search_results: dict[int, dict[str, Any]] = {
            1: {"url": "a.example"},
            2: {"url": "b.example"},
        }

    def open(self, url: str) -> tuple[str, None]:
        return f"<p>{url}</p>", None


def web_search() -> BaseAction:
    class WebSearch(Pages, BaseAction):
        def __init__(self) -> None:
            BaseAction.__init__(self)
            Pages.__init__(self)

        @tool_api
        def select(self, select_ids):  # type: ignore[no-untyped-def]
            """在使用WebSearch.search搜索到相关内容后,可以给定对应ID获得详细的搜索内容.

            Args:
                select_ids (List[int]): list of index you want to open, select at least 3, at most 5 items to open, each item must be integer.
            """  # noqa: E501
            for idx in select_ids:
                if idx not in self.search_results:
                    return f"{idx}不存在在搜索结果中,请确保输入的id在搜索结果中"
            for idx in select_ids:
                html, _ = self.open(self.search_results[idx]["url"])
                self.search_results[idx]["content"] = html
            return self.search_results

    return WebSearch()


def test_groots_select_describes_itself_and_keeps_its_files_open() -> None:
    action = web_search()
    env = Env([action])

    (described,) = env.get_actions_info()
    assert described.pop("parameter_description")
    assert_same(
        described,
        {
            "name": "WebSearch.select",
            "description": (
                "在使用WebSearch.search搜索到相关内容后,可以给定对应ID获得详细的搜索内容."
            ),
            "parameters": [
                {
                    "name": "select_ids",
                    "type": "Array",
                    "description": (
                        "list of index you want to open, select at least 3, at most 5 items to"
                        " open, each item must be integer."
                    ),
                }
            ],
            "required": ["select_ids"],
        },
    )
    assert (
        env("WebSearch.select", {"select_ids": [1, 9]})
        == "9不存在在搜索结果中,请确保输入的id在搜索结果中"
    )
    assert env("WebSearch.select", {"select_ids": [1]}) == {
        1: {"url": "a.example", "content": "<p>a.example</p>"},
        2: {"url": "b.example"},
    }
    assert action.search_results[1]["content"] == "<p>a.example</p>"  # type: ignore[attr-defined]
