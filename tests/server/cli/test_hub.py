"""`toolwire hub`: which servers of a host move behind Toolwire, and back."""

from __future__ import annotations

import json
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.command_line import CommandLine, Done
from support.sandbox_runs import need_sandbox
from support.server_process import call, request, running
from support.shared_processes import SharedProcesses, shared_processes
from toolwire.hosts import jsonc_edit, yaml_edit

pytestmark = pytest.mark.process

FOREIGN = Path(__file__).parents[2] / "support" / "foreign_server.py"
CONFIG = """{
  // my servers
  "mcpServers": {
    "notes": ENTRY, // the good one
    "far": {"url": "https://example.com/mcp"}
  },
  "theme": "dark" // stays
}
"""

Hub = Callable[..., Done]


def entry(folder: Path, *names: str, **members: Any) -> dict[str, Any]:
    """Return the entry of a server with tools of these *names*."""
    folder.mkdir()
    tools = [{"name": name, "inputSchema": {"type": "object"}} for name in names]
    (folder / "lists.json").write_text(json.dumps({"tools": tools}), encoding="utf-8")
    return {"command": sys.executable, "args": [str(FOREIGN), str(folder)], **members}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    made = entry(tmp_path / "notes", "echo", env={"TOKEN": "very secret"})
    path = tmp_path / "config.json"
    path.write_text(CONFIG.replace("ENTRY", json.dumps(made)), encoding="utf-8")
    return path


@pytest.fixture
def hub(command_line: CommandLine, tmp_path: Path, config: Path) -> Hub:
    def run(*words: str, host: str = "json", file: Path = config) -> Done:
        home = str(tmp_path / "home")
        return command_line("hub", host, f"--file={file}", *words, XDG_CONFIG_HOME=home)

    return run


def servers_in(config: Path) -> dict[str, Any]:
    found: dict[str, Any] = jsonc_edit.loads(config.read_text())["mcpServers"]
    return found


def test_programs_call_the_moved_servers(hub: Hub, config: Path) -> None:
    need_sandbox()
    assert hub("--show", "code").returncode == 0
    own = servers_in(config)["toolwire"]
    with running(*own["args"]) as process:
        listed = process.ask(request("tools/list"))["result"]["tools"]

    assert [tool["name"] for tool in listed] == ["search_tools", "run_program"]


def test_servers_move_behind_one_entry_that_serves_them(hub: Hub, config: Path) -> None:
    done = hub()

    assert (done.returncode, "far stays in" in done.stderr) == (0, True)
    text = config.read_text()
    assert "very secret" not in text
    assert "// my servers" in text
    assert '"theme": "dark" // stays' in text
    own = servers_in(config)["toolwire"]
    with running(*own["args"]) as process:
        found = process.ask(call("search_tools", {"query": "echo"}))["result"]
        listed = process.ask(request("tools/list"))["result"]["tools"]
        result = process.ask(call("call_tool", {"name": "notes_echo"}))["result"]
    assert [tool["name"] for tool in listed] == ["search_tools", "call_tool"]
    assert "def notes_echo(" in found["content"][0]["text"]
    assert not result.get("isError")


def test_secrets_are_in_files_of_the_user_alone_and_in_no_command(
    hub: Hub, config: Path, tmp_path: Path
) -> None:
    done = hub()

    (mounts,) = (
        path for path in (tmp_path / "home").rglob("json-*.json") if "lock" not in path.name
    )
    assert stat.S_IMODE(mounts.stat().st_mode) == 0o600
    assert stat.S_IMODE(mounts.parent.stat().st_mode) == 0o700
    assert "very secret" in mounts.read_text()
    assert "very secret" not in done.stdout + done.stderr + config.read_text()


def test_undo_brings_back_every_byte(hub: Hub, config: Path, tmp_path: Path) -> None:
    before = config.read_bytes()
    hub()

    undone = hub("--undo")

    assert undone.returncode == 0
    assert config.read_bytes() == before
    assert not list((tmp_path / "home").rglob("json-*"))
    assert hub("--undo").returncode == 1


def test_undo_keeps_what_has_changed_since(hub: Hub, config: Path) -> None:
    hub()
    config.write_text(config.read_text().replace('"dark"', '"light"'))

    hub("--undo")

    assert '"theme": "light"' in config.read_text()
    assert sorted(servers_in(config)) == ["far", "notes"]


def test_dry_run_prints_the_change_without_secrets_and_writes_nothing(
    hub: Hub, config: Path, tmp_path: Path
) -> None:
    before = config.read_bytes()

    done = hub("--dry-run")

    assert done.returncode == 0
    assert '+    "toolwire": {' in done.stdout
    assert "very secret" not in done.stdout
    assert config.read_bytes() == before
    assert not (tmp_path / "home").exists()
    assert not (tmp_path / "notes" / "journal").exists()


def test_second_run_changes_nothing_and_moves_what_was_added(
    hub: Hub, config: Path, tmp_path: Path
) -> None:
    hub()
    before = config.read_bytes()
    again = hub()
    assert (again.returncode, "behind Toolwire already" in again.stdout) == (0, True)
    assert config.read_bytes() == before
    added = json.dumps(entry(tmp_path / "more", "count"))
    config.write_text(config.read_text().replace('"far":', f'"more": {added},\n    "far":'))

    assert hub().returncode == 0
    assert sorted(servers_in(config)) == ["far", "toolwire"]
    hub("--undo")

    assert sorted(servers_in(config)) == ["far", "more", "notes"]


def test_server_that_does_not_start_stays(hub: Hub, config: Path) -> None:
    broken = json.dumps({"command": sys.executable, "args": ["-c", "1/0"]})
    config.write_text(config.read_text().replace('"far":', f'"broken": {broken},\n    "far":'))

    done = hub()

    assert done.returncode == 0
    assert "broken stays in" in done.stderr
    assert sorted(servers_in(config)) == ["broken", "far", "toolwire"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "line 1"),
        ("[]", "it has no server that could be moved"),
        ('{"mcpServers": []}', "mcpServers is not an object"),
        ('{"mcpServers": {"a": {"command": "${HOME}/x"}}}', "a stays in"),
        (
            '{"mcpServers": {"a": {"command": "x", "autoApprove": []}}}',
            "understands its autoApprove",
        ),
        ('{"mcpServers": {"a": {"command": "x", "disabled": true}}}', "it is switched off"),
        ('{"mcpServers": {"a": {"command": "x", "cwd": "."}}}', "its folder depends on the host"),
        (
            '{"mcpServers": {"a": {"command": "no-such-program"}}}',
            "the mounted server a does not run",
        ),
    ],
)
def test_config_that_cannot_be_changed_is_left_with_a_reason(
    hub: Hub, config: Path, text: str, reason: str
) -> None:
    config.write_text(text)

    done = hub()

    assert done.returncode == 1
    assert reason in done.stderr
    assert "was left as it was" in done.stderr
    assert config.read_text() == text


def test_missing_file_and_a_host_that_is_not_edited_are_named(hub: Hub, tmp_path: Path) -> None:
    missing = hub(file=tmp_path / "missing.json")
    emacs = hub(host="emacs")

    assert (missing.returncode, "no such file" in missing.stderr) == (1, True)
    assert (emacs.returncode, "in a program" in emacs.stderr) == (1, True)


def test_sessions_share_the_processes_of_servers(hub: Hub, config: Path, tmp_path: Path) -> None:
    with shared_processes(tmp_path, SharedProcesses) as sessions:
        # Mounted servers get no other variables of the runtime.
        made = entry(tmp_path / "mine", "echo", env={"XDG_RUNTIME_DIR": sessions.runtime})
        config.write_text(json.dumps({"mcpServers": {"mine": made}}), encoding="utf-8")
        assert hub("--share").returncode == 0
        own = servers_in(config)["toolwire"]
        for _ in range(2):
            process = sessions.open(*own["args"][own["args"].index("toolwire") + 1 :])
            result = process.ask(call("call_tool", {"name": "mine_echo"}))["result"]
            assert not result.get("isError")
        (facts,) = sessions.describe()

        assert facts["sessions"] == 2
        assert hub("--undo").returncode == 0


def test_yaml_of_goose_is_changed_and_restored(hub: Hub, tmp_path: Path) -> None:
    made = entry(tmp_path / "more", "count")
    path = tmp_path / "goose.yaml"
    before = f"""GOOSE_MODEL: x # mine
extensions:
  # what I use
  developer:
    type: builtin
    enabled: true
  far:
    type: streamable_http
    uri: https://example.com/mcp
  keyed:
    type: stdio
    cmd: one
    env_keys: [TOKEN]
  more:
    type: stdio
    name: more
    enabled: true
    timeout: 60
    bundled: null
    cmd: {json.dumps(made["command"])}
    args: {json.dumps(made["args"])}
    envs:
      TOKEN: very secret
    env_keys: []
keyring: false
"""
    path.write_text(before, encoding="utf-8")

    dry = hub("--dry-run", host="goose", file=path)
    done = hub(host="goose", file=path)

    assert (dry.returncode, "very secret" in dry.stdout) == (0, False)
    for reason in ("a part of the host", "it is remote", "understands its env_keys"):
        assert reason in done.stderr
    assert done.returncode == 0
    found = yaml_edit.loads(path.read_text("utf-8"))
    assert found["extensions"].keys() == {"developer", "far", "keyed", "toolwire"}
    assert (found["GOOSE_MODEL"], found["keyring"]) == ("x", False)
    own = found["extensions"]["toolwire"]
    assert (own["type"], own["enabled"]) == ("stdio", True)
    with running(*own["args"]) as process:
        result = process.ask(call("call_tool", {"name": "more_count"}))["result"]
    assert not result.get("isError")

    assert hub("--undo", host="goose", file=path).returncode == 0
    assert path.read_text("utf-8") == before


def test_toml_of_codex_is_changed_and_restored(hub: Hub, tmp_path: Path) -> None:
    made = entry(tmp_path / "more", "count")
    path = tmp_path / "config.toml"
    before = f"""model = "x" # mine

[mcp_servers.more]
command = {json.dumps(made["command"])}
args = {json.dumps(made["args"])}

[other]
a = 1
"""
    path.write_text(before)

    assert hub(host="codex", file=path).returncode == 0
    assert 'model = "x" # mine' in path.read_text()
    assert "toolwire = {" in path.read_text()
    assert "more" not in path.read_text().partition("toolwire = {")[0]

    assert hub("--undo", host="codex", file=path).returncode == 0
    assert path.read_text() == before
