"""Where names are imported from: one place for each system, and elsewhere an error that tells
it.
"""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from toolwire_compat import lagent
from toolwire_schemas.misplaced_names import _PLACES

MIGRATING = (Path(__file__).parents[2] / "MIGRATING.md").read_text("utf-8")

# What files that use Lagent or Groot begin with.
OF_LAGENT = """\
from lagent import ActionExecutor, BaseAction, tool_api
from lagent import list_tools, get_tool
from lagent.actions import ArxivSearch, BINGMap, GoogleScholar, GoogleSearch, IPythonInterpreter, PPT, PythonInterpreter
from lagent.actions import AsyncActionExecutor, FinishAction, InvalidAction, NoAction, WebBrowser
from lagent.actions.action_executor import ActionExecutor
from lagent.actions.base_action import AsyncActionMixin, BaseAction, tool_api
from lagent.actions.bing_browser import BingBrowser
from lagent.actions.builtin_actions import (
    FinishAction,
    NoAction,
)
from lagent.actions.parser import BaseParser, JsonParser, ParseError, TupleParser
from lagent.hooks import ActionPreprocessor, Hook, InternLMActionProcessor, MessageLogger, RemovableHandle
from lagent.llms import GPTAPI
from lagent.llms.openai import GPTAPI
from lagent.schema import ActionReturn, ActionStatusCode, ActionValidCode, AgentMessage, FunctionCall, ModelStatusCode
def later():
	from lagent.schema import AgentStatusCode
    # from lagent.schema import Commented
""".replace("    # ", "\t# ")  # noqa: E501


@pytest.mark.process
def test_the_command_of_the_page_leads_to_imports_that_work(tmp_path: Path) -> None:
    assert re.search(r"^\$ toolwire migrate \S+\.py --write$", MIGRATING, re.MULTILINE)
    file = tmp_path / "imports.py"
    file.write_text(OF_LAGENT + "later()\n", "utf-8")
    command = [sys.executable, "-m", "toolwire", "migrate", str(file), "--write"]
    subprocess.run(command, check=True, timeout=60)
    assert "lagent." not in file.read_text("utf-8").replace("toolwire_compat.lagent", "").replace(
        "# from lagent.", ""
    )
    subprocess.run([sys.executable, "-W", "error", str(file)], check=True, timeout=60)


@pytest.mark.process
def test_groots_names_come_from_one_place() -> None:
    script = (
        "from toolwire_agent.groot import BaseAction, BaseProtocol, CodeExecutor, DoubaoAPI,"
        " DoubaoProtocol, Env\nfrom toolwire_agent.groot import PythonInterpreter, ReAct, State,"
        " WebSearch, tool_api\n"
        "import toolwire_compat.groot\nassert Env is toolwire_compat.groot.Env\n"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True, timeout=60)


def test_every_name_is_where_the_table_says() -> None:
    for name, place in _PLACES.items():
        assert hasattr(importlib.import_module(place), name), f"{place}.{name}"
    for name in lagent.__all__:
        assert getattr(lagent, name) is not None


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("from toolwire_tools import ReAct", "from toolwire_agent.groot import ReAct"),
        ("from toolwire_client import ReAct", "from toolwire_agent.groot import ReAct"),
        ("from toolwire_client import BaseAction", "from toolwire_compat.lagent import BaseAction"),
        ("from toolwire import Env", "from toolwire_compat.groot import Env"),
        ("from toolwire_tools import serve", "from toolwire import serve"),
        ("from toolwire_agent.groot import GPTAPI", "from toolwire_agent.models import GPTAPI"),
        ("from toolwire_compat.lagent import GPTAPI", "from toolwire_agent.models import GPTAPI"),
        ("from toolwire_compat.lagent import AsyncPPT", "use PPT"),
        (
            "from toolwire_compat.lagent import Calculator",
            "from toolwire_bundled import Calculator",
        ),
        ("from toolwire_compat.lagent import IPythonInteractive", "use IPythonInterpreter"),
        ("import toolwire_tools; toolwire_tools.ReAct", "from toolwire_agent.groot import ReAct"),
    ],
)
def test_a_name_of_another_package_is_an_error_with_its_place(statement: str, told: str) -> None:
    with pytest.raises(ImportError, match=re.escape(told)):
        exec(statement, {})


@pytest.mark.parametrize(
    "module",
    ["toolwire", "toolwire_tools", "toolwire_client", "toolwire_agent", "toolwire_agent.groot"],
)
def test_a_name_that_is_nowhere_is_no_attribute(module: str) -> None:
    assert not hasattr(importlib.import_module(module), "Nonsense")
