"""Counts what a model reads and writes for ten tasks with five real servers, in three modes.

    python tests/benchmarks/real_servers.py FOLDER

FOLDER has `node_modules` with @modelcontextprotocol/server-filesystem and server-memory, and the
environments `python` with mcp-server-git and mcp-server-time, and `sqlite` with mcp-server-sqlite
and `mcp<2`. The scripted model makes no mistake, and makes all calls at once that do not depend on
each other; show_modes.py has tasks of an office, and no server.

What the servers have listed, and the results of the programs, are written to real_servers.json. So
a test can count again what a model reads with programs, without a server (`repeat_programs`).
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from toolwire import Server
from toolwire_client import connect

sys.path.insert(0, str(Path(__file__).parent))

from show_modes import MODES, Call, Cost, Round, Talk, list_foreign

CITIES = ("Oslo", "Lima", "Kyoto", "Accra", "Perth")
ZONES = ("Europe/Oslo", "America/Lima", "Asia/Tokyo", "Africa/Accra", "Australia/Perth")
AUTHORS = ("Ada", "Ben", "Carla", "David")
NOTES = 12
PERMISSION = {"allow": "all calls of this program"}

ROOT = Path(tempfile.gettempdir()).resolve() / "toolwire-real-servers"
FILES, REPO = f"{ROOT}/files", f"{ROOT}/repo"

RECORDING = Path(__file__).with_name("real_servers.json")

ORDERS = "SELECT customer, city, total FROM orders"
OSLO = "SELECT customer, sum(total) AS total FROM orders WHERE city = 'Oslo' GROUP BY customer"
SUMS = "SELECT city, sum(total) FROM orders GROUP BY city"


class Task(NamedTuple):
    """A task: the *query* for its tools, the *rounds* of calls that it takes, each made of the
    results before, and the *program* that makes all of them.
    """

    text: str
    query: str
    rounds: Sequence[Round]
    program: str


def read_notes(done: list[list[Any]]) -> list[Call]:
    """Read all notes."""
    paths = [f"{FILES}/note{number}.txt" for number in range(NOTES)]
    return [("files_read_text_file", {"path": path}) for path in paths]


def read_log(done: list[list[Any]]) -> list[Call]:
    """Read all commits."""
    return [("git_git_log", {"repo_path": REPO, "max_count": 40})]


def show_commits(done: list[list[Any]]) -> list[Call]:
    """Show the last ten commits."""
    lines = [line for line in done[0][0].splitlines() if line.startswith("Commit: ")]
    commits = [line.split()[-1].strip("'") for line in lines[:10]]
    return [("git_git_show", {"repo_path": REPO, "revision": each}) for each in commits]


def write_authors(done: list[list[Any]]) -> list[Call]:
    """Write the commits of each author."""
    entries = done[0][0].split("Commit: ")[1:]
    calls: list[Call] = []
    for name in AUTHORS:
        content = "".join(each for each in entries if name in each)
        calls.append(("files_write_file", {"path": f"{FILES}/{name}.txt", "content": content}))
    return calls


def remember_authors(done: list[list[Any]]) -> list[Call]:
    """Make an entity of each author."""
    return [_create_entities("author", dict.fromkeys(AUTHORS, "commits"))]


def remember_customers(done: list[list[Any]]) -> list[Call]:
    """Make an entity of each customer."""
    rows = _read_rows(done[0][0])
    return [_create_entities("customer", {row["customer"]: f"sum {row['total']}" for row in rows})]


def write_cities(done: list[list[Any]]) -> list[Call]:
    """Write the orders of each city."""
    rows = _read_rows(done[0][0])
    calls: list[Call] = []
    for city in CITIES:
        lines = [f"{row['customer']} {row['total']}" for row in rows if row["city"] == city]
        given = {"path": f"{FILES}/{city}.txt", "content": "\n".join(lines)}
        calls.append(("files_write_file", given))
    return calls


def write_sums(done: list[list[Any]]) -> list[Call]:
    """Write the result of the query."""
    return [("files_write_file", {"path": f"{FILES}/sums.txt", "content": done[0][0]})]


def convert_times(done: list[list[Any]]) -> list[Call]:
    """Convert a time for each office."""
    given = {"source_timezone": "Europe/London", "time": "09:00"}
    return [("time_convert_time", {**given, "target_timezone": zone}) for zone in ZONES]


def query(*statements: str) -> Round:
    """Return a round with these queries."""
    return lambda done: [("sqlite_read_query", {"query": each}) for each in statements]


def read_customers(done: list[list[Any]]) -> list[Call]:
    """Read all orders, and all entities."""
    return [*query(ORDERS)(done), ("memory_read_graph", {})]


def _create_entities(kind: str, observations: dict[str, str]) -> Call:
    entities = []
    for name, text in observations.items():
        entities.append({"name": name, "entityType": kind, "observations": [text]})
    return "memory_create_entities", {"entities": entities}


def _read_rows(text: str) -> list[dict[str, Any]]:
    """Return the rows of a result, which the SQLite server writes as Python."""
    return list(ast.literal_eval(text))


_NOTES = f"[files.read_text_file(f'{FILES}/note{{n}}.txt')['content'] for n in range({NOTES})]"
_ROWS = "import ast\nrows = ast.literal_eval(sqlite.read_query({!r}))\n"
_LOG = f"import re\nlog = git.git_log({REPO!r}, max_count=40).split('Commit: ')[1:]\n"
_AUTHOR = "re.search(r'Author: (\\w+)', entry)[1]"

TASKS = [
    Task(
        "Which notes mention an overdue invoice?",
        "list directory, read text file",
        [read_notes],
        f"[n for n, text in enumerate({_NOTES}) if 'overdue' in text]",
    ),
    Task(
        "Write the commits of each author into a file.",
        "git log, write file",
        [read_log, write_authors],
        _LOG
        + f"found = {{}}\nfor entry in log:\n    found.setdefault({_AUTHOR}, []).append(entry)\n"
        f"for name in found:\n    files.write_file(f'{FILES}/{{name}}.txt', ''.join(found[name]))\n"
        "list(found)",
    ),
    Task(
        "Remember the customers in Oslo with their sums.",
        "sqlite query, create entities in memory",
        [query(OSLO), remember_customers],
        _ROWS.format(OSLO) + "memory.create_entities([{'name': r['customer'], 'entityType':"
        " 'customer', 'observations': [f\"sum {r['total']}\"]} for r in rows])\nlen(rows)",
    ),
    Task(
        "How many lines did the last ten commits add?",
        "git log, git show",
        [read_log, show_commits],
        _LOG + "commits = [re.search(r'\\w+', entry)[0] for entry in log[:10]]\n"
        f"sum(git.git_show({REPO!r}, each).count('\\n+') for each in commits)",
    ),
    Task(
        "When is 9:00 in London in our five offices?",
        "convert time between timezones",
        [convert_times],
        "times = [time.convert_time('Europe/London', '09:00', zone)"
        f" for zone in {ZONES!r}]\n[each['target']['datetime'] for each in times]",
    ),
    Task(
        "Remember the authors of the repository.",
        "git log, create entities in memory",
        [read_log, remember_authors],
        _LOG + f"names = {{{_AUTHOR} for entry in log}}\nmemory.create_entities([{{'name': name,"
        " 'entityType': 'author', 'observations': ['commits']} for name in names])\nnames",
    ),
    Task(
        "Write the orders of each city into a file of its own.",
        "sqlite query, write file",
        [query(ORDERS), write_cities],
        _ROWS.format(ORDERS) + f"for city in {CITIES!r}:\n    lines = [f\"{{r['customer']}}"
        " {r['total']}\" for r in rows if r['city'] == city]\n"
        f"    files.write_file(f'{FILES}/{{city}}.txt', '\\n'.join(lines))",
    ),
    Task(
        "Write the sums of all cities into a file.",
        "sqlite query, write file",
        [query(SUMS), write_sums],
        f"files.write_file('{FILES}/sums.txt', sqlite.read_query({SUMS!r}))",
    ),
    Task(
        "Which customers of the orders have no entity?",
        "sqlite query, read memory graph",
        [read_customers],
        _ROWS.format(ORDERS)
        + "known = {each['name'] for each in memory.read_graph()['entities']}\n"
        "sorted({r['customer'] for r in rows} - known)",
    ),
    Task(
        "Which words do all notes share?",
        "read text file",
        [read_notes],
        f"set.intersection(*(set(text.split()) for text in {_NOTES}))",
    ),
]


class Recording(NamedTuple):
    """What the servers have listed in `tools`, the `results` of the programs, and the tokens that a
    model read with the mode `all`, which do not depend on Toolwire.
    """

    read_with_all: int
    results: list[str]
    tools: list[dict[str, Any]]


class Connected:
    """A *client* in the form that `Talk` calls; *results* gets those of programs."""

    def __init__(self, client: Any, results: list[str]) -> None:
        self._client = client
        self._results = results

    def request(self, method: str) -> dict[str, Any]:
        """Return the list of tools."""
        return {"tools": self._client.list_entries()}

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the result of a call, whose data is its text."""
        result = self._client.call_tool(name, arguments)
        if name == "run_program":
            self._results.append(result.text)
        return {
            "content": [{"text": result.text}],
            "isError": result.is_error,
            "structuredContent": {"result": result.text},
        }


class Repeated:
    """A *server* in the form that `Talk` calls, whose programs have the recorded *results*."""

    def __init__(self, server: Server, results: list[str]) -> None:
        self._server = server
        self._results = iter(results)

    def request(self, method: str) -> dict[str, Any]:
        """Return the list of tools."""
        return self._server.request(method)

    def call(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the result of a search, or the next one of a program."""
        if name != "run_program":
            return self._server.call(name, arguments)
        return {"content": [{"text": next(self._results)}], "isError": False}


def write_data() -> None:
    """Write the notes, the repository and the database."""
    files, repo = Path(FILES), Path(REPO)
    files.mkdir(parents=True)
    for number in range(NOTES):
        due = "The invoice is overdue. " if number % 3 == 0 else ""
        text = f"Note {number}. {due}" + "The meeting went as planned. " * 40
        (files / f"note{number}.txt").write_text(text)
    subprocess.run(["git", "init", "-q", REPO], check=True)
    for number in range(40):
        (repo / "code.txt").write_text("".join(f"line {n} of {number}\n" for n in range(20)))
        author = AUTHORS[number % len(AUTHORS)]
        identity = ["-c", f"user.name={author}", "-c", f"user.email={author}@example.org"]
        git = ["git", "-C", REPO, *identity]
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", f"change {number}"], check=True)
    database = sqlite3.connect(ROOT / "orders.db")
    rows = [(f"Customer {n % 60}", CITIES[n % 5], n * 1.5) for n in range(200)]
    with database:
        database.execute("CREATE TABLE orders (customer TEXT, city TEXT, total REAL)")
        database.executemany("INSERT INTO orders VALUES (?, ?, ?)", rows)
    database.close()


def write_config(installed: Path) -> Path:
    """Write the config of the five servers; return its path."""
    node, python = installed / "node_modules" / ".bin", installed / "python" / "bin"
    commands = {
        "files": [node / "mcp-server-filesystem", FILES],
        "memory": [node / "mcp-server-memory"],
        "git": [python / "mcp-server-git", "--repository", REPO],
        "time": [python / "mcp-server-time"],
        "sqlite": [installed / "sqlite/bin/mcp-server-sqlite", "--db-path", ROOT / "orders.db"],
    }
    servers: dict[str, Any] = {}
    for name, (program, *arguments) in commands.items():
        servers[name] = {"command": str(program), "args": list(map(str, arguments))}
    servers["memory"]["env"] = {"MEMORY_FILE_PATH": f"{ROOT}/memory.jsonl"}
    path = ROOT / "servers.json"
    path.write_text(json.dumps({"mcpServers": servers}))
    return path


def measure(talker: Connected | Repeated, show: str, task: Task) -> Cost:
    """Return what *task* costs with the list that *show* gives."""
    talk = Talk(talker)
    return talk.solve(show, task.query, task.rounds, task.program)


def add_up(costs: Sequence[Cost]) -> Cost:
    """Return what all tasks cost together."""
    return Cost(*map(sum, zip(*costs, strict=True)))


def repeat_programs(recording: Recording) -> Cost:
    """Return what all tasks cost with programs, whose results are those of the *recording*."""
    tools = [list_foreign(entry["name"].partition("_")[0], entry) for entry in recording.tools]
    with Server(tools, show="code") as server:
        repeated = Repeated(server, recording.results)
        costs = []
        for task in TASKS:
            # That of the recording, whatever the folder of temporary files is here.
            program = task.program.replace(str(ROOT), "/tmp/toolwire-real-servers")
            costs.append(measure(repeated, "code", task._replace(program=program)))
    return add_up(costs)


def measure_all(installed: Path, show: str, results: list[str]) -> tuple[Cost, list[Any]]:
    """Return what all tasks cost together, from new data, and the list; *results* gets those of
    programs.
    """
    shutil.rmtree(ROOT, ignore_errors=True)
    try:
        write_data()
        command = [sys.executable, "-m", "toolwire", "serve", "--show", show]
        command += ["--mount-config", str(write_config(installed)), "--trust-hints", "yes"]
        environment = dict(os.environ)
        with connect(command, env=environment, on_ask=lambda question: PERMISSION) as client:
            connected = Connected(client, results)
            costs = [measure(connected, show, task) for task in TASKS]
            listed = client.list_entries()
    finally:
        shutil.rmtree(ROOT, ignore_errors=True)
    return add_up(costs), listed


def main() -> None:
    """Print what each mode costs, and write the recording."""
    if len(sys.argv) != 2 or not Path(sys.argv[1], "node_modules").is_dir():
        sys.exit(__doc__)
    installed = Path(sys.argv[1]).resolve()
    results: list[str] = []
    tools: list[dict[str, Any]] = []
    read_with_all = 0
    for show in MODES:
        cost, listed = measure_all(installed, show, results)
        print(show, cost, flush=True)
        if show == "all":
            tools, read_with_all = listed, cost.read
    write_recording(Recording(read_with_all, results, tools))


def read_recording() -> Recording:
    """Return what was recorded last."""
    return Recording(**json.loads(RECORDING.read_text("utf-8")))


def write_recording(recording: Recording) -> None:
    """Replace the recording."""
    RECORDING.write_text(json.dumps(recording._asdict(), indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
