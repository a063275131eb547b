"""The packages that a file asks for (`# /// script`, `--with`) are there when it is served, or
named with a remedy.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from support.server_process import call, request, running, served
from support.wheels import make_wheel, offline
from toolwire.errors import LoadError
from toolwire.loading.dependencies import (
    ScriptMetadata,
    explain_missing_module,
    find_uv,
    normalize_name,
)

BLOCK = (
    '# /// script\n# requires-python = ">=3.11"\n# dependencies = ["sizes_of_things>=1"]\n# ///\n'
)
NEEDY = (
    BLOCK
    + '''
import sys
import os
from pathlib import Path

with open("imported", "a") as log:
    log.write("x")
import sizes_of_things

def size(name: str) -> str:
    """Return the size of a thing."""
    return sizes_of_things.size(name)

def process() -> list[int]:
    """Return the ids of this process and of its parent."""
    return [os.getpid(), os.getppid()]
'''
)
PACKAGE = 'def size(name):\n    return f"{name} is large"\n'


def text(answer: dict[str, object]) -> object:
    return answer["result"]["content"][0]["text"]  # type: ignore[index]


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    make_wheel(tmp_path / "wheels", "sizes_of_things", PACKAGE)
    return offline(tmp_path)


@pytest.mark.process
def test_a_file_is_served_with_the_packages_of_its_script_block(
    tmp_path: Path, env: dict[str, str]
) -> None:
    with served(tmp_path, NEEDY, env=env, cwd=tmp_path) as server:
        assert text(server.ask(call("size", {"name": "it"}))) == "it is large"
        # The host's child is the server itself, so that a signal reaches it.
        assert json.loads(str(text(server.ask(call("process"))))) == [server.popen.pid, os.getpid()]
        assert server.hang_up() == []
        assert server.wait() == 0
    assert (tmp_path / "imported").read_text() == "x"  # the import went on where it had stopped


@pytest.mark.process
def test_a_package_that_only_a_function_imports_is_found_in_the_call(
    tmp_path: Path, env: dict[str, str]
) -> None:
    lazy = (
        BLOCK + "def size(name: str) -> str:\n    import sizes_of_things\n    return"
        " sizes_of_things.size(name)\n"
    )
    with served(tmp_path, lazy, env=env) as server:
        assert text(server.ask(call("size", {"name": "it"}))) == "it is large"


@pytest.mark.process
def test_tools_in_processes_of_their_own_have_the_packages_too(
    tmp_path: Path, env: dict[str, str]
) -> None:
    with served(tmp_path, NEEDY, "--isolate", env=env, cwd=tmp_path) as server:
        assert text(server.ask(call("size", {"name": "it"}))) == "it is large"


@pytest.mark.process
def test_with_adds_a_package_for_one_run(tmp_path: Path, env: dict[str, str]) -> None:
    source = NEEDY.removeprefix(BLOCK)
    with served(
        tmp_path, source, "--with", "sizes_of_things==1.0", env=env, cwd=tmp_path
    ) as server:
        assert text(server.ask(call("size", {"name": "it"}))) == "it is large"
    with served(tmp_path, source, env=env, cwd=tmp_path) as server:
        assert server.wait() == 2
        assert "'sizes_of_things' is a package, install it: " in server.stderr()


@pytest.mark.process
@pytest.mark.parametrize(
    ("source", "options", "told"),
    [
        (NEEDY, ["--with", "no_such_package"], "uv cannot install the packages"),
        (
            NEEDY.replace("_things>=1", "_things>=2"),
            [],
            "uv could not install what its `# /// script` block asks for",
        ),
        (BLOCK.replace('"sizes', "sizes") + "import sizes_of_things\n", [], "block is not TOML"),
    ],
)
def test_packages_that_uv_cannot_install_end_serve_with_its_reason(
    tmp_path: Path, env: dict[str, str], source: str, options: list[str], told: str
) -> None:
    with served(tmp_path, source, *options, env=env, cwd=tmp_path) as server:
        assert server.hang_up() == []
        assert server.wait() == 2
        assert told in server.stderr().splitlines()[-1]


@pytest.mark.process
def test_a_plain_file_costs_nothing_and_an_optional_import_starts_no_uv(
    tmp_path: Path, env: dict[str, str]
) -> None:
    loaded = '''
import sys
{}
def loaded() -> bool:
    """Return whether the server has looked for packages."""
    return "toolwire.loading.dependencies" in sys.modules
'''
    with served(tmp_path, loaded.format(""), env=env) as server:
        server.ask(request("tools/list"))
        assert text(server.ask(call("loaded"))) == "false"
    optional = (
        BLOCK.replace("sizes_of_things>=1", "msgspec")
        + "try:\n    import faster_json\nexcept ImportError:\n    pass\n"
    )
    with served(tmp_path, optional + loaded.format(""), env=env) as server:
        assert text(server.ask(call("loaded"))) == "true"
    assert not (tmp_path / "cache").exists()


@pytest.mark.process
def test_reload_follows_a_new_package_in_the_block(tmp_path: Path, env: dict[str, str]) -> None:
    with served(
        tmp_path, "def one() -> int:\n    return 1\n", "--reload", env=env, cwd=tmp_path
    ) as server:
        assert text(server.ask(call("one"))) == "1"
        (tmp_path / "tools_file.py").write_text(NEEDY)
        answer = server.ask(call("size", {"name": "it"}))
        while "error" in answer:
            answer = server.ask(call("size", {"name": "it"}))
        assert text(answer) == "it is large"


@pytest.mark.process
def test_config_starts_a_file_with_a_block_through_uv(tmp_path: Path, env: dict[str, str]) -> None:
    (tmp_path / "needy.py").write_text(NEEDY)
    words = ["-m", "toolwire", "config", "json", "needy.py", "--with", "sizes_of_things"]
    with running(*words, env=env, cwd=tmp_path) as config:
        printed = config.popen.stdout.read()  # type: ignore[union-attr]
        assert (config.wait(), "fails" in config.stderr()) == (0, False)
    made = json.loads(printed)["mcpServers"]["needy"]
    path = str(tmp_path / "needy.py")
    assert made["args"][:2] == ["run", "--no-project"]
    assert made["args"][made["args"].index("--with") :] == [
        *["--with", "sizes_of_things", "--with-requirements", path, "--"],
        *["python", "-P", "-m", "toolwire", "serve", path],
    ]


@pytest.mark.parametrize(
    ("source", "dependencies"),
    [
        ("", []),
        ("x = 1\n", []),
        (BLOCK, ["sizes_of_things>=1"]),
        ("#!/usr/bin/env python\n\n" + BLOCK + "# more\n", ["sizes_of_things>=1"]),
        (
            (
                '# /// script\n# dependencies = [\n#   "a",  # one\n#\n#   "b[x]>2; os_name =='
                " 'nt'\",\n# ]\n# ///\n"
            ),
            ["a", "b[x]>2; os_name == 'nt'"],
        ),
        ("# /// script\n# [tool.x]\n# ///\n", []),
        ("# /// script\n# dependencies = ['open']\n", []),
        ("# /// other\n# dependencies = ['a']\n# ///\n", []),
        ("# /// script\r\n# dependencies = ['a']\r\n# ///\r\n", ["a"]),
        ("# /// script\n#dependencies = ['a']\n# ///\n", []),
    ],
)
def test_the_block_is_read_as_pep_723_has_it(
    tmp_path: Path, source: str, dependencies: list[str]
) -> None:
    (tmp_path / "a.py").write_bytes(source.encode())
    assert ScriptMetadata(str(tmp_path / "a.py")).dependencies == dependencies


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (BLOCK + "\n" + BLOCK, "two `# /// script` blocks"),
        ("# /// script\n# dependencies = 'a'\n# ///\n", "a list of strings"),
        ("# /// script\n# dependencies = [1]\n# ///\n", "a list of strings"),
        ("# /// script\n# = 1\n# ///\n", "is not TOML"),
    ],
)
def test_a_block_that_cannot_be_read_is_refused(tmp_path: Path, source: str, told: str) -> None:
    (tmp_path / "a.py").write_text(source)
    with pytest.raises(LoadError, match=told):
        ScriptMetadata(str(tmp_path / "a.py"))


@pytest.mark.parametrize(
    "requirement",
    ["Rich", " rich[all]>=13", "rich ; os_name=='nt'", "rich@git+https://x/y", "rich==1"],
)
def test_a_requirement_has_a_name(requirement: str) -> None:
    assert normalize_name(requirement) == "rich"


def in_environment(tmp_path: Path, patch: pytest.MonkeyPatch) -> None:
    """Let this Python's environment be one in *tmp_path*, without uv."""
    patch.setattr(sys, "prefix", str(tmp_path))
    patch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    patch.setenv("PATH", str(tmp_path))
    patch.setenv("HOME", str(tmp_path))


def test_the_remedy_for_a_module_names_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_environment(tmp_path, monkeypatch)
    command = f"{tmp_path / 'bin' / 'python'} -m pip install PyYAML"
    assert (
        explain_missing_module("yaml", "package.module")
        == f"; if 'PyYAML' is a package, install it: {command}"
    )


def test_without_uv_the_block_s_own_names_are_in_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.py"
    file.write_text(BLOCK)
    in_environment(tmp_path, monkeypatch)
    if find_uv() is not None:
        pytest.skip("uv is in a folder that every user has")
    command = f"{tmp_path / 'bin' / 'python'} -m pip install 'sizes_of_things>=1'"
    assert explain_missing_module("sizes", str(file)).endswith(
        f"block asks for it: install uv, or run: {command}"
    )
    file.write_text(BLOCK.replace("sizes_of_things>=1", "msgspec"))
    assert explain_missing_module("sizes", str(file)).endswith(
        "block asks for msgspec, and none of them has 'sizes'"
    )
