"""Extensions: an installed distribution adds a name of each kind, and built-in names stay."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from toolwire_schemas import extensions
from toolwire_schemas.extensions import ExtensionFailed, find_extension, list_extensions

ROOT = Path(__file__).parents[2]
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run `toolwire` in an environment that also has the wheels of Toolwire and the example."""
    folder = tmp_path_factory.mktemp("extension")
    wheels = folder / "wheels"
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    for source in (ROOT, ROOT / "examples" / "extension"):
        copy = folder / "sources" / source.name
        ignored = shutil.ignore_patterns(".*", "node_modules", "target", "__pycache__")
        shutil.copytree(source, copy, ignore=ignored)
        subprocess.run([*build, "-w", str(wheels), str(copy)], check=True, timeout=300)
    # The dependencies are those of this environment; the packages are those of the wheels.
    place = folder / "environment"
    venv.create(place, system_site_packages=False, with_pip=False)
    [site] = place.glob("lib/python*/site-packages")
    for wheel in wheels.glob("*.whl"):
        shutil.unpack_archive(wheel, site, "zip")
    others = [path for path in sys.path if path.endswith("site-packages")]
    (site / "dependencies.pth").write_text("\n".join(others), encoding="utf-8")

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": str(site), "HOME": str(folder)}
        return subprocess.run(
            [str(place / "bin" / "python"), "-m", "toolwire", *words],
            capture_output=True,
            text=True,
            cwd=folder,
            env=environment,
            timeout=60,
            check=False,
        )

    return run


@pytest.mark.process
@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "printed"),
    [
        (("list", "dice"), "roll(sides: int = 6) -> int\n    Roll a die.\n"),
        (("list", "dice", "--as", "names"), "roll\n"),
        (("count", "dice"), "1\n"),
        (("ask", "Hello", "--model", "echo:Hm"), "Hm: Hello\n"),
    ],
)
def test_an_extension_from_a_wheel_has_the_names_that_it_announces(
    installed: Run, words: tuple[str, ...], printed: str
) -> None:
    done = installed(*words)
    assert (done.stdout, done.returncode) == (printed, 0), done.stderr


@pytest.mark.process
@pytest.mark.slow
def test_a_host_of_an_extension_gets_its_entry(installed: Run) -> None:
    done = installed("config", "notebook", "dice")
    start = done.stdout.index("{")
    entry, _ = json.JSONDecoder().raw_decode(done.stdout[start:])
    assert list(entry) == ["mcpServers"]
    assert "Then restart Notebook." in done.stdout + done.stderr


@pytest.mark.process
@pytest.mark.slow
def test_a_command_of_an_extension_has_help_and_rejects_unknown_options(installed: Run) -> None:
    assert "Prints the number of tools" in installed("count", "--help").stdout
    refused = installed("count", "--nonsense")
    assert refused.returncode == 2
    assert "no option '--nonsense'" in refused.stderr


def announce(monkeypatch: pytest.MonkeyPatch, **values: str) -> None:
    points = {name: EntryPoint(name, value, "toolwire.models") for name, value in values.items()}
    monkeypatch.setattr(extensions, "find_extensions", lambda kind: points)


def test_an_extension_is_found_by_its_name_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    announce(monkeypatch, json="json:dumps")
    assert find_extension("models", "json") is json.dumps
    assert find_extension("models", "jso") is None
    assert list_extensions("models") == ["json"]


@pytest.mark.parametrize("value", ["no_such_module:X", "json:no_such_name"])
def test_an_extension_that_cannot_be_imported_is_named(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    announce(monkeypatch, broken=value)
    with pytest.raises(ExtensionFailed, match=r"'broken' .* cannot be imported from"):
        find_extension("models", "broken")
