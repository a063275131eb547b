"""Counts what a model reads and writes for ten tasks, with all tools, a search, and programs.

    python tests/benchmarks/show_modes.py        prints the numbers and writes the pictures

An ideal model is scripted: it makes no mistake, and makes all calls at once that do not depend on
each other. With each request it reads the list of tools and all that was said before. The tools are
those of an office below, in a list with 163 tools of real servers (tests/schemas/search).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from toolwire import Server, tool_api
from toolwire.protocol.connection_handler import ConnectionHandler
from toolwire_check.pages.bars import draw_bars
from toolwire_schemas.tokens import estimate_list_tokens, estimate_tokens
from toolwire_tools import Entry, Tool

sys.path.insert(0, str(Path(__file__).parent))

from chart import LOOKS

DOCS = Path(__file__).parents[2] / "docs"
PICTURES = {"light": DOCS / "modes-light.svg", "dark": DOCS / "modes-dark.svg"}
MODES = ("all", "search", "code")
PANELS = {
    "tokens_read": "tokens that the model reads (less is better)",
    "tokens_written": "tokens that the model writes (less is better)",
    "requests": "requests to the model (less is better)",
}
LISTS = Path(__file__).parents[1] / "schemas" / "search" / "servers.json"
SERVERS = (
    *("filesystem", "memory", "github", "notion", "playwright"),
    *("everything", "git", "time", "fetch", "bundled"),
)

_CITIES = ("Oslo", "Lima", "Kyoto", "Accra", "Perth")


@tool_api(read_only=True)
def list_customers(city: str = "") -> list[dict[str, Any]]:
    """List customers, of one city if it is given."""
    found = []
    for number in range(60):
        home = _CITIES[number % len(_CITIES)]
        if city in ("", home):
            found.append({"id": number, "name": f"Customer {number}", "city": home})
    return found


@tool_api(read_only=True)
def list_invoices(customer: int) -> list[dict[str, Any]]:
    """List the invoices of a customer, by their id."""
    invoices = []
    for month in range(1, 7):
        number = customer * 10 + month
        total = round(19.5 * month + customer, 2)
        due = f"2026-{month:02}-28"
        invoices.append({"number": number, "total": total, "due": due, "paid": month % 3 > 0})
    return invoices


@tool_api(read_only=True)
def read_invoice(number: int) -> dict[str, Any]:
    """Read an invoice by its number, with its items."""
    items = [{"article": f"A{each}", "price": 4.5 * each} for each in range(1, 13)]
    return {"number": number, "items": items, "notes": "Thank you for your order. " * 8}


@tool_api
def send_reminder(invoice: int) -> str:
    """Send a reminder of an unpaid invoice, by its number."""
    return f"reminded of {invoice}"


OFFICE = [list_customers, list_invoices, read_invoice, send_reminder]


Call = tuple[str, dict[str, Any]]
Round = Callable[[list[list[Any]]], list[Call]]


class Task(NamedTuple):
    """A task: the *rounds* of calls that it takes, each made of the results before, and the
    *program* that makes all of them. *tools* are what a model has to know.
    """

    text: str
    tools: str
    rounds: Sequence[Round]
    program: str


def _customers(city: str) -> Any:
    return lambda done: [("list_customers", {"city": city})]


def _invoices_of_all(done: list[list[Any]]) -> list[tuple[str, dict[str, Any]]]:
    return [("list_invoices", {"customer": each["id"]}) for each in done[0][0]]


def _unpaid(done: list[list[Any]]) -> list[tuple[str, dict[str, Any]]]:
    found = []
    for invoices in done[1]:
        for invoice in invoices:
            if not invoice["paid"]:
                found.append(("send_reminder", {"invoice": invoice["number"]}))
    return found


def _read_all(done: list[list[Any]]) -> list[tuple[str, dict[str, Any]]]:
    return [("read_invoice", {"number": each["number"]}) for each in done[0][0]]


def _calls(tool: str, *arguments: dict[str, Any]) -> Any:
    return lambda done: [(tool, each) for each in arguments]


_OF_ALL = "for c in list_customers(city={city!r}):\n    for i in list_invoices(c['id']):\n"

TASKS = [
    Task(
        "How many customers are in Oslo?",
        "list customers",
        [_customers("Oslo")],
        "len(list_customers(city='Oslo'))",
    ),
    Task(
        "What do the customers in Lima owe?",
        "list customers, list invoices",
        [_customers("Lima"), _invoices_of_all],
        "t = 0\n" + _OF_ALL.format(city="Lima") + "        if not i['paid']: t += i['total']\nt",
    ),
    Task(
        "Remind the customers in Kyoto of unpaid invoices.",
        "list customers, list invoices, send reminder",
        [_customers("Kyoto"), _invoices_of_all, _unpaid],
        _OF_ALL.format(city="Kyoto") + "        if not i['paid']: send_reminder(i['number'])",
    ),
    Task(
        "Which article costs most on invoice 17?",
        "read invoice",
        [_calls("read_invoice", {"number": 17})],
        "max(read_invoice(17)['items'], key=lambda i: i['price'])['article']",
    ),
    Task(
        "What is the sum of all items of customer 3's invoices?",
        "list invoices, read invoice",
        [_calls("list_invoices", {"customer": 3}), _read_all],
        "sum(x['price'] for i in list_invoices(3) for x in read_invoice(i['number'])['items'])",
    ),
    Task(
        "Which of the customers 1 to 8 has the largest invoice?",
        "list invoices",
        [_calls("list_invoices", *({"customer": number} for number in range(1, 9)))],
        "max(range(1, 9), key=lambda c: max(i['total'] for i in list_invoices(c)))",
    ),
    Task(
        "How many customers has each city?",
        "list customers",
        [_customers("")],
        "import collections\ncollections.Counter(c['city'] for c in list_customers())",
    ),
    Task(
        "Remind customer 9 of the unpaid invoices.",
        "list invoices, send reminder",
        [
            _calls("list_invoices", {"customer": 9}),
            _calls("send_reminder", {"invoice": 93}, {"invoice": 96}),
        ],
        "for i in list_invoices(9):\n    if not i['paid']: send_reminder(i['number'])",
    ),
    Task(
        "Compare the notes of invoices 11, 12 and 13.",
        "read invoice",
        [_calls("read_invoice", {"number": 11}, {"number": 12}, {"number": 13})],
        "len({read_invoice(n)['notes'] for n in (11, 12, 13)})",
    ),
    Task(
        "Which invoices of customers in Accra are due in March?",
        "list customers, list invoices",
        [_customers("Accra"), _invoices_of_all],
        "f = []\n"
        + _OF_ALL.format(city="Accra")
        + "        if i['due'][:7] == '2026-03': f.append(i['number'])\nf",
    ),
]


class Cost(NamedTuple):
    """Tokens, and the requests to the model."""

    read: int = 0
    written: int = 0
    requests: int = 0


class AskedServer(Protocol):
    """What answers a model: a `Server`, one of another process, or recorded results."""

    def request(self, method: str, /) -> Any:
        """Return the result of a request without parameters."""

    def call(self, name: str, arguments: dict[str, Any], /) -> Any:
        """Return the result of a call."""


class Talk:
    """What a model has read so far, with the *server* whose list it gets."""

    def __init__(self, server: AskedServer) -> None:
        self._server = server
        listed = server.request("tools/list")["tools"]
        self._list = estimate_list_tokens(listed)
        self._said = 0
        self.cost = Cost()

    def say(self, calls: list[tuple[str, dict[str, Any]]]) -> list[Any]:
        """Have the model make *calls* at once; return their results."""
        read, written, requests = self.cost
        texts = [json.dumps({"name": name, "arguments": given}) for name, given in calls]
        new = sum(map(estimate_tokens, texts))
        self.cost = Cost(read + self._list + self._said, written + new, requests + 1)
        self._said += new
        results = []
        for name, arguments in calls:
            result = self._server.call(name, arguments)
            text = "".join(block["text"] for block in result["content"])
            assert not result["isError"], text
            self._said += estimate_tokens(text)
            results.append(result.get("structuredContent", {}).get("result"))
        return results

    def solve(self, show: str, query: str, rounds: Sequence[Round], program: str) -> Cost:
        """Have the model solve a task, by *program* if the list *show* has that, and return the
        cost of all.
        """
        if show != "all":
            self.say([("search_tools", {"query": query, "limit": 4})])
        if show == "code":
            self.say([("run_program", {"code": program})])
            return self.finish()
        done: list[list[Any]] = []
        for make_calls in rounds:
            calls = make_calls(done)
            if show == "search":
                named = [{"name": name, "arguments": given} for name, given in calls]
                calls = [("call_tool", each) for each in named]
            done.append(self.say(calls))
        return self.finish()

    def finish(self) -> Cost:
        """Have the model read the last results for its answer."""
        read, written, requests = self.cost
        return Cost(read + self._list + self._said, written, requests + 1)


def foreign_tools() -> list[Tool]:
    """Return tools with the entries of real servers; they are not called."""
    tools = []
    lists = json.loads(LISTS.read_text("utf-8"))
    for server in SERVERS:
        for entry in lists[server]["tools"]:
            tools.append(list_foreign(server, {**entry, "name": f"{server}_{entry['name']}"}))
    return tools


def list_foreign(server: str, shown: dict[str, Any]) -> Tool:
    """Return a tool of *server* whose entry is *shown*; it is not called."""

    def refuse(arguments: Any, call: Any) -> dict[str, Any]:
        raise AssertionError("only listed")

    name = shown["name"]
    parts = (server, name.removeprefix(f"{server}_"))
    entry = Entry(kind="tools", name=name, parts=parts, shown=shown)
    return Tool(entry, ConnectionHandler(send=refuse, complete=refuse))


def measure(show: str, task: Task) -> Cost:
    """Return what *task* costs with the list that *show* gives."""
    # A program asks before it sends a reminder, and no user is here: hence the mark.
    office = [tool_api(read_only=True)(tool) for tool in OFFICE] if show == "code" else OFFICE
    with Server([*office, *foreign_tools()], show=show) as server:
        return Talk(server).solve(show, task.tools, task.rounds, task.program)


@cache  # tests ask for the rows and both pictures
def measure_all(show: str) -> Cost:
    """Return what all tasks cost together."""
    costs = [measure(show, task) for task in TASKS]
    return Cost(*map(sum, zip(*costs, strict=True)))


def draw(scheme: str) -> str:
    """Return the costs of the modes as SVG; *scheme* is `light` or `dark`."""
    numbers = {}
    for show in MODES:
        cost = measure_all(show)
        numbers[show] = dict(zip(PANELS, (cost.read, cost.written, cost.requests), strict=True))
    return draw_bars(numbers, "code", LOOKS[scheme], PANELS)


def make_rows() -> list[str]:
    """Return the rows of a table in Markdown, as in docs/many-tools.md."""
    costs = [measure_all(show) for show in MODES]
    rows = []
    for title, member in (
        ("tokens read", "read"),
        ("tokens written", "written"),
        ("requests", "requests"),
    ):
        cells = [f"{getattr(cost, member):,}" for cost in costs]
        rows.append(f"| {title} | {' | '.join(cells)} |")
    return rows


def main() -> None:
    """Print the rows, and write the pictures."""
    print("\n".join(make_rows()))
    for scheme, path in PICTURES.items():
        path.write_text(draw(scheme), "utf-8")


if __name__ == "__main__":
    main()
