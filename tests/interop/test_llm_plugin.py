"""The plug-in of examples/llm_plugin, installed from its wheel next to the real `llm`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from interop import peers

ROOT = Path(__file__).parents[2]
TOOLS = '''
from toolwire_tools import Image

def add(a: int, b: int) -> int:
    """Add two whole numbers."""
    return a + b

def draw() -> Image:
    """Draw a dot."""
    return Image(b"<svg/>", media_type="image/svg+xml")
'''
# A model that makes the calls in standard input, and answers with their outputs.
CHAIN = """
import json, sys
import llm
from llm.plugins import load_plugins, pm

load_plugins()
calls = json.load(sys.stdin)

class Scripted(llm.Model):
    model_id = "scripted"
    supports_tools = True

    def execute(self, prompt, stream, response, conversation, **options):
        if prompt.tool_results:
            found = [
                [each.output, [media.type for media in each.attachments]]
                for each in prompt.tool_results
            ]
            yield json.dumps(found)
            return
        for name, arguments in calls:
            response.add_tool_call(llm.ToolCall(name=name, arguments=arguments))

toolboxes = {}
pm.hook.register_tools(register=lambda tool, name=None: toolboxes.update({tool.__name__: tool}))
print(Scripted().chain("?", tools=[toolboxes["Toolwire"](sys.argv[1])]).text())
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the plug-in as its wheel installs it."""
    folder = tmp_path_factory.mktemp("plug-in")
    sources = shutil.copytree(ROOT / "examples" / "llm_plugin", folder / "sources")
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*build, "-w", str(folder), str(sources)], check=True, timeout=300)
    [wheel] = folder.glob("*.whl")
    shutil.unpack_archive(wheel, folder / "site", "zip")
    return folder / "site"


def test_tools_of_a_server_are_called_by_a_model_of_llm(site: Path, tmp_path: Path) -> None:
    python = peers.python_of("llm")
    [others] = python.parents[1].glob("lib/python*/site-packages")
    tools = tmp_path / "tools.py"
    tools.write_text(TOOLS)
    calls = [("add", {"a": 2, "b": 40}), ("add", {"a": "x", "b": 1}), ("draw", {})]
    done = subprocess.run(
        [sys.executable, "-c", CHAIN, f"{sys.executable} -m toolwire serve {tools}"],
        input=json.dumps(calls),
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={
            **os.environ,
            "PYTHONPATH": f"{others}{os.pathsep}{site}",
            "LLM_USER_PATH": str(tmp_path / "llm"),
        },
        timeout=peers.PATIENCE_SECONDS,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    added, refused, drawn = json.loads(done.stdout)
    assert added == ["42", []]
    assert refused[0] == 'Error: arguments.a: "x" is not an integer'
    assert drawn[1] == ["image/svg+xml"]
