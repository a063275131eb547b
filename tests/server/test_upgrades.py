"""An upgrade of Toolwire under a running server: it goes on, and imports no module of another
version.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from support.server_process import Process, call, filtered_environment, request, served
from toolwire import version as own_version
from toolwire.version import __version__

ROOT = Path(own_version.__file__).parents[2]
PACKAGES = (
    "schemas/toolwire_schemas",
    "tools/toolwire_tools",
    "server/toolwire",
    "clients/toolwire_client",
)
TOOLS = """
def add(a: int, b: int) -> int:
    return a + b

def place() -> str:
    import toolwire
    return toolwire.__file__
"""


def write_version(file: Path, version: str) -> None:
    text = file.read_text("utf-8")
    file.unlink()  # as an installer does, so it has another inode
    file.write_text(text.replace(f'"{__version__}"', f'"{version}"'), "utf-8")


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A folder with copies of our packages."""
    folder = tmp_path / "installed"
    for package in PACKAGES:
        shutil.copytree(
            ROOT / package,
            folder / Path(package).name,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
    return folder


def text_of(answer: dict[str, Any]) -> str:
    return (
        str(answer["result"]["content"][0]["text"])
        if "result" in answer
        else str(answer["error"]["message"])
    )


def check_it_goes_on(process: Process) -> None:
    assert process.ask(call("add", {"a": 1, "b": 2}))["result"]["structuredContent"] == {
        "result": 3
    }
    assert process.ask(request("ping"))["result"] == {}


@pytest.mark.process
def test_an_upgrade_under_a_running_server_is_named_and_the_server_goes_on(
    tmp_path: Path, installed: Path
) -> None:
    environment = {**filtered_environment(), "PYTHONPATH": str(installed)}
    with served(tmp_path, TOOLS, env=environment) as process:
        assert text_of(process.ask(call("place"))).startswith(str(installed))
        check_it_goes_on(process)

        write_version(installed / "toolwire" / "version.py", "99.0.0")
        for file in installed.glob("*/**/*.py"):
            if file.name not in ("__init__.py", "version.py"):
                file.write_text("raise AttributeError('of another version')\n")

        refused = text_of(process.ask(call("add", {"a": "one", "b": 2})))
        assert f"Toolwire {__version__} runs here, but its files are now those of 99.0.0" in refused
        assert "restart the server" in refused
        check_it_goes_on(process)
        assert process.hang_up() == []
        assert process.wait() == 0


@pytest.mark.process
def test_a_removed_package_is_named_and_the_server_goes_on(tmp_path: Path, installed: Path) -> None:
    environment = {**filtered_environment(), "PYTHONPATH": str(installed)}
    with served(tmp_path, TOOLS, env=environment) as process:
        check_it_goes_on(process)

        shutil.rmtree(installed)

        assert "its files are gone: restart the server" in text_of(
            process.ask(call("add", {"a": "one", "b": 2}))
        )
        check_it_goes_on(process)


@pytest.mark.parametrize(
    ("name", "version", "is_refused"),
    [
        ("toolwire_dialects.lint", "99.0.0", True),
        ("toolwire", "99.0.0", True),
        ("toolwires", "99.0.0", False),
        ("json", "99.0.0", False),
        ("toolwire_dialects.lint", __version__, False),
    ],
)
def test_only_our_modules_of_another_version_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, version: str, is_refused: bool
) -> None:
    file = tmp_path / "version.py"
    file.write_text(f'__version__ = "{__version__}"\n', "utf-8")
    monkeypatch.setattr(own_version, "_FILE", os.fspath(file))
    guard = own_version.UpgradeGuard()
    assert guard.find_spec(name) is None

    write_version(file, version)

    if not is_refused:
        assert guard.find_spec(name) is None
        return
    with pytest.raises(own_version.Upgraded, match=r"99\.0\.0"):
        guard.find_spec(name)
