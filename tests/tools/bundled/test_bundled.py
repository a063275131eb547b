"""What is true of all bundled tools: known by name, served without their libraries, ready or told
why not.
"""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import toolwire_bundled
from support.server_process import Process, call, request, running
from support.tools_page import DOCS, MADE_WITH, make_pages
from toolwire.cli import main as cli
from toolwire.errors import LoadError
from toolwire.loading import bundled_targets as bundled
from toolwire.loading.targets import Target, load, parse
from toolwire_bundled import BUNDLED, find_class
from toolwire_bundled import availability as readiness
from toolwire_bundled import requirements as needs
from toolwire_compat.lagent import (
    ActionExecutor,
    ActionValidCode,
    BaseAction,
    get_tool,
    get_tool_cls,
    list_tools,
    metaclass,
    registry,
)
from toolwire_compat.lagent.serving import list_action_tools
from toolwire_dialects.lint.audit import audit
from toolwire_schemas.install_command import install_command
from toolwire_tools import NotOffered, ToolError, find_tools

ROOT = Path(__file__).parents[3]
OF_EXECUTORS = ("InvalidAction", "NoAction")

# Whether it only reads, whether it reaches beyond this machine, and whether it may overwrite or
# delete. A host asks before calls that do not only read; True where a caller decides what is run.
ANNOTATIONS: dict[str, tuple[bool, bool, bool]] = {
    "FinishAction": (True, False, False),
    "ArxivSearch_get_arxiv_article_information": (True, True, False),
    "BINGMap_get_distance": (True, True, False),
    "BINGMap_get_route": (True, True, False),
    "BINGMap_get_coordinates": (True, True, False),
    "BINGMap_search_nearby": (True, True, False),
    "BingBrowser_search": (True, True, False),
    "BingBrowser_select": (True, True, False),
    "BingBrowser_open_url": (True, True, False),
    "Calculator": (True, False, False),
    "Clock_now": (True, False, False),
    "Clock_convert": (True, False, False),
    "Clock_add": (True, False, False),
    "Clock_difference": (True, False, False),
    "Clock_zones": (True, False, False),
    "CodeExecutor": (False, True, True),
    "Files_list": (True, False, False),
    "Files_read": (True, False, False),
    "Files_search": (True, False, False),
    "Files_write": (False, False, True),
    "Files_edit": (False, False, True),
    "GoogleScholar_search_google_scholar": (True, True, False),
    "GoogleScholar_get_author_information": (True, True, False),
    "GoogleScholar_get_citation_format": (True, True, False),
    "GoogleScholar_get_author_id": (True, True, False),
    "GoogleSearch": (True, True, False),
    "IPythonInterpreter": (False, True, True),
    "PPT_create_file": (False, False, False),
    "PPT_add_first_page": (False, False, False),
    "PPT_add_text_page": (False, False, False),
    "PPT_add_text_image_page": (False, False, False),
    "PPT_submit_file": (False, False, True),
    "PythonInterpreter": (False, True, True),
    "WebBrowser_search": (True, True, False),
    "WebBrowser_select": (True, True, False),
    "WebBrowser_open_url": (True, True, False),
    "WebSearch_search": (True, True, False),
    "WebSearch_select": (True, True, False),
    "WebSearch_open_url": (True, True, False),
}

_EVERY_ACTIONS = ("description", "parser", "enable")

# What Lagent's actions take, in its order: those of 0.5, with `enable`, which only 0.2.4 has.
LAGENTS_SETTINGS = {
    "ArxivSearch": ("top_k_results", "max_query_len", "doc_content_chars_max", *_EVERY_ACTIONS),
    "BINGMap": ("key", *_EVERY_ACTIONS),
    "BingBrowser": ("searcher_type", "timeout", "black_list", "topk", *_EVERY_ACTIONS),
    "GoogleScholar": ("api_key", *_EVERY_ACTIONS),
    "GoogleSearch": ("api_key", "timeout", "search_type", *_EVERY_ACTIONS),
    "IPythonInterpreter": ("timeout", "user_data_dir", "work_dir", *_EVERY_ACTIONS),
    "PPT": ("theme_mapping", *_EVERY_ACTIONS),
    "PythonInterpreter": (
        "answer_symbol",
        "answer_expr",
        "answer_from_stdout",
        "timeout",
        *_EVERY_ACTIONS,
    ),
    "WebBrowser": ("searcher_type", "timeout", "black_list", "topk", *_EVERY_ACTIONS),
}


def made(name: str) -> Any:
    return find_class(name)(**MADE_WITH.get(name, {}))


def every_tool() -> list[Any]:
    return [tool for name in BUNDLED for tool in find_tools(made(name))]


def run(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "toolwire", *arguments]
    return subprocess.run(
        command, capture_output=True, encoding="utf-8", timeout=60, check=False, **options
    )


@contextmanager
def serving(*targets: str, **options: Any) -> Iterator[Process]:
    with running(
        "-m", "toolwire", "serve", "--log-level", "warning", *targets, **options
    ) as process:
        yield process


# --- the table, and the classes behind it ---


@pytest.mark.parametrize("name", BUNDLED)
def test_each_is_the_action_that_the_table_says(name: str) -> None:
    cls, entry = find_class(name), BUNDLED[name]

    assert issubclass(cls, BaseAction)
    assert cls.__name__ == name
    assert inspect.getdoc(cls)
    assert entry.summary.endswith(".")
    assert not entry.extra or entry.extra in needs.EXTRAS
    assert set(entry.settings) <= set(inspect.signature(cls).parameters)
    assert set(entry.programs) <= set(readiness._PROGRAMS)


@pytest.mark.parametrize("name", BUNDLED)
def test_each_can_be_made_without_settings_and_with_what_every_action_takes(name: str) -> None:
    from toolwire_compat.lagent import TupleParser

    assert made(name).name == name
    action = (
        find_class(name)(parser=TupleParser, enable=False)
        if name != "FinishAction"
        else find_class(name)()
    )
    assert name == "FinishAction" or not action.enable


@pytest.mark.parametrize("name", LAGENTS_SETTINGS)
def test_settings_that_lagent_does_not_have_are_keyword_only(name: str) -> None:
    parameters = inspect.signature(find_class(name)).parameters.values()

    positional = [each.name for each in parameters if each.kind is not each.KEYWORD_ONLY]
    assert positional == list(LAGENTS_SETTINGS[name])


def test_the_annotations_are_right_so_that_hosts_ask_where_they_should() -> None:
    def hints(tool: Any) -> tuple[bool, bool, bool]:
        told = tool.describe().get("annotations", {})
        # What is not said is what MCP takes it for; a tool that only reads destroys nothing.
        reads = told.get("readOnlyHint", False)
        return (
            reads,
            told.get("openWorldHint", True),
            not reads and told.get("destructiveHint", True),
        )

    assert {tool.name: hints(tool) for tool in every_tool()} == ANNOTATIONS


def test_no_client_or_model_refuses_one_of_them_but_for_the_dot_in_a_name() -> None:
    findings = audit([tool.describe() for tool in every_tool()])

    told = [
        finding
        for finding in findings
        if finding.severity != "note" and "'.'" not in finding.problem
    ]
    assert told == []


def test_every_tool_and_parameter_is_explained() -> None:
    unexplained = []
    for tool in every_tool():
        described = tool.describe()
        assert described["description"], tool.name
        for name, schema in described["inputSchema"]["properties"].items():
            if not schema.get("description"):
                unexplained.append(f"{tool.name}: {name}")
    assert unexplained == []


def test_the_pages_of_the_bundled_tools_are_current() -> None:
    for file, text in make_pages().items():
        assert (DOCS / file).read_text("utf-8") == text, "run: python tests/support/tools_page.py"


def test_each_extra_is_one_of_the_distribution() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ]
    modules = {
        "charset-normalizer": ["charset_normalizer"],
        "python-pptx": ["pptx", "PIL"],
        "pydantic-monty": ["pydantic_monty"],
        "jupyter_client": ["jupyter_client", "zmq"],
    }
    for extra, wanted in needs.EXTRAS.items():
        names = [line.partition(">")[0] for line in extras[extra]]
        assert set(wanted) <= {module for name in names for module in modules.get(name, [name])}


# --- as Lagent's actions ---


def test_they_are_listed_and_had_by_name() -> None:
    assert set(BUNDLED) <= set(list_tools())
    assert dict(list_tools(with_class=True))["Clock"] is find_class("Clock")
    assert type(get_tool("Files", roots=["."])) is find_class("Files")
    executor = ActionExecutor(
        [{"type": "Calculator"}, {"type": "lagent.actions.Clock", "zone": "Asia/Tokyo"}]
    )
    assert (
        executor("Calculator", {"expression": "1/3+1/6"})
        .format_result()
        .startswith('{"result": "1/2"')
    )
    assert '"Asia/Tokyo"' in executor("Clock.now", {}).format_result()


@pytest.mark.process
def test_listing_their_names_imports_none_of_them() -> None:
    code = """
import sys
from toolwire_compat.lagent import list_tools
list_tools()
print(*[name for name in sys.modules if name.startswith("toolwire_bundled.")])
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True
    )

    assert done.stdout.strip() == ""


@pytest.mark.filterwarnings("error")
def test_an_action_of_the_user_with_the_name_of_a_bundled_one_is_the_one_that_is_had(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for known in ({}, {"Clock": find_class("Clock")}):
        classes = {**known}
        for user in (metaclass, registry):
            monkeypatch.setattr(user, "classes", classes)
        own = type(BaseAction)("Clock", (BaseAction,), {"run": lambda self: "mine"})
        assert get_tool_cls("Clock") is own
        assert find_class("Clock") is not own
    metaclass.register(find_class("Clock"))
    assert get_tool_cls("Clock") is own


# --- as the tools of a server ---


@pytest.mark.process
def test_a_misspelt_name_brings_the_closest() -> None:
    assert "did you mean 'Calculator'?" in run("list", "Calculater").stderr


@pytest.mark.usefixtures("own_imports")
def test_the_name_means_the_bundled_tool_whatever_lies_in_the_folder(tmp_path: Path) -> None:
    (tmp_path / "Clock").mkdir()
    (tmp_path / "Clock" / "tools.py").write_text("def other() -> None: ...")
    (tmp_path / "Calculator.py").write_text("def other() -> None: ...")

    assert [tool.name for tool in load(["Calculator"])] == ["Calculator"]
    assert load(["Clock"])[0].name == "Clock_now"
    assert [tool.name for tool in load(["./Clock"])] == ["other"]
    assert parse("Clock:now") == Target("Clock", "now")


def test_one_of_the_tools_can_be_picked() -> None:
    assert [tool.name for tool in load(["Clock:now", "Clock:Clock.zones"])] == [
        "Clock_now",
        "Clock_zones",
    ]
    with pytest.raises(LoadError, match=r"did you mean 'Clock_now'\?"):
        load(["Clock:nov"])


def test_those_that_share_an_object_share_it_however_they_are_named_and_loaded() -> None:
    [create] = load(["PPT:create_file"])
    [submit, again] = load(["PPT:submit_file", "PPT:create_file"])

    assert create.entry.function == again.entry.function
    assert create.entry.function.__self__ is submit.entry.function.__self__
    assert len(load(["PPT:create_file", "PPT"])) == 5


@pytest.mark.parametrize("name", OF_EXECUTORS)
def test_what_executors_answer_with_is_no_bundled_tool(name: str) -> None:
    for target in (name, f"{name[:-1]}x"):
        with pytest.raises(LoadError) as caught:
            load([target])
        assert name not in str(caught.value).removeprefix(f"'{name}' not found")
    assert {*OF_EXECUTORS} & {*BUNDLED, *dir(toolwire_bundled)} == set()
    with pytest.raises(NotOffered):
        list_action_tools(get_tool_cls(name))


@pytest.mark.process
def test_the_end_of_a_conversation_is_a_tool_as_well() -> None:
    answer = find_class("FinishAction")()("done")

    assert (answer.valid, answer.format_result()) == (ActionValidCode.FINISH, "done")
    with serving("FinishAction") as process:
        told = process.ask(call("FinishAction", {"response": "done"}))
    assert told["result"]["content"] == [{"type": "text", "text": "done"}]


@pytest.mark.process
def test_all_of_them_are_served_and_listed_without_their_libraries(tmp_path: Path) -> None:
    """Whatever they need beyond Python is imported when one of them runs."""
    (tmp_path / "spy.py").write_text(SPY)
    with serving(*BUNDLED, "spy.py", "--set", f"Files.roots={tmp_path}", cwd=tmp_path) as process:
        listed = process.ask(request("tools/list"))["result"]["tools"]
        loaded = set(process.ask(call("loaded"))["result"]["structuredContent"]["result"])
    bare = set(run_python("import runpy, sys; print(*sys.modules)").split())
    packages = {name.partition(".")[0] for name in loaded - bare}

    names = {entry["name"] for entry in listed}
    assert names == set(ANNOTATIONS) - {"Files_write", "Files_edit"} | {"loaded"}
    allowed = {
        "orjson",
        "msgspec",
        "docstring_parser",
        "typing_extensions",
        "toolwire",
        "toolwire_tools",
        "toolwire_compat",
        "toolwire_bundled",
        "toolwire_dialects",
        "toolwire_schemas",
    }
    assert {name for name in packages if name not in sys.stdlib_module_names} - allowed - {
        "spy"
    } == set()
    # select is the server's own, for a host whose next request is there at once (polling.py), as it
    # is here.
    assert (loaded - bare) & _too_much() - {"select"} == set()


SPY = "import sys\ndef loaded() -> list[str]:\n    return sorted(sys.modules)\n"


def run_python(code: str, *arguments: str) -> str:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=30, check=True).stdout


def _too_much() -> set[str]:
    """What `tests/server/test_import_budget.py` keeps out of every server."""
    source = (ROOT / "tests" / "server" / "test_import_budget.py").read_text("utf-8")
    found: dict[str, Any] = {}
    start = source.index("TOO_MUCH = ")
    exec(source[start : source.index("}", start) + 1], found)
    return set(found["TOO_MUCH"])


@pytest.mark.process
def test_a_server_of_none_of_them_does_not_know_them(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(SPY)
    with serving("tools.py", cwd=tmp_path) as process:
        process.ask(request("tools/list"))
        loaded = process.ask(call("loaded"))["result"]["structuredContent"]["result"]

    assert [name for name in loaded if "bundled" in name] == []


@pytest.mark.process
def test_calculator_clock_and_files_answer_through_a_server(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("buy tea\n")
    settings = [
        "--set",
        f"Files.roots={tmp_path}",
        "--set",
        "Files.writable=true",
        "--set",
        "Clock.zone=Asia/Tokyo",
    ]
    with serving("Calculator", "Clock", "Files", *settings) as process:
        half = process.ask(call("Calculator", {"expression": "1/3+1/6"}))["result"]
        wrong = process.ask(call("Calculator", {"expression": "2pi"}))["result"]
        tokyo = process.ask(call("Clock_convert", {"time": "2026-07-01T00:00Z"}))["result"]
        read = process.ask(call("Files_read", {"path": "note.txt"}))["result"]
        outside = process.ask(call("Files_read", {"path": "../x"}))["result"]
        found = process.ask(call("Files_search", {"text": "t.a", "regex": True}))["result"]
        written = process.ask(call("Files_write", {"path": "new.txt", "content": "x"}))["result"]
    assert half["structuredContent"] == {"result": "1/2", "decimal": "0.5", "exact": True}
    assert (wrong["isError"], wrong["content"][0]["text"].rpartition(": ")[2]) == (
        True,
        "2>>>pi<<<",
    )
    assert tokyo["structuredContent"]["time"] == "2026-07-01T09:00:00+09:00"
    assert read["content"] == [{"type": "text", "text": "buy tea\n"}]
    assert outside["isError"]
    assert found["structuredContent"]["matches"] == [
        {"path": "note.txt", "line": 1, "text": "buy tea"}
    ]
    assert written["structuredContent"]["bytes"] == 1


@pytest.mark.process
def test_settings_reach_the_processes_of_isolated_tools(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("buy tea\n")
    with serving("Files", "--set", f"Files.roots={tmp_path}", "--isolate") as process:
        read = process.ask(call("Files_read", {"path": "note.txt"}))["result"]
    assert read["content"] == [{"type": "text", "text": "buy tea\n"}]


# --- settings of the command line ---


@pytest.mark.process
def test_list_and_call_take_settings_too(tmp_path: Path) -> None:
    listed = run("list", "Files", "--json", "--set", "Files.writable=yes")
    assert listed.returncode == 2
    assert 'arguments.writable: "yes" is not a boolean' in listed.stderr
    listed = run(
        "list",
        "Files",
        "--json",
        "--set",
        f"Files.roots={tmp_path}",
        "--set",
        "Files.writable=true",
    )
    assert len(json.loads(listed.stdout)) == 5
    called = run("call", "Clock", "Clock_convert", "time=@0", "--set", "Clock.zone=+01:00")
    assert called.returncode == 2  # @0 would be a file


@pytest.mark.process
@pytest.mark.parametrize(
    ("separator", "name"), [(".", "Files.write"), ("_", "Files_edit"), ("_", "Files.edit")]
)
def test_a_call_of_an_api_that_needs_a_setting_names_the_setting(
    tmp_path: Path, separator: str, name: str
) -> None:
    with serving("Files", "--set", f"Files.roots={tmp_path}", "--separator", separator) as process:
        answer = process.ask(call(name, {}))

    assert (
        answer["error"]["message"]
        == f"Unknown tool: {name}; writing needs a setting: --set Files.writable=true on the"
        " command line, Files(writable=True) in Python"
    )
    assert "writing needs a setting" in str(find_class("Files")([tmp_path])({}, "write").errmsg)


@pytest.mark.process
def test_a_call_of_the_only_tool_needs_no_name_and_of_a_toolkit_no_prefix() -> None:
    for words in (
        ["expression=1/3+1/6"],
        ['{"expression": "1/3+1/6"}'],
        ["Calculator", "expression=1/3+1/6"],
    ):
        assert json.loads(run("call", "Calculator", *words).stdout)["result"] == "1/2"
    assert json.loads(run("call", "Clock", "now", "zone=UTC").stdout)["zone"] == "UTC"
    assert "no tool 'mow'. Known: Clock_now" in run("call", "Clock", "mow", "zone=UTC").stderr
    assert "no tool 'zone=UTC'" in run("call", "Clock", "zone=UTC").stderr


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        (
            "Files.rots=x",
            "no parameter 'rots', did you mean 'roots'? Known: roots, writable, max_bytes",
        ),
        ("Files.max_bytes=many", 'arguments.max_bytes: "many" is not an integer'),
        ("Files.max_bytes=0", "max_bytes must be at least 1, not 0"),
        ("Files.roots=/nowhere/at/all", "there is no folder /nowhere/at/all"),
        ("Files.parser=x", "no parameter 'parser'"),
        ("File.roots=x", "no bundled tool 'File', did you mean 'Files'?"),
        ("Clock.zone=UTC", "no bundled tool 'Clock'. Known: Files"),
    ],
)
def test_a_wrong_setting_is_an_error(setting: str, told: str) -> None:
    with pytest.raises(LoadError) as caught:
        load(["Files"], tool_settings=[setting])

    assert told in str(caught.value)


@pytest.mark.parametrize("setting", ["Files", "Files.roots", "roots=x", ".roots=x", "Files.=x"])
def test_a_setting_in_another_form_is_reported(
    setting: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["list", "Files", "--set", setting]) == 2
    assert "--set takes TOOL.PARAMETER=VALUE" in capsys.readouterr().err


def test_a_setting_without_a_bundled_tool_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text("def add() -> None: ...")
    with pytest.raises(LoadError, match="no target is a bundled tool"):
        load([str(tmp_path / "tools.py")], tool_settings=["Files.roots=x"])


@pytest.mark.process
def test_a_question_is_asked_with_tools_as_they_are_set() -> None:
    asking = ["ask", "How much is 2 + 2?", "--model", "arithmetic", "--set", "Clock.zone=Asia/Toky"]
    assert "--set goes with --tools" in run(*asking).stderr
    done = run(*asking, "--tools", "Clock")
    assert (done.returncode, "do you mean Asia/Tokyo?" in done.stderr) == (2, True)


@pytest.mark.process
def test_the_written_command_works_in_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("here\n")
    (tmp_path / "Files").mkdir()
    monkeypatch.chdir(tmp_path)
    written = run(
        "config", "json", "Files", "--set", "Files.roots=notes", "--set", "Files.max_bytes=99"
    )
    entry = json.loads(written.stdout)["mcpServers"]["Files"]

    assert "env" not in entry
    assert entry["args"][-4:] == [
        "--set",
        f"Files.roots={tmp_path / 'notes'}",
        "--set",
        "Files.max_bytes=99",
    ]
    with running(*entry["args"], cwd="/") as process:
        read = process.ask(call("Files_read", {"path": "a.txt"}))["result"]
    assert read["content"] == [{"type": "text", "text": "here\n"}]


def test_lists_of_paths_become_absolute_as_well_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert (
        bundled.make_paths_absolute('Files.roots=["a","/b"]')
        == f'Files.roots=["{tmp_path}/a","/b"]'
    )
    assert bundled.make_paths_absolute("PPT.folder=a") == f"PPT.folder={tmp_path}/a"
    assert bundled.make_paths_absolute("Files.roots=~/a") == f"Files.roots={Path.home()}/a"
    for word in ("Clock.zone=UTC", "PPT.folder=null", "IPythonInterpreter.user_data_dir=ENV"):
        assert bundled.make_paths_absolute(word) == word
    with pytest.raises(LoadError, match="did you mean 'Files'"):
        bundled.make_paths_absolute("File.roots=a")


# --- what they need ---


@pytest.mark.process
def test_the_list_of_bundled_tools_says_what_to_do_for_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("SERPER_API_KEY", raising=False)
    told = {tool["name"]: tool for tool in json.loads(run("list", "--bundled", "--json").stdout)}

    assert list(told) == list(BUNDLED)
    assert told["Calculator"]["ready"]
    assert not told["GoogleSearch"]["ready"]
    assert told["GoogleSearch"]["missing"] == ["set SERPER_API_KEY in the environment"]
    table = run("list", "--bundled").stdout
    assert "Calculates, exactly" in table
    assert "set SERPER_API_KEY" in table
    monkeypatch.setenv("SERPER_API_KEY", "x")
    told = {tool["name"]: tool for tool in json.loads(run("list", "--bundled", "--json").stdout)}
    assert told["GoogleSearch"]["ready"]


def test_an_extra_or_a_program_that_is_missing_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", "")
    told = {tool.name: tool for tool in readiness.check_readiness()}

    assert told["ArxivSearch"].missing == [
        f"install it where Toolwire runs: {install_command('toolwire[web]')}"
    ]
    assert told["PythonInterpreter"].ready
    assert told["PythonInterpreter"].advice[0].startswith("bwrap: ")


@pytest.mark.parametrize(
    "words",
    [["Clock"], ["--as", "markdown"], ["--lint"], ["--set", "Clock.zone=UTC"], ["--", "cat"]],
)
def test_the_list_of_bundled_tools_takes_no_more(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["list", "--bundled", *words]) == 2
    assert "--bundled" in capsys.readouterr().err


@pytest.mark.process
def test_without_extras_a_call_is_an_error_that_says_what_to_install(tmp_path: Path) -> None:
    names = [name for name, entry in BUNDLED.items() if entry.extra]

    told = json.loads(run_python(CALLED_BARE, str(tmp_path), *names))

    assert {
        name: install_command(f"toolwire[{BUNDLED[name].extra}]") in told[name] for name in names
    } == dict.fromkeys(names, True), told


# Calls the first API of each tool, where of all packages there are those alone that Toolwire cannot
# do without.
CALLED_BARE = """
import json, sys

NEEDED = {"toolwire_tools", "toolwire_compat", "toolwire_bundled", "toolwire_dialects"}
NEEDED |= {"toolwire_schemas", "orjson", "msgspec", "docstring_parser", "typing_extensions", "pip"}

class Bare:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in sys.stdlib_module_names | NEEDED:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

from toolwire_compat.lagent import get_tool
from toolwire_tools import find_tools

sys.meta_path.insert(0, Bare())

def told(name):
    action = get_tool(name, **({"api_key": "x"} if name.startswith("Google") else {}))
    tool = find_tools(action)[0]
    given = dict.fromkeys(tool.describe()["inputSchema"]["required"], "https://example.com")
    if name == "PPT":
        given = {"theme": "Default", "abs_location": folder + "/x.pptx"}
    return action(given, tool.name.partition("_")[2] or "run").errmsg

_, folder, *names = sys.argv
print(json.dumps({name: told(name) for name in names}))
"""


def test_a_missing_extra_is_reported_with_the_line_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "httpx2", None)

    with (
        pytest.raises(ToolError, match=r"needs httpx2.*pip install .*'toolwire\[web\]'"),
        needs.import_extra("web"),
    ):
        import httpx2  # noqa: F401


def test_a_fault_inside_of_an_extra_is_not_taken_for_a_missing_one() -> None:
    with pytest.raises(ModuleNotFoundError), needs.import_extra("web"):
        import no_such_module_at_all  # type: ignore[import-not-found]  # noqa: F401


def test_a_missing_key_is_reported_by_the_name_of_its_variable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SERPER_API_KEY", "  ")
    with pytest.raises(ToolError, match="SERPER_API_KEY"):
        needs.read_key("SERPER_API_KEY")
    assert needs.read_key("SERPER_API_KEY", "given") == "given"
    monkeypatch.setenv("SERPER_API_KEY", "from the environment\n")
    assert needs.read_key("SERPER_API_KEY") == "from the environment"


@pytest.mark.parametrize("name", [name for name, entry in BUNDLED.items() if entry.keys])
def test_a_tool_without_its_key_is_served_and_says_so_when_it_is_called(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in BUNDLED[name].keys:
        monkeypatch.delenv(variable, raising=False)
    [tool, *_] = find_tools(made(name))
    given = dict.fromkeys(tool.describe()["inputSchema"].get("required", []), "x")
    api = tool.name.partition("_")[2] or "run"

    assert BUNDLED[name].keys[0] in made(name)(given, api).errmsg
