"""`--version` names the commit where one is known; Ctrl-C ends a program that starts, without a
traceback.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from toolwire import __version__
from toolwire.cli.printing import version_text as version

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def recorded(monkeypatch: pytest.MonkeyPatch, folder: Path, direct_url: object) -> None:
    """Have the installer of the package record *direct_url* (PEP 610)."""
    record = folder / "direct_url.json"
    record.write_text(json.dumps(direct_url), encoding="utf-8")
    monkeypatch.setattr(version, "_RECORD", os.fspath(record))


def test_a_commit_that_the_installer_recorded_is_shown(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    recorded(
        monkeypatch,
        tmp_path,
        {"url": "https://example.org/x.git", "vcs_info": {"vcs": "git", "commit_id": COMMIT}},
    )

    assert (
        version.write_version(is_verbose=False) == f"toolwire {__version__} (commit {COMMIT[:12]})"
    )


@pytest.mark.parametrize("direct_url", [None, {}, {"vcs_info": None}, {"vcs_info": {}}, []])
def test_without_a_commit_the_version_stands_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, direct_url: object
) -> None:
    recorded(monkeypatch, tmp_path, direct_url)
    monkeypatch.setattr(version, "_CHECKOUT", tmp_path)

    assert version.write_version(is_verbose=False) == f"toolwire {__version__}"


@pytest.mark.process
def test_the_commit_of_a_checkout_is_shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    recorded(monkeypatch, tmp_path, {})
    monkeypatch.setattr(version, "_CHECKOUT", tmp_path)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org", "-C", str(tmp_path)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}

    def run(*words: str) -> str:
        return subprocess.run(
            [*git, *words], env=environment, capture_output=True, text=True, check=True
        ).stdout

    (tmp_path / "file").write_text("1")
    run("init", "--quiet")
    run("add", "file")
    run("commit", "--quiet", "--message", "first")
    commit = run("rev-parse", "HEAD")[:12]

    assert version.write_version(is_verbose=False).endswith(f" (commit {commit})")

    (tmp_path / "file").write_text("2")

    assert version.write_version(is_verbose=False).endswith(f" (commit {commit})")
    assert f" (commit {commit}-dirty)\n" in version.write_version(is_verbose=True)

    run("pack-refs", "--all")  # only git can read them

    assert version.write_version(is_verbose=False).endswith(f" (commit {commit}-dirty)")


@pytest.mark.process
def test_verbose_shows_the_folder_and_the_python() -> None:
    first, *others = version.write_version(is_verbose=True).splitlines()

    assert first.startswith(f"toolwire {__version__}")
    assert others[0] == f"package: {Path(version.__file__).parents[2]}"
    assert sys.executable in others[1]


INTERRUPTING = """
import os, signal, sys

class Interrupt:
    # The finder that is asked first sends Ctrl-C while the module number PLACE is imported.
    number = 0

    def find_spec(self, name, path=None, target=None):
        if name.startswith("toolwire.") or Interrupt.number:
            Interrupt.number += 1
            if Interrupt.number == int(os.environ["PLACE"]):
                os.kill(os.getpid(), signal.SIGINT)
        return None

sys.meta_path.insert(0, Interrupt())
"""


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no process that ends by a signal")
@pytest.mark.parametrize("place", [2, 3, 4, 5, 8, 13, 21, 34])
def test_ctrl_c_during_the_first_imports_ends_without_a_traceback(
    tmp_path: Path, place: int
) -> None:
    (tmp_path / "sitecustomize.py").write_text(INTERRUPTING, "utf-8")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PLACE": str(place)}

    done = subprocess.run(
        [sys.executable, "-m", "toolwire", "list", "Calculator"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")
