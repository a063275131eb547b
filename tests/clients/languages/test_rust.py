"""Generated clients in Rust: Debian's compiler takes them without a network, and they drive our
server and others.
"""

from __future__ import annotations

import json
import os
import shutil
from functools import cache
from pathlib import Path

import pytest
from clients.languages import driving
from clients.languages.hostile import TEXT, hostile_entries
from clients.languages.mirrored import examples, mirrored
from interop.peers import INSTALLED, missing
from support.schema_strategies import documents
from support.tool_entry_strategies import ENTRIES
from toolwire_dialects.typed_clients import generate

pytestmark = [pytest.mark.process, pytest.mark.slow]

DRIVERS = Path(__file__).parent / "rust"
RUNTIME = driving.HERE.parents[2] / "clients" / "rust"
CRATES = Path("/usr/share/cargo/registry")
HEAD = ["A client made by a test."]
OLDEST = (1, 63)
"""The oldest compiler that the clients support."""

# Crates come from Debian's packages, so a build needs no network, and nothing of a developer's own
# ~/.cargo.
CONFIG = f"""
[source.crates-io]
replace-with = "debian"
[source.debian]
directory = "{CRATES}"
[net]
offline = true
"""
MANIFEST = f"""
[package]
name = "drive"
version = "0.1.0"
edition = "2021"

[[bin]]
name = "drive"
path = "main.rs"

[dependencies]
toolwire-client = {{ path = "{RUNTIME}" }}
serde = {{ version = "1", features = ["derive"] }}
serde_json = "1"
tokio = {{ version = "1", features = ["rt"], optional = true }}

[features]
default = ["tokio"]
"""


@pytest.fixture(scope="session")
def rust_environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The variables under which cargo compiles each crate once, for all tests and runs."""
    if not (CRATES.is_dir() and list(CRATES.glob("serde_json-*"))):
        missing("the packages of the function language_rust")
    kept = INSTALLED / "languages"
    target = (kept if kept.is_dir() else tmp_path_factory.getbasetemp().parent) / "rust-target"
    home = tmp_path_factory.mktemp("cargo")
    (home / "config.toml").write_text(CONFIG, "utf-8")
    own = {"PATH": f"{rust_programs()}:{os.environ['PATH']}", "RUSTFLAGS": ""}
    # What rustup installs finds its compilers by the home of the user.
    own["RUSTUP_HOME"] = os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup"))
    quick = {"CARGO_INCREMENTAL": "0", "CARGO_PROFILE_DEV_DEBUG": "0"}
    return {"CARGO_HOME": str(home), "CARGO_TARGET_DIR": str(target), **own, **quick}


@cache
def rust_programs() -> Path:
    """Return the folder of a compiler and its programs: the system's, as the crates are, or else
    rustup's.
    """
    places = [*os.defpath.split(os.pathsep), *os.environ["PATH"].split(os.pathsep)]
    return next(filter(has_rust, map(Path, places)), None) or missing(
        "the packages of the function language_rust"
    )


def has_rust(folder: Path) -> bool:
    """Whether all programs that the tests use are in *folder* and run: those of rustup may lack
    their component.
    """
    if not driving.is_at_least(folder / "rustc", OLDEST, "--version"):
        return False
    others = ("cargo", "cargo-clippy", "rustfmt")
    return all(driving.is_at_least(folder / name, (0, 0), "--version") for name in others)


def cargo(*arguments: str, folder: Path, env: dict[str, str]) -> str:
    return driving.run(
        [rust_programs() / "cargo", *arguments], folder, {**env, "HOME": env["CARGO_HOME"]}
    )


def formatted(folder: Path, env: dict[str, str], *files: str) -> None:
    driving.run([rust_programs() / "rustfmt", "--check", "--edition", "2021", *files], folder, env)


def project(folder: Path, env: dict[str, str], files: dict[str, str]) -> str:
    """Write a program, whose generated files are as rustfmt leaves them, into *folder*; return its
    name.
    """
    name = f"drive-{folder.name}"
    (folder / "Cargo.toml").write_text(MANIFEST.replace('"drive"', f'"{name}"'), "utf-8")
    for file, text in files.items():
        (folder / file).write_text(text, "utf-8")
    formatted(folder, env, *(file for file in files if file.endswith("tools.rs")))
    return name


def linted(folder: Path, env: dict[str, str]) -> None:
    cargo("clippy", "--quiet", "--", "-D", "warnings", folder=folder, env=env)


def built(folder: Path, env: dict[str, str], files: dict[str, str]) -> Path:
    """Return the compiled program of *files*."""
    name = project(folder, env, files)
    cargo("build", "--quiet", folder=folder, env=env)
    return Path(env["CARGO_TARGET_DIR"]) / "debug" / name


def test_the_runtime_passes_its_own_tests(rust_environment: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "rust"
    shutil.copytree(RUNTIME, folder, ignore=shutil.ignore_patterns("target"))

    cargo("fmt", "--check", folder=folder, env=rust_environment)
    cargo(
        "clippy",
        "--quiet",
        "--all-targets",
        "--",
        "-D",
        "warnings",
        folder=folder,
        env=rust_environment,
    )
    cargo("test", "--quiet", "--features=tokio", folder=folder, env=rust_environment)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory, rust_environment: dict[str, str]) -> Path:
    """A program that drives three servers; its first client contains the runtime, the others import
    it.
    """
    files = {file.name: file.read_text("utf-8") for file in DRIVERS.glob("*.rs")}
    files["every_type_tools.rs"] = driving.generated("rust", driving.EVERY_TYPE)
    files["official_tools.rs"] = driving.generated("rust", driving.official(), embeds=False)
    files["everything_tools.rs"] = driving.generated("rust", driving.everything(), embeds=False)
    folder = tmp_path_factory.mktemp("rust")
    program = built(folder, rust_environment, files)
    linted(folder, rust_environment)
    return program


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_a_client_has_every_type_and_every_way_a_call_can_go(
    program: Path, tmp_path: Path, era: str
) -> None:
    said = driving.drive([program, "every_type", era], tmp_path)

    gone = [
        7,
        "out of \x1b[31mpaper",
        "the server ended: exit status: 7; the end of its stderr:\nout of \\u{1b}[31mpaper",
    ]
    answers = {
        "revision": "2025-11-25" if era == "legacy" else "2026-07-28",
        "tools": 18,
        "add": [5, 3],
        "every type": [driving.VALUE, driving.VALUE],
        "measure": 9.0,
        "plant": ["level 1", "level 0", "leaf"],
        "picture": ["iVBORw==", "image/png"],
        "just text": ["two words"],
        "names": ["class", "https://example.org/a"],
        "awaited": 8,
        "null": [{"first": 5, "max_items": None}, {"first": 5}],
        "list": {"items": [5, 6, 7]},
        "fail": ["no \x1b[31mpaper", "the tool failed: no \\u{1b}[31mpaper"],
        "bad arguments": "the tool failed: arguments.times: 9 is greater than 3",
        "missing": -32602,
        "progress": [3, [[number, 3, f"number {number}"] for number in (1, 2, 3)]],
        "cancel": [True, True, True],
        "timeout": [True, True],
        "pipelined": True,
        "threads": 36,
        "no questions": (
            "the tool failed: "
            "This tool asks the user, but the client that called it does not support elicitation."
        ),
        "closed": True,
        "no start": "the server ended: exit status: 3; the end of its stderr:\nno config",
        "no program": 'cannot start "/nonexistent/program": No such file or directory (os error 2)',
    }
    assert {step: value for step, value in said if step in answers} == answers
    assert [value for step, value in said if step == "death"] == [gone, gone, gone]
    assert [value for step, value in said if step == "question"] == [
        "2 large soup",
        "the tool failed: The user declined to answer.",
        "the tool failed: The user closed the form without an answer.",
        "1 small slow food",
    ]
    asked = [f"How much {dish}?" for dish in ("soup", "tea", "water", "slow food")]
    assert dict(said)["asked"] == [[message, True] for message in asked]
    assert {step for step, _ in said} == {*answers, "death", "question", "asked"}


def test_a_server_ends_with_a_host_that_does_not_close_its_client(
    program: Path, tmp_path: Path
) -> None:
    assert driving.drive([program, "exits", ""], tmp_path) == [["stubborn", True], ["add", 2]]


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_a_client_drives_a_server_of_the_official_python_sdk(
    program: Path, tmp_path: Path, era: str
) -> None:
    assert driving.drive([program, "official", era], tmp_path) == [
        ["add", 5],
        ["fail", "the tool failed: Error executing tool fail: out of order"],
        ["count", ["counted", [1, 2, 3]]],
        ["delete", "deleted it"],
        ["wait", True],
    ]


def test_a_client_drives_the_everything_server(program: Path, tmp_path: Path) -> None:
    assert driving.drive([program, "everything", ""], tmp_path) == [
        ["server", "mcp-servers/everything"],
        ["weather", {"temperature": 36, "conditions": "Light rain / drizzle", "humidity": 82}],
        ["sum", "The sum of 2 and 3 is 5."],
        ["image", 1],
        ["steps", 2],
        ["resource", "demo://resource/dynamic/text/1"],
        ["links", 2],
    ]


# --- any schemas ----------------------------------------------------------------------------------


def test_a_client_of_any_tools_compiles(tmp_path: Path, rust_environment: dict[str, str]) -> None:
    entries = [
        *(
            driving.mirror(number, schema)
            for number, schema in enumerate(examples(documents(), 40))
        ),
        *(
            {**entry, "name": f"{entry['name']}{number}"}
            for number, entry in enumerate(examples(ENTRIES, 40))
        ),
    ]
    tools = generate(
        "rust", entries, command=["server", '\u202e"\\\n'], head=HEAD, runtime_in="package"
    )

    project(
        tmp_path, rust_environment, {"tools.rs": tools, "main.rs": "mod tools;\n\nfn main() {}\n"}
    )
    linted(tmp_path, rust_environment)


def test_a_client_of_a_hostile_server_compiles(
    tmp_path: Path, rust_environment: dict[str, str]
) -> None:
    tools = generate("rust", hostile_entries(), command=[TEXT], head=[TEXT], runtime_in="package")

    project(
        tmp_path, rust_environment, {"tools.rs": tools, "main.rs": "mod tools;\n\nfn main() {}\n"}
    )
    linted(tmp_path, rust_environment)


def test_values_go_through_the_types_of_rust_and_back(
    tmp_path: Path, rust_environment: dict[str, str]
) -> None:
    cases = examples(mirrored(), 40)
    entries = [driving.mirror(number, schema) for number, (schema, _) in enumerate(cases)]
    tools = generate(
        "rust", entries, command=driving.echo(entries, tmp_path), head=HEAD, runtime_in="package"
    )
    values = [json.dumps({"result": value}) for _, value in cases]
    mirrors = "".join(
        f"    say(tools.mirror_{number}(&serde_json::from_str({_literal(value)}).unwrap()).call().unwrap());\n"  # noqa: E501
        for number, value in enumerate(values)
    )
    program = built(
        tmp_path, rust_environment, {"tools.rs": tools, "main.rs": f"{_MIRRORS}{mirrors}}}\n"}
    )

    assert driving.drive([program], tmp_path) == [value for _, value in cases]


def _literal(text: str) -> str:
    return f'r###"{text}"###'


_MIRRORS = """mod tools;

fn say(value: impl serde::Serialize) {
    println!("{}", serde_json::to_string(&value).unwrap());
}

fn main() {
    let tools = tools::Tools::start().unwrap();
"""
