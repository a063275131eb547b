"""The published schemas mean the same to another language's validator, and their TypeScript declarations are theirs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from interop import peers
from mutations import mutants, written
from toolwire_schemas.load import load, names, validator

SHELF = Path(__file__).parents[2] / "schemas"
SCHEMAS = SHELF / "toolwire_schemas" / "v1"
HOST = peers.HERE / "drivers" / "host.ts"


def test_ajv_judges_every_example_and_every_change_of_one_as_we_do(tmp_path: Path) -> None:
    sent, verdicts, about = [], [], []
    for name in names():
        judge = validator(name)
        for example in load(name)["examples"]:
            changed = [(written(mutant.path), mutant.change, mutant.value) for mutant in mutants(name, example)]
            for place, change, value in [("", "as it is", example), *changed]:
                sent.append(json.dumps([name, value]))
                verdicts.append(judge.is_valid(value))
                about.append((name, place, change))
    done = peers.run([*peers.node_driver("ajv", "ajv.mjs"), str(SCHEMAS)], tmp_path, text="\n".join(sent))

    assert done.returncode == 0, done.stderr
    theirs = json.loads(done.stdout)
    assert [case for case, ours, other in zip(about, verdicts, theirs, strict=True) if ours != other] == []
    assert True in verdicts
    assert False in verdicts


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
    options = ["--strict", "--noEmit", "--exactOptionalPropertyTypes", "--noImplicitReturns", "--target", "es2022"]
    done = peers.run([peers.node(), compiler, *options, "--types", "", "host.ts", "toolwire.d.ts"], tmp_path)

    assert (done.returncode, done.stdout) == (0, ""), done.stderr
