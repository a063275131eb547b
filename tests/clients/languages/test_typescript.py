"""Clients in TypeScript compile under the strictest settings, and do what a client of Toolwire does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from clients.languages.driving import (
    EVERY_TYPE,
    HERE,
    drive,
    entries_of,
    generated,
    run,
    toolchain,
)

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


def compile_to(folder: Path, **sources: str) -> None:
    """Compile the modules of these names in *folder* by the strictest settings."""
    for name, text in sources.items():
        (folder / f"{name}.ts").write_text(text, "utf-8")
    modules = folder / "node_modules"
    if not modules.exists():
        modules.symlink_to(installed("tsc").parents[1], target_is_directory=True)
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "tsconfig.json").write_text(json.dumps({"compilerOptions": OPTIONS, "include": ["*.ts"]}))
    run([installed("tsc"), "--project", "tsconfig.json"], folder)


def program(name: str) -> str:
    return (HERE / "typescript" / f"{name}.ts").read_text("utf-8")


# What the programs are run with: the compiled ones with the oldest Node, the others with the text as it is.
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
VALUE = {
    "text": 'a "text" with \u2028, é and 🙂',
    "whole": 2**53 - 1,
    "number": 0.1,
    "flag": True,
    "nothing": None,
    "mode": "as usual",
    "colour": "light green",
    "level": 2,
    "one_or_two": 1,
    "words": ["a", ""],
    "pair": [1, "one"],
    "counts": {"a": 1, "b": 2},
    "matrix": [[1, 2.5], []],
    "place": {"x": 1, "y": 0},
    "places": {"here": [{"x": 1, "y": 2}]},
    "shape": {"type": "circle", "centre": {"x": 0, "y": 0}, "radius": 1},
    "tree": {"name": "root", "branches": [{"name": "leaf", "branches": [], "parent": None}], "parent": None},
    "maybe": None,
    "either": [1, 2],
    "options": {"type": "t", "func": None},
    "day": "2026-11-23",
    "anything": {"any": ["thing", None]},
    "kebab-case": "k",
    "später": 3,
}
LEAF = {"name": "leaf", "branches": [], "parent": None}
NAMES_OF_QUESTION = {"auto": ["message", "schema", "signal", "tool"], "legacy": ["message", "schema", "signal"]}
CAME = {
    "every type": [VALUE, 0],
    "add": [3, 42],
    "names": ["class", {"items": [1, 2]}, "https://example.org/p"],
    "nothing": None,
    "echo": "\0 \n",
    "plant": {"name": "level 1", "branches": [{"name": "level 0", "branches": [LEAF], "parent": None}], "parent": None},
    "measure": 9,
    "picture": [{"type": "image", "data": "iVBORw==", "mimeType": "image/png"}],
    "text": "just text",
    "fail": failed("ToolFailed", "no \\u{1b}[31mreason", text="no \x1b[31mreason"),
    "wrong arguments": tool_failed('arguments.a: "two" is not an integer'),
    "no number": failed("TypeError", "JSON has no number NaN"),
    "count": [3, [{"progress": number, "total": 3, "message": f"number {number}"} for number in (1, 2, 3)]],
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
    "not asked": tool_failed("This tool asks the user, but the client that called it does not support elicitation."),
    "status": 0,
    "open at close": failed("Closed", "the client was closed"),
    "forgotten": 2,
}
"""What comes of each step of `every_type.ts`, in any era."""


@pytest.mark.parametrize(("runtime", "era"), [("node", "auto"), ("node", "legacy"), ("deno", "auto"), ("bun", "auto")])
def test_a_client_does_everything_and_leaves_no_process(runtime: str, era: str, every_type: Path) -> None:
    steps = dict(drive([*command_of(runtime, "main"), era], every_type))

    assert steps.pop("revision") == {"auto": "2026-07-28", "legacy": "2025-11-25"}[era]
    assert steps.pop("question") == ["2 large rice", "How much rice?", NAMES_OF_QUESTION[era]]
    assert steps.pop("no tool")["code"] == -32602
    assert steps.pop("listed") == len(entries_of(EVERY_TYPE))
    assert steps == CAME
