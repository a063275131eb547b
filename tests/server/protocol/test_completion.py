"""Clients complete the arguments of prompts and URI templates."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from support.server_process import MODERN, Process, answers, protocol_of, request, served
from toolwire import complete, prompt, resource

TOOLS = '''
import anyio
from enum import Enum
from typing import Annotated, Literal
from toolwire import complete, prompt, resource

CITIES = ["Paris", "Parma", "Oslo"]

class Size(Enum):
    SMALL = 1
    LARGE = 2

def find(text: str, others: dict[str, str]) -> list[str]:
    return [city for city in CITIES if city.startswith(text) and city != others.get("start")]

async def find_async(text):
    await anyio.sleep(0)
    return (city for city in CITIES if text in city)

def fail(text):
    raise ConnectionError("no network")

@prompt
def travel(
    start: Annotated[str, "From here", complete(CITIES)],
    goal: Annotated[str, complete(find)],
    way: Annotated[str, complete(find_async)],
    by: Literal["train", "tram", "bus"],
    size: Size | None = None,
    first_class: bool = False,
    many: Annotated[str, complete(lambda text: map(str, range(1000)))] = "",
    some: Annotated[str, complete([str(number) for number in range(150)])] = "",
    broken: Annotated[str, complete(fail)] = "",
    wrong: Annotated[str, complete(lambda text: "text")] = "",
    free: str = "",
) -> str:
    """Plan a journey."""
    return start

@resource("cities://{city}/{kind}")
def city(city: Annotated[str, complete(CITIES)], kind: Literal["map", "list"]) -> str:
    """A city."""
    return city
'''


@pytest.fixture(scope="module", params=["legacy", "modern"])
def process(request: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    with served(tmp_path_factory.mktemp("completion"), TOOLS) as process:
        process.meta = {"_meta": MODERN} if request.param == "modern" else {}  # type: ignore[attr-defined]
        yield process


def complete_in(process: Process, argument: str, text: str, ref: Any = None, **others: str) -> Any:
    params = {
        "ref": ref or {"type": "ref/prompt", "name": "travel"},
        "argument": {"name": argument, "value": text},
        "context": {"arguments": others},
        **process.meta,  # type: ignore[attr-defined]
    }
    return process.ask(request("completion/complete", params))


@pytest.mark.process
@pytest.mark.parametrize(
    ("argument", "text", "others", "values"),
    [
        ("start", "pa", {}, ["Paris", "Parma"]),
        ("start", "", {}, ["Paris", "Parma", "Oslo"]),
        ("start", "Rome", {}, []),
        ("goal", "Pa", {}, ["Paris", "Parma"]),
        ("goal", "Pa", {"start": "Paris"}, ["Parma"]),
        ("way", "a", {}, ["Paris", "Parma"]),
        ("by", "TR", {}, ["train", "tram"]),
        ("size", "", {}, ["1", "2"]),
        ("first_class", "t", {}, ["true"]),
        ("free", "x", {}, []),
    ],
)
def test_an_argument_is_completed(
    process: Process, argument: str, text: str, others: dict[str, str], values: list[str]
) -> None:
    found = complete_in(process, argument, text, **others)["result"]["completion"]
    assert (found["values"], found["hasMore"]) == (values, False)
    assert found.get("total", len(values)) == len(values)


@pytest.mark.process
@pytest.mark.parametrize("uri", ["cities://{city}/{kind}", "cities://Oslo/map"])
def test_a_variable_of_a_template_is_completed_by_the_template_or_a_uri_of_it(
    process: Process, uri: str
) -> None:
    ref = {"type": "ref/resource", "uri": uri}
    assert complete_in(process, "city", "o", ref)["result"]["completion"]["values"] == ["Oslo"]
    assert complete_in(process, "kind", "m", ref)["result"]["completion"]["values"] == ["map"]


@pytest.mark.process
def test_at_most_a_hundred_values_are_sent_and_the_rest_is_announced(process: Process) -> None:
    some = complete_in(process, "some", "")["result"]["completion"]
    many = complete_in(process, "many", "")["result"]["completion"]
    assert (len(some["values"]), some["total"], some["hasMore"]) == (100, 150, True)
    assert (len(many["values"]), "total" in many, many["hasMore"]) == (100, False, True)


@pytest.mark.process
def test_a_completer_that_fails_is_an_error_of_this_request_alone(process: Process) -> None:
    assert "no network" in complete_in(process, "broken", "")["error"]["message"]
    assert (
        "a completer returns a list of texts"
        in complete_in(process, "wrong", "")["error"]["message"]
    )
    assert complete_in(process, "start", "o")["result"]["completion"]["values"] == ["Oslo"]


ISOLATED = """
import os
from typing import Annotated
from toolwire import complete, prompt, resource

def pid(text, others):
    return [f"{text}{os.getpid()} {others}"]

async def pid_async(text):
    return [f"{text}{os.getpid()} {{}}"]

def end(text):
    os._exit(3)

def fail(text):
    raise ConnectionError("no network")

@prompt(runs_in="process")
def ask(
    a: Annotated[str, complete(pid)],
    b: Annotated[str, complete(pid_async)],
    c: Annotated[str, complete(end)],
    d: Annotated[str, complete(fail)],
    e: Annotated[str, complete(["x"])],
) -> str: ...

@resource("pid://{a}", runs_in="process")
def read(a: Annotated[str, complete(pid)]) -> str: ...
"""
ASK = {"type": "ref/prompt", "name": "ask"}
READ = {"type": "ref/resource", "uri": "pid://{a}"}


@pytest.mark.process
@pytest.mark.parametrize("meta", [{}, {"_meta": MODERN}])
@pytest.mark.parametrize("options", [[], ["--isolate"]])
def test_functions_that_complete_run_in_the_process_of_their_prompt_or_template(
    tmp_path: Path, options: list[str], meta: Any
) -> None:
    source = (
        ISOLATED.replace(', runs_in="process"', "").replace('(runs_in="process")', "")
        if options
        else ISOLATED
    )
    with served(tmp_path, source, *options) as process:
        process.meta = meta  # type: ignore[attr-defined]
        known = complete_in(process, "e", "", ASK)
        found = [
            complete_in(process, *asked)
            for asked in (("a", "x", READ), ("a", "x", ASK), ("b", "x", ASK))
        ]
        failed = complete_in(process, "d", "", ASK)
        ended = complete_in(process, "c", "", ASK)
        again = complete_in(process, "a", "x", ASK, b="y")
        here = process.popen.pid

    values = [one["result"]["completion"]["values"][0] for one in (*found, again)]
    assert known["result"]["completion"]["values"] == ["x"]
    assert all(value.startswith("x") and str(here) not in value for value in values)
    assert [value.partition(" ")[2] for value in values] == ["{}", "{}", "{}", "{'b': 'y'}"]
    assert "no network" in failed["error"]["message"]
    assert "exit status 3" in ended["error"]["message"]


class Size(Enum):
    SMALL = 1


@prompt
def order(size: Size, note: Annotated[str, complete(["a"])] = "") -> str:
    """Order something."""
    return f"{size} {note}"


@resource("notes://{name}")
def note(name: str) -> str:
    """A note."""
    return name


@prompt
def free(text: str) -> str:
    """Say anything."""
    return text


def add(a: Literal[1, 2]) -> int:
    """Add."""
    return a


ARGUMENT = {"name": "size", "value": ""}
ORDER = {"type": "ref/prompt", "name": "order"}


@pytest.mark.parametrize(
    ("params", "problem"),
    [
        (None, "params.ref must have the type"),
        (
            {"ref": {"type": "ref/tool", "name": "order"}, "argument": ARGUMENT},
            "params.ref must have the type",
        ),
        ({"ref": {"type": "ref/prompt"}, "argument": ARGUMENT}, "params.name must be a string"),
        (
            {"ref": {"type": "ref/prompt", "name": "ordre"}, "argument": ARGUMENT},
            "did you mean order?",
        ),
        (
            {"ref": {"type": "ref/resource", "uri": "note://{name}"}, "argument": ARGUMENT},
            "Unknown template",
        ),
        ({"ref": {"type": "ref/resource"}, "argument": ARGUMENT}, "Unknown template"),
        ({"ref": ORDER}, "params.argument must have a name and a value"),
        (
            {"ref": ORDER, "argument": {"name": "size"}},
            "params.argument must have a name and a value",
        ),
        (
            {"ref": ORDER, "argument": {"name": "size", "value": 1}},
            "params.argument must have a name and a value",
        ),
        ({"ref": ORDER, "argument": {"name": "sise", "value": ""}}, "did you mean size?"),
    ],
)
def test_a_request_that_names_nothing_to_complete_is_an_error_that_says_so(
    params: Any, problem: str
) -> None:
    [answer] = answers(protocol_of(order, note), request("completion/complete", params))
    assert answer["error"]["code"] == -32602
    assert problem in answer["error"]["message"]


@pytest.mark.parametrize(
    ("things", "declared"), [([order], True), ([note, free, add], False), ([add], False)]
)
def test_the_capability_is_declared_only_if_there_is_something_to_complete(
    things: Any, declared: bool
) -> None:
    ref = {"type": "ref/prompt", "name": "free"}
    sent = request("completion/complete", {"ref": ref, "argument": {"name": "text", "value": ""}})
    hello, answer = answers(
        protocol_of(*things), request("initialize", {"protocolVersion": "2025-11-25"}), sent
    )
    assert ("completions" in hello["result"]["capabilities"]) is declared
    assert (answer["error"]["code"] == -32601) is not declared


def test_values_may_be_any_iterable_that_is_no_function() -> None:
    assert complete(iter("ab")).values == ["a", "b"]
    assert complete([1, 2]).values == ["1", "2"]  # type: ignore[list-item]


def test_one_text_in_the_place_of_values_is_refused() -> None:
    with pytest.raises(TypeError, match=r"\['Paris'\]"):
        complete("Paris")
