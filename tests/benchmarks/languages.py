"""The generated clients of other languages beside the one in Python, asking the same server, on
this machine, now.

    tests/peers/install languages              once: compilers and what runs the clients
    python tests/benchmarks/languages.py       a minute; --quick takes a tenth

Each client sends 10,000 calls of `add(a, b)` at once, twice, and the second time counts; then a
tenth as many one after the other. They take turns, each in a process of its own. The last column
says how many pipelined calls a client gets answered for each one of the Python client. The server
has its share in all of them.

A language is a line in `LANGUAGES`: a function that makes its program in a folder and returns its
command, to which the number of calls and the command of the server are added. The program prints
`{"per_second": …, "p50_seconds": …}`.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CALLS = 10_000
ROUNDS = 3
ADD = "def add(a: int, b: int) -> int:\n    return a + b\n"
INSTALLED = Path(os.environ.get("TOOLWIRE_PEERS", HERE.parents[1] / ".peers")) / "languages"


def client_for(language: str, folder: Path, name: str) -> Path:
    """Write the client of the server with `add`, and return its path."""
    made = folder / name
    command = [
        sys.executable,
        "-m",
        "toolwire",
        "client",
        language,
        str(folder / "add.py"),
        "-o",
        str(made),
    ]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return made


def python(folder: Path) -> list[str]:
    return [sys.executable, __file__, "--ask"]


def typescript(folder: Path, program: str = "bun") -> list[str]:
    client_for("typescript", folder, "client.ts")
    (folder / "main.ts").write_text(
        (HERE / "languages" / "typescript.ts").read_text("utf-8"), "utf-8"
    )
    (folder / "package.json").write_text('{"type": "module"}')
    if program != "node":
        return [
            str(INSTALLED / "node_modules" / ".bin" / program),
            "run",
            *(["-A"] * (program == "deno")),
            "main.ts",
        ]
    options = (
        "--module nodenext --target es2022 --lib es2022,esnext.disposable --types node"
        " --skipLibCheck --outDir dist"
    )
    (folder / "node_modules").symlink_to(INSTALLED / "node_modules")
    compiler = INSTALLED / "node_modules" / ".bin" / "tsc"
    subprocess.run(
        [compiler, *options.split(), "--rewriteRelativeImportExtensions", "main.ts"],
        cwd=folder,
        check=True,
    )
    return [str(INSTALLED / "node_modules" / ".bin" / "node"), "dist/main.js"]


def go(folder: Path) -> list[str]:
    (folder / "tools").mkdir()
    client_for("go", folder, "tools/tools.go")
    (folder / "go.mod").write_text("module measured\n\ngo 1.24\n")
    (folder / "main.go").write_text((HERE / "languages" / "go.go").read_text("utf-8"), "utf-8")
    own = INSTALLED / "go" / "bin" / "go"
    environment = {**os.environ, "GOTOOLCHAIN": "local", "GOCACHE": str(INSTALLED / "go-cache")}
    subprocess.run(
        [own if own.exists() else "go", "build", "-o", "measured", "."],
        cwd=folder,
        env=environment,
        check=True,
    )
    return [str(folder / "measured")]


def lua(folder: Path) -> list[str]:
    client_for("lua", folder, "client.lua")
    return [
        "nvim",
        "--headless",
        "--clean",
        "--cmd",
        f"luafile {HERE / 'languages' / 'lua.lua'}",
        "--",
    ]


def rust(folder: Path) -> list[str]:
    client_for("rust", folder, "tools.rs")
    (folder / "main.rs").write_text((HERE / "languages" / "rust.rs").read_text("utf-8"), "utf-8")
    crates = 'serde = { version = "1", features = ["derive"] }\nserde_json = "1"\n'
    program = (
        '[package]\nname = "ask"\nversion = "0.1.0"\nedition = "2021"\n[[bin]]\nname = "ask"\npath'
        ' = "main.rs"\n'
    )
    (folder / "Cargo.toml").write_text(f"{program}[dependencies]\n{crates}")
    # Debian's crates, and its compiler before that of rustup, as in the tests.
    source = (
        '[source.crates-io]\nreplace-with = "debian"\n[source.debian]\ndirectory ='
        ' "/usr/share/cargo/registry"\n'
    )
    (folder / "config.toml").write_text(source)
    path = os.pathsep.join((os.defpath, os.environ["PATH"]))
    env = {
        **os.environ,
        "CARGO_HOME": str(folder),
        "HOME": str(folder),
        "PATH": path,
        "RUSTUP_HOME": os.environ.get("RUSTUP_HOME", str(Path.home() / ".rustup")),
    }
    cargo = shutil.which("cargo", path=path) or "cargo"
    subprocess.run(
        [cargo, "build", "--quiet", "--release", "--offline"], cwd=folder, env=env, check=True
    )
    return [str(folder / "target" / "release" / "ask")]


LANGUAGES: dict[str, Callable[[Path], list[str]]] = {
    "Python, threads": python,
    "TypeScript, Node 20": lambda folder: typescript(folder, "node"),
    "TypeScript, Deno": lambda folder: typescript(folder, "deno"),
    "TypeScript, Bun": typescript,
    "Go": go,
    "Lua, Neovim": lua,
    "Rust": rust,
}


def ask(command: list[str], calls: int) -> dict[str, float]:
    """What the Python client takes, in its own process."""
    from toolwire_client import connect

    with connect(command, inherit_env=True) as client:
        for _ in range(2):
            begun = time.perf_counter()
            pending = [client.start("add", {"a": number, "b": 3}) for number in range(calls)]
            assert [call.result().structured["result"] for call in pending] == list(
                range(3, calls + 3)
            )
            seconds = time.perf_counter() - begun
        times = []
        for number in range(calls // 10):
            before = time.perf_counter()
            client.call_tool("add", {"a": number, "b": 3})
            times.append(time.perf_counter() - before)
    return {"per_second": calls / seconds, "p50_seconds": statistics.median(times)}


def measured(chosen: list[str], calls: int, rounds: int) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {language: [] for language in chosen}
    with tempfile.TemporaryDirectory() as root:
        folders = {language: Path(root) / str(number) for number, language in enumerate(chosen)}
        commands = {}
        for language, folder in folders.items():
            folder.mkdir()
            (folder / "add.py").write_text(ADD)
            commands[language] = LANGUAGES[language](folder)
        for _ in range(rounds):
            for language, folder in folders.items():
                server = [sys.executable, "-m", "toolwire", "serve", str(folder / "add.py")]
                command = [*commands[language], str(calls), *server]
                done = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE)
                found[language].append(json.loads(done.stdout))
    return found


def main(words: list[str]) -> None:
    if words[:1] == ["--ask"]:
        print(json.dumps(ask(words[2:], int(words[1]))))
        return
    is_quick = "--quick" in words
    names = [word.lower() for word in words if word != "--quick"]
    chosen = [
        each for each in LANGUAGES if not names or each.split(",")[0].lower() in {"python", *names}
    ]
    found = measured(chosen, CALLS // 10 if is_quick else CALLS, 1 if is_quick else ROUNDS)
    ours = statistics.median(each["per_second"] for each in found["Python, threads"])
    print(f"{'client':24}{'pipelined/s':>14}{'call, p50':>12}{'x Python':>10}")
    for language, rounds in found.items():
        speed = statistics.median(each["per_second"] for each in rounds)
        p50 = statistics.median(each["p50_seconds"] for each in rounds)
        print(f"{language:24}{speed:14,.0f}{p50 * 1e6:9.0f} us{speed / ours:10.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
