"""Installed commands, modules and files with arguments are run until they start their server."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from support.command_line import CommandLine
from support.recording_caller import RecordingCaller
from support.server_process import call, request, running
from toolwire.bundles.contents import Contents
from toolwire.errors import LoadError
from toolwire.loading.targets import load
from toolwire_compat.fastmcp.programs import name_program

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.usefixtures("own_imports")

NOTES = """
import sys
from mcp.server.fastmcp import FastMCP

def make(words):
    mcp = FastMCP("notes")

    @mcp.tool()
    def words_given() -> list[str]:
        '''Return the words.

        Returns:
            All of them.
        '''
        print("a print of a stranger")
        return [*words, *sys.argv[1:]]

    return mcp

def main():
    import argparse
    import signal
    signal.signal(signal.SIGTERM, lambda *_: None)
    parser = argparse.ArgumentParser()
    parser.add_argument("--word", required=True)
    make([parser.parse_args().word]).run()
    print("not reached")
"""
LOW_LEVEL = """
import asyncio
from mcp.server import Server, NotificationOptions
from mcp.server.models import InitializationOptions
import mcp.server.stdio
import mcp.types as types

server = Server("shelf")

@server.list_tools()
async def list_tools() -> list[types.Tool]:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    return [types.Tool(name="double", description="Double it.", inputSchema=schema)]

@server.call_tool()
async def call_tool(name, arguments):
    if arguments["n"] < 0:
        raise ValueError("no negative numbers")
    running = asyncio.get_running_loop() is loop
    return [types.TextContent(type="text", text=f"{name} {arguments['n'] * 2} {running}")]

@server.list_prompts()
async def list_prompts():
    arguments = [types.PromptArgument(name="topic", required=True)]
    return [types.Prompt(name="write", description="Write.", arguments=arguments)]

@server.get_prompt()
async def get_prompt(name, arguments):
    text = types.TextContent(type="text", text=f"{name} about {arguments['topic']}")
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=text)])

@server.list_resources()
async def list_resources():
    return [types.Resource(uri="shelf://all", name="all", mimeType="text/plain")]

@server.read_resource()
async def read_resource(uri):
    return f"{uri.scheme}: everything"

async def main():
    global loop
    loop = asyncio.get_running_loop()
    async with mcp.server.stdio.stdio_server() as (read_stream, write_stream):
        await server.run(
            read_stream,
            write_stream,
            InitializationOptions(
                server_name="shelf",
                server_version="3",
                capabilities=server.get_capabilities(
                    notification_options=NotificationOptions(), experimental_capabilities={}
                ),
            ),
        )

def run():
    asyncio.run(main())
"""


@pytest.fixture
def anyio_backend() -> str:
    """The loop of a server: programs use asyncio, too."""
    return "asyncio"


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(sys.modules):
        if name.partition(".")[0] in ("fastmcp", "mcp", "mcp_types"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "argv", ["toolwire"])


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Returns the folder of installed packages, to which it adds a distribution."""
    site = tmp_path / "site-packages"
    monkeypatch.syspath_prepend(str(site))

    def add(package: str, text: str, script: str) -> Path:
        folder = site / package
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(text, "utf-8")
        (folder / "__main__.py").write_text(f"from {package} import main\nmain()\n", "utf-8")
        information = site / f"{package}-1.0.dist-info"
        information.mkdir()
        (information / "METADATA").write_text(f"Name: {package}\nVersion: 1.0\n", "utf-8")
        (information / "entry_points.txt").write_text(f"[console_scripts]\n{script}\n", "utf-8")
        files = (f"{package}/__init__.py,,", f"{package}/__main__.py,,")
        (information / "RECORD").write_text("\n".join(files), "utf-8")
        (information / "top_level.txt").write_text(f"{package}\n", "utf-8")
        return site

    return add


@pytest.mark.parametrize(
    "target", ["stranger_notes --word a b", "python -m stranger_notes --word a"]
)
def test_an_installed_program_runs_until_it_starts_its_server(
    install: Callable[..., Path], target: str
) -> None:
    install(
        "stranger_notes",
        NOTES.replace("parse_args()", "parse_known_args()[0]"),
        "stranger_notes=stranger_notes:main",
    )

    (tool,) = load([target], adopt=True)

    words = tool.call({}, RecordingCaller())["structuredContent"]["result"]
    assert words == ["a", *target.partition("stranger_notes ")[2].split()]
    assert tool.describe()["description"].endswith("Returns:\n    All of them.")


def test_an_installed_program_is_packed_as_its_distribution_and_named_without_arguments(
    install: Callable[..., Path],
) -> None:
    install("stranger_notes", NOTES, "stranger-notes=stranger_notes:main")
    programs = ["stranger-notes --word a/b", "-m stranger_notes --word a"]
    contents = Contents()

    for program in programs:
        contents.add_adopted(program)

    assert (contents.targets, contents.dependencies) == (programs, ["stranger_notes>=1.0"])
    assert list(map(name_program, programs)) == ["stranger-notes", "stranger_notes"]


def test_a_command_that_ends_before_its_server_starts_is_refused_with_its_status(
    install: Callable[..., Path],
) -> None:
    install("stranger_two", NOTES, "stranger-two=stranger_two:main")

    with pytest.raises(LoadError, match="exit status 2") as refusal:
        load(["stranger-two"], adopt=True)

    assert refusal.value.__cause__ is not None
    assert getattr(refusal.value.__cause__, "status", None) == 2


def test_a_command_without_a_library_of_servers_is_to_be_wrapped(
    install: Callable[..., Path],
) -> None:
    install("stranger_own", "def main(): pass", "stranger-own=stranger_own:main")

    with pytest.raises(LoadError, match="`toolwire wrap -- COMMAND` and `--mount` take any"):
        load(["stranger-own"], adopt=True)


def tools_of_shelf(install: Callable[..., Path]) -> dict[str, Any]:
    install("stranger_shelf", LOW_LEVEL, "stranger-shelf=stranger_shelf:run")
    return {tool.name: tool for tool in load(["stranger-shelf"], adopt=True)}


LATE = """
def helper() -> str: return 'B'

def main() -> None:
    from {package} import FastMCP
    mcp = FastMCP('x')
    @mcp.tool{call}
    def shout() -> str: return 'A'
    mcp.run()
"""
MAIN_BLOCK = "if __name__ == '__main__':\n    main()\n"


@pytest.mark.parametrize(("package", "call"), [("fastmcp", ""), ("mcp.server.fastmcp", "()")])
def test_main_that_imports_the_library_and_starts_a_server_is_no_tool(
    write: Callable[[str, str], str], package: str, call: str
) -> None:
    text = LATE.format(package=package, call=call) + MAIN_BLOCK

    with pytest.raises(LoadError, match=r"is made for FastMCP; .* add --adopt to run it"):
        load([write("refused.py", text)])

    (tool,) = load([write("adopted.py", text)], adopt=True)
    assert tool.name == "shout"


@pytest.mark.anyio
async def test_functions_of_a_low_level_server_answer_on_the_loop_of_the_program(
    install: Callable[..., Path],
) -> None:
    tools = tools_of_shelf(install)
    caller = RecordingCaller()

    called = await tools["double"].call_async({"n": 4}, caller)
    prompt = await tools["write"].call_async({"topic": "x"}, caller)
    resource = await tools["shelf://all"].call_async({"uri": "shelf://all"}, caller)

    assert called["content"] == [{"type": "text", "text": "double 8 True"}]
    assert prompt["messages"][0]["content"]["text"] == "write about x"
    expected = {"uri": "shelf://all", "mimeType": "text/plain", "text": "shelf: everything"}
    assert resource["contents"] == [expected]


@pytest.mark.anyio
async def test_a_failure_of_a_low_level_tool_has_the_text_of_its_exception(
    install: Callable[..., Path],
) -> None:
    tools = tools_of_shelf(install)

    with pytest.raises(Exception, match="no negative numbers"):
        await tools["double"].call_async({"n": -1}, RecordingCaller())


@pytest.mark.parametrize("arguments", ["", " --word a"])
def test_a_file_whose_main_makes_the_server_is_run(tmp_path: Path, arguments: str) -> None:
    file = tmp_path / "made_in_main.py"
    text = NOTES.replace("required=True", "default='a'")
    file.write_text(f"{text}\nif __name__ == '__main__':\n    main()\n", "utf-8")

    (tool,) = load([f"{file}{arguments}"], adopt=True)

    assert tool.name == "words_given"


def test_features_of_http_are_left_out(
    write: Callable[[str, str], str], caplog: pytest.LogCaptureFixture
) -> None:
    text = (
        "from fastmcp import FastMCP\nmcp = FastMCP('x', auth=object())\n"
        "@mcp.custom_route('/health', methods=['GET'])\nasync def health(request): ...\n"
        "@mcp.tool\ndef f(): ...\nmcp.run(transport='sse')\n"
    )

    (tool,) = load([write("with_http.py", text)], adopt=True)

    assert tool.name == "f"
    assert [record.message.partition(".py:")[2] for record in caplog.records] == [
        "2: FastMCP(auth=) has no effect over standard input and output",
        "3: the route '/health' has no effect over standard input and output",
    ]


@pytest.mark.anyio
async def test_middleware_of_the_sdk_stands_around_calls(write: Callable[[str, str], str]) -> None:
    text = (
        "from mcp.server.mcpserver import MCPServer\nmcp = MCPServer('x')\n"
        "@mcp.tool()\ndef f(n: int) -> str: return str(n)\n"
        "async def double(ctx, call_next):\n"
        "    arguments = ctx.params['arguments']\n    arguments['n'] *= 2\n"
        "    return await call_next(ctx)\n"
        "mcp.middleware.append(double)\n"
    )

    (tool,) = load([write("with_middleware.py", text)], adopt=True)

    result = await tool.call_async({"n": 2}, RecordingCaller())
    assert result["content"][0]["text"] == "4"


@pytest.mark.parametrize("mount", ["mount(inner, 'in')", "mount('in', inner)"])
def test_a_mounted_server_is_offered_in_its_namespace(
    write: Callable[[str, str], str], mount: str
) -> None:
    text = (
        "from fastmcp import FastMCP\ninner, mcp = FastMCP('inner'), FastMCP('outer')\n"
        f"mcp.{mount}\n"
        "@inner.tool\ndef f(): ...\n@mcp.tool\ndef f(): ...\n"
        "@inner.resource('notes://{name}')\ndef note(name: str) -> str: return name\n"
        "@inner.prompt\ndef ask() -> str: return 'x'\n"
    )

    tools = {tool.name: tool for tool in load([write("with_mount.py", text)], adopt=True)}

    assert set(tools) == {"f", "in_f", "in_ask", "notes://in/{name}"}
    read = tools["notes://in/{name}"].call({"uri": "notes://in/a"}, RecordingCaller())
    assert read["contents"][0]["text"] == "a"


@pytest.mark.process
def test_an_installed_command_is_served_and_its_prints_never_reach_standard_output(
    install: Callable[..., Path],
) -> None:
    site = install("stranger_three", NOTES, "stranger-three=stranger_three:main")
    words = ("serve", "--adopt", "stranger-three --word a")
    with running("-m", "toolwire", *words, env={**os.environ, "PYTHONPATH": str(site)}) as server:
        listed = server.ask(request("tools/list"))
        called = server.ask(call("words_given", id=2))

    assert [tool["name"] for tool in listed["result"]["tools"]] == ["words_given"]
    assert called["result"]["structuredContent"]["result"] == ["a", "--word", "a"]


UNIT = """
import sys
from mcp.server.fastmcp import FastMCP

mcp = FastMCP("strange")

@mcp.tool()
def arguments() -> list[str]: return sys.argv[1:]

mcp.run()
"""


@pytest.mark.process
@pytest.mark.parametrize(
    ("words", "arguments"), [((), []), (("--", "--unit", "km"), ["--unit", "km"])]
)
def test_a_module_is_run_with_the_arguments_after_two_dashes(
    tmp_path: Path, words: tuple[str, ...], arguments: list[str]
) -> None:
    package = tmp_path / "strange_units"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(UNIT)
    command = ("-m", "toolwire", "serve", "--adopt", "-m", "strange_units", *words)
    with running(*command, env={**os.environ, "PYTHONPATH": str(tmp_path)}) as server:
        called = server.ask(call("arguments"))

    assert called["result"]["structuredContent"]["result"] == arguments


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("-m", "json"), "-m goes with --adopt; to serve the functions of a module"),
        (("--adopt", "-m", "json", "tools.py"), "-m json is one target, and tools.py another"),
    ],
)
def test_a_module_without_adopt_or_next_to_a_target_is_refused(
    command_line: CommandLine, words: tuple[str, ...], problem: str
) -> None:
    done = command_line("serve", *words)

    assert done.returncode == 2
    assert problem in done.stderr
