"""Generated clients in Go: they compile, are as gofmt leaves them, and drive our server and those
of others.
"""

from __future__ import annotations

import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from clients.languages import driving
from clients.languages.hostile import TEXT, hostile_entries
from clients.languages.mirrored import examples, mirrored
from interop.peers import INSTALLED
from support.schema_strategies import documents
from toolwire_dialects.typed_clients import generate

pytestmark = [pytest.mark.process, pytest.mark.slow]

DRIVERS = driving.HERE / "go"
RUNTIME = driving.HERE.parents[2] / "clients" / "go"
HEAD = ["A client made by a test."]


@pytest.fixture(scope="session")
def go_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The variables under which Go downloads nothing and compiles its standard library once."""
    kept = INSTALLED / "languages"
    cache = (
        kept / "go-cache" if kept.is_dir() else tmp_path_factory.getbasetemp().parent / "go-cache"
    )
    offline = {
        "GOPROXY": "off",
        "GOTOOLCHAIN": "local",
        "GOTELEMETRY": "off",
        "GOFLAGS": "-mod=mod",
    }
    return {"GOCACHE": str(cache), **offline}


@cache
def go_program() -> Path:
    """Return Go of a version that the clients support: that of Debian 12 is older, and counts as
    missing.
    """
    return driving.toolchain_at_least("go/bin/go", (1, 24), "version")


def go(*arguments: str, folder: Path, env: dict[str, str]) -> str:
    return driving.run([go_program(), *arguments], folder, env)


def gofmt(folder: Path) -> str:
    """The files in *folder* that gofmt would change."""
    found = go_program().resolve().with_name("gofmt")  # of the same version
    return driving.run([found, "-l", "."], folder, {"HOME": "/nonexistent"})


def built(folder: Path, env: dict[str, str], tools: str, driver: str) -> Path:
    """Return the compiled program *driver*, whose package `drive/tools` is the generated client."""
    folder = folder / "drive"
    (folder / "tools").mkdir(parents=True)
    (folder / "go.mod").write_text("module drive\n\ngo 1.24\n", "utf-8")
    (folder / "tools" / "tools.go").write_text(tools, "utf-8")
    (folder / "main.go").write_text(driver, "utf-8")
    assert gofmt(folder) == ""
    go("vet", "./...", folder=folder, env=env)
    go("build", "-o", "drive", ".", folder=folder, env=env)
    return folder / "drive"


def test_the_runtime_passes_its_own_tests(go_environment: dict[str, str]) -> None:
    assert gofmt(RUNTIME) == ""
    for system in ("linux", "darwin", "windows"):
        go(
            "vet",
            ".",
            folder=RUNTIME,
            env={**go_environment, "GOOS": system, "CGO_ENABLED": "0", "HOME": "/nonexistent"},
        )
    races = ["-race"] if shutil.which("gcc") else []
    go(
        "test",
        "-count=1",
        *races,
        ".",
        folder=RUNTIME,
        env={**go_environment, "HOME": "/nonexistent"},
    )


@pytest.fixture(scope="session")
def every_type(tmp_path_factory: pytest.TempPathFactory, go_environment: dict[str, str]) -> Path:
    tools = driving.generated("go", driving.EVERY_TYPE)
    return built(
        tmp_path_factory.mktemp("go"),
        go_environment,
        tools,
        (DRIVERS / "every_type.go").read_text("utf-8"),
    )


def returned(era: str) -> dict[str, Any]:
    """What the driver of every_type.py prints, by step."""
    asking = "order" if era == "" else ""  # legacy servers do not say which tool asks
    away = 'tool "order": the user is away'
    if era == "legacy":  # where the question is a request of the server
        away = "tool: The client could not ask the user: the client failed to ask the user."
    gone = "gone: 7 out of \x1b[31mpaper"
    return {
        "revision": "2025-11-25" if era else "2026-07-28",
        "add": [5, 3],
        "every type": [driving.VALUE, driving.VALUE],
        "unions": [False, True, 2.5, False, False, True, [1, 2]],
        "measure": 9,
        "plant": ["level 1", "level 0", "leaf"],
        "picture": ["image", "image/png", "PNG"],
        "nothing": None,
        "just text": "",
        "names": ["class", "https://example.org/a", {"items": [5, 6]}],
        "fail": ["tool: out of order", 'tool "fail" failed: out of order'],
        "bad arguments": "tool: arguments.times: 9 is greater than 3",
        "missing": "request: -32602",
        "progress": [[number, 3, f"number {number}"] for number in (1, 2, 3)],
        "cancel": ["cancelled", True, "too late", "cancelled"],
        "pipelined": 0,
        "no questions": (
            "tool: This tool asks the user, but the client that called it does not support"
            " elicitation."
        ),
        "closed": "closed",
        "questions": [
            [[f"How much {dish}?", asking, True] for dish in ("soup", "tea", "cake")],
            "2 large soup",
            "tool: The user declined to answer.",
            away,
        ],
        "death": [gone, gone, gone, False],
        "no start": "gone: 3 no config",
    }


@pytest.mark.parametrize("era", ["", "legacy"])
def test_a_client_has_every_type_and_every_way_a_call_can_go(
    every_type: Path, tmp_path: Path, era: str
) -> None:
    said = driving.drive([every_type, era], tmp_path)

    assert dict(said) == returned(era)


@pytest.mark.parametrize(("era", "revision"), [("", "2026-07-28"), ("legacy", "2025-11-25")])
def test_a_client_drives_a_server_of_the_official_python_sdk(
    tmp_path: Path, go_environment: dict[str, str], era: str, revision: str
) -> None:
    tools = driving.generated("go", driving.official())
    program = built(tmp_path, go_environment, tools, (DRIVERS / "foreign.go").read_text("utf-8"))

    [said] = driving.drive([program, era], tmp_path)

    assert said == [revision, 5, True, "counted", 6, "deleted it", ["Delete it?"], True]


def test_a_client_drives_the_everything_server(
    tmp_path: Path, go_environment: dict[str, str]
) -> None:
    tools = driving.generated("go", driving.everything())
    program = built(tmp_path, go_environment, tools, (DRIVERS / "everything.go").read_text("utf-8"))

    [said] = driving.drive([program], tmp_path)

    weather = {"temperature": 36, "conditions": "Light rain / drizzle", "humidity": 82}
    image, steps, resource = "image/png", 2, "demo://resource/dynamic/text/1"
    assert said == ["2025-11-25", weather, "The sum of 2 and 3 is 5.", image, True, steps, resource]


def test_a_client_that_imports_the_runtime_compiles_too(
    tmp_path: Path, go_environment: dict[str, str]
) -> None:
    (tmp_path / "tools.go").write_text(
        driving.generated("go", driving.EVERY_TYPE, embeds=False), "utf-8"
    )
    module = (RUNTIME / "go.mod").read_text("utf-8").splitlines()[0].removeprefix("module ")
    requires = (
        f"module tools\n\ngo 1.24\n\nrequire {module} v0.0.0\n\nreplace {module} => {RUNTIME}\n"
    )
    (tmp_path / "go.mod").write_text(requires, "utf-8")

    go("vet", "./...", folder=tmp_path, env=go_environment)

    assert gofmt(tmp_path) == ""


def test_a_client_of_any_schemas_compiles(tmp_path: Path, go_environment: dict[str, str]) -> None:
    entries = [
        driving.mirror(number, schema) for number, schema in enumerate(examples(documents(), 100))
    ]
    tools = generate("go", entries, command=["server"], head=HEAD)

    built(
        tmp_path,
        go_environment,
        tools,
        'package main\n\nimport _ "drive/tools"\n\nfunc main() {}\n',
    )


def test_a_client_of_a_hostile_server_compiles(
    tmp_path: Path, go_environment: dict[str, str]
) -> None:
    tools = generate("go", hostile_entries(), command=[TEXT], head=[TEXT])

    built(
        tmp_path,
        go_environment,
        tools,
        'package main\n\nimport _ "drive/tools"\n\nfunc main() {}\n',
    )


def test_values_go_through_the_types_of_go_and_back(
    tmp_path: Path, go_environment: dict[str, str]
) -> None:
    cases = examples(mirrored(), 100)
    entries = [driving.mirror(number, schema) for number, (schema, _) in enumerate(cases)]
    tools = generate("go", entries, command=driving.echo(entries, tmp_path), head=HEAD)
    program = built(tmp_path, go_environment, tools, _mirrors([value for _, value in cases]))

    said = driving.drive([program], tmp_path)

    assert said == [value for _, value in cases]


def _mirrors(values: list[Any]) -> str:
    """A driver that reads each value as the arguments of its tool, calls it, and prints the
    result.
    """
    calls = "".join(
        f"""	func() (any, error) {{
		var arguments tools.Mirror{number}Arguments
		must(json.Unmarshal([]byte({json.dumps(json.dumps({"result": value}))}), &arguments))
		return t.Mirror{number}(ctx, arguments)
	}},
"""
        for number, value in enumerate(values)
    )
    return f"""package main

import (
	"context"
	"encoding/json"
	"fmt"

	"drive/tools"
)

var ctx = context.Background()
var t *tools.Tools

var calls = []func() (any, error){{
{calls}}}

func main() {{
	var err error
	t, err = tools.Connect(ctx, nil)
	must(err)
	for _, call := range calls {{
		result, err := call()
		must(err)
		line, err := json.Marshal(result)
		must(err)
		fmt.Println(string(line))
	}}
	must(t.Close())
}}

func must(err error) {{
	if err != nil {{
		panic(err)
	}}
}}
"""
