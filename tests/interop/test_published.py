"""The published schemas mean the same to another language's validator, and their TypeScript
declarations are theirs.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from interop import peers
from support.json_mutations import mutants, written
from toolwire_schemas.published import bundle, list_names, load, load_validator

SHELF = Path(__file__).parents[2] / "schemas"
SCHEMAS = SHELF / "toolwire_schemas" / "v1"
HOST = peers.HERE / "drivers" / "host.ts"


Case = tuple[str, Any, str]
"""The name of a schema, a value to judge by it, and what was done to an example to get it."""


def cases(name: str) -> Iterator[Case]:
    """The examples of a schema, and every third change of each: all of them take a minute."""
    for example in load(name)["examples"]:
        yield name, example, "nothing"
        for mutant in islice(mutants(name, example), 0, None, 3):
            yield name, mutant.value, f"{written(mutant.path)} {mutant.change}"


def disagreements(found: list[Case], source: Path, folder: Path) -> list[tuple[str, str]]:
    """Where ajv, given the schemas of *source*, and jsonschema judge differently."""
    lines = "\n".join(json.dumps([name, value]) for name, value, _ in found)
    done = peers.run([*peers.node_driver("ajv", "ajv.mjs"), str(source)], folder, text=lines)
    assert done.returncode == 0, done.stderr
    ours = [load_validator(name).is_valid(value) for name, value, _ in found]
    assert {*ours} == {True, False}
    theirs = json.loads(done.stdout)
    return [
        (name, what)
        for (name, _, what), mine, other in zip(found, ours, theirs, strict=True)
        if mine != other
    ]


def test_ajv_judges_every_example_and_changes_of_it_as_we_do(tmp_path: Path) -> None:
    assert (
        disagreements([case for name in list_names() for case in cases(name)], SCHEMAS, tmp_path)
        == []
    )


@pytest.mark.parametrize("name", ["messages-2026-07-28", "tool-library", "tools-list-result"])
def test_ajv_takes_a_bundle_as_it_is(name: str, tmp_path: Path) -> None:
    one = tmp_path / "bundle.json"
    one.write_text(json.dumps(bundle(name)), "utf-8")
    assert disagreements(list(cases(name)), one, tmp_path) == []


def test_the_declarations_are_those_of_the_schemas(tmp_path: Path) -> None:
    peers.installed_package("json-schema-to-typescript")
    made = tmp_path / "toolwire.d.ts"
    done = peers.run([peers.node(), str(SHELF / "declarations.mjs"), str(made)], tmp_path)

    assert done.returncode == 0, done.stderr
    current = made.read_text("utf-8") == (SCHEMAS / "toolwire.d.ts").read_text("utf-8")
    assert current, "the schemas have changed: run node schemas/declarations.mjs"


def test_a_host_is_written_in_the_declared_types_and_its_mistakes_are_found(tmp_path: Path) -> None:
    for file in (SCHEMAS / "toolwire.d.ts", HOST):
        shutil.copy(file, tmp_path)
    compiler = str(peers.installed_package("typescript") / "bin" / "tsc")
    options = [
        "--strict",
        "--noEmit",
        "--exactOptionalPropertyTypes",
        "--noImplicitReturns",
        "--target",
        "es2022",
    ]
    done = peers.run(
        [peers.node(), compiler, *options, "--types", "", "host.ts", "toolwire.d.ts"], tmp_path
    )

    assert (done.returncode, done.stdout) == (0, ""), done.stderr
