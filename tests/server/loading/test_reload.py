"""`--reload`: edits show, the connection stays, broken edits change nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.server_process import MODERN, Process, call, request, running, wait_until

pytestmark = pytest.mark.process

TOOLS = '''
import os, threading
from helper import WORD

def word() -> str:
    """The word."""
    return WORD

def wait(path: str) -> str:
    """Wait for the file, then say the word this was begun with."""
    open(path + ".started", "w").close()
    while not os.path.exists(path):
        threading.Event().wait(0.005)
    return WORD
'''


def write(file: Path, text: str) -> None:
    """Replace a file as careful editors do: a reader sees the old text or the new one."""
    beside = file.with_suffix(".new")
    beside.write_text(text, encoding="utf-8")
    os.replace(beside, file)


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Process]:
    write(tmp_path / "helper.py", "WORD = 'old'\n")
    write(tmp_path / "my_tools.py", TOOLS)
    with running("-m", "toolwire", "serve", str(tmp_path / "my_tools.py"), "--reload") as process:
        greeted = process.ask(request("initialize", {"protocolVersion": "2025-11-25"}, id=0))
        assert greeted["id"] == 0
        assert process.ask(request("tools/list", id=0))["id"] == 0  # the file is loaded
        yield process


def ask_word(process: Process) -> Any:
    answer = process.ask(call("word"))
    return answer["result"]["content"][0]["text"]


def until_stderr_says(process: Process, text: str) -> None:
    wait_until(lambda: text in b"".join(process._stderr).decode())


def test_an_edit_of_the_tools_shows_and_the_client_is_notified(
    process: Process, tmp_path: Path
) -> None:
    assert ask_word(process) == "old"

    write(tmp_path / "my_tools.py", TOOLS + '\ndef more() -> int:\n    """More."""\n    return 1\n')

    assert process.receive() == {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    names = [tool["name"] for tool in process.ask(request("tools/list"))["result"]["tools"]]
    assert names == ["word", "wait", "more"]


LISTS = '''
from toolwire import prompt, resource

@resource("notes://first")
def note() -> str:
    """A note."""
    return "old"

@prompt
def greet() -> str:
    """A greeting."""
    return "Hello"
'''


@pytest.fixture
def lists(tmp_path: Path) -> Iterator[Process]:
    write(tmp_path / "my_tools.py", LISTS)
    with running("-m", "toolwire", "serve", str(tmp_path / "my_tools.py"), "--reload") as process:
        yield process


@pytest.mark.parametrize(
    ("old", "new", "changed", "method"),
    [
        ("A note", "Another note", "resources", "resources/list"),
        ("notes://first", "notes://second", "resources", "resources/list"),
        (
            'first")\ndef note(',
            '{name}")\ndef note(name: str',
            "resources",
            "resources/templates/list",
        ),
        ("A greeting", "Another greeting", "prompts", "prompts/list"),
        ("greet(", "greet(name: str", "prompts", "prompts/list"),
    ],
)
def test_an_edit_of_a_resource_or_prompt_shows_and_only_its_list_is_news(
    lists: Process, tmp_path: Path, old: str, new: str, changed: str, method: str
) -> None:
    lists.ask(request("initialize", {"protocolVersion": "2025-11-25"}, id=0))
    before = lists.ask(request(method))

    write(tmp_path / "my_tools.py", LISTS.replace(old, new))

    assert lists.receive() == {"jsonrpc": "2.0", "method": f"notifications/{changed}/list_changed"}
    assert lists.ask(request(method)) != before  # and so no other notification came first
    assert lists.hang_up() == []


def test_an_edit_of_what_a_resource_and_a_prompt_return_shows_and_is_no_news(
    lists: Process, tmp_path: Path
) -> None:
    lists.ask(request("initialize", {"protocolVersion": "2025-11-25"}, id=0))

    write(tmp_path / "my_tools.py", LISTS.replace('"old"', '"new"').replace("Hello", "Good day"))
    until_stderr_says(lists, "my_tools.py changed; serving 1 resource, 1 prompt")

    [content] = lists.ask(request("resources/read", {"uri": "notes://first"}))["result"]["contents"]
    [message] = lists.ask(request("prompts/get", {"name": "greet"}))["result"]["messages"]
    assert (content["text"], message["content"]["text"]) == ("new", "Good day")


def test_a_modern_client_that_subscribed_to_prompts_receives_only_their_changes(
    lists: Process, tmp_path: Path
) -> None:
    wanted = {"promptsListChanged": True}
    granted = lists.ask(request("subscriptions/listen", {"notifications": wanted, "_meta": MODERN}))
    assert granted["params"]["notifications"] == wanted

    write(
        tmp_path / "my_tools.py",
        LISTS.replace("A note", "Another note").replace("A greeting", "Another greeting"),
    )

    assert lists.receive()["method"] == "notifications/prompts/list_changed"
    [greet] = lists.ask(request("prompts/list", {"_meta": MODERN}, id=2))["result"]["prompts"]
    assert greet["description"] == "Another greeting."


def test_an_edit_of_a_module_that_the_tools_import_shows_and_is_no_news(
    process: Process, tmp_path: Path
) -> None:
    assert ask_word(process) == "old"

    write(tmp_path / "helper.py", "WORD = 'new'\n")
    until_stderr_says(process, "helper.py changed; serving 2 tools")

    assert ask_word(process) == "new"


def test_a_call_under_way_finishes_on_the_old_code(process: Process, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    process.send(call("wait", {"path": str(gate)}, id="begun before"))
    wait_until((tmp_path / "gate.started").exists)

    write(tmp_path / "helper.py", "WORD = 'new'\n")
    until_stderr_says(process, "helper.py changed")
    assert ask_word(process) == "new"
    gate.touch()

    answer = process.receive()
    assert (answer["id"], answer["result"]["content"][0]["text"]) == ("begun before", "old")


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("def word(:\n", "SyntaxError"),
        ("raise ZeroDivisionError('at import')\n", "ZeroDivisionError: at import"),
        ("from missing import nothing\n", "ModuleNotFoundError"),
        ("def word(*anything): ...\n", "*anything"),
        ("import sys\nsys.exit(3)\n", "exit status 3"),
        ("raise KeyboardInterrupt('at import')\n", "at import"),
    ],
)
def test_a_broken_edit_keeps_the_old_tools_and_says_why(
    process: Process, tmp_path: Path, source: str, reason: str
) -> None:
    write(tmp_path / "my_tools.py", source)
    until_stderr_says(process, "the old tools are still served")

    assert ask_word(process) == "old"
    assert reason in b"".join(process._stderr).decode()

    write(tmp_path / "my_tools.py", TOOLS.replace("return WORD", "return WORD.upper()"))
    until_stderr_says(process, "my_tools.py changed; serving 2 tools")
    assert ask_word(process) == "OLD"


def test_a_new_file_in_a_folder_that_is_served_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "tools"
    folder.mkdir()
    write(folder / "one.py", "def one() -> int:\n    'One.'\n    return 1\n")
    with running("-m", "toolwire", "serve", str(folder), "--reload") as process:
        assert process.ask(call("one"))["result"]["structuredContent"] == {"result": 1}

        write(folder / "two.py", "def two() -> int:\n    'Two.'\n    return 2\n")
        until_stderr_says(process, "serving 2 tools")

        assert process.ask(call("two"))["result"]["structuredContent"] == {"result": 2}
        assert process.hang_up() == []
        assert process.wait() == 0


def release(folder: Path, word: str) -> Path:
    """A folder with the tools and a module that they import, all of the same size and time whatever
    *word* is.
    """
    folder.mkdir()
    write(folder / "helper.py", f"WORD = {word!r}\n")
    write(folder / "my_tools.py", TOOLS)
    for file in folder.iterdir():
        os.utime(file, (1, 1))
    return folder


def switch(link: Path, target: Path) -> None:
    """Let *link* lead to *target*, in one step."""
    beside = link.with_name(f"{link.name}.new")
    beside.symlink_to(target)
    os.replace(beside, link)


@pytest.mark.parametrize("target", ["current/my_tools.py", "current", "tools.py"])
@pytest.mark.parametrize("isolate", [[], ["--isolate"]], ids=["threads", "processes"])
def test_a_link_that_is_switched_is_followed_with_all_that_is_imported(
    tmp_path: Path, target: str, isolate: list[str]
) -> None:
    old, new = release(tmp_path / "release-1", "old"), release(tmp_path / "release-2", "new")
    switch(tmp_path / "current", old)
    switch(tmp_path / "tools.py", old / "my_tools.py")
    with running(
        "-m", "toolwire", "serve", str(tmp_path / target), "--reload", *isolate
    ) as process:
        assert ask_word(process) == "old"

        switch(tmp_path / "current", new)
        switch(tmp_path / "tools.py", new / "my_tools.py")
        until_stderr_says(process, "changed; serving")
        assert ask_word(process) == "new"

        switch(tmp_path / "current", old)
        switch(tmp_path / "tools.py", old / "my_tools.py")
        wait_until(lambda: b"".join(process._stderr).count(b"changed; serving") == 2)
        assert ask_word(process) == "old"


def test_what_toolwire_imports_late_is_not_the_users_source(tmp_path: Path) -> None:
    write(tmp_path / "helper.py", "WORD = 'old'\n")
    write(tmp_path / "my_tools.py", TOOLS)
    with running(
        "-m", "toolwire", "serve", str(tmp_path / "my_tools.py"), "--reload", "--isolate"
    ) as process:
        assert ask_word(process) == "old"

        write(tmp_path / "helper.py", "WORD = 'newer'\n")
        until_stderr_says(process, "helper.py changed; serving")

        assert ask_word(process) == "newer"
        process.hang_up()
        assert process.stderr() == "toolwire: helper.py changed; serving 2 tools\n"


@pytest.mark.parametrize("target", ["tools/my_tools.py", "tools"])
def test_a_folder_that_is_replaced_by_another_is_followed(tmp_path: Path, target: str) -> None:
    release(tmp_path / "tools", "old")
    release(tmp_path / "other", "new")
    with running("-m", "toolwire", "serve", str(tmp_path / target), "--reload") as process:
        assert ask_word(process) == "old"

        (tmp_path / "tools").rename(tmp_path / "gone")
        (tmp_path / "other").rename(tmp_path / "tools")
        until_stderr_says(process, "changed; serving")
        assert ask_word(process) == "new"

        write(tmp_path / "tools" / "helper.py", "WORD = 'newest'\n")
        until_stderr_says(process, "helper.py changed; serving")
        assert ask_word(process) == "newest"


def test_a_file_that_comes_back_while_its_absence_fails_is_loaded(tmp_path: Path) -> None:
    missing, gate = tmp_path / "missing", tmp_path / "gate"
    noticing = f"""
import os, time
try:
    import helper
except ImportError:
    open({str(missing)!r}, "w").close()
    while not os.path.exists({str(gate)!r}):
        time.sleep(0.005)
    raise
"""
    write(tmp_path / "helper.py", "WORD = 'old'\n")
    write(tmp_path / "my_tools.py", noticing + TOOLS)
    with running("-m", "toolwire", "serve", str(tmp_path / "my_tools.py"), "--reload") as process:
        assert ask_word(process) == "old"

        (tmp_path / "helper.py").unlink()
        wait_until(missing.exists)
        write(tmp_path / "helper.py", "WORD = 'new'\n")
        gate.touch()
        until_stderr_says(process, "helper.py changed, but the old tools are still served")
        until_stderr_says(process, "helper.py changed; serving 2 tools")
        assert ask_word(process) == "new"


def test_an_import_that_hangs_is_reported_and_the_old_tools_go_on(tmp_path: Path) -> None:
    write(
        tmp_path / "helper.py",
        "import toolwire.loading.reload as r\nr._HANGING_SECONDS = 0.1\nWORD = 'old'\n",
    )
    write(tmp_path / "my_tools.py", TOOLS)
    with running("-m", "toolwire", "serve", str(tmp_path / "my_tools.py"), "--reload") as process:
        assert ask_word(process) == "old"

        gate = tmp_path / "gate"
        hanging = (
            f"import os, time\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.005)\nWORD ="
            " 'new'\n"
        )
        write(tmp_path / "helper.py", hanging)
        until_stderr_says(process, "helper.py changed, and importing it takes long")
        assert ask_word(process) == "old"

        gate.touch()
        until_stderr_says(process, "helper.py changed; serving 2 tools")
        assert ask_word(process) == "new"


def test_a_process_never_runs_another_version_than_the_server_has_loaded(tmp_path: Path) -> None:
    write(tmp_path / "helper.py", "WORD = 'old'\n")
    write(tmp_path / "my_tools.py", TOOLS)
    gate = tmp_path / "gate"
    with running(
        "-m", "toolwire", "serve", str(tmp_path / "my_tools.py"), "--reload", "--isolate"
    ) as process:
        process.ask(request("tools/list"))
        wait_in_server = (
            f"while 'toolwire.worker' not in sys.modules and not os.path.exists({str(gate)!r}):"
            " pass\n"
        )
        reached = f"open({str(tmp_path / 'reached')!r}, 'w').close()\n"
        write(tmp_path / "helper.py", f"import os, sys\n{reached}{wait_in_server}WORD = 'new'\n")
        wait_until((tmp_path / "reached").exists)

        assert (
            ask_word(process)
            == "word: its source has changed, and this server has not loaded it yet; call it again."
        )

        gate.touch()
        until_stderr_says(process, "helper.py changed; serving 2 tools")
        assert ask_word(process) == "new"


PROGRAM = """
import sys
from mcp.server.fastmcp import FastMCP
from helper import WORD

mcp = FastMCP("words")

@mcp.tool()
def words() -> list[str]:
    return [WORD, {own!r}, *sys.argv[1:]]

mcp.run()
"""


@pytest.mark.parametrize("kind", ["module", "file"])
def test_a_program_is_run_again_when_it_or_what_it_imports_changes(
    tmp_path: Path, kind: str
) -> None:
    write(tmp_path / "helper.py", "WORD = 'old'\n")
    program = tmp_path / "words_server.py"
    write(program, PROGRAM.format(own="first"))
    target = (str(program),) if kind == "file" else ("-m", "words_server")
    command = ("-m", "toolwire", "serve", "--reload", "--adopt", *target, "--", "--unit", "km")
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}

    def ask_words(process: Process) -> list[str]:
        words: list[str] = process.ask(call("words"))["result"]["structuredContent"]["result"]
        return words

    with running(*command, env=env) as process:
        assert ask_words(process) == ["old", "first", "--unit", "km"]
        write(tmp_path / "helper.py", "WORD = 'new'\n")
        wait_until(lambda: ask_words(process) == ["new", "first", "--unit", "km"])
        write(program, "import a_module_that_is_not_there\n")
        until_stderr_says(process, "still served: ")
        assert ask_words(process) == ["new", "first", "--unit", "km"]
        write(program, PROGRAM.format(own="second"))
        wait_until(lambda: ask_words(process) == ["new", "second", "--unit", "km"])


def test_that_nothing_can_be_followed_is_said() -> None:
    with running("-m", "toolwire", "serve", "--reload", "Calculator") as process:
        assert process.ask(request("tools/list"))["result"]["tools"]
        until_stderr_says(
            process, "--reload has nothing to follow: all that is served is installed"
        )
