"""Files written for FastMCP, or for the SDK's servers, run unchanged on Toolwire's own classes."""

from __future__ import annotations

import json
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest
from support.recording_caller import RecordingCaller
from support.server_process import call, request, running, served
from toolwire import RequestError, Server
from toolwire.errors import LoadError
from toolwire.loading.targets import load
from toolwire_tools import RegistrationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("own_imports")

SERVER = "from fastmcp import FastMCP, Context\nmcp = FastMCP('demo')\n"


@pytest.fixture(autouse=True)
def no_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests put modules of these names into `sys.modules`."""
    for name in [
        name for name in sys.modules if name.partition(".")[0] in ("fastmcp", "mcp", "mcp_types")
    ]:
        monkeypatch.delitem(sys.modules, name)


@pytest.fixture
def write(write: Callable[[str, str], str]) -> Callable[..., str]:
    return lambda text, name="server.py": write(name, text)


def test_missing_package_is_not_blamed_for_another_failure(
    write: Callable[..., str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(LoadError, match="ZeroDivisionError"):
        load([write(f"{SERVER}1 / 0\n")])
    shown = capsys.readouterr().err
    assert ("1 / 0" in shown, "fastmcp" in shown) == (True, False)


@pytest.mark.parametrize("made", ["mcp.server.fastmcp import FastMCP", "mcp.server import Server"])
def test_empty_server_is_no_file_without_functions(write: Callable[..., str], made: str) -> None:
    file = write(f"from {made} as Made\nserver = Made('empty')\n")
    with pytest.raises(LoadError, match=f"^the server in {file} has no tools, .*@mcp.tool()"):
        load([file])


def called(path: str, name: str, caller: Any = None, **arguments: Any) -> dict[str, Any]:
    tool = {tool.name: tool for tool in load([path])}[name]
    return tool.call(arguments, caller or RecordingCaller())


@pytest.mark.parametrize(
    ("start", "server"),
    [
        ("from fastmcp import FastMCP", "FastMCP"),
        ("from fastmcp.server import FastMCP", "FastMCP"),
        ("import fastmcp\nFastMCP = fastmcp.FastMCP", "FastMCP"),
        ("from mcp.server.fastmcp import FastMCP", "FastMCP"),
        ("from mcp.server.fastmcp.server import FastMCP", "FastMCP"),
        ("from mcp.server.mcpserver import MCPServer", "MCPServer"),
        ("from toolwire_compat.fastmcp import FastMCP", "FastMCP"),
    ],
)
def test_the_tools_of_every_flavour_are_described_from_their_signatures(
    write: Callable[..., str], start: str, server: str
) -> None:
    path = write(
        f"{start}\nfrom typing import Annotated\nfrom pydantic import Field\nmcp ="
        f" {server}('demo')\n@mcp.tool()\ndef add(a: int, b: Annotated[int, Field(ge=0,"
        " description='the second')] = 1) -> int:\n    'Add.'\n    return a + b\nif __name__ =="
        " '__main__':\n    mcp.run(transport='streamable-http')\n"
    )

    (tool,) = load([path])

    schema = tool.describe()["inputSchema"]
    assert (tool.name, tool.describe()["description"], schema["required"]) == ("add", "Add.", ["a"])
    assert schema["properties"]["b"] == {
        "type": "integer",
        "minimum": 0,
        "description": "the second",
        "default": 1,
    }


@pytest.mark.parametrize(
    ("registration", "expected"),
    [
        ("@mcp.tool\n", {"name": "f"}),
        ("@mcp.tool()\n", {"name": "f"}),
        ("@mcp.tool('g')\n", {"name": "g"}),
        ("@mcp.tool(name='g', title='G', description='Says it.')\n", {"name": "g", "title": "G"}),
        (
            "@mcp.tool(annotations={'readOnlyHint': True, 'title': 'T'}, meta={'k': 1})\n",
            {"annotations": {"title": "T", "readOnlyHint": True}, "_meta": {"k": 1}},
        ),
        (
            (
                "from mcp.types import Icon,"
                " ToolAnnotations\n@mcp.tool(annotations=ToolAnnotations(destructive_hint=False),"
                " icons=[Icon(src='https://x/i.png')])\n"
            ),
            {"annotations": {"destructiveHint": False}, "icons": [{"src": "https://x/i.png"}]},
        ),
        ("@mcp.tool(exclude_args=['b'])\n", {"name": "f"}),
        (
            "@mcp.tool(output_schema={'type': 'object', 'title': 'O'})\n",
            {"outputSchema": {"type": "object", "title": "O"}},
        ),
    ],
)
def test_the_options_of_a_tool_are_those_of_fastmcp(
    write: Callable[..., str], registration: str, expected: dict[str, Any]
) -> None:
    (tool,) = load([write(f"{SERVER}{registration}def f(b: int = 1) -> dict: return {{}}\n")])

    assert expected.items() <= tool.describe().items()
    assert ("b" in tool.describe()["inputSchema"]["properties"]) == (
        "exclude_args" not in registration
    )


def test_a_disabled_tool_is_not_served_and_add_tool_takes_functions_and_tools(
    write: Callable[..., str],
) -> None:
    path = write(
        f"{SERVER}from fastmcp.tools import Tool\n@mcp.tool(enabled=False)\ndef off(): ...\ndef"
        " on(): ...\nmcp.add_tool(on, name='first')\nmcp.add_tool(Tool.from_function(on,"
        " name='second'))\nmcp.add_tool(on)\nmcp.remove_tool('on')\n"
    )

    assert [tool.name for tool in load([path])] == ["first", "second"]


TWICE = "@mcp.tool\ndef a(): return 1\n@mcp.tool(name='a')\ndef b(): return 2\n"


@pytest.mark.parametrize(
    ("options", "value"),
    [
        ("warn_on_duplicate_tools=False, warn_on_duplicate_prompts=True", 1),
        ("warn_on_duplicate_prompts=True, warn_on_duplicate_tools=False", 1),
        ("on_duplicate='ignore'", 1),
        ("on_duplicate='replace'", 2),
    ],
)
def test_second_tool_of_a_name_is_ignored_or_replaces_the_first_on_demand(
    options: str, value: int, write: Callable[..., str]
) -> None:
    head = f"from fastmcp import FastMCP\nmcp = FastMCP('demo', {options})\n"
    result = called(write(head + TWICE), "a")
    assert result["content"][0]["text"] == str(value)


RESULTS = """
from typing import Annotated, TypedDict
from fastmcp.tools import ToolResult
from fastmcp.utilities.types import File, Image
from mcp.types import CallToolResult, EmbeddedResource, ImageContent, TextContent, TextResourceContents
import mcp.types as types

class Point(TypedDict):
    x: int

class Profile:
    name: str
    def __init__(self, name): self.name = name

class Untyped:
    def __str__(self): return "an untyped thing"

@mcp.tool
def text() -> str: return "a"
@mcp.tool
def unpromised(): return "a"
@mcp.tool(structured_output=False)
def plain() -> dict: return {"a": 1}
@mcp.tool
def whole() -> CallToolResult: return CallToolResult(content=[TextContent(type="text", text="x")], _meta={"a": 1})
@mcp.tool
def checked() -> Annotated[CallToolResult, Point]:
    return CallToolResult(content=[], structuredContent={"x": 1})
@mcp.tool
def wrong() -> Annotated[CallToolResult, Point]:
    return CallToolResult(content=[], structured_content={"x": "no"})
@mcp.tool
def failed() -> ToolResult: return ToolResult(content="no", is_error=True)
@mcp.tool
def fast() -> ToolResult: return ToolResult("seen", structured_content=Profile("Ada").__dict__, meta={"t": 2})
@mcp.tool
def profile() -> Profile: return Profile("Ada")
@mcp.tool
def untyped() -> Untyped: return Untyped()
@mcp.tool
def missing() -> int | None: return None
@mcp.tool
def blocks() -> list[TextContent | ImageContent]:
    return [types.TextContent(type="text", text="x", unknown=True), ImageContent(type="image", data="AA==", mimeType="image/png")]
@mcp.tool
def picture() -> Image: return Image(data=b"\\x89PNG\\r\\n\\x1a\\n", format="png")
@mcp.tool(structured_output=False)
def uri() -> str: return Image(data=b"\\x89PNG\\r\\n\\x1a\\n", format="png").to_data_uri()
@mcp.tool(structured_output=False)
def fields() -> list[str]: return [*TextContent.model_fields]
@mcp.tool
def file() -> File: return File(data=b"%PDF-1", format="pdf", name="r")
@mcp.tool
def inside() -> EmbeddedResource:
    resource = TextResourceContents(uri="a://b", text="t", mime_type="text/plain")
    return EmbeddedResource(type="resource", resource=resource)
"""  # noqa: E501

TEXT = {"type": "text", "text": "x"}
PNG = {"type": "image", "data": "AA==", "mimeType": "image/png"}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "text",
            {"content": [{"type": "text", "text": "a"}], "structuredContent": {"result": "a"}},
        ),
        ("unpromised", {"content": [{"type": "text", "text": "a"}]}),
        ("plain", {"content": [{"type": "text", "text": '{"a":1}'}]}),
        ("whole", {"content": [TEXT], "_meta": {"a": 1}}),
        ("checked", {"content": [], "structuredContent": {"x": 1}}),
        ("failed", {"content": [{"type": "text", "text": "no"}], "isError": True}),
        (
            "fast",
            {
                "content": [{"type": "text", "text": "seen"}],
                "structuredContent": {"name": "Ada"},
                "_meta": {"t": 2},
            },
        ),
        (
            "profile",
            {
                "content": [{"type": "text", "text": '{"name":"Ada"}'}],
                "structuredContent": {"name": "Ada"},
            },
        ),
        ("missing", {"content": [], "structuredContent": {"result": None}}),
        ("untyped", {"content": [{"type": "text", "text": "an untyped thing"}]}),
        ("blocks", {"content": [TEXT, PNG]}),
        ("picture", {"content": [{**PNG, "data": "iVBORw0KGgo="}]}),
        ("uri", {"content": [{"type": "text", "text": "data:image/png;base64,iVBORw0KGgo="}]}),
        ("fields", {"content": [{"type": "text", "text": '["type","annotations","meta","text"]'}]}),
        (
            "file",
            {
                "content": [
                    {
                        "type": "resource",
                        "resource": {
                            "uri": "attachment:///r.pdf",
                            "mimeType": "application/pdf",
                            "blob": "JVBERi0x",
                        },
                    }
                ]
            },
        ),
        (
            "inside",
            {
                "content": [
                    {
                        "type": "resource",
                        "resource": {"uri": "a://b", "mimeType": "text/plain", "text": "t"},
                    },
                ]
            },
        ),
    ],
)
def test_results_match_fastmcp(
    write: Callable[..., str], name: str, expected: dict[str, Any]
) -> None:
    assert called(write(SERVER + RESULTS), name) == {"isError": False, **expected}


def test_a_whole_result_is_checked_against_the_promised_schema(write: Callable[..., str]) -> None:
    with pytest.raises(Exception, match=r"result\.x"):
        called(write(SERVER + RESULTS), "wrong")


CONTEXT = """
@mcp.tool
def work(c: Context) -> str:
    c.info("begun", extra={"n": 1, "level": 2, "logger": 3})
    c.log("warning", "hm")
    c.log("so", level="debug")
    c.report_progress(1, 2, message="half")
    return f"{c.request_context is c.session} {c.transport} {c.fastmcp.name}"
@mcp.tool
async def ask(c: Context[object, object]) -> str:
    await c.error("oh")
    answer = await c.elicit("Which?", response_type=["a", "b"])
    return f"{answer.action} {getattr(answer, 'data', None)}"
"""


def test_the_context_reports_progress_and_logs_with_and_without_await(
    write: Callable[..., str],
) -> None:
    caller = RecordingCaller()

    result = called(write(SERVER + CONTEXT), "work", caller)

    assert result["content"][0]["text"] == "True stdio demo"
    assert [logged[:3] for logged in caller.logged] == [
        ("info", "begun", {"n": 1, "level": 2, "logger": 3}),
        ("warning", "hm", {}),
        ("debug", "so", {}),
    ]
    assert caller.told == [(1, 2, "half")]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"action": "accept", "content": {"answer": "b"}}, "accept b"),
        ({"action": "decline"}, "decline None"),
        ({"action": "cancel"}, "cancel None"),
    ],
)
@pytest.mark.anyio
async def test_an_elicitation_ends_as_in_fastmcp(
    write: Callable[..., str], answer: dict[str, Any], expected: str
) -> None:
    caller = RecordingCaller()
    caller.answers.append(answer)
    tool = {tool.name: tool for tool in load([write(SERVER + CONTEXT)])}["ask"]

    result = await tool.call_async({}, caller)

    assert result["content"][0]["text"] == expected
    assert caller.asked[0][1]["properties"]["answer"]["enum"] == ["a", "b"]


@pytest.mark.parametrize(
    ("line", "refused"),
    [
        (
            "from fastmcp.server.middleware.timing import TimingMiddleware\nTimingMiddleware()",
            "server.py:4: Toolwire does not support TimingMiddleware; write what it does",
        ),
        (
            "mcp = FastMCP('x', resource_security=None)",
            "server.py:3: Toolwire does not support FastMCP(resource_security",
        ),
        (
            "@mcp.resource('a://{b}', security=None)\ndef f(b): ...",
            "server.py:3: Toolwire does not support resource(security=)",
        ),
        (
            "class Mine(FastMCP):\n    async def list_prompts(self): return []",
            "Toolwire does not support Mine.list_prompts",
        ),
        (
            "FastMCP.as_proxy('x')",
            "FastMCP.as_proxy; remove it, and serve the other server with --mo",
        ),
        (
            "mcp._tool_manager.get_tool('f').parameters",
            "server.py:3: Toolwire does not support _tool_manager.get_tool",
        ),
        ("mcp.disable(tags={'a'})", "FastMCP.disable; remove it, and serve with --include"),
        ("mcp.mount(object())", "server.py:3: Toolwire does not support FastMCP.mount of object"),
        ("FastMCP.from_openapi({})", "server.py:3: Toolwire does not support FastMCP.from_openapi"),
        ("app = mcp.http_app()", "server.py:3: Toolwire does not support FastMCP.http_app"),
        ("mcp.settings.odd = 1", "server.py:3: Toolwire does not support settings.odd"),
        (
            "@mcp.tool(task=True)\ndef f(): ...",
            "server.py:3: Toolwire does not support tool(task=)",
        ),
        (
            "@mcp.tool\nasync def f(c: Context):\n\n    return await c.sample_step('x')",
            "server.py:6: Toolwire does not support c.sample_step; use ctx.sample",
        ),
        (
            "@mcp.tool\ndef f(c: Context):\n    return c.session.send_ping()",
            "server.py:5: Toolwire does not support c.session.send_ping",
        ),
        (
            "from fastmcp.server.http import Provider\nProvider()",
            (
                "server.py:4: Toolwire does not support Provider; Toolwire serves standard input"
                " and output alone"
            ),
        ),
        (
            "from fastmcp import Client\n@mcp.tool\ndef f(): return Client('x')",
            "server.py:4: Toolwire does not support Client, which f uses; install the package",
        ),
        (
            "from fastmcp import Clinet",
            "server.py:3: Toolwire does not support fastmcp.Clinet (fastmcp has Context, ",
        ),
        (
            "import fastmcp.utilities.json",
            "server.py:3: Toolwire does not support fastmcp.utilities.json (fastmcp.",
        ),
        (
            "from mcp.types import InputRequiredResult",
            "server.py:3: Toolwire does not support mcp.types.InputRequiredResult",
        ),
        (
            "@mcp.tool\ndef f(): ...\n@mcp.tool(name='f')\ndef g(): ...",
            "two tools have this name, the second at server",
        ),
    ],
)
def test_unsupported_feature_is_refused_with_name_and_line(
    write: Callable[..., str], line: str, refused: str
) -> None:
    with pytest.raises((LoadError, RegistrationError)) as refusal:
        load([write(f"{SERVER}{line}\n")])

    assert refused in str(refusal.value)


def test_http_settings_and_names_of_the_main_block_are_accepted(
    write: Callable[..., str],
) -> None:
    path = write(
        "from fastmcp import Client, FastMCP\nfrom fastmcp.server.auth import Provider\nmcp ="
        " FastMCP('x', port=8000, stateless_http=True, auth=None)\nmcp.settings.host ="
        " '0.0.0.0'\n@mcp.tool\ndef f(a: int) -> int: return a\ndef main(client: Client | None ="
        " None, by: 'Provider' = None): ...\nmcp.run()\n"
    )

    assert [tool.name for tool in load([path])] == ["f"]


def test_classes_of_authentication_have_no_effect_and_a_line_in_the_log(
    write: Callable[..., str], caplog: pytest.LogCaptureFixture
) -> None:
    path = write(
        f"{SERVER}from mcp.server.auth.provider import TokenVerifier\n"
        "from mcp.server.auth.middleware.auth_context import get_access_token\n"
        "class Mine(TokenVerifier):\n    pass\n"
        "mcp = FastMCP('x', auth=Mine(scopes=['a']))\n"
        "@mcp.tool\ndef token() -> str: return str(get_access_token())\n"
    )

    assert called(path, "token")["content"][0]["text"] == "None"
    noted = [record.message.partition(":")[2] for record in caplog.records]
    assert noted[0].endswith("TokenVerifier has no effect over standard input and output")
    assert noted[1].endswith("FastMCP(auth=) has no effect over standard input and output")


def test_unusable_resource_is_left_out_with_its_line(
    write: Callable[..., str], caplog: pytest.LogCaptureFixture
) -> None:
    path = write(
        f"{SERVER}@mcp.resource('no uri')\ndef a() -> str: ...\n"
        "@mcp.resource('x://{a}')\ndef b(c: str) -> str: ...\n"
        "@mcp.resource('x://y')\ndef c() -> str: ...\n@mcp.tool\ndef d() -> str: ...\n"
    )

    assert [tool.name for tool in load([path])] == ["x://y", "d"]
    assert [record.message.partition("'")[0] for record in caplog.records] == [
        f"{path}:{line}: the resource is left out: resource " for line in (3, 5)
    ]


@pytest.mark.parametrize(
    ("program", "stays"),
    [
        ("/bin/toolwire", True),
        ("/lib/toolwire/__main__.py", True),
        ("/bin/pytest", False),
        ("/lib/pytest/__main__.py", False),
    ],
)
def test_command_line_of_the_file_stays_for_its_calls_in_our_command(
    write: Callable[..., str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    program: str,
    stays: bool,
) -> None:
    own = [str(tmp_path / "server.py")]
    command_line = [program, "serve", "server.py"]
    monkeypatch.setattr(sys, "argv", command_line)
    write("import sys\nFOUND = list(sys.argv)\n", "inner.py")
    path = write(
        f"{SERVER}import sys, inner\n@mcp.tool\ndef words() -> list[str]: return sys.argv\n"
        "@mcp.tool\ndef inner_words() -> list[str]: return inner.FOUND\n"
    )

    words = called(path, "words")["structuredContent"]["result"]

    assert words == (own if stays else command_line)
    assert called(path, "inner_words")["structuredContent"]["result"] == own


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # that of the server
@pytest.mark.parametrize("tool", ["by_name", "by_module"])
async def test_coroutine_that_a_plain_function_returns_is_awaited(
    write: Callable[..., str], tool: str
) -> None:
    write("async def work(n): return n + 1\n", "working.py")
    path = write(
        f"{SERVER}import working\nfrom working import work\n"
        "@mcp.tool\ndef by_name(n: int): return work(n)\n"
        "@mcp.tool\ndef by_module(n: int): return working.work(n)\n"
    )
    [found] = [each for each in load([path]) if each.name == tool]

    result = await found.call_async({"n": 1}, RecordingCaller())

    assert result["content"][0]["text"] == "2"


def test_mcp_exports_types_of_the_protocol(write: Callable[..., str]) -> None:
    path = write(
        f"{SERVER}from mcp import Resource, Tool, types\n@mcp.tool\ndef f(): ...\n"
        "assert (Resource, Tool) == (types.Resource, types.Tool)\n"
    )

    assert [tool.name for tool in load([path])] == ["f"]


def test_file_may_test_whether_a_feature_exists(write: Callable[..., str]) -> None:
    path = write(
        f"{SERVER}@mcp.tool\ndef f(): ...\nassert not hasattr(mcp, 'add_transform')\n"
        "try:\n    from fastmcp.server.middleware import Middleware\nexcept ImportError: ...\n"
    )

    assert [tool.name for tool in load([path])] == ["f"]


def test_only_the_users_modules_import_the_stand_ins_also_when_a_tool_runs(
    write: Callable[..., str], tmp_path: Path
) -> None:
    before = list(sys.meta_path)
    write(
        "try:\n    import fastmcp\nexcept ImportError:\n    fastmcp = None\n",
        "site-packages/library.py",
    )
    write("from fastmcp.utilities.types import Image\n", "helper.py")
    sys.path.append(str(tmp_path / "site-packages"))
    path = write(
        f"{SERVER}import library, helper\n"
        "@mcp.tool\ndef f() -> list:\n"
        "    from fastmcp.utilities.types import Image\n"
        "    return [library.fastmcp is None, helper.Image is Image, Image.__module__]\n"
    )

    result = called(path, "f")

    assert result["structuredContent"]["result"] == [
        True,
        True,
        "toolwire_compat.fastmcp.mcp_types",
    ]
    assert sys.meta_path == before
    assert not {"fastmcp", "mcp", "mcp.types"} & sys.modules.keys()


def test_with_adopt_the_stand_ins_replace_an_installed_package(
    write: Callable[..., str], tmp_path: Path
) -> None:
    write(
        "class FastMCP: ...\nclass Context: ...\nclass Client: ...\n",
        "site-packages/fastmcp/__init__.py",
    )
    write("import fastmcp\n", "site-packages/library.py")
    sys.path.append(str(tmp_path / "site-packages"))
    path = write(
        f"{SERVER}from fastmcp import Client\nimport library\n@mcp.tool\ndef f() -> list: return"
        " [library.fastmcp.FastMCP is FastMCP, library.fastmcp.Client is Client]\n"
    )

    (tool,) = load([path], adopt=True)

    # The client is that of the package.
    assert tool.call({}, RecordingCaller())["structuredContent"]["result"] == [False, True]


@pytest.mark.parametrize(
    ("source", "name", "expected"),
    [
        (
            (
                "from fastmcp import FastMCP\na = FastMCP('a')\nserver ="
                " FastMCP('b')\na.tool(f)\nserver.tool(g)\n"
            ),
            "",
            ["g"],
        ),
        (
            (
                "from fastmcp import FastMCP\na = FastMCP('a')\nb ="
                " FastMCP('b')\na.tool(f)\nb.tool(g)\n"
            ),
            ":a",
            ["f"],
        ),
        (f"{SERVER}mcp.tool(f)\nmcp.tool(g)\n", ":g", ["g"]),
        (
            (
                "from fastmcp import FastMCP\ndef make():\n    m = FastMCP()\n    m.tool(f)\n   "
                " return m\n"
            ),
            ":make",
            ["f"],
        ),
        (
            (
                "from fastmcp import FastMCP\ndef make() -> FastMCP:\n    m = FastMCP()\n   "
                " m.tool(f)\n    return m\n"
            ),
            "",
            ["f"],
        ),
    ],
)
def test_server_of_a_module_is_found(
    write: Callable[..., str], source: str, name: str, expected: list[str]
) -> None:
    path = write(f"def f(): ...\ndef g(): ...\n{source}")

    assert [tool.name for tool in load([f"{path}{name}"])] == expected


@pytest.mark.parametrize(
    ("source", "name", "sentence"),
    [
        (
            "a = FastMCP('a')\nb = FastMCP('b')\n",
            "",
            "it makes several servers; put :a or :b after the name",
        ),
        (
            "def make(): return FastMCP()\n",
            "",
            "it makes no server when it is imported; put :FUNCTION",
        ),
        ("def make(): return 1\n", ":make", "make\\(\\) returns no server"),
        ("def make(a, b=1, *c): return FastMCP()\n", ":make", "make\\(\\) needs a; give its param"),
        ("mcp = FastMCP()\n@mcp.tool\ndef f(): ...\n", ":g", "it has no server or tool 'g'"),
    ],
)
def test_ambiguous_server_is_an_error_with_the_choices(
    write: Callable[..., str], source: str, name: str, sentence: str
) -> None:
    path = write(f"from fastmcp import FastMCP\n{source}")

    with pytest.raises((LoadError, RegistrationError), match=sentence):
        load([f"{path}{name}"])


@pytest.mark.process
def test_a_server_process_serves_the_file_and_keeps_state(tmp_path: Path) -> None:
    source = (
        f"{SERVER}@mcp.tool\nasync def keep(value: int, c: Context) -> str:\n    before = await"
        " c.get_state('v')\n    await c.set_state('v', value)\n    print('noise')\n    return"
        " f'{before} {c.request_id}'\nif __name__ == '__main__':\n    raise SystemExit\n"
    )

    with served(tmp_path, source) as server:
        first, second = (
            server.ask(call("keep", {"value": 1}, id="a")),
            server.ask(call("keep", {"value": 2}, id="b")),
        )

    assert [one["result"]["content"][0]["text"] for one in (first, second)] == ["None a", "1 b"]


@pytest.mark.process
def test_isolated_tools_run_on_the_stand_ins_too(tmp_path: Path) -> None:
    source = (
        f"{SERVER}import os\nfrom mcp.types import CallToolResult, TextContent\n@mcp.tool\ndef"
        " where(c: Context) -> CallToolResult:\n    return"
        " CallToolResult(content=[TextContent(type='text', text=str(os.getpid()))])\n"
    )

    with served(tmp_path, source, "--isolate") as server:
        answer = server.ask(call("where", {}))

    assert int(answer["result"]["content"][0]["text"]) != server.popen.pid


@pytest.mark.process
def test_script_with_our_class_serves_standard_streams_by_itself(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from toolwire_compat.fastmcp import FastMCP\nmcp = FastMCP('by itself')\n@mcp.tool\n"
        "def add(a: int, b: int) -> int:\n    print('noise')\n    return a + b\n"
        "def main():\n    mcp.run()\nif __name__ == '__main__':\n    main()\n"
    )

    with running(str(script)) as server:
        answer = server.ask(call("add", {"a": 1, "b": 2}))
        began = server.ask(
            request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}})
        )

    assert answer["result"]["structuredContent"] == {"result": 3}
    assert began["result"]["serverInfo"]["name"] == "by itself", json.dumps(began)


def test_every_name_that_a_file_may_import_exists() -> None:
    from toolwire_compat.fastmcp.names import NAMES, find_member

    for place, listed in NAMES.items():
        for name in listed.split():
            assert find_member(place, name) is not None


RESOURCES = """
from fastmcp.prompts import Message, PromptResult
from fastmcp.resources import ResourceContent, ResourceResult, TextResource
from mcp.server.fastmcp.prompts import base
from mcp.types import Annotations, BlobResourceContents, Icon, TextContent

@mcp.resource("a://text", title="T", annotations=Annotations(audience=["user"]), icons=[Icon(src="https://x/i.png")])
def text() -> str: return "t"
@mcp.resource("a://json", mime_type="application/json", tags={"x"})
async def data(c: Context) -> dict:
    await c.info("read")
    return {"a": 1}
@mcp.resource("a://many")
def many(): return ResourceResult([ResourceContent("t", meta={"k": 1}), ResourceContent(b"b", mime_type="x/y")])
@mcp.resource("a://blob")
def blob(): return BlobResourceContents(uri="a://blob", blob="AA==", mimeType="x/y")
@mcp.resource(uri="a://of/{name}")
def of(name: str) -> str: return name
mcp.add_resource(TextResource(uri="a://fixed", text="f", name="fixed"))

@mcp.prompt
def short(topic: str, words: int = 3) -> str: return f"{topic} {words + 1}"
@mcp.prompt("chat", title="Chat", description="Talks.")
def talk() -> list[base.Message]: return [base.UserMessage("hi"), base.AssistantMessage("so?")]
@mcp.prompt()
def whole():
    return PromptResult([Message(TextContent(type="text", text="x"), role="assistant")], description="d", meta={"k": 1})
@mcp.tool
async def peek(uri: str, c: Context) -> list:
    read = await c.read_resource(uri)
    return [read[0].content, read[0].mime_type, read.contents[0].text]
"""  # noqa: E501


@pytest.fixture
def server(write: Callable[..., str]) -> Iterator[Server]:
    with Server(load([write(SERVER + RESOURCES)])) as server:
        yield server


@pytest.mark.parametrize(
    ("uri", "contents"),
    [
        ("a://text", [{"mimeType": "text/plain", "text": "t"}]),
        ("a://json", [{"mimeType": "application/json", "text": '{"a":1}'}]),
        ("a://many", [{"text": "t", "_meta": {"k": 1}}, {"mimeType": "x/y", "blob": "Yg=="}]),
        ("a://blob", [{"mimeType": "x/y", "blob": "AA=="}]),
        ("a://of/me", [{"mimeType": "text/plain", "text": "me"}]),
        ("a://fixed", [{"mimeType": "text/plain", "text": "f"}]),
    ],
)
def test_resources_are_read_as_in_fastmcp(
    server: Server, uri: str, contents: list[dict[str, Any]]
) -> None:
    assert server.request("resources/read", {"uri": uri}) == {
        "contents": [{"uri": uri, **one} for one in contents]
    }


@pytest.mark.parametrize(
    ("path", "is_read"),
    [
        ("a/b.md", True),
        ("a/../b", True),
        ("HEAD~3..HEAD", True),
        ("..", False),
        ("../b", False),
        ("a/../../b", False),
        ("%2E%2E%5Cb", False),
        ("/etc/passwd", False),
        ("%5Cb", False),
        ("c:b", False),
        ("a%00", False),
    ],
)
def test_template_refuses_paths_out_of_its_folder(
    write: Callable[..., str], path: str, is_read: bool
) -> None:
    source = '@mcp.resource("files://{path*}")\ndef file(path: str) -> str: return "read"\n'

    with Server(load([write(SERVER + source)])) as server:
        uri = f"files://{path}"
        if is_read:
            assert server.request("resources/read", {"uri": uri})["contents"][0]["text"] == "read"
        else:
            with pytest.raises(RequestError) as caught:
                server.request("resources/read", {"uri": uri})
            assert caught.value.code == -32002


NOT_FOUND = """
from mcp.server.mcpserver.exceptions import ResourceNotFoundError
from fastmcp.exceptions import NotFoundError, ResourceError
@mcp.resource("notes://{name}")
def note(name: str) -> str: raise ResourceNotFoundError(f"no note {name}")
@mcp.tool
async def look(uri: str, error: str, c: Context) -> str:
    try:
        return str(await c.read_resource(uri))
    except {"NotFoundError": NotFoundError, "ResourceError": ResourceError}[error]:
        return "not found"
"""


@pytest.mark.parametrize("uri", ["notes://a", "notes://..", "other://a"])
@pytest.mark.parametrize("error", ["NotFoundError", "ResourceError"])
def test_missing_resource_raises_the_error_of_the_packages(
    write: Callable[..., str], uri: str, error: str
) -> None:
    with Server(load([write(SERVER + NOT_FOUND)])) as server:
        looked = server.request(
            "tools/call", {"name": "look", "arguments": {"uri": uri, "error": error}}
        )
        with pytest.raises(RequestError) as caught:
            server.request("resources/read", {"uri": uri})

    assert looked["content"][0]["text"] == "not found"
    assert caught.value.code == -32002


def test_resources_and_prompts_are_listed_with_their_options(server: Server) -> None:
    resources = server.request("resources/list")["resources"]
    (template,) = server.request("resources/templates/list")["resourceTemplates"]
    prompts = server.request("prompts/list")["prompts"]

    assert resources[0] == {
        "uri": "a://text",
        "name": "text",
        "title": "T",
        "mimeType": "text/plain",
        "annotations": {"audience": ["user"]},
        "icons": [{"src": "https://x/i.png"}],
    }
    assert (template["uriTemplate"], template["name"]) == ("a://of/{name}", "of")
    assert [prompt["name"] for prompt in prompts] == ["short", "chat", "whole"]
    assert {"title": "Chat", "description": "Talks."}.items() <= prompts[1].items()


@pytest.mark.parametrize(
    ("name", "arguments", "messages"),
    [
        ("short", {"topic": "a", "words": "4"}, [("user", "a 5")]),
        ("chat", {}, [("user", "hi"), ("assistant", "so?")]),
        ("whole", {}, [("assistant", "x")]),
    ],
)
def test_prompts_are_rendered_as_in_fastmcp(
    server: Server, name: str, arguments: dict[str, str], messages: list[tuple[str, str]]
) -> None:
    result = server.request("prompts/get", {"name": name, "arguments": arguments})

    assert [(one["role"], one["content"]["text"]) for one in result["messages"]] == messages


def test_a_whole_result_of_a_prompt_keeps_its_description_and_meta(server: Server) -> None:
    result = server.request("prompts/get", {"name": "whole"})

    assert (result["description"], result["_meta"]) == ("d", {"k": 1})


@pytest.mark.parametrize("uri", ["a://text", "a://of/me", "a://json"])
def test_a_tool_reads_resources_of_its_server(server: Server, uri: str) -> None:
    (contents,) = server.request("resources/read", {"uri": uri})["contents"]

    result = server.call("peek", {"uri": uri})

    assert result["structuredContent"]["result"] == [
        contents["text"],
        contents["mimeType"],
        contents["text"],
    ]


@pytest.mark.process
def test_the_lifespan_gets_the_server_object_and_its_value_reaches_the_tools(
    tmp_path: Path,
) -> None:
    source = (
        f"from contextlib import asynccontextmanager\nimport sys\n{SERVER.splitlines()[0]}\nassert"
        " sys.argv == [__file__]\n@asynccontextmanager\nasync def life(server: FastMCP):\n   "
        " yield {'name': server.name}\n    print('left')\nmcp = FastMCP('alive', 'Be rude.',"
        " version='1.2', lifespan=life)\nmcp.instructions = 'Be kind.'\n@mcp.tool\ndef who(c:"
        " Context) -> list:\n    return [c.lifespan_context['name'],"
        " c.request_context.lifespan_context['name']]\n"
    )

    with served(tmp_path, source) as server:
        answer = server.ask(call("who", {}))
        began = server.ask(
            request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}})
        )["result"]
        server.hang_up()
        noise = server.stderr()

    assert answer["result"]["structuredContent"] == {"result": ["alive", "alive"]}
    assert (began["serverInfo"], began["instructions"]) == (
        {"name": "alive", "version": "1.2"},
        "Be kind.",
    )
    assert "left" in noise


@pytest.mark.process
@pytest.mark.parametrize(
    ("change", "what"),
    [
        ("mcp.add_tool(len)", "adding the tool len"),
        ("mcp.tool(len, name='size')", "adding the tool size"),
        ("mcp.resource('a://b')(repr)", "adding the resource a://b"),
        ("mcp.prompt(repr)", "adding the prompt repr"),
        ("mcp.remove_tool('late')", "removing the tool late"),
        ("mcp.completion()(repr)", "adding a completion"),
    ],
)
def test_a_running_tool_cannot_change_the_lists(tmp_path: Path, change: str, what: str) -> None:
    with served(tmp_path, f"{SERVER}@mcp.tool\ndef late():\n    {change}\n") as server:
        result = server.ask(call("late", {}))["result"]

    assert result["isError"]
    assert (
        f"tools_file.py:5: Toolwire does not support {what} after the file was loaded; "
        in result["content"][0]["text"]
    )


@pytest.mark.process
def test_a_lifespan_that_changes_the_lists_ends_the_server_with_a_sentence(tmp_path: Path) -> None:
    source = (
        "from contextlib import"
        f" asynccontextmanager\n{SERVER.splitlines()[0]}\n@asynccontextmanager\nasync def"
        " life(server):\n    server.add_tool(len, name='late')\n    yield\nmcp = FastMCP('demo',"
        " lifespan=life)\n@mcp.tool\ndef early(): ...\n"
    )
    with served(tmp_path, source) as server:
        server.hang_up()
        noise = server.stderr()

    assert (
        "tools_file.py:5: Toolwire does not support adding the tool late after the file was loaded;"
        " do it" in noise
    )
    assert "tools_file.life cannot be entered: NotSupported" in noise


def test_a_module_may_register_tools_on_the_server_of_one_loaded_before(
    write: Callable[..., str],
) -> None:
    first = write(f"{SERVER}@mcp.tool\ndef one(): ...\n", "first.py")
    second = write(
        "import first\nfirst.mcp.add_tool(len, name='two')\nmcp = first.mcp\n", "second.py"
    )
    load([first])

    assert [tool.name for tool in load([second])][-1] == "two"


COMPLETION = """
from mcp.types import Completion, CompletionArgument, CompletionContext, PromptReference, ResourceTemplateReference
@mcp.prompt
def review(language: str, code: str): return code
@mcp.resource("repos://{owner}/{repo}")
def repository(owner: str, repo: str): return repo
@mcp.completion()
async def completed(ref, argument: CompletionArgument, context: CompletionContext | None) -> Completion | None:
    if isinstance(ref, PromptReference) and (ref.name, argument.name) == ("review", "language"):
        return Completion(values=[word for word in ("python", "perl", "go") if word.startswith(argument.value)])
    if isinstance(ref, ResourceTemplateReference) and ref.uri == "repos://{owner}/{repo}" and context:
        return Completion(values=[f"{context.arguments['owner']}{n}" for n in range(120)], total=900)
"""  # noqa: E501


@pytest.mark.parametrize(
    ("ref", "name", "context", "expected"),
    [
        ({"type": "ref/prompt", "name": "review"}, "language", {}, {"values": ["python", "perl"]}),
        ({"type": "ref/prompt", "name": "review"}, "code", {}, {"values": []}),
        ({"type": "ref/resource", "uri": "repos://{owner}/{repo}"}, "repo", {}, {"values": []}),
        (
            {"type": "ref/resource", "uri": "repos://{owner}/{repo}"},
            "repo",
            {"arguments": {"owner": "me"}},
            {"values": [f"me{n}" for n in range(100)], "total": 900, "hasMore": True},
        ),
    ],
)
def test_the_completer_of_the_file_completes_arguments(
    write: Callable[..., str],
    ref: dict[str, str],
    name: str,
    context: dict[str, Any],
    expected: dict[str, Any],
) -> None:
    params = {"ref": ref, "argument": {"name": name, "value": "p"}, "context": context}

    with Server(load([write(SERVER + COMPLETION)])) as server:
        assert server.request("completion/complete", params) == {"completion": expected}


# Requests to the host

ASKING = """
from fastmcp import Context, FastMCP
from mcp.types import SamplingMessage, TextContent

mcp = FastMCP("demo")


@mcp.tool
async def sample(c: Context) -> str:
    result = await c.sample(
        "Say hi", system_prompt="Be kind", max_tokens=9, model_preferences=["small"]
    )
    return result.text


@mcp.tool
async def create_message(c: Context) -> str:
    message = SamplingMessage(role="user", content=TextContent(type="text", text="Say hi"))
    result = await c.session.create_message([message], max_tokens=9, system_prompt="Be kind")
    return f"{result.model} {result.content.text}"


@mcp.tool
async def roots(c: Context) -> str:
    found = await c.list_roots()
    same = await c.session.list_roots()
    return " ".join(str(root.uri) for root in [*found, *same.roots])


@mcp.tool
async def link(c: Context) -> str:
    return (await c.elicit_url("Log in", "https://example.org/", "e")).action
"""
SAID = {"role": "assistant", "content": {"type": "text", "text": "hi"}, "model": "m"}
MESSAGE = {"role": "user", "content": {"type": "text", "text": "Say hi"}}


def ask_host(
    path: str, name: str, answers: list[Any], capabilities: Any
) -> tuple[list[Any], dict[str, Any]]:
    """Return the requests of the tool *name* to a host that answers with *answers*, and its
    result.
    """
    asked: list[Any] = []
    results: list[Any] = []
    ended = threading.Event()
    pending = iter(answers)

    def write(message: bytes) -> None:
        received = json.loads(message)
        if "method" in received:
            asked.append((received["method"], received.get("params")))
            reply = {"jsonrpc": "2.0", "id": received["id"], **next(pending)}
            threading.Thread(target=send, args=[reply]).start()
        elif received["id"] == 2:
            results.append(received["result"])
            ended.set()

    with Server(load([path])) as server:
        session = server.open_session(write)

        def send(message: Any) -> None:
            session.feed(json.dumps(message).encode() + b"\n")

        declared = {"protocolVersion": "2025-11-25", "capabilities": capabilities}
        send(request("initialize", {**declared, "clientInfo": {}}, id=1))
        send(call(name, id=2))
        assert ended.wait(60)
    return asked, results[0]


@pytest.mark.parametrize(
    ("name", "params", "text"),
    [
        (
            "sample",
            {
                "messages": [MESSAGE],
                "maxTokens": 9,
                "systemPrompt": "Be kind",
                "modelPreferences": {"hints": [{"name": "small"}]},
            },
            "hi",
        ),
        (
            "create_message",
            {"messages": [MESSAGE], "maxTokens": 9, "systemPrompt": "Be kind"},
            "m hi",
        ),
    ],
)
def test_sample_comes_from_the_model_of_the_host(
    write: Callable[..., str], name: str, params: Any, text: str
) -> None:
    asked, result = ask_host(write(ASKING), name, [{"result": SAID}], {"sampling": {}})

    assert asked == [("sampling/createMessage", params)]
    assert result["content"] == [{"type": "text", "text": text}]


def test_folders_and_links_are_those_of_the_host(write: Callable[..., str]) -> None:
    path = write(ASKING)
    answer = {"result": {"roots": [{"uri": "file:///a", "name": "A"}]}}
    url = {"result": {"action": "decline"}}
    _, roots = ask_host(path, "roots", [answer, answer], {"roots": {}})
    asked, link = ask_host(path, "link", [url], {"elicitation": {"url": {}}})

    assert roots["content"][0]["text"] == "file:///a file:///a"
    assert link["content"][0]["text"] == "decline"
    (_, params) = asked[0]
    assert params["url"] == "https://example.org/"


@pytest.mark.parametrize("name", ["sample", "create_message", "roots", "link"])
def test_host_without_the_capability_gets_a_failed_call_that_says_so(
    write: Callable[..., str], name: str
) -> None:
    asked, result = ask_host(write(ASKING), name, [], {})

    assert asked == []
    assert result["isError"] is True
    assert "does not support" in result["content"][0]["text"]


def test_option_of_sample_that_would_change_its_result_is_refused(
    write: Callable[..., str],
) -> None:
    text = ASKING.replace("max_tokens=9, model", "result_type=int, model")
    _, result = ask_host(write(text), "sample", [], {"sampling": {}})

    assert "does not support ctx.sample(result_type=...)" in result["content"][0]["text"]


@pytest.mark.parametrize(
    ("start", "is_promise"),
    [
        ("from mcp.server.fastmcp import FastMCP", False),
        ("from mcp.server import MCPServer as FastMCP", False),
        ("from fastmcp import FastMCP", True),
    ],
)
def test_hint_dict_promises_an_object_in_fastmcp_and_nothing_in_the_sdk(
    write: Callable[..., str], start: str, is_promise: bool
) -> None:
    path = write(f"{start}\nmcp = FastMCP('x')\n@mcp.tool()\ndef f() -> dict: return []\n")
    (tool,) = load([path])

    assert ("outputSchema" in tool.describe()) is is_promise
    assert is_promise or tool.call({}, RecordingCaller())["isError"] is False
