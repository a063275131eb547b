"""What `toolwire_tools` shows, and what importing it costs."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest
import toolwire_bundled
import toolwire_tools
from toolwire_bundled import BUNDLED, find_class

SHELF = Path(toolwire_tools.__file__).parent

# Each needs more time to import than all of ours together, or pulls in something that does.
HEAVY = (
    "anyio",
    "asyncio",
    "concurrent",
    "difflib",
    "email",
    "jsonrpcserver",
    "jsonschema",
    "logging",
    "mimetypes",
    "pathlib",
    "pydantic",
    "referencing",
    "urllib",
)

_REGISTER = """
import sys
from toolwire_tools import Context, Image, Tool, find_tools

def add(a: int, b: int = 1) -> int:
    '''Add.

    Args:
        a: the first number
    '''
    return a + b

def show(names: list[str], context: Context) -> Image | None:
    return None

class Caller:
    cancelled = False

tools = find_tools([add, show])
assert all(tool.describe() for tool in tools)
assert tools[0].call({"a": 1}, Caller())["structuredContent"] == {"result": 2}
print(*sorted(name for name in sys.modules if name.partition(".")[0] in sys.argv[1:]))
"""


@pytest.mark.process
def test_registering_and_calling_tools_imports_nothing_heavy() -> None:
    # -S: what a site customisation or an editable install imports is not ours.
    folders = [str(SHELF.parent), str(SHELF.parents[1] / "schemas")]
    folders += [path for path in sys.path if path.endswith("site-packages")]
    prepared = f"import sys; sys.path[:0] = {folders!r}\n"
    done = subprocess.run(
        [sys.executable, "-S", "-c", prepared + _REGISTER, *HEAVY],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert (done.stdout.strip(), done.stderr) == ("", "")


def test_bundled_tools_are_shown_with_the_rest() -> None:
    """A file of Lagent's that imports them needs another module's name, and no more."""
    assert {*BUNDLED} <= {*toolwire_bundled.__all__}
    assert all(getattr(toolwire_bundled, name) is find_class(name) for name in BUNDLED)


def test_everything_shown_is_documented() -> None:
    for name in toolwire_tools.__all__:
        shown = getattr(toolwire_tools, name)
        members = {
            key: member
            for key, member in vars(shown).items()
            if callable(member) and not key.startswith("_")
        }
        bare = [key for key in members if not inspect.getdoc(getattr(shown, key))]
        assert shown.__doc__, f"{name} has no docstring"
        assert bare == [], f"{name} has members without docstrings"
