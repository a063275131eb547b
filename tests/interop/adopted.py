"""Compares the examples of FastMCP and the SDK, served by Toolwire, with the same files served by
their own package.

    tests/peers/install mcp2 mcp1 fastmcp examples     once: the packages, and the examples
    python tests/interop/adopted.py                    compare all, some minutes
    python tests/interop/adopted.py structured memory  only those whose names contain one of these words
    python tests/interop/adopted.py --record           write down the outcomes: adopted.json, docs/fastmcp.md
    python tests/interop/adopted.py --speed            start-up and calls of a few, as ratios

Each file is started twice, by `toolwire serve --adopt` and by `original.py`. Both get the same
requests: all lists, and a call of each tool, a read of each resource, each prompt and each
completion, with arguments that their schemas want.
"""  # noqa: E501

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

from toolwire_dialects.compare.tool_lists import compare_lists
from toolwire_schemas.wire.messages import LOADING_FAILED

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
INSTALLED = Path(os.environ.get("TOOLWIRE_PEERS", ROOT / ".peers"))
EXAMPLES = INSTALLED / "examples"
RECORDED = HERE / "adopted.json"
PAGE = ROOT / "docs" / "fastmcp.md"
PACKAGES = {"fastmcp-4.1.6": "fastmcp", "mcp-1.30.0": "mcp1", "mcp-2.3.0": "mcp2"}
"""The environments of the examples, by their folder."""
PATIENCE_SECONDS = 120

_INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"elicitation": {}},
    "clientInfo": {"name": "comparison", "version": "1"},
}
_LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}


def examples() -> list[str]:
    """The files that make a server, by their paths below the folder of the examples."""
    files = sorted(path for package in PACKAGES for path in (EXAMPLES / package).rglob("*.py"))
    made = [
        path for path in files if re.search(r"\b(FastMCP|MCPServer)\(", path.read_text("utf-8"))
    ]
    return [path.relative_to(EXAMPLES).as_posix() for path in made]


def python_of(example: str) -> Path:
    """The Python of an example; for a file of our own, whose path is absolute, that of fastmcp."""
    return INSTALLED / PACKAGES.get(example.partition("/")[0], "fastmcp") / "bin" / "python"


class NotStarted(Exception):
    """The server ended; the last line of what it wrote to stderr."""


class Peer:
    """A server process that gets one request after the other, from a user who declines every
    elicitation.
    """

    def __init__(self, command: list[str], home: str, **env: str) -> None:
        self._ids = itertools.count(1)
        self._process = subprocess.Popen(
            command,
            cwd=Path(command[-1]).parent,
            env={"PATH": os.environ["PATH"], "HOME": home, **env},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    def __enter__(self) -> Peer:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.communicate()

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Return the response."""
        id = next(self._ids)
        self._send({"id": id, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            if message.get("error", {}).get("data") == LOADING_FAILED:
                continue  # the process ends, and its standard error has the reason in a line
            if "method" not in message and message.get("id") == id:
                return dict(message)
            if "method" in message and "id" in message:
                self._send({"id": message["id"], "result": {"action": "decline"}})
        errors = (self._process.stderr or []) and self._process.stderr.read().strip().splitlines()
        raise NotStarted(errors[-1] if errors else "no output")

    def begin(self) -> None:
        self.capabilities = self.ask("initialize", _INITIALIZE)["result"]["capabilities"]
        self._send({"method": "notifications/initialized"})

    def list(self, method: str) -> list[dict[str, Any]]:
        """Return the entries of all pages."""
        found, cursor = [], None
        while True:
            result = self.ask(method, {} if cursor is None else {"cursor": cursor}).get(
                "result", {}
            )
            found += result.get(_LISTS[method], [])
            cursor = result.get("nextCursor")
            if cursor is None:
                return found


def ours(example: str, home: str, *options: str) -> Peer:
    # The packages of the original's environment, so that a file finds what else it imports.
    site = next((python_of(example).parents[1] / "lib").glob("python*/site-packages"))
    command = [sys.executable, "-P", "-m", "toolwire", "serve", "--log-level", "warning", "--adopt"]
    command += options
    return Peer([*command, str(EXAMPLES / example)], home, PYTHONPATH=str(site))


def theirs(example: str, home: str) -> Peer:
    return Peer([str(python_of(example)), str(HERE / "original.py"), str(EXAMPLES / example)], home)


def outcome(example: str, *options: str) -> str:
    """`same`; `refused: …`; `not here: …` if the original does not start either; or the
    differences. The *options* are those of `toolwire serve`.
    """
    with tempfile.TemporaryDirectory() as home:
        (Path(home) / "Desktop").mkdir()
        try:
            with theirs(example, home) as original:
                original.begin()
                asked = requests_for(original)
                expected = [original.ask(*request) for request in asked]
                lists = {method: original.list(method) for method in _LISTS}
        except NotStarted as error:
            return f"not here: {error}"
        try:
            with ours(example, home, *options) as served:
                served.begin()
                differences = [
                    *differences_of(lists, {method: served.list(method) for method in _LISTS})
                ]
                for request, wanted in zip(asked, expected, strict=True):
                    got = served.ask(*request)
                    if (difference := difference_of(request, wanted, got)) is not None:
                        differences.append(difference)
        except NotStarted as error:
            return f"refused: {re.sub(r'^toolwire: ', '', str(error)).replace(f'{EXAMPLES}/', '')}"
    return "; ".join(differences) or "same"


def requests_for(peer: Peer) -> list[tuple[str, dict[str, Any]]]:
    """A request for each tool, resource, template, prompt and argument to complete that *peer*
    lists.
    """
    found: list[tuple[str, dict[str, Any]]] = []
    for tool in peer.list("tools/list"):
        found.append(
            ("tools/call", {"name": tool["name"], "arguments": value_for(tool["inputSchema"])})
        )
    found += [("resources/read", {"uri": one["uri"]}) for one in peer.list("resources/list")]
    for one in peer.list("resources/templates/list"):
        found.append(("resources/read", {"uri": re.sub(r"\{[^}]*\}", "x", one["uriTemplate"])}))
    for prompt in peer.list("prompts/list"):
        arguments = {
            argument["name"]: "x"
            for argument in prompt.get("arguments", ())
            if argument.get("required")
        }
        found.append(("prompts/get", {"name": prompt["name"], "arguments": arguments}))
    return found + (completions_for(peer) if "completions" in peer.capabilities else [])


def completions_for(peer: Peer) -> list[tuple[str, dict[str, Any]]]:
    """A completion of each argument of the prompts and templates that *peer* lists."""
    references = [
        *(
            (
                {"type": "ref/prompt", "name": prompt["name"]},
                [one["name"] for one in prompt.get("arguments", ())],
            )
            for prompt in peer.list("prompts/list")
        ),
        *(
            (
                {"type": "ref/resource", "uri": one["uriTemplate"]},
                re.findall(r"\{(\w+)\}", one["uriTemplate"]),
            )
            for one in peer.list("resources/templates/list")
        ),
    ]
    return [
        ("completion/complete", {"ref": ref, "argument": {"name": name, "value": "py"}})
        for ref, names in references
        for name in names
    ]


def value_for(schema: dict[str, Any], root: dict[str, Any] | None = None) -> Any:
    """A value that *schema* accepts: the required members alone."""
    root = root or schema
    if "$ref" in schema:
        return value_for(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return value_for(schema["anyOf"][0], root)
    match schema.get("type"):
        case "object":
            members = schema.get("properties", {})
            return {name: value_for(members[name], root) for name in schema.get("required", ())}
        case "integer" | "number":
            return min(max(schema.get("minimum", 2), 2), schema.get("maximum", 2))
        case "boolean":
            return True
        case "array":
            return []
    return "x"


# Comparison


def differences_of(theirs: dict[str, Any], ours: dict[str, Any]) -> list[str]:
    """Return the differences in meaning between the lists."""
    found = []
    for method, original in theirs.items():
        key = {"resources/list": "uri", "resources/templates/list": "uriTemplate"}.get(
            method, "name"
        )
        here = {entry[key]: entry for entry in ours[method]}
        there = {entry[key]: entry for entry in original}
        if here.keys() != there.keys():
            found.append(f"{method} has {sorted(here)}, not {sorted(there)}")
            continue
        for name, entry in there.items():
            found += [f"{name}: {difference}" for difference in _entry(entry, here[name])]
    changes = compare_lists(theirs["tools/list"], ours["tools/list"])
    return found + [
        str(change) for change in changes if change.level == "major" and not _is_known(str(change))
    ]


def _is_known(change: str) -> bool:
    """Differences that docs/fastmcp.md lists."""
    return change.startswith(
        ("additionalProperties false added", "results are not described any more")
    )


def _entry(theirs: dict[str, Any], ours: dict[str, Any]) -> list[str]:
    found = []
    # mcp lists all of a docstring, and Toolwire its sections as descriptions of the parameters.
    described = [" ".join((entry.get("description") or "").split()) for entry in (theirs, ours)]
    if not described[0].startswith(described[1]) or bool(described[0]) != bool(described[1]):
        found.append(f"description {described[1]!r}, not {described[0]!r}")
    for member in ("icons", "arguments"):
        if _sorted(theirs.get(member) or []) != _sorted(ours.get(member) or []):
            found.append(f"{member} {ours.get(member)}, not {theirs.get(member)}")
    hints = [
        {key: value for key, value in (entry.get("annotations") or {}).items() if key != "title"}
        for entry in (theirs, ours)
    ]
    if hints[0] != hints[1]:
        found.append(f"annotations {hints[1]}, not {hints[0]}")
    return found


def _sorted(items: list[dict[str, Any]]) -> list[Any]:
    kept = [
        {key: value for key, value in item.items() if value and key != "description"}
        for item in items
    ]
    return sorted(json.dumps(item, sort_keys=True) for item in kept)


def difference_of(
    request: tuple[str, Any], theirs: dict[str, Any], ours: dict[str, Any]
) -> str | None:
    """Return the differences in meaning between two responses."""
    there, here = meaning(theirs), meaning(ours)
    if there == here:
        return None
    return (
        f"{request[0]} {json.dumps(request[1])}: {json.dumps(here)[:300]}, not"
        f" {json.dumps(there)[:300]}"
    )


def meaning(response: dict[str, Any]) -> Any:
    """The response without what may differ: the wording of failures, JSON in text or not, and the
    clock.
    """
    result = response.get("result", {})
    if "error" in response or result.get("isError"):
        return "failed"
    if "structuredContent" in result and all(
        block["type"] == "text" for block in result["content"]
    ):
        # The text repeats the data, in other forms.
        return _steady(result["structuredContent"])
    for key in ("contents", "messages", "content"):
        if key in result:
            return [_block(block) for block in result[key]]
    return result


def _block(block: dict[str, Any]) -> Any:
    inner = block.get("content", block) if isinstance(block.get("content"), dict) else block
    if isinstance(inner.get("text"), str):
        text = re.sub(r"0x[0-9a-f]+", "0x", inner["text"])
        try:
            return [block.get("role"), _steady(json.loads(text))]
        except ValueError:
            return [block.get("role"), text]
    kept = {
        key: value
        for key, value in inner.items()
        if value is not None and key not in ("_meta", "annotations")
    }
    return [block.get("role"), kept]


_VOLATILE = ("timestamp", "session_id", "execution_time_ms")


def _steady(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: None if key in _VOLATILE else _steady(value) for key, value in data.items()}
    return [_steady(item) for item in data] if isinstance(data, list) else data


_KINDS = {"same": "same", "refused": "refused", "not here": "not comparable"}


def kind_of(result: str) -> str:
    return _KINDS.get(result.partition(":")[0], "different")


def table(found: dict[str, str]) -> str:
    """The tables of docs/fastmcp.md: how many examples have which outcome, and what is refused."""
    columns = ("same", "different", "refused", "not comparable")
    rows = [
        f"| examples of | files | {' | '.join(columns)} |",
        f"| --- |{' ---: |' * (len(columns) + 1)}",
    ]
    for package in PACKAGES:
        kinds = Counter(
            kind_of(result) for example, result in found.items() if example.startswith(package)
        )
        counts = [str(kinds[column]) for column in columns]
        rows.append(f"| {package.replace('-', ' ')} | {kinds.total()} | {' | '.join(counts)} |")
    different = [
        f"`{example}`: {result}"
        for example, result in found.items()
        if kind_of(result) == "different"
    ]
    reasons = Counter(reason(result) for result in found.values() if kind_of(result) == "refused")
    rows += ["", "| refused because of | files |", "| --- | ---: |"]
    rows += [
        f"| {what} | {count} |"
        for what, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
    ]
    return (
        "\n".join(
            [
                *rows,
                *(["", "Different:", ""] if different else []),
                *(f"- {one}" for one in different),
            ]
        )
        + "\n"
    )


_REASONS = {
    "authentication": r"Provider|Verifier|auth|dependencies|AuthSettings",
    "HTTP": r"_app\b|streamable|custom_route|JSONRPCMessage|makes no server|session_manager",
    "sampling, roots": r"Sampling|sample|create_message|list_roots|ServerRequestContext",
    "errors of the protocol": r"mcp\.shared\.exceptions",
    "elicitation of a URL, or as a result": r"elicit|InputRequired|Elicit|Resolve",
    "changes of the lists at run time": r"_list_changed|disable|enable|notify_",
    "providers, proxies, mounted servers": r"provider|create_proxy|mount",
    "transforms, apps, extensions, versions": r"transforms|apps|version|extension|server\.context",
}


def reason(result: str) -> str:
    what = result.partition("does not support ")[2].partition(" (")[0].partition(";")[0] or result
    return next((name for name, pattern in _REASONS.items() if re.search(pattern, what)), "others")


_TIMED = {
    "fastmcp-4.1.6/testing_demo/server.py": ("add", {"a": 1, "b": 2}),
    "mcp-1.30.0/snippets/servers/basic_tool.py": ("sum", {"a": 1, "b": 2}),
    "mcp-2.3.0/snippets/servers/basic_tool.py": ("sum", {"a": 1, "b": 2}),
}


def speed(starts: int = 5, calls: int = 300) -> None:
    """Print the medians of a start, until the tools are listed, and of a call, for Toolwire and the
    original.
    """
    for example, (name, arguments) in _TIMED.items():
        medians = []
        for start in (ours, theirs):
            started, called = [], []
            with tempfile.TemporaryDirectory() as home:
                for _ in range(starts):
                    began = time.perf_counter()
                    with start(example, home) as peer:
                        peer.begin()
                        peer.list("tools/list")
                        started.append(time.perf_counter() - began)
                        for _ in range(calls):
                            began = time.perf_counter()
                            peer.ask("tools/call", {"name": name, "arguments": arguments})
                            called.append(time.perf_counter() - began)
            medians.append((median(started), median(called)))
        (here, call_here), (there, call_there) = medians
        print(
            f"{example}: starts {there / here:.1f} times as fast ({here * 1000:.0f} ms,"
            f" {there * 1000:.0f} ms)",
            end=", ",
        )
        print(
            f"a call {call_there / call_here:.1f} times ({call_here * 1e6:.0f} us,"
            f" {call_there * 1e6:.0f} us)"
        )


def main(given: list[str]) -> None:
    if "--speed" in given:
        speed()
        return
    words = [word for word in given if not word.startswith("-")]
    chosen = [
        example for example in examples() if not words or any(word in example for word in words)
    ]
    found = {}
    with ThreadPoolExecutor(2) as pool:
        for example, result in zip(chosen, pool.map(outcome, chosen), strict=True):
            found[example] = result
            print(f"{example}: {result}", flush=True)
    print(Counter(map(kind_of, found.values())))
    if "--record" in given:
        known = json.loads(RECORDED.read_text("utf-8")) if RECORDED.exists() else {}
        found = dict(sorted({**known, **found}.items()))
        RECORDED.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
        marks = "<!-- fastmcp examples -->\n", "<!-- /fastmcp examples -->"
        before, _, rest = PAGE.read_text("utf-8").partition(marks[0])
        PAGE.write_text(
            before + marks[0] + table(found) + marks[1] + rest.partition(marks[1])[2], "utf-8"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
