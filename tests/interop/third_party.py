"""Checks servers of other authors: the table of docs/other-servers.md, and the known gaps of each.

    tests/peers/install                          once: the servers
    python tests/interop/third_party.py          check them all, some minutes
    python tests/interop/third_party.py time     only some
    python tests/interop/third_party.py --markdown                the table as docs/other-servers.md shows it
    python tests/interop/third_party.py --record                  write down what is new, for reasons to be filled in

What a server is known to lack is in `baselines/NAME.json`, with reasons.
"""  # noqa: E501

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolwire_check import CheckSettings, Report, check
from toolwire_check import baseline as known
from toolwire_schemas.cases import load_cases

if TYPE_CHECKING:
    from collections.abc import Iterable

    from toolwire_check import Gap
    from toolwire_schemas.cases import Case

HERE = Path(__file__).parent
INSTALLED = Path(os.environ.get("TOOLWIRE_PEERS", HERE.parents[1] / ".peers"))
NPM = INSTALLED / "node_modules" / "@modelcontextprotocol"
EXAMPLES = INSTALLED / "examples"


@dataclass(frozen=True)
class Server:
    """One of them: what starts it, where, and what it may be called with though no tool says that
    it only reads.
    """

    name: str
    what: str
    """What it is, for the table."""
    sdk: str
    program: tuple[str, ...]
    folder: Path = HERE
    calls: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def installed(self) -> bool:
        paths = [word for word in self.program if word.startswith(str(INSTALLED))]
        return self.folder.exists() and all(Path(path).exists() for path in paths)

    @property
    def baseline(self) -> Path:
        return HERE / "baselines" / f"{self.name}.json"

    def gaps(self) -> list[Gap]:
        return known.read(self.baseline.read_text("utf-8")) if self.baseline.exists() else []

    def check(self, of: Iterable[Case], **how: Any) -> Report:
        """Play the cases *of* which there is interest with it."""
        settings = CheckSettings(
            calls=self.calls, framings=("lines",)
        )  # none of them knows headers
        return check(self.program, cases=of, cwd=self.folder, settings=settings, **how)


def python_of(environment: str, *words: str) -> tuple[str, ...]:
    """Return the command of the Python of an installed *environment*."""
    return (str(INSTALLED / environment / "bin" / "python"), *words)


_MCP1, _MCP2, _FASTMCP = (EXAMPLES / name for name in ("mcp-1.30.0", "mcp-2.3.0", "fastmcp-4.1.6"))

# What the makers' conformance tests call. It takes a twentieth of a second, and tells how far it
# is.
_CONFORMANCE: dict[str, dict[str, Any]] = {
    "test_tool_with_progress": {},
    "test_simple_text": {},
    "test_multiple_content_types": {},
    "test_embedded_resource": {},
}

SERVERS = (
    Server(
        "everything",
        "`server-everything` 2026.8.31",
        "TypeScript 1.32.2",
        ("node", str(NPM / "server-everything" / "dist" / "index.js"), "stdio"),
        calls={"trigger-long-running-operation": {"duration": 1, "steps": 4}},
    ),
    Server(
        "filesystem",
        "`server-filesystem` 2026.8.31",
        "TypeScript 1.32.2",
        ("node", str(NPM / "server-filesystem" / "dist" / "index.js"), str(HERE)),
    ),
    Server(
        "typescript-example",
        "`examples/server/mcpServerOutputSchema`",
        "TypeScript 1.32.2",
        (
            "node",
            str(NPM / "sdk" / "dist" / "esm" / "examples" / "server" / "mcpServerOutputSchema.js"),
        ),
        calls={"get_weather": {"city": "Oslo", "country": "NO"}},
    ),
    Server(
        "time",
        "`mcp-server-time` 2026.10.19",
        "mcp 2.3.0",
        python_of("mcp2", "-m", "mcp_server_time", "--local-timezone", "UTC"),
        calls={"get_current_time": {"timezone": "UTC"}},
    ),
    Server(
        "mcp2-tools",
        "`stories/tools/server.py`",
        "mcp 2.3.0",
        python_of("mcp2", "-m", "stories.tools.server"),
        _MCP2,
    ),
    Server(
        "mcp2-lowlevel",
        "`stories/tools/server_lowlevel.py`",
        "mcp 2.3.0",
        python_of("mcp2", "-m", "stories.tools.server_lowlevel"),
        _MCP2,
    ),
    Server(
        "mcp2-everything",
        "`servers/everything-server`",
        "mcp 2.3.0",
        python_of("mcp2", "-c", "from mcp_everything_server.server import mcp; mcp.run()"),
        _MCP2 / "servers" / "everything-server",
        _CONFORMANCE,
    ),
    Server(
        "mcp1-everything",
        "`servers/everything-server`",
        "mcp 1.30.0",
        python_of("mcp1", "-c", "from mcp_everything_server.server import mcp; mcp.run()"),
        _MCP1 / "servers" / "everything-server",
        _CONFORMANCE,
    ),
    Server(
        "mcp1-lowlevel",
        "`snippets/servers/lowlevel/structured_output.py`",
        "mcp 1.30.0",
        python_of(
            "mcp1", str(_MCP1 / "snippets" / "servers" / "lowlevel" / "structured_output.py")
        ),
        calls={"get_weather": {"city": "Oslo"}},
    ),
    Server(
        "fastmcp",
        "`testing_demo/server.py`",
        "fastmcp 4.1.6",
        python_of("fastmcp", "-c", "from server import mcp; mcp.run()"),
        _FASTMCP / "testing_demo",
        {"add": {"a": 1, "b": 2}, "greet": {"name": "Ada"}},
    ),
)


def row(server: Server, report: Report) -> list[str]:
    """What the table says of *server*: its gaps are counted, known or not."""
    counts = report.count_outcomes()
    gaps = dict.fromkeys(("must", "should", "advice"), 0)
    for verdict in report.verdicts:
        if verdict.outcome in ("fail", "warn", "known gap"):
            gaps[verdict.severity] += 1
    spoken = sorted(
        {one.revision for one in report.verdicts if one.outcome == "pass" and one.revision}
    )
    numbers = [
        counts["pass"],
        gaps["must"],
        gaps["should"] + gaps["advice"],
        counts["not applicable"],
    ]
    return [
        server.what,
        server.sdk,
        f"{spoken[0]} to {spoken[-1]}" if spoken else "none",
        *map(str, numbers),
    ]


HEAD = ["server", "SDK", "revisions", "pass", "fail", "warn", "not applicable"]


def as_markdown(rows: list[list[str]]) -> str:
    lines = [HEAD, ["---"] * 3 + ["---:"] * 4, *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "servers", nargs="*", metavar="NAME", help=", ".join(one.name for one in SERVERS)
    )
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--record", action="store_true", help="write what is new to the baselines")
    options = parser.parse_args()
    rows, news = [], 0
    for server in SERVERS:
        if options.servers and server.name not in options.servers:
            continue
        if not server.installed:
            print(
                f"{server.name} is not installed, so left out (tests/peers/install)",
                file=sys.stderr,
            )
            continue
        # What is known of SDKs is read off the baselines, so those have it too.
        report = server.check(load_cases(), gaps=server.gaps(), fold_sdk=not options.record)
        rows.append(row(server, report))
        found = report.list_failures("advice")
        news += len(found) + len(report.outdated)
        for verdict in found:
            print(
                f"{server.name}: {verdict.case} {verdict.revision}: {verdict.came}", file=sys.stderr
            )
        for gap in report.outdated:
            print(f"{server.name}: {gap} is there no more", file=sys.stderr)
        if options.record:
            server.baseline.write_text(known.write(report.verdicts, server.gaps()), "utf-8")
        if not options.markdown:
            print(server.name, *rows[-1], f"({report.seconds:.0f} s)", sep="  ", flush=True)
    if options.markdown:
        print(as_markdown(rows))
    return 1 if news else 0


if __name__ == "__main__":
    sys.exit(main())
