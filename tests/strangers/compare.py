"""Compares public MCP servers, started by their own package and by `toolwire serve --adopt`.

    python tests/strangers/compare.py               all servers of servers.txt, many minutes
    python tests/strangers/compare.py NAME...       only these
    python tests/strangers/compare.py --record      write down the outcomes: outcomes.json and docs

Each server of servers.txt is installed from PyPI, in its version, into a virtual environment of its
own below `.peers/strangers`. No start gets a real key. An original that does not start is installed
once more with the library that it was written for, `mcp<2`.

If the lists are the same, each tool is called once with the arguments that it requires, in
processes without a network: those of the original have to be the same in two runs, so that clocks
and chance count for nothing.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import venv
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from interop.adopted import value_for  # noqa: E402 - this file is a program, too

ROOT = HERE.parents[1]
INSTALLED = Path(os.environ.get("TOOLWIRE_STRANGERS", ROOT / ".peers" / "strangers"))
SERVERS = HERE / "servers.txt"
OUTCOMES = HERE / "outcomes.json"
PAGE = ROOT / "docs" / "mcp-2.md"
TABLE = re.compile(r"(?<=<!-- strangers -->\n).*?(?=<!-- /strangers -->)", re.DOTALL)
PATIENCE_SECONDS = 90
MAX_CALLS = 30
"""How many tools of a server are called."""

FIRST_SDK = "mcp<2"
_INSIDE = re.compile(r"\S*site-packages/")

JOBS = 2
LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
KEYS = {"resources/list": "uri", "resources/templates/list": "uriTemplate"}
_INITIALIZE = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "comparison", "version": "1"},
}


class NotStarted(Exception):
    """The server has not answered; the last line of its standard error."""


class Stranger(NamedTuple):
    """A line of servers.txt: a requirement, `NAME=value` for the environment, and the command if
    its name is not that of the distribution.
    """

    requirement: str
    command: str
    env: dict[str, str]
    sdk: str = ""
    """A requirement for the library, in place of what pip chooses."""

    @property
    def name(self) -> str:
        return self.requirement.partition("==")[0]

    @property
    def title(self) -> str:
        return f"{self.requirement} {self.sdk}".rstrip()

    @property
    def folder(self) -> Path:
        """The virtual environment."""
        return INSTALLED / (f"{self.name}-mcp1" if self.sdk else self.name)

    def find_command(self) -> list[str]:
        """Return the words of the command in the virtual environment."""
        words = shlex.split(self.command)
        program = "python" if words[0] == "-m" else words.pop(0)
        return [str(self.folder / "bin" / program), *words]


class Server:
    """A server process that gets one request after the other."""

    def __init__(self, command: list[str], **env: str) -> None:
        self._home = tempfile.TemporaryDirectory()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed by __exit__)
        self._process = subprocess.Popen(
            command,
            cwd=self._home.name,
            env={"PATH": os.environ["PATH"], "HOME": self._home.name, **env},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        self._timer = threading.Timer(PATIENCE_SECONDS, self._process.kill)
        self._timer.start()
        self._last_id = 0

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self._process.kill()
        self._process.communicate()
        self._errors.close()
        self._home.cleanup()

    def start(self) -> None:
        self.ask("initialize", _INITIALIZE)
        self._send({"method": "notifications/initialized"})

    def list(self, method: str) -> list[dict[str, Any]]:
        """Return the entries of all pages."""
        entries: list[dict[str, Any]] = []
        params: dict[str, Any] = {}
        while True:
            result = self.ask(method, params).get("result", {})
            entries += result.get(LISTS[method], [])
            if not result.get("nextCursor"):
                return entries
            params = {"cursor": result["nextCursor"]}

    def ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Return the response."""
        self._last_id += 1
        self._send({"id": self._last_id, "method": method, "params": params})
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                message = json.loads(line)
            except ValueError:  # some print
                continue
            if isinstance(message, dict) and message.get("id") == self._last_id:
                if "result" not in message and method == "initialize":
                    break
                return message
        raise NotStarted(self._last_error())

    def _send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass

    def _last_error(self) -> str:
        try:
            self._process.wait(5)  # it may be writing why
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else "no output"


def install(stranger: Stranger) -> bool:
    """Install the server and its library from wheels, unless it is there; return whether that can
    be done.
    """
    folder = stranger.folder
    if (folder / "ok").exists():
        return True
    venv.create(folder, clear=True, with_pip=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet"]
    requirements = stranger.title.split()
    done = subprocess.run([*pip, "--only-binary", ":all:", *requirements], check=False)
    if done.returncode:
        return False
    (folder / "ok").touch()
    return True


def compare(stranger: Stranger) -> str:
    """Return how both starts of *stranger* compare.

    `same`; `differs: …`; `refused: …` if only the original starts, `rescued: …` if only ours does,
    `neither: …`.
    """
    own = stranger.find_command()
    original: dict[str, Any] = {}
    reason = ""
    try:
        with Server(own, **stranger.env) as server:
            server.start()
            original = {method: server.list(method) for method in LISTS}
    except NotStarted as error:
        reason = str(error)
    [site] = (stranger.folder / "lib").glob("python*/site-packages")
    ours = [sys.executable, "-P", "-m", "toolwire", "serve", "--adopt", stranger.command]
    env = {**stranger.env, "PYTHONPATH": str(site)}
    try:
        with Server(ours, **env) as server:
            server.start()
            here = {method: server.list(method) for method in LISTS}
    except NotStarted as error:
        return f"neither: {reason} | {error}" if reason else f"refused: {error}"
    if reason:
        return f"rescued: {reason}"
    differences = find_differences(original, here)
    if differences:
        return f"differs: {'; '.join(differences)}"
    calls = [
        ("tools/call", {"name": tool["name"], "arguments": value_for(tool["inputSchema"])})
        for tool in original["tools/list"][:MAX_CALLS]
    ]
    responses = [call_all(own, calls, **stranger.env), call_all(own, calls, **stranger.env)]
    responses.append(call_all(ours, calls, **env))
    return describe_calls(calls, *responses)


def compare_with_each_sdk(stranger: Stranger) -> dict[str, str]:
    """Return the outcome of *stranger* with the library that pip chooses and, if the original does
    not start with that but with version 1, also with this.
    """
    if not install(stranger):
        raise SystemExit(f"{stranger.requirement} cannot be installed")
    outcome = compare(stranger)
    outcomes = {stranger.title: outcome}
    if outcome.startswith(("rescued", "neither")):
        first = stranger._replace(sdk=FIRST_SDK)
        outcome = compare(first) if install(first) else "neither"
        if not outcome.startswith(("rescued", "neither")):
            outcomes[first.title] = outcome
    return outcomes


def call_all(
    command: list[str], calls: list[tuple[str, dict[str, Any]]], **env: str
) -> list[dict[str, Any]]:
    """Return the responses to *calls*, without those that do not come."""
    responses = []
    try:
        with Server([*_without_network(), *command], **env) as server:
            server.start()
            for method, params in calls:
                responses.append(server.ask(method, params))
    except NotStarted:
        pass
    return responses


@cache
def _without_network() -> list[str]:
    """Return the words before a command that runs without a network; none where there is no
    `unshare`, and then no tool is called.
    """
    words = ["unshare", "--map-root-user", "--net"]
    if shutil.which(words[0]) is None or subprocess.run([*words, "true"], check=False).returncode:
        raise SystemExit("the calls need `unshare --map-root-user --net`")
    return words


def describe_calls(
    calls: list[tuple[str, dict[str, Any]]],
    first: list[dict[str, Any]],
    second: list[dict[str, Any]],
    here: list[dict[str, Any]],
) -> str:
    """Return the outcome of *calls*, which the original has answered with *first* and *second*."""
    number = 0
    differences = []
    for index, (call, expected, again) in enumerate(zip(calls, first, second, strict=False)):
        if read_content(expected) != read_content(again):
            continue
        number += 1
        if index >= len(here):
            differences.append(f"no response to {call[1]['name']}")
            continue
        texts = [json.dumps(read_content(each))[:300] for each in (here[index], expected)]
        if read_content(here[index]) != read_content(expected):
            differences.append(f"{json.dumps(call[1])}: {texts[0]}, not {texts[1]}")
    if differences:
        return f"differs: calls: {'; '.join(differences)}"
    return f"same: {number} calls"


def read_servers() -> list[Stranger]:
    """Return the servers of servers.txt."""
    lines = SERVERS.read_text("utf-8").splitlines()
    return [read_line(line) for line in lines if line and not line.startswith("#")]


def read_line(line: str) -> Stranger:
    """Return the server of a *line* of servers.txt."""
    requirement, *words = line.split()
    env = {}
    while words and re.match(r"[A-Z_]+=", words[0]):
        name, _, value = words.pop(0).partition("=")
        env[name] = value
    command = " ".join(words) or requirement.partition("==")[0]
    return Stranger(requirement, command, env)


def read_content(response: dict[str, Any]) -> Any:
    """Return what a model reads of a result, in one form: JSON in texts is decoded, and the items
    of a list are the same in one text and in a text each. Failures are alike.
    """
    result = response.get("result", {})
    if "error" in response or result.get("isError"):
        return "failed"
    values = []
    for block in result.get("content", []):
        if block.get("type") != "text":
            values.append({key: block.get(key) for key in ("type", "data", "mimeType", "uri")})
            continue
        try:
            values.append(json.loads(block["text"]))
        except ValueError:
            values.append(block["text"])
    if len(values) == 1 and isinstance(values[0], list):
        return values[0]
    return values


def find_differences(original: dict[str, Any], here: dict[str, Any]) -> list[str]:
    """Return the differences between the lists: names, texts and schemas of arguments."""
    found: list[str] = []
    for method, entries in original.items():
        key = KEYS.get(method, "name")
        mine = {entry[key]: entry for entry in here[method]}
        theirs = {entry[key]: entry for entry in entries}
        if mine.keys() != theirs.keys():
            missing = sorted(theirs.keys() - mine.keys())
            more = sorted(mine.keys() - theirs.keys())
            found.append(f"{method}: without {missing}, with {more}")
        for name in theirs.keys() & mine.keys():
            lost = _find_lost_words(theirs[name], mine[name])
            if lost:
                found.append(f"{name} loses {' '.join(lost)[:80]}")
            arguments = [set(_arguments(entry)) for entry in (theirs[name], mine[name])]
            if arguments[0] != arguments[1]:
                found.append(f"{name} takes {arguments[1]}, not {arguments[0]}")
    return found


def _find_lost_words(theirs: dict[str, Any], mine: dict[str, Any]) -> list[str]:
    """Return the words of the description that are not in ours."""
    kept = set(_words_of(mine))
    return [word for word in _words_of(theirs.get("description")) if word not in kept]


def _words_of(value: Any) -> list[str]:
    """Return the words of all texts in *value*."""
    if isinstance(value, str):
        return re.findall(r"\w+", value)
    if isinstance(value, dict):
        value = list(value.values())
    words: list[str] = []
    if isinstance(value, list):
        for item in value:
            words += _words_of(item)
    return words


def _arguments(entry: dict[str, Any]) -> dict[str, Any]:
    return dict(entry.get("inputSchema", {}).get("properties", {}))


_CELLS = {
    "same": ("starts", "same"),
    "rescued": ("does not start", "starts"),
    "differs": ("starts", "differs"),
    "refused": ("starts", "refused"),
}


def format_table(outcomes: dict[str, str]) -> str:
    """Return the table of docs/mcp-2.md. Servers that start nowhere need a key, a database or the
    network; they are counted below it.
    """
    lines = ["| server | with its own package | here | remark |", "| --- | --- | --- | --- |"]
    kinds: Counter[str] = Counter()
    calls = 0
    for title, outcome in sorted(outcomes.items()):
        requirement, _, sdk = title.partition(" ")
        kind, _, remark = outcome.partition(": ")
        kinds[f"{kind} {sdk}".rstrip()] += 1
        if kind == "same":
            calls += int(remark.split()[0])
        if kind in _CELLS:
            original, here = _CELLS[kind]
            shown = f"`{requirement}`, `{sdk}`" if sdk else f"`{requirement}`"
            lines.append(f"| {shown} | {original} | {here} | {_shorten(remark)} |")
    lines += ["", *_summarize(kinds, calls)]
    return "\n".join(lines) + "\n"


def _summarize(kinds: Counter[str], calls: int) -> list[str]:
    """Return the lines below the table: *kinds* counts outcomes, with the library if it was not
    the choice of pip.
    """
    servers = starts = starts_with_first = 0
    for kind, number in kinds.items():
        has_first = kind.endswith(FIRST_SDK)
        if not has_first:
            servers += number
        if kind.startswith(("same", "differs", "refused")):
            starts += number
            starts_with_first += number * has_first
    same = kinds["same"] + kinds[f"same {FIRST_SDK}"]
    differ = kinds["differs"] + kinds[f"differs {FIRST_SDK}"]
    refused = starts - same - differ
    return [
        f"Of {servers} servers, {starts} start with their own package, {starts_with_first} of these"
        f" only with `{FIRST_SDK}`. Here {starts - refused} of the {starts} start"
        f" ({100 * (starts - refused) // starts} %), and {same} are the same, as are {calls} calls"
        f" of their tools. With what pip chose, {kinds['rescued']} start only here.",
        f"{kinds['neither']} start with it nowhere without a real key, a database or the network,"
        " and are left out.",
    ]


def _shorten(remark: str) -> str:
    """Return the first words of a *remark*, without what is a path or a mark of the table."""
    text = remark.replace("toolwire: ", "")
    for advice in (". This is mcp 2.x", "; serve this file", "; a server that"):
        text = text.partition(advice)[0]
    return text.replace("|", "-")[:120]


def record(outcomes: dict[str, str]) -> None:
    """Write down *outcomes*, with those of earlier runs, and the table of the page. No path of this
    machine is kept.
    """
    for title, outcome in outcomes.items():
        outcomes[title] = _INSIDE.sub("", outcome)
    known = json.loads(OUTCOMES.read_text("utf-8")) if OUTCOMES.exists() else {}
    merged = dict(sorted({**known, **outcomes}.items()))
    OUTCOMES.write_text(json.dumps(merged, indent=1, ensure_ascii=False) + "\n", "utf-8")
    page = PAGE.read_text("utf-8")
    PAGE.write_text(TABLE.sub(lambda _: format_table(merged), page), "utf-8")


def main(words: list[str]) -> None:
    names = [word for word in words if not word.startswith("--")]
    servers = read_servers()
    if "--install" in words:
        for stranger in servers:
            install(stranger)
        return
    outcomes: dict[str, str] = {}

    def compare_one(stranger: Stranger) -> None:
        found = compare_with_each_sdk(stranger)
        outcomes.update(found)
        for title, outcome in found.items():
            print(f"{title:50}  {outcome}", flush=True)

    with ThreadPoolExecutor(JOBS) as pool:
        chosen = [one for one in servers if not names or one.name in names]
        list(pool.map(compare_one, chosen))
    if "--record" in words:
        record(outcomes)


if __name__ == "__main__":
    main(sys.argv[1:])
