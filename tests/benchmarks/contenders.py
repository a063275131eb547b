"""Who runs, and by which command; every contender serves the same tools."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
SERVERS = HERE / "contenders"
INSTALLED = Path(os.environ.setdefault("TOOLWIRE_PEERS", str(HERE.parents[1] / ".peers")))


@dataclass(frozen=True)
class Contender:
    """A server and how it is started for one set of tools."""

    name: str
    program: tuple[str, ...]
    """The command before the set of tools."""
    tools: dict[str, str]
    """What the command ends with, for each set of tools that it can serve."""
    pipelined_calls: int
    """How many calls it gets at once; fewer for the slow, which would take minutes."""
    handshake: bool = True
    """Whether it must be initialized before it lists its tools."""

    def command(self, tools: str) -> list[str]:
        return [*self.program, *([self.tools[tools]] if self.tools[tools] else [])]

    @property
    def installed(self) -> bool:
        return Path(self.program[0]).exists() and all(
            Path(word).exists() for word in self.program[1:] if "/" in word
        )


def toolwire_command() -> tuple[str, ...]:
    """The `toolwire` command beside this interpreter, which is what a host starts."""
    script = Path(sysconfig.get_path("scripts")) / "toolwire"
    return (
        (str(script), "serve") if script.exists() else (sys.executable, "-m", "toolwire", "serve")
    )


def _python(environment: str) -> str:
    return str(INSTALLED / environment / "bin" / "python")


def _file(name: str) -> str:
    return str(SERVERS / name)


NODE = shutil.which("node") or "/usr/bin/node"
PYTHON_TOOLS = {
    name: _file(f"{name}.py") for name in ("add", "payload", "sleepers", "many", "kinds")
}
BASIC_PYTHON_TOOLS = {name: PYTHON_TOOLS[name] for name in ("add", "payload", "kinds")}
JAVASCRIPT_TOOLS = {"add": "add", "payload": "payload", "kinds": "kinds"}

BARE = Contender(
    "bare loop",
    (_python("bare"),),
    {"add": _file("bare_loop.py"), "payload": _file("bare_loop_payload.py")},
    20_000,
    handshake=False,
)
TOOLWIRE = Contender("Toolwire", toolwire_command(), PYTHON_TOOLS, 20_000, handshake=False)
MCP2 = Contender("mcp 2.3.0", (_python("mcp2"), _file("mcp2_server.py")), PYTHON_TOOLS, 1_000)

CONTENDERS = (
    BARE,
    TOOLWIRE,
    Contender("TypeScript server 2.4.0", (NODE, _file("ts_server.mjs")), JAVASCRIPT_TOOLS, 5_000),
    Contender("TypeScript SDK 1.32.2", (NODE, _file("sdk_server.mjs")), JAVASCRIPT_TOOLS, 5_000),
    MCP2,
    Contender("mcp 1.30.0", (_python("mcp1"), _file("mcp1_server.py")), BASIC_PYTHON_TOOLS, 1_000),
    Contender(
        "fastmcp 4.1.6", (_python("fastmcp"), _file("fastmcp_server.py")), BASIC_PYTHON_TOOLS, 1_000
    ),
)
