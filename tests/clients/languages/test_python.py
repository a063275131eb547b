"""Clients in Python satisfy `mypy --strict`, and do what they say with servers of all makers."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from clients.languages.driving import (
    EVERY_TYPE,
    HERE,
    drive,
    echo,
    entries_of,
    everything,
    generated,
    mirror,
    official,
    run,
)
from clients.languages.hostile import TEXT, hostile_entries
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from support.examples import examples
from support.tool_entry_strategies import ENTRIES
from toolwire_dialects.typed_clients import generate

pytestmark = [pytest.mark.process, pytest.mark.slow]

ROOT = HERE.parents[2]
PATHS = {
    "MYPYPATH": f"{ROOT / 'clients'}:{ROOT / 'schemas'}",
    "PYTHONPATH": f"{ROOT / 'clients'}:{ROOT / 'schemas'}",
}


def check_types(folder: Path) -> None:
    run([sys.executable, "-m", "mypy", "--strict", "."], folder, PATHS)


def test_a_client_of_a_hostile_server_passes_the_strictest_check(tmp_path: Path) -> None:
    text = generate("python", hostile_entries(), command=[TEXT], head=[TEXT])
    (tmp_path / "made.py").write_text(text, "utf-8")
    check_types(tmp_path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client of every type, and the programs that use it."""
    made = tmp_path_factory.mktemp("python")
    (made / "made.py").write_text(generated("python", EVERY_TYPE), "utf-8")
    for program in (HERE / "python").glob("*.py"):
        shutil.copy(program, made)
    return made


def test_clients_and_their_uses_pass_the_strictest_check(folder: Path) -> None:
    for number, command in enumerate((everything(), official(), echo([], folder))):
        (folder / f"made_{number}.py").write_text(generated("python", command), "utf-8")
    modules: list[str] = []

    @settings(max_examples=examples(60), phases=[Phase.generate])
    @given(st.lists(ENTRIES, max_size=3))
    def write(entries: list[dict[str, Any]]) -> None:
        modules.append(generate("python", entries, command=["server"], head=[]))

    write()
    for number, text in enumerate(modules):
        (folder / f"any_{number}.py").write_text(text, "utf-8")
    check_types(folder)


@pytest.mark.parametrize("era", ["auto", "legacy"])
def test_every_type_and_every_way_a_call_can_go(folder: Path, era: str) -> None:
    leaf = {"name": "leaf", "branches": [], "parent": None}
    one = {"name": "level 0", "branches": [leaf], "parent": None}
    assert drive([sys.executable, "drive.py", era], folder, PATHS) == [
        45,
        [True, "leaf", 0.0, 2**60],
        {"name": "level 1", "branches": [one], "parent": None},
        9.0,
        ["image", "a b", ""],
        {"items": [0, 1]},
        ["class", "https://example.org/x"],
        ["fail", "out of order", "out of order"],
        [1, 2, 3],
        "2 large soup",
        True,
        [True, True],
        -32601,
        [7, True],
    ]


def test_calls_at_once_and_a_cancelled_task(folder: Path) -> None:
    assert drive([sys.executable, "drive_async.py"], folder, PATHS) == [True, True, "no", None]


def test_values_of_a_foreign_server_come_back(tmp_path: Path) -> None:
    schema = {
        "type": "object",
        "properties": {"größe": {"enum": ["s", "m"]}, "x-y": {"type": ["number", "null"]}},
    }
    command = echo([mirror(1, schema), mirror(2, {"type": "array", "items": schema})], tmp_path)
    (tmp_path / "made.py").write_text(generated("python", command), "utf-8")
    (tmp_path / "use.py").write_text(
        "import json\nfrom made import COMMAND, Tools\nfrom toolwire_client import connect\n"
        "with connect(COMMAND) as client:\n    tools = Tools(client)\n"
        "    print(json.dumps(tools.mirror_1(result={'größe': 'm', 'x-y': None})))\n"
        "    print(json.dumps(tools.mirror_2(result=[{'x-y': 0.5}, {}])))\n"
    )
    check_types(tmp_path)
    assert drive([sys.executable, "use.py"], tmp_path, PATHS) == [
        {"größe": "m", "x-y": None},
        [{"x-y": 0.5}, {}],
    ]


def test_a_wrong_use_is_found_by_the_type_checker(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "made.py", tmp_path)
    wrong = ["a='2'", "", "a=1, c=2", "a=None"]
    uses = [
        f"def use_{number}(tools: Tools) -> None:\n    tools.add({each})\n"
        for number, each in enumerate(wrong)
    ]
    (tmp_path / "wrong.py").write_text("from made import Tools\n\n" + "\n".join(uses))
    with pytest.raises(AssertionError, match=r"Found 4 errors in 1 file"):
        check_types(tmp_path)


def test_foreign_servers_are_called(tmp_path: Path) -> None:
    for name, command, use in [
        ("everything", everything(), "tools.get_sum(a=2, b=3).text"),
        (
            "official",
            official(),
            "[tools.add(a=2, b=3), tools.count(on_progress=lambda *seen: None)]",
        ),
    ]:
        assert len(entries_of(command)) > 3
        (tmp_path / "made.py").write_text(generated("python", command), "utf-8")
        (tmp_path / "use.py").write_text(
            "import json\nfrom made import COMMAND, Tools\nfrom toolwire_client import"
            " connect\nwith connect(COMMAND) as client:\n    tools = Tools(client)\n   "
            f" print(json.dumps({use}))\n"
        )
        [said] = drive([sys.executable, "use.py"], tmp_path, PATHS)
        assert said == {"everything": "The sum of 2 and 3 is 5.", "official": [5, "counted"]}[name]
