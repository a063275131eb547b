"""Plain functions of this process as tools: the same as if a server served them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from toolwire_agent import Toolbox
from toolwire_agent.agent import Agent
from toolwire_agent.models import ScriptedModel
from toolwire_client import connect

FUNCTIONS = '''
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Literal

@dataclass
class Point:
    x: int
    y: int = 0

def search(query: str, limit: Annotated[int, "How many to find."] = 10, kind: Literal["a", "b"] = "a") -> list[str]:
    """Search for things.

    Args:
        query: What to look for.
    """
    return [query] * limit

def hinted_by_its_docstring(a, b=1, *, c=[1]):
    """Tell what it was given.

    Args:
        a (int): the first
        b (int, optional): the second
        c (list of int): the others
    """
    return [a, b, c]

def open_to_more(a: int, /, **more: int) -> dict[str, int]:
    return {"a": a, **more}

def without_a_hint_for_null(point: Point = None, day: date = None) -> Point | None:
    return point

async def later(day: date) -> int:
    """Tell the year."""
    return day.year

def counted(up_to: int):
    yield from map(str, range(up_to))

def broken(a: int) -> int:
    return "no number"
'''  # noqa: E501
NAMES = [
    line.split("(")[0].split()[-1]
    for line in FUNCTIONS.splitlines()
    if line.startswith(("def ", "async def "))
]
CALLS: list[tuple[str, dict[str, Any]]] = [
    ("search", {"query": "x", "limit": 2}),
    ("search", {"query": 5, "limits": 2}),
    ("hinted_by_its_docstring", {"a": 1}),
    ("hinted_by_its_docstring", {"a": "x"}),
    ("open_to_more", {"a": 1, "b": 2}),
    ("open_to_more", {"a": 1, "b": "x"}),
    ("without_a_hint_for_null", {"point": {"x": 1}}),
    ("without_a_hint_for_null", {"point": None}),
    ("later", {"day": "2026-07-28"}),
    ("counted", {"up_to": 3}),
    ("broken", {"a": "x"}),
]


@pytest.fixture
def functions() -> list[Any]:
    module = ModuleType("functions")
    sys.modules["functions"] = module
    exec(FUNCTIONS, vars(module))
    yield [vars(module)[name] for name in NAMES]  # type: ignore[misc]
    del sys.modules["functions"]


@pytest.mark.process
def test_function_is_described_and_called_as_by_a_server(
    functions: list[Any], tmp_path: Path
) -> None:
    (tmp_path / "functions.py").write_text(FUNCTIONS, encoding="utf-8")
    served = connect([sys.executable, "-m", "toolwire", "serve", str(tmp_path / "functions.py")])
    toolbox = Toolbox(functions)
    with served as client:
        assert [tool.raw for tool in toolbox.list_tools()] == [
            tool.raw for tool in client.list_tools()
        ]
        for name, arguments in CALLS:
            here, there = toolbox.call_tool(name, arguments), client.call_tool(name, arguments)
            assert (here.is_error, here.text, here.structured) == (
                there.is_error,
                there.text,
                there.structured,
            )
        for caller in (toolbox, client):
            wrong = caller.call_tool("broken", {"a": 1})
            assert (
                wrong.is_error,
                wrong.text.endswith('result: "no number" is not an integer'),
            ) == (True, True)


def test_a_model_sees_what_a_function_returns(functions: list[Any]) -> None:
    model = ScriptedModel([{"thought": "", "type": "FINAL_ANSWER", "ok": True, "result": "done"}])
    Agent(model, functions).answer_sync("?")
    system, *_ = model.asked[0].messages
    assert "How many to find." in system["content"]
    assert "-> list[str]:" in system["content"]
    assert "-> dict[str, int]:" in system["content"]


def of_nothing_known(x: Unknown) -> None: ...  # type: ignore[name-defined]  # noqa: F821
def of_anything(*x: int) -> None: ...


@pytest.mark.parametrize(
    ("function", "remedy"), [(of_nothing_known, "import the name"), (of_anything, "list[…]")]
)
def test_function_without_a_schema_is_refused_with_advice(function: Any, remedy: str) -> None:
    with pytest.raises(TypeError, match=function.__name__) as caught:
        Toolbox([function])
    assert remedy in str(caught.value)


@pytest.mark.process
def test_a_client_of_servers_runs_without_the_packages_of_tools_and_of_our_server(
    tmp_path: Path,
) -> None:
    (tmp_path / "tools.py").write_text(
        "def add(a: int, b: int) -> int:\n    return a + b\n", encoding="utf-8"
    )
    script = (
        "import sys\nsys.modules['toolwire'] = sys.modules['toolwire_tools'] = None\n"
        "from toolwire_client import connect\nfrom toolwire_agent import Agent, Toolbox\nfrom"
        " toolwire_agent.models import ArithmeticModel\nwith connect([sys.executable, '-m',"
        f" 'toolwire', 'serve', {str(tmp_path / 'tools.py')!r}]) as client:\n   "
        " print(Toolbox([client]).call_tool('add', {'a': 1, 'b': 2}).text)\n    agent ="
        " Agent(ArithmeticModel(), client, approval=lambda action: True)\n   "
        " print(agent.answer_sync('What is 2 + 3?').result)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "3\n2 + 3 = 5\n", "")
