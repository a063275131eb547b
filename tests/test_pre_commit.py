"""The hooks of .pre-commit-hooks.yaml, run by pre-commit itself.

They run with the Toolwire of this environment: pre-commit would install another one, from a package
index.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from support.server_process import PATIENCE_SECONDS, filtered_environment

ROOT = Path(__file__).parents[1]
HOOKS = (ROOT / ".pre-commit-hooks.yaml").read_text("utf-8")
TOOL = (
    "from toolwire import tool_api\n\n@tool_api(read_only=True)\ndef add(a: int) -> int:\n   "
    ' "Add."\n    return a\n'
)
CONFIG = """
repos:
  - repo: {repository}
    rev: {commit}
    hooks:
      - {{id: toolwire-lint, files: ^my_tools}}
      - {{id: toolwire-check, files: ^my_tools, args: [--only, ids/zero, --framing, lines]}}
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with tools and the hooks, and other Python that no hook may run."""
    hooks, project = tmp_path / "hooks", tmp_path / "project"
    for folder in (hooks, project):
        folder.mkdir()
        run(folder, "git", "init", "-q")
    (hooks / ".pre-commit-hooks.yaml").write_text(
        HOOKS.replace("language: python", "language: system"), "utf-8"
    )
    run(hooks, "git", "add", "-A")
    run(
        hooks,
        "git",
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@example.com",
        "commit",
        "-qm",
        "hooks",
    )
    commit = run(hooks, "git", "rev-parse", "HEAD").stdout.strip()
    config = CONFIG.format(repository=os.fspath(hooks), commit=commit)
    (project / ".pre-commit-config.yaml").write_text(config, "utf-8")
    (project / "other.py").write_text("raise SystemExit('it was run')\n", "utf-8")
    return project


def run(folder: Path, *words: str, status: int = 0) -> subprocess.CompletedProcess[str]:
    tools = os.pathsep.join([os.fspath(Path(sys.executable).parent), os.environ["PATH"]])
    env = {
        **filtered_environment(),
        "PATH": tools,
        "HOME": os.fspath(folder.parent),
        "GIT_CONFIG_GLOBAL": os.devnull,
    }
    done = subprocess.run(
        words,
        cwd=folder,
        env={**env, "PRE_COMMIT_HOME": os.fspath(folder.parent / "cache")},
        capture_output=True,
        encoding="utf-8",
        timeout=10 * PATIENCE_SECONDS,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done


def hooked(project: Path, source: str, status: int) -> str:
    (project / "my_tools.py").write_text(source, "utf-8")
    run(project, "git", "add", "-A")
    return run(project, "pre-commit", "run", status=status).stdout


@pytest.mark.process
def test_the_hooks_run_for_the_named_files_alone(repository: Path) -> None:
    output = hooked(repository, TOOL, 0)
    assert output.count("Passed") == 2


@pytest.mark.process
def test_a_tool_that_cannot_be_described_stops_the_commit(repository: Path) -> None:
    output = hooked(
        repository,
        TOOL.replace("a: int", "a: threading.Lock").replace("from", "import threading\nfrom", 1),
        1,
    )
    assert "- hook id: toolwire-lint" in output
    assert "add: " in output or "'add'" in output


@pytest.mark.process
def test_hooks_without_files_run_nothing(repository: Path) -> None:
    config = repository / ".pre-commit-config.yaml"
    config.write_text(config.read_text("utf-8").replace(", files: ^my_tools", ""), "utf-8")
    assert hooked(repository, TOOL, 0).count("(no files to check)") == 2
