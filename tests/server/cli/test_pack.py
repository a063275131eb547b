"""What `toolwire pack` puts into a bundle, and what it refuses. Whole bundles are in
tests/interop/test_bundles.py.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path

import jsonschema
import pytest
from support.command_line import CommandLine, command_line
from toolwire.bundles import manifest as texts
from toolwire.bundles.contents import Contents
from toolwire.errors import LoadError, UsageError

__all__ = ["command_line"]

ABOUT = texts.About(
    name="shop",
    title="My shop",
    version="1.2",
    description="Notes of a shop.",
    author="Jane",
    tools=[{"name": "add", "description": "Add."}],
    variables=["API_KEY"],
    has_icon=True,
)
URL = "https://github.com/jane/shop/releases/download/v1.2/shop.mcpb"


@pytest.fixture(autouse=True, scope="module")
def _packages_are_read_once() -> Iterator[None]:
    """To read which installed package has which modules takes most of the time of a test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metadata, "packages_distributions", cache(metadata.packages_distributions))
        yield


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def packed(folder: Path, *targets: str, with_: tuple[str, ...] = ()) -> Contents:
    contents = Contents(with_)
    for target in targets:
        contents.add_target(str(folder / target))
    contents.settle()
    return contents


# --- which files ----------------------------------------------------------------------------------


def test_a_file_brings_the_modules_next_to_it_that_it_imports_also_in_functions(
    tmp_path: Path,
) -> None:
    write(
        tmp_path,
        {
            "tools.py": "import one\ndef f():\n    from two import x\n    import os, json\n",
            "one.py": "import three.inner\n",
            "two.py": "import tools\n",
            "three/__init__.py": "",
            "three/inner.py": "",
            "three/data.txt": "",
            "three/__pycache__/inner.pyc": "",
            "three/.secret": "",
            "unused.py": "",
            ".env": "",
        },
    )
    contents = packed(tmp_path, "tools.py:f")
    wanted = [
        "one.py",
        "three/__init__.py",
        "three/data.txt",
        "three/inner.py",
        "tools.py",
        "two.py",
    ]
    assert sorted(contents.files) == [f"server/{name}" for name in wanted]
    assert contents.targets == ["server/tools.py:f"]
    assert contents.dependencies == []


def test_a_file_of_a_package_brings_the_package(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "shop/__init__.py": "",
            "shop/tools.py": "from . import x",
            "shop/x.py": "import util",
            "util.py": "",
        },
    )
    contents = packed(tmp_path, "shop/tools.py")
    assert sorted(contents.files) == [
        f"server/{name}" for name in ("shop/__init__.py", "shop/tools.py", "shop/x.py", "util.py")
    ]
    assert contents.targets == ["server/shop/tools.py"]


def test_a_folder_is_packed_as_a_whole_but_no_environment_in_it(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "all/a.py": "",
            "all/b.csv": "",
            "all/venv/pyvenv.cfg": "",
            "all/venv/lib/x.py": "",
            "all/old.mcpb": "",
        },
    )
    contents = packed(tmp_path, "all")
    assert sorted(contents.files) == ["server/all/a.py", "server/all/b.csv"]
    assert contents.targets == ["server/all"]


COMMANDS = """
use_guide: {tool_name: t, description: It reads notes.txt and .env}
# See .git/config and id_rsa.
parameters: {a: string}
command: [./bin/run.sh, '{a}', python3, work.py]
"""


def test_yaml_brings_the_files_that_its_commands_run_and_no_others(tmp_path: Path) -> None:
    files = {
        "t.yaml": COMMANDS,
        "bin/run.sh": "",
        "work.py": "import help_work",
        "help_work.py": "",
        "no.py": "",
        "notes.txt": "",
        "id_rsa": "",
        ".env": "",
        ".git/config": "",
    }
    write(tmp_path, files)
    contents = packed(tmp_path, "t.yaml")
    wanted = ["bin/run.sh", "help_work.py", "t.yaml", "work.py"]
    assert (sorted(contents.files), contents.extras) == (
        [f"server/{name}" for name in wanted],
        {"yaml"},
    )


def test_a_script_for_the_shell_brings_the_files_that_are_words_of_it(tmp_path: Path) -> None:
    script = "./a.sh | sort; awk -f 'b.awk' && echo c.txt.bak"
    text = f"name: t\ndescription: d\nshell: true\nparameters: {{}}\ncommand: |\n  {script}\n"
    write(tmp_path, {"t.yaml": text, "a.sh": "", "b.awk": "", "c.txt": ""})
    assert sorted(packed(tmp_path, "t.yaml").files) == [
        "server/a.sh",
        "server/b.awk",
        "server/t.yaml",
    ]


def test_a_function_of_yaml_brings_its_module(tmp_path: Path) -> None:
    text = "name: t\ndescription: d\nparameters: {}\nfunction: inner.work:run\n"
    write(tmp_path, {"t.yaml": text, "inner/work.py": "", "inner/other.py": ""})
    assert sorted(packed(tmp_path, "t.yaml").files) == ["server/inner/work.py", "server/t.yaml"]


@pytest.mark.parametrize("name", [".env", "id_rsa", "server.pem", "prod.env"])
def test_a_private_file_that_a_command_runs_is_packed_only_if_it_is_named(
    tmp_path: Path, name: str
) -> None:
    write(
        tmp_path,
        {
            "t.yaml": f"name: t\ndescription: d\nparameters: {{}}\ncommand: [cat, {name}]\n",
            name: "secret",
        },
    )
    with pytest.raises(
        LoadError, match=rf"runs .*{name}, which is hidden or may be a key: pack it by --add"
    ):
        packed(tmp_path, "t.yaml")

    contents = Contents()
    contents.add_target(str(tmp_path / "t.yaml"))
    contents.add_data(str(tmp_path / name), str(tmp_path))
    contents.settle()
    assert sorted(contents.files) == sorted(["server/t.yaml", f"server/{name}"])


def test_yaml_that_runs_what_the_bundle_would_lack_is_refused(tmp_path: Path) -> None:
    text = "name: t\ndescription: d\nparameters: {}\ncommand: [ls]\n"
    write(
        tmp_path,
        {"in/t.yaml": f"{text}cwd: data\n", "in/data/x": "", "in/u.yaml": "", "run.sh": ""},
    )
    with pytest.raises(
        LoadError, match=r"runs a command in .*data, which the bundle would lack: add it by --add"
    ):
        packed(tmp_path, "in/t.yaml")
    write(tmp_path, {"in/u.yaml": text.replace("[ls]", "[../run.sh]")})
    with pytest.raises(LoadError, match=r"run\.sh, which is not in its folder"):
        packed(tmp_path, "in/u.yaml")


PRIVATE = (
    ".env",
    ".git/config",
    ".netrc",
    "id_rsa",
    "id_ed25519.pub",
    "tls.key",
    "CA.PEM",
    "prod.env",
    "secrets.json",
)


def test_an_added_folder_is_packed_without_hidden_files_and_keys(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "tools.py": "",
            "data/x.csv": "",
            "data/secrets.py": "",
            **{f"data/{name}": "" for name in PRIVATE},
        },
    )
    contents = packed(tmp_path, "tools.py")
    contents.add_data(str(tmp_path / "data"), str(tmp_path))
    assert sorted(contents.files) == [
        "server/data/secrets.py",
        "server/data/x.csv",
        "server/tools.py",
    ]
    left_out = {
        os.path.relpath(path, tmp_path / "data").split(os.sep)[0] for path in contents.left_out
    }
    assert left_out == {name.split("/")[0] for name in PRIVATE}


def test_what_is_no_file_of_the_folder_is_refused_in_one_sentence(tmp_path: Path) -> None:
    write(tmp_path, {"tools.py": "", "secret.txt": "", "data/x": ""})
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "data" / "link").symlink_to(tmp_path / "secret.txt")
    (tmp_path / "device").symlink_to("/dev/null")
    (tmp_path / "dangling").symlink_to("nothing")
    contents = packed(tmp_path, "tools.py")
    for name, sentence in {
        "pipe": "cannot be packed: it is a pipe",
        "data": "is a link to .*secret.txt, which is outside of its folder",
        "device": "is a link to /dev/null, which is outside of its folder",
        "dangling": "cannot be packed: No such file or directory",
        "/dev/null": "cannot be packed: it is a device",
    }.items():
        with pytest.raises(LoadError, match=sentence):
            contents.add_data(os.path.join(tmp_path, name), str(tmp_path))


def test_a_link_within_the_folder_is_packed(tmp_path: Path) -> None:
    write(tmp_path, {"tools.py": "", "data/x": ""})
    (tmp_path / "data" / "link").symlink_to("x")
    contents = packed(tmp_path, "tools.py")
    contents.add_data(str(tmp_path / "data"), str(tmp_path))
    assert sorted(contents.files) == ["server/data/link", "server/data/x", "server/tools.py"]


def test_a_bundled_tool_brings_the_packages_of_its_extra() -> None:
    contents = Contents()
    for name in ("Calculator", "ArxivSearch"):
        contents.add_target(name)
    assert (contents.targets, contents.extras) == (["Calculator", "ArxivSearch"], {"web"})


def test_two_files_cannot_have_one_place(tmp_path: Path) -> None:
    write(tmp_path, {"a/tools.py": "", "b/tools.py": ""})
    with pytest.raises(LoadError, match="would have one name in the bundle"):
        packed(tmp_path, "a/tools.py", "b/tools.py")


def test_data_is_packed_where_the_tools_find_it(tmp_path: Path) -> None:
    write(tmp_path, {"tools.py": "", "data/x.csv": "", "../elsewhere.txt": ""})
    contents = packed(tmp_path, "tools.py")
    contents.add_data(str(tmp_path / "data"), str(tmp_path))
    contents.add_data(str(tmp_path.parent / "elsewhere.txt"), str(tmp_path))
    assert sorted(contents.files) == [
        "server/data/x.csv",
        "server/elsewhere.txt",
        "server/tools.py",
    ]


# --- which packages -------------------------------------------------------------------------------


def test_installed_packages_that_are_imported_are_asked_for(tmp_path: Path) -> None:
    source = """
import yaml, toolwire
from fastmcp import FastMCP
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import no_such_module
try:
    import another_missing
except ImportError:
    another_missing = None
"""
    write(tmp_path, {"tools.py": source})
    (wanted,) = packed(tmp_path, "tools.py").dependencies
    assert wanted.lower().startswith("pyyaml>=")


def test_the_script_block_and_with_say_which_packages_there_are(tmp_path: Path) -> None:
    block = '# requires-python = ">=3.12"\n# dependencies = ["a>=1"]\n# [tool.uv]\n'
    write(tmp_path, {"tools.py": f"# /// script\n{block}# ///\nimport yaml, missing\n"})
    contents = packed(tmp_path, "tools.py", with_=("b",))
    assert contents.dependencies == ["b", "a>=1"]
    assert (contents.requires_python, contents.unpacked) == (">=3.12", ["[tool.uv]"])


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("import no_such_module\n", "imports no_such_module, which the bundle would lack"),
        ("def (:\n", "line 1: "),
    ],
)
def test_a_file_that_would_not_work_elsewhere_is_refused(
    tmp_path: Path, source: str, told: str
) -> None:
    write(tmp_path, {"tools.py": source})
    with pytest.raises(LoadError, match=told):
        packed(tmp_path, "tools.py")


def test_an_installed_module_is_a_package_and_one_of_this_folder_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, {"my_own_tools.py": ""})
    monkeypatch.chdir(tmp_path)
    contents = Contents()
    contents.add_target("my_own_tools")
    contents.add_target("yaml:safe_load")
    assert (sorted(contents.files), contents.targets) == (
        ["server/my_own_tools.py"],
        ["server/my_own_tools.py", "yaml:safe_load"],
    )
    assert [name.partition(">=")[0].lower() for name in contents.dependencies] == ["pyyaml"]
    with pytest.raises(LoadError, match="no module 'no_such_module' to pack"):
        contents.add_target("no_such_module")


# --- the texts ------------------------------------------------------------------------------------


def test_the_manifest_asks_its_user_for_the_variables() -> None:
    made = json.loads(texts.make_manifest(ABOUT, is_vendored=False))
    assert made["server"] == {
        "type": "uv",
        "entry_point": "main.py",
        "mcp_config": {
            "command": "uv",
            "args": ["run", "--directory", "${__dirname}", "main.py"],
            "env": {"API_KEY": "${user_config.API_KEY}"},
        },
    }
    assert made["user_config"]["API_KEY"]["sensitive"] is True
    assert "platforms" not in made["compatibility"]
    vendored = json.loads(texts.make_manifest(ABOUT, is_vendored=True))
    assert vendored["server"]["mcp_config"]["env"]["PYTHONPATH"] == "${__dirname}/lib"
    assert len(vendored["compatibility"]["platforms"]) == 1


def test_the_project_is_toml_whatever_a_requirement_has_in_it() -> None:
    wanted = ["toolwire==1", "a; python_version < '3.12' and os_name == \"nt\""]
    made = tomllib.loads(texts.write_project(ABOUT, wanted, "wheels/toolwire.whl"))
    assert made["project"]["dependencies"] == wanted
    assert made["tool"]["uv"]["sources"] == {"toolwire": {"path": "wheels/toolwire.whl"}}


def test_the_registry_gets_a_short_description_and_the_owner_s_name() -> None:
    about = texts.About(
        **{
            **{name: getattr(ABOUT, name) for name in ABOUT.__struct_fields__},
            "description": "x" * 101,
        }
    )
    made = texts.make_registry_entry(about, URL, None)
    assert made["name"] == "io.github.jane/shop"
    assert made["description"] == "x" * 99 + "…"
    assert made["packages"][0]["environmentVariables"] == [
        {"name": "API_KEY", "isRequired": True, "isSecret": True}
    ]
    assert texts.make_registry_entry(about, URL, "com.example/shop")["name"] == "com.example/shop"
    jsonschema.validate(made, REGISTRY_SCHEMA)


# The parts of 2025-12-11/server.schema.json that concern a bundle.
REGISTRY_SCHEMA = {
    "required": ["name", "description", "version"],
    "properties": {
        "name": {"pattern": "^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$", "minLength": 3, "maxLength": 200},
        "description": {"type": "string", "minLength": 1, "maxLength": 100},
        "title": {"type": "string", "minLength": 1, "maxLength": 100},
        "version": {"type": "string", "maxLength": 255},
        "packages": {"items": {"required": ["registryType", "identifier", "transport"]}},
    },
}


@pytest.mark.parametrize(
    ("url", "name", "told"),
    [
        ("http://github.com/jane/x.mcpb", None, "releases at GitHub or GitLab only"),
        ("https://example.com/x.mcpb", None, "releases at GitHub or GitLab only"),
        ("https://github.com/jane/x.zip", None, "releases at GitHub or GitLab only"),
        ("https://gitlab.com/jane/x.mcpb", None, "--registry-name com.example/tools"),
        (URL, "shop", "takes a name such as"),
    ],
)
def test_what_the_registry_would_refuse_is_refused_at_once(
    url: str, name: str | None, told: str
) -> None:
    with pytest.raises(UsageError, match=told):
        texts.make_registry_entry(ABOUT, url, name)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "name what to pack"),
        (["tols.py"], "did you mean 'tools.py'"),
        (["tools.py", "--env", "KEY=1"], "without a value, which each user gives"),
        (["tools.py", "--icon", "tools.py"], "a PNG image, which tools.py is not"),
        (["tools.py", "-o", "x.zip"], "ends in .mcpb"),
        (["tools.py", "--add", "nothing.csv"], "nothing.csv"),
        (["tools.py", "broken.py"], "broken.py, line 1: "),
        (["tools.py", "-o", "tools.py/x.mcpb"], "tools.py/x.mcpb cannot be written: "),
        (["tools.py", "-o", "folder.mcpb"], "folder.mcpb cannot be written: it is a folder"),
        (["tools.py", "--env-file", ".env"], "--env-file names a file of this machine"),
        (["no_module"], "no module 'no_module' to pack"),
        (
            ["notes.txt", "--author", "me"],
            "notes.txt cannot be packed: its name must end in .py, .yaml or .yml",
        ),
    ],
)
def test_a_mistake_is_one_sentence_with_its_remedy(
    command_line: CommandLine, words: list[str], told: str
) -> None:
    (command_line.folder / "tools.py").write_text("def add(a: int) -> int:\n    return a\n")
    (command_line.folder / "broken.py").write_text("def add(:")
    (command_line.folder / "notes.txt").touch()
    (command_line.folder / ".env").touch()
    (command_line.folder / "folder.mcpb").mkdir()
    done = command_line("pack", *words)
    assert (done.returncode, done.stdout, done.stderr.count("\n"), told in done.stderr) == (
        2,
        "",
        1,
        True,
    ), done.stderr
    assert [path.name for path in command_line.folder.glob("*.mcpb")] == ["folder.mcpb"]


def test_a_dry_run_prints_the_files_with_their_sizes_and_writes_nothing(
    command_line: CommandLine,
) -> None:
    write(command_line.folder, {"tools.py": "A = 1\n", "data/x.csv": "1,2\n", "data/.env": "KEY=1"})
    done = command_line("pack", "tools.py", "--add", "data", "--dry-run")
    assert (done.returncode, done.stdout.split()) == (
        0,
        ["4", "server/data/x.csv", "6", "server/tools.py"],
    )
    assert (
        "left out, since they are hidden or may be keys: data/.env; to pack one, name it"
        in done.stderr
    )
    assert not list(command_line.folder.glob("*.mcpb"))
