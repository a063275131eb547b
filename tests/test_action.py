"""action.yml: its steps run by bash as GitHub runs them, in a repository with a base branch,
against a stand-in API.

What this cannot show: how GitHub itself evaluates the expressions, and `actions/setup-python`. The
step that installs Toolwire is the command of the README, which `tests/fresh` runs.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from markdown_it import MarkdownIt
from support.github_api import TOKEN, GitHubApi
from support.server_process import PATIENCE_SECONDS, filtered_environment
from toolwire_schemas import project_links

ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
STEPS: list[dict[str, Any]] = [step for step in ACTION["runs"]["steps"] if "run" in step]
QUICK = "--only\nids/zero\n--only\ntools/*\n--framing\nlines\n--era\nlegacy"
BASH = shutil.which("bash") or "bash"
_EXPRESSION = re.compile(r"\$\{\{ *(.+?) *\}\}")

OLD = '''
from toolwire import tool_api

@tool_api(read_only=True)
def add(a: int, b: int = 1) -> int:
    """Add two whole numbers."""
    return a + b

@tool_api(read_only=True)
def search(text: str) -> str:
    """Search for a text."""
    return text
'''
NEW = OLD.replace("b: int = 1", "b: int")
HOSTILE = '''
from toolwire import tool_api

@tool_api(read_only=True, description="""::error::forged
::add-mask::a
![x](https://example.com/x.png) @owner <img src=x onerror=alert(1)> `code` $(touch owned) ${{ github.token }}""")
def add(a: int, b: int = 1) -> int:
    print("::error::forged by the server", flush=True)
    return a + b

@tool_api(read_only=True, name="`@owner`[x](https://example.com)<b>$(touch owned)")
def other(text: str) -> str:
    """Other."""
    return text
'''  # noqa: E501


class Job:
    """A job of a workflow in a repository whose base branch has *old* in `my_tools.py`, and whose
    change has *new*.
    """

    def __init__(
        self, folder: Path, old: str | None, new: str | None, *, depth: int | None = None
    ) -> None:
        self.folder, self.workspace = folder, folder / "workspace"
        origin = folder / "origin"
        (origin / "server").mkdir(parents=True)
        self._git(origin, "init", "-q", "-b", "main")
        self.base = self._commit(origin, old)
        self._git(origin, "switch", "-qc", "change")
        self._commit(origin, new)
        words = [] if depth is None else ["--depth", str(depth)]
        self._git(
            folder,
            "clone",
            "-q",
            *words,
            "-b",
            "change",
            origin.as_uri(),
            os.fspath(self.workspace),
        )
        self._git(origin, "config", "uploadpack.allowAnySHA1InWant", "true")  # as GitHub allows
        (folder / "temp").mkdir()
        self.programs: str | Path = os.environ["PATH"]
        self.outputs: dict[str, str] = {}
        self.log = self.summary = ""

    def run(self, api: GitHubApi | None = None, event: str = "pull_request", **inputs: str) -> int:
        """Run the steps after the installation; return the status of the job."""
        given = {name: each.get("default", "") for name, each in ACTION["inputs"].items()}
        given |= {"token": TOKEN, "options": QUICK, "working-directory": "server"}
        given |= {name.replace("_", "-"): value for name, value in inputs.items()}
        api_url = "http://127.0.0.1:9" if api is None else api.url
        payload = (
            {"pull_request": {"number": 7, "base": {"sha": self.base}}}
            if event == "pull_request"
            else {}
        )
        files = {name: self.folder / name for name in ("output", "summary", "event.json")}
        for name, file in files.items():
            file.write_text(json.dumps(payload) if name == "event.json" else "", "utf-8")
        env = {
            **filtered_environment(),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{self.programs}",
            "HOME": os.fspath(self.folder),
            "GITHUB_ACTION_PATH": os.fspath(ROOT),
            "GITHUB_API_URL": api_url,
            "GITHUB_GRAPHQL_URL": f"{api_url}/graphql",
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": os.fspath(files["event.json"]),
            "GITHUB_OUTPUT": os.fspath(files["output"]),
            "GITHUB_REPOSITORY": "owner/project",
            "GITHUB_STEP_SUMMARY": os.fspath(files["summary"]),
            "GITHUB_WORKSPACE": os.fspath(self.workspace),
            "RUNNER_TEMP": os.fspath(self.folder / "temp"),
        }
        status, self.log = 0, ""
        for step in STEPS[1:]:
            is_asked = (
                given["comment"] == "true" and event == "pull_request" and "folder" in self.outputs
            )
            if (step["name"] == "Comment" and not is_asked) or (
                step["name"] == "Result" and status
            ):
                continue
            own = {name: self._evaluated(value, given) for name, value in step["env"].items()}
            script = self.folder / "step.sh"
            script.write_text(step["run"], "utf-8")
            done = subprocess.run(
                [BASH, "--noprofile", "--norc", "-eo", "pipefail", os.fspath(script)],
                cwd=self.workspace,
                env={**env, **own},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                timeout=10 * PATIENCE_SECONDS,
            )
            self.log += done.stdout
            status = status or done.returncode
            lines = files["output"].read_text("utf-8").splitlines()
            self.outputs = dict(line.split("=", 1) for line in lines)
        self.summary = files["summary"].read_text("utf-8")
        return status

    def _evaluated(self, value: str, inputs: dict[str, str]) -> str:
        def evaluate(found: re.Match[str]) -> str:
            context, _, name = found[1].rpartition(".")
            return {"inputs": inputs, "steps.report.outputs": self.outputs}[context].get(name, "")

        return _EXPRESSION.sub(evaluate, value)

    def _commit(self, repository: Path, source: str | None) -> str:
        (repository / "server" / "README").write_text(repr(source), "utf-8")
        if source is not None:
            (repository / "server" / "my_tools.py").write_text(source, "utf-8")
        self._git(repository, "add", "-A")
        self._git(
            repository,
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.com",
            "commit",
            "--allow-empty",
            "-qm",
            "a change",
        )
        return self._git(repository, "rev-parse", "HEAD").strip()

    def _git(self, folder: Path, *words: str) -> str:
        env = {**filtered_environment(), "GIT_CONFIG_GLOBAL": os.devnull}
        return subprocess.run(
            ["git", *words], cwd=folder, env=env, capture_output=True, encoding="utf-8", check=True
        ).stdout


def test_no_expression_is_part_of_a_script() -> None:
    assert [step["name"] for step in STEPS] == [
        "Install Toolwire",
        "Check and compare",
        "Comment",
        "Result",
    ]
    assert not any("${{" in step["run"] for step in STEPS)
    with_token = [step["name"] for step in STEPS if "token" in json.dumps(step.get("env", {}))]
    assert with_token == ["Comment"]


@pytest.mark.process
@pytest.mark.parametrize("login", ["github-actions[bot]", "an-app[bot]"])
def test_a_pull_request_gets_one_comment_which_the_next_run_updates(
    tmp_path: Path, login: str
) -> None:
    job = Job(tmp_path, OLD, NEW)
    with GitHubApi(login=login) as api:
        api.comments.append({"id": 1, "user": None, "body": None})
        api.add("<!-- toolwire server -->\nof another user", login="a-visitor")
        assert job.run(api, target="my_tools.py") == 0
        _, theirs, comment = api.comments
        first = comment["body"]
        assert job.run(api, target="my_tools.py", options=f"{QUICK}\n--skip\ntools/unknown") == 0
        assert [each["id"] for each in api.comments] == [1, theirs["id"], comment["id"]]

    assert theirs["body"].endswith("of another user")
    assert first.startswith("<!-- toolwire server -->\n## Toolwire: server\n")
    assert f"since `{job.base[:12]}`" in first
    assert "**major**: 1 change breaks users." in first
    assert "It keeps every rule that applies to it." in first
    assert comment["body"] != first
    assert job.summary.strip() == comment["body"].strip()
    report = Path(job.outputs["folder"])
    assert {"check.md", "check.html", "diff.md", "badge.svg"} <= {
        file.name for file in report.iterdir()
    }
    assert not (report / "base").exists()


@pytest.mark.process
def test_a_shallow_clone_gets_the_commit_of_the_base(tmp_path: Path) -> None:
    job = Job(tmp_path, OLD, NEW, depth=1)
    assert job.run(target="my_tools.py", comment="false") == 0
    assert "**major**: 1 change breaks users." in job.summary


@pytest.mark.process
def test_without_git_the_tools_are_not_compared(tmp_path: Path) -> None:
    job = Job(tmp_path, OLD, NEW)
    job.programs = tmp_path / "programs"
    job.programs.mkdir()
    assert job.run(target="my_tools.py", comment="false", fail_on_change="patch") == 0
    assert "The base branch could not be read" in job.summary
    assert "It keeps every rule" in job.summary


@pytest.mark.process
@pytest.mark.parametrize("change", [True, False])
def test_the_job_fails_as_the_inputs_say(tmp_path: Path, change: bool) -> None:
    job = Job(tmp_path, OLD, NEW if change else OLD)
    assert job.run(target="my_tools.py", comment="false", fail_on_change="major") == int(change)
    assert job.run(target="my_tools.py", comment="false", fail_on_change="patch") == int(change)
    assert ("the tools have changed: patch or more" in job.log) is change


BROKEN = """
import json, sys
for line in sys.stdin:
    sent = json.loads(line)
    if "id" in sent:
        info = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "b", "version": "1"}}
        result = info if sent["method"] == "initialize" else {"tools": []}
        print(json.dumps({"jsonrpc": "2.0", "id": str(sent["id"]), "result": result}), flush=True)
"""  # noqa: E501


@pytest.mark.process
def test_a_command_is_split_into_words_and_a_broken_server_fails_the_job(tmp_path: Path) -> None:
    job = Job(tmp_path, None, BROKEN)
    command = f"'{sys.executable}' my_tools.py '$(touch owned)'"
    options = "--only\nids/*\n--framing\nlines\n--era\nlegacy\n--timeout\n1"
    assert job.run(command=command, comment="false", options=options) == 1
    assert "the contract is violated" in job.log
    assert job.run(command=command, comment="false", options=options, fail_on="never") == 0
    assert "The server of the base branch lists no tools" in job.summary
    assert not list(tmp_path.rglob("owned"))


@pytest.mark.process
def test_a_server_that_does_not_start_is_reported(tmp_path: Path) -> None:
    job = Job(tmp_path, OLD, "raise SystemError('no')")
    with GitHubApi() as api:
        assert job.run(api, target="my_tools.py", fail_on="never") == 1
    assert "the server could not be checked" in job.log
    assert "could not be checked" in api.comments[0]["body"]


@pytest.mark.process
def test_texts_of_a_hostile_server_stay_texts(tmp_path: Path) -> None:
    job = Job(tmp_path, OLD, HOSTILE)
    with GitHubApi() as api:
        job.run(api, target="my_tools.py", fail_on="never", name="$(touch owned) --> @owner")
    (comment,) = api.comments
    assert comment["body"].startswith("<!-- toolwire -touch-owned-owner -->\n")
    shown = MarkdownIt("gfm-like", {"html": True, "linkify": False}).render(comment["body"])
    outside = re.sub(r"<(code|pre)\b.*?</\1>", "", shown, flags=re.DOTALL)
    assert "@owner" not in outside
    ours = re.escape(project_links.find_repository_url() or "")
    assert not re.search(
        rf"<(img|a|b|script)\b(?![^>]*({ours}|modelcontextprotocol|jsonrpc\.org))", outside
    )
    assert not list(tmp_path.rglob("owned"))
    opened, *_ = job.log.splitlines()
    word = opened.removeprefix("::stop-commands::")
    until, _, after = job.log.partition(f"\n::{word}::\n")
    assert "::error::" not in after
    assert word not in until.removeprefix(opened)


@pytest.mark.process
@pytest.mark.parametrize(
    ("about", "said"),
    [
        ({"may_write": False}, "::notice::"),
        ({"status": 500}, "::warning::"),
        ({"hangs_up": True}, "::warning::"),
    ],
)
def test_without_the_right_to_comment_the_summary_alone_has_the_report(
    tmp_path: Path, about: dict[str, Any], said: str
) -> None:
    job = Job(tmp_path, OLD, NEW)
    with GitHubApi(**about) as api:
        assert job.run(api, target="my_tools.py") == 0
    assert api.comments == []
    assert f"{said}Toolwire: the " in job.log
    assert "**major**" in job.summary


@pytest.mark.process
def test_a_push_is_checked_without_a_comparison(tmp_path: Path) -> None:
    job = Job(tmp_path, OLD, NEW)
    assert job.run(event="push", target="my_tools.py") == 0
    assert "It keeps every rule" in job.summary
    assert "Changes of the tools" not in job.summary


@pytest.mark.process
@pytest.mark.parametrize(
    ("event", "inputs", "problem"),
    [
        ("pull_request_target", {"target": "my_tools.py"}, "a workflow of `pull_request`"),
        ("pull_request", {}, "give either `target` or `command`"),
        ("pull_request", {"target": "a.py", "command": "b"}, "give either `target` or `command`"),
        ("pull_request", {"target": "--help"}, "must not start with a dash"),
        (
            "pull_request",
            {"target": "a.py", "fail_on": "major"},
            "has to be one of must, should, advice, never",
        ),
        ("pull_request", {"target": "a.py", "options": "--\nsh"}, "must not have the word `--`"),
        ("pull_request", {"command": "a 'b"}, "No closing quotation"),
    ],
)
def test_a_wrong_use_is_said_before_anything_runs(
    tmp_path: Path, event: str, inputs: dict[str, str], problem: str
) -> None:
    job = Job(tmp_path, OLD, NEW)
    assert job.run(event=event, **inputs) == 2
    assert problem in job.log
    assert "\n$ " not in job.log


def test_a_long_report_is_cut_between_lines(tmp_path: Path) -> None:
    script = ROOT / ".github" / "action" / "report.py"
    namespace: dict[str, Any] = {"__name__": "report"}
    exec(compile(script.read_text("utf-8"), script, "exec"), namespace)
    text = "- `a line of a server`\n" * 10_000
    cut = namespace["_cut"](text, namespace["MAX_COMMENT"])
    assert 60_000 < len(cut) < 65_536
    assert all(line in ("- `a line of a server`", "") for line in cut.split("\n")[:-1])
