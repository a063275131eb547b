"""`command_line`: runs `toolwire` in this process, through the entry of the command, as fast as a
function.
"""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest


class Done(NamedTuple):
    """The exit status of a command, and its output."""

    returncode: int
    stdout: str
    stderr: str


class CommandLine:
    """Runs commands in *folder*."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capture = capture

    def __call__(
        self, *words: str, cwd: Path | None = None, stdin: str | bytes = "", **env: str
    ) -> Done:
        """Run `toolwire` with *words* in a folder, with *env* added to the environment."""
        from toolwire.cli.main import main

        folder = cwd or self.folder
        data = stdin if isinstance(stdin, bytes) else stdin.encode()
        self._capture.readouterr()
        with pytest.MonkeyPatch.context() as patch, forgotten_imports(folder):
            patch.chdir(folder)
            patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), "utf-8"))
            # A command may set it for the rest of its process, which here runs other tests.
            patch.setenv("TOOLWIRE_LANG", os.environ.get("TOOLWIRE_LANG", "en"))
            for name, value in env.items():
                patch.setenv(name, value)
            status = main(words)
        return Done(status, *self._capture.readouterr())


@contextmanager
def forgotten_imports(folder: Path) -> Iterator[None]:
    """Forget, after the block, the modules that it imports from *folder*."""
    modules, path = dict(sys.modules), list(sys.path)
    sys.modules.pop("tools", None)  # what pytest may have called the folder of tests
    try:
        yield
    finally:
        for name in set(sys.modules) - set(modules):
            if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
                del sys.modules[name]
        sys.modules.update(modules)
        sys.path[:] = path
        importlib.invalidate_caches()


@pytest.fixture
def command_line(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> CommandLine:
    """Return `toolwire` as a function, in the test's folder."""
    return CommandLine(tmp_path, capfd)
