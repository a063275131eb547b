"""Tools of the kinds that contract cases need."""

import subprocess
import sys
import time

from toolwire import Context, prompt, resource, tool_api


@tool_api(read_only=True)
def add(a: int, b: int = 1) -> int:
    """Add two whole numbers."""
    return a + b


@tool_api(read_only=True, task="always")
def wait(context: Context) -> str:
    """Take a moment, and tell how far it is."""
    for step in range(1, 4):
        context.progress(step, 3, "waiting")
        context.check()
        time.sleep(0.1)
    return "waited"


@tool_api(read_only=True)
def start_process() -> str:
    """Start a process that ends with the server."""
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    return "started"


@tool_api(read_only=True)
def greet(name: str = "you") -> dict[str, str]:
    """Greet everyone."""
    return {"greeting": f"Hello, {name}"}


@prompt
def write(excited: bool = False) -> str:
    """Write a message."""
    return "Dear" + "!" * excited


@resource("notes://all")
def notes() -> str:
    """All notes."""
    return "tea"


@resource("notes://note/{name}")
def note(name: str) -> str:
    """One note."""
    return name


@prompt
def shorten(text: str) -> str:
    """Shorten a text."""
    return text
