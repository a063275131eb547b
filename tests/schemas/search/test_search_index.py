"""The search over tools: what it finds, in which order, and that no query can break it."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire_dialects.search.search_index import NoSearch, SearchableTool, SearchIndex
from toolwire_dialects.search.search_words import MAX_QUERY_WORDS, index_words, split_query


def tool(
    name: str,
    description: str = "",
    parameters: dict[str, Any] | None = None,
    *,
    groups: tuple[str, ...] = (),
    spellings: tuple[str, ...] = (),
    **members: Any,
) -> SearchableTool:
    schema = {"type": "object", "properties": parameters or {}}
    entry = {"name": name, "description": description, "inputSchema": schema, **members}
    return SearchableTool(entry, spellings, groups)


TOOLS = [
    tool("create_issue", "Open a new issue.", {"labels": {"type": "array"}}, groups=("github",)),
    tool("list_issues", "Show the issues of a repository.", groups=("github",)),
    tool("getWeather", "Forecast.", {"unit": {"enum": ["celsius", "fahrenheit"]}}),
    tool("send", "Deliver a text.", {"to": {"description": "The recipient of the e-mail"}}),
    tool("fetch", "Get a page.", _meta={"toolwire/tags": ["internet"]}),
    tool("q7", "", title="Currency converter"),
    tool("Files_read", "Read a file.", spellings=("Files_read", "Files.read")),
    tool("搜索论文", "按标题和作者查找学术论文。"),
    tool("search_code", "Search GitHub for code."),
]


def find_names(query: str, limit: int = 3) -> list[str]:
    return [hit.name for hit in SearchIndex(TOOLS).search(query, limit)]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("create an issue", "create_issue"),  # names are split into words
        ("weather", "getWeather"),
        ("celsius", "getWeather"),  # a choice of a parameter
        ("labels", "create_issue"),  # the name of a parameter
        ("recipient", "send"),  # the description of a parameter
        ("internet", "fetch"),  # a tag
        ("currency", "q7"),  # a title
        ("converters", "q7"),  # other forms of a word
        ("Files.read", "Files_read"),  # another spelling of a name
        ("please call `list_issues` now", "list_issues"),
        ("LIST_ISSUES", "list_issues"),
        ("github code", "search_code"),  # GitHub is one word to some, and two to others
        ("git hub code", "search_code"),
        ("论文", "搜索论文"),
        ("查找作者的论文", "搜索论文"),
        ("作", "搜索论文"),  # a single letter begins a pair
        ("ｗｅａｔｈｅｒ", "getWeather"),  # full-width letters
    ],
)
def test_tool_is_first_for_words_of_any_of_its_texts(query: str, first: str) -> None:
    assert find_names(query)[0] == first


def test_name_of_the_server_is_searched_too() -> None:
    assert set(find_names("github")) == {"create_issue", "list_issues", "search_code"}


def test_exact_name_comes_before_tools_with_better_words() -> None:
    tools = [tool("read_more", "read read read"), tool("read", "other")]

    assert [hit.name for hit in SearchIndex(tools).search("read", 2)] == ["read", "read_more"]


def test_tools_of_equal_rank_keep_the_order_of_the_list() -> None:
    tools = [tool(f"t{number}", "the same words") for number in range(20)]

    names = [hit.name for hit in SearchIndex(tools).search("same words", 20)]

    assert names == [each.name for each in tools]


@pytest.mark.parametrize("limit", [1, 2, 8])
def test_at_most_the_limit_is_returned(limit: int) -> None:
    assert len(find_names("issue code weather page file currency text", limit)) == limit


@pytest.mark.parametrize("query", ["", "   ", "nothing_like_it", "\0\x1b[31m", "😀"])
def test_query_without_a_known_word_finds_nothing(query: str) -> None:
    assert find_names(query) == []


@pytest.mark.parametrize(
    "query",
    [
        "'; DROP TABLE tools; --weather",
        'weather" OR name:"x',
        "weather NEAR(a b) AND NOT weather* ^weather",
        "{name title} : weather",
        "weather\0",
        "weather \ud800",
        "weather " + "(" * 10_000,
        "weather " + "x" * 1_000_000,
        "weather " + "word " * 200_000,
        "getWeather " * 100_000,
    ],
    ids=["sql", "quote", "fts", "column", "nul", "surrogate", "brackets", "long", "many", "named"],
)
def test_syntax_and_size_of_a_query_mean_nothing(query: str) -> None:
    assert "getWeather" in find_names(query, 9)


@given(query=st.text(max_size=200), limit=st.integers(1, 20))
def test_any_query_has_a_plain_result(query: str, limit: int) -> None:
    assert len(find_names(query, limit)) <= limit


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["name", "title", "description", "inputSchema", "properties", "enum"])
            | st.text(),
            inner,
            max_size=4,
        )
    ),
)


@given(entry=st.dictionaries(st.text(), JSON) | JSON.filter(lambda value: isinstance(value, dict)))
def test_any_entry_of_a_foreign_server_is_searched(entry: dict[str, Any]) -> None:
    index = SearchIndex([SearchableTool(entry), tool("known", "A tool.")])

    assert [hit.name for hit in index.search("known", 1)] == ["known"]


def test_schema_without_end_is_read_in_bounded_time() -> None:
    endless: dict[str, Any] = {"description": "turtle"}
    endless["properties"] = {"again": endless, "more": endless}

    assert SearchIndex([tool("t", "", {"a": endless})]).search("turtle", 1)[0].name == "t"


def test_searches_of_several_threads_take_turns() -> None:
    index = SearchIndex(TOOLS)

    with ThreadPoolExecutor(8) as threads:
        names = list(threads.map(lambda _: index.search("weather", 1)[0].name, range(200)))

    assert set(names) == {"getWeather"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("createIssue", "create issue createissue"),
        ("get_HTTP_status", "get http status"),
        ("Files.read", "files read"),
        ("搜索论文 fast", "搜索 索论 论文 fast"),
        ("图", "图"),
        ("3D模型", "3 d 3d 模型"),
    ],
)
def test_words_of_a_name(words: str, expected: str) -> None:
    assert index_words(words) == expected


def test_query_keeps_its_telling_words_once_and_few_of_them() -> None:
    assert split_query("What is the weather, the Weather?") == ["weather"]
    assert split_query("what is this") == ["what", "is", "this"]
    assert len(split_query(" ".join(f"w{number}" for number in range(500)))) == MAX_QUERY_WORDS


def test_python_without_sqlite_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sqlite3", None)

    with pytest.raises(NoSearch):
        find_names("weather")


@pytest.mark.process
def test_sqlite_is_imported_by_the_first_search() -> None:
    code = (
        "import sys\n"
        "from toolwire_dialects.search.search_index import SearchableTool, SearchIndex\n"
        "index = SearchIndex([SearchableTool({'name': 'a'})])\n"
        "before = 'sqlite3' in sys.modules\n"
        "index.search('a', 1)\n"
        "print(before, 'sqlite3' in sys.modules)\n"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)

    assert printed.stdout.split() == [b"False", b"True"]
