"""A list with a search in place of its tools: what it shows, finds and calls."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from typing import Any

import anyio
import pytest
from support.server_process import MODERN, PATIENCE_SECONDS, call, request
from support.talk import Talk
from toolwire import AsyncContext, Context, RequestError, Server, ToolError, tool_api
from toolwire.protocol.catalog import Catalog
from toolwire.settings import Settings
from toolwire.showing import tool_search
from toolwire.showing.tool_search import META_TOOLS
from toolwire_schemas.meta_tools import MAX_HITS
from toolwire_schemas.tokens import estimate_list_tokens
from toolwire_tools import Tool, make_tool


@tool_api(read_only=True, tags=["math"])
def add(a: int, b: int = 1) -> int:
    """Add two numbers.

    Args:
        a: the first number
    """
    return a + b


@tool_api(destructive=True)
def wipe(path: str) -> None:
    """Remove a file."""


@tool_api
def fail() -> str:
    """Fail as its author says."""
    raise ToolError("No such luck.")


@tool_api
def crash() -> str:
    """Fail by an accident."""
    raise KeyError("x")


@tool_api
async def wait_a_moment() -> str:
    """Run on the event loop."""
    await anyio.sleep(0)
    return "waited"


@tool_api(timeout_seconds=0.05)
async def hang() -> None:
    """Wait for ever."""
    await anyio.sleep_forever()


@tool_api
def count_up(context: Context) -> str:
    """Report progress."""
    context.progress(1, 2, "half")
    return "counted"


@tool_api
async def ask_name(context: AsyncContext) -> str:
    """Ask the user for a name."""
    return str(await context.ask("Your name?", str))


@tool_api
def ask_age(context: Context) -> str:
    """Ask the user for an age."""
    return str(context.ask("Your age?", int))


TOOLS = [add, wipe, fail, crash, wait_a_moment, hang, count_up, ask_name, ask_age]


def names_in(server: Server) -> list[str]:
    return [tool["name"] for tool in server.request("tools/list")["tools"]]


def numbered(number: int) -> Tool:
    def tool(text: str, count: int = 1) -> str:
        """Repeat a text."""
        return text * count

    return make_tool(tool, name=f"repeat_{number}")


# What the list shows.


def test_list_has_a_search_and_a_call_by_name_in_place_of_the_tools() -> None:
    with Server(TOOLS, show="search") as server:
        assert names_in(server) == ["search_tools", "call_tool"]


def test_default_shows_all_tools() -> None:
    with Server(TOOLS) as server:
        assert names_in(server) == [tool.__name__ for tool in TOOLS]


def test_pinned_tools_stay_in_the_list() -> None:
    with Server(TOOLS, show="search", pin=["tag:math", "ask_*"]) as server:
        assert names_in(server) == ["search_tools", "call_tool", "add", "ask_name", "ask_age"]


@pytest.mark.parametrize(("more", "expected"), [(0, "repeat_0"), (-1, "search_tools")])
def test_auto_searches_beyond_the_tokens_of_the_list(more: int, expected: str) -> None:
    tools = [numbered(number) for number in range(5)]
    tokens = estimate_list_tokens(tool.describe() for tool in tools) + more

    with Server(tools, show="auto", show_tokens=tokens) as server:
        assert names_in(server)[0] == expected


@pytest.mark.parametrize("show", ["search", "code"])
def test_list_of_500_tools_takes_at_most_2000_bytes(
    show: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No program runs here, so nothing has to confine one.
    monkeypatch.setattr(
        "toolwire_bundled.programs.program.find_sandbox", lambda wanted: "bubblewrap"
    )
    with Server([numbered(number) for number in range(500)], show=show) as server:
        assert len(json.dumps(server.request("tools/list"))) <= 2000


def test_description_of_the_search_names_toolkits() -> None:
    class Library:
        @tool_api
        def find(self, title: str) -> str:
            """Find a book."""
            return title

    with Server([Library, add], show="search") as server:
        search = server.request("tools/list")["tools"][0]

    assert search["description"].endswith("There are tools of Library.")


def test_names_of_many_toolkits_are_cut() -> None:
    kits = [make_tool(add, name="a", toolkit=f"toolkit_{number}") for number in range(100)]

    with Server(kits, show="search") as server:
        search = server.request("tools/list")["tools"][0]

    assert search["description"].endswith(" and others.")
    assert len(search["description"]) < 500


def test_tool_that_has_the_name_of_the_search_keeps_it() -> None:
    def search_tools(shelf: str) -> str:
        """Find tools on a shelf."""
        return f"hammer on {shelf}"

    def call_tool(number: int) -> str:
        """Ring a tool up."""
        return f"{number} rings"

    with Server([search_tools, call_tool], show="search") as server:
        assert names_in(server) == ["search_tools_2", "call_tool_2"]
        assert text_of(server.call("call_tool", {"number": 3})) == "3 rings"
        asked = {"name": "search_tools", "arguments": {"shelf": "A"}}
        assert text_of(server.call("call_tool_2", asked)) == "hammer on A"


@pytest.mark.parametrize(("tools", "hint"), [([add], True), ([add, wipe], None)])
def test_call_by_name_is_read_only_if_all_tools_are(tools: list[Any], hint: bool | None) -> None:
    with Server(tools, show="search") as server:
        listed = server.request("tools/list")["tools"][1]

    assert listed.get("annotations", {}).get("readOnlyHint") is hint


def test_resources_and_prompts_are_listed_as_before() -> None:
    from toolwire import prompt, resource

    @resource("notes://all")
    def notes() -> str:
        return "notes"

    @prompt
    def greet() -> str:
        return "hello"

    with Server([add, notes, greet], show="search") as server:
        assert [each["uri"] for each in server.request("resources/list")["resources"]] == [
            "notes://all"
        ]
        assert [each["name"] for each in server.request("prompts/list")["prompts"]] == ["greet"]


def test_separator_of_toolkits_is_that_of_the_server() -> None:
    kit = make_tool(add, name="add", toolkit="Sums")

    with Server([kit], show="search", separator=".") as server:
        assert "Sums.add" in text_of(server.call("search_tools", {"query": "add"}))
        for name in ("Sums.add", "Sums_add"):
            meant = {"name": name, "arguments": {"a": 2}}
            assert server.call("call_tool", meant)["structuredContent"] == {"result": 3}


def test_pattern_in_place_of_a_list_of_patterns_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^pin must be a list of patterns, not 'ask_\*'$"):
        Server(TOOLS, show="search", pin="ask_*")


# Searching.


def text_of(result: dict[str, Any]) -> str:
    (block,) = result["content"]
    return str(block["text"])


def test_search_returns_a_stub_of_each_tool_and_its_hints() -> None:
    with Server(TOOLS, show="search") as server:
        result = server.call("search_tools", {"query": "add numbers", "limit": 1})

    text = (
        "def add(a: int, b: int = 1):\n"
        '    """Add two numbers.\n\n    Args:\n        a: the first number\n    """'
    )
    hints = [{"name": "add", "annotations": {"readOnlyHint": True}}]
    assert result == {
        "content": [{"type": "text", "text": text, "_meta": {META_TOOLS: hints}}],
        "isError": False,
    }


def test_search_returns_whole_schemas_on_request() -> None:
    with Server(TOOLS, show="search") as server:
        result = server.call("search_tools", {"query": "add", "limit": 1, "schemas": True})

    expected = {
        name: value
        for name, value in make_tool(add).describe().items()
        if name in ("name", "description", "inputSchema", "outputSchema")
    }
    assert json.loads(text_of(result)) == expected


def test_search_without_a_hit_names_the_tools() -> None:
    with Server(TOOLS, show="search") as server:
        text = text_of(server.call("search_tools", {"query": "zebra"}))

    assert "add, wipe" in text


def test_search_without_a_hit_names_some_of_many_tools() -> None:
    tools = [numbered(number) for number in range(MAX_HITS + 1)]

    with Server(tools, show="search") as server:
        assert text_of(server.call("search_tools", {"query": "zebra"})).endswith(" and 1 more")


@pytest.mark.parametrize("arguments", [{}, {"query": 3}, {"query": "a", "limit": 0}])
def test_wrong_arguments_of_the_search_are_explained(arguments: dict[str, Any]) -> None:
    with Server(TOOLS, show="search") as server:
        result = server.call("search_tools", arguments)

    assert result["isError"] is True
    assert "arguments." in text_of(result)


def test_search_finds_what_was_added_and_not_what_was_removed() -> None:
    def multiply(a: int, b: int) -> int:
        """Multiply two numbers."""
        return a * b

    with Server([add, wipe], show="search") as server:
        server.call("search_tools", {"query": "numbers"})
        server.add(multiply)
        server.remove("add")

        text = text_of(server.call("search_tools", {"query": "two numbers"}))

    assert "def multiply(" in text
    assert "def add(" not in text


def test_list_that_stays_the_same_is_not_announced_as_changed() -> None:
    before, after, grown = (
        Server(tools, show="search").catalog
        for tools in ([add], [add, wipe, make_tool(fail)], [make_tool(add, name="b", toolkit="A")])
    )
    assert isinstance(before, Catalog)
    listed = before.describe()
    # `wipe` may change something, so that calls by name need approval.
    assert after.describe() != listed
    assert grown.describe() != listed
    same = Server([add, make_tool(add, name="more")], show="search").catalog
    assert same.describe() == listed


# Calls by name.


def outcome(server: Server, name: str, arguments: Any, **meta: Any) -> Any:
    try:
        params = {"name": name, "arguments": arguments, **({"_meta": meta} if meta else {})}
        return server.request("tools/call", params)
    except RequestError as error:
        return error.code, error.message


CALLS: list[tuple[str, Any]] = [
    ("add", {"a": 2, "b": 3}),
    ("add", {"a": "2"}),  # JSON in a text
    ("add", '{"a": 2}'),  # all arguments in a text
    ("add", {"a": 2, "b": None}),
    ("add", {}),
    ("add", {"a": "two", "c": 1}),
    ("add", None),
    ("fail", {}),
    ("crash", {}),
    ("wait_a_moment", {}),
    ("hang", {}),
    ("ask_age", {}),  # the client cannot be asked
    ("ask_name", {}),
]


@pytest.mark.parametrize(("name", "arguments"), CALLS)
@pytest.mark.parametrize("meta", [{}, MODERN], ids=["legacy", "modern"])
def test_call_by_name_has_the_outcome_of_the_call_itself(
    name: str, arguments: Any, meta: dict[str, Any]
) -> None:
    with Server(TOOLS) as plain, Server(TOOLS, show="search") as server:
        expected = outcome(plain, name, arguments, **meta)
        meant = {"name": name, "arguments": arguments}

        assert outcome(server, "call_tool", meant, **meta) == expected
        assert outcome(server, name, arguments, **meta) == expected


def test_call_by_name_needs_no_arguments_for_a_tool_without_any() -> None:
    with Server(TOOLS, show="search") as server:
        assert server.call("call_tool", {"name": "wait_a_moment"})["isError"] is False


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"name": 3},
        {"nam": "add"},
        {"name": "add", "arguments": [1]},
        {"name": "add", "arguments": {}, "more": 1},
        {"name": "call_tool", "arguments": {"name": "add"}},
    ],
)
def test_wrong_arguments_of_a_call_by_name_are_an_error_result(arguments: dict[str, Any]) -> None:
    with Server(TOOLS, show="search") as server:
        result = server.call("call_tool", arguments)

    assert result["isError"] is True


def test_call_by_name_in_one_text_is_read_unless_arguments_are_strict() -> None:
    with Server(TOOLS, show="search") as server:
        meant = '{"name": "add", "arguments": {"a": 2}}'
        assert outcome(server, "call_tool", meant)["structuredContent"] == {"result": 3}
        assert outcome(server, "call_tool", "{")["isError"] is True
    with Server(TOOLS, show="search", strict_arguments=True) as server:
        asked = {"name": "add", "arguments": '{"a": 2}'}
        assert outcome(server, "call_tool", asked)["isError"] is True


@pytest.mark.parametrize(
    ("name", "problem", "near"),
    [
        ("ad", "Unknown tool: ad; did you mean add?", ["add"]),
        ("sumOfNumbers", "Unknown tool: sumOfNumbers; available: ", ["add"]),
        ("zzz", "Unknown tool: zzz; available: ", []),
    ],
)
def test_call_by_an_unknown_name_is_a_protocol_error_with_the_tools_that_may_be_meant(
    name: str, problem: str, near: list[str]
) -> None:
    with Server(TOOLS, show="search") as server:
        code, text = outcome(server, "call_tool", {"name": name, "arguments": {}})
        code_of_direct_call, _ = outcome(server, name, {})

    assert code == code_of_direct_call
    assert text.startswith(problem)
    assert re.findall(r"^def (\w+)", text, re.MULTILINE) == near


def test_call_tool_cannot_call_itself() -> None:
    with Server(TOOLS, show="search") as server:
        result = outcome(server, "call_tool", {"name": "call_tool", "arguments": {}})

    assert result["isError"] is True
    assert text_of(result).startswith("call_tool cannot be called by itself: ")


def test_plain_call_of_an_unknown_tool_is_a_protocol_error_with_hidden_tools_as_hints() -> None:
    with Server(TOOLS, show="search") as server:
        assert outcome(server, "ad", {}) == (-32602, "Unknown tool: ad; did you mean add?")


@pytest.fixture
def talk() -> Iterator[Talk]:
    with Server(TOOLS, show="search") as server:
        talk = Talk(server)
        yield talk
        talk.session.end()


def by_name(name: str, id: int = 1, **meta: Any) -> dict[str, Any]:
    return call("call_tool", {"name": name, "arguments": {}}, id, **meta)


def test_progress_of_the_tool_reaches_the_client(talk: Talk) -> None:
    talk.send(by_name("count_up", progressToken="p"))

    assert talk.next()["params"] == {
        "progressToken": "p",
        "progress": 1,
        "total": 2,
        "message": "half",
    }
    assert text_of(talk.next()["result"]) == "counted"


@pytest.mark.parametrize(("name", "answer"), [("ask_name", "Ada"), ("ask_age", 36)])
def test_tool_asks_the_user_of_a_legacy_client(talk: Talk, name: str, answer: Any) -> None:
    asking = {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}}
    talk.send(request("initialize", {**asking, "clientInfo": {"name": "t", "version": "1"}}, 0))
    talk.next()

    talk.send(by_name(name))
    asked = talk.next()
    assert asked["method"] == "elicitation/create"
    (field,) = asked["params"]["requestedSchema"]["properties"]
    reply = {"action": "accept", "content": {field: answer}}
    talk.send({"jsonrpc": "2.0", "id": asked["id"], "result": reply})

    assert text_of(talk.next()["result"]) == str(answer)


def test_tool_asks_the_user_of_a_modern_client(talk: Talk) -> None:
    able = {**MODERN, "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}}
    first = by_name("ask_name", **able)
    talk.send(first)
    asked = talk.next()["result"]
    ((key, question),) = asked["inputRequests"].items()
    (field,) = question["params"]["requestedSchema"]["properties"]
    again = {
        **first["params"],
        "requestState": asked["requestState"],
        "inputResponses": {key: {"action": "accept", "content": {field: "Ada"}}},
    }

    talk.send({**first, "id": 2, "params": again})

    assert text_of(talk.next()["result"]) == "Ada"


def test_call_by_name_can_be_cancelled() -> None:
    began, cancelled = threading.Event(), threading.Event()

    @tool_api
    async def sleep() -> None:
        """Sleep until it is cancelled."""
        began.set()
        try:
            await anyio.sleep_forever()
        finally:
            cancelled.set()

    with Server([sleep], show="search") as server:
        talk = Talk(server)
        talk.send(by_name("sleep", 7))
        assert began.wait(PATIENCE_SECONDS)
        talk.send(request("notifications/cancelled", {"requestId": 7}, ...))

        assert cancelled.wait(PATIENCE_SECONDS)
        talk.send(request("ping", id=8))
        assert talk.next() == {"jsonrpc": "2.0", "id": 8, "result": {}}
        talk.session.end()


def test_batch_of_calls_by_name_is_answered_by_one_array(talk: Talk) -> None:
    calls = [
        by_name("wait_a_moment", 1),
        by_name("fail", 2),
        call("search_tools", {"query": "a"}, 3),
    ]
    talk.session.feed(json.dumps(calls).encode() + b"\n")

    assert sorted(each["id"] for each in talk.next()) == [1, 2, 3]


def test_only_tools_that_the_list_shows_are_announced() -> None:
    with Server([add], show="search", pin=["pinned_*"]) as server:
        talk = Talk(server)
        params = {"protocolVersion": "2025-11-25", "capabilities": {}}
        talk.send(request("initialize", {**params, "clientInfo": {"name": "t", "version": "1"}}, 0))
        talk.next()

        server.add(make_tool(add, name="hidden_add"))
        server.add(make_tool(add, name="pinned_add"))
        announced = talk.next()
        talk.send(request("tools/list", id=1))

        assert announced["method"] == "notifications/tools/list_changed"
        names = [tool["name"] for tool in talk.next()["result"]["tools"]]
        assert names == ["search_tools", "call_tool", "pinned_add"]
        talk.session.end()


def test_schemas_in_the_list_are_those_of_the_functions() -> None:
    search, call, *_ = tool_search.ToolSearch(Settings(show="search")).choose([]).shown

    for tool in (search, call):
        assert tool.entry.function is not None
        assert make_tool(tool.entry.function).entry.input_schema == tool.entry.input_schema
