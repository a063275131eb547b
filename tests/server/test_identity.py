"""The name and version that a server reports are its author's."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from support.server_process import MODERN, request, running
from toolwire import Server, tool_api
from toolwire.identity import join_names

pytestmark = pytest.mark.process

TOOL = "def tool_of_{0}() -> int:\n    return 1\n"
HELLO = request("initialize", {"protocolVersion": "2025-11-25"})
INFO = "io.modelcontextprotocol/serverInfo"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.py").write_text("__version__ = '2.5.1'\n" + TOOL.format("mine"))
    (tmp_path / "other.py").write_text(TOOL.format("other"))
    (tmp_path / "newer.py").write_text("__version__ = '3'\n" + TOOL.format("newer"))
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").write_text("__version__ = '7'\n")
    (tmp_path / "package" / "server.py").write_text(TOOL.format("package"))
    return tmp_path


def info(folder: Path, *words: str) -> tuple[str, str]:
    with running("-P", "-m", "toolwire", "serve", *words, cwd=folder) as process:
        found = process.ask(HELLO)["result"]["serverInfo"]
        modern = process.ask(request("server/discover", {"_meta": MODERN}))["result"]["_meta"][INFO]
    assert found == modern
    return found["name"], found["version"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["mine.py"], ("mine", "2.5.1")),
        (["other.py"], ("other", "0.0.0")),
        (["mine.py", "other.py"], ("mine-other", "2.5.1")),
        (["mine.py", "newer.py"], ("mine-newer", "0.0.0")),
        (
            ["mine.py", "newer.py", "other.py", "Clock", "Calculator"],
            ("mine-newer-other-2-more", "0.0.0"),
        ),
        (["package.server"], ("package.server", "7")),
        (["package/server.py"], ("server", "7")),
        (["Calculator"], ("Calculator", "0.0.0")),
        (["mine.py", "--name", "Mine", "--server-version", "9-beta"], ("Mine", "9-beta")),
        (["mine.py", "--isolate"], ("mine", "2.5.1")),
    ],
)
def test_a_served_target_has_the_name_and_version_of_its_module(
    folder: Path, words: list[str], expected: tuple[str, str]
) -> None:
    assert info(folder, *words) == expected


@pytest.mark.parametrize("kind", ["installed", "editable", "namesake"])
def test_an_installed_module_has_the_version_of_its_distribution(tmp_path: Path, kind: str) -> None:
    packages = tmp_path / "site-packages"
    home = packages if kind == "installed" else tmp_path / "project"
    (home / "weather").mkdir(parents=True)
    (home / "weather" / "__init__.py").write_text("")
    (home / "weather" / "server.py").write_text(TOOL.format("weather"))
    about = packages / "weather-1.2.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: weather\nVersion: 1.2\n")
    if kind == "editable":
        (about / "direct_url.json").write_text(
            f'{{"url": "{home.as_uri()}", "dir_info": {{"editable": true}}}}'
        )
    environment = {"PYTHONPATH": f"{packages}:{home}"}
    with running("-m", "toolwire", "serve", "weather.server", env=environment) as process:
        found = process.ask(HELLO)["result"]["serverInfo"]
    assert found == {"name": "weather.server", "version": "0.0.0" if kind == "namesake" else "1.2"}


def test_a_file_of_its_own_needs_no_metadata_of_distributions(folder: Path) -> None:
    (folder / "spy.py").write_text(
        "import sys\ndef loaded() -> bool:\n    return 'importlib.metadata' in sys.modules\n"
    )
    with running("-m", "toolwire", "serve", str(folder / "spy.py")) as process:
        process.ask(HELLO)
        answer = process.ask(request("tools/call", {"name": "loaded"}))
    assert answer["result"]["structuredContent"] == {"result": False}


def server_info(server: Server) -> Any:
    with server:
        return server.request("initialize", HELLO["params"])["serverInfo"]


def test_a_server_in_python_has_them_too(monkeypatch: pytest.MonkeyPatch) -> None:
    @tool_api
    def add(a: int) -> int:
        return a

    monkeypatch.setattr(sys.modules[__name__], "__version__", "4.2", raising=False)
    assert server_info(Server([add])) == {"name": __name__.partition(".")[0], "version": "4.2"}
    assert server_info(Server([add], name="a", version="b")) == {"name": "a", "version": "b"}
    assert server_info(Server([])) == {"name": "tools", "version": "0.0.0"}


def test_names_of_several_are_joined_each_once() -> None:
    assert join_names(["a", "b", "a", ""]) == "a-b"
    assert join_names([]) == ""
