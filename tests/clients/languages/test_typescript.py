"""Clients in TypeScript compile under the strictest settings, and do what a client of Toolwire
does.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from clients.languages.driving import (
    EVERY_TYPE,
    HERE,
    VALUE,
    drive,
    echo,
    entries_of,
    everything,
    generated,
    mirror,
    official,
    run,
    toolchain,
)
from clients.languages.hostile import TEXT, hostile_entries
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from support.tool_entry_strategies import ENTRIES, SAMPLES, Sample
from toolwire_dialects.typed_clients import generate, typescript

pytestmark = [pytest.mark.process, pytest.mark.slow]

SOURCES = HERE.parents[2] / "clients" / "typescript"
ERAS = ("auto", "legacy")
OPTIONS = {
    "strict": True,
    "exactOptionalPropertyTypes": True,
    "noUncheckedIndexedAccess": True,
    "noPropertyAccessFromIndexSignature": True,
    "noImplicitOverride": True,
    "noImplicitReturns": True,
    "noFallthroughCasesInSwitch": True,
    "noUnusedLocals": True,
    "noUnusedParameters": True,
    "erasableSyntaxOnly": True,
    "isolatedModules": True,
    "verbatimModuleSyntax": True,
    "rewriteRelativeImportExtensions": True,
    "module": "nodenext",
    "target": "es2022",
    "lib": ["es2024", "esnext.disposable"],
    "types": ["node"],
    "outDir": "dist",
}


def installed(program: str) -> Path:
    return toolchain(f"node_modules/.bin/{program}")


def compile_to(folder: Path, options: dict[str, Any] = OPTIONS, /, **sources: str) -> None:
    """Compile the modules of these names in *folder* by the strictest settings."""
    for name, text in sources.items():
        (folder / f"{name}.ts").write_text(text, "utf-8")
    modules = folder / "node_modules"
    if not modules.exists():
        modules.symlink_to(installed("tsc").parents[1], target_is_directory=True)
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "tsconfig.json").write_text(
        json.dumps({"compilerOptions": options, "include": ["*.ts"]})
    )
    run([installed("tsc"), "--project", "tsconfig.json"], folder)


def program(name: str) -> str:
    return (HERE / "typescript" / f"{name}.ts").read_text("utf-8")


# What the programs are run with: the compiled ones with the oldest Node, the others with the text
# as it is.
RUNTIMES = {
    "node": ["node", "dist/{}.js"],
    "deno": ["deno", "run", "--allow-all", "--no-lock", "--cached-only", "{}.ts"],
    "bun": ["bun", "run", "{}.ts"],
}


def command_of(runtime: str, name: str) -> list[str | Path]:
    first, *others = RUNTIMES[runtime]
    return [installed(first), *(word.format(name) for word in others)]


@pytest.fixture(scope="module")
def every_type(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a compiled program that drives the client of every_type.py."""
    folder = tmp_path_factory.mktemp("every_type")
    compile_to(folder, client=generated("typescript", EVERY_TYPE), main=program("every_type"))
    return folder


def failed(kind: str, message: str, **more: Any) -> dict[str, Any]:
    return {"kind": kind, "message": message, **more}


def tool_failed(text: str) -> dict[str, Any]:
    return failed("ToolFailed", text, text=text)


GONE = failed(
    "ServerGone",
    "the server ended with exit status 7; the end of its stderr:\nlast words",
    exitStatus=7,
    stderr="last words\n",
)
MOST = 2**53 - 1  # the largest integer that JavaScript keeps
NOT_AS_THE_OTHERS = {
    "whole": MOST,
    "place": {"x": 1, "y": 0},
    "anything": {"deep": [None, MOST]},
    "später": 3,
}
LEAF = {"name": "leaf", "branches": [], "parent": None}
NAMES_OF_QUESTION = {
    "auto": ["message", "schema", "signal", "tool"],
    "legacy": ["message", "schema", "signal"],
}
CAME = {
    "every type": [{**VALUE, **NOT_AS_THE_OTHERS}, 0],
    "add": [3, 42],
    "names": ["class", {"items": [1, 2]}, "https://example.org/p"],
    "nothing": None,
    "echo": "\0 \n",
    "plant": {
        "name": "level 1",
        "branches": [{"name": "level 0", "branches": [LEAF], "parent": None}],
        "parent": None,
    },
    "measure": 9,
    "picture": [{"type": "image", "data": "iVBORw==", "mimeType": "image/png"}],
    "text": "just text",
    "fail": failed("ToolFailed", "no \\u{1b}[31mreason", text="no \x1b[31mreason"),
    "wrong arguments": tool_failed('arguments.a: "two" is not an integer'),
    "no number": failed("TypeError", "JSON has no number NaN"),
    "count": [
        3,
        [{"progress": number, "total": 3, "message": f"number {number}"} for number in (1, 2, 3)],
    ],
    "a callback that throws": failed("Error", "no more"),
    "abort": failed("Error", "the user changed her mind"),
    "the tool was cancelled": True,
    "aborted before": failed("Error", "the user changed her mind"),
    "time limit": failed("TimedOut", "no answer to tools/call in 1 ms"),
    "declined": tool_failed("The user declined to answer."),
    "an onAsk that throws": failed("Error", "the user is out"),
    "pipelined": True,
    "death": GONE,
    "bystander": GONE,
    "after death": GONE,
    "close": 7,
    "after close": GONE,
    "not asked": tool_failed(
        "This tool asks the user, but the client that called it does not support elicitation."
    ),
    "status": 0,
    "open at close": failed("Closed", "the client was closed"),
    "forgotten": 2,
}
"""What comes of each step of `every_type.ts`, in any era."""


@pytest.mark.parametrize(
    ("runtime", "era"), [("node", "auto"), ("node", "legacy"), ("deno", "auto"), ("bun", "auto")]
)
def test_a_client_does_everything_and_leaves_no_process(
    runtime: str, era: str, every_type: Path
) -> None:
    steps = dict(drive([*command_of(runtime, "main"), era], every_type))

    assert steps.pop("revision") == {"auto": "2026-07-28", "legacy": "2025-11-25"}[era]
    assert steps.pop("question") == ["2 large rice", "How much rice?", NAMES_OF_QUESTION[era]]
    assert steps.pop("no tool")["code"] == -32602
    assert steps.pop("listed") == len(entries_of(EVERY_TYPE))
    assert steps == CAME


def test_clients_of_other_servers_compile_and_work(tmp_path: Path) -> None:
    compile_to(
        tmp_path,
        everything=generated("typescript", everything()),
        official=generated("typescript", official()),
        main=program("foreign"),
    )
    steps = dict(drive(command_of("node", "main"), tmp_path))

    assert steps.pop("failure").endswith("out of order")
    assert steps == {
        "revision": "2025-11-25",
        "echo": "Echo: é",
        "structured": ["conditions", "humidity", "temperature"],
        "image": ["text", "image", "text"],
        "progress": [{"progress": 1, "total": 2}, {"progress": 2, "total": 2}],
        "abort": "AbortError",
        "official revision": "2026-07-28",
        "sum": 5,
        "question": "deleted all",
        "count": ["counted", [1, 2, 3]],
        "wait": "AbortError",
    }


def gone(status: int | None, stderr: str = "", signal: str | None = None) -> dict[str, Any]:
    return {"name": "ServerGone", "gone": [status, signal, stderr], "logged": []}


WORKS = {"text": "done", "logged": 0, "revision": "2025-06-18"}
FAULTS = {
    "no fault": WORKS,
    "dies at the probe": WORKS,
    "dies at the start": gone(7, "out of ideas\n"),
    "dies in a call": gone(7, "out of ideas\n"),
    "crashes in a call": gone(None, signal="SIGKILL"),
    "is silent": {"name": "TimedOut", "message": "no answer to tools/call in 200 ms", "logged": []},
    "is silent at the start": {
        "name": "TimedOut",
        "message": "the server was not ready in time",
        "logged": [],
    },
    "talks rubbish": {
        "name": "TimedOut",
        "message": "no answer to tools/call in 500 ms",
        "logged": ["Segmentation fault? No, just kidding."],
    },
    "floods": {**WORKS, "logged": 20_000},
    "a line that is too long": {**WORKS, "logged": 1},
    "says what it should not": WORKS,
    "closes its output": gone(None),
    "leaves a child and dies": gone(7),
    "ignores everything": WORKS,
    "speaks no modern revision": {
        "name": "RequestFailed",
        "message": "no such method (error -32601)",
        "logged": [],
    },
    "no such program": {"name": "NotStarted", "logged": []},
    "no program": {"name": "NotStarted", "logged": []},
    "no such folder": {"name": "NotStarted", "logged": []},
    "aborted": {"name": "Error", "message": "not now", "logged": []},
}


def test_servers_with_faults_give_errors_that_say_so(tmp_path: Path) -> None:
    runtime = (SOURCES / "src" / "toolwire.ts").read_text("utf-8")
    compile_to(tmp_path, client=runtime, main=program("faults"))
    server = HERE.parents[1] / "support" / "faulty_server.py"
    env = {"PIDS": str(tmp_path / "pids"), "MARK": str(tmp_path / "mark")}
    steps = drive([*command_of("node", "main"), sys.executable, server], tmp_path, env)

    assert dict(steps) == FAULTS


MANY = settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))


def test_any_tools_give_a_client_that_compiles(tmp_path: Path) -> None:
    sources = {"toolwire": (SOURCES / "src" / "toolwire.ts").read_text("utf-8")}

    @MANY
    @given(st.lists(ENTRIES, max_size=3))
    def write(entries: list[dict[str, Any]]) -> None:
        text = generate(
            "typescript",
            entries,
            command=["*/", '"'],
            head=["*/"],
            runtime_in=("package", "client")[len(sources) % 10 == 0],
        )
        sources[f"client{len(sources)}"] = text

    write()
    compile_to(tmp_path, OPTIONS | {"paths": {"@toolwire/client": ["./toolwire.ts"]}}, **sources)


def test_a_client_of_a_hostile_server_compiles(tmp_path: Path) -> None:
    compile_to(
        tmp_path,
        OPTIONS,
        tools=generate("typescript", hostile_entries(), command=[TEXT], head=[TEXT]),
    )


def is_exact(value: Any) -> bool:
    """Whether JavaScript keeps all numbers in *value*: it writes larger ones as whole numbers that
    differ a little.
    """
    if isinstance(value, dict | list):
        return all(map(is_exact, value.values() if isinstance(value, dict) else value))
    return not isinstance(value, int | float) or abs(value) <= 2**53


def test_any_value_goes_to_a_server_and_back_by_its_types(tmp_path: Path) -> None:
    samples: list[Sample] = []

    @MANY
    @given(SAMPLES.filter(lambda sample: is_exact(sample.value)))
    def collect(sample: Sample) -> None:
        samples.append(sample)

    collect()
    entries = [mirror(number, sample.schema) for number, sample in enumerate(samples)]
    calls = [
        f"const value{number} = await tools.mirror{number}({{ result: {json.dumps(sample.value)}"
        f" }});\nconsole.log(JSON.stringify(await tools.mirror{number}({{ result: value{number}"
        " })));\n"
        for number, sample in enumerate(samples)
    ]
    head = 'import { connect } from "./client.ts";\nconst { tools } = await connect();\n'
    client = generate("typescript", entries, command=echo(entries, tmp_path), head=[])
    compile_to(tmp_path, client=client, main=head + "".join(calls))

    came = drive(command_of("node", "main"), tmp_path)
    assert came == [sample.value for sample in samples]
    assert all(
        Draft202012Validator(schema).is_valid(value)
        for (schema, _, _), value in zip(samples, came, strict=True)
    )


def test_types_refuse_what_schemas_refuse(tmp_path: Path) -> None:
    wrong = [
        'tools.add({ a: "2" })',
        "tools.add({})",
        "tools.add({ a: 1, c: 1 })",
        "tools.plant({ depth: null })",
    ]
    main = 'import { connect } from "./client.ts";\nconst { tools } = await connect();\n'
    main += "".join(f"// @ts-expect-error\nawait {call};\n" for call in wrong)
    compile_to(tmp_path, client=generated("typescript", EVERY_TYPE), main=main)


def test_the_runtime_is_formatted_and_linted(tmp_path: Path) -> None:
    for path in SOURCES.iterdir():
        if path.name not in ("node_modules", "dist"):
            (shutil.copytree if path.is_dir() else shutil.copy)(path, tmp_path / path.name)
    run([installed("biome"), "check", "--error-on-warnings", "."], tmp_path)


def test_no_type_of_a_server_takes_a_name_of_the_runtime() -> None:
    text = (SOURCES / "src" / "toolwire.ts").read_text("utf-8")
    code = re.sub(r'/\*.*?\*/|//[^\n]*|"[^"\n]*"|`[^`]*`', "", text, flags=re.DOTALL)
    assert {*re.findall(r"(?<![\w#.])[A-Z]\w*[a-z]\w*", code)} <= typescript.NAMING.taken_types


def copied_package(folder: Path) -> Path:
    """Return a copy of the package's sources, beside what it copies of the contract."""
    root = HERE.parents[2]
    package = folder / "clients" / "typescript"
    built = shutil.ignore_patterns("node_modules", "dist", "schemas", "cases", "LICENSE", "*.tgz")
    shutil.copytree(SOURCES, package, ignore=built)
    for name in ("v1", "cases"):
        shutil.copytree(
            root / "schemas" / "toolwire_schemas" / name,
            folder / "schemas" / "toolwire_schemas" / name,
        )
    shutil.copy(root / "LICENSE", folder)
    (package / "node_modules").symlink_to(installed("tsc").parents[1], target_is_directory=True)
    return package


def with_oldest_node() -> dict[str, str]:
    """Return the environment in which npm's scripts run with the oldest Node."""
    return {"PATH": f"{installed('node').parent}:{os.environ['PATH']}"}


USE = """
import { cases, play, schemas, type Verdict } from "@toolwire/client/contract";
import type { ToolsCallResult } from "@toolwire/client/messages";
import { Ajv2020 } from "ajv/dist/2020.js";
import { connect, ToolFailed } from "./client.ts";

const client = await connect();
const result: ToolsCallResult = { content: [{ type: "text", text: `${await client.tools.add({ a: 2, b: 40 })}` }] };
console.log(JSON.stringify(result.content[0]));
console.log(JSON.stringify(await client.tools.fail({ reason: "r" }).catch((error) => error instanceof ToolFailed)));
await client.close();

const ajv = new Ajv2020({ schemas: schemas(), strict: false, validateFormats: false });
const validate = (schema: object | boolean, value: unknown) => ajv.validate(schema, value) === true;
const call = (a: unknown) => ({ name: "add", arguments: { a } });
const values = { tools: true, call: call(1), wrong: call("") };
const chosen = cases().filter(({ id }) => /^(ids|calls)\\//.test(id));
const outcomes: Record<Verdict["outcome"], number> = { pass: 0, fail: 0, "not applicable": 0 };
for await (const verdict of play(process.argv.slice(2), chosen, { validate, values })) {
  outcomes[verdict.outcome]++;
  if (verdict.outcome === "fail") console.error(verdict);
}
console.log(JSON.stringify(outcomes));
"""  # noqa: E501


def test_the_package_passes_its_own_tests(tmp_path: Path) -> None:
    package = copied_package(tmp_path)
    run(["npm", "run", "check"], package, with_oldest_node())
    run(["npm", "test"], package, with_oldest_node())


def test_the_packed_package_is_installed_and_used(tmp_path: Path) -> None:
    packed = json.loads(
        run(["npm", "pack", "--json", "--silent"], copied_package(tmp_path), with_oldest_node())
    )[0]
    files = {file["path"] for file in packed["files"]}
    assert {
        "dist/toolwire.js",
        "dist/toolwire.d.ts",
        "schemas/toolwire.d.ts",
        "cases/ids.json",
        "LICENSE",
    } <= files
    assert not [name for name in files if name.startswith(("src/", "test/"))]

    use = tmp_path / "use"
    modules = use / "node_modules"
    modules.mkdir(parents=True)
    (use / "package.json").write_text('{"type": "module"}')
    archive = tmp_path / "clients" / "typescript" / packed["filename"]
    run(
        ["npm", "install", "--offline", "--no-audit", "--no-fund", archive], use, with_oldest_node()
    )
    assert {path.name for path in modules.glob("*/*")} == {"client"}  # it has no dependencies
    for other in installed("tsc").parents[1].iterdir():
        if not (modules / other.name).exists():
            (modules / other.name).symlink_to(other)
    compile_to(use, client=generated("typescript", EVERY_TYPE, embeds=False), main=USE)
    content, is_failure, outcomes = drive([*command_of("node", "main"), *EVERY_TYPE], use)

    assert (content, is_failure) == ({"type": "text", "text": "42"}, True)
    assert outcomes["fail"] == 0
    assert outcomes["pass"] > 15


def test_the_example_of_the_documentation_runs(tmp_path: Path) -> None:
    page = (HERE.parents[2] / "docs" / "languages.md").read_text("utf-8")
    example = re.findall(r"^```ts\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert len(example) == 1
    compile_to(tmp_path, adder=generated("typescript", EVERY_TYPE), main=example[0])

    assert drive(command_of("node", "main"), tmp_path) == [42]
