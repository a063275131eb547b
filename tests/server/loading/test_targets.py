from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from toolwire.errors import LoadError
from toolwire.loading.targets import Target, load, parse

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


pytestmark = pytest.mark.usefixtures("own_imports")


def names(*targets: str, **options: Any) -> list[str]:
    return [tool.name for tool in load(targets, **options)]


ADD = "def add(a: int, b: int) -> int:\n    return a + b\n"
TWO = ADD + "def mul(a: int, b: int) -> int:\n    return a * b\n"
KIT = """
from toolwire import tool_api
class Search:
    @tool_api
    def find(self, text: str) -> str: return text
    @tool_api
    def count(self) -> int: return 0
"""


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("tools.py", Target("tools.py")),
        ("tools.py:add", Target("tools.py", "add")),
        ("tools.py:Search.find", Target("tools.py", "Search.find")),
        ("package.module", Target("package.module")),
        ("package.module:add", Target("package.module", "add")),
        (r"C:\x.py", Target(r"C:\x.py")),
        (r"C:\x.py:add", Target(r"C:\x.py", "add")),
        ("C:/x.py:add", Target("C:/x.py", "add")),
        ("tools.py:", Target("tools.py:")),
        ("tools.py:a-b", Target("tools.py:a-b")),
        ("werkzeug.py:größe", Target("werkzeug.py", "größe")),
    ],
)
def test_a_target_is_taken_apart(text: str, target: Target) -> None:
    assert parse(text) == target


def test_a_file_whose_name_holds_a_colon_is_that_file(write: Callable[[str, str], str]) -> None:
    write("odd.py:add", "")
    assert parse("odd.py:add") == Target("odd.py:add")


def test_a_file_offers_its_functions_or_the_one_that_is_named(
    write: Callable[[str, str], str],
) -> None:
    file = write("two.py", TWO)
    assert names(file) == ["add", "mul"]
    assert names(f"{file}:mul") == ["mul"]
    assert names(f"{file}:mul", f"{file}:add") == ["mul", "add"]


def test_a_toolkit_or_one_of_its_tools_can_be_named(write: Callable[[str, str], str]) -> None:
    file = write("kit.py", KIT)
    assert names(f"{file}:Search") == ["Search_find", "Search_count"]
    assert names(f"{file}:Search.count") == names(f"{file}:Search_count") == ["Search_count"]


def test_a_folder_offers_its_files_in_order_but_not_those_that_begin_with_an_underscore(
    write: Callable[[str, str], str],
) -> None:
    write("folder/b.py", "def b() -> None: ...")
    write("folder/a.py", "def a() -> None: ...")
    write("folder/empty.py", "import os")
    write("folder/_hidden.py", "raise RuntimeError")
    write("folder/notes.txt", "")
    assert names("folder") == ["a", "b"]
    assert names("folder", "folder/a.py", "folder/a.py:a") == ["a", "b"]


def test_a_module_is_found_in_the_working_folder(write: Callable[[str, str], str]) -> None:
    write("shop/__init__.py", "")
    write("shop/prices.py", "from . import tax\n" + ADD)
    write("shop/tax.py", "")
    assert names("shop.prices") == ["add"]
    assert names("shop.prices:add") == ["add"]


def test_a_file_of_a_package_may_import_its_neighbours_relatively(
    write: Callable[[str, str], str],
) -> None:
    write("goods/__init__.py", "")
    write("goods/prices.py", "from .tax import rate\ndef price() -> float: return rate")
    write("goods/tax.py", "rate = 0.2")
    assert names("goods/prices.py") == ["price"]


def test_a_file_may_import_its_neighbours_and_they_it(write: Callable[[str, str], str]) -> None:
    write("one/tools_a.py", "import tools_b\nmark = object()\ndef a() -> None: ...")
    write("one/tools_b.py", "def back():\n    import tools_a\n    return tools_a.mark\n")
    load(["one/tools_a.py"])
    assert sys.modules["tools_b"].back() is sys.modules["tools_a"].mark


def test_a_file_named_like_a_standard_module_shadows_nothing(
    write: Callable[[str, str], str],
) -> None:
    text = "import random, colorsys\ndef dice() -> int: return random.randint(1, 6)"
    file = write("random.py", text)
    write("colorsys.py", "raise RuntimeError('the wrong colorsys')")
    (tool,) = load([file])
    assert 1 <= tool.entry.function() <= 6
    import random

    assert hasattr(random, "randint")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Return a function that installs a package, whose `where` is "installed", from a folder if one
    is given. Another package, `junk`, belongs to no distribution of that name.
    """
    folder = tmp_path / "lib" / "site-packages"
    folder.mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(folder), *sys.path])

    def install(name: str, source: str = "") -> None:
        information = folder / f"{name}-1.0.dist-info"
        information.mkdir()
        (information / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
        )
        if source:
            origin = {"url": f"file://{source}", "dir_info": {}}
            (information / "direct_url.json").write_text(json.dumps(origin))
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text('where = "installed"')
        (folder / "junk").mkdir(exist_ok=True)
        (folder / "junk" / "__init__.py").write_text('where = "installed by mistake"')

    return install


@pytest.mark.parametrize(
    ("name", "source", "where"),
    [("goods", "", "installed"), ("goods", "/project", "here"), ("junk_maker", "", "here")],
)
@pytest.mark.parametrize("ending", [".py", "/__init__.py"])
def test_modules_next_to_a_file_shadow_no_packages_of_others(
    write: Callable[[str, str], str],
    installed: Callable[[str, str], None],
    capfd: pytest.CaptureFixture[str],
    name: str,
    source: str,
    where: str,
    ending: str,
) -> None:
    installed(name, source)
    write(f"goods{ending}", "where = 'here'")
    write("junk.py", "where = 'here'")
    write("helper.py", "where = 'here'")
    file = write(
        "shop.py",
        "import goods, helper, junk\ndef find(): return [goods.where, helper.where]",
    )
    (tool,) = load([file])
    assert tool.entry.function() == [where, "here"]
    assert ("goods in " in capfd.readouterr().err) is (where == "installed")


def test_a_package_that_is_served_comes_before_the_installed_one(
    write: Callable[[str, str], str], installed: Callable[[str, str], None]
) -> None:
    installed("goods", "")
    write("goods/__init__.py", "where = 'here'")
    file = write("goods/prices.py", "import goods\ndef find() -> str: return goods.where")
    (tool,) = load([file])
    assert tool.entry.function() == "here"


def test_packages_of_toolwire_are_not_shadowed_in_a_checkout_either(
    write: Callable[[str, str], str], capfd: pytest.CaptureFixture[str]
) -> None:
    write("toolwire_compat/__init__.py", "")
    file = write("tools.py", "def find() -> None: ...")

    load([file])

    assert sys.path[-1] == os.path.dirname(os.path.realpath(file))
    assert "toolwire_compat in " in capfd.readouterr().err


@pytest.mark.process
def test_a_folder_named_anyio_breaks_no_async_tool(write: Callable[[str, str], str]) -> None:
    write("anyio/__init__.py", "")
    file = write("tools.py", "import anyio\nasync def wait() -> None: await anyio.sleep(0)")
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "wait"}}
    done = subprocess.run(
        [sys.executable, "-m", "toolwire", "serve", file],
        input=json.dumps(call) + "\n",
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    assert json.loads(done.stdout)["result"]["structuredContent"] == {"result": None}


def test_a_file_named_like_an_installed_package_shadows_nothing(
    write: Callable[[str, str], str], installed: Callable[[str, str], None]
) -> None:
    installed("goods", "")
    file = write("goods.py", "import goods\ndef find() -> str: return goods.where")
    (tool,) = load([file])
    assert tool.entry.function() == "installed"


def test_two_files_of_one_name_are_two_modules(write: Callable[[str, str], str]) -> None:
    write("x/same.py", "def x() -> int: return 1")
    write("y/same.py", "def y() -> int: return 2")
    assert [tool.entry.function() for tool in load(["x/same.py", "y/same.py"])] == [1, 2]


def test_dataclasses_pickles_and_forward_references_work(write: Callable[[str, str], str]) -> None:
    text = """
from __future__ import annotations
from dataclasses import dataclass
def make(size: int) -> Box: return Box(size)
@dataclass
class Box:
    size: int
"""
    for file in (write("boxes.py", text), write("select.py", text.replace("make", "make_other"))):
        (tool,) = load([file])
        box = tool.entry.function(3)
        assert pickle.loads(pickle.dumps(box)) == box


def test_patterns_choose_tools(write: Callable[[str, str], str]) -> None:
    file = write("many.py", "def a_x(): ...\ndef a_y(): ...\ndef b_x(): ...")
    assert names(file, include=["a_*"]) == ["a_x", "a_y"]
    assert names(file, exclude=["*_x"]) == ["a_y"]
    assert names(file, include=["a_*", "b_*"], exclude=["a_x"]) == ["a_y", "b_x"]


def test_tags_choose_tools_and_are_listed_for_clients(write: Callable[[str, str], str]) -> None:
    tagged = (
        "from toolwire import tool_api\n@tool_api(tags=['billing', 'a'], meta={'own': 1})\ndef"
        " pay(): ...\n"
    )
    file = write("tagged.py", tagged + "@tool_api\ndef tag_billing(): ...")
    assert names(file, include=["tag:billing"]) == names(file, include=["tag:b*"]) == ["pay"]
    assert names(file, exclude=["tag:a"]) == ["tag_billing"]
    assert names(file, exclude=["*billing"]) == ["pay"]
    tools = {tool.name: tool.describe().get("_meta") for tool in load([file])}
    assert tools == {"pay": {"toolwire/tags": ["a", "billing"], "own": 1}, "tag_billing": None}


@pytest.mark.parametrize("pattern", ["Search.f*", "Search_f*"])
def test_a_pattern_may_spell_a_toolkit_s_tool_in_either_way(
    write: Callable[[str, str], str], pattern: str
) -> None:
    file = write("kit.py", KIT)
    assert names(f"{file}:Search", include=[pattern]) == ["Search_find"]
    assert names(f"{file}:Search", exclude=[pattern]) == ["Search_count"]


@pytest.mark.parametrize(
    ("targets", "options", "told"),
    [
        (["tols.py"], {}, "did you mean 'tools.py'"),
        (["nowhere/tools.py"], {}, "no folder nowhere"),
        (["tools.py:ad"], {}, "did you mean 'add'"),
        (["tools.txt"], {}, "must end in .py"),
        (["bare"], {}, "no Python files"),
        (["folder:add"], {}, "folder/FILE.py:add"),
        (["tools"], {"include": ["x*"]}, "available: add"),
        (["tagged.py"], {"include": ["tag:biling"]}, "available: pay, tag:billing"),
        (["tols"], {}, "did you mean 'tools'"),
        (["my-tools"], {}, "my-tools.py"),
        (["empty.py"], {}, "offers no tools"),
        (["tools.py", "other.py"], {}, "in tools.py and in other.py"),
        (["exits.py"], {}, "__main__"),
        (["no.such.module"], {}, "not found: no such file, module or tool"),
        (
            ["python3 tools.py"],
            {},
            "goes after --: `toolwire list -- python3 tools.py`. If tools.py is a file of tools",
        ),
        (["sh -c 'exec python3'"], {}, "goes after --: `toolwire list -- sh -c 'exec python3'`"),
        (["/bin/sh server.py"], {}, "is a command; the command of a server goes after --"),
        (["sh"], {}, "goes after --: `toolwire list -- sh ...`"),
        (
            ["no-such-program-of-ours tools.py"],
            {},
            "has no file 'no-such-program-of-ours tools.py'",
        ),
        (["'unclosed tools.py"], {}, "has no file"),
    ],
)
def test_a_mistake_is_reported_in_one_sentence_with_its_remedy(
    write: Callable[[str, str], str], targets: list[str], options: dict[str, Any], told: str
) -> None:
    for file in ("tools.py", "other.py", "folder/x.py", "my-tools.py", "tools.txt"):
        write(file, ADD)
    write(
        "tagged.py", "from toolwire import tool_api\n@tool_api(tags=['billing'])\ndef pay(): ...\n"
    )
    write("empty.py", "import os")
    write("bare/readme.md", "")
    write("exits.py", "import sys\nsys.exit('bye')")
    with pytest.raises(LoadError) as caught:
        load(targets, **options)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_are_proposed_in_alphabetical_order(write: Callable[[str, str], str]) -> None:
    names = sorted(f"tools_{number}" for number in range(9, 30))
    for name in reversed(names):
        write(f"{name}.py", ADD)
    with pytest.raises(LoadError, match=", ".join(names)):
        load(["no.such.module"])


@pytest.mark.parametrize(
    ("text", "shown", "told"),
    [
        ("import os\n\n1 / 0\n", "ZeroDivisionError", "line 3"),
        ("def f(:\n", "SyntaxError", "line 1"),
        ("import a_package_nobody_has\n", "pip install a_package_nobody_has", "line 1"),
        ("from lagent.actions import BaseAction\n", "from toolwire_tools", "line 1"),
        ("answer = input('?')\n", "standard input", "line 1"),
        ("from .helpers import x\n", "__init__.py", "line 1"),
        ("raise Exception\n", "Exception", "line 1"),
        ("class Stop(BaseException): ...\nraise Stop\n", "Stop", "line 2"),
    ],
)
def test_a_failing_import_shows_the_user_s_own_lines_only(
    write: Callable[[str, str], str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    text: str,
    shown: str,
    told: str,
) -> None:
    with open(os.devnull) as nothing:
        monkeypatch.setattr("sys.stdin", nothing)
        with pytest.raises(LoadError) as caught:
            load([write("broken.py", text)])
    trace = capsys.readouterr().err
    assert shown in str(caught.value)
    assert told in trace
    assert "importlib" not in trace
    assert "imports.py" not in trace


def test_the_rest_is_served_if_that_is_wanted(
    write: Callable[[str, str], str], capfd: pytest.CaptureFixture[str]
) -> None:
    write("mixed/broken.py", "1 / 0")
    write("mixed/good.py", ADD)
    write("mixed/unfit.py", "from toolwire import tool_api\n@tool_api\ndef f(*args): ...")
    assert names("mixed", "nowhere.py", keep_going=True) == ["add"]
    told = capfd.readouterr().err
    assert "ZeroDivisionError" in told
    assert "nowhere.py" in told
    assert "*args" in told
    with pytest.raises(
        LoadError, match=r"ZeroDivisionError.*; name the files to serve, or let `toolwire serve --k"
    ):
        load(["mixed"])


def test_where_nothing_would_be_left_going_on_is_not_advised(
    write: Callable[[str, str], str],
) -> None:
    write("only/broken.py", "1 / 0")
    with pytest.raises(LoadError, match=r"\(traceback above\)\Z"):
        load(["only"])


def test_a_toolkit_that_cannot_be_made_shows_why(
    write: Callable[[str, str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    write(
        "kit.py",
        KIT.replace(
            "class Search:\n", "class Search:\n    def __init__(self): self.key = {}['KEY']\n"
        ),
    )
    with pytest.raises(LoadError, match="KeyError"):
        load(["kit.py"])
    trace = capsys.readouterr().err
    assert "{}['KEY']" in trace
    assert "toolkit.py" not in trace


def test_functions_that_cannot_be_served_are_named(
    write: Callable[[str, str], str], capfd: pytest.CaptureFixture[str]
) -> None:
    write("some.py", ADD + "def many(*args): ...")
    assert names("some.py") == ["add"]
    assert "many is not served" in capfd.readouterr().err


def test_installed_tools_are_known_by_their_name(
    write: Callable[[str, str], str], tmp_path: Path
) -> None:
    write("site/installed_tools.py", KIT + "\n@tool_api\ndef alone() -> None: ...")
    write(
        "site/some_tools-1.0.dist-info/METADATA",
        "Metadata-Version: 2.1\nName: some-tools\nVersion: 1.0\n",
    )
    write(
        "site/some_tools-1.0.dist-info/entry_points.txt",
        "[toolwire.tools]\nsearching = installed_tools:Search\n"
        "all-of-it = installed_tools\ntime = installed_tools:alone\n",
    )
    sys.path.append(str(tmp_path / "site"))
    assert names("searching") == ["Search_find", "Search_count"]
    assert set(names("all-of-it")) == {"Search_find", "Search_count", "alone"}
    assert names("all-of-it:alone") == ["alone"]
    assert names("time") == ["alone"]
    with pytest.raises(LoadError, match="did you mean 'searching'"):
        load(["serching"])


FASTMCP = """
class FastMCP:
    name = "demo"
    def tool(self, function): return function
class Client: ...
"""


@pytest.fixture
def fastmcp(
    write: Callable[[str, str], str], monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, str], str]:
    """As `write`, where what matters of FastMCP is installed: the modules in which its classes are
    defined.
    """
    write(
        "fastmcp/__init__.py",
        "from .server.server import FastMCP\nfrom .client.client import Client\n",
    )
    for place in ("fastmcp/client/client.py", "fastmcp/server/server.py", "mcp/server/fastmcp.py"):
        write(place, FASTMCP)
    write(
        "fastmcp/tools/tool.py",
        "class FunctionTool:\n    def __init__(self, f): self.name = f.__name__\n",
    )
    for package in [name for name in sys.modules if name.partition(".")[0] in ("fastmcp", "mcp")]:
        monkeypatch.delitem(sys.modules, package)
    return write


@pytest.mark.parametrize(
    ("source", "name"),
    [
        (
            "from fastmcp import FastMCP\nmcp = FastMCP()\n@mcp.tool\ndef add() -> int: return 1\n",
            "",
        ),
        (
            "from fastmcp import FastMCP\nmcp = FastMCP()\n@mcp.tool\ndef add() -> int: return 1\n",
            ":mcp",
        ),
        (
            "from fastmcp import FastMCP\nmcp = FastMCP()\n@mcp.tool\ndef add() -> int: return 1\n",
            ":add",
        ),
        (
            "from mcp.server.fastmcp import FastMCP\nmcp = FastMCP()\ndef add() -> int: return 1\n",
            "",
        ),
        (
            (
                "from fastmcp.tools.tool import FunctionTool\n@FunctionTool\ndef add() -> int:"
                " return 1\n"
            ),
            "",
        ),
        (
            (
                "from fastmcp.tools.tool import FunctionTool\n@FunctionTool\ndef add() -> int:"
                " return 1\n"
            ),
            ":add",
        ),
    ],
)
def test_a_file_made_for_fastmcp_is_refused_in_one_sentence(
    fastmcp: Callable[[str, str], str], source: str, name: str
) -> None:
    path = fastmcp("made_for_fastmcp.py", source)

    with pytest.raises(LoadError) as refusal:
        load([path + name])

    assert (
        str(refusal.value)
        == f"{path}{name} is made for FastMCP; Toolwire does not serve objects of that package;"
        " add --adopt to run it, unchanged, on Toolwire's own FastMCP (that of"
        " toolwire_compat.fastmcp)"
    )


def test_what_is_decorated_for_toolwire_is_served_next_to_a_fastmcp_server(
    fastmcp: Callable[[str, str], str],
) -> None:
    path = fastmcp(
        "for_both.py",
        "from fastmcp import FastMCP\nfrom toolwire import tool_api\nmcp = FastMCP()\n"
        "@tool_api\ndef add() -> int: return 1\n@mcp.tool\ndef sub() -> int: return 1\n",
    )

    assert names(path) == ["add"]
    assert names(f"{path}:add") == ["add"]


def test_a_file_that_only_uses_a_client_of_fastmcp_is_served(
    fastmcp: Callable[[str, str], str],
) -> None:
    path = fastmcp(
        "asks.py", "from fastmcp import Client\nclient = Client()\ndef add() -> int: return 1\n"
    )

    assert names(path) == ["add"]


@pytest.mark.parametrize(
    ("decorator", "here", "elsewhere"),
    [
        (
            "resource('notes://all')",
            "resource 'notes://all': it is defined twice: ",
            (
                "the resource 'notes://all' is defined in {} and in {}; give one another URI, or"
                " serve only one"
            ),
        ),
        (
            "prompt(name='plan')",
            "prompt 'plan': it is defined twice: ",
            (
                "the prompt 'plan' is defined in {} and in {}; rename one, with @prompt(name=...),"
                " or serve only one"
            ),
        ),
        (
            "tool_api(name='plan')",
            "tool 'plan': it is defined twice: ",
            (
                "the tool 'plan' is defined in {} and in {}; "
                "rename one, with @tool_api(name=...) or in its YAML, or serve only one"
            ),
        ),
    ],
)
def test_what_is_defined_twice_is_called_what_it_is(
    tmp_path: Path, decorator: str, here: str, elsewhere: str
) -> None:
    head = "from toolwire import prompt, resource, tool_api\n"
    functions = [
        f"@{decorator}\ndef {name}() -> str:\n    return ''\n" for name in ("first", "second")
    ]
    both, one, other = (tmp_path / name for name in ("both.py", "one.py", "other.py"))
    both.write_text(head + "".join(functions))
    one.write_text(head + functions[0])
    other.write_text(head + functions[1])
    with pytest.raises(LoadError) as in_one_file:
        load([str(both)])
    with pytest.raises(LoadError) as in_two_files:
        load([str(one), str(other)])
    assert str(in_one_file.value).startswith(here)
    assert str(in_two_files.value).startswith(elsewhere.format(one, other))
