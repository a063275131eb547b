"""Our packages as libraries: importing one changes no other module of the program that does."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

COMPARE = """
import json, sys, textwrap
{first}
before = dict(sys.modules)

import {package}
{use}

def modules_of_ours():
    for name, module in sys.modules.items():
        if type(module).__module__.startswith("toolwire") or (module is None and name not in before):
            yield name

def rare_modules_of_msgspec():
    import msgspec, msgspec.inspect, msgspec.toml, msgspec.yaml
    for name in ("inspect", "toml", "yaml"):
        if sys.modules["msgspec." + name] is not getattr(msgspec, name):
            yield name

changed = [name for name, module in before.items() if sys.modules.get(name) is not module]
print(json.dumps([changed, list(modules_of_ours()), list(rare_modules_of_msgspec())]))
"""  # noqa: E501
USES = {
    "toolwire_schemas": "import toolwire_schemas.wire.messages",
    "toolwire_tools": "toolwire_tools.tool_api, toolwire_tools.Tool",
    "toolwire_dialects": "import toolwire_dialects.lint.audit",
    "toolwire_compat": "from toolwire_compat.lagent import BaseAction",
    "toolwire_bundled": "from toolwire_bundled import Calculator",
    "toolwire_agent": "from toolwire_agent import Agent",
    "toolwire_check": "import toolwire_check",
    "toolwire_client": "toolwire_client.connect, toolwire_client.ToolFailed",
    "toolwire": "toolwire.Server, toolwire.serve",
}
EVERYTHING = "import msgspec, msgspec.inspect, msgspec.toml, msgspec.yaml, typing_extensions"


@pytest.mark.process
@pytest.mark.parametrize("first", ["", "import msgspec", EVERYTHING])
@pytest.mark.parametrize("package", USES)
def test_importing_a_package_replaces_and_hides_no_module_of_the_program(
    package: str, first: str
) -> None:
    code = COMPARE.format(package=package, use=USES[package], first=first)

    came = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout

    assert json.loads(came) == [[], [], []]


@pytest.mark.process
def test_a_dependency_that_a_package_imports_is_whole() -> None:
    """msgspec has the modules that it has when a program imports it itself."""
    list_modules = (
        "import sys; print(sorted(name for name in sys.modules if name.startswith('msgspec')))"
    )

    def modules_after(statement: str) -> str:
        command = [sys.executable, "-c", f"{statement}; {list_modules}"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    assert modules_after("import toolwire_client; toolwire_client.connect") == modules_after(
        "import msgspec"
    )
