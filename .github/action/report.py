"""A step of action.yml: checks the server, compares its tools with those of the base branch, writes
the summary.

The server is code of the pull request, so this step has no token, and nothing that a server wrote
becomes a command of the workflow: the log is printed between `::stop-commands::` and a word that
cannot be guessed.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

TOOLWIRE = (sys.executable, "-P", "-m", "toolwire")
GIT = ("git", "-c", "safe.directory=*")  # in a container, the repository belongs to another user
SECONDS = 1800
MAX_COMMENT, MAX_SUMMARY = 65_000, 250_000  # GitHub takes 65,536 characters, and 1 MiB
FILES = {"--markdown": "check.md", "--html": "check.html", "--badge": "badge.svg"}


class Problem(Exception):
    """The workflow uses the action wrongly."""


def main() -> None:
    if os.environ["GITHUB_EVENT_NAME"] in ("pull_request_target", "workflow_run"):
        # Such a workflow has a token with rights, and this action runs the code of a pull request.
        raise Problem(
            "use this action in a workflow of `pull_request`: others give foreign code a token with"
            " rights"
        )
    target, command, options = _server()
    fail_on = _one_of("fail-on", ("must", "should", "advice", "never"))
    fail_on_change = _one_of("fail-on-change", ("major", "minor", "patch", "never"))
    name = re.sub(r"[^\w.]+", "-", _input("name"), flags=re.ASCII)[:60] or "server"
    folder = Path(os.environ["GITHUB_WORKSPACE"], _input("working-directory"))
    report = Path(tempfile.mkdtemp(prefix="toolwire-", dir=os.environ["RUNNER_TEMP"]))
    problems = []

    files = [word for option, file in FILES.items() for word in (option, f"{report / file}")]
    severity = "advice" if fail_on == "never" else fail_on
    status = _run(
        folder, *TOOLWIRE, "check", *target, *options, *files, "--fail-on", severity, *command
    )
    if not (report / "check.md").is_file():
        problems.append("the server could not be checked")
        (report / "check.md").write_text(
            "**The server could not be checked**: see the log of this job.\n", "utf-8"
        )
    elif status and fail_on != "never":
        problems.append("the contract is violated")
    base = _base_commit()
    if base and _compare(folder, base, report, [*target, *command], fail_on_change):
        problems.append(f"the tools have changed: {fail_on_change} or more")

    parts = [
        path.read_text("utf-8")
        for path in (report / "diff.md", report / "check.md")
        if path.is_file()
    ]
    text = f"<!-- toolwire {name} -->\n## Toolwire: {name}\n\n" + "\n\n".join(parts)
    (report / "comment.md").write_text(_cut(text, MAX_COMMENT), "utf-8")
    with open(os.environ["GITHUB_STEP_SUMMARY"], "a", encoding="utf-8") as summary:
        summary.write(_cut(text, MAX_SUMMARY) + "\n")
    with open(os.environ["GITHUB_OUTPUT"], "a", encoding="utf-8") as outputs:
        outputs.write(f"folder={report}\nproblem={'; '.join(problems)}\n")


def _cut(text: str, most: int) -> str:
    """Return *text*, without its last lines if it is too long. Half a line could show a server's
    text as Markdown.
    """
    if len(text) <= most:
        return text
    return (
        text[:most].rpartition("\n")[0]
        + "\n\n… (cut: the whole report is in the folder of the output `report`)"
    )


def _server() -> tuple[list[str], list[str], list[str]]:
    """Return the words of the target, of the command, and of the options."""
    target = _input("target")
    try:
        command = shlex.split(_input("command"))
    except ValueError as error:
        raise Problem(f"`command` cannot be split into words: {error}") from None
    options = [line.strip() for line in _input("options").splitlines() if line.strip()]
    if bool(target) == bool(command):
        raise Problem("give either `target` or `command`")
    if target.startswith("-"):
        raise Problem(f"`target` must not start with a dash: {target!r}")
    if "--" in options:
        raise Problem("`options` must not have the word `--`: the server is `target` or `command`")
    return [target] if target else [], ["--", *command] if command else [], options


def _compare(folder: Path, base: str, report: Path, server: list[str], fail_on: str) -> bool:
    """Write `diff.md`, unless the server lists no tools; return whether they have changed by
    *fail_on* or more.
    """
    diff, old, new, tree = (report / name for name in ("diff.md", "old.json", "new.json", "base"))
    if not _listed(folder, server, new):
        return False  # the check says why
    has_base = not _run(folder, *GIT, "cat-file", "-e", f"{base}^{{commit}}") or not _run(
        folder, *GIT, "fetch", "--no-tags", "--depth=1", "origin", base
    )
    if not has_base or _run(folder, *GIT, "worktree", "add", "--detach", f"{tree}", base):
        diff.write_text("The base branch could not be read: see the log of this job.\n", "utf-8")
        return False
    asked = ("rev-parse", "--show-prefix")
    within = subprocess.run(
        [*GIT, *asked], cwd=folder, stdout=subprocess.PIPE, encoding="utf-8", check=False
    ).stdout
    try:
        if not _listed(tree / within.rstrip("\n"), server, old):
            diff.write_text(
                "The server of the base branch lists no tools, so no changes are shown.\n", "utf-8"
            )
            return False
    finally:
        _run(folder, *GIT, "worktree", "remove", "--force", f"{tree}")
    changes = report / "changes.md"
    status = _run(
        folder,
        *TOOLWIRE,
        "diff",
        f"{old}",
        f"{new}",
        "--markdown",
        f"{changes}",
        "--fail-on",
        fail_on,
    )
    text = (
        changes.read_text("utf-8")
        if changes.is_file()
        else "The lists could not be compared: see the log.\n"
    )
    diff.write_text(f"### Changes of the tools since `{base[:12]}`\n\n{text}", "utf-8")
    return status == 1


def _listed(folder: Path, server: list[str], file: Path) -> bool:
    with open(file, "wb") as output:
        return folder.is_dir() and not _run(
            folder, *TOOLWIRE, "list", "--json", *server, stdout=output
        )


def _base_commit() -> str:
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text("utf-8"))
    commit = ((event.get("pull_request") or {}).get("base") or {}).get("sha")
    return (
        commit if isinstance(commit, str) and len(commit) in (40, 64) and commit.isalnum() else ""
    )


def _run(folder: Path, *words: str, stdout: Any = None) -> int:
    """Return the exit status of *words*, run in *folder* without the files through which a step
    changes later ones.
    """
    hidden = (
        "GITHUB_ENV",
        "GITHUB_PATH",
        "GITHUB_OUTPUT",
        "GITHUB_STATE",
        "GITHUB_STEP_SUMMARY",
        "GITHUB_TOKEN",
    )
    env = {
        name: value
        for name, value in os.environ.items()
        if name not in hidden and not name.startswith("ACTIONS_")
    }
    print("$", shlex.join(words), flush=True)
    try:
        given = {"cwd": folder, "env": env, "stdin": subprocess.DEVNULL, "stdout": stdout}
        return subprocess.run(words, timeout=SECONDS, check=False, **given).returncode
    except (OSError, subprocess.TimeoutExpired) as error:
        print(error)
        return 2


def _input(name: str) -> str:
    return os.environ[f"INPUT_{name.upper().replace('-', '_')}"].strip()


def _one_of(name: str, allowed: tuple[str, ...]) -> str:
    value = _input(name)
    if value not in allowed:
        raise Problem(f"`{name}` is {value!r} and has to be one of {', '.join(allowed)}")
    return value


if __name__ == "__main__":
    word = secrets.token_hex(16)
    print(f"::stop-commands::{word}", flush=True)
    try:
        main()
    except Problem as problem:
        print(f"toolwire: {problem}")
        sys.exit(2)
    finally:
        print(f"::{word}::", flush=True)
