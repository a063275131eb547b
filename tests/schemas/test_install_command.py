from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from toolwire_schemas.install_command import install_command


@pytest.mark.parametrize(
    ("prefix", "mark", "has_pip", "package", "command"),
    [
        ("env", "pyvenv.cfg", True, "PyYAML", "{python} -m pip install PyYAML"),
        ("env", "pyvenv.cfg", True, "toolwire[yaml]", "{python} -m pip install 'toolwire[yaml]'"),
        (
            "env",
            "pyvenv.cfg",
            False,
            "toolwire[yaml]",
            "uv pip install --python {python} 'toolwire[yaml]'",
        ),
        ("toolwire", "pipx_metadata.json", True, "PyYAML", "pipx inject toolwire PyYAML"),
        (
            "toolwire",
            "pipx_metadata.json",
            True,
            "toolwire[yaml]",
            "pipx inject toolwire 'toolwire[yaml]'",
        ),
        ("toolwire", "uv-receipt.toml", False, "PyYAML", "uv tool install toolwire --with=PyYAML"),
        (
            "toolwire",
            "uv-receipt.toml",
            False,
            "toolwire[yaml]",
            "uv tool install toolwire '--with=toolwire[yaml]'",
        ),
        ("archive-v0/abc", "pyvenv.cfg", False, "PyYAML", "uvx --with=PyYAML toolwire ..."),
    ],
)
def test_the_command_fits_the_environment(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    prefix: str,
    mark: str,
    has_pip: bool,
    package: str,
    command: str,
) -> None:
    folder = tmp_path / prefix
    folder.mkdir(parents=True)
    (folder / mark).write_text("")
    monkeypatch.setattr(sys, "prefix", str(folder))
    monkeypatch.setattr(sys, "executable", str(folder / "bin" / "python"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: "pip" if has_pip else None)
    assert install_command(package) == command.format(python=folder / "bin" / "python")
