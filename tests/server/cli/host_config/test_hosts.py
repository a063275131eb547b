"""What each host is given to read, and what becomes of its file."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
import tomllib
from base64 import b64decode
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from toolwire.cli import main as cli
from toolwire.cli.commands import import_command
from toolwire.cli.commands.config import warn_of_result_tokens
from toolwire.errors import UsageError
from toolwire.hosts.hosts import (
    HOSTS,
    PROJECT,
    USER,
    Host,
    HostServer,
    find_host,
    find_words_of_serve,
    format_link,
    format_snippet,
    make_entry,
    merge_server,
)
from toolwire.hosts.jsonc_edit import loads
from toolwire.hosts.safe_write import NotRewritten, rewrite
from toolwire_client import connect
from toolwire_schemas.install_command import install_command

SERVER = HostServer(
    "tools",
    "/usr/bin/python3",
    ["-P", "-m", "toolwire", "serve", "/home/me/tools.py"],
    {"KEY": "a b"},
    ["/home/me/tools.py"],
)
EDITED = [one for one in HOSTS.values() if not one.is_lisp]
OTHERS = [one for one in EDITED if one.format == "json"]
READ: dict[str, Callable[[str], Any]] = {
    "json": loads,
    "toml": tomllib.loads,
    "yaml": yaml.safe_load,
}


def servers_in(one: Host, text: str) -> dict[str, Any]:
    found: dict[str, Any] = READ[one.format](text)[one.holds]
    return found


TOOLS = 'def add(a: int, b: int = 2) -> int:\n    """Add two numbers."""\n    return a + b\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    project = tmp_path / "a project"
    project.mkdir()
    (project / "tools.py").write_text(TOOLS)
    monkeypatch.chdir(project)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return project


def config(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    status = cli.main(["config", *words])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


# --- what to paste --------------------------------------------------------------------------------


@pytest.mark.process
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["vscode"], ["vscode"]),
        (["claude-code"], ["claude-code"]),
        (["vscode", "--for", "gemini"], ["gemini"]),
        (["cline"], []),
        (["json"], []),
    ],
)
def test_the_entry_has_the_option_that_its_host_needs(
    capsys: pytest.CaptureFixture[str], folder: Path, words: list[str], expected: list[str]
) -> None:
    host_name, *options = words

    _, printed, _ = config(capsys, host_name, "tools.py", *options)

    (server,) = next(iter(json.loads(printed).values())).values()
    arguments = server["args"]
    found = [value for flag, value in pairwise(arguments) if flag == "--for"]
    assert found == expected


@pytest.mark.parametrize(
    ("name", "holds", "extra"),
    [
        ("claude-desktop", "mcpServers", {}),
        ("claude-code", "mcpServers", {"type": "stdio"}),
        ("vscode", "servers", {"type": "stdio"}),
        ("cursor", "mcpServers", {}),
        ("zed", "context_servers", {"source": "custom"}),
        ("neovim", "mcpServers", {}),
        ("gemini", "mcpServers", {}),
        ("windsurf", "mcpServers", {}),
        ("lmstudio", "mcpServers", {}),
        ("cline", "mcpServers", {}),
        ("codex", "mcp_servers", {}),
        ("json", "mcpServers", {}),
    ],
)
def test_each_host_gets_its_form(name: str, holds: str, extra: dict[str, str]) -> None:
    started = {"command": SERVER.command, "args": SERVER.args, "env": SERVER.env}
    assert READ[find_host(name).format](format_snippet(find_host(name), SERVER)) == {
        holds: {"tools": {**extra, **started}}
    }
    assert "env" not in make_entry(find_host(name), HostServer("tools", "python", []))


def test_goose_has_names_of_its_own_for_what_an_entry_says() -> None:
    assert yaml.safe_load(format_snippet(find_host("goose"), SERVER))["extensions"]["tools"] == {
        "type": "stdio",
        "enabled": True,
        "timeout": 300,
        "name": "tools",
        "cmd": SERVER.command,
        "args": SERVER.args,
        "envs": SERVER.env,
    }


def test_a_link_holds_the_whole_entry() -> None:
    server = msgspec.structs.replace(SERVER, name="my tools & more", env={"KEY": "a+b/c=d ü"})
    for name, scheme in [
        ("cursor", "cursor://anysphere.cursor-deeplink/mcp/install"),
        ("lmstudio", "lmstudio://add_mcp"),
    ]:
        made = format_link(find_host(name), server)
        query = parse_qs(urlsplit(made).query, strict_parsing=True)
        assert made.startswith(f"{scheme}?name=")
        assert query["name"] == [server.name]
        assert json.loads(b64decode(query["config"][0], validate=True)) == make_entry(
            find_host(name), server
        )
    scheme, _, text = format_link(find_host("vscode"), server).partition("?")
    assert (scheme, json.loads(unquote(text))) == (
        "vscode:mcp/install",
        {"name": server.name, **make_entry(find_host("vscode"), server)},
    )
    assert format_link(find_host("zed"), server) == ""


@pytest.mark.process
@pytest.mark.skipif(shutil.which("emacs") is None, reason="Emacs is not installed")
def test_emacs_reads_its_form_as_it_is_meant() -> None:
    server = HostServer('my "tools"', "C:\\python.exe", ["-m", "grün"], {"KEY": 'a "b"\\'})
    snippet = format_snippet(find_host("emacs"), server)
    program = (
        "(progn (defvar mcp-hub-servers nil) (provide 'mcp-hub) (require"
        f" 'json){snippet}(let ((one (car mcp-hub-servers))) (princ"
        " (json-encode (list (car one) (plist-get (cdr one) :command) (vconcat (plist-get (cdr"
        " one) :args)) (plist-get (plist-get (cdr one) :env) :KEY))))))"
    )
    done = subprocess.run(
        ["emacs", "-Q", "--batch", "--eval", program],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    assert json.loads(done.stdout) == ['my "tools"', "C:\\python.exe", ["-m", "grün"], 'a "b"\\']


@pytest.mark.parametrize(
    ("name", "whose", "system", "path"),
    [
        (
            "claude-desktop",
            USER,
            "darwin",
            "/home/me/Library/Application Support/Claude/claude_desktop_config.json",
        ),
        (
            "claude-desktop",
            USER,
            "win32",
            "C:\\Users\\me\\AppData\\Roaming\\Claude\\claude_desktop_config.json",
        ),
        ("claude-desktop", USER, "linux", "/home/me/.config/Claude/claude_desktop_config.json"),
        ("claude-code", PROJECT, "linux", "/work/.mcp.json"),
        ("claude-code", USER, "win32", "C:\\Users\\me\\.claude.json"),
        ("vscode", PROJECT, "win32", "C:\\work\\.vscode\\mcp.json"),
        ("vscode", USER, "linux", "/home/me/.config/Code/User/mcp.json"),
        ("vscode", USER, "darwin", "/home/me/Library/Application Support/Code/User/mcp.json"),
        ("cursor", PROJECT, "darwin", "/work/.cursor/mcp.json"),
        ("cursor", USER, "linux", "/home/me/.cursor/mcp.json"),
        ("zed", USER, "darwin", "/home/me/.config/zed/settings.json"),
        ("zed", PROJECT, "linux", "/work/.zed/settings.json"),
        ("neovim", USER, "linux", "/home/me/.config/mcphub/servers.json"),
        ("codex", USER, "win32", "C:\\Users\\me\\.codex\\config.toml"),
        ("codex", PROJECT, "linux", "/work/.codex/config.toml"),
        ("gemini", USER, "darwin", "/home/me/.gemini/settings.json"),
        ("gemini", PROJECT, "linux", "/work/.gemini/settings.json"),
        ("windsurf", USER, "linux", "/home/me/.codeium/windsurf/mcp_config.json"),
        ("goose", USER, "linux", "/home/me/.config/goose/config.yaml"),
        (
            "goose",
            USER,
            "win32",
            "C:\\Users\\me\\AppData\\Roaming\\Block\\goose\\config\\config.yaml",
        ),
        ("lmstudio", USER, "linux", "/home/me/.lmstudio/mcp.json"),
        ("cline", USER, "darwin", "/home/me/.cline/data/settings/cline_mcp_settings.json"),
    ],
)
def test_the_file_is_named_for_each_system(name: str, whose: str, system: str, path: str) -> None:
    windows = system == "win32"
    environment = {"USERPROFILE": "C:\\Users\\me"} if windows else {"HOME": "/home/me"}
    (place,) = [place for place in find_host(name).places if place.whose == whose]
    assert place.path(system, environment, "C:\\work" if windows else "/work") == path


def test_folders_that_were_moved_are_followed() -> None:
    (place,) = find_host("claude-desktop").places
    assert place.path("linux", {"HOME": "/h", "XDG_CONFIG_HOME": "/c"}, "/w").startswith(
        "/c/Claude/"
    )
    assert place.path("win32", {"USERPROFILE": "C:\\h", "APPDATA": "D:\\a"}, "C:\\w").startswith(
        "D:\\a\\Claude\\"
    )


def test_an_unknown_host_gets_the_known_ones_the_closest_first() -> None:
    with pytest.raises(UsageError) as refusal:
        find_host("VSCode")
    assert "Known: vscode, " in str(refusal.value)
    assert all(name in str(refusal.value) for name in HOSTS)


def test_the_help_names_every_host() -> None:
    assert all(name in import_command("config").COMMAND.details for name in HOSTS)


# --- merging --------------------------------------------------------------------------------------


@given(
    st.sampled_from(OTHERS),
    st.dictionaries(st.text(max_size=3), st.integers() | st.lists(st.text(max_size=2))),
)
def test_everything_else_in_the_file_is_kept(one: Any, before: dict[str, Any]) -> None:
    for text in (
        json.dumps(before),
        json.dumps(before, indent=4),
        json.dumps({**before, one.holds: {"other": {}}}),
    ):
        after = json.loads(merge_server(one, text, SERVER))
        servers = after.pop(one.holds)
        assert servers.pop("tools") == make_entry(one, SERVER)
        assert {**after, **({one.holds: servers} if servers else {})} == json.loads(text)


def test_a_server_that_is_there_already_changes_nothing() -> None:
    for one in EDITED:
        text = merge_server(one, "", SERVER)
        assert merge_server(one, text, SERVER) == text


def test_the_same_server_is_replaced_and_another_only_by_force() -> None:
    old = msgspec.structs.replace(
        SERVER, command="/old/python", args=["-m", "toolwire", "serve", *SERVER.targets, "-x"]
    )
    for one in EDITED:
        assert servers_in(one, merge_server(one, merge_server(one, "", old), SERVER)) == {
            "tools": make_entry(one, SERVER)
        }
        for words in (
            ["npx", "-y", "some-server"],
            [SERVER.command, *SERVER.args[:-1], "/home/me/other.py"],
        ):
            text = merge_server(one, "", HostServer("tools", words[0], words[1:]))
            with pytest.raises(NotRewritten, match=words[-1]):
                merge_server(one, text, SERVER)
            assert servers_in(one, merge_server(one, text, SERVER, force=True)) == {
                "tools": make_entry(one, SERVER)
            }


def test_the_environment_that_ours_has_there_is_kept_and_that_of_another_is_not() -> None:
    ours = msgspec.structs.replace(
        SERVER, command="/old/python", env={"API_KEY": "secret", "MODE": "old"}
    )
    another = HostServer("tools", "npx", ["-y", "some-server"], {"API_KEY": "secret"})
    new = msgspec.structs.replace(SERVER, env={"MODE": "new"})
    for one in EDITED:
        kept = servers_in(one, merge_server(one, merge_server(one, "", ours), new))["tools"]
        both = msgspec.structs.replace(SERVER, env={"API_KEY": "secret", "MODE": "new"})
        assert kept == make_entry(one, both)
        forced = servers_in(one, merge_server(one, merge_server(one, "", another), new, force=True))
        assert forced["tools"] == make_entry(one, new)


@pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")
def test_a_new_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "mcp.json"
    mask = os.umask(0)
    try:
        rewrite(str(path), lambda text: "{}")
    finally:
        os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("words", "served"),
    [
        (["/v/bin/python", "-P", "-m", "toolwire", "serve", "x.py"], ["x.py"]),
        (["uv", "run", "python", "-m", "toolwire", "serve", "x.py", "-v"], ["x.py", "-v"]),
        (["/home/me/.local/bin/uvx", "toolwire", "serve", "x.py"], ["x.py"]),
        (["C:\\venv\\Scripts\\toolwire.exe", "serve", "x.py"], ["x.py"]),
        (["toolwire", "list"], None),
        (["npx", "toolwire", "serve"], None),
        (["python", "-m", "other", "serve"], None),
        ([], None),
    ],
)
def test_a_command_says_what_it_serves(words: list[str], served: list[str] | None) -> None:
    assert find_words_of_serve(words) == served


def test_comments_are_kept() -> None:
    for one in OTHERS:
        assert "\n  // mine\n" in merge_server(one, "{\n  // mine\n}\n", SERVER)


# --- the file -------------------------------------------------------------------------------------


def test_backups_are_numbered_and_never_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    for number in range(3):
        done = rewrite(str(path), lambda text, number=number: f"{text}{number}")
        assert done.backup == (f"{path}.backup-{number}" if number else None)
    assert path.read_text() == "012"
    assert [(tmp_path / f"mcp.json.backup-{number}").read_text() for number in (1, 2)] == [
        "0",
        "01",
    ]
    assert len(list(tmp_path.iterdir())) == 3


def test_what_does_not_change_is_not_written(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_bytes(b"\xef\xbb\xbf{}\r\n")
    before = path.stat()
    assert not rewrite(str(path), lambda text: text).changed
    assert (path.stat().st_mtime_ns, path.stat().st_ino) == (before.st_mtime_ns, before.st_ino)
    rewrite(str(path), lambda text: text + "x")
    assert path.read_bytes() == b"\xef\xbb\xbf{}\r\nx"


@pytest.mark.skipif(os.name != "posix", reason="permissions and links as POSIX has them")
def test_permissions_and_links_stay(tmp_path: Path) -> None:
    real, link = tmp_path / "dotfiles.json", tmp_path / "mcp.json"
    real.write_text("{}")
    real.chmod(0o600)
    link.symlink_to(real)
    done = rewrite(str(link), lambda text: text + "\n")
    assert (link.is_symlink(), real.read_text()) == (True, "{}\n")
    for path in (real, Path(str(done.backup))):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_another_program_changed_in_the_meantime_is_left_to_it(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    path.write_text("{}")

    def change(text: str) -> str:
        path.write_text("theirs")
        return "ours"

    with pytest.raises(NotRewritten, match="another program"):
        rewrite(str(path), change)
    assert path.read_text() == "theirs"
    assert not list(tmp_path.glob("*.new"))


@pytest.mark.parametrize("content", [b"\xff\xfe{\x00}\x00", b"\xe9"])
def test_what_is_no_utf_8_is_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "mcp.json"
    path.write_bytes(content)
    with pytest.raises(NotRewritten, match="UTF-8"):
        rewrite(str(path), lambda text: "{}")
    assert [one.name for one in tmp_path.iterdir()] == ["mcp.json"]


# --- the command ----------------------------------------------------------------------------------


@pytest.mark.process
@pytest.mark.parametrize("name", [name for name, one in HOSTS.items() if not one.is_lisp])
def test_what_is_printed_starts_a_server_from_anywhere(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    status, printed, told = config(
        capsys, name, "tools.py", "--separator", "_", "--env", "A=1", "--env", "B=x=y"
    )
    ((server_name, made),) = servers_in(find_host(name), printed).items()
    made = {
        **made,
        "command": made.get("cmd") or made["command"],
        "env": made.get("envs") or made["env"],
    }
    assert (status, server_name, made["command"], made["env"]) == (
        0,
        "tools",
        sys.executable,
        {"A": "1", "B": "x=y"},
    )
    assert name == "json" or str(tmp_path) in told
    # A folder that would shadow us and the standard library does not.
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for shadow in ("toolwire.py", "json.py", "tools.py"):
        (elsewhere / shadow).write_text("1 / 0")
    with connect([made["command"], *made["args"]], env=made["env"], cwd=elsewhere) as client:
        assert [tool.name for tool in client.list_tools()] == ["add"]


@pytest.mark.process
@pytest.mark.parametrize("name", ["codex", "goose"])
def test_write_makes_a_host_s_toml_or_yaml_and_repeats_itself_with_more(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    assert config(capsys, name, "tools.py", "--write", "--env", "A=1")[0] == 0
    (path,) = [
        path for path in (tmp_path / "home").rglob("config.*") if path.suffix in (".toml", ".yaml")
    ]
    assert config(capsys, name, "tools.py", "--write", "--env", "B=2", "--strict-arguments")[0] == 0
    made = servers_in(find_host(name), path.read_text())["tools"]
    assert (made.get("env") or made["envs"], made["args"][-1]) == (
        {"A": "1", "B": "2"},
        "--strict-arguments",
    )
    (folder / "other.py").write_text(TOOLS)
    status, _, told = config(capsys, name, "other.py", "--server-name", "tools", "--write")
    assert (
        status,
        "its server 'tools' is another one" in told,
        "other.py" in path.read_text(),
    ) == (1, True, False)


@pytest.mark.process
def test_options_of_serve_are_passed_on_as_they_were_typed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = (
        "--name n --include a* --include b --limit max_message_bytes=1MiB --limit"
        " grace_seconds=1.50 --timeout 1.50 --strict-arguments"
    )
    _, printed, _ = config(
        capsys, "json", *shlex.split(options), "tools.py", "tools.py:add", "--server-name", "s"
    )
    ((name, made),) = json.loads(printed)["mcpServers"].items()
    path = str(folder / "tools.py")
    assert (name, made["args"][3:6]) == ("s", ["serve", path, f"{path}:add"])
    assert " ".join(made["args"][6:]) == options


@pytest.mark.process
def test_files_in_options_get_absolute_paths_since_hosts_start_servers_elsewhere(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / ".env").write_text("A=1\n", "utf-8")
    _, printed, _ = config(capsys, "json", "tools.py", "--env-file", ".env")
    ((_, entry),) = json.loads(printed)["mcpServers"].items()
    assert entry["args"][-2:] == ["--env-file", str(folder / ".env")]


@pytest.mark.process
def test_what_follows_two_dashes_is_no_option(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert config(capsys, "--", "vscode", "tools.py") == config(capsys, "vscode", "tools.py")


@pytest.mark.process
def test_a_module_of_this_folder_is_found_by_the_host_too(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, printed, _ = config(capsys, "json", "tools")
    made = json.loads(printed)["mcpServers"]["tools"]
    assert made["env"] == {"PYTHONPATH": str(folder)}
    with connect([made["command"], *made["args"]], env=made["env"], cwd=tmp_path) as client:
        assert [tool.name for tool in client.list_tools()] == ["add"]


@pytest.mark.process
def test_write_merges_into_the_file_and_says_what_it_did(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "claude.json"
    path.write_text(
        '{\n    "theme": "dark",\n    "mcpServers": {\n        "other": {"command": "npx"}\n   '
        " }\n}\n"
    )
    before = path.read_text()

    status, said, told = config(capsys, "claude-desktop", "tools.py", "--write", "claude.json")

    assert (status, told) == (0, "")
    assert said.startswith("Wrote the server 'tools' to claude.json.")
    assert Path(f"{path}.backup-1").read_text() == before
    value = json.loads(path.read_text())
    assert (value["theme"], value["mcpServers"]["other"]) == ("dark", {"command": "npx"})
    with connect(
        [value["mcpServers"]["tools"]["command"], *value["mcpServers"]["tools"]["args"]]
    ) as client:
        assert client.call_tool("add", {"a": 1}).structured == {"result": 3}

    assert (
        "nothing was changed"
        in config(capsys, "claude-desktop", "tools.py", "--write=claude.json")[1]
    )
    assert (
        "Wrote the server"
        in config(
            capsys, "claude-desktop", "--strict-arguments", "tools.py", "--write", "claude.json"
        )[1]
    )
    assert json.loads(path.read_text())["mcpServers"]["tools"]["args"][-1] == "--strict-arguments"
    assert len(list(folder.glob("claude.json.backup-*"))) == 2


def test_write_refuses_a_folder_that_does_not_exist(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, complaint = config(capsys, "vscode", "tools.py", "--write=nowhere/mcp.json")
    assert status == 2
    assert f"there is no folder {folder / 'nowhere'}; create it, or name another file" in complaint
    assert not (folder / "nowhere").exists()


@pytest.mark.process
@pytest.mark.parametrize(
    ("answer", "creates"), [("y", True), ("YES", True), ("", False), ("n", False), (None, False)]
)
def test_write_asks_at_a_terminal_before_it_creates_a_folder(
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    answer: str | None,
    creates: bool,
) -> None:
    from toolwire_agent.terminal import Keyboard

    prompts: list[str] = []

    def read(keyboard: Keyboard, prompt: str) -> str | None:
        prompts.append(prompt)
        return answer

    monkeypatch.setattr("toolwire.cli.commands.config.is_attended", lambda: True)
    monkeypatch.setattr(Keyboard, "read", read)
    status, _, _ = config(capsys, "vscode", "tools.py", "--write=nowhere/mcp.json")
    assert status == (0 if creates else 2)
    assert (folder / "nowhere" / "mcp.json").exists() is creates
    assert prompts == [f"There is no folder {folder / 'nowhere'}. Create it? [y/N] "]


@pytest.mark.process
def test_write_finds_the_file_of_the_project_and_of_the_user(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert config(capsys, "cursor", "--write", "tools.py")[0] == 0
    assert config(capsys, "cursor", "--write", "--user", "tools.py")[0] == 0
    for path in (folder / ".cursor" / "mcp.json", tmp_path / "home" / ".cursor" / "mcp.json"):
        assert "tools" in json.loads(path.read_text())["mcpServers"]


@pytest.mark.process
@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{]", "left as it is: line 1"),
        ('{"mcpServers": []}', "mcpServers is not an object"),
        (
            '{"mcpServers": {"tools": {"command": "npx", "args": ["-y", "x"]}}}',
            "another one (npx -y x). --force",
        ),
    ],
)
def test_a_file_that_cannot_be_merged_is_left_as_it_is(
    folder: Path, capsys: pytest.CaptureFixture[str], content: str, told: str
) -> None:
    (folder / "mcp.json").write_text(content)
    status, printed, complaint = config(capsys, "claude-desktop", "tools.py", "--write", "mcp.json")
    assert (status, told in complaint, complaint.count("\n")) == (1, True, 1)
    assert "--force" in told or "mcpServers" in json.loads(printed)
    assert (folder / "mcp.json").read_text() == content
    assert sorted(one.name for one in folder.iterdir()) == ["mcp.json", "tools.py"]


@pytest.mark.process
def test_a_failing_server_is_written_and_reported(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "tools.py").write_text("def (:\n")
    status, said, told = config(capfd, "cursor", "tools.py", "--write")
    assert (status, said.startswith("Wrote the server 'tools'")) == (0, True)
    assert "tools.py cannot be loaded: SyntaxError" in told
    assert told.splitlines()[-1].startswith("toolwire: started from here, this server fails: ")


@pytest.mark.process
@pytest.mark.parametrize(
    ("words", "tokens", "is_warned"), [(3_000, 25_000, False), (20_000, 25_001, True)]
)
def test_a_list_of_a_tenth_of_a_context_and_a_limit_beyond_the_host_s_are_warnings(
    folder: Path, capfd: pytest.CaptureFixture[str], words: int, tokens: int, is_warned: bool
) -> None:
    text = "def add(a: int) -> int:\n    'DESCRIPTION'\n    return a\n"
    (folder / "tools.py").write_text(text.replace("DESCRIPTION", "word " * words))
    limit = f"max_result_tokens={tokens}"

    status, _, told = config(capfd, "claude-code", "tools.py", "--limit", limit)

    assert status == 0
    assert ("--show auto lists a search instead" in told) == is_warned
    assert (f"fewer than --limit {limit}" in told) == is_warned


@pytest.mark.parametrize(
    ("host", "allowed", "is_warned"),
    [
        ("claude-code", 25_000, False),
        ("claude-code", 25_001, True),
        ("codex", 10_001, True),
        ("claude-code", None, False),
        ("cursor", 1_000_000, False),  # no limit is known
    ],
)
def test_a_limit_of_results_beyond_that_of_the_host_is_a_warning(
    host: str, allowed: int | None, is_warned: bool
) -> None:
    warning = warn_of_result_tokens(host, {"max_result_tokens": allowed})

    assert (f"--limit max_result_tokens={allowed};" in warning) == is_warned
    assert bool(warning) == is_warned


@pytest.mark.process
def test_a_server_is_tried_with_what_the_host_will_give_it(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = "import os\nif os.environ.get('KEY') != 'a': os._exit(3)\n"
    (folder / "tools.py").write_text(text + TOOLS)
    fault = "this server fails (the server ended with exit status 3)"
    assert fault in config(capfd, "cursor", "tools.py")[2]
    assert fault not in config(capfd, "cursor", "tools.py", "--env", "KEY=a")[2]
    assert (
        "no tool; available: add"
        in config(capfd, "cursor", "tools", "--env", "KEY=a", "--exclude", "*")[2]
    )


@pytest.mark.process
def test_for_emacs_the_lines_to_paste_are_printed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, printed, told = config(capsys, "emacs", "tools.py", "--write")
    assert (status, "mcp-hub-servers" in printed, "which Toolwire does not edit" in told) == (
        1,
        True,
        True,
    )
    assert config(capsys, "emacs", "tools.py", "--write", "--force")[0] == 1


@pytest.mark.process
def test_without_pyyaml_a_snippet_for_goose_is_printed_and_its_file_stays(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    status, printed, _ = config(capsys, "goose", "tools.py", "--server-name", "no")
    assert (status, '\n  "no":\n' in printed) == (0, True)
    status, again, told = config(capsys, "goose", "tools.py", "--server-name", "no", "--write")
    assert (status, again, install_command("toolwire[yaml]") in told) == (1, printed, True)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["vscode"], "config vscode tools.py"),
        ([], "config vscode tools.py"),
        (["vs-code", "tools.py"], "did you mean 'vscode'"),
        (["vscode", "tols.py"], "did you mean 'tools.py'"),
        (["vscode", "tools.py", "--env", "A"], "KEY=VALUE"),
        (["vscode", "tools.py", "--env", "=a"], "KEY=VALUE"),
        (["vscode", "tools.py", "--timeout", "soon"], "number of seconds"),
        (
            ["vscode", "tools.py", "--write", "."],
            "if the folder . is a target, put it before --write",
        ),
        (["vscode", "tools.py", "--force"], "--force goes with --write"),
        (["json", "tools.py", "--write"], "--write=FILE"),
        (["vscode", "tools.py", "--server-name", ""], "needs a name"),
        (["json", "tools.py", "--env", "A=\udcff"], "UTF-8"),
        (["json", "tools.py", "--share", "--reload"], "--share does not go with --reload"),
        (["json", "tools.py", "--share", "--mount-config=a.json"], "not go with --mount-config"),
    ],
)
def test_a_mistake_is_one_sentence_with_its_remedy(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    status, printed, complaint = config(capsys, *words)
    assert (status, printed, complaint.count("\n"), told in complaint) == (
        2,
        "",
        1,
        True,
    ), complaint
