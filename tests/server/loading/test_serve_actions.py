"""Actions, executors and environments served by a real process, beside plain functions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.server_process import Process, call, request, running, served

pytestmark = pytest.mark.process

SOURCE = '''
import asyncio, base64, os
from abc import abstractmethod
from toolwire import tool_api
from toolwire_compat.lagent import ActionExecutor, ActionReturn, ActionStatusCode, BaseAction, Hook, NoAction
from toolwire_compat.groot import Env

PNG = base64.b64encode(bytes.fromhex("89504e470d0a1a0a")).decode()

class Bold(BaseAction):
    """Styles text."""

    def run(self, text: str) -> str:
        """Make text bold.

        Args:
            text: input text
        """
        if not text:
            raise ValueError("nothing to style")
        return "**" + text + "**"

class Maps(BaseAction):
    """Knows places."""

    def __init__(self):
        super().__init__()
        self.asked = []

    @tool_api(explode_return=True)
    def distance(self, start: str, end: str) -> dict:
        """Tell how far it is.

        Returns:
            dict: distance
                - distance (str): in km
        """
        self.asked.append(end)
        if end == "Atlantis":
            return ActionReturn(errmsg="it has sunk", state=ActionStatusCode.HTTP_ERROR)
        return {"distance": 3.2}

    @tool_api
    def plot(self) -> ActionReturn:
        """Draw a map."""
        return ActionReturn(result=[{"type": "text", "content": "Here."}, {"type": "image", "content": PNG}])

    @tool_api
    async def history(self) -> list[str]:
        """What was asked for."""
        await asyncio.sleep(0)
        return self.asked

    @tool_api(runs_in="process")
    def where(self) -> int:
        """The process it runs in."""
        return os.getpid()

class Held(BaseAction):
    def run(self, text: str) -> str:
        return text

class Censoring(Hook):
    def before_action(self, executor, message, session_id=0):
        message.content = {**message.content, "parameters": {"text": "..."}}

class Abstract(BaseAction):
    @abstractmethod
    def run(self) -> str: ...

def search(text: str) -> str:
    """Search."""
    return text

@tool_api
def add(a: int, b: int) -> int:
    """Add."""
    return a + b

off = Bold({"name": "Off", "parameters": []}, enable=False)
bold = Bold()
described = BaseAction({"name": "described", "parameters": []})
no_action = NoAction()
executor = ActionExecutor([Held()], hooks=[Censoring()])
env = Env([search, bold])
'''  # noqa: E501
NAMES = [
    "add",
    "Bold",
    "Held",
    "Maps_distance",
    "Maps_history",
    "Maps_plot",
    "Maps_where",
    "search",
]


def result(process: Process, name: str, **arguments: Any) -> dict[str, Any]:
    answer: dict[str, Any] = process.ask(call(name, arguments))["result"]
    return answer


def text(told: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": told}], "isError": False, **more}


def error(told: str) -> dict[str, Any]:
    return text(told) | {"isError": True}


def test_a_file_of_actions_is_listed_next_to_functions_and_what_is_left_out_is_reported(
    tmp_path: Path,
) -> None:
    with served(tmp_path, SOURCE) as process:
        tools = {
            tool["name"]: tool for tool in process.ask(request("tools/list"))["result"]["tools"]
        }
        process.hang_up()

        assert sorted(tools, key=str.lower) == NAMES
        assert tools["Bold"] == {
            "name": "Bold",
            "description": "Make text bold.",
            "inputSchema": {
                "type": "object",
                "properties": {"text": {"type": "string", "description": "input text"}},
                "required": ["text"],
                "additionalProperties": False,
            },
        }
        assert tools["Maps_distance"]["outputSchema"] == {
            "type": "object",
            "properties": {"distance": {"description": "in km"}},
        }
        told = process.stderr()
        for name, reason in (
            ("off", "it is not enabled"),
            ("described", "nothing runs it"),
            ("no_action", "it is not enabled"),
            ("Abstract", "the class is abstract"),
        ):
            assert f"{name} is not served: {reason}" in told
        assert told.count("is not served") == 4


def test_actions_answer_as_other_tools_do(tmp_path: Path) -> None:
    with served(tmp_path, SOURCE) as process:
        assert result(process, "Bold", text="hi") == text("**hi**")
        assert result(process, "Bold", text=5) == error("arguments.text: 5 is not a string")
        assert result(process, "Bold", txt="hi")["isError"]
        assert result(process, "Bold", text="") == error("ValueError: nothing to style")
        assert result(process, "add", a=1, b=2)["structuredContent"] == {"result": 3}
        assert result(process, "search", text="hi") == text("hi")


LATER = """
import asyncio, functools
from anyio import to_thread
from toolwire_compat.lagent import AsyncActionMixin, BaseAction
from toolwire_tools import tool_api

def asyncify(function):
    @functools.wraps(function)
    async def wrapper(*args, **kwargs):
        return await to_thread.run_sync(functools.partial(function, *args, **kwargs))
    return wrapper

class Search(BaseAction):
    @tool_api
    def find(self, query: str) -> dict:
        return {"found": query}

class AsyncSearch(AsyncActionMixin, Search):
    @tool_api
    @asyncify
    def find(self, query: str) -> dict:
        return super().find(query)

def blocking(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return asyncio.run(function(*args, **kwargs))
    return wrapper

@tool_api
@blocking
async def twice(number: int) -> int:
    await asyncio.sleep(0)
    return 2 * number
"""


def test_asynchronous_actions_of_lagent_and_functions_made_synchronous_are_served(
    tmp_path: Path,
) -> None:
    with served(tmp_path, LATER) as process:
        assert result(process, "AsyncSearch_find", query="tea")["structuredContent"] == {
            "found": "tea"
        }
        assert result(process, "twice", number=21)["structuredContent"] == {"result": 42}


def test_what_an_action_return_says_becomes_data_an_error_or_an_image(tmp_path: Path) -> None:
    with served(tmp_path, SOURCE) as process:
        assert result(process, "Maps_distance", start="a", end="b") == text(
            '{"distance":3.2}', structuredContent={"distance": 3.2}
        )
        assert result(process, "Maps_distance", start="a", end="Atlantis") == error("it has sunk")
        assert result(process, "Maps_plot") == {
            "content": [
                {"type": "text", "text": "Here."},
                {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
            ],
            "isError": False,
        }
        assert result(process, "Maps_history")["structuredContent"] == {"result": ["b", "Atlantis"]}


def test_the_hooks_of_a_served_executor_see_every_call(tmp_path: Path) -> None:
    with served(tmp_path, SOURCE) as process:
        assert result(process, "Held", text="damn") == text("...")


def test_an_api_can_run_in_a_process_of_its_own(tmp_path: Path) -> None:
    with served(tmp_path, SOURCE) as process:
        where = result(process, "Maps_where")["structuredContent"]["result"]
        assert where != process.popen.pid


def test_everything_can_run_in_processes_of_their_own(tmp_path: Path) -> None:
    with served(tmp_path, SOURCE, "--isolate") as process:
        assert result(process, "Bold", text="hi") == text("**hi**")
        assert result(process, "Held", text="damn") == text("...")
        assert result(process, "Maps_distance", start="a", end="Atlantis") == error("it has sunk")


@pytest.mark.parametrize("served_thing", ["executor", "env", "bold", "Maps"])
def test_a_script_can_serve_them_in_processes_of_their_own(
    tmp_path: Path, served_thing: str
) -> None:
    script = (
        SOURCE
        + f"\nif __name__ == '__main__':\n    import toolwire\n    toolwire.serve([{served_thing}],"
        " isolate=True)\n"
    )
    file = tmp_path / "script.py"
    file.write_text(script, encoding="utf-8")
    with running(str(file)) as process:
        tool, *_ = process.ask(request("tools/list"))["result"]["tools"]
        arguments = dict.fromkeys(tool["inputSchema"]["properties"], "b")
        assert result(process, tool["name"], **arguments)["isError"] is False


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("bold", ["Bold"]),
        ("Bold", ["Bold"]),
        ("Maps", ["Maps_distance", "Maps_plot", "Maps_history", "Maps_where"]),
        ("Maps_plot", ["Maps_plot"]),
        ("executor", ["Held"]),
        ("env", ["search", "Bold"]),
    ],
)
def test_one_thing_of_a_file_can_be_served(tmp_path: Path, name: str, names: list[str]) -> None:
    file = tmp_path / "several.py"
    file.write_text(SOURCE, encoding="utf-8")
    with running("-m", "toolwire", "serve", f"{file}:{name}") as process:
        tools = process.ask(request("tools/list"))["result"]["tools"]
        assert [tool["name"] for tool in tools] == names


@pytest.mark.parametrize(
    ("name", "words"),
    [("off", "it is not enabled"), ("described", "nothing runs it"), ("Abstract", "is abstract")],
)
def test_one_thing_that_is_not_to_be_served_is_refused_with_the_reason(
    tmp_path: Path, name: str, words: str
) -> None:
    file = tmp_path / "several.py"
    file.write_text(SOURCE, encoding="utf-8")
    with running("-m", "toolwire", "serve", f"{file}:{name}") as process:
        assert process.wait() != 0
        assert words in process.stderr()


def test_plain_functions_are_served_without_anything_of_actions(tmp_path: Path) -> None:
    source = "import sys\ndef loaded() -> list[str]:\n    return sorted(sys.modules)\n"
    with served(tmp_path, source) as process:
        loaded = set(result(process, "loaded")["structuredContent"]["result"])
    everything = subprocess.run(
        [
            sys.executable,
            "-c",
            (
                "import sys, toolwire_compat.groot.env, toolwire_compat.lagent.executor;"
                " print(*sys.modules)"
            ),
        ],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    ).stdout.split()
    ours = {name for name in everything if name.startswith(("toolwire_tools.", "toolwire_compat."))}
    assert {
        "toolwire_compat.lagent.base",
        "toolwire_compat.groot.env",
        "toolwire_compat.lagent.parsers",
    } <= ours
    assert {
        name for name in loaded if name.startswith("toolwire_compat.") or name in _ONLY_FOR_ACTIONS
    } == set()


_ONLY_FOR_ACTIONS = {
    f"toolwire_tools.{name}"
    for name in (
        "api",
        "builtin_actions",
        "env",
        "executor",
        "hooks",
        "messages",
        "model_text",
        "parsers",
    )
}


def test_actions_are_known_by_name_to_the_file_that_is_served(tmp_path: Path) -> None:
    source = (
        SOURCE
        + "\nfrom toolwire_compat.lagent import get_tool, list_tools\n"
        + "__tools__ = [get_tool('Maps')]\n"
    )
    with served(tmp_path, source) as process:
        tools = process.ask(request("tools/list"))["result"]["tools"]
        assert tools[0]["name"] == "Maps_distance"
