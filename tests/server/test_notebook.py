"""What people see in a notebook, in a real kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from jupyter_client.manager import start_new_kernel
from support.server_process import PATIENCE_SECONDS

pytestmark = pytest.mark.process


class Notebook:
    """Runs cells in a kernel."""

    def __init__(self, client: Any) -> None:
        self._client = client

    def run(self, cell: str) -> dict[str, str]:
        """Return what the cell shows, by its type; the name and text of an error as `error`."""
        outputs: dict[str, str] = {}

        def collect(message: Any) -> None:
            content = message["content"]
            match message["msg_type"]:
                case "execute_result" | "display_data":
                    outputs.update(content["data"])
                case "error":
                    outputs["error"] = f"{content['ename']}: {content['evalue']}"

        self._client.execute_interactive(cell, timeout=PATIENCE_SECONDS, output_hook=collect)
        return outputs


@pytest.fixture(scope="module")
def kernel() -> Iterator[Notebook]:
    manager, client = start_new_kernel(kernel_name="python3", startup_timeout=PATIENCE_SECONDS)
    try:
        yield Notebook(client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.fixture
def notebook(kernel: Notebook) -> Notebook:
    kernel.run("%reset -f")
    kernel.run("%load_ext toolwire")
    return kernel


ADD = '%%tool\ndef add(a: int, b: int) -> int:\n    "Add <two> numbers."\n    return a + b\n'
CALL = "server.call('add', {'a': 2, 'b': 40})['structuredContent']"


def test_functions_of_a_cell_become_tools_of_a_server(notebook: Notebook) -> None:
    shown = notebook.run(ADD + "def _half(a):\n    return a / 2\n")

    assert "add(a, b)" in shown["text/html"]
    assert "Add &lt;two&gt; numbers." in shown["text/html"]
    assert "_half" not in shown["text/html"]
    assert notebook.run(CALL)["text/plain"] == "{'result': 42}"


def test_a_cell_that_runs_again_replaces_its_functions(notebook: Notebook) -> None:
    notebook.run(ADD)
    notebook.run(ADD.replace("a + b", "a - b"))

    assert notebook.run(CALL)["text/plain"] == "{'result': -38}"
    assert notebook.run("len(server.tools)")["text/plain"] == "1"


@pytest.mark.parametrize(
    ("before", "cell", "error"),
    [
        ("", "%%tool\nx = 1", "the cell defines no function"),
        ("", "%%tool two words\ndef f(): pass", "the name of a variable, not 'two words'"),
        ("server = 3", "%%tool\ndef f(): pass", "server is no server: name another variable"),
        ("", "%%tool\n1 / 0", "ZeroDivisionError"),
        ("import toolwire", "toolwire.serve([len])", "a notebook has no standard input to serve"),
    ],
)
def test_a_cell_that_cannot_be_served_says_why(
    notebook: Notebook, before: str, cell: str, error: str
) -> None:
    notebook.run(before)

    assert error in notebook.run(cell)["error"]
    assert notebook.run("1 + 1")["text/plain"] == "2"


def test_a_client_a_tool_and_a_result_are_shown_as_html(notebook: Notebook) -> None:
    notebook.run(ADD)
    notebook.run("from toolwire_client import connect\nclient = connect(server).__enter__()")

    assert "notebook" in notebook.run("client")["text/html"]
    tool = notebook.run("client.list_tools()[0]")["text/html"]
    assert "As clients receive it" in tool
    result = notebook.run("client.call_tool('add', {'a': '<b>', 'b': 1})")["text/html"]
    assert "The tool reports an error." in result
    assert "<b>" not in result
    notebook.run("client.close()")


def test_a_run_is_shown_and_a_running_loop_gets_a_hint(notebook: Notebook) -> None:
    notebook.run(
        "from toolwire_agent.agent import Agent, Approvals\n"
        "from toolwire_agent.models import ArithmeticModel"
    )
    notebook.run(ADD)
    notebook.run("from toolwire_client import connect\nclient = connect(server).__enter__()")
    notebook.run("agent = Agent(ArithmeticModel(), client, approval=Approvals(allow=['add']))")

    assert "write `await agent.answer(...)`" in notebook.run("agent.answer_sync('2 + 40')")["error"]
    shown = notebook.run("await agent.answer('How much is 2 + 40?')")["text/html"]
    assert "42" in shown
    assert "answered" in shown
