"""Resources and prompts over the protocol: lists, errors, capabilities, in each era."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.server_process import MODERN, request, running
from toolwire import Context, RequestError, Server, ToolError, prompt, resource, tool_api
from toolwire_schemas.wire.messages import LEGACY_VERSIONS, META_SERVER_INFO


@resource("config://app")
def config() -> dict[str, int]:
    """The settings."""
    return {"size": 3}


@resource("notes://{name}")
def note(name: str) -> str | None:
    if name == "locked":
        raise ToolError("the note is locked")
    if name == "broken":
        raise ZeroDivisionError("secret")
    return None if name == "gone" else f"note {name}"


@resource("days://{day}")
async def day(day: int) -> str:
    return str(day)


@prompt
def review(code: str, level: int = 1) -> str:
    """Review code."""
    return f"{code} at {level}"


@tool_api
def add(a: int, b: int) -> int:
    return a + b


def code_of(server: Server, method: str, modern: bool = False, **params: Any) -> int:
    meta = {"_meta": MODERN} if modern else {}
    with pytest.raises(RequestError) as caught:
        server.request(method, {**params, **meta})
    return caught.value.code


EVERYTHING = [add, config, note, day, review]


def test_a_server_declares_only_what_it_has() -> None:
    def declared(*things: Any) -> Any:
        with Server(things) as server:
            legacy = server.request("initialize", {"protocolVersion": "2025-11-25"})["capabilities"]
            modern = server.request("server/discover", {"_meta": MODERN})["capabilities"]
        assert modern.pop("extensions") == {"io.modelcontextprotocol/tasks": {}}
        return {name for name in legacy if name in ("tools", "resources", "prompts")}, set(
            legacy
        ) >= set(modern)

    assert declared(add) == ({"tools"}, True)
    assert declared(add, note) == ({"tools", "resources"}, True)
    assert declared(review) == ({"tools", "prompts"}, True)


METHODS = (
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
)


@pytest.mark.parametrize("modern", [False, True])
def test_methods_of_what_a_server_does_not_have_do_not_exist(modern: bool) -> None:
    with Server([add]) as server:
        assert {code_of(server, method, modern) for method in METHODS} == {-32601}


@pytest.mark.parametrize("modern", [False, True])
def test_each_list_has_its_own(modern: bool) -> None:
    params = {"_meta": MODERN} if modern else {}
    with Server(EVERYTHING) as server:
        resources = server.request("resources/list", params)
        templates = server.request("resources/templates/list", params)
        prompts = server.request("prompts/list", params)
        tools = server.request("tools/list", params)

    assert [entry["uri"] for entry in resources["resources"]] == ["config://app"]
    assert [entry["uriTemplate"] for entry in templates["resourceTemplates"]] == [
        "notes://{name}",
        "days://{day}",
    ]
    assert [entry["name"] for entry in prompts["prompts"]] == ["review"]
    assert [entry["name"] for entry in tools["tools"]] == ["add"]
    for result in (resources, templates, prompts):
        assert {"resultType", "ttlMs", "cacheScope", "_meta"} <= result.keys() or not modern


def test_lists_have_pages() -> None:
    with Server([note, day, config], page_size=1) as server:
        first = server.request("resources/templates/list")
        second = server.request("resources/templates/list", {"cursor": first["nextCursor"]})
        assert code_of(server, "prompts/list") == -32601
        assert code_of(server, "resources/list", cursor="9") == -32602

    assert [
        entry["name"] for entry in (*first["resourceTemplates"], *second["resourceTemplates"])
    ] == ["note", "day"]
    assert "nextCursor" not in second


def test_a_modern_result_says_how_long_it_holds() -> None:
    with Server(EVERYTHING) as server:
        read = server.request("resources/read", {"uri": "notes://a", "_meta": MODERN})
        got = server.request(
            "prompts/get", {"name": "review", "arguments": {"code": "x"}, "_meta": MODERN}
        )

    assert (read["resultType"], read["ttlMs"], read["cacheScope"]) == ("complete", 0, "private")
    assert (got["resultType"], META_SERVER_INFO in got["_meta"], "ttlMs" in got) == (
        "complete",
        True,
        False,
    )


ERRORS = [
    ("resources/read", {"uri": "notes://a/b"}, -32002, -32602),
    ("resources/read", {"uri": "notes://gone"}, -32002, -32602),
    ("resources/read", {"uri": "days://monday"}, -32602, -32602),
    ("resources/read", {"uri": "notes://locked"}, -32603, -32603),
    ("resources/read", {"uri": "notes://broken"}, -32603, -32603),
    ("resources/read", {"uri": 7}, -32602, -32602),
    ("resources/read", {}, -32602, -32602),
    ("prompts/get", {"name": "reveiw"}, -32602, -32602),
    ("prompts/get", {"name": "review"}, -32602, -32602),
    (
        "prompts/get",
        {"name": "review", "arguments": {"code": "x", "level": "high"}},
        -32602,
        -32602,
    ),
    ("prompts/get", {"name": "review", "arguments": ["x"]}, -32602, -32602),
    ("prompts/get", {}, -32602, -32602),
]


@pytest.mark.parametrize(("method", "params", "legacy", "modern"), ERRORS)
def test_a_failure_is_an_error_and_no_result(
    method: str, params: dict[str, Any], legacy: int, modern: int
) -> None:
    with Server(EVERYTHING) as server:
        assert (code_of(server, method, **params), code_of(server, method, True, **params)) == (
            legacy,
            modern,
        )


def test_an_error_names_the_uri_and_the_closest_one() -> None:
    with Server(EVERYTHING) as server, pytest.raises(RequestError) as caught:
        server.request("resources/read", {"uri": "config://ap"})

    assert "config://app" in caught.value.message
    assert caught.value.data == {"uri": "config://ap"}


def test_masked_errors_of_resources_tell_nothing() -> None:
    with Server([note], mask_errors=True) as server:
        with pytest.raises(RequestError) as caught:
            server.request("resources/read", {"uri": "notes://broken"})
        with pytest.raises(RequestError, match="locked"):
            server.request("resources/read", {"uri": "notes://locked"})

    assert "secret" not in str(caught.value)


def test_a_prompt_and_a_tool_may_have_one_name() -> None:
    @prompt(name="add")
    def about_adding() -> str:
        return "add!"

    with Server([add, about_adding]) as server:
        assert server.call("add", {"a": 1, "b": 2})["structuredContent"] == {"result": 3}
        assert (
            server.request("prompts/get", {"name": "add"})["messages"][0]["content"]["text"]
            == "add!"
        )

        server.remove("add")

        assert server.request("tools/list")["tools"] == []
        assert len(server.request("prompts/list")["prompts"]) == 1


def test_a_time_limit_holds_for_resources_too() -> None:
    import threading

    @resource("slow://x", timeout_seconds=0.05)
    def slow(context: Context) -> str:
        while not context.cancelled:
            threading.Event().wait(0.005)
        return ""

    with Server([slow]) as server, pytest.raises(RequestError, match="did not finish within"):
        server.request("resources/read", {"uri": "slow://x"})


def test_progress_of_a_prompt_reaches_the_client() -> None:
    told: list[Any] = []

    @prompt
    def steps(context: Context) -> str:
        context.progress(1, 2, "half")
        return "done"

    with Server([steps]) as server:
        server.request("prompts/get", {"name": "steps"}, on_progress=told.append)

    assert [(params["progress"], params["message"]) for params in told] == [(1, "half")]


def test_two_resources_of_one_uri_are_refused() -> None:
    @resource("config://app")
    def other() -> str:
        return ""

    with pytest.raises(ValueError, match="config://app"):
        Server([config, other])


FILE = """
import os
from toolwire import AsyncContext, Context, prompt, resource
from toolwire_tools import ResourceNotFound

@resource("pid://{name}", runs_in="process")
def pid(name: str):
    if name == "gone":
        raise ResourceNotFound("gone")
    return f"{name} {os.getpid()}"

@prompt(runs_in="process")
async def ask(level: int, context: AsyncContext) -> str:
    context.progress(1)
    return f"{level + 1} {os.getpid()}"
"""


@pytest.mark.process
@pytest.mark.parametrize("options", [[], ["--isolate"]])
def test_resources_and_prompts_run_in_processes_of_their_own(
    tmp_path: Path, options: list[str]
) -> None:
    (tmp_path / "things.py").write_text(FILE, encoding="utf-8")
    with running("-m", "toolwire", "serve", str(tmp_path / "things.py"), *options) as process:
        process.ask(request("initialize", {"protocolVersion": LEGACY_VERSIONS[-1]}, id=0))
        read = process.ask(request("resources/read", {"uri": "pid://a%20b"}))["result"]["contents"][
            0
        ]
        got = process.ask(
            request("prompts/get", {"name": "ask", "arguments": {"level": "2"}}, id=2)
        )["result"]
        gone = process.ask(request("resources/read", {"uri": "pid://gone"}, id=3))["error"]
        modern = process.ask(
            request("resources/read", {"uri": "pid://gone", "_meta": MODERN}, id=4)
        )["error"]

        here = str(process.popen.pid)
    assert (read["uri"], read["text"].split()[:2]) == ("pid://a%20b", ["a", "b"])
    assert here not in read["text"]
    assert got["messages"][0]["content"]["text"].split()[0] == "3"
    assert (gone["code"], modern["code"]) == (-32002, -32602)
